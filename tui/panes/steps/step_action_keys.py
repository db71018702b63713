"""The keys that pass a step on: to the clipboard, the pager and the editor, to a file and to the list of changes."""

from abc import abstractmethod
from collections.abc import Callable, Sequence

from textual import work
from textual.containers import Vertical

from agentdash.sessions.model.session import Session
from agentdash.sessions.transcript.worker_steps import started_by
from agentdash.tui.messages import ChangesAsked, ConversationAsked, SaveAsked, WorkersAsked
from agentdash.tui.panes.steps.step_actions import Chosen, StepActions
from agentdash.tui.panes.steps.step_document_pane import StepDocumentPane


class StepActionKeys(Vertical):
    """A pane with steps, one of which is under the cursor."""

    _actions: StepActions
    pane: StepDocumentPane
    """Shows one document about the step."""

    @property
    @abstractmethod
    def chosen(self) -> Chosen | None:
        """The step under the cursor; None if there is none."""

    workers_of: Callable[[str], Sequence[Session]] = staticmethod(lambda _: ())
    """Returns the workers of a session, by its id; a screen that can show them sets it."""

    _on_worker = False
    """True if the step under the cursor started a worker, as the screen last heard."""

    @property
    def started(self) -> Sequence[Session]:
        """The workers that the step under the cursor started."""
        chosen = self.chosen
        known = self.workers_of(chosen.session_id) if chosen is not None else ()
        return started_by(chosen.view.step(chosen.item), known) if chosen is not None and known else ()

    def turned_to_worker(self) -> bool:
        """Return whether the cursor came to a step that started a worker, or left one, since the last call."""
        before, self._on_worker = self._on_worker, bool(self.started)
        return before is not self._on_worker

    def ask_for_worker(self) -> bool:
        """Ask for the worker that the step under the cursor started; return False if it started none."""
        chosen, workers = self.chosen, self.started
        if chosen is None or not workers:
            return False
        step = chosen.view.step(chosen.item)
        self.post_message(WorkersAsked(chosen.session_id, (step.turn, step.index), workers))
        return True

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
