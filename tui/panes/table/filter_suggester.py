"""Completions of the filter that the user writes above the table."""

from textual.suggester import Suggester

from agentdash.sessions.rules.filter_query import completions
from agentdash.widgets.table.session_table import SessionTable


class FilterSuggester(Suggester):
    """Completes the last word of a filter."""

    def __init__(self, table: SessionTable) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._table = table

    async def get_suggestion(self, value: str) -> str | None:
        """Return the whole text with its last word completed."""
        before, blank, word = value.rpartition(" ")
        completed = completions(word, self._table.sessions) if word else []
        return f"{before}{blank}{completed[0]}" if completed else None
