"""Sessions as rows that fit the terminal, those in the trash as lines, and the result of a clean-up."""

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import structs

from agentdash.sessions.model.session import SHORT_ID, Session, Status, short_id
from agentdash.sessions.rules.attention import needs_you
from agentdash.sessions.rules.costs.cost import cost_words, tokens_words
from agentdash.sessions.rules.costs.usage_totals import sums
from agentdash.sessions.rules.prompts.due import clock_words
from agentdash.sessions.storage.files.trash import Cleaned, Trashed
from agentdash.sessions.text.sanitize import cut, one_line
from agentdash.sessions.text.units import age, count, size
from agentdash.tui.render.style import Style, what
from agentdash.widgets.drawing import glyphs
from agentdash.widgets.drawing.short_forms import place
from agentdash.widgets.table.columns import (
    OTHERS,
    STATE,
    WHAT_LEAST,
    Column,
    Moment,
    fitted,
    fitting,
    fork_sign,
    headings,
    role,
    state_mark,
    state_word,
    taken,
)
from agentdash.widgets.table.row_detail import remark

_COUNTED = (
    Status.WAITING, "stuck", "asks", Status.STARTING, Status.RUNNING, Status.FINISHING, "by hand", Status.QUEUED,
    Status.FAILED, Status.LOST, Status.DONE, Status.STOPPED, "archived", "deleted",
)  # fmt: skip
"""The states in the words of the rows, as the header counts them."""
_EMPTY = """No sessions yet.
  agentdash spawn "fix the failing test"   start an agent in this folder
  agentdash demo                           try it with scripted agents"""

_ID = Column("id", SHORT_ID, lambda session, _: session.short_id)
_WHERE = Column("where", 20, lambda session, _: one_line(place(session.cwd)), rank=3, cut_left=True)
_OTHERS = (structs.replace(column, after=0) for column in OTHERS if column.heading not in ("id", "where"))
LISTED = (STATE, _ID, *_OTHERS, _WHERE)
"""The columns of a list of sessions."""


def sessions_text(
    sessions: Sequence[Session],
    style: Style,
    *,
    older: Sequence[Session] = (),
    quiet: Sequence[Session] = (),
    filtered: bool = False,
) -> list[str]:
    """Return a header with counts, one row per session, and a second line for its remark if there is one.

    ``older`` sessions have no row: they count in the header, and the last lines show how to list them.  So do the
    ``quiet`` ones, which need nothing, and of which only state and use are known.  ``filtered`` distinguishes an empty
    result from an empty store.
    """
    if not sessions:
        return ["No matching sessions."] if filtered else _EMPTY.splitlines()
    columns = fitting(LISTED, style.width)
    lines = [counts([*sessions, *older, *quiet], style), style.paint(headings(columns, style.width), "dim")]
    for session in sessions:
        lines.append(row(session, columns, style))
        lines += below(session, style)
    if not filtered and (needing := sum(map(needs_you, (*sessions, *older)))):
        words = count(needing, "needs you", "need you")
        lines.append(style.paint(cut(f"{words}: agentdash ls --filter is:needs_you", style.width), "dim"))
    if more := len(older) + len(quiet):
        lines.append(style.paint(f"… and {more:,} more (--all)", "dim"))
    return lines


def session_line(session: Session, style: Style) -> str:
    """Return one session as one line, as ``spawn``, ``inject`` and ``wait`` print it."""
    state = style.paint(fitted(STATE, session, Moment(style.now)).rstrip(), role(session))
    waits = _in_brackets(queue_words(session, style.now))
    title = cut(what(session), max(WHAT_LEAST, style.width - 24 - len(waits)))
    return f"{session.short_id}  {state}  {title}{waits}"


def session_lines(session: Session, style: Style) -> list[str]:
    """Return the session's line, and a line for its remark if there is one."""
    return [session_line(session, style), *below(session, style)]


def row(session: Session, columns: Sequence[Column], style: Style, lead: str = "") -> str:
    """Return the row of a session; ``lead`` is drawn before its title."""
    moment = Moment(style.now)
    cells = [fitted(column, session, moment) for column in columns]
    cells[0] = style.paint(cells[0], role(session))
    return " ".join([*cells, _title(session, style.width - taken(columns), lead, style.now)]).rstrip()


