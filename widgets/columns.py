"""A session as the cells of its row: pure, so that what the table shows can be tested without a screen.

What changes often stands left: the terminal is sent everything from the left edge of a widget up to the cell that
changed.  Columns go, the least needed first, until the text that says what the session is about has room.
"""

from collections.abc import Callable, Sequence
from functools import cache

from msgspec import Struct

from ..sessions.model import Session, Status, Stopping
from ..sessions.text import cell_width, cut, cut_left, one_line, pad
from . import words
from .signs import UNICODE, Signs

WHAT_LEAST = 20
"""Cells that the text needs before another column may stand beside it."""

WHAT_GOOD = 40
"""The same for columns that are only good to have."""

MESSAGE_LEAST = 24
"""Cells left of the text's room from which on the last message stands behind the title."""

SILENT_MS = 120_000
"""A running agent that printed nothing for so long is worth a second line."""

Cell = tuple[str, str]
"""Padded text and the role of its colour."""


class Column(Struct, frozen=True):
    """One column: how wide it is, and how soon it goes when there is no room."""

    heading: str
    width: int
    text: Callable[[Session, int, Signs], str]
    rank: int = 0
    """The highest goes first; 0 stays."""
    room: int = WHAT_LEAST
    """What it must leave to the text."""
    right: bool = False
    cut_left: bool = False


def _state(session: Session, _: int, signs: Signs) -> str:
    new = " new" if session.status is Status.DONE and session.attention else ""
    return f"{signs.states[session.status]} {session.status}{new}"


def _mark(session: Session, _: int, signs: Signs) -> str:
    return signs.states[session.status]


def _age(session: Session, now: int, _: Signs) -> str:
    return words.age(now - last_sign_of_life(session))


def _time(session: Session, now: int, _: Signs) -> str:
    if session.started_at is None:
        return ""
    return words.age((session.ended_at or now) - session.started_at)


def _where(session: Session, _: int, __: Signs) -> str:
    return one_line(session.cwd.rstrip("/").rpartition("/")[2] or "/")


STATE = Column("state", 11, _state)
"""Mark and word."""

_MARK = Column("", 1, _mark)
OTHERS = (
    Column("age", 4, _age, rank=1, right=True),
    Column("time", 4, _time, rank=8, room=WHAT_GOOD, right=True),
    Column("turn", 4, lambda s, _, __: str(s.turn), rank=4, right=True),
    Column("tok", 5, lambda s, _, __: words.tokens(s.usage.total_tokens), rank=5, right=True),
    Column("cost", 7, lambda s, _, __: words.money(s.cost_usd), rank=6, right=True),
    Column("id", 8, lambda s, _, __: s.id[:8], rank=7, room=WHAT_GOOD),
    Column("agent", 7, lambda s, _, __: one_line(s.agent), rank=2),
    Column("model", 12, lambda s, _, __: one_line(s.model or "?"), rank=9, room=WHAT_GOOD),
    Column("where", 10, _where, rank=3, cut_left=True),
)
"""What may stand between the state and the text."""

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


def last_sign_of_life(session: Session) -> int:
    """When the session ended or, while it runs, when its agent last printed something; UTC ms."""
    return session.ended_at or session.last_event_at or session.started_at or session.created_at


def role(session: Session) -> str:
    """What the colour of a session means; all that is over and was seen is dim."""
    if session.status is Status.DONE:
        return "good" if session.attention else "dim"
    return _ROLES[session.status]


def fitting(candidates: Sequence[Column], width: int) -> tuple[Column, ...]:
    """Those that leave room for the text in a table of this width."""
    chosen = list(candidates)
    while taken(chosen) + max(column.room for column in chosen) > width:
        least = max(chosen, key=lambda column: column.rank)
        if least.rank == 0:
            break
        chosen.remove(least)
    return tuple(chosen)


def taken(chosen: Sequence[Column]) -> int:
    """Cells that the columns need, each with the blank after it."""
    return sum(column.width + 1 for column in chosen)


@cache
def columns(width: int) -> tuple[Column, ...]:
    """The columns of the screen's table."""
    return fitting((STATE if width >= 60 else _MARK, *OTHERS), width)


def headings(chosen: Sequence[Column], width: int) -> str:
    """The line above the rows."""
    texts = [pad(column.heading, column.width, right=column.right) for column in chosen]
    return cut(" ".join([*texts, "what"]), width)


def cells(session: Session, now: int, width: int, signs: Signs = UNICODE, *, marked: bool = False) -> tuple[Cell, ...]:
    """One row; each cell is padded to its column, and a blank stands between two cells."""
    colour = role(session)
    chosen = columns(width)
    row = [(fitted(column, session, now, signs), _cell_role(column, colour)) for column in chosen]
    lead = f"{signs.marked} " if marked else ""
    row += _what(session, max(0, width - taken(chosen)), "dim" if colour == "dim" else "text", lead)
    return tuple(row)


def _what(session: Session, room: int, colour: str, lead: str = "") -> list[Cell]:
    """The title and, where there is room, what the agent said last."""
    title = lead + one_line(session.title or session.task)
    rest = room - cell_width(title) - 1
    said = session.reason if _asked_for(session) else session.last_message
    if rest < MESSAGE_LEAST or not said:
        return [(pad(cut(title, room), room), colour)]
    return [(title, colour), (pad(cut(one_line(said, rest * 4), rest), rest), "dim")]


def note(session: Session, now: int) -> str:
    """Why somebody should look: a stop under way, the reason of the state, what was left, silence; mostly nothing."""
    if session.stopping is not None:
        return stop_stage(session.stopping, now)
    if session.reason and not _asked_for(session):
        return one_line(session.reason)
    if session.left:
        what = f": {one_line(session.left_note)}" if session.left_note else ""
        return words.count(session.left, "process", "processes") + f" left running{what}"
    silence = now - last_sign_of_life(session)
    if session.status is Status.RUNNING and silence >= SILENT_MS:
        return f"silent {words.age(silence)}"
    return ""


def stop_stage(stopping: Stopping, now: int) -> str:
    """How far a stop has come: ``stopping: SIGINT sent, SIGTERM in 2s``."""
    then = ""
    if stopping.next and stopping.due_at is not None:
        then = f", {stopping.next} in {max(0, -(-(stopping.due_at - now) // 1000))}s"
    return f"stopping: {stopping.rung}{' sent' if stopping.rung.startswith('SIG') else ''}{then}"


def _asked_for(session: Session) -> bool:
    """Whether whoever sits here ended it: no reason to look again."""
    return session.status is Status.STOPPED and (session.reason or "").startswith("stopped by you")


def second_line(session: Session, now: int, width: int, signs: Signs = UNICODE) -> Cell | None:
    """The line below a row, where there is something to say."""
    text = note(session, now)
    if not text:
        return None
    indent = "  " if width < 60 else " " * 12
    colour = "attention" if session.stopping or not session.reason else role(session)
    return pad(cut(f"{indent}{signs.below} {text}", width), width), colour


def fitted(column: Column, session: Session, now: int, signs: Signs) -> str:
    """The text of one cell, as wide as its column."""
    text = column.text(session, now, signs)
    text = cut_left(text, column.width) if column.cut_left else cut(text, column.width)
    return pad(text, column.width, right=column.right)


def _cell_role(column: Column, colour: str) -> str:
    if column in (STATE, _MARK):
        return colour
    return "dim" if colour == "dim" or column.rank >= 4 else "text"
