"""A session as the cells of its row: pure, so that the table can be tested without a screen.

Cells that change often are on the left: the terminal is sent everything from the left edge of a widget up to the
changed cell.  The least needed columns are dropped first, until the title of the session has room.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct, field, structs

from ...sessions.model import SHORT_ID, Load, Session, Status, StoppedBy, Stopping
from ...sessions.rules.attention import SILENT_MS
from ...sessions.text import units
from ...sessions.text.sanitize import cell_width, cut, cut_left, one_line, pad
from ..drawing.glyphs import UNICODE, Signs
from ..drawing.short_forms import place

WHAT_LEAST = 20
"""Least cells of the title beside a needed column."""

WHAT_GOOD = 40
"""Least cells of the title beside an optional column."""

MESSAGE_LEAST = 24
"""Least free cells after the title that show the last message."""

UNREAD_COUNTED = 99
"""Highest count of unread steps that is shown: each new number of a running session is sent to the terminal."""

UNREAD_ROOM = 24
"""Least cells of the title beside the unread steps: at 80 columns the title needs them more."""

TOGETHER_MS = 600_000
"""From this age on, ages may be a minute late, so that many rows change in one frame of the terminal."""

_MINUTE_MS = 60_000

Cell = tuple[str, str]
"""Padded text and the role of its colour."""


class Moment(Struct, frozen=True):
    """Input of a cell beside its session."""

    now: int
    """UTC ms, from which ages are counted."""
    signs: Signs = UNICODE
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
    help: str = ""
    """Description for the dialog that chooses columns."""


class Choice(Struct, frozen=True):
    """The columns that the user chose, in order, and their changed widths."""

    names: tuple[str, ...]
    widths: tuple[tuple[str, int], ...] = ()


def _state(session: Session, moment: Moment) -> str:
    return f"{_mark(session, moment)} {state_word(session)}{' new' if is_new(session) else ''}"


def is_new(session: Session) -> bool:
    """Return whether the session ended, and the user has not opened it since."""
    return session.status.ended and session.attention and not session.put_away


def state_word(session: Session) -> str:
    """The state as a word: also ``stuck`` (running without progress), ``archived`` or ``deleted`` (put away)."""
    if session.put_away:
        return "archived" if session.deleted_at is None else "deleted"
    if session.asks_user:
        return "asks"
    return "stuck" if session.is_stuck else str(session.status)


def _mark(session: Session, moment: Moment) -> str:
    if session.asks_user:
        return moment.signs.states[Status.WAITING]
    return moment.signs.stuck if session.is_stuck else moment.signs.states[session.status]


def _age(session: Session, moment: Moment) -> str:
    return units.age(moment.now - session.last_sign_at)


def _created(session: Session, moment: Moment) -> str:
    return units.age(moment.now - session.created_at)


def _unread(session: Session, _: Moment) -> str:
    count = session.unread
    return f"+{count}" if 0 < count <= UNREAD_COUNTED else f"{UNREAD_COUNTED}+" if count else ""


def _time(session: Session, moment: Moment) -> str:
    if session.started_at is None:
        return ""
    return units.runtime((session.ended_at or moment.now) - session.started_at)


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

_MARK = Column("", 1, _mark)
_NEW = Column("new", 3, _unread, rank=7, room=UNREAD_ROOM, right=True, help="unread steps")
OTHERS = (
    Column("age", 4, _age, rank=1, right=True, help="time since last output or end"),
    _NEW,
    Column("time", 5, _time, rank=9, room=WHAT_GOOD, right=True, help="duration of the newest turn"),
    Column("turn", 4, lambda s, _: str(s.turn), rank=4, right=True, help="number of turns"),
    Column("tok", 5, lambda s, _: units.tokens(s.usage.total_tokens), rank=5, right=True, help="tokens, in and out"),
    Column("cost", 7, lambda s, _: units.money(s.cost_usd), rank=6, right=True, help="cost in USD, as reported"),
    Column("id", SHORT_ID, lambda s, _: s.short_id, rank=8, room=WHAT_GOOD, help="session id"),
    Column("agent", 7, lambda s, _: one_line(s.agent), rank=2, help="agent"),
    Column("model", 12, lambda s, _: one_line(s.model or "?"), rank=10, room=WHAT_GOOD, help="model"),
    Column("where", 10, _where, rank=3, cut_left=True, help="name of the folder"),
)
"""The default columns between the state and the title."""

_MORE = (
    Column("created", 7, _created, rank=2, right=True, help="time since creation"),
    Column("steps", 6, lambda s, _: f"{s.steps}", rank=2, right=True, help="steps in all turns"),
    Column("source", 9, _source, rank=2, help="started by: you or an orchestrator"),
    Column("folder", 20, lambda s, _: one_line(place(s.cwd)), rank=2, cut_left=True, help="path of the folder"),
    Column(
        "cpu",
        5,
        _load(lambda load: units.percent(load.cpu)),
        rank=2,
        right=True,
        help="CPU of its processes",
    ),
    Column(
        "mem", 7, _load(lambda load: units.size(load.rss_bytes)), rank=2, right=True, help="memory of its processes"
    ),
    Column("procs", 5, _load(lambda load: str(load.processes)), rank=2, right=True, help="number of processes"),
)
COLUMNS = {column.heading: column for column in (*OTHERS, *_MORE)}
"""All columns that can be chosen, by name."""

USUAL = Choice(tuple(column.heading for column in OTHERS))
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
        chosen.remove(least)
    return tuple(chosen)


def taken(chosen: Sequence[Column]) -> int:
    """Cells of the columns, each with the blank after it."""
    return sum(column.width + 1 for column in chosen)


@lru_cache(maxsize=64)
def columns(width: int, choice: Choice = USUAL) -> tuple[Column, ...]:
    """The columns that fit in a table of this width."""
    widths = dict(choice.widths)
    chosen = [COLUMNS[name] for name in choice.names if name in COLUMNS]
    sized = [structs.replace(column, width=widths.get(column.heading, column.width)) for column in chosen]
    return fitting((STATE if width >= 60 else _MARK, *sized), width)


def headings(chosen: Sequence[Column], width: int, sort: str = "", arrow: str = "") -> str:
    """The line above the rows, with an arrow at the column that they are sorted by."""
    texts = [
        pad(
            cut(column.heading + (arrow if column.heading == sort else ""), column.width),
            column.width,
            right=column.right,
        )
        for column in chosen
    ]
    return cut(" ".join([*texts, "what" + (arrow if sort == "what" else "")]), width)


def cells(
    session: Session,
    moment: Moment,
    width: int,
    choice: Choice = USUAL,
    *,
    marked: bool = False,
    lead: str = "",
) -> tuple[Cell, ...]:
    """One row; each cell is padded to its column, and a blank separates two cells."""
    colour = role(session)
    chosen = columns(width, choice)
    row = [(fitted(column, session, moment), _cell_role(column, colour)) for column in chosen]
    lead += f"{moment.signs.marked} " if marked else ""
    lead += f"{moment.signs.pinned} " if session.pinned_at is not None else ""
    row += _what(session, max(0, width - taken(chosen)), "dim" if colour == "dim" else "text", lead, moment.signs)
    return tuple(row)


def _what(session: Session, room: int, colour: str, lead: str, signs: Signs) -> list[Cell]:
    """The title and, if there is room, the agent's last message or the reason for waiting."""
    title = lead + one_line(session.label)
    rest = room - cell_width(title) - 1
    message = session.reason if _asked_for(session) or _waits(session) else session.last_message
    if rest < MESSAGE_LEAST or not message:
        return [(pad(cut(title, room), room), colour)]
    return [(title, colour), (pad(cut(f"{signs.between} {one_line(message, rest * 4)}", rest), rest), "dim")]


