"""A session as the cells of its row, on one line or two: pure."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct

from agentdash.sessions.model.session import Session, Status
from agentdash.sessions.rules.attention import needs_you
from agentdash.sessions.rules.costs.cost import cost_words, tokens_words
from agentdash.sessions.rules.costs.family_sums import FamilySum
from agentdash.sessions.rules.family_facts import outside_name
from agentdash.sessions.rules.prompts.due import clock_words
from agentdash.sessions.text import units
from agentdash.sessions.text.sanitize import cell_width, cut, one_line, pad
from agentdash.widgets.drawing import glyphs
from agentdash.widgets.table.columns import (
    COLUMNS,
    LEAD,
    USUAL,
    Cell,
    Choice,
    Column,
    Moment,
    columns,
    fitted,
    fork_sign,
    gutter,
    role,
    taken,
)
from agentdash.widgets.table.ordering import Grouping, Heading, Section
from agentdash.widgets.table.row_detail import detail

STUCK = "stuck"

_ROLES: Mapping[str, str] = {
    Status.WAITING: "attention",
    STUCK: "attention",
    Status.RUNNING: "running",
    Status.QUEUED: "dim",
    Status.DONE: "good",
    Status.FAILED: "failure",
    Status.STOPPED: "dim",
}


def family_cells(total: FamilySum, room: int) -> list[Cell]:
    """The longest form that fits into ``room`` cells, each cell with a blank before it; the shortest if none fits."""
    form: list[Cell] = []
    for form in _forms(total):
        if cells_taken(form) <= room:
            break
    return form


def cells_taken(cells: Sequence[Cell]) -> int:
    """Cells on the screen, each with the blank before it."""
    return sum(cell_width(text) + 1 for text, _ in cells)


def lifecycle_sign(session: Session) -> str:
    """The sign before the title of a worker that ends with its lead; empty for another session."""
    return "" if session.lifecycle == "detached" else f"{glyphs.LINKED} "


def _forms(total: FamilySum) -> Iterator[list[Cell]]:
    """The forms from the longest to the shortest: without tokens, without words, without money."""
    words = (f"{units.count(total.workers, 'worker')}:", "dim")
    spaced = [(f"{number} {_mark(state)}", _ROLES[state]) for state, number in total.states]
    dense = [(text.replace(" ", ""), role) for text, role in spaced]
    tokens = [(f" {text}", "dim")] if (text := _tokens(total)) else []
    money = [(f" {text}", "dim")] if (text := cost_words(total.cost)) else []
    yield [words, *spaced, *tokens, *money]
    yield [words, *spaced, *money]
    yield [*dense, *money]
    yield dense


def _mark(state: str) -> str:
    return glyphs.STUCK if state == STUCK else glyphs.STATES[Status(state)]


def _tokens(total: FamilySum) -> str:
    """The tokens: ``412k``; ``≥412k`` if some are not known; "" if none were used."""
    if total.tokens is None:
        return "? tok" if total.tokens_missing else ""
    return tokens_words(total.tokens, total.tokens_missing)


DETAIL_LEAST = 24
"""Least free cells after the title that show a part of the detail of a row with one line."""

_TITLE_LEAST = 4
"""Least cells of a title beside the marks of its queue."""

TITLE_BESIDE_REASON = 20
"""Cells of a title that a reason to go to the session must leave, on one line."""

PROCESS_WAITS = "its process waits"
"""The words for a session whose process waits for prompts."""

_PREDECESSOR = 4
"""Characters that name the session for which a session waits; the detail of the row has a whole short id."""

_COPY = re.compile(r" \(\d+/\d+\)$")
"""The number of a copy at the end of its title: often all that tells copies apart."""

_TOOK = re.compile(r"  \d+[smhd]$")
"""A duration; the two blanks before it are in no cleaned text of an agent."""

_BRIGHT = frozenset({"age"})
"""Columns that are as bright as the title if the session is not dim."""


class Form(Struct, frozen=True):
    """The form of all rows of a table."""

    width: int
    """Cells."""
    choice: Choice = USUAL
    empty: frozenset[str] = frozenset()
    """The chosen columns that are left out, because they show nothing in any row."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that fit."""
        return columns(self.width, self.choice, empty=self.empty)

    @property
    def left(self) -> tuple[Column, ...]:
        """The columns left of the title."""
        return tuple(column for column in self.columns if not column.after)

    @property
    def right(self) -> tuple[Column, ...]:
        """The columns right of the title."""
        return tuple(column for column in self.columns if column.after)


