"""The pane that covers the steps and shows one document about the step under the cursor."""

from collections.abc import Callable

from textual.widget import Widget

from agentdash.tui.panes.steps.step_actions import Chosen
from agentdash.tui.panes.steps.step_documents import StepDocuments
from agentdash.tui.services.background import Requests
from agentdash.widgets.document.document_pane import DocumentPane


class StepDocumentPane(DocumentPane):
    """Shows a step, its raw line, stderr or an explanation; keeps its scroll position while the step is the same."""

    def __init__(self, documents: StepDocuments, requests: Requests) -> None:
        super().__init__(id="pane")
        self._documents = documents
        self._requests = requests
        self._subject: tuple[str, int, int] | None = None
        self.kind = ""
        """The kind of document that is shown; empty while the pane is closed."""

        self.back_to: Callable[[], None] | None = None
        """Gives the keys back to the place from which the document was opened, if that is not the list of steps."""

    @property
    def follows(self) -> bool:
        """True if the document of this kind differs from step to step."""
        return self.kind in ("step", "raw")

    def close(self) -> None:
        """Close the document."""
        self.kind = ""
        self.begin_anew()

    def leave(self, steps: Widget) -> None:
        """Give the keys to the steps, or back to the place from which the document was opened."""
        back, self.back_to = self.back_to, None
        if back is None:
            self.screen.set_focus(steps)
        else:
            back()

    def begin_anew(self) -> None:
        """Show the next document from its first line."""
        self._subject = None

    async def read(self, chosen: Chosen) -> None:
        """Show the document of the current kind about a step, unless the user changes the kind during the read."""
        kind, (session_id, view, item) = self.kind, chosen
        made = await self._requests.ask(self._documents.make, kind, session_id, view, item)
        if made is not None and kind == self.kind:
            subject = (kind, view.step(item).turn, view.step(item).index)
            self.show(made, same=subject == self._subject)
            self._subject = subject
