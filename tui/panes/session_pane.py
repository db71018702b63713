"""The pane of the selected session: its headline, its steps, and a prompt for it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from msgspec import Struct
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.events import DescendantBlur, DescendantFocus
from textual.message import Message

from agentdash.sessions.model.session import Session
from agentdash.sessions.service.lifecycle.agent_list import AgentInfo
from agentdash.sessions.service.reader import SessionReader
from agentdash.sessions.storage.prompts.queued_prompt import QueuedPrompt
from agentdash.tui.keys.keymap import Keymap
from agentdash.tui.panes.steps.steps_pane import StepsPane
from agentdash.tui.services.background import Requests
from agentdash.tui.services.external_programs import ExternalPrograms
from agentdash.tui.texts import headline_texts, prompt_texts
from agentdash.widgets.drawing.text_lines import Line, TitleRule
from agentdash.widgets.inputs.prompt_box import DraftBook, PromptBox
from agentdash.widgets.steps.filter_line import QueueLines
from agentdash.widgets.steps.trajectory import Trajectory


class ChosenMode(Struct, frozen=True):
    """A permission mode for one prompt, other than the session's usual one."""

    name: str
    dangerous: bool
    settings: Mapping[str, object]
    """The keys of the agent's section that choose it."""


class NextModes:
    """Goes through the modes of a session's agent; a choice is for one prompt."""

    def __init__(self) -> None:
        self._chosen: dict[str, ChosenMode] = {}

    def of(self, session_id: str) -> ChosenMode | None:
        """Return the choice for a session; None for its usual mode."""
        return self._chosen.get(session_id)

    def used(self, session_id: str) -> None:
        """Go back to the usual mode: the prompt was sent."""
        self._chosen.pop(session_id, None)

    def go_on(self, session_id: str, agent: AgentInfo, usual: str | None) -> None:
        """Choose the mode after the present one; ``usual`` is that of the session.

        The agent's setting without any limits is not among them, unless the session has it.
        """
        present = self._chosen.get(session_id)
        following = mode_after(agent.modes, usual, present.name if present is not None else usual)
        if following == usual or following is None or agent.mode_key is None:
            self._chosen.pop(session_id, None)
            return
        limited = {"full_danger": False} if agent.unlimited else {}
        self._chosen[session_id] = ChosenMode(
            following, following in agent.dangerous, {agent.mode_key: following, **limited}
        )


def mode_after(modes: Sequence[str], usual: str | None, present: str | None) -> str | None:
    """Return the mode after the present one, in the agent's order; after the last one the first."""
    ring = list(modes) if usual is None or usual in modes else [usual, *modes]
    if not ring:
        return None
    return ring[(ring.index(present) + 1) % len(ring)] if present in ring else ring[0]


QUEUE_LINES = 3
"""Most lines about the queue above the prompt box; on a low screen there is one."""


