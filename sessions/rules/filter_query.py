"""The query language that filters sessions: ``state:failed cost>1 !web "login test"``.

Words are joined by *and*; ``!`` inverts one; quotation marks keep blanks.  An amount may follow its field with or
without a colon: ``cost:>1``, ``cost>1``.  A word without a field is searched for in the texts of a row.

Pure, for the table, ``ls --filter`` and other selections of sessions.
"""

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from agentdash.sessions.model import durations
from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.model.session import Session, Status
from agentdash.sessions.rules.attention import is_needed, needs_you
from agentdash.sessions.rules.costs.usage_totals import session_cost
from agentdash.sessions.text.sanitize import cell_width, one_line, whole_names

Test = Callable[[Session, int], bool]
"""Returns True if a session matches, at a time in UTC ms."""

_AMOUNT = re.compile(r"(>=|<=|>|<|=)?\s*\$?(.+)")
_COUNT = re.compile(r"(\d+(?:\.\d+)?)([km]?)", re.IGNORECASE)
_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt, "<": operator.lt, ">=": operator.ge, "<=": operator.le, "=": operator.eq,
}  # fmt: skip
_UNITS = {"": 1.0, "k": 1e3, "m": 1e6}


class Filter(Struct, frozen=True):
    """A parsed filter: its text, and its tests."""

    text: str = ""
    tests: tuple[Test, ...] = ()
    timed: bool = False
    """True if time alone can change its matches."""
    away: frozenset[str] = frozenset()
    """The requested ones of ``archived`` and ``deleted``: no other filter matches such sessions."""

    def matches(self, session: Session, now: int) -> bool:
        """Return whether a session matches at a time (UTC ms)."""
        return all(test(session, now) for test in self.tests)

    def __bool__(self) -> bool:
        return bool(self.tests)


def parse(text: str) -> Filter:
    """Parse a filter; an empty one matches every session.

    Raises:
        UsageError: an unknown field, or an invalid value; the message lists the valid ones.
    """
    words = list(map(_word, _WORD.finditer(text)))
    tests = [test for word in words if (test := _test(word)) is not None]
    return Filter(" ".join(text.split()), tuple(tests), any(map(_timed, words)), frozenset().union(*map(_away, words)))


class _Word(Struct, frozen=True):
    """One word of a filter."""

    inverted: bool
    field: str
    """As it was written; empty if the word has none."""
    value: str
    quoted: bool


def _word(match: re.Match[str]) -> _Word:
    inverted, field, amount, quoted, plain = match.groups()
    value = quoted if quoted is not None else plain
    return _Word(bool(inverted), field or amount or "", value, quoted is not None)


def _timed(word: _Word) -> bool:
    """Return whether time alone changes the matches of one word: ages grow, and silence begins."""
    name = word.field.lower()
    return name in ("age", "time") or (name == "is" and "attention" in word.value.lower().split(","))


def _away(word: _Word) -> frozenset[str]:
    """Return the ones of ``archived`` and ``deleted`` that one word requests."""
    asked = word.field.lower() == "is" and not word.inverted
    return _AWAY.intersection(word.value.lower().split(",")) if asked else frozenset()


def _test(word: _Word) -> Test | None:
    """Return the test of one word; None for an empty one."""
    field, value = word.field, word.value
    if not value and not field:
        return None
    if not value:
        raise UsageError(f"{field}: needs a value, e.g. {_example(field.lower())}.")
    test = _field(field.lower(), value, f"{field}:{value}") if field else _anywhere(value)
    return (lambda session, now: not test(session, now)) if word.inverted else test


def while_typing(text: str) -> tuple[str, str]:
    """Return the part of a filter to apply while its last word is typed, and the part to apply if that matches none.

    A last word that cannot be applied yet (``state:``, ``is:att``, ``cost>``) is left out of both.  A word that could
    still become another (``stat`` may become ``state:``, ``state:fai`` is not complete) is left out of the second: rows
    must not vanish because of half a word.
    """
    *_, last = (None, *_WORD.finditer(text))
    word = _word(last) if last is not None else None
    if last is None or word is None or word.quoted or last.end() != len(text):
        return text, text
    before = text[: last.start()].rstrip()
    return (before, before) if _means_nothing(word) else (text, before) if _can_become_more(word) else (text, text)


