"""The live side of a runner's turn: which process serves it, how it ends, and what follows."""

import contextlib

from msgspec import structs

from agentdash.sessions.agents.planned import without_live
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.errors import StoreError
from agentdash.sessions.rules.asks.recorded import waited_ms
from agentdash.sessions.rules.launch import Launch
from agentdash.sessions.rules.prompts.delivery import PromptState
from agentdash.sessions.runner.child import AgentChild, owner
from agentdash.sessions.runner.follow import Follower
from agentdash.sessions.runner.live.agent import LiveAgent
from agentdash.sessions.runner.live.reach import adopted_agent, close, new_channel, orphan, size_of
from agentdash.sessions.runner.live.turn import LiveTurn
from agentdash.sessions.runner.queue.prompt_evidence import recover_steered
from agentdash.sessions.runner.recorder import Recorder
from agentdash.sessions.runner.spawn import StartError, start_agent
from agentdash.sessions.runner.work_folder import FolderError, check
from agentdash.sessions.storage.files.session_record import write_identity
from agentdash.sessions.storage.paths import Layout, SessionFolder
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.claim import Claim
from agentdash.sessions.storage.turns.live_log import LiveLog
from agentdash.sessions.storage.turns.turn_log import TurnLog
from agentdash.sessions.storage.turns.turn_output import TurnOutput, output_in, remove_output


