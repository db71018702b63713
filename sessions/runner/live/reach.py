"""Reach the process of a live agent: make its standard input, adopt it from a runner that was killed, close it."""

import contextlib
import signal
import time
from pathlib import Path

from msgspec import structs

from agentdash.sessions.agents.base import Agent
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.rules.launch import Launch
from agentdash.sessions.runner.child import AgentChild
from agentdash.sessions.runner.live.agent import LiveAgent
from agentdash.sessions.runner.live.channel import Channel, LineTooLongError, make_fifo
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.runner.spawn import StartError
from agentdash.sessions.storage.paths import SessionFolder
from agentdash.sessions.storage.store import Store

CLOSE_SECONDS = 5.0
"""Time in which an idle agent must end after the request: claude needs 0.1 s
(docs/protocols/claude.md, "Standard input")."""

_POLL_SECONDS = 0.02


def new_channel(folder: SessionFolder) -> Channel:
    """Return the emptied standard input for a process that is about to start.

    Raises:
        StartError: it cannot be made.
    """
    try:
        make_fifo(folder.stdin)
        channel = Channel(folder.stdin)
    except OSError as error:
        raise StartError(f"the agent's standard input could not be created: {error}") from None
    channel.drain()
    return channel


def adopted_agent(
    child: AgentChild,
    folder: SessionFolder,
    store: Store,
    agent: Agent,
    turn: int,
    *,
    launch: Launch,
    stream: int,
    begin: int,
) -> LiveAgent | None:
    """Return a living agent that another runner started; None if it cannot be reached.

    Args:
        turn: the turn that it serves, or served last.
        launch: the start of its process.
        stream: the number of its files.
        begin: the offset at which the turn to adopt begins; the output before it is only replayed.
    """
    dialogue = agent.dialogue(launch.transport, launch.opening)
    if dialogue is None:
        return None
    try:
        channel = Channel(folder.stdin)
    except OSError:
        return None
    live = LiveAgent(child, channel, dialogue, launch=launch, stream=stream)
    live.catch_up(folder.output(stream), begin)
    _learn_mode(live, store, folder.id, turn, agent)
    return live


def _learn_mode(live: LiveAgent, store: Store, session_id: str, turn: int, agent: Agent) -> None:
    """Give the agent the mode that it has after a turn: its process may have begun with another one."""
    launch = store.launch(session_id, turn)
    if launch is not None and launch.mode is not None:
        live.launch = structs.replace(live.launch, mode=launch.mode)
    changed = store.adjustments.mode_in(session_id, turn)
    if changed is not None:
        live.adjusted("mode", changed, dangerous=agent.is_dangerous(changed))


def orphan(
    folder: SessionFolder,
    store: Store,
    turn: int,
    child: AgentChild | None = None,
    *,
    also_gone: bool = False,
) -> LiveAgent | None:
    """Return the live agent that served the turn before and whose runner was killed; None if there is none.

    Args:
        turn: the turn after the one that it served.
        child: becomes its process.
        also_gone: return it if its process has ended too, so that the rest of its output is read.
    """
    # A turn between them may have been cancelled before it was started.
    before = store.started_before(folder.id, turn)
    session = store.session(folder.id)
    if before is None or session is None or not before.transport or before.end_byte is None:
        return None
    if before.agent_pid is None or before.agent_start is None or not processes.is_here(before.boot_id, before.pid_ns):
        return None
    if not also_gone and not processes.alive(before.agent_pid, before.agent_start):
        return None
    child = child or AgentChild()
    child.adopt((before.agent_pid, before.agent_start))
    stream = before.stream_number
    launch = store.launch(folder.id, stream)
    if launch is None:
        return None
    agent = agent_named(session.agent)
    live = adopted_agent(child, folder, store, agent, before.n, launch=launch, stream=stream, begin=before.end_byte)
    if live is not None:
        live.end_byte, live.end_error_byte = before.end_byte, size_of(folder.errors(stream))
        # The session's model may be that of a later turn.
        live.model = (before.mode.model if before.mode is not None else None) or live.model
    return live


def close(live: LiveAgent, live_name: Path) -> None:
    """End an idle agent in order: by its own request or SIGTERM, and by SIGKILL if it does not go.

    Nothing is sent to an agent that is gone: its FIFO may have been closed before.
    """
    deadline = time.monotonic() + CLOSE_SECONDS
    if live.alive:
        _ask_to_end(live)
    _wait(live, deadline)
    if live.alive:
        _signal(live, signal.SIGKILL)
        _wait(live, time.monotonic() + CLOSE_SECONDS)
    live.channel.close()
    live_name.unlink(missing_ok=True)


def _ask_to_end(live: LiveAgent) -> None:
    line = live.dialogue.closing()
    if line is None:
        _signal(live, signal.SIGTERM)
        return
    with contextlib.suppress(OSError, LineTooLongError):
        live.channel.write(line)


def _wait(live: LiveAgent, deadline: float) -> None:
    """Wait until the process is gone, or a time on the monotonic clock."""
    while live.alive and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
        live.child.reap()


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
