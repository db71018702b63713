"""The first line of the screen, with counts and totals of the sessions, and the line above the table.  Pure words."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from textual.content import Content

from agentdash.sessions.model.session import Session, Status
from agentdash.sessions.rules.conversation.marks import MarkKind
from agentdash.sessions.rules.costs.cost import Cost, CostCount, cost_words, tokens_words
from agentdash.sessions.rules.costs.usage_totals import lacks_tokens, session_cost
from agentdash.sessions.text.sanitize import cell_width, cut, one_line
from agentdash.widgets.drawing import glyphs
from agentdash.widgets.drawing.roles import MUTED
from agentdash.widgets.drawing.text_lines import Line
from agentdash.widgets.table.ordering import Arrangement, Grouping

_GROUPS = (
    ("waiting", "waiting", glyphs.STATES[Status.WAITING], "$text-warning bold"),
    ("stuck", "stuck", glyphs.STUCK, "$text-warning bold"),
    ("asking", "asking", glyphs.STATES[Status.WAITING], "$text-warning bold"),
    ("running", "running", glyphs.STATES[Status.RUNNING], "$text-primary"),
    ("by hand", "by hand", glyphs.MARKS[MarkKind.TAKEOVER], "$text-primary"),
    ("queued", "queued", glyphs.STATES[Status.QUEUED], MUTED),
    ("failed new", "new", glyphs.STATES[Status.FAILED], "$text-error"),
    ("done new", "new", glyphs.STATES[Status.DONE], "$text-success"),
)
"""Each group's words, as in the table's state column; the short form for a narrow screen; its mark and its style."""
_MEMBERS = {
    Status.WAITING: "waiting",
    Status.STARTING: "running",
    Status.RUNNING: "running",
    Status.FINISHING: "running",
    Status.QUEUED: "queued",
}
_ENDED = {
    Status.DONE: "done new", Status.FAILED: "failed new", Status.LOST: "failed new", Status.STOPPED: "failed new",
}  # fmt: skip
"""The group of an ended session until the user has seen it; after that it has none."""

_NUMBERS = 2
"""The form of the counts without words."""


class Tally:
    """Counts and sums of all sessions, updated by changes."""

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}
        self.groups: Counter[str] = Counter()
        self.tokens = 0
        self.tokens_missing = 0
        """The number of sessions with unknown tokens."""
        self._cost = CostCount()

    def __len__(self) -> int:
        return len(self._sessions)

    @property
    def sessions(self) -> Collection[Session]:
        """The counted sessions."""
        return self._sessions.values()

    @property
    def cost(self) -> Cost:
        """The sum of the costs."""
        return self._cost.cost

    def update(self, updated: Iterable[Session], removed: Iterable[str]) -> None:
        """Apply changes."""
        for session_id in removed:
            self._count(self._sessions.pop(session_id, None), -1)
        for session in updated:
            self._count(self._sessions.get(session.id), -1)
            self._count(session, 1)
            self._sessions[session.id] = session

    def _count(self, session: Session | None, by: int) -> None:
        if session is None:
            return
        self.groups[_group(session)] += by
        self.tokens += by * (session.usage.total_tokens or 0)
        self.tokens_missing += by * lacks_tokens(session)
        self._cost.count(session_cost(session), by)


class StatusLine(Line):
    """Counts on the left, tokens and money on the right."""

    def __init__(self, *, note: str = "", id: str | None = None) -> None:  # noqa: A002
        """Create the line; ``note`` comes before everything else."""
        super().__init__(id=id)
        self._note = note

    def show(self, tally: Tally, where: str, plan: Sequence[str] = (), place: str = "") -> None:
        """Show the current counts.

        Args:
            plan: the forms of the words about a plan, the longest first.
            place: where the cursor is in the table, at the end if there is room; empty if that is said elsewhere.
        """
        width = self.size.width
        line = counts(tally, where, width, note=self._note, plan=plan)
        room = width - line.cell_length - len(place)
        beside = (
            counts(tally, where, width - len(place) - 3, note=self._note, plan=plan) if place and room < 3 else line
        )
        if place and beside.cell_length + len(place) + 2 <= width:
            line = beside + Content.styled(f"{place:>{width - beside.cell_length}}", MUTED)
        self.show_text(line)


def counts(tally: Tally, where: str, width: int, *, note: str = "", plan: Sequence[str] = ()) -> Content:
    """The line: sessions that need the user first; a plan, the folder and the sums if there is room."""
    for words in plan:
        beside = width - cell_width(words) - 2
        line = counts(tally, where, beside, note=note)
        if beside > 0 and line.cell_length <= beside:
            room = width - line.cell_length - cell_width(words)
            return Content.assemble(line, " " * room, (words, "$text-warning"))
    first = Content.assemble((note, "$text-warning bold"), "   ") if note else Content("")
    title = first + Content.assemble(("agentdash", "bold"), "   ") if width >= 70 else first
    placed = first + Content.assemble(("agentdash", "bold"), (f"  {where}" if where else "", MUTED), "   ")
    sums = _sums(tally)
    beside = width - len(sums) - 2
    line = title
    # Drop the folder first, then shorten the words to keep the sums, then drop the sums to keep the words.
    forms = ((title, 0, beside), (title, 1, beside), (title, 0, width), (title, 1, width), (title, 2, width))
    for lead, form, room in ((placed, 0, beside), *forms) if width >= 100 else forms:
        line = lead + _groups(tally, form)
        if line.cell_length <= room:
            break
    gap = width - line.cell_length - len(sums)
    return line + Content.styled(" " * gap + sums, MUTED) if gap >= 2 else line


def _groups(tally: Tally, form: int) -> Content:
    """The counts with words (form 0), with short words (1), or as numbers after their marks (2)."""
    parts = []
    for name, short, mark, style in _GROUPS:
        number = tally.groups[name]
        if form == _NUMBERS and name in ("waiting", "asking"):  # one mark, one number
            number = tally.groups["waiting"] + tally.groups["asking"] if name == "waiting" else 0
        if number:
            text = f"{mark} {number} {(name, short, '')[form]}"
            parts.append(Content.styled(text.rstrip(), style))
    return Content("   " if form == 0 else "  ").join(parts) if parts else Content.styled("nothing running", MUTED)


def _sums(tally: Tally) -> str:
    tokens = f"{tokens_words(tally.tokens, tally.tokens_missing)} tok" if tally.tokens else ""
    cost = tally.cost
    return "  ".join(filter(None, (tokens, cost_words(cost) if cost.known_usd or cost.missing else "")))


def _group(session: Session) -> str:
    if session.taken_by is not None and not session.put_away:
        return "by hand"
    if session.is_stuck:
        return "stuck"
    if session.asks_user:
        return "asking"
    if session.status in _ENDED:
        return _ENDED[session.status] if session.attention else "seen"
    return _MEMBERS.get(session.status, "seen")


_WIDE = 60
"""Cells from which the key that goes back names the screen."""


def table_bar(
    chosen: list[str],
    counts: tuple[int, int] | None,
    arrangement: Arrangement,
    marked: int,
    *,
    new: int = 0,
    elsewhere: int = 0,
    range_key: str = "",
    back: str = "",
    width: int,
) -> Content:
    """The line; empty if the table shows everything in its default order.

    Args:
        chosen: the filter, in words.
        counts: the number of shown sessions and of all; None without a filter.
        marked: the number of marked sessions.
        new: the number of shown sessions that the header counts, without seen ones; 0 if it is not needed.
        elsewhere: the number of marked sessions that are not shown.
        range_key: the key that ends the open range of marks; empty if none is open.
        back: the screen to which Esc goes back; "" if it clears the filter or the marks.
        width: cells.
    """
    parts: list[tuple[str, str]] = []
    if chosen:
        parts.append((one_line(" · ".join(chosen)), "bold $text-warning"))
    if counts is not None:
        parts.append((f"{counts[0]:,} of {counts[1]:,}" + (f", {new:,} new" if new else ""), "$foreground"))
    order = _order(arrangement)
    if order:
        parts.append((order, MUTED))
    if marked:
        hidden = f", {elsewhere:,} not shown" if elsewhere else ""
        ending = f": {range_key} end range" if range_key else ""
        parts.append((f"{marked:,} marked{hidden}{ending}", "bold $text-primary"))
    if not parts:
        return Content("")
    if counts is not None or marked:
        way = f"Esc back to {back}" if width >= _WIDE else "Esc back"
        parts.append((way if back else "Esc clear", MUTED))
    return _fitting(parts, width, 24 if back else 20)


def _order(arrangement: Arrangement) -> str:
    usual = Arrangement()
    words = [GROUPED[arrangement.grouping]] if arrangement.grouping in GROUPED else []
    if arrangement.sort != usual.sort or arrangement.reverse:
        words.append(f"by {arrangement.sort}{', reversed' if arrangement.reverse else ''}")
    return " ".join(words)


GROUPED = {
    Grouping.FLAT: "one list",
    Grouping.TREE: "as a tree",
    Grouping.FOLDER: "by folder",
    Grouping.AGENT: "by agent",
}
"""The words for each grouping but the usual one."""


def _fitting(parts: list[tuple[str, str]], width: int, others: int) -> Content:
    """The parts that fit; the first is cut, not left out, so that ``others`` cells stay for the others."""
    shown: list[tuple[str, str]] = []
    room = width
    for number, (text, style) in enumerate(parts):
        kept = text if number else cut(text, max(8, width - others))
        if cell_width(kept) <= room:
            shown.append((kept, style))
            room -= cell_width(kept) + 3
    return Content("   ").join(Content.styled(text, style) for text, style in shown)
