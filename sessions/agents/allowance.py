"""The change of settings that would have allowed an agent's refused actions."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct


class Allowance(Struct, frozen=True, kw_only=True):
    """Options for the next turn that allow what the last one was refused."""

    options: Mapping[str, Any]
    """Keys of the agent's section; they replace those of the refused turn."""
    text: str
    """The change as a noun phrase: ``Bash allowed``, ``sandbox workspace-write``."""


def listed(names: Sequence[str]) -> str:
    """Return names as a list in a sentence: ``Bash, Edit and Write``."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
