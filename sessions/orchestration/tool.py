"""The contract of a tool that an orchestrating model calls."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from ..errors import RefusalError as RefusalError  # noqa: PLC0414 - tools raise it


class Tool(Struct, frozen=True, kw_only=True):
    """One tool: its name and description, the types of its arguments and its result, and the function behind it."""

    name: str
    title: str
    """A few words for people, such as a client's list of tools."""
    description: str
    """The text that a model reads: its first sentence has the words by which it searches."""
    arguments: type[Struct]
    result: type[Struct] | None
    """None if it returns text."""
    reads: bool
    """True if it changes nothing."""
    call: Callable[[Any, Any], Struct | str]
    """Called with the :class:`.calls.Calls` of the server and the decoded arguments.

    Raises:
        AgentdashError: the call is refused or failed; the text is the model's.
    """
