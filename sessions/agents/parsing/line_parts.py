"""The parts of a line that is not one JSON value: each whole object on it, and the rest as it was printed.

A terminal's escape sequences, another program's words or a torn write can share a line with events, and two events can
share one.  Two kinds of text look like events and are none, although a model chooses them: text in a string of another
event, and an object in another object.  Both are told by their places.

- Text in a string: its quotes are escaped, so no object with a key begins there.
- An object in another one is behind ``":``, ``[`` or ``,``, or before ``,``, ``]`` or ``}``.  Only where the object
  around it is certainly torn, because what follows breaks its syntax just there, or cannot be at that place of an
  event (:func:`breaks_off`), does the next one count.

So an event behind a line that was torn just before a value that a model chooses is not taken.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from agentdash.sessions.agents.parsing.json_lines import UNREADABLE
from agentdash.sessions.model import typed

# The places of an event at which no whole event can be: the agent fills them itself, with something else.  An event
# there was printed behind one that is torn just before it.  A model chooses values too, such as the input of a tool,
# and it can give them the form of an event: those places, and all places of unknown names, are not among these.  The
# names are those of claude 2.1.197 to 2.1.332 and codex 0.169.0 to 0.171.0, of streams and transcripts.

ITEM = "[]"
"""The name of a place in an array."""

_INNER = frozenset(("message", "content", ITEM, "usage", "item", "params", "turn", "payload"))
"""The names on the way to a place; more than one array is in the output of a tool."""

_DEEPEST = 5
"""Names that lead to a place at most, as in an item of app-server: params, item, content, a number, text."""

_NAMES = """
type subtype role id uuid timestamp cwd version entrypoint method ordinal status reason
sessionId session_id parentUuid parent_tool_use_id sourceToolAssistantUUID promptId requestId
isSidechain isMeta isReplay isSynthetic isApiErrorMessage userType gitBranch permissionMode agentId
apiKeySource claude_code_version output_style fast_mode_state request_id hold_id messaging_socket_path
is_error num_turns duration_ms duration_api_ms ttft_ms ttft_stream_ms time_to_request_ms
total_cost_usd stop_reason terminal_reason api_error_status apiErrorStatus
model stop_sequence stop_details container context_management diagnostics
input_tokens output_tokens cache_creation_input_tokens cache_read_input_tokens total_tokens
cached_input_tokens reasoning_output_tokens cache_write_input_tokens service_tier inference_geo speed
text thinking signature name tool_use_id thread_id threadId turnId itemId call_id turn_id
command aggregated_output aggregatedOutput exit_code exitCode durationMs startedAtMs completedAtMs
startedAt completedAt processId delta willRetry clientUserMessageId
"""
_FILLED = _INNER.union(_NAMES.split())
"""The names of places that agents fill with a text, a number or a known object."""

_KINDS = (
    "user|assistant|system|result|stream_event|rate_limit_event|command_lifecycle|conversation_reset|queue-operation"
    "|control_(?:request|response|cancel_request)|thread\\.started|turn\\.(?:started|completed|failed)"
    "|item\\.(?:started|updated|completed)"
)
_EVENT = re.compile(
    rf'\{{[ \t]*"(?:type"[ \t]*:[ \t]*"(?:{_KINDS})"|(?:parentUuid|timestamp|method|duration_api_ms|is_error)"[ \t]*:)'
)
"""The beginning of an event; no object at the places above begins so."""


def breaks_off(path: Sequence[str], text: str, at: int) -> bool:
    """Return whether the object at a place of an event is an event of its own, so that the one around it is torn.

    Args:
        path: the names that lead to the place, from the outermost.
        at: the offset of the object in it.
    """
    if not 0 < len(path) <= _DEEPEST or path[-1] not in _FILLED:
        return False
    if not _INNER.issuperset(path[:-1]) or path.count(ITEM) > 1:
        return False
    return _EVENT.match(text, at) is not None


_MOST_TOKENS = 1_000_000
"""Tokens that are read of one line, which bounds the time; the rest is shown as it was printed."""

_VALID = typed.decoder_of(msgspec.Raw)

_BLANKS = "\xef\xbb\xbf\x7f" + "".join(chr(code) for code in range(0x21) if code != 0x1B)
"""The characters around events: those of a byte order mark (each byte is one here), controls and blanks."""

_WORD = re.compile(rb"[ \t]*+([A-Za-z]++)")
_CONSTANTS = frozenset({b"true", b"false", b"null", b"NaN", b"Infinity"})

_ESCAPE = r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|[\]PX^_][^\x07\x1b]*+(?:\x07|\x1b\\)|[ -/]*+[0-OQ-WYZ\\`-~])"
_NEXT = re.compile("|".join((rf"(?P<noise>{_ESCAPE})", r"(?P<foreign>\x1b[\]PX^_])", r'\{[ \t\r\n]*+"')))
"""An escape sequence, one whose text has no end, or the beginning of an object with a key."""

_GAP = re.compile(rf"(?:{_ESCAPE}|[{re.escape(_BLANKS)}])*+")

_TOKEN = re.compile(
    r'[ \t\r\n]*+(?:(?P<string>"(?:[^"\\]++|\\.)*+")|(?P<value>true|false|null|NaN|-?Infinity|-?[0-9][0-9.eE+-]*+)'
    r"|(?P<mark>[{}\[\]:,]))",
    re.DOTALL,
)


class _Torn(NamedTuple):
    """The place at which the syntax of an object breaks; ``next`` is the object that certainly begins there."""

    at: int
    next: int | None


def is_text(line: bytes) -> bool:
    """Return whether a line certainly is not JSON and has no part that is: it begins with a word and has no brace.

    Other lines can be text too.  Programs print many such lines between events, and this check is cheap.
    """
    if b"{" in line or b"\x1b" in line:
        return False
    begin = _WORD.match(line)
    return begin is not None and begin[1] not in _CONSTANTS


def parts(line: bytes) -> list[bytes]:
    """Return the whole objects of a line and the rest between them, in order, without escape sequences and blanks.

    A line that is one JSON value, or has no whole object, is returned as it is; one of escape sequences has no part.
    """
    return [part for _, part in _parts(line)]


def by_parts(lines: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Yield the parts of lines, each with the offset behind it: the newline belongs to the last part.

    Args:
        lines: the lines without their newlines, each with the offset behind its newline.
    """
    for end, line in lines:
        found = _parts(line)
        for place, part in found[:-1]:
            yield end - 1 - len(line) + place, part
        yield end, found[-1][1] if found else b""


