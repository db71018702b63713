"""The actions of a script's moments that are the same in every player: printing, writing files, leaving processes."""

import difflib
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec

from scripted import events

MODEL = "scripted-1"


def emit(event: msgspec.Struct) -> None:
    """Print one event."""
    sys.stdout.buffer.write(msgspec.json.encode(event) + b"\n")
    sys.stdout.buffer.flush()


def filled(value: Any, words: dict[str, str]) -> Any:
    """Replace each ``{name}`` in every text of a value by the word of that name."""
    if isinstance(value, str):
        for name, word in words.items():
            value = value.replace("{" + name + "}", word)
        return value
    if isinstance(value, dict):
        return {key: filled(inner, words) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [filled(inner, words) for inner in value]
    return value


def written(path: Path, content: str) -> events.FileChange:
    """Write a file; return the event, with the error if the file could not be written."""
    whole = str(path.absolute())
    try:
        before = path.read_text("utf-8", "replace") if path.exists() else ""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")
    except OSError as error:
        return events.FileChange(path=whole, kind="update", diff="", error=str(error))
    diff = difflib.unified_diff(before.splitlines(), content.splitlines(), lineterm="", n=3)
    return events.FileChange(path=whole, kind="update" if before else "add", diff="\n".join(list(diff)[2:]))


def leave(argv: list[str], *, detached: bool) -> None:
    """Start a process without waiting for it: in the player's group, or in a process session of its own."""
    quiet = subprocess.DEVNULL
    words = [sys.executable if word == "PYTHON" else word for word in argv]
    subprocess.Popen(words, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=detached)
