"""Sessions as rows that fit the terminal."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from ...sessions.model import Session, Status
from ...sessions.text import cut, cut_left, one_line, pad
from .words import Look, age, mark, money, plural, short_id, status_role, tokens, what

_MIN_TITLE = 16
_COUNTED = (Status.WAITING, Status.RUNNING, Status.FAILED, Status.LOST, Status.DONE, Status.STOPPED)
_EMPTY = """No sessions yet.
  agentdash spawn "fix the failing test"   starts an agent in this folder
  agentdash demo                           shows what it looks like"""


class _Column(Struct, frozen=True):
    heading: str
    width: int
    cell: Callable[[Look, Session], str]
    rank: int = 0
    """What is dropped first on a narrow terminal: the highest rank; 0 stays."""
    right: bool = False


def _state(look: Look, session: Session) -> str:
    new = " new" if session.status is Status.DONE and session.attention else ""
    return f"{mark(look, session.status)} {session.status}{new}"


def _age(look: Look, session: Session) -> str:
    return age(look.now - (session.last_event_at or session.updated_at))


def _where(_: Look, session: Session) -> str:
    return one_line(home_relative(session.cwd))


_COLUMNS = (
    _Column("status", 11, _state),
    _Column("id", 8, lambda _, s: short_id(s.id)),
    _Column("age", 4, _age, 1, right=True),
    _Column("turn", 4, lambda _, s: str(s.turn), 4, right=True),
    _Column("tok", 6, lambda _, s: tokens(s.usage.total_tokens), 5, right=True),
    _Column("cost", 7, lambda _, s: money(s.cost_usd), 6, right=True),
    _Column("agent", 7, lambda _, s: one_line(s.agent), 2),
    _Column("where", 20, _where, 3),
)


def sessions_text(sessions: Sequence[Session], look: Look, *, hidden: int = 0, filtered: bool = False) -> list[str]:
    """The header with counts, one row per session, and a second line where there is a reason to show.

    ``hidden`` older sessions are only counted; ``filtered`` tells an empty store from an empty answer.
    """
    if not sessions:
        return ["No session matches."] if filtered else _EMPTY.splitlines()
    columns = _fitting(look.width)
    title_width = look.width - _taken(columns)
    lines = [_counts(sessions, look), _headings(columns, look)]
    for session in sessions:
        lines.append(_row(session, columns, title_width, look))
        if session.reason:
            lines.append(_reason(session, look))
    if hidden:
        lines.append(look.paint(f"{hidden} older: agentdash ls --all", "dim"))
    return lines


def session_line(session: Session, look: Look) -> str:
    """One session in one line: what ``spawn``, ``inject`` and ``wait`` say."""
    state = look.paint(_state(look, session), status_role(session))
    title = cut(what(session), max(_MIN_TITLE, look.width - 24))
    return f"{short_id(session.id)}  {state}  {title}"


def session_lines(session: Session, look: Look) -> list[str]:
    """One session, and the reason of its state where there is one."""
    return [session_line(session, look), *([_reason(session, look)] if session.reason else [])]


def home_relative(path: str) -> str:
    """The path with ``~`` for the user's home."""
    home = str(Path.home())
    return "~" + path[len(home) :] if path == home or path.startswith(home + "/") else path


def _taken(columns: Sequence[_Column]) -> int:
    return sum(column.width + 1 for column in columns)


def _fitting(width: int) -> list[_Column]:
    """The columns that leave room for a title."""
    columns = list(_COLUMNS)
    while _taken(columns) > width - _MIN_TITLE:
        least = max(columns, key=lambda column: column.rank)
        if least.rank == 0:
            break
        columns.remove(least)
    return columns


def _headings(columns: Sequence[_Column], look: Look) -> str:
    cells = [pad(column.heading, column.width, right=column.right) for column in columns]
    return look.paint(" ".join([*cells, "what"]), "dim")


def _row(session: Session, columns: Sequence[_Column], title_width: int, look: Look) -> str:
    cells = []
    for column in columns:
        shorten = cut_left if column.heading == "where" else cut
        text = shorten(column.cell(look, session), column.width)
        padded = pad(text, column.width, right=column.right)
        cells.append(look.paint(padded, status_role(session)) if column.heading == "status" else padded)
    return " ".join([*cells, cut(what(session), title_width)]).rstrip()


def _reason(session: Session, look: Look) -> str:
    line = cut(f"  {look.char('↳', '>')} {one_line(session.reason or '')}", look.width)
    return look.paint(line, status_role(session))


def _counts(sessions: Sequence[Session], look: Look) -> str:
    counts = Counter(session.status for session in sessions)
    parts = [f"{mark(look, status)} {counts[status]} {status}" for status in _COUNTED if counts[status]]
    known = [s.usage.total_tokens for s in sessions if s.usage.total_tokens is not None]
    costs = [s.cost_usd for s in sessions if s.cost_usd is not None]
    parts += [f"{tokens(sum(known))} tok"] if known else []
    parts += [money(sum(costs))] if costs else []
    line = "   ".join([plural(len(sessions), "session"), *parts])
    return look.paint(cut(line, look.width), "strong")