def _means_nothing(word: _Word) -> bool:
    """Return whether a word of a known field is incomplete, so that it cannot be applied."""
    name, begun = word.field.lower(), word.value.lower().rpartition(",")[2]
    if name == "is":
        return begun not in KINDS and any(kind.startswith(begun) for kind in KINDS)
    if name in _AMOUNTS:
        return _BEGUN_AMOUNT.fullmatch(word.value) is not None
    return name in FIELDS and not word.value


def _can_become_more(word: _Word) -> bool:
    """Return whether a word that can be applied may be the beginning of a field or of a state."""
    name, begun = word.field.lower(), word.value.lower().rpartition(",")[2]
    if name == "state":
        return begun not in STATES and any(state.startswith(begun) for state in STATES)
    return not name and any(field.startswith(begun) for field in FIELDS)


def _field(field: str, value: str, written: str) -> Test:
    if field in _TEXTS:
        return _contains(_TEXTS[field], value)
    if field in _AMOUNTS:
        return _compares(field, value)
    if field == "state":
        return _in_state(value)
    if field == "is":
        return _is(value)
    if "://" in written:
        return _anywhere(written)  # an address is a word
    shown = one_line(written, _WRITTEN_CELLS)
    raise _unknown(f"field {field}", field, FIELDS, f'"{shown}" in quotes searches text. Fields', colon=":")


_MESSAGE_CELLS, _WRITTEN_CELLS = 100, 24
"""The widths of a message, and of the quoted word in it: the line below a table has that much room."""


def _unknown(what: str, written: str, choices: Sequence[str], lead: str, *, colon: str = "") -> UsageError:
    """Return an error that names the unknown word, the nearest choice, and the choices that fit, nearest first."""
    from difflib import get_close_matches  # only a mistake needs it

    alike = get_close_matches(written, choices, len(choices))
    begun = [choice for choice in choices if choice.startswith(written)]
    ordered = list(dict.fromkeys([*begun, *alike, *choices]))
    meant = f": did you mean {ordered[0]}{colon}?" if begun or alike else "."
    head = f"Unknown {one_line(what, _WRITTEN_CELLS)}{meant} {lead}: "
    return UsageError(head + whole_names(ordered, _MESSAGE_CELLS - cell_width(head)))


def _anywhere(value: str) -> Test:
    wanted = value.casefold()
    return lambda session, _: wanted in haystack(session)


def haystack(session: Session) -> str:
    """Return all texts of a row, for words without a field."""
    parts = (
        session.title, session.task, session.cwd, session.agent, session.model, session.reason, session.last_message,
        session.id, session.status,
    )  # fmt: skip
    return "\n".join(part for part in parts if part).casefold()


def _contains(text: Callable[[Session], str | None], value: str) -> Test:
    wanted = [choice.casefold() for choice in value.split(",") if choice]
    return lambda session, _: any(choice in (text(session) or "").casefold() for choice in wanted)


def _in_state(value: str) -> Test:
    wanted = {choice.lower() for choice in value.split(",") if choice}
    if unknown := sorted(choice for choice in wanted if not any(state.startswith(choice) for state in STATES)):
        raise _unknown(f"state {unknown[0]}", unknown[0], STATES, "States")
    states = {state for state in Status if any(state.startswith(choice) for choice in wanted)}
    stuck = any(_STUCK.startswith(choice) for choice in wanted)
    return lambda session, _: session.status in states or (stuck and session.is_stuck)


def _is(value: str) -> Test:
    chosen = [choice.lower() for choice in value.split(",") if choice]
    if unknown := next((choice for choice in chosen if choice not in KINDS), None):
        raise _unknown(f"is:{unknown}", unknown, list(KINDS), "Choose one of")
    tests = [KINDS[choice] for choice in chosen]
    return lambda session, now: any(test(session, now) for test in tests)


def _compares(field: str, value: str) -> Test:
    measure, usual, number = _AMOUNTS[field]
    match = _AMOUNT.fullmatch(value)
    try:
        wanted = number(match[2]) if match else None
    except UsageError:
        wanted = None
    if match is None or wanted is None:
        raise UsageError(f"{field}:{value} is not a valid amount. Example: {_example(field)}.")
    compare = _COMPARE[match[1] or usual]

    def test(session: Session, now: int) -> bool:
        amount = measure(session, now)
        return amount is not None and compare(amount, wanted)

    return test


