"""The first line of the screen, and the line above the table."""

from collections.abc import Sequence

from textual.content import Content

from agentdash.sessions.text.sanitize import cell_width, cut, one_line
from agentdash.widgets.drawing.roles import MUTED
from agentdash.widgets.drawing.text_lines import Line
from agentdash.widgets.table.header import Tally, header
from agentdash.widgets.table.ordering import Arrangement, Grouping


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
        self.show_text(counts(tally, where, self.size.width, note=self._note, plan=plan, place=place))


def counts(
    tally: Tally, where: str, width: int, *, note: str = "", plan: Sequence[str] = (), place: str = ""
) -> Content:
    """The line: sessions that need the user first; a plan, the folder and the sums if there is room."""
    line = header(tally, where, width, note=note, plan=plan, place=place)
    return Content.assemble(*((text, style) if style else text for text, style in line))


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
