"""The unfinished answers to the questions of agents, for as long as the dashboard runs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentdash.widgets.asks.question_form import AnswerDraft

MOST = 100
"""Asks whose answers are kept; the oldest is forgotten."""


class AnswerDrafts:
    """Keeps the answers by the number of their ask, which no other ask has."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[AnswerDraft, ...]] = {}

    def get(self, ask_id: int) -> "tuple[AnswerDraft, ...]":
        """Return the unfinished answers to an ask, in the order of its questions; empty if there are none."""
        return self._kept.get(ask_id, ())

    def keep(self, ask_id: int, drafts: "Sequence[AnswerDraft]") -> None:
        """Keep the unfinished answers to an ask in place of earlier ones."""
        self._kept.pop(ask_id, None)
        self._kept[ask_id] = tuple(drafts)
        if len(self._kept) > MOST:
            del self._kept[next(iter(self._kept))]