class LiveRun:
    """One turn of a runner, as far as its agent is live.

    Args:
        agent: the live agent that served the turn before; None if there was none.
    """

    def __init__(self, layout: Layout, store: Store, session_id: str, turn: int, agent: LiveAgent | None) -> None:
        self._layout = layout
        self._folder = layout.session(session_id)
        self._store = store
        self._session = session_id
        self._number = turn
        self._log = LiveLog(store.database, session_id)
        self._claim: Claim | None = None
        self.agent = agent
        """The live agent; None for a process of one turn, and before it is started."""
        self.turn: LiveTurn | None = None
        """The turn on that agent."""
        self._unreachable: str | None = None
        """The reason why the process of a live launch cannot be written to."""
        self._found: PromptState | None = None
        """The state of the prompt when that was found, or when its process was gone."""

    @property
    def goes_on(self) -> bool:
        """True if the agent's process lives."""
        return self.agent is not None and self.agent.alive

    @property
    def over(self) -> bool:
        """True if the agent reported the end of the turn, and lives."""
        return self.turn is not None and self.turn.over and self.goes_on

    @property
    def failure(self) -> str | None:
        """The reason why the agent cannot be used; None if it can.

        A turn goes on to its own end if its agent got the prompt before it became unreachable.
        """
        if self.turn is not None:
            return self.turn.courier.failed
        return self._unreachable if self._found in _NOT_SENT else None

    @property
    def prompt(self) -> PromptState | None:
        """The recorded way of the turn's prompt; None if the agent is not live."""
        if self.turn is not None:
            return self.turn.courier.state
        return self._found

    def child_for(self, claim: Claim, child: AgentChild) -> AgentChild:
        """Return the process that runs the turn: that of the live agent that is there, or a new one.

        Args:
            child: becomes the new process.

        Raises:
            StartError: it could not be started.
        """
        self.agent = self.agent or orphan(self._folder, self._store, self._number, child)
        live, agent = self.agent, agent_named(claim.agent)
        if live is not None and not (live.serves(claim.launch, agent) and _is_in_place(claim.cwd)):
            close(live, self._layout.live_name(self._session, live.stream))
            self._store.asks.lose(self._session, live.stream)
            self.agent, child = None, AgentChild()
        if self.agent is not None:
            self._log.continue_stream(self._number, self.agent.stream, self.agent.end_byte, self.agent.end_error_byte)
            self.agent.adjust(claim.launch)
            return self.agent.child
        channel = new_channel(self._folder) if claim.launch.transport else None
        try:
            process = start_agent(
                self._layout, self._session, self._number, launch=claim.launch, run_id=claim.run_id, cwd=claim.cwd
            )
        except StartError:
            if channel is not None:
                channel.close()
            raise
        child.started(process)
        dialogue = agent.dialogue(claim.launch.transport, claim.launch.opening) if channel is not None else None
        if channel is not None and dialogue is not None:
            self.agent = LiveAgent(child, channel, dialogue, launch=claim.launch, stream=self._number)
            self.agent.shake_hands()
        elif channel is not None:
            channel.close()
            self._cannot_reach(_unknown(claim.launch))
        return child

    def adopt(self, claim: Claim, child: AgentChild) -> None:
        """Take over the live agent of a turn whose runner was killed, if it lives."""
        if not claim.launch.transport:
            return
        if child.gone:
            self._find_prompt()
            return
        stream = claim.stream or self._number
        launch = self._store.launch(self._session, stream) or claim.launch
        agent = agent_named(claim.agent)
        self.agent = adopted_agent(
            child, self._folder, self._store, agent, self._number, launch=launch, stream=stream,
            begin=claim.begin_byte,
        )  # fmt: skip
        if self.agent is None:
            known = agent.dialogue(launch.transport) is not None
            self._cannot_reach("its standard input cannot be opened" if known else _unknown(launch))
        elif stream != self._number:
            prompt = self._log.prompt(self._number)
            if prompt is not None and prompt.state is PromptState.QUEUED:
                self.agent.adjust(claim.launch, again=True)

    def _cannot_reach(self, why: str) -> None:
        self._unreachable = why
        self._find_prompt()

    def _find_prompt(self) -> None:
        """Read the recorded way of the prompt: no process takes it, and the record is the evidence."""
        with contextlib.suppress(StoreError):
            prompt = self._log.prompt(self._number)
            self._found = prompt.state if prompt is not None else None

    def waited_ms(self) -> int:
        """Return how long the turn has waited for the user's answers."""
        with contextlib.suppress(StoreError):
            asks = self._store.asks.of_session(self._session)
            return waited_ms((ask for ask in asks if ask.turn == self._number), now_ms())
        return 0

    def converse(self, claim: Claim, recorder: Recorder) -> TurnOutput | None:
        """Send the prompt, and let the agent's output end the turn; return the turn's part of it.

        None if the agent is not live.
        """
        self._claim = claim
        live = self.agent
        if live is None and self._unreachable is None:
            return None
        output = output_in(self._folder, self._store.turns(self._session, self._number), self._number)
        if live is None:
            recorder.hear(lambda *_: None, output, lambda: 0)
            return output
        turn = self.turn = LiveTurn(
            live, self._store, self._log, self._session, self._number, claim, recorder.count_denial
        )

        def hear(line: bytes, position: int) -> None:
            live.feed(line, position)
            if turn.over:
                recorder.end_here()

        recorder.hear(hear, output, turn.clerk.unanswered)
        return output

    def count_rest(self) -> None:
        """Count what earlier processes printed behind their last turn; raises the error of :func:`count_rest`."""
        count_rest(self._folder, self._store, self._session, self.agent.stream if self.agent and self.goes_on else None)

    def end(self, recorder: Recorder, output: TurnOutput) -> None:
        """Remember where the next turn begins; if the agent is gone, decide about all that was on its way to it."""
        if not self.goes_on:
            self.close_asks()
            recorder.guarded(lambda: self._store.adjustments.defer(self._session))
        if self._claim is not None and self._claim.launch.transport and not self.goes_on:
            # The claim is older than the continuation of another turn's stream.
            stream = self.agent.stream if self.agent is not None else self._claim.stream or self._number
            agent_session = recorder.facts.agent_session
            recorder.guarded(lambda: self._store.asks.lose(self._session, stream))
            recorder.guarded(lambda: recover_steered(self._store, self._session, self._number, agent_session))
        if self.agent is not None:
            self.agent.end_byte, self.agent.end_error_byte = recorder.position, size_of(output.stderr.path)
            self.agent.model = recorder.facts.model or self.agent.model
            if not self.agent.alive:
                self.agent.channel.close()

    def close_asks(self) -> None:
        """Record no further ask of a process that is being ended: a flood of them would hold up the end."""
        if self.turn is not None:
            self.turn.clerk.close()

    def late_turn(self) -> int | None:
        """Record the turn that the agent begins with a prompt that came too late for this one, and return its number.

        None if there is no such prompt.

        Raises:
            StoreError: it could not be recorded.
        """
        if self.turn is not None:
            self.turn.catch_up()  # a prompt that was read in this turn is not late
        return begin_late(self.agent, self._log) if self.agent is not None and self.agent.alive else None

    def falls_back(self, log: TurnLog) -> bool:
        """Queue the turn again as a process of its own if the agent could not be used; False if it cannot."""
        claim, failure = self._claim, self.failure
        if claim is None or failure is None or self.prompt is not PromptState.QUEUED:
            return False
        launch = plain_launch(claim.launch, failure)
        launch = without_live(agent_named(claim.agent), launch) if launch is not None else None
        if launch is None or not log.start_again():
            return False
        self._log.relaunch(self._number, launch)
        remove_output(self._layout, self._session, self._number)
        if self.agent is not None:
            self.agent.channel.close()
        self.agent = None
        return True


