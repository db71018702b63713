"""The columns of the session table: pure, so that the table can be tested without a screen.

Cells that change often are left of the title: the terminal is sent everything from the left edge of a widget up to the
changed cell.  The least needed columns are dropped first, until the title of the session has room.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct, field, structs

from agentdash.sessions.model.session import SHORT_ID, Load, Session, Status
from agentdash.sessions.rules.conversation.marks import MarkKind
from agentdash.sessions.rules.costs.cost import cost_words
from agentdash.sessions.rules.costs.usage_totals import session_cost, session_tokens
from agentdash.sessions.text import units
from agentdash.sessions.text.sanitize import cut, cut_left, one_line, pad
from agentdash.widgets.drawing import glyphs
from agentdash.widgets.drawing.short_forms import place

WHAT_LEAST = 20
"""Least cells of the title beside a needed column."""

WHAT_READ = 30
"""Least cells of the title beside the folder and the agent."""

WHAT_GOOD = 40
"""Least cells of the title beside an optional column."""

UNREAD_COUNTED = 99
"""Highest count of unread steps that is shown: each new number of a running session is sent to the terminal."""

UNREAD_ROOM = 24
"""Least cells of the title beside the unread steps: at 80 columns the title needs them more."""

_TOKEN_CELLS, _COST_CELLS = 5, 7
_DECIMALS = re.compile(r"\.\d+")

Cell = tuple[str, str]
"""Padded text and the role of its colour."""


class Moment(Struct, frozen=True):
    """Input of a cell beside its session."""

    now: int
    """UTC ms, from which ages are counted."""
    loads: Mapping[str, Load] = field(default_factory=dict)
    """Measured process load by session id."""


class Column(Struct, frozen=True):
    """One column: its width, and when it is dropped for lack of space."""

    heading: str
    width: int
    text: Callable[[Session, Moment], str]
    rank: int = 0
    """The highest is dropped first; 0 is never dropped."""
    room: int = WHAT_LEAST
    """Least cells that it leaves to the title."""
    right: bool = False
    cut_left: bool = False
    after: bool = False
    """True if it is right of the title."""
    help: str = ""
    """Description for the dialog that chooses columns."""
    narrow: "Column | None" = None
    """A shorter form, which takes its place before it is dropped."""


class Choice(Struct, frozen=True):
    """The columns that the user chose, in order, and their changed widths."""

    names: tuple[str, ...]
    widths: tuple[tuple[str, int], ...] = ()


_SHORT = {str(Status.STOPPED): "stop"}
"""Words that are too long for the column together with ``new``."""


def _state(session: Session, _: Moment) -> str:
    word = state_word(session)
    if is_new(session):
        word = f"{_SHORT.get(word, word)} new"
    return f"{state_mark(session)} {word}"


def is_new(session: Session) -> bool:
    """Return whether the session ended, and the user has not opened it since."""
    return session.status.ended and session.attention and not session.put_away and session.taken_by is None


def state_word(session: Session) -> str:
    """The state as a word; besides the statuses ``stuck``, ``asks``, ``archived``, ``deleted`` and ``by hand``."""
    if session.put_away:
        return "archived" if session.deleted_at is None else "deleted"
    if session.taken_by is not None:
        return "by hand"
    if session.asks_user:
        return "asks"
    return "stuck" if session.is_stuck else str(session.status)


def gutter(session: Session, *, marked: bool = False) -> str:
    """The cell at the left edge: the sign of a marked or a pinned session, else a blank."""
    return glyphs.MARKED if marked else glyphs.PINNED if session.pinned_at is not None else " "


def fork_sign(session: Session) -> str:
    """The sign before the title of a session that began as a fork; empty for another one."""
    return f"{glyphs.MARKS[MarkKind.FORK]} " if session.source == MarkKind.FORK else ""


def state_mark(session: Session) -> str:
    """The character of the state: that of a turn by hand while the agent's own interface is open."""
    if session.taken_by is not None and not session.put_away:
        return glyphs.MARKS[MarkKind.TAKEOVER]
    if session.asks_user:
        return glyphs.STATES[Status.WAITING]
    return glyphs.STUCK if session.is_stuck else glyphs.STATES[session.status]


def _age(session: Session, moment: Moment) -> str:
    return units.age(moment.now - session.standing_since)


def _created(session: Session, moment: Moment) -> str:
    return units.age(moment.now - session.created_at)


def _unread(session: Session, _: Moment) -> str:
    count = session.unread
    return f"+{count}" if 0 < count <= UNREAD_COUNTED else f"{UNREAD_COUNTED}+" if count else ""


