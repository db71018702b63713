"""The dialog that continues a conversation in a new session: the fields of a start, and a sentence about it."""

from collections.abc import Awaitable, Callable

from textual.widgets import Static

from agentdash.sessions.rules.launch import Launch, Start
from agentdash.tui.dialogs.starting.new_session import NewSessionScreen
from agentdash.tui.dialogs.starting.offer import Begin, Keep, Offer

Plan = Callable[[Start], Awaitable[tuple[Launch | None, str, str | None]]]
"""Returns the exact launch and its consequences in words, or the reason why it is not possible."""


class ContinueScreen(NewSessionScreen):
    """Asks which agent continues the conversation, and shows before what that agent will and will not know.

    Args:
        keep: keeps the prompt for the next dialog about the same session.
    """

    def __init__(self, title: str, offer: Offer, plan: Plan, begin: Begin, keep: Keep) -> None:
        async def planned(start: Start) -> tuple[Launch | None, str | None]:
            launch, words, reason = await plan(start)
            self._words.update(words)
            self._words.display = bool(words)
            return launch, reason

        super().__init__(offer, planned, begin, keep)
        self._heading = title
        self._words = Static("", id="continue-words", markup=False)

    def on_mount(self) -> None:
        """Put the sentence above the command; copies would all go on at the same place."""
        dialog = self.query_one(".dialog")
        dialog.border_title = self._heading
        dialog.mount(self._words, before="#new-plan")
        self.fields.title.placeholder = "the same"
        copies = self.query_one("#new-copies").parent
        if copies is not None:
            copies.display = False
        self.call_later(self.fields.prompt.select_all)  # the first key replaces the prompt that is offered
