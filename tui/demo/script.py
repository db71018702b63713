"""The scripts of the demo's agents: TOML files, each a list of beats, and the prompts that begin them."""

import re
import tomllib
from pathlib import Path
from typing import Any

Beat = dict[str, Any]
"""One moment of a script: a pause in seconds, then its actions (:func:`.turn.play`)."""

_MARKER = re.compile(r"\[\[demo:([a-z0-9_-]+)\]\]")
_NAME = re.compile(r"\{([\w.]+)\}")
_FOLDER = Path(__file__).parent / "scripts"
_PROMPT = "prompts = "
"""The beginning of the line of a script that lists its prompts."""


def script_of(prompt: str, earlier: int) -> list[Beat]:
    """Return the script that a prompt begins: the one that lists it, or that it names by ``[[demo:NAME]]``.

    Any other prompt begins ``done``, or ``followup`` if the conversation has ``earlier`` prompts.
    """
    named = _MARKER.search(prompt)
    known = _FOLDER / f"{named[1]}.toml" if named else None
    path = known if known is not None and known.is_file() else _listed(prompt)
    path = path or _FOLDER / ("followup.toml" if earlier else "done.toml")
    beats: list[Beat] = tomllib.loads(path.read_text("utf-8"))["beat"]
    return beats


def _listed(prompt: str) -> Path | None:
    """Return the script that lists a prompt; only the list is parsed."""
    for path in _FOLDER.glob("*.toml"):
        with path.open(encoding="utf-8") as file:
            line = next((line for line in file if line.startswith(_PROMPT)), "")
        if prompt.strip() in tomllib.loads(line).get("prompts", ()):
            return path
    return None


def filled(value: Any, words: dict[str, str]) -> Any:
    """Replace each ``{name}`` in every text of a value by the word of that name."""
    if isinstance(value, str):
        return _NAME.sub(lambda name: words.get(name[1], name[0]), value)
    if isinstance(value, dict):
        return {key: filled(inner, words) for key, inner in value.items()}
    return [filled(inner, words) for inner in value] if isinstance(value, list) else value
