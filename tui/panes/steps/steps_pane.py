"""The steps of one session and the tools to read them: counts, search, jumps, a pane for the step under the cursor."""

from collections.abc import Callable
from typing import ClassVar

from msgspec import structs
from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.widgets import Input

from agentdash.sessions.agents.registry import takes_prompts
from agentdash.sessions.model.session import Session
from agentdash.sessions.service.reader import SessionReader
from agentdash.sessions.transcript.session_steps import Growth
from agentdash.sessions.transcript.snapshot import View
from agentdash.tui.keys.actions import VIEWER_ACTIONS, bindings
from agentdash.tui.keys.footer import after_failed_start
from agentdash.tui.keys.keymap import DEFAULT, Keymap
from agentdash.tui.panes.steps.step_actions import StepActionKeys, StepActions
from agentdash.tui.panes.steps.step_document_pane import Chosen, StepDocumentPane, StepDocuments
from agentdash.tui.panes.steps.step_search import StepSearch, answer, numbered
from agentdash.tui.panes.steps.trajectory_reader import DiffSeeker, TrajectoryReader
from agentdash.tui.panes.steps.turn_notes import cuts_of, other_session, turn_notes
from agentdash.tui.panes.steps.unread_steps import StepsHead, UnreadSteps
from agentdash.tui.services.background import Requests
from agentdash.tui.services.external_programs import ExternalPrograms
from agentdash.tui.state.read_positions import ReadPositions
from agentdash.widgets.document.document_pane import DocumentPane
from agentdash.widgets.inputs.history import HistoryInput
from agentdash.widgets.lists.virtual_list import VirtualList
from agentdash.widgets.steps.filter_line import Shown
from agentdash.widgets.steps.trajectory import Trajectory

SLOW_SECONDS = 0.2
"""After this delay the former session's steps are cleared, even if the new one's are still being read."""


