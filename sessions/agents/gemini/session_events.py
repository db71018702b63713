"""The lines of Gemini CLI's own chats, ``~/.gemini/tmp/<project>/chats/session-*.jsonl`` (protocols 4).

Seen with Gemini CLI 0.61.0: headings, patches, ``user`` and ``gemini``.  Rewinds, ``info``, ``warning``, ``error`` and
``displayContent`` are named by its public source, of versions around that one.  Every field is optional.
"""

import re
from typing import Any

import msgspec
from msgspec import Raw, Struct, field

from ..json_lines import NULL, Count, Words, text_of, value_of

_PREAMBLE = re.compile(
    r"\s*(?:<(?:session_context|hook_context|state_snapshot)\b|This is the Gemini CLI\. We are setting up the context)"
)


class Thought(Struct):
    """One thought of a message."""

    subject: Words | None = None
    description: Words | None = None
    timestamp: str | None = None


class Tokens(Struct):
    """The tokens of one call of the model: ``input`` includes ``cached``, ``output`` does not include ``thoughts``."""

    input: Count | None = None
    output: Count | None = None
    cached: Count | None = None
    thoughts: Count | None = None
    tool: Count | None = None
    """Input that came from tools of the API itself; ``input`` does not include it."""


class ToolCall(Struct, rename="camel"):
    """A call of a tool and its result."""

    id: str | None = None
    name: str = ""
    args: Raw = NULL
    result: Raw = NULL
    """Parts, of which a ``functionResponse`` holds what the model got."""
    status: str = ""
    timestamp: str | None = None
    """The time at which this record of the call was written: its end, if it has ended."""
    result_display: Raw = NULL
    """The result for people: a text, or a table with a ``fileDiff``."""


class Line(Struct, rename="camel"):
    """Any line: the heading, a patch (``$set``), a rewind, or a message."""

    id: str | None = None
    type: str = ""
    timestamp: str | None = None
    session_id: str | None = None
    project_hash: str | None = None
    changed: dict[str, Raw] | None = field(default=None, name="$set")
    rewind_to: str | None = field(default=None, name="$rewindTo")
    content: Raw = NULL
    display_content: Raw = NULL
    """What the user wrote, if gemini put the texts of files into ``content``."""
    thoughts: list[Thought] | None = None
    tokens: Tokens | None = None
    model: str | None = None
    tool_calls: list[ToolCall] | None = None


SAID_ELSEWHERE = frozenset({"projectHash", "startTime", "lastUpdated"})
"""Fields of headings and patches that say nothing that a step could show."""


def is_preamble(text: str) -> bool:
    """Return True if gemini wrote these words in the user's place."""
    return _PREAMBLE.match(text) is not None


def parts_of(content: Raw) -> list[dict[str, Any]]:
    """The parts of a content: a text alone is one part, and what is no part becomes its JSON text."""
    value = value_of(content)
    values = value if isinstance(value, list) else [] if value is None else [value]
    return [one if isinstance(one, dict) else {"text": _text(one)} for one in values]


def words_of(parts: list[dict[str, Any]]) -> str:
    """The texts of parts; what is not text is only named."""
    return "\n".join(text if isinstance(text := part.get("text"), str) else _named(part) for part in parts)


def response_text(response: Any) -> str:
    """What a ``functionResponse`` answered: its output or its error, else all of it as JSON."""
    answer = response.get("response") if isinstance(response, dict) else response
    if isinstance(answer, dict):
        for name in ("output", "error"):
            if isinstance(answer.get(name), str):
                return str(answer[name])
    return _text(answer)


def result_text(result: Raw) -> str:
    """The result of a call as the model got it."""
    texts = []
    for part in parts_of(result):
        response = part.get("functionResponse")
        texts.append(words_of([part]) if response is None else response_text(response))
    return "\n".join(texts)


def as_text(raw: Raw) -> str:
    """A field of a heading or a patch: a text as it is, a list of texts in one line, else its JSON."""
    value = value_of(raw)
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    return value if isinstance(value, str) else text_of(raw)


def _named(part: dict[str, Any]) -> str:
    return f"({next(iter(part), 'empty part')})"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else msgspec.json.encode(value).decode()
