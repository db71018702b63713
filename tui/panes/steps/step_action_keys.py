"""The keys that pass a step on: to the clipboard, the pager and the editor, to a file and to the list of changes."""

from abc import abstractmethod

from textual import work
from textual.containers import Vertical

from ...messages import ChangesAsked, ConversationAsked, SaveAsked
from .step_actions import Chosen, StepActions
from .step_document_pane import StepDocumentPane


class StepActionKeys(Vertical):
    """A pane with steps, one of which is under the cursor."""

    _actions: StepActions
    pane: StepDocumentPane
    """Shows one document about the step."""

    @property
    @abstractmethod
    def chosen(self) -> Chosen | None:
        """The step under the cursor; None if there is none."""

    @property
    @abstractmethod
    def session_id(self) -> str | None:
        """The id of the session that is open or being read; None if there is none."""

    @work
    async def action_copy(self) -> None:
        """Copy the main part of the step."""
        await self._actions.copy(self.chosen)

    @work
    async def action_copy_part(self) -> None:
        """Ask for a part of the step, and copy it."""
        await self._actions.copy_part(self.chosen, self.app)

    async def action_page_step(self) -> None:
        """Show the whole step in the pager."""
        await self._actions.page(self.chosen)

    async def action_edit_step(self) -> None:
        """Open a copy of the whole step in the editor."""
        await self._actions.edit(self.chosen)

    async def action_page_file(self) -> None:
        """Show the turn's file in the pager, or its stderr if the pane shows stderr."""
        await self._actions.page_file(self.chosen, stderr=self.pane.kind == "stderr")

    def action_export(self) -> None:
        """Save the session as a file."""
        if self.chosen is not None:
            self.post_message(SaveAsked(self.chosen.session_id))

    def action_changes(self) -> None:
        """Show the files that the session changed."""
        if (session_id := self.session_id) is not None:
            self.post_message(ChangesAsked(session_id))

    def action_conversation(self, verb: str) -> None:
        """Fork the conversation, go back in it, take that back, or compact it."""
        if (session_id := self.session_id) is not None:
            self.post_message(ConversationAsked(session_id, verb))
