"""One turn of a demo agent: a script as a generator that yields what it waits for, whichever agent plays it.

The scripts are TOML files, each a list of beats, and the prompts that begin them.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from agentdash.tui.demo.command import Command
from agentdash.tui.demo.files import write_own

if TYPE_CHECKING:
    from agentdash.tui.demo.program import Program

Beat = dict[str, Any]
"""One moment of a script: a pause in seconds, then its actions (:func:`play`)."""

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


class Answer(NamedTuple):
    """The user's answer to an ask."""

    allowed: bool
    stops: bool = False
    always: bool = False
    message: str = ""
    values: dict[str, str] = {}  # noqa: RUF012 - never changed
    """Answers by the key or the text of the question."""


class EndedError(Exception):
    """The script or an answer ends the turn."""

    def __init__(self, status: str, error: str = "") -> None:
        super().__init__(error)
        self.status = status
        """``interrupted`` or ``failed``."""


Wait = float | Command | str
"""A turn waits for seconds to pass, for a running command, or for the answer to an ask with this key."""

Steps = Generator[Wait, Answer | None, None]
"""Its caller sends the answer to an ask, else None."""

SHOWN = ("retry", "reasoning", "plan", "message", "tool", "search")
"""The parts of a beat that are only shown, in this order."""


def play(agent: "Program", beats: list[Beat], words: dict[str, str]) -> Steps:
    """Play the moments of a script; ``words`` replace their names in its texts.

    Raises:
        EndedError: the turn is over before the end of the script.
    """
    for beat in beats:
        for number in range(1, beat.get("repeat", 1) + 1):
            yield beat.get("pause", 0.4) / agent.speed
            for text in agent.take_steered():
                agent.show("message", f"You add: {text.strip()}. I keep that in mind.")
            yield from _beat(agent, filled(beat, {**words, "n": str(number)}), words)


def _beat(agent: "Program", beat: Beat, words: dict[str, str]) -> Steps:
    agent.call_model(sum(len(value) for value in beat.values() if isinstance(value, str)))
    for name in SHOWN:
        if name in beat:
            agent.show(name, beat[name])
    if "error" in beat:
        raise EndedError("failed", beat["error"])
    if "write" in beat:
        _write(agent, Path(beat["write"]["path"]).absolute(), beat["write"]["content"])
    if "leave" in beat:
        _leave(beat["leave"]["argv"], detached=beat["leave"].get("detached", False))
    answer = Answer(True)
    if "run" in beat:
        answer = yield from _run(agent, beat)
    elif "approve" in beat:
        answer = yield from _ask(agent, "approve", beat["approve"])
    elif "questions" in beat:
        answer = yield from _ask(agent, "questions", beat["questions"])
    if answer.stops:
        raise EndedError("interrupted")
    heard = {"reason": answer.message or "you denied it"}
    for one in beat.get("questions", ()):
        heard[f"answer.{one['key']}"] = answer.values.get(one["key"]) or answer.values.get(one["text"]) or "nothing"
    yield from play(agent, beat.get("allowed" if answer.allowed else "denied", []), words | heard)


def _run(agent: "Program", beat: Beat) -> Generator[Wait, Answer | None, Answer]:
    """Run a command, after the user's permission if the beat says why it needs one."""
    call, name = agent.show("run", beat["run"]), beat.get("always", "")
    answer = Answer(True)
    if "why" in beat and not agent.trusted and name not in agent.always:
        answer = yield from _ask(agent, "permission", call, beat["run"], beat["why"])
    if answer.always:
        agent.always.add(name)
    if answer.allowed:
        command = Command(beat["run"], call)
        yield command
        agent.show("ran", command)
    else:
        agent.show("declined", call, beat["run"], answer.message)
    return answer


def _ask(agent: "Program", name: str, *values: Any) -> Generator[Wait, Answer | None, Answer]:
    """Ask the user, if the agent has a way to ask."""
    if not agent.asks:
        return Answer(False, message="I may not ask you")
    return (yield agent.show(name, *values)) or Answer(False)


def _write(agent: "Program", path: Path, content: str) -> None:
    try:
        agent.show("write", path, write_own(agent.demo, path, content), content, "")
    except OSError as error:
        agent.show("write", path, "", content, str(error))


def _leave(argv: list[str], *, detached: bool) -> None:
    """Start a process without waiting for it: in the agent's group, or in a process session of its own."""
    quiet = subprocess.DEVNULL
    words = [sys.executable if word == "PYTHON" else word for word in argv]
    subprocess.Popen(words, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=detached)
