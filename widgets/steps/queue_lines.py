"""The lines about the queue of a session, above its prompt box."""

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import Static


class QueueLines(Static):
    """Up to a few lines; takes no room while there are none, and draws nothing while they stay the same."""

    DEFAULT_CSS = "QueueLines { height: auto; display: none; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, markup=False)
        self._shown: list[Content] = []

    def show_lines(self, lines: Sequence[Content]) -> None:
        """Show other lines."""
        former, self._shown = self._shown, list(lines)
        if [(line.plain, line.spans) for line in former] == [(line.plain, line.spans) for line in lines]:
            return
        self.display = bool(lines)
        self.update(Content("\n").join(lines), layout=len(lines) != len(former))
