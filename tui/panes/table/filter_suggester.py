"""Completions of the filter that the user writes above the table."""

from collections.abc import Iterable

from textual.suggester import Suggester

from agentdash.sessions.model.session import Session
from agentdash.sessions.rules.filter_query import completions
from agentdash.widgets.table.session_table import SessionTable


def completed(text: str, sessions: Iterable[Session]) -> list[str]:
    """Return a filter with its last word completed, in every possible way."""
    before, blank, word = text.rpartition(" ")
    return [f"{before}{blank}{one}" for one in completions(word, sessions)]


class FilterSuggester(Suggester):
    """Completes the last word of a filter."""

    def __init__(self, table: SessionTable) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._table = table

    async def get_suggestion(self, value: str) -> str | None:
        """Return the whole text with its last word completed."""
        is_begun = bool(value) and not value.endswith(" ")
        return next(iter(completed(value, self._table.sessions)), None) if is_begun else None
