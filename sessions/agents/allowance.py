"""The change of settings that would have allowed an agent's refused actions."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class Allowance(Struct, frozen=True, kw_only=True):
    """Options for the next turn that allow what the last one was refused."""

    options: Mapping[str, Any]
    """Keys of the agent's section; they replace those of the refused turn."""
    text: str
    """The change as a noun phrase: ``Bash allowed``, ``sandbox workspace-write``."""
