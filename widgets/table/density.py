"""The density of the table: one line for each session, or two.  Pure."""

from enum import StrEnum

from agentdash.widgets.table.row_model import RowModel


class Density(StrEnum):
    """The user's choice of lines for each session."""

    AUTO = "auto"
    """Two lines if all rows then fit on the screen, else one."""
    ONE = "one"
    TWO = "two"


def lines_for(density: Density, rows: RowModel, room: int) -> int:
    """Return the lines of each session's row in a table with ``room`` lines.

    Rows that have two lines keep them as long as the sessions fit: a heading that comes or goes changes no row.
    """
    if density is Density.AUTO:
        headings = rows.headings if rows.lines == 1 else 0
        return 2 if headings + 2 * len(rows.displayed) <= room else 1
    return 2 if density is Density.TWO else 1