def _time(session: Session, moment: Moment) -> str:
    if session.started_at is None:
        return ""
    return units.runtime((session.ended_at or moment.now) - session.started_at)


def _cost(session: Session, _: Moment) -> str:
    return cost_words(session_cost(session), "?", _COST_CELLS)


def _tokens(session: Session, _: Moment) -> str:
    words = session_tokens(session)
    # A lower bound without its decimals stays one.
    return words if len(words) <= _TOKEN_CELLS else _DECIMALS.sub("", words)


def _context(session: Session, _: Moment) -> str:
    return units.share(session.context_tokens, session.context_window)


def _where(session: Session, _: Moment) -> str:
    return one_line(session.cwd.rstrip("/").rpartition("/")[2] or "/")


def _source(session: Session, _: Moment) -> str:
    """The starter: ``you``, ``orch:1a2b`` for a session or an orchestrator, else the first eight characters."""
    if session.source == "user":
        return "you"
    kind, colon, name = session.source.partition(":")
    return one_line(f"orch:{name[:4]}" if colon and kind == "orchestrator" else session.source[:8])


def _load(text_of: Callable[[Load], str]) -> Callable[[Session, Moment], str]:
    def text(session: Session, moment: Moment) -> str:
        load = moment.loads.get(session.id)
        return "" if load is None else text_of(load)

    return text


STATE = Column("state", 12, _state)
"""Mark and word of the state."""

LEAD = Column("", 2, lambda session, _: f"{gutter(session)}{state_mark(session)}")
"""The gutter, which shows marks and pins, and the mark of the state."""

_NEW = Column("new", 3, _unread, rank=7, room=UNREAD_ROOM, right=True, help="unread steps")
OTHERS = (
    Column("age", 4, _age, rank=1, right=True, help="time of its wait or its work, or since its end"),
    _NEW,
    Column("time", 5, _time, rank=9, room=WHAT_GOOD, right=True, help="duration of the newest turn"),
    Column("turn", 4, lambda s, _: str(s.turn), rank=4, right=True, help="number of turns"),
    Column("tok", _TOKEN_CELLS, _tokens, rank=5, right=True, help="tokens, in and out"),
    Column("cost", _COST_CELLS, _cost, rank=6, right=True, help="cost in USD, as reported or estimated"),
    Column("id", SHORT_ID, lambda s, _: s.short_id, rank=8, room=WHAT_GOOD, help="session id"),
    Column("agent", 7, lambda s, _: one_line(s.agent), rank=2, after=True, help="agent"),
    Column("model", 12, lambda s, _: one_line(s.model or "?"), rank=10, room=WHAT_GOOD, after=True, help="model"),
    Column("where", 10, _where, rank=3, cut_left=True, after=True, help="name of the folder"),
)
"""The columns that a list of sessions shows if there is room."""

_MORE = (
    Column("created", 7, _created, rank=2, right=True, help="time since creation"),
    Column("ctx", 4, _context, rank=2, right=True, help="share of the model's context in use"),
    Column("steps", 6, lambda s, _: f"{s.steps}", rank=2, right=True, help="steps in all turns"),
    Column("source", 9, _source, rank=2, help="started by: you or an orchestrator"),
    Column(
        "folder", 20, lambda s, _: one_line(place(s.cwd)), rank=2, cut_left=True, after=True, help="path of the folder"
    ),
    Column("cpu", 5, _load(lambda load: units.percent(load.cpu)), rank=2, right=True, help="CPU of its processes"),
    Column(
        "mem", 7, _load(lambda load: units.size(load.rss_bytes)), rank=2, right=True, help="memory of its processes"
    ),
    Column("procs", 5, _load(lambda load: str(load.processes)), rank=2, right=True, help="number of processes"),
)
COLUMNS = {column.heading: column for column in (*OTHERS, *_MORE)}
"""All columns that can be chosen, by name."""

USUAL = Choice(("age", "new", "where", "agent"))
"""The columns of the table: the headline of the selected session shows the other facts."""

UNKNOWN = frozenset({"", "?"})
"""Texts of cells that tell nothing; a column with no other texts is not shown."""

LOADS = frozenset({"cpu", "mem", "procs"})
"""Columns that need process measurements."""

_ROLES = {
    Status.QUEUED: "dim",
    Status.STARTING: "running",
    Status.RUNNING: "running",
    Status.WAITING: "attention",
    Status.FINISHING: "running",
    Status.FAILED: "failure",
    Status.STOPPED: "dim",
    Status.LOST: "failure",
}


