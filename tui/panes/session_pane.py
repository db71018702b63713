"""The pane of the selected session: its headline, its steps, and a prompt for it."""

from collections.abc import Callable, Iterable

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from ...sessions.model import Session, TurnMode
from ...widgets.drawing.glyphs import Signs
from ...widgets.drawing.line import Line
from ...widgets.inputs.prompt_box import DraftBook, PromptBox
from ...widgets.steps.trajectory import Trajectory
from .. import queue_texts, texts
from ..keys.keymap import Keymap
from ..services.background import Requests
from ..services.external_programs import ExternalPrograms
from .next_modes import ChosenMode
from .steps.step_documents import Source
from .steps.steps_pane import StepsPane


class SessionPane(Vertical):
    """Shows headline, steps and prompt of one session at a time."""

    class Resized(Message):
        """The pane has another width, so its lines must be redrawn."""

    def __init__(
        self,
        source: Source,
        requests: Requests,
        outside: ExternalPrograms,
        signs: Signs,
        drafts: DraftBook,
        *,
        clock: Callable[[], int],
        id: str = "detail",  # noqa: A002
    ) -> None:
        super().__init__(id=id)
        self._signs = signs
        self.headline = Line(signs=signs, id="detail-title")
        self.facts = Line(signs=signs, id="detail-facts")
        self.viewer = StepsPane(source, requests, outside, signs, clock=clock)
        self._empty = True
        """True if the pane shows no session."""
        self._lesson = ""
        self.prompt = PromptBox(drafts, signs=signs)

    @property
    def steps(self) -> Trajectory:
        """The list of steps."""
        return self.viewer.steps

    def compose(self) -> ComposeResult:
        """Yield headline, steps and prompt."""
        yield self.headline
        yield self.facts
        yield self.viewer
        yield self.prompt

    def on_resize(self) -> None:
        """Report the new size, also when the pane appears on a narrow screen."""
        self.post_message(self.Resized())

    def open(self, session: Session | None) -> None:
        """Show another session, or none."""
        self.prompt.switch(session.id if session is not None else None)
        self.viewer.open(session)
        self._empty = session is None
        self._show_lesson()

    def show_when_empty(self, lines: Iterable[str]) -> None:
        """Set the lines to show while the pane shows no session."""
        self._lesson = "\n".join(lines)
        self._show_lesson()

    def _show_lesson(self) -> None:
        if self._empty and self._lesson != self.steps.note:
            self.steps.clear(self._lesson)

    def show_texts(
        self, session: Session | None, effect: str, keymap: Keymap, chosen_mode: ChosenMode | None = None
    ) -> None:
        """Update headline and label; an unchanged label is not redrawn.

        Args:
            session: the session that the pane shows.
            effect: the effect of sending a prompt.
            keymap: the keys in force.
            chosen_mode: the permission mode of the next prompt, if it is not the usual one.
        """
        self.prompt.show_target(
            effect,
            queue_texts.prompt_hint(session, keymap.name("prompt.interrupt")),
            mode=chosen_mode.name if chosen_mode is not None else "",
            dangerous=chosen_mode is not None and chosen_mode.dangerous,
        )
        self.prompt.input.has_queue = session is not None and session.queued > 0
        width = self.headline.size.width
        if session is None or not width:
            self.headline.show_text("")
            self.facts.show_text("")
            return
        below, signs = self.facts.display, self._signs
        follow_key = keymap.name("follow")
        following, mode = self.steps.following, self._newest_mode(session.id)
        self.headline.show_text(
            texts.headline(
                session, width, signs, following=following, follow_key=follow_key, facts=not below, mode=mode
            )
        )
        self.facts.show_text(texts.headline_facts(session, width, signs, mode) if below else "")

    def _newest_mode(self, session_id: str) -> TurnMode | None:
        """Return the settings of the session's newest turn; None until its steps are read, or if none were recorded."""
        turns = self.viewer.growth.turns if self.viewer.growth is not None else ()
        return turns[-1].mode if turns and turns[-1].session == session_id else None
