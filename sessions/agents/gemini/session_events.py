"""The lines of Gemini CLI's own chats, ``~/.gemini/tmp/<project>/chats/session-*.jsonl``.

Seen with Gemini CLI 0.61.0: headings, patches, ``user`` and ``gemini``.  Rewinds, ``info``, ``warning``, ``error`` and
``displayContent`` come from its public source, of versions near 0.61.0.  Every field is optional
(docs/protocols/gemini.md, "Chats").
"""

from typing import Any

import msgspec
from msgspec import Raw, Struct, field

from agentdash.sessions.agents.parsing.json_lines import NULL, Count, Words, text_of, value_of
from agentdash.sessions.agents.parsing.transcript_parser import is_wrapped

_PREAMBLE = frozenset({"hook_context", "session_context", "state_snapshot"})
_FIRST_WORDS = "This is the Gemini CLI. We are setting up the context"


class Thought(Struct):
    """One thought of a message."""

    subject: Words | None = None
    description: Words | None = None
    timestamp: str | None = None


class Tokens(Struct):
    """The tokens of one model call: ``input`` includes ``cached``, ``output`` does not include ``thoughts``."""

    input: Count | None = None
    output: Count | None = None
    cached: Count | None = None
    thoughts: Count | None = None
    tool: Count | None = None
    """Input from the API's own tools; ``input`` does not include it."""


class ToolCall(Struct, rename="camel"):
    """A tool call and its result."""

    id: str | None = None
    name: str = ""
    args: Raw = NULL
    result: Raw = NULL
    """Parts; a ``functionResponse`` among them holds the result for the model."""
    status: str = ""
    timestamp: str | None = None
    """The time at which the record was written: the call's end, if it has ended."""
    result_display: Raw = NULL
    """The result for people: a text, or an object with a ``fileDiff``."""


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
    """The user's own text, if gemini put the texts of files into ``content``."""
    thoughts: list[Thought] | None = None
    tokens: Tokens | None = None
    model: str | None = None
    tool_calls: list[ToolCall] | None = None


SAID_ELSEWHERE = frozenset({"projectHash", "startTime", "lastUpdated"})
"""Fields of headings and patches that hold nothing for a step to show."""


def is_preamble(text: str) -> bool:
    """Return whether gemini wrote this text in the user's name."""
    return is_wrapped(text, _PREAMBLE) or text.lstrip().startswith(_FIRST_WORDS)


def parts_of(content: Raw) -> list[dict[str, Any]]:
    """Return the parts of a content: a single text is one part, a value that is not a part becomes its JSON text."""
    value = value_of(content)
    values = value if isinstance(value, list) else [] if value is None else [value]
    return [one if isinstance(one, dict) else {"text": _text(one)} for one in values]


def words_of(parts: list[dict[str, Any]]) -> str:
    """Join the texts of parts; a part that is not text is only named."""
    texts = ((part.get("text"), f"({next(iter(part), 'empty part')})") for part in parts)
    return "\n".join(text if isinstance(text, str) else name for text, name in texts)


def response_text(response: Any) -> str:
    """Return the output or the error of a ``functionResponse``, else all of it as JSON."""
    answer = response.get("response") if isinstance(response, dict) else response
    if isinstance(answer, dict):
        for name in ("output", "error"):
            if isinstance(answer.get(name), str):
                return str(answer[name])
    return _text(answer)


def result_text(result: Raw) -> str:
    """Return the result of a call as the model got it."""
    texts = []
    for part in parts_of(result):
        response = part.get("functionResponse")
        texts.append(words_of([part]) if response is None else response_text(response))
    return "\n".join(texts)


def as_text(raw: Raw) -> str:
    """Return a field of a heading or a patch: a text as it is, a list of texts on one line, else its JSON."""
    value = value_of(raw)
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    return value if isinstance(value, str) else text_of(raw)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else msgspec.json.encode(value).decode()
