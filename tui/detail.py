"""The pane of the selected session: what it is, its steps, and a prompt for it."""

from textual import work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from ..sessions.manager import SessionManager
from ..sessions.model import Session
from ..widgets.line import Line
from ..widgets.prompt_box import PromptBox
from ..widgets.signs import Signs
from ..widgets.trajectory import Trajectory
from . import sayings
from .following import Following
from .requests import Requests

SLOW_SECONDS = 0.2
"""After this the steps of the session before are cleared, even if those of the new one are still being read."""


class Detail(Vertical):
    """Reads the steps of one session at a time, in a thread, and shows them."""

    class Resized(Message):
        """Its lines were made for another width."""

    def __init__(self, manager: SessionManager, requests: Requests, signs: Signs, *, hint: str = "") -> None:
        super().__init__(id="detail")
        self._manager = manager
        self._requests = requests
        self._following: Following | None = None
        self._shown: Following | None = None
        self._stale = False
        self._reading = False
        self.headline = Line(signs=signs, id="detail-title")
        self.steps = Trajectory(signs=signs, id="steps")
        self.prompt = PromptBox(signs=signs, placeholder=signs.plain(hint))

    def compose(self) -> ComposeResult:
        """Headline, steps, prompt."""
        yield self.headline
        yield self.steps
        yield self.prompt

    def on_resize(self) -> None:
        """Also when it comes into sight on a narrow screen."""
        self.post_message(self.Resized())

    def open(self, session_id: str | None) -> None:
        """Show another session, or none."""
        former = self._following
        self.prompt.switch(former.session_id if former else None, session_id)
        self._following = Following(self._manager, session_id) if session_id else None
        if former is not None:
            self.run_worker(self._requests.expect(former.close()))
        if self._following is None:
            self.steps.clear()
        else:
            self.set_timer(SLOW_SECONDS, self._clear_if_slow)
            self.read_on()

    def say(self, session: Session | None, target: str) -> None:
        """Put headline and label right; a label that is equal is not drawn again."""
        self.prompt.say(target)
        width = self.headline.size.width
        if session is None or not width:
            self.headline.say("")
        else:
            self.headline.say(sayings.headline(session, width, following=self.steps.following))

    def turn_files_grew(self, turn_files: frozenset[str], *, sweep: bool) -> None:
        """Read on, if the open trajectory is concerned."""
        if self._following is not None and (sweep or self._following.grew(turn_files)):
            self.read_on()

    def read_on(self) -> None:
        """Read what is new; while a read is under way, once more after it."""
        self._stale = True
        if not self._reading:
            self._reading = True
            self._read()

    @work
    async def _read(self) -> None:
        try:
            while self._stale and self._following is not None:
                self._stale = False
                following = self._following
                steps = await self._requests.expect(following.refresh())
                if following is self._following and steps is not None:
                    if following is not self._shown:
                        self._shown = following
                        self.steps.clear()
                    self.steps.add(steps)
        finally:
            self._reading = False

    def _clear_if_slow(self) -> None:
        if self._following is not None and self._following is not self._shown:
            self.steps.clear("reading…")
