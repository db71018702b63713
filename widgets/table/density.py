"""The density of the table: one line for each session, or two.  Pure."""

from enum import StrEnum

from .row_model import RowModel


class Density(StrEnum):
    """The user's choice of lines for each session."""

    AUTO = "auto"
    """Two lines if all rows then fit on the screen, else one."""
    ONE = "one"
    TWO = "two"


def lines_for(density: Density, rows: RowModel, room: int) -> int:
    """Return the lines of each session's row in a table with ``room`` lines."""
    if density is Density.AUTO:
        return 2 if rows.headings + 2 * len(rows.displayed) <= room else 1
    return 2 if density is Density.TWO else 1
