"""The order of sessions in the table, its sections and headings: pure.

The order uses facts that do not change with time (a start time, not an age), so that a row moves only when something
happened to it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum, StrEnum
from typing import Any

from msgspec import Struct

from agentdash.sessions.model.session import Load, Session, Status
from agentdash.sessions.rules.attention import rank, urgency
from agentdash.sessions.rules.costs.family_sums import outside_key
from agentdash.sessions.rules.costs.usage_totals import session_cost
from agentdash.sessions.rules.urgency_levels import Urgency


class Section(StrEnum):
    """A part of the table, from the top."""

    PINNED = "pinned"
    NEEDS_YOU = "needs you"
    RUNNING = "running"
    UNREAD = "done, unread"
    QUEUED = "queued"
    SEEN = "seen"
    ARCHIVED = "archived"
    DELETED = "deleted"


_OF_URGENCY = {
    Urgency.WAITING: Section.NEEDS_YOU,
    Urgency.STUCK: Section.NEEDS_YOU,
    Urgency.FAILED: Section.NEEDS_YOU,
    Urgency.DENIED: Section.NEEDS_YOU,
    Urgency.ASKS: Section.NEEDS_YOU,
    Urgency.AT_WORK: Section.RUNNING,
    Urgency.DONE: Section.UNREAD,
    Urgency.QUEUED: Section.QUEUED,
    Urgency.AT_REST: Section.SEEN,
}


def section(session: Session) -> Section:
    """Return the section of a session."""
    if session.put_away:
        return Section.ARCHIVED if session.deleted_at is None else Section.DELETED
    return Section.PINNED if session.pinned_at is not None else _OF_URGENCY[urgency(session)]


class TwoLines(IntEnum):
    """The sessions that have rows of two lines, each with those before it."""

    NONE = 0
    NEEDS = 1
    """Those that need the user."""
    WORKS = 2
    """Those at work."""
    ALL = 3


Key = tuple[Any, ...]

LEAD_CELLS = 16
"""Most cells of a title in a tree that show its place in the tree."""


class Grouping(StrEnum):
    """The ways to group rows."""

    SECTIONS = "sections"
    TREE = "tree"
    FOLDER = "folder"
    AGENT = "agent"
    FLAT = "flat"


class Arrangement(Struct, frozen=True, kw_only=True):
    """An order that the user chose; the default puts sessions that need the user first."""

    sort: str = "attention"
    reverse: bool = False
    grouping: Grouping = Grouping.SECTIONS

    @property
    def grouped(self) -> Grouping:
        """The grouping in force: sections are those of the usual order, and another order has one list."""
        usual = self.sort == "attention" and not self.reverse
        return Grouping.FLAT if self.grouping is Grouping.SECTIONS and not usual else self.grouping


class Heading(Struct, frozen=True):
    """The line above the sessions of one section, folder or agent."""

    name: str
    sessions: tuple[str, ...]
    """The ids of its sessions, folded away or not."""
    attention: int
    """The number of its sessions that need the user."""
    folded: bool
    section: bool = False
    """True for a section of the usual order."""
    visiting: int = 0
    """1 if one of its rows is here only while it is in hand, and belongs to another section; -1 in that section."""

    @property
    def count(self) -> int:
        """The number of sessions that belong to it."""
        return len(self.sessions) - self.visiting

    lead: str = ""
    """The outside lead of its sessions; empty for another group."""


class Row(Struct, frozen=True):
    """One row: a session, or the heading of a group."""

    key: str
    """The session's id; for a heading, a text that cannot be an id."""
    session: str | None = None
    heading: Heading | None = None
    lead: str = ""
    """The branches before the title in a tree."""
    parent: str | None = None
    """The key of the row that can fold this one away."""
    folds: bool = False
    """True if there are rows below it that it can fold."""


def _context(session: Session) -> float | None:
    tokens, window = session.context_tokens, session.context_window
    return tokens / window if tokens is not None and window else None


_Value = Callable[[Session], Any]

