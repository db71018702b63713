"""A fact that explains a session's status or a caller's rights, with its source."""

from msgspec import Struct


class Fact(Struct, frozen=True):
    """One known fact."""

    name: str
    value: str
    source: str