_NAME_CELLS = {"where": (5, 10), "agent": (5, 11)}
"""Least and greatest widths of columns of names, unless the user chose them."""


def name_cells(sessions: Collection[Session], former: Sequence[tuple[str, int]] = ()) -> tuple[tuple[str, int], ...]:
    """The widths of the columns of names: as wide as the longest of these sessions, and not below the former ones."""
    before = dict(former)

    def width(name: str, least: int, most: int) -> int:
        longest = max((cell_width(COLUMNS[name].text(one, Moment(0))) for one in sessions), default=least)
        return max(least, min(longest, most), before.get(name, 0))

    return tuple((name, width(name, *cells)) for name, cells in _NAME_CELLS.items())


IN_HEADING = {Grouping.FOLDER: frozenset({"where", "folder"}), Grouping.AGENT: frozenset({"agent"})}
"""The columns that repeat the heading of a group."""

Painted = tuple[tuple[Cell, ...], tuple[Cell, ...]]
"""The cells of a row's first line, and of its second one, which is empty if there is none."""


def row_cells(
    session: Session,
    moment: Moment,
    form: Form,
    *,
    marked: bool = False,
    lines: int = 1,
    lead: str = "",
    family: FamilySum | None = None,
) -> Painted:
    """The row of a session; each cell is padded to its column, and a blank separates two cells.

    Args:
        moment: the time, and measured loads.
        lines: the lines of the row, 1 or 2.
        lead: the branches before the title in a tree.
        family: the sum of its workers; None if the row shows none.
    """
    colour = role(session)
    left, right, needs = form.left, form.right, needs_you(session)
    mark = gutter(session, marked=marked) + fitted(LEAD, session, moment)[1:]
    start = [(mark, "prompt" if marked else colour), *_cells(left[1:], session, moment, colour)]
    indent = taken(left)
    title_role = "dim" if colour == "dim" else "strong" if marked or needs else "text"
    remark = detail(session, moment.now)
    room = max(0, form.width - indent - taken(right))
    signs = lifecycle_sign(session) + fork_sign(session)
    title, marks = f"{lead}{signs}{one_line(session.label)}", queue_marks(session, moment.now)
    if family is not None:
        beside = room - cells_taken(marks) - cell_width(title)
        marks = [*family_cells(family, beside), *marks]
    marks += _process_waits(session, room - cell_width(title) - cells_taken(marks), remark if lines == 1 else ("", ""))
    ends = _cells(right, session, moment, colour)
    if lines == 1:
        return (*start, *_on_one_line(title, title_role, marks, remark, room, needs=needs), *ends), ()
    below = max(0, form.width - indent)
    second = (" " * (indent - 1), "dim"), (pad(_cut_detail(remark[0], below), below), remark[1])
    return (*start, *_titled(title, title_role, marks, room), *ends), second


def _process_waits(session: Session, room: int, remark: Cell) -> list[Cell]:
    """The words that its process waits for prompts, if there is room for them beside the remark."""
    words = [(PROCESS_WAITS, "dim")] if session.warm_since is not None else []
    beside = min(DETAIL_LEAST, cell_width(remark[0]) + 3) if remark[0] else 0
    return words if cells_taken(words) + beside <= room else []


def cut_title(title: str, room: int) -> str:
    """Cut a title to ``room`` cells; the number of a copy stays at its end."""
    return _cut_before(_COPY, title, room)


def _cut_detail(text: str, room: int) -> str:
    """Cut a detail to ``room`` cells; the duration of a running step stays at its end."""
    return _cut_before(_TOOK, text, room)


def _cut_before(ending: re.Pattern[str], text: str, room: int) -> str:
    found = ending.search(text)
    if found is None or cell_width(text) <= room or room < 2 * len(found[0]):
        return cut(text, room)
    return cut(text[: found.start()], room - len(found[0])) + found[0]


def _on_one_line(
    title: str, title_role: str, marks: Sequence[Cell], remark: Cell, room: int, *, needs: bool
) -> list[Cell]:
    """The title, the marks of its queue and, if there is room, the detail.

    A row that needs the user keeps its reason whole, if the title keeps `TITLE_BESIDE_REASON` cells.
    """
    if needs and remark[0]:
        reason = cell_width(remark[0]) + 3
        title = cut_title(title, max(TITLE_BESIDE_REASON, room - reason - cells_taken(marks)))
    rest = room - cell_width(title) - 1 - cells_taken(marks)
    if not remark[0] or rest < min(DETAIL_LEAST, cell_width(remark[0]) + 2):
        return _titled(title, title_role, marks, room)
    shortened = (pad(_cut_detail(f"{glyphs.BETWEEN} {remark[0]}", rest), rest), remark[1])
    return [(title, title_role), *marks, shortened]


