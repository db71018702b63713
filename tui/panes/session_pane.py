"""The pane of the selected session: what it is, its steps, and a prompt for it."""

from collections.abc import Callable

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from ...sessions.model import Session
from ...widgets.drawing.glyphs import Signs
from ...widgets.drawing.line import Line
from ...widgets.inputs.prompt_box import DraftBook, PromptBox
from ...widgets.steps.trajectory import Trajectory
from .. import texts
from ..services.background import Requests
from ..services.external_programs import Outside
from .step_documents import Source
from .steps_pane import Viewer


class Detail(Vertical):
    """Headline, steps and prompt of one session at a time."""

    class Resized(Message):
        """Its lines were made for another width."""

    def __init__(
        self,
        source: Source,
        requests: Requests,
        outside: Outside,
        signs: Signs,
        drafts: DraftBook,
        *,
        clock: Callable[[], int],
        hint: str = "",
        id: str = "detail",  # noqa: A002
    ) -> None:
        super().__init__(id=id)
        self.headline = Line(signs=signs, id="detail-title")
        self.viewer = Viewer(source, requests, outside, signs, clock=clock)
        self.prompt = PromptBox(drafts, signs=signs, placeholder=signs.plain(hint))

    @property
    def steps(self) -> Trajectory:
        """The steps that are shown."""
        return self.viewer.steps

    def compose(self) -> ComposeResult:
        """Headline, steps, prompt."""
        yield self.headline
        yield self.viewer
        yield self.prompt

    def on_resize(self) -> None:
        """Also when it comes into sight on a narrow screen."""
        self.post_message(self.Resized())

    def open(self, session: Session | None) -> None:
        """Show another session, or none."""
        self.prompt.switch(session.id if session is not None else None)
        self.viewer.open(session)

    def say(self, session: Session | None, target: str, *, follow_key: str) -> None:
        """Put headline and label right; a label that is equal is not drawn again.

        Args:
            session: the one that is shown.
            target: what sending a prompt will do.
            follow_key: the key that follows the newest step.
        """
        self.prompt.say(target)
        width = self.headline.size.width
        if session is None or not width:
            self.headline.say("")
        else:
            self.headline.say(texts.headline(session, width, following=self.steps.following, follow_key=follow_key))