def each_part(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the parts of lines."""
    for line in lines:
        yield from parts(line)


def _parts(line: bytes) -> list[tuple[int, bytes]]:
    """Return the parts, each with the offset in the line behind it."""
    try:
        _VALID.decode(line)
    except UNREADABLE:
        text = line.decode("latin-1")  # a character for each byte, so that offsets stay
    else:
        return [(len(line), line)]
    spans = list(_objects(text))
    if not spans:
        return [] if "\x1b" in text and not _without_noise(text) else [(len(line), line)]
    found, at = [], 0
    for begin, end in (*spans, (len(text), len(text))):
        rest = _without_noise(text[at:begin])
        found += [(begin, rest.encode("latin-1"))] if rest else []
        found += [(end, line[begin:end])] if end > begin else []
        at = end
    return found


def _without_noise(text: str) -> str:
    return _NEXT.sub(lambda match: "" if match["noise"] else match[0], text).strip(_BLANKS)


def _objects(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of the whole objects of a line."""
    budget = [_MOST_TOKENS]
    at = 0
    sure = True
    """All before ``at`` is noise, whole objects, and torn ones whose end is certain."""
    certain: int | None = None
    while (match := _NEXT.search(text, at)) is not None and not match["foreign"]:
        begin = match.start()
        sure = sure and (begin == certain or not text[at:begin].strip(_BLANKS))
        if match["noise"]:
            at = match.end()
            continue
        end = _end_of(text, begin, budget)
        if end is None:
            return
        if isinstance(end, _Torn):
            certain = end.next if sure else None
            sure = certain is not None
            at = max(begin + 1, end.at if certain is None else certain)
            continue
        nested = begin != certain and _is_value(text[at:begin])
        if not nested and not text.startswith(("}", "]", ","), _after_gap(text, end)):
            yield begin, end
        at = end


def _after_gap(text: str, at: int) -> int:
    match = _GAP.match(text, at)
    return match.end() if match is not None else at


def _is_value(before: str) -> bool:
    """Return whether an object behind this text is a value of another one."""
    before = _without_noise(before[-999:])
    return before.endswith((",", "[")) or re.search(r'"[ \t\r\n]{0,99}:$', before) is not None


def _end_of(text: str, begin: int, budget: list[int]) -> int | _Torn | None:
    """Return the end of the object at a place, or where it is torn; None if the line may be its inside to the end.

    Args:
        budget: the number of tokens that may still be read; it is counted down.
    """
    open_: list[str] = []
    path: list[str] = []
    expected = "value"
    at = begin
    last: re.Match[str] | None = None
    while budget[0] > 0:
        budget[0] -= 1
        token = _TOKEN.match(text, at)
        if token is not None and token["mark"] == "{" and breaks_off(path, text, token.start("mark")):
            return _Torn(at, token.start("mark"))
        following = _after(token, expected, open_) if token is not None else None
        if token is not None and following is not None:
            _follow(path, token, following, len(open_))
        else:
            at += len(text[at : at + 99]) - len(text[at : at + 99].lstrip(" \t\r\n"))
            endless = token is None and text.startswith('"', at)
            return None if at == len(text) or endless else _Torn(at, _begun(text, at, last))
        at, last, expected = token.end(), token, following
        if not open_:
            return at
    return None


def _follow(path: list[str], token: re.Match[str], following: str, depth: int) -> None:
    """Keep the names that lead to the next value: one for each open object and array."""
    if len(path) < depth:
        path.append(ITEM if token["mark"] == "[" else "")
    del path[depth:]
    if following == "colon":
        path[-1] = token["string"][1:-1]


_VALUES = ("value", "value or end")
_KEYS = ("key", "key or end")
_PAIRS = {"}": "{", "]": "["}


def _after(token: re.Match[str], expected: str, open_: list[str]) -> str | None:
    """Return what may follow a token, and note what it opens or closes; None if it is not what is expected."""
    if token["string"] is not None and expected in _KEYS:
        return "colon"
    mark = token["mark"]
    if mark is None or mark in "{[":
        if expected not in _VALUES:
            return None
        open_ += mark or ""
        return "more" if mark is None else "key or end" if mark == "{" else "value or end"
    if mark in ":,":
        following = "value" if mark == ":" or open_[-1] != "{" else "key"
        return following if expected == ("colon" if mark == ":" else "more") else None
    if expected not in ("more", "key or end", "value or end") or open_[-1] != _PAIRS[mark]:
        return None
    open_.pop()
    return "more"


def _begun(text: str, at: int, last: re.Match[str] | None) -> int | None:
    """Return the beginning of the object that certainly broke the syntax of the one before; None if that is unsure.

    If the one before was torn in a string, the quote of the next one's first key ended that string.
    """
    if text.startswith("{", at):
        return at
    if last is None or last["string"] is None or last.end() != at:
        return None
    torn = last["string"][:-1].rstrip(" \t\r\n")
    return last.start("string") + len(torn) - 1 if torn.endswith("{") else None