def note(session: Session, now: int) -> str:
    """The second line of a row: the remark, unless the row itself shows it."""
    return "" if _waits(session) else remark(session, now)


def _waits(session: Session) -> bool:
    """Return whether the only remark is that it waits in the queue, like others around it."""
    return session.status is Status.QUEUED and session.stopping is None


def remark(session: Session, now: int) -> str:
    """The reason to open a session (stop, loop, reason of the state, leftover processes, silence), else ""."""
    if session.stopping is not None:
        return stop_stage(session.stopping, now)
    if evidence := session.stuck if session.is_stuck else session.asks if session.asks_user else None:
        return one_line(evidence)
    if session.reason and not _asked_for(session):
        return one_line(session.reason)
    if session.left:
        what = f": {one_line(session.left_note)}" if session.left_note else ""
        return units.count(session.left, "process", "processes") + f" left running{what}"
    silence = now - session.last_sign_at
    if session.status is Status.RUNNING and silence >= SILENT_MS:
        return f"no output for {units.age(silence)}"
    return ""


def steady_until(session: Session, now: int) -> int:
    """The time (UTC ms) until which its row and second line stay the same, if nothing happens."""
    if session.stopping is not None:
        return now
    running = session.started_at if session.ended_at is None else None
    counted = (session.last_sign_at, session.created_at, *(() if running is None else (running,)))
    return min(_read_until(now, at) for at in counted)


def _read_until(now: int, since: int) -> int:
    """The time until which an age reads the same; old ages may be a minute late, and change together."""
    until = now + units.steady(now - since)
    return until if now - since < TOGETHER_MS else -(-until // _MINUTE_MS) * _MINUTE_MS


def stop_stage(stopping: Stopping, now: int) -> str:
    """The progress of a stop: ``stopping: SIGINT sent, SIGTERM in 2s``."""
    then = ""
    if stopping.next and stopping.due_at is not None:
        then = f", {stopping.next} in {max(0, -(-(stopping.due_at - now) // 1000))}s"
    return f"stopping: {stopping.rung}{' sent' if stopping.rung.startswith('SIG') else ''}{then}"


def _asked_for(session: Session) -> bool:
    """Return whether the user stopped the session: the reason is then no news."""
    return session.stopped_by is StoppedBy.YOU


def second_line(session: Session, now: int, width: int, signs: Signs = UNICODE) -> Cell | None:
    """The line below a row; None if there is no remark."""
    text = note(session, now)
    if not text:
        return None
    indent = "  " if width < 60 else " " * 12
    waits = session.stopping or session.is_stuck or session.asks_user
    colour = "attention" if waits or not session.reason else role(session)
    return pad(cut(f"{indent}{signs.below} {text}", width), width), colour


def fitted(column: Column, session: Session, moment: Moment) -> str:
    """The text of one cell, padded or cut to its column."""
    text = column.text(session, moment)
    text = cut_left(text, column.width) if column.cut_left else cut(text, column.width)
    return pad(text, column.width, right=column.right)


_TOLD = frozenset({"age", "agent", "where", "folder"})
"""Columns that are as bright as the title if the session is not dim."""


def _cell_role(column: Column, colour: str) -> str:
    if column in (STATE, _MARK):
        return colour
    if column.heading == _NEW.heading:
        return "good" if colour == "good" else "dim"
    return "text" if colour != "dim" and column.heading in _TOLD else "dim"