class StepsPane(StepActionKeys):
    """Reads the steps of one session at a time, in a thread, and shows them."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(VIEWER_ACTIONS)
    DEFAULT_CSS = """
    StepsPane > #ask, StepsPane > #pane { display: none; }
    StepsPane > #ask { height: 1; }
    StepsPane.-asking > #ask, StepsPane.-paned > #pane { display: block; }
    """

    class Changed(Message):
        """State that other widgets show has changed: the following of the newest step, or the amount read."""

    def __init__(
        self, reader: SessionReader, requests: Requests, outside: ExternalPrograms, *, clock: Callable[[], int]
    ) -> None:
        super().__init__()
        self.reader = reader
        self.requests = requests
        self.documents = StepDocuments(reader)
        self.actions = StepActions(reader, requests, outside, self.documents)
        self._clock = clock
        self._following: TrajectoryReader | None = None
        self._shown: TrajectoryReader | None = None
        self._stale = False
        self.is_reading = False
        """True while steps are read."""
        self._places = ReadPositions()
        self._recalling = False
        self._why_not = ""
        """The reason why the steps cannot be read; empty if they can."""
        self._answered_turns = 0
        """Ended turns whose answer the cursor went to."""
        self.finder = StepSearch(requests, self._show_hit, self._say_counts)
        self._asked = ""
        self._view = View()
        self._plain = False
        """True if the session is a plain command."""
        self.growth: Growth | None = None
        """The result of the last read."""
        self._keymap = DEFAULT
        self.steps = Trajectory(id="steps")
        self.head = StepsHead()
        self._unread = UnreadSteps(self, self.steps, self.head, requests)
        self._name_keys()
        self._seeker = DiffSeeker(requests, self.steps, lambda: self._view)
        self.pane = StepDocumentPane(self.documents, requests)
        self.say_place: Callable[[], object] = lambda: None
        """Called when the cursor can be on another step, or among others."""

    def compose(self) -> ComposeResult:
        """Yield the digest and the counts, the steps, the pane, and the field for searches and numbers."""
        yield self.head
        yield self.steps
        yield self.pane
        yield HistoryInput(id="ask")

    @property
    def chosen(self) -> Chosen | None:
        """The step under the cursor; None if there is none."""
        if self._following is None or self._following is not self._shown or not len(self._view):
            return None
        return Chosen(self._following.session_id, self._view, self.steps.cursor)

    @property
    def session_id(self) -> str | None:
        """The id of the session that is open or being read; None if there is none."""
        return self._following.session_id if self._following is not None else None

    @property
    def _over(self) -> bool:
        """True if the open session is shown, and nothing is to be read of it."""
        return self._shown is self._following and self.growth is not None and self.growth.over

    def on_mount(self) -> None:
        """Create the timer that updates the ages of running steps; it pauses when all turns are over."""
        self._ages = self.set_interval(1.0, self._tick, pause=True)

    def on_resize(self) -> None:
        """Redraw the counts for the new width."""
        self._say_counts()

    def open(self, session: Session | None) -> None:
        """Show a session, or none."""
        former, self._following = self._following, None
        if former is not None:
            self._leave(former.session_id)
            self.run_worker(self.requests.expect(former.close()))
        self.finder.forget()
        self._unread.open(session)
        self._answered_turns, self._why_not = 0, ""
        if session is None:
            self._shown, self._view = None, View()
            self.steps.clear()
            self._say_counts()
            return
        self._following = TrajectoryReader(self.reader.steps, session.id)
        self._plain = not takes_prompts(session.agent)
        now, shown = self._clock(), self.steps.manner
        self.steps.look_like(structs.replace(shown, now=now, cwd=session.cwd, plain=self._plain))
        self.set_timer(SLOW_SECONDS, self._clear_if_slow)
        self.read_on()

    def turn_files_grew(self, turn_files: frozenset[str], *, sweep: bool) -> None:
        """Read the new steps if a file of the open session grew; a sweep reads them unless all turns are over."""
        if self._following is not None and (self._following.grew(turn_files) or (sweep and not self._over)):
            self.read_on()

    def read_on(self) -> None:
        """Read the new steps; if a read is running, read again after it."""
        self._stale = True
        if not self.is_reading:
            self.is_reading = True
            self._read()

    @work
    async def _read(self) -> None:
        try:
            while self._stale and self._following is not None:
                self._stale = False
                following = self._following
                growth, reason = await self.requests.outcome_awaited(following.refresh())
                if following is not self._following:
                    continue
                self._say_why_not(following, reason or "")
                if growth is not None:
                    self._show(following, growth)
                    # Long files are read in pieces, between which the screen can refresh.
                    self._stale = self._stale or (growth.ahead > 0 and growth.trouble is None)
        finally:
            self.is_reading = False

    def _show(self, following: TrajectoryReader, growth: Growth) -> None:
        opened = following is not self._shown
        if opened:
            self._shown, self._recalling = following, True
            self._read_document()
            self.steps.clear()
        if growth.trouble is not None and (self.growth is None or self.growth.trouble != growth.trouble):
            self.requests.show_error(growth.trouble)
        if not opened and growth == self.growth:
            return  # nothing is new
        self.growth, self._view = growth, growth.view
        (self._ages.pause if self._over else self._ages.resume)()
        self._show_steps(growth)
        self._recall(following.session_id)
        self._show_answer(growth)
        self._unread.mark(self._view, growth.turns)
        self.run_worker(self.finder.grown(growth.view, growth.changed), group="grown")
        if self.finder.waiting and growth.view.complete:
            self._look_for(self.finder.waiting)
        self._say_counts()
        self._seek_if_wanted()
        self.post_message(self.Changed())

    def _show_steps(self, growth: Growth) -> None:
        key = self._keymap.name
        keys = {"retry_key": key("retry"), "queue_key": key("queue"), "continue_key": key("continue")}
        notes = turn_notes(growth.turns, growth.prompt_states, **keys)
        cuts = cuts_of(growth, key("steps.undo"), key("steps.open"))
        self.steps.show(growth.view, growth.changed, turn_notes=notes, cuts=cuts)

    def use_keys(self, keymap: Keymap) -> None:
        """Name these keys in the steps and the documents."""
        if keymap == self._keymap:
            return
        self._keymap = keymap
        self._name_keys()
        if self.growth is not None and self._shown is not None:
            self._show_steps(self.growth)

    def _name_keys(self) -> None:
        self.steps.all_key = self._keymap.name("steps.all")
        self.documents.file_key = self._keymap.name("steps.page_file")
        self.steps.look_like(structs.replace(self.steps.manner, start_keys=after_failed_start(self._keymap)))

    @on(Trajectory.Lacking)
    def _lacking(self, event: Message) -> None:
        event.stop()
        self._seek_if_wanted()

    @work
    async def _seek_diffs(self) -> None:
        """Search for the diffs that steps on the screen lack; a running turn can bring them later."""
        if self.steps.cursor in await self._seeker.run() and self.pane.kind == "step":
            self._read_document()

    def _seek_if_wanted(self) -> None:
        if self._seeker.wanted:
            self._seek_diffs()

    def _recall(self, session_id: str) -> None:
        """Restore the cursor position that the user left, once its step is read."""
        place = self._places.find(session_id, self._view) if self._recalling else None
        if place is not None:
            self.steps.show_groups(self._places.groups(session_id))
            self.steps.recall(place)
        self._recalling = self._recalling and not self._view.complete

    def _show_answer(self, growth: Growth) -> None:
        """Put the cursor on the answer once the newest turn has ended, unless the user reads another place."""
        if self._over and self._view.complete and self._answered_turns != len(growth.turns):
            self._answered_turns = len(growth.turns)
            item = answer(self._view, growth.turns, growth.shown) if self.steps.following else None
            if item is not None:
                self.steps.rest(item)

    def on_descendant_focus(self) -> None:
        """Record that the user reads the steps."""
        self._unread.entered()

    def left(self) -> None:
        """Hide the digest of what was new if the user has read the steps."""
        self._unread.left()

    def _leave(self, session_id: str) -> None:
        if self._shown is None or self._shown.session_id != session_id or self._recalling:
            return
        if self.steps.following:
            self._places.forget(session_id)
        else:
            self._places.leave(session_id, self._view, self.steps.remembered(), self.steps.groups)

    def _say_why_not(self, following: TrajectoryReader, reason: str) -> None:
        """Say once why the steps cannot be read: in their place, if there are none."""
        former, self._why_not = self._why_not, reason
        if reason and reason != former:
            self.requests.show_error(reason)
            if following is not self._shown:
                self._clear(reason)

    def _clear_if_slow(self) -> None:
        if self._following is not None and self._following is not self._shown and not self._why_not:
            self._clear("reading…")

    def _clear(self, note: str) -> None:
        self._view = View()
        self.steps.clear(note)

    def _tick(self) -> None:
        self.steps.tick(self._clock())
        self._seek_if_wanted()

    @on(Trajectory.Filtered)
    def _filtered(self, event: Message) -> None:
        event.stop()
        self._say_counts()

    @on(Trajectory.Moved)
    def _moved(self, event: Trajectory.Moved) -> None:
        event.stop()
        if event.by_user and self.has_focus_within:
            self._unread.moved(self.steps.cursor, len(self._view))
        self._say_counts()
        self._seek_if_wanted()
        if self.turned_to_worker():
            self.post_message(self.Changed())
        if self.pane.follows:
            self._read_document()

    @on(Trajectory.Opened)
    def _opened(self, event: Message) -> None:
        event.stop()
        other = other_session(self.steps.current)
        if other is not None:
            self.post_message(other)
        elif not self.ask_for_worker():
            self.open_document("step")

    @on(DocumentPane.Another)
    def _another(self, event: DocumentPane.Another) -> None:
        event.stop()
        self.steps.action_step_over(event.direction)

    def action_source(self) -> None:
        """Switch between texts as they were written and rendered Markdown."""
        self.documents.source = not self.documents.source
        self.pane.begin_anew()
        self.open_document("step")

    def action_document(self, kind: str) -> None:
        """Show a kind of document in the pane, or close the pane if it already shows that kind."""
        if self.pane.kind == kind:
            self.close_document()
        else:
            self.open_document(kind)

    def open_document(self, kind: str) -> None:
        """Show the step under the cursor, its raw line, stderr or an explanation in the pane."""
        if self._following is None:
            return
        self.pane.kind = kind
        self.add_class("-paned")
        self._read_document()
        self.screen.set_focus(self.pane)

    def close_document(self) -> bool:
        """Close the pane; return True if it was open."""
        if not self.pane.kind:
            return False
        self.pane.close()
        self.remove_class("-paned")
        self.pane.leave(self.steps)
        return True

    @work(exclusive=True, group="document")
    async def _read_document(self) -> None:
        if self.pane.kind and (chosen := self.chosen) is not None:
            await self.pane.read(chosen)

    @on(VirtualList.FollowingChanged)
    def _following_changed(self, event: Message) -> None:
        event.stop()
        self.post_message(self.Changed())

    @on(Trajectory.Lost)
    def _lost(self, event: Trajectory.Lost) -> None:
        event.stop()
        self.requests.show_message(event.what if self._view.complete else f"{event.what}: still loading the rest")

    def action_search(self) -> None:
        """Ask for a text to search for."""
        self._ask("/", "search all steps (lower case ignores case)")

    def action_go_to(self) -> None:
        """Ask for the number of a step."""
        self._ask("#", "step number, or turn.step: 12, 3.12")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002 - Textual's
        """Return False for the next match without a search: its keys then start a session, as everywhere."""
        return action != "match" or self.finder.is_on

    def action_match(self, direction: int) -> None:
        """Go to the next hit, or to the previous one."""
        self.finder.next(self.steps.cursor, direction)

    def step_back(self) -> bool:
        """Leave the field, the pane or the search, one at a time; return True if there was one to leave."""
        if self.has_class("-asking"):
            self._answered()
            return True
        if self.close_document():
            return True
        if not self.finder.forget():
            return False
        self.steps.highlight("")
        self._say_counts()
        self.post_message(self.Changed())
        return True

    def _ask(self, kind: str, hint: str) -> None:
        self._asked = kind
        ask = self.query_one("#ask", HistoryInput)
        ask.value, ask.placeholder = "", f"{kind} {hint}"
        self.add_class("-asking")
        # Focus at once, not at the screen's next refresh: the next key belongs to the field.
        self.screen.set_focus(ask)

    def _answered(self) -> None:
        self.remove_class("-asking")
        self.screen.set_focus(self.pane if self.pane.kind else self.steps)

    @on(Input.Submitted, "#ask")
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._answered()
        if event.value.strip():
            event.input.earlier.sent(event.value)  # type: ignore[attr-defined]
            self.find(event.value) if self._asked == "/" else self.go_to(event.value)

    def go_to(self, text: str) -> None:
        """Go to a step by its number, or by turn and number."""
        item, missing = numbered(text, self._view, self.steps.current)
        if item is None:
            self.requests.show_message(missing)
        else:
            self.steps.following = False
            self.steps.go(item)

    def show_step(self, turn: int, index: int) -> None:
        """Go to a step by its turn and its index."""
        if (item := self._view.number(turn, index)) is not None:
            self._show_hit(item)

    def open_at(self, session_id: str, turn: int, index: int) -> None:
        """Show a step of a session when that is opened next."""
        self._places.put(session_id, turn, index)

    def find(self, needle: str) -> None:
        """Search all steps, and go to the first hit at or after the cursor as soon as it is found."""
        self.steps.highlight(needle)
        self._look_for(needle)
        self.post_message(self.Changed())

    @work(exclusive=True, group="search")
    async def _look_for(self, needle: str) -> None:
        await self.finder.run(self._view, needle, self.steps.cursor)

    def _show_hit(self, item: int) -> None:
        self.steps.following = False
        self.steps.go(item)
        self.steps.reveal_match()

    def _say_counts(self) -> None:
        note = "" if self.growth is None or self._view.complete else "reading…"
        steps, found = self.steps, self.finder.found(self.steps.cursor)
        shown = Shown(steps.groups, steps.level, found, note, self._plain)
        self.head.show_counts(self._view.count if len(self._view) else None, shown)
        self.say_place()
