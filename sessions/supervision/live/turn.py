"""One turn of a live agent, as its runner sees it: the process that runs it, its prompt, and its end."""

import contextlib
import signal
import time
from pathlib import Path

from msgspec import structs

from ...agents.base import Agent
from ...agents.dialogue import Event
from ...agents.registry import agent_named
from ...launch import Launch
from ...processes import processes
from ...rules.delivery import PromptState
from ...storage.live_log import LiveLog, Steered
from ...storage.paths import SessionFolder
from ...storage.store import Store
from ...storage.turn_log import Claim
from ..child import AgentChild
from ..identity import owner
from .agent import SEND_SECONDS, LiveAgent
from .channel import Channel, LineTooLongError, make_fifo
from .clerk import Clerk
from .courier import Courier

CLOSE_SECONDS = 5.0
"""Time in which an idle agent must end after the request: claude needs 0.1 s (prompts 1.1)."""

_POLL_SECONDS = 0.02


class LiveTurn:
    """Runs one turn on a live agent.

    Args:
        live: the agent.
        store: the rows.
        log: the rows of the session's live agent.
        session_id: the session.
        turn: the number of the turn.
        claim: the turn.
    """

    def __init__(self, live: LiveAgent, store: Store, log: LiveLog, session_id: str, turn: int, claim: Claim) -> None:
        self.live = live
        self.clerk = Clerk(live, store, session_id, turn, agent=claim.agent, cwd=claim.cwd, launch=claim.launch)
        prompt = log.prompt(turn)
        self._log, self._turn = log, turn
        late = next(iter(log.under_way()), None)
        # The output of the turn so far may have the receipt of a prompt that a dead runner wrote.
        self._steered = self._courier_of(late) if late is not None else None
        """The newest prompt that was written into the turn."""

        def record(state: PromptState, attempt: int | None) -> bool:
            log.prompt_is(turn, state, attempt)
            return True

        self.courier = Courier(
            live,
            record,
            key=claim.run_id if prompt is not None else None,
            # The conversation and changed instructions may go before the user's words.
            text=claim.launch.stdin or "",
            state=prompt.state if prompt is not None else PromptState.SEEN,
            attempt=prompt.attempt if prompt is not None else 1,
        )
        self._interrupted = False
        self.interrupted_at: float | None = None
        """Time at which the turn was interrupted, on the monotonic clock."""
        live.listener = self._hear

    @property
    def over(self) -> bool:
        """True if the agent reported the end of the turn."""
        return self.courier.over

    def advance(self) -> None:
        """Write what can be written."""
        self.clerk.advance()
        self.courier.advance()
        if self._steered is not None:
            self._steered.advance()
            if self._steered.done:
                if self._steered.failed is not None:
                    self._log.begins_turn(self._steered.key or "")
                self._steered = None
                self.steer()

    def steer(self) -> None:
        """Write the next prompt for the running turn, if the one before has arrived."""
        if self._steered is not None or self.over or not self.live.dialogue.steers or not self.courier.arrived:
            return
        prompt = self._log.steering()
        if prompt is not None:
            self._steered = self._courier_of(prompt)

    def interrupt(self, now: float) -> float:
        """Ask the agent to end the turn, once it can be asked; return the time of the first call.

        codex 0.169.0 refuses it until it has reported the beginning of the turn.
        """
        self.interrupted_at = self.interrupted_at or now
        if not self._interrupted and (lines := self.live.dialogue.interrupt()):
            self._interrupted = True
            for line in lines:
                self.live.send(line)
        return self.interrupted_at

    def delay(self, usual: float) -> float:
        """Return the seconds until the next step that no output triggers; at most ``usual``."""
        if self.live.waits:
            return min(usual, SEND_SECONDS)
        return min(usual, *(due for due in (self.courier.due, self.clerk.due) if due is not None), usual)

    def _courier_of(self, prompt: Steered) -> Courier:
        """Return the courier of a prompt into this turn."""

        def record(state: PromptState, attempt: int | None) -> bool:
            return self._log.steered_is(prompt.id, state, self._turn, attempt)

        return Courier(
            self.live, record, key=prompt.run_id, text=prompt.text, state=prompt.state, attempt=prompt.attempt
        )

    def _hear(self, event: Event) -> None:
        self.courier.hear(event)
        if self._steered is not None:
            self._steered.hear(event)
        self.clerk.hear(event)