class SessionPane(Vertical):
    """Shows headline, steps and prompt of one session at a time."""

    class Resized(Message):
        """The pane has another width or another queue, so its lines must be redrawn."""

    def __init__(
        self,
        reader: SessionReader,
        requests: Requests,
        outside: ExternalPrograms,
        drafts: DraftBook,
        *,
        clock: Callable[[], int],
        id: str = "detail",  # noqa: A002
    ) -> None:
        super().__init__(id=id)
        self.rule = TitleRule(id="detail-rule")
        self.headline = Line(id="detail-title")
        self.facts = Line(id="detail-facts")
        self.viewer = StepsPane(reader, requests, outside, clock=clock)
        self.viewer.say_place = self._show_place
        self._titled: Callable[[str], Content] = Content
        """Returns the headline with the place of the cursor."""
        self._empty = True
        """True if the pane shows no session."""
        self._lesson = ""
        self.prompt = PromptBox(drafts)
        self.queue = QueueLines(id="queue")
        self._reader = reader
        self._requests = requests
        self._waiting: tuple[str, list[QueuedPrompt]] = ("", [])
        """The id of the session whose queue was read, and its prompts."""

    @property
    def steps(self) -> Trajectory:
        """The list of steps."""
        return self.viewer.steps

    @property
    def searching(self) -> bool:
        """True while the keys go to the matches of a search."""
        return self.viewer.finder.is_on and self.viewer.has_focus_within

    def compose(self) -> ComposeResult:
        """Yield the rule, headline, steps and prompt."""
        yield self.rule
        yield self.headline
        yield self.facts
        yield self.viewer
        yield self.queue
        yield self.prompt

    @on(DescendantFocus)
    @on(DescendantBlur)
    def _focus_moved(self) -> None:
        """Show whether the pane has the keys; the news of a widget that lost them can come after that of the next."""
        self.rule.show_rule(focused=self.has_focus_within)

    def _show_place(self) -> None:
        """Show which step is under the cursor: at the end of the rule, or of the headline if no rule is shown."""
        place = self.steps.cursor_place
        self.rule.show_rule(place=place)
        self.headline.show_text(self._titled("" if self.rule.display else place))

    def on_resize(self) -> None:
        """Report the new size, also when the pane appears on a narrow screen."""
        self.post_message(self.Resized())

    def open(self, session: Session | None) -> None:
        """Show another session, or none."""
        self.prompt.switch(session.id if session is not None else None)
        self.viewer.open(session)
        self._empty = session is None
        self._show_lesson()
        self.read_queue(session)

    @work(exclusive=True, group="queue")
    async def read_queue(self, session: Session | None) -> None:
        """Read the prompts of the session that wait, and show them."""
        if session is None:
            return
        found = await self._requests.outcome_of(self._reader.queued, session.id) if session.queued else None
        if (session.id, found or []) != self._waiting:
            self._waiting = session.id, found or []
            self.post_message(self.Resized())

    def show_when_empty(self, lines: Iterable[str]) -> None:
        """Set the lines to show while the pane shows no session."""
        self._lesson = "\n".join(lines)
        self._show_lesson()

    def _show_lesson(self) -> None:
        if self._empty and self._lesson != self.steps.note:
            self.steps.clear(self._lesson)

    def show_texts(
        self, session: Session | None, effect: str, hint: str, keymap: Keymap, chosen_mode: ChosenMode | None = None
    ) -> None:
        """Update headline and label; an unchanged label is not redrawn.

        Args:
            effect: the effect of sending a prompt.
            chosen_mode: the permission mode of the next prompt, if it is not the usual one.
        """
        self.viewer.use_keys(keymap)
        self.prompt.show_target(
            effect,
            hint,
            mode=chosen_mode.name if chosen_mode is not None else "",
            dangerous=chosen_mode is not None and chosen_mode.dangerous,
        )
        self._show_queue(session, keymap)
        self.prompt.input.has_queue = session is not None and session.queued > 0
        width = self.headline.size.width
        if session is None or not width:
            self._titled = lambda _: Content("")
            self._show_place()
            self.facts.show_text("")
            return
        below = self.facts.display
        follow_key = keymap.name("follow")
        turns = self.viewer.growth.turns if self.viewer.growth is not None else ()
        following, mode = self.steps.following, (turns[-1].mode if turns and turns[-1].session == session.id else None)
        self._titled = partial(
            headline_texts.headline,
            session,
            width,
            following=following,
            follow_key=follow_key,
            facts=not below,
            mode=mode,
        )
        self._show_place()
        self.facts.show_text(headline_texts.headline_facts(session, width, mode) if below else "")

    def _show_queue(self, session: Session | None, keymap: Keymap) -> None:
        if session is None:
            self.queue.show_lines([])
            return
        prompts = self._waiting[1] if self._waiting[0] == session.id else []
        most = 1 if self.app.screen.has_class("-low") else QUEUE_LINES
        key = keymap.name("queue")
        self.queue.show_lines(prompt_texts.queue_lines(session, prompts, self.size.width, most=most, queue_key=key))