def _title(session: Session, room: int, lead: str, now: int) -> str:
    """Return the title; the words for an agent that waits for prompts, and for prompts that wait, are not cut."""
    words, short = queue_words(session, now), f"+{session.queued}{' held' if session.held else ''}"
    whole = ["warm", *words] if session.warm_since is not None else words
    forms = (_in_brackets(whole), _in_brackets([short] if words else []))
    waits = next((form for form in forms if room - len(form) >= WHAT_LEAST // 2), "")
    signs = lead + (f"{glyphs.PINNED} " if session.pinned_at is not None else "") + fork_sign(session)
    return cut(signs + what(session), room - len(waits)) + waits


def queue_words(session: Session, now: int) -> list[str]:
    """Return the number of prompts that wait, until when, and that they are held, as far as there is anything."""
    until = f" until {clock_words(session.due_at, now)}" if session.due_at is not None else ""
    return [*([f"{session.queued} queued{until}"] if session.queued else []), *(["held"] if session.held else [])]


def _in_brackets(words: Sequence[str]) -> str:
    return f" ({', '.join(words)})" if words else ""


def below(session: Session, style: Style) -> list[str]:
    """Return a line for the session's remark, if there is one."""
    text = remark(session, style.now)
    line = cut(f"  {glyphs.BELOW} {text}", style.width)
    return [style.paint(line, role(session))] if text else []


def counts(sessions: Sequence[Session], style: Style) -> str:
    """Return the header: the number of sessions, those in each state, and what they used."""
    words = [state_word(session) for session in sessions]
    numbers, examples = Counter(words), dict(zip(words, sessions, strict=True))
    parts = [f"{_mark(examples[word])}{numbers[word]} {word}" for word in _COUNTED if numbers[word]]
    total = sums(sessions)
    used = tokens_words(total.tokens, total.tokens_missing)
    parts += [f"{used} tok"] if total.tokens is not None else []
    parts += filter(None, [cost_words(total.cost)])
    line = "   ".join([count(len(sessions), "session"), *parts])
    return style.paint(cut(line, style.width), "strong")


def _mark(session: Session) -> str:
    """Return the mark of all sessions whose state has the same word; "" if they have several."""
    return "" if session.put_away else f"{state_mark(session)} "


def trash_text(trashed: Sequence[Trashed], style: Style) -> Iterator[str]:
    """Yield one line per deleted session, the last deleted first."""
    if not trashed:
        yield "The trash is empty."
    for one in trashed:
        ago = age(style.now - one.deleted_at)
        yield f"{short_id(one.id)}  {ago:>4}  {size(one.bytes):>8}  {one_line(one.title, 60)}"
    if trashed:
        yield style.paint("restore one: agentdash restore ID; empty old trash: agentdash clean", "dim")


def cleaned_text(cleaned: Cleaned, style: Style, *, dry_run: bool) -> Iterator[str]:
    """Yield the sessions that were deleted or removed from the trash, and those kept although they are old."""
    would = "would be " if dry_run else ""
    for session in cleaned.deleted:
        yield f"{would}deleted  {_cleaned_line(session, style)}"
    for session in cleaned.kept:
        yield f"kept     {_cleaned_line(session, style)}: {session.left_note or 'processes'} left running"
    for one in cleaned.removed:
        yield f"{would}removed from the trash  {short_id(one.id)}  {one_line(one.title, 60)}"
    if cleaned.empty_folders:
        yield f"{count(cleaned.empty_folders, 'empty folder')} of interrupted starts {would}removed"
    freed = size(sum(one.bytes for one in cleaned.removed))
    yield (
        f"{count(len(cleaned.deleted), 'session')} {would}deleted,"
        f" {count(len(cleaned.removed), 'session')} {would}removed from the trash ({freed})."
    )


def _cleaned_line(session: Session, style: Style) -> str:
    ended = age(style.now - (session.ended_at or session.updated_at))
    return f"{session.short_id}  {session.status}  {ended} ago  {one_line(session.label, 60)}"
