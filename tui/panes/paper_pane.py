"""The pane below the steps, in which one paper at a time is read about the step under the cursor."""

from ...widgets.document.document_pane import DocumentPane
from ...widgets.drawing.glyphs import Signs
from ..services.background import Requests
from .step_actions import Chosen
from .step_documents import Papers


class PaperPane(DocumentPane):
    """Shows a step, its raw line, stderr or an explanation; the place in it stays while it is about the same step."""

    def __init__(self, papers: Papers, requests: Requests, signs: Signs) -> None:
        super().__init__(signs=signs, id="pane")
        self._papers = papers
        self._requests = requests
        self._subject: tuple[str, int, int] | None = None
        self.kind = ""
        """The name of the paper that is shown; empty while the pane is closed."""

    @property
    def follows(self) -> bool:
        """True if another step has another paper of this kind."""
        return self.kind in ("step", "raw")

    def close(self) -> None:
        """Show no paper any more."""
        self.kind = ""
        self.begin_anew()

    def begin_anew(self) -> None:
        """Show what is read next from its first line on."""
        self._subject = None

    async def read(self, chosen: Chosen) -> None:
        """Show the paper of the chosen kind about a step, unless another kind was chosen meanwhile."""
        kind, (session_id, view, item) = self.kind, chosen
        made = await self._requests.ask(self._papers.make, kind, session_id, view, item)
        if made is not None and kind == self.kind:
            subject = (kind, view.step(item).turn, view.step(item).index)
            self.show(made, same=subject == self._subject)
            self._subject = subject
