"""The parts of a prompt that an agent CLI replaces, and the change that keeps foreign text as it is.  Pure.

``@/path`` in a prompt makes claude read that file without asking, also in the words of another agent.  So the words of
agents are made inert for the agent that gets them; the user's own prompt never is.
"""

import re

from msgspec import Struct


class Expansions(Struct, frozen=True, kw_only=True):
    """The text that one agent replaces."""

    anywhere: tuple[tuple[re.Pattern[str], str], ...] = ()
    """Patterns of what it replaces at any place, each with the text to write for it, as ``re.sub`` takes it."""
    at_first: re.Pattern[str] | None = None
    """A beginning of a prompt that it replaces; a backslash before it keeps it as text."""
    note: str = ""
    """A sentence that explains the change to the agent."""

    def inert(self, text: str, *, at_first: bool = False) -> str:
        """Return a text that the agent does not replace; one that it would not replace is unchanged.

        Args:
            at_first: the prompt begins with it.
        """
        for pattern, written in self.anywhere:
            text = pattern.sub(written, text)
        begins = at_first and self.at_first is not None and self.at_first.match(text)
        return f"\\{text.lstrip()}" if begins else text

    def quoted(self, text: str) -> str:
        """Return a part of a prompt that quotes foreign text, with the note before it if that had to be changed."""
        inert = self.inert(text)
        return inert if inert == text else f"{self.note}\n\n{inert}"