def role(session: Session) -> str:
    """The role of a session's colour; put-away sessions, and ended ones that the user has seen, are dim."""
    if session.taken_by is not None and not session.put_away:
        return "running"
    if session.put_away or (session.status.ended and not session.attention):
        return "dim"
    if session.asks_user:
        return "attention"
    if session.status is Status.DONE:
        return "good"
    return "attention" if session.is_stuck else _ROLES[session.status]


def fitting(candidates: Sequence[Column], width: int) -> tuple[Column, ...]:
    """The columns that leave room for the title in a table of this width."""
    chosen = list(candidates)
    while taken(chosen) + max(column.room for column in chosen) > width:
        least = max(chosen, key=lambda column: column.rank)
        if least.rank == 0:
            break
        at = chosen.index(least)
        chosen[at : at + 1] = [least.narrow] if least.narrow is not None else []
    return tuple(chosen)


_SHORT_FOLDER, _SHORT_AGENT = 6, 2
"""Cells of a folder and an agent on a narrow screen."""

_SHORT_AGENTS = {"codex": "cx", "claude": "cl", "gemini": "gm"}


def _short_agent(name: str) -> str:
    """Two letters of an agent: ``cx``; of one like it, such as ``codex-demo``, the same."""
    return next((short for long, short in _SHORT_AGENTS.items() if name.startswith(long)), name[:_SHORT_AGENT])


def _together(where: Column, agent: Column) -> Column:
    """The folder and the agent as one column: ``api · codex``, and on a narrow screen ``api · cx``."""

    def text(folder: int, named: Callable[[str], str]) -> Callable[[Session, Moment], str]:
        return lambda one, now: (
            f"{cut_left(where.text(one, now), folder)} {glyphs.BETWEEN} {named(agent.text(one, now))}"
        )

    between, heading = 3, f"{where.heading} {glyphs.BETWEEN} {agent.heading}"
    short = Column(
        heading, _SHORT_FOLDER + between + _SHORT_AGENT, text(_SHORT_FOLDER, _short_agent), rank=2, room=WHAT_READ,
        after=True,
    )  # fmt: skip
    return structs.replace(
        short, width=where.width + between + agent.width, text=text(where.width, str), rank=8, narrow=short
    )


def _joined(chosen: Sequence[Column]) -> Iterator[Column]:
    """The columns, with the folder and the agent as one if they are beside each other."""
    rest = list(chosen)
    while rest:
        column = rest.pop(0)
        pair = column.heading == "where" and bool(rest) and rest[0].heading == "agent"
        yield _together(column, rest.pop(0)) if pair else column


def taken(chosen: Sequence[Column]) -> int:
    """Cells of the columns, each with the blank after it."""
    return sum(column.width + 1 for column in chosen)


@lru_cache(maxsize=64)
def columns(width: int, choice: Choice = USUAL, *, empty: frozenset[str] = frozenset()) -> tuple[Column, ...]:
    """The columns that fit in a table of this width, without the ``empty`` ones, which have nothing to show."""
    return fitting((LEAD, *_joined(chosen_columns(choice, empty))), width)


def chosen_columns(choice: Choice, empty: frozenset[str] = frozenset()) -> tuple[Column, ...]:
    """The chosen columns with their widths, whether or not they fit."""
    widths = dict(choice.widths)
    chosen = [COLUMNS[name] for name in choice.names if name in COLUMNS and name not in empty]
    return tuple(structs.replace(column, width=widths.get(column.heading, column.width)) for column in chosen)


def empty_columns(choice: Choice, sessions: Iterable[Session], moment: Moment) -> frozenset[str]:
    """The chosen columns that show nothing for any of these sessions."""
    left = {column.heading: column for column in chosen_columns(choice)}
    for session in sessions:
        left = {name: column for name, column in left.items() if column.text(session, moment) in UNKNOWN}
        if not left:
            break
    return frozenset(left)


def headings(chosen: Sequence[Column], width: int, sort: str = "", arrow: str = "") -> str:
    """The line above the rows, with an arrow at the column that they are sorted by."""

    def text(column: Column) -> str:
        name = column.heading + (arrow if sort in column.heading.split(f" {glyphs.BETWEEN} ") and sort else "")
        return pad(cut(name, column.width), column.width, right=column.right)

    left = [text(column) for column in chosen if not column.after]
    right = [text(column) for column in chosen if column.after]
    title = "what" + (arrow if sort == "what" else "")
    return cut(" ".join([*left, pad(title, max(0, width - taken(chosen))), *right]).rstrip(), width)


def fitted(column: Column, session: Session, moment: Moment) -> str:
    """The text of one cell, padded or cut to its column."""
    text, width = column.text(session, moment), column.width
    return pad(cut_left(text, width) if column.cut_left else cut(text, width), width, right=column.right)