def _is_in_place(folder: str) -> bool:
    """Return whether the folder is still the recorded one: codex has it as text, and resolves it for each command."""
    try:
        check(folder)
    except FolderError:
        return False  # the start of a new process gives the reason
    return True


_NOT_SENT = (PromptState.QUEUED, PromptState.SENDING)


def _unknown(launch: Launch) -> str:
    return f"agentdash cannot speak its protocol, {launch.transport!r}"


def begin_late(live: LiveAgent, log: LiveLog) -> int | None:
    """Record the turn that the agent begins with a prompt that came too late for the last one, and return its number.

    None if there is no such prompt.
    """
    late = next(iter(log.under_way()), None)
    if late is None:
        return None
    part = (live.stream, live.end_byte, live.end_error_byte)
    return log.steered_turn(late, live.launch, owner(), live.child.identity or (0, 0), part)


def count_rest(folder: SessionFolder, store: Store, session_id: str, living: int | None) -> None:
    """Give what a process printed between its last turn and its end to that turn, because no later turn reads it.

    Args:
        living: the stream of the process that lives; None if none does.

    Raises:
        StoreError: it could not be recorded.
    """
    log, session = LiveLog(store.database, session_id), store.session(session_id)
    if session is None:
        return
    for n in log.unclosed(living):
        turn = store.one_turn(session_id, n)
        if turn is None:
            continue
        output, steps, unknown = folder.output(turn.stream_number), turn.steps, turn.unknown
        if size_of(output) > (turn.end_byte or 0):
            parser = agent_named(session.agent).parser(n, turn.transport)
            follower = Follower(output, folder.times(turn.stream_number), parser, begin=turn.begin_byte, shared=True)
            follower.take_over()
            follower.finish()
            # Of a very long turn the middle is skipped: what its runner counted may be more.
            steps, unknown = max(steps, follower.steps), max(unknown, follower.facts.unknown)
        log.close_stream(n, steps, unknown)
        with contextlib.suppress(OSError):  # the rows are right; the file follows with the next turn
            write_identity(store, folder)


def plain_launch(launch: Launch, why: str) -> Launch | None:
    """Return the start of a process of one turn in place of a live agent; None if the launch has none."""
    if not launch.plain_argv:
        return None
    warning = f"The agent does not run live in this turn: {why}."
    return structs.replace(
        launch,
        argv=launch.plain_argv,
        plain_argv=(),
        transport="",
        opening=(),
        warnings=(*launch.warnings, warning),
    )
