"""The folder and the prompt that a stream of an agent names, for a session whose record is lost.

claude (2.1.197, 2.1.330) names its folder in ``system/init`` and repeats a prompt as a ``user`` line; codex
(app-server 0.169.0) names its folder in the thread, and repeats a prompt as an item.  ``codex exec`` names neither; its
own transcript of the thread begins with the folder (``session_meta``, 0.169.0 and 0.171.0).
"""

from collections.abc import Iterable
from itertools import islice

import msgspec
from msgspec import Struct, field

LINES = 2_000
"""Lines at the beginning of a turn that are read."""


class Told(Struct, frozen=True):
    """The folder and the prompt; None if the stream does not name it."""

    cwd: str | None = None
    prompt: str | None = None


class _Text(Struct):
    type: str = ""
    text: str = ""


class _Message(Struct):
    content: list[_Text] | str = ""


class _Thread(Struct):
    cwd: str | None = None


class _Item(Struct):
    type: str = ""
    content: list[_Text] = []


class _Parameters(Struct):
    thread: _Thread | None = None
    item: _Item | None = None


class _Meta(Struct):
    cwd: str | None = None


class _Line(Struct):
    type: str = ""
    payload: _Meta | None = None
    cwd: str | None = None
    is_replay: bool = field(default=False, name="isReplay")
    message: _Message | None = None
    params: _Parameters | None = None


def told(lines: Iterable[bytes]) -> Told:
    """Return the first folder and the first prompt that the lines of a turn name."""
    cwd = prompt = None
    for line in islice(lines, LINES):
        try:
            read = _DECODER.decode(line)
        except msgspec.MsgspecError:
            continue
        parameters = read.params or _Parameters()
        meta = read.payload.cwd if read.type == "session_meta" and read.payload is not None else None
        cwd = cwd or read.cwd or meta or (parameters.thread.cwd if parameters.thread is not None else None)
        prompt = prompt or _prompt(read, parameters.item)
        if cwd and prompt:
            break
    return Told(cwd, prompt)


_DECODER = msgspec.json.Decoder(_Line)


def _prompt(line: _Line, item: _Item | None) -> str | None:
    content: list[_Text] | str = ""
    if item is not None and item.type == "userMessage":
        content = item.content
    elif line.type == "user" and line.is_replay and line.message is not None:
        content = line.message.content
    texts = [content] if isinstance(content, str) else [part.text for part in content if part.type == "text"]
    return "\n".join(texts) or None
