"""The keys that act on the last answer of a session, for a place without its steps: the table."""

from typing import Any

from textual.app import App

from agentdash.sessions.service.reader import SessionReader
from agentdash.sessions.transcript.visible.last_answer import last_answer
from agentdash.tui.panes.steps.step_actions import StepActions
from agentdash.tui.panes.steps.step_document_pane import Chosen, StepDocuments
from agentdash.tui.services.background import Requests
from agentdash.tui.services.external_programs import ExternalPrograms


class RowActions:
    """Copies the last answer of a session, and opens it, or its turn's file, in the pager and the editor."""

    def __init__(
        self,
        app: App[Any],
        reader: SessionReader,
        requests: Requests,
        programs: ExternalPrograms,
        documents: StepDocuments,
    ) -> None:
        self._app = app
        self._reader = reader
        self._requests = requests
        self._steps = StepActions(reader, requests, programs, documents)

    async def run(self, action: str, session_id: str) -> bool:
        """Do one of the actions: copy, copy_part, page_step, edit_step, page_file; return True if it was an answer."""
        found = await self._requests.ask(self._find, session_id)
        if found is None:
            return False
        chosen, answered = found
        if not answered and action in ("copy", "page_step", "edit_step"):
            self._requests.show_message("No answer yet.")
            return False
        match action:
            case "copy":
                await self._steps.copy(chosen)
            case "copy_part":
                await self._steps.copy_part(chosen, self._app)
            case "page_step":
                await self._steps.page(chosen)
            case "edit_step":
                await self._steps.edit(chosen)
            case "page_file":
                await self._steps.page_file(chosen, stderr=False)
        return answered

    def _find(self, session_id: str) -> tuple[Chosen | None, bool]:
        """Return the last answer and True, else the last step and False; reads files."""
        steps = self._reader.steps.open_trajectory(session_id)
        try:
            view, item = last_answer(steps.refresh)
        finally:
            steps.close()
        if item is not None:
            return Chosen(session_id, view, item), True
        return Chosen(session_id, view, len(view) - 1) if len(view) else None, False