def new_channel(folder: SessionFolder) -> Channel:
    """Return the emptied standard input for a process that is about to start.

    Raises:
        OSError: it cannot be made.
    """
    make_fifo(folder.stdin)
    channel = Channel(folder.stdin)
    channel.drain()
    return channel


def adopted_agent(
    child: AgentChild, folder: SessionFolder, agent: Agent, launch: Launch, stream: int, begin: int
) -> LiveAgent | None:
    """Return a living agent that another runner started; None if it cannot be reached.

    Args:
        child: its process.
        folder: the session's folder.
        agent: its adapter.
        launch: the start of its process.
        stream: the number of its files.
        begin: the offset at which the turn to adopt begins; the output before it is only replayed.
    """
    dialogue = agent.dialogue(launch)
    if dialogue is None:
        return None
    try:
        channel = Channel(folder.stdin)
    except OSError:
        return None
    live = LiveAgent(child, channel, dialogue, launch=launch, stream=stream)
    live.catch_up(folder.output(stream), begin)
    return live


def orphan(
    folder: SessionFolder, store: Store, session_id: str, turn: int, child: AgentChild | None = None
) -> LiveAgent | None:
    """Return the live agent that served the turn before and whose runner was killed; None if there is none.

    ``child`` becomes its process.
    """
    before = store.one_turn(session_id, turn - 1)
    session = store.session(session_id)
    if before is None or session is None or not before.transport or before.end_byte is None:
        return None
    if before.agent_pid is None or before.agent_start is None or not processes.is_here(before.boot_id, before.pid_ns):
        return None
    if not processes.alive(before.agent_pid, before.agent_start):
        return None
    child = child or AgentChild()
    child.adopt((before.agent_pid, before.agent_start))
    stream = before.stream_number
    launch = store.launch(session_id, stream)
    if launch is None:
        return None
    live = adopted_agent(child, folder, agent_named(session.agent), launch, stream, before.end_byte)
    if live is not None:
        live.end_byte, live.end_error_byte = before.end_byte, size_of(folder.errors(stream))
        live.model = session.model or live.model
    return live


def begin_late(live: LiveAgent, log: LiveLog) -> int | None:
    """Record the turn that the agent begins with a prompt that came too late for the last one, and return its number.

    None if there is no such prompt.
    """
    late = next(iter(log.under_way()), None)
    if late is None:
        return None
    part = (live.stream, live.end_byte, live.end_error_byte)
    return log.steered_turn(late, live.launch, owner(), live.child.identity or (0, 0), part)


def close(live: LiveAgent, live_name: Path) -> None:
    """End an idle agent in order: by its own request or SIGTERM, and by SIGKILL if it does not go."""
    line = live.dialogue.closing()
    deadline = time.monotonic() + CLOSE_SECONDS
    if line is not None:
        with contextlib.suppress(OSError, LineTooLongError):
            live.channel.write(line)
    else:
        _signal(live, signal.SIGTERM)
    while live.alive and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
        live.child.reap()
    if live.alive:
        _signal(live, signal.SIGKILL)
    live.channel.close()
    live_name.unlink(missing_ok=True)


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


def _signal(live: LiveAgent, number: signal.Signals) -> None:
    """Signal the agent's process, checked by its identity."""
    pid, start = live.child.identity or (0, 0)
    process = processes.by_pid(pid)
    if process is not None and process.start == start:
        processes.send(process, number)


def size_of(path: Path) -> int:
    """Return the size of a file in bytes; 0 if it is missing."""
    try:
        return path.stat().st_size
    except OSError:
        return 0