def _titled(title: str, title_role: str, marks: Sequence[Cell], room: int) -> list[Cell]:
    """The title with the marks of its queue behind it, in ``room`` cells; the title is cut, not the marks."""
    least = room - cells_taken(marks)
    if not marks or least < _TITLE_LEAST:
        return [(pad(cut_title(title, room), room), title_role)]
    shown = cut_title(title, least)
    *first, (text, mark_role) = marks
    return [(shown, title_role), *first, (pad(text, cell_width(text) + least - cell_width(shown)), mark_role)]


def queue_marks(session: Session, now: int) -> list[Cell]:
    """The marks of a session: ``?1`` asks, ``!1`` prompts unconfirmed, ``+2`` wait, ``+2 held``.

    ``+1 until 18:00`` waits for a time, ``until 18:00`` is the session's start.
    ``↳ after 1a2b`` names the session for which it waits.
    """
    marks = [(f"?{session.asking}", "attention")] if session.asking else []
    if session.after is not None:
        marks.append((f"↳ after {session.after[:_PREDECESSOR]}", "attention" if session.blocked else "dim"))
    if session.unconfirmed:
        marks.append((f"!{session.unconfirmed}", "failure"))
    if session.due_at is not None and not session.queued:
        marks.append((f"until {clock_words(session.due_at, now)}", "dim"))
    if session.queued:
        wait = f" until {clock_words(session.due_at, now)}" if session.due_at is not None else ""
        held = ("held", "attention") if session.held else (wait.strip(), "dim")
        marks.append((f"+{session.queued} {held[0]}".rstrip(), held[1]))
    return marks


def _cells(chosen: Sequence[Column], session: Session, moment: Moment, colour: str) -> list[Cell]:
    """The cells of these columns."""
    return [(fitted(column, session, moment), _cell_role(column, colour)) for column in chosen]


def _cell_role(column: Column, colour: str) -> str:
    if column.heading == "new":
        return "good" if colour == "good" else "dim"
    return "text" if colour != "dim" and column.heading in _BRIGHT else "dim"


_SECTION_ROLES: Mapping[str, str] = {Section.NEEDS_YOU: "attention", Section.RUNNING: "running"}
"""The roles of headings; the other ones are grey."""


def heading_cells(heading: Heading, width: int, family: FamilySum | None = None) -> tuple[Cell, ...]:
    """The heading of a section or a group: its name, its number of sessions, and how many of them need the user.

    That of an outside lead has the sum of its workers.
    """
    if family is not None:
        return _lead_cells(heading, width, family)
    mark = "▸" if heading.folded else "▾"
    if heading.section:
        name = cut(f"{heading.name.upper()} {heading.count:,}{f' {mark}' if heading.folded else ''}", width)
        return (name, _SECTION_ROLES.get(heading.name, "heading")), (
            glyphs.RULE * (width - cell_width(name) - 1),
            "line",
        )
    counted = [units.count(len(heading.sessions), "session")]
    counted += [units.count(heading.attention, "needs you", "need you")] if heading.attention else []
    tail = f"  {' · '.join(counted)}"
    return ((pad(cut(f"{mark} {one_line(heading.name)}{tail}", width), width), "strong"),)


def _lead_cells(heading: Heading, width: int, family: FamilySum) -> tuple[Cell, ...]:
    """The heading of an outside lead: ``▾ claude 0b1c2d3e (outside)`` and the sum of its workers."""
    title = f"{'▸' if heading.folded else '▾'} {outside_name(heading.lead)} (outside)"
    cells = family_cells(family, width - cell_width(title))
    title = cut(title, max(1, width - cells_taken(cells)))
    used = cell_width(title) + cells_taken(cells)
    *first, (text, role) = cells
    return (title, "strong"), *first, (text + " " * max(0, width - used), role)


def spaced(cells: Sequence[Cell]) -> list[Cell]:
    """The cells with a blank between two of them."""
    return [part for text, role in cells for part in ((text, role), (" ", role))][:-1]
