"""A line of a list that typing narrows."""

from msgspec import Struct


class Entry(Struct, frozen=True, kw_only=True):
    """One line of the list."""

    head: str
    """The first column, such as a name or an age."""
    note: str = ""
    """Words between the first column and the text."""
    text: str