SORTS: Mapping[str, tuple[_Value, bool]] = {
    "attention": (rank, False),
    "created": (lambda session: session.created_at, True),
    "age": (lambda session: session.standing_since, True),
    "state": (lambda session: list(Status).index(session.status), False),
    "new": (lambda session: session.unread, True),
    "time": (lambda session: session.started_at, True),
    "turn": (lambda session: session.turn, True),
    "tok": (lambda session: session.usage.total_tokens, True),
    "cost": (lambda session: session_cost(session).known_usd, True),
    "ctx": (_context, True),
    "steps": (lambda session: session.steps, True),
    "id": (lambda session: session.id, False),
    "agent": (lambda session: session.agent.casefold(), False),
    "model": (lambda session: (session.model or "").casefold() or None, False),
    "source": (lambda session: session.source.casefold(), False),
    "where": (lambda session: _folder_name(session.cwd.casefold()), False),
    "folder": (lambda session: session.cwd.casefold(), False),
    "what": (lambda session: session.label.casefold(), False),
}
"""Orders by facts of a session; True if the greatest comes first by default."""

MEASURED: Mapping[str, Callable[[Load], float | None]] = {
    "cpu": lambda load: load.cpu,
    "mem": lambda load: load.rss_bytes,
    "procs": lambda load: load.processes,
}
"""Orders by the load of a session's processes, the greatest first.

A session without processes or without a measurement comes last.  The rows are sorted after each measurement, but not
just after the user moved the cursor.
"""

ORDERS = (*SORTS, *MEASURED)
"""All sort orders: the state, the title, and every column."""

_NO_LOADS: Mapping[str, Load] = {}


def _folder_name(cwd: str) -> str:
    """The last part of a folder, as in its column, then the whole folder."""
    folder = cwd.rstrip("/")
    return f"{folder.rpartition('/')[2]}\0{folder}"


def sort_key(session: Session, arrangement: Arrangement, loads: Mapping[str, Load] = _NO_LOADS) -> Key:
    """The sort key: pinned sessions first, unknown values last in both directions, equal ones newest first."""
    if arrangement.sort in SORTS:
        value, falling = SORTS[arrangement.sort]
        key = value(session)
    else:
        load, falling = loads.get(session.id), True
        key = None if load is None else MEASURED[arrangement.sort](load)
    pinned = session.pinned_at is None
    if key is None:
        return (pinned, 1, 0, -session.created_at, session.id)
    falling ^= arrangement.reverse
    ordered = _Falling(key) if falling and isinstance(key, str) else -key if falling else key
    return (pinned, 0, ordered, -session.created_at, session.id)


class _Falling(str):
    """A text that sorts in reverse."""

    __slots__ = ()

    def __lt__(self, other: str) -> bool:
        return str.__gt__(self, other)


def rows_of(
    ordered: Sequence[Session],
    grouping: Grouping,
    folded: Collection[str],
    section_of: Callable[[Session], Section],
    *,
    home: Callable[[str], str] = str,
    needing: Collection[str] = (),
    held: tuple[str, Section] | None = None,
) -> Iterator[Row]:
    """Make the rows of sessions that are already sorted.

    Args:
        folded: keys of the rows whose members are hidden.
        home: shortens a folder for people.
        needing: ids of the sessions that need the user.
        held: the session that stays in the section where it is shown, and that section.
    """
    if grouping is Grouping.FLAT:
        return (Row(session.id, session.id) for session in ordered)
    if grouping is Grouping.TREE:
        return _tree(ordered, folded)
    if grouping is Grouping.SECTIONS:
        return _sections(ordered, section_of, folded, held)
    if grouping is Grouping.AGENT:
        return _groups(ordered, lambda session: session.agent, folded, needing)
    return _groups(ordered, _shortened(home), folded, needing)


def membership(session: Session) -> tuple[object, ...]:
    """The facts that decide the heading or the parent of a session."""
    return session.cwd, session.agent, session.parent, session.predecessor, session.lead