def _count(text: str) -> float | None:
    match = _COUNT.fullmatch(text)
    return float(match[1]) * _UNITS[match[2].lower()] if match else None


def _took(session: Session, now: int) -> float | None:
    return None if session.started_at is None else ((session.ended_at or now) - session.started_at) / 1000


_TEXTS: Mapping[str, Callable[[Session], str | None]] = {
    "agent": lambda session: session.agent,
    "cwd": lambda session: session.cwd,
    "model": lambda session: session.model,
    "id": lambda session: session.id,
    "title": lambda session: session.label,
    "said": lambda session: session.last_message,
    "why": lambda session: session.reason,
    "source": lambda session: session.source,
    "parent": lambda session: session.parent,
    "after": lambda session: session.predecessor,
}

_AMOUNTS: Mapping[str, tuple[Callable[[Session, int], float | None], str, Callable[[str], float | None]]] = {
    "cost": (lambda session, _: session_cost(session).known_usd, ">=", _count),
    "tok": (lambda session, _: session.usage.total_tokens, ">=", _count),
    "turn": (lambda session, _: session.turn, "=", _count),
    "new": (lambda session, _: session.unread, ">=", _count),
    "steps": (lambda session, _: session.steps, ">=", _count),
    "age": (lambda session, now: (now - session.standing_since) / 1000, "<=", durations.seconds),
    "time": (_took, ">=", durations.seconds),
}
"""By field: the value, the comparison for an amount without one, and the parser of the amount."""

KINDS: Mapping[str, Callable[[Session, int], object]] = {
    "attention": is_needed,
    "needs_you": lambda session, _: needs_you(session),
    "live": lambda session, _: not session.status.ended,
    "ended": lambda session, _: session.status.ended,
    "stuck": lambda session, _: session.is_stuck,
    "denied": lambda session, _: session.denied,
    "asks": lambda session, _: session.asks_user,
    "unread": lambda session, _: session.unread,
    "left": lambda session, _: session.left,
    "pinned": lambda session, _: session.pinned_at,
    "child": lambda session, _: session.parent,
    "blocked": lambda session, _: session.blocked,
    "archived": lambda session, _: session.archived_at and not session.deleted_at,
    "deleted": lambda session, _: session.deleted_at,
    "trash": lambda session, _: session.deleted_at,
}
"""The values of ``is:``, with their tests."""

_AWAY = frozenset({"archived", "deleted", "trash"})

_STUCK = "stuck"
STATES = (*map(str, Status), _STUCK)
"""The values of ``state:``: each status, and ``stuck``, which is a running session that makes no progress."""

FIELDS = tuple(dict.fromkeys(("state", "is", "agent", "cwd", "cost", "age", *_TEXTS, *_AMOUNTS)))
"""Every field, for completions; the most used come first."""

_WORD = re.compile(
    rf"""(?=\S)(!?)(?:([A-Za-z_]+):|({"|".join(_AMOUNTS)})(?=[<>=]))?(?:"([^"]*)"?|(\S*))""", re.IGNORECASE
)
_BEGUN_AMOUNT = re.compile(r"(>=?|<=?|=)?\$?(\d+\.)?")
"""An incomplete amount, which needs another digit."""


def _example(field: str) -> str:
    examples = {
        "state": "state:failed", "is": "is:attention", "cost": "cost:>1", "tok": "tok:>10k", "turn": "turn:2",
        "new": "new:>5", "steps": "steps:>100", "age": "age:<1h", "time": "time:>10m",
    }  # fmt: skip
    return examples.get(field, f"{field}:text")


def completions(word: str, sessions: Iterable[Session]) -> list[str]:
    """Return completions of a word that is being typed, the likeliest first; at most twenty values."""
    lead = "!" if word.startswith("!") else ""
    field, colon, begun = word.removeprefix("!").partition(":")
    if not colon:
        return [f"{lead}{name}:" for name in FIELDS if name.startswith(field.lower())]
    return [f"{lead}{field}:{value}" for value in _values(field.lower(), sessions) if value.startswith(begun)][:20]


def _values(field: str, sessions: Iterable[Session]) -> list[str]:
    if field == "state":
        return list(STATES)
    if field == "is":
        return list(KINDS)
    if field in ("agent", "model", "source", "cwd"):
        values = {text for session in sessions if (text := _TEXTS[field](session))}
        return sorted(f'"{text}"' if " " in text else text for text in values)
    return []
