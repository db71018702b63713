"""Sessions as rows that fit the terminal."""

from collections import Counter
from collections.abc import Sequence

from ...sessions.costs.usage_totals import sums
from ...sessions.model import SHORT_ID, Session, Status
from ...sessions.rules.attention import attention
from ...sessions.text.sanitize import cut, one_line
from ...sessions.text.units import count, money, tokens
from ...widgets.drawing.short_forms import place
from ...widgets.table.columns import (
    OTHERS,
    STATE,
    WHAT_LEAST,
    Column,
    Moment,
    fitted,
    fitting,
    headings,
    remark,
    role,
    taken,
)
from .style import Look, what

_STUCK = "stuck"
_COUNTED = (
    Status.WAITING, _STUCK, Status.STARTING, Status.RUNNING, Status.FINISHING, Status.QUEUED,
    Status.FAILED, Status.LOST, Status.DONE, Status.STOPPED,
)  # fmt: skip
"""The states in the words of the rows, as the header counts them."""
_EMPTY = """No sessions yet.
  agentdash spawn "fix the failing test"   starts an agent in this folder
  agentdash demo                           shows what it looks like"""


_ID = Column("id", SHORT_ID, lambda session, _: session.short_id)
_WHERE = Column("where", 20, lambda session, _: one_line(place(session.cwd)), rank=3, cut_left=True)
_COLUMNS = (STATE, _ID, *(column for column in OTHERS if column.heading not in ("id", "where")), _WHERE)


def sessions_text(
    sessions: Sequence[Session], look: Look, *, older: Sequence[Session] = (), filtered: bool = False
) -> list[str]:
    """Return a header with counts, one row per session, and a second line for its remark if there is one.

    ``older`` sessions have no row: they count in the header, and the last lines show how to list them.  ``filtered``
    distinguishes an empty result from an empty store.
    """
    if not sessions:
        return ["No session matches."] if filtered else _EMPTY.splitlines()
    columns = fitting(_COLUMNS, look.width)
    lines = [_counts([*sessions, *older], look), look.paint(headings(columns, look.width), "dim")]
    for session in sessions:
        lines.append(_row(session, columns, look))
        lines += _below(session, look)
    if older:
        lines.append(look.paint(f"{len(older)} older: agentdash ls --all", "dim"))
    if not filtered and (needing := sum(attention(session, look.now) is not None for session in sessions)):
        told = count(needing, "needs you", "need you")
        lines.append(look.paint(cut(f"{told}: agentdash ls --filter is:attention", look.width), "dim"))
    return lines


def session_line(session: Session, look: Look) -> str:
    """Return one session as one line, as ``spawn``, ``inject`` and ``wait`` print it."""
    state = look.paint(fitted(STATE, session, _moment(look)).rstrip(), role(session))
    title = cut(what(session), max(WHAT_LEAST, look.width - 24))
    return f"{session.short_id}  {state}  {title}"


def session_lines(session: Session, look: Look) -> list[str]:
    """Return the session's line, and a line for its remark if there is one."""
    return [session_line(session, look), *_below(session, look)]


def _row(session: Session, columns: Sequence[Column], look: Look) -> str:
    moment = _moment(look)
    cells = [fitted(column, session, moment) for column in columns]
    cells[0] = look.paint(cells[0], role(session))
    return " ".join([*cells, cut(_pinned(session, look) + what(session), look.width - taken(columns))]).rstrip()


def _pinned(session: Session, look: Look) -> str:
    return f"{look.signs.pinned} " if session.pinned_at is not None else ""


def _moment(look: Look) -> Moment:
    return Moment(look.now, look.signs)


def _below(session: Session, look: Look) -> list[str]:
    text = remark(session, look.now)
    line = cut(f"  {look.signs.below} {text}", look.width)
    return [look.paint(line, role(session))] if text else []


def _counts(sessions: Sequence[Session], look: Look) -> str:
    counts = Counter(_STUCK if session.is_stuck else session.status for session in sessions)
    marks = {_STUCK: look.signs.stuck} | look.signs.states
    parts = [f"{marks[state]} {counts[state]} {state}" for state in _COUNTED if counts[state]]
    total = sums(sessions)
    parts += [_sum(f"{tokens(total.tokens)} tok", total.tokens_missing)] if total.tokens is not None else []
    parts += [_sum(money(total.dollars), total.dollars_missing)] if total.dollars is not None else []
    line = "   ".join([count(len(sessions), "session"), *parts])
    return look.paint(cut(line, look.width), "strong")


def _sum(text: str, missing: int) -> str:
    """Return a sum, with "known" if some sessions' values are missing."""
    return f"{text} known" if missing else text