def _shortened(home: Callable[[str], str]) -> Callable[[Session], str]:
    """The short form of folders, each computed once."""
    known: dict[str, str] = {}

    def name(session: Session) -> str:
        folder = known.get(session.cwd)
        return folder if folder is not None else known.setdefault(session.cwd, home(session.cwd))

    return name


def _groups(
    ordered: Iterable[Session], name: Callable[[Session], str], folded: Collection[str], needing: Collection[str]
) -> Iterator[Row]:
    groups: dict[str, list[str]] = {}
    for session in ordered:
        groups.setdefault(name(session), []).append(session.id)
    for label in sorted(groups):
        ids = tuple(groups[label])
        yield from _group(Heading(label, ids, sum(key in needing for key in ids), heading_key(label) in folded))


def _sections(
    ordered: Iterable[Session],
    section_of: Callable[[Session], Section],
    folded: Collection[str],
    held: tuple[str, Section] | None,
) -> Iterator[Row]:
    members: dict[Section, list[str]] = {}
    visits: dict[Section, int] = {}
    """The rows of a section that another one counts, or the other way round, by its section."""
    for session in ordered:
        own = section_of(session)
        kept = held[1] if held is not None and held[0] == session.id else own
        members.setdefault(kept, []).append(session.id)
        if kept is not own:
            visits = {kept: 1, own: -1}
    for one in Section:
        if ids := tuple(members.get(one, ())):
            folds = heading_key(one) in folded
            yield from _group(Heading(one, ids, 0, folds, section=True, visiting=visits.get(one, 0)))


def _group(heading: Heading) -> Iterator[Row]:
    """The row of a heading, and those of its sessions if it is not folded."""
    key = heading_key(heading.name)
    yield Row(key, heading=heading, folds=True)
    if not heading.folded:
        yield from (Row(session_id, session_id, parent=key) for session_id in heading.sessions)


def heading_key(label: str) -> str:
    """The key of a group's row."""
    return f"\0{label}"


def _tree(ordered: Sequence[Session], folded: Collection[str]) -> Iterator[Row]:
    there = {session.id: session for session in ordered}
    children: dict[str, list[str]] = {}
    roots: dict[str, str] = {}
    """The keys of the rows at the left edge, in order, each with its outside lead; empty for a session."""
    for session in ordered:
        if session.lead is not None and session.parent is None:
            key = outside_key(session.lead)
            roots[key] = session.lead
        else:
            parent = there.get(session.parent or session.predecessor or "")
            # A parent must be older, so that no session is its own ancestor.
            older = parent is not None and parent.created_at < session.created_at
            key = parent.id if parent is not None and older else ""
        if key:
            children.setdefault(key, []).append(session.id)
        else:
            roots[session.id] = ""
    yield from _branches(roots, children, folded)


def _branches(roots: dict[str, str], children: Mapping[str, Sequence[str]], folded: Collection[str]) -> Iterator[Row]:
    """Every family from its oldest session on, with an explicit stack: generations may exceed Python's call depth."""
    waiting: list[tuple[str, str | None, str, str]] = [(key, None, "", "") for key in reversed(roots)]
    while waiting:
        key, parent, own, deeper = waiting.pop()
        folds, closed = key in children, key in folded
        if outside := roots.get(key):
            heading = Heading(outside, tuple(children[key]), 0, closed, lead=outside)
            yield Row(key, heading=heading, folds=True)
        else:
            mark = ("▸ " if closed else "▾ ") if folds else ""
            yield Row(key, key, lead=_nearest(own + mark), parent=parent, folds=folds)
        if folds and not closed:
            below = [(child, key, f"{deeper}├ ", _nearest(f"{deeper}│ ")) for child in children[key]]
            below[-1] = (below[-1][0], key, f"{deeper}└ ", _nearest(f"{deeper}  "))
            waiting += reversed(below)


def _nearest(lead: str) -> str:
    """The lead, cut to its end (the nearest generations) if it would leave no room for the title."""
    return lead if len(lead) <= LEAD_CELLS else f"…{lead[1 - LEAD_CELLS :]}"
