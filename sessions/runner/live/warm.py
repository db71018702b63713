"""A live agent between two turns: it waits for a prompt, for a while, and may ask or begin a turn by itself."""

import contextlib
import os
import select
import time
import uuid

from agentdash.sessions.agents.dialogue import Event, TurnBegan
from agentdash.sessions.agents.parsing.line_parts import by_parts
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.errors import StoreError
from agentdash.sessions.model.session import Receipt, Status, StoppedBy
from agentdash.sessions.model.steps import OTHER_PROGRAM
from agentdash.sessions.runner import inotify
from agentdash.sessions.runner.child import owner
from agentdash.sessions.runner.live.adjuster import Adjuster
from agentdash.sessions.runner.live.agent import SEND_SECONDS, LiveAgent
from agentdash.sessions.runner.live.clerk import Clerk
from agentdash.sessions.runner.live.reach import close
from agentdash.sessions.runner.live.run import begin_late, count_rest
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.runner.queue.next_turn import builder
from agentdash.sessions.runner.queue.prompt_evidence import recover_steered
from agentdash.sessions.runner.queue.pump import pump
from agentdash.sessions.runner.runner_process import poke
from agentdash.sessions.runner.stop_signals import StopSignals
from agentdash.sessions.storage.files.line_reader import LineReader
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.live_log import OWN, LiveLog
from agentdash.sessions.storage.turns.turn_log import TurnLog

LOOK_SECONDS = 5.0
"""Interval between unprompted checks of requests and of an adopted process."""

_CLOSED = "its process was closed"


class Warm:
    """Waits with an idle agent.

    Args:
        turn: the newest turn of the session.
        live: the agent; None if it is gone.
    """

    def __init__(
        self, layout: Layout, store: Store, signals: StopSignals, session_id: str, turn: int, live: LiveAgent | None
    ) -> None:
        self._layout = layout
        self._folder = layout.session(session_id)
        self._store = store
        self._signals = signals
        self._session = session_id
        self._turn = turn
        self._live = live
        self._log = LiveLog(store.database, session_id)
        self._began = False
        self._adjuster: Adjuster | None = None

    def wait(self) -> tuple[int | None, str]:
        """Return the next turn and how to serve it: ``run``, ``own`` or ``sweep``; None if nothing is to be done."""
        live = self._live
        if live is None:
            self._lose_all()
            following = self._next() or self._turn
            return following, "run" if self._store.queued_after(self._session, self._turn) else "sweep"
        # The runner of the turn before was killed before it recorded the turn that a late prompt begins.
        if live.alive and (late := begin_late(live, self._log)) is not None:
            return late, "own"
        session = self._store.session(self._session)
        if session is not None:
            self._adjuster = Adjuster(live, self._store, self._session, agent_named(session.agent))
        clerk = self._clerk_of(live)

        def hear(event: Event) -> None:
            self._began = self._began or isinstance(event, TurnBegan)
            clerk.hear(event)
            if self._adjuster is not None:
                with contextlib.suppress(StoreError):
                    self._adjuster.hear(event)

        live.listener = hear
        if not live.alive:
            return self._gone(live)
        self._make_room(live)
        descriptors = [os.open(self._folder.poke, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC), self._signals.wake]
        growth = inotify.watch_growth(self._folder.output(live.stream))
        if growth is not None:
            descriptors.append(growth)
        try:
            return self._serve(live, clerk, descriptors)
        finally:
            os.close(descriptors[0])
            if growth is not None:
                os.close(growth)

    def _clerk_of(self, live: LiveAgent) -> Clerk:
        session = self._store.session(self._session)
        return Clerk(
            live,
            self._store,
            self._session,
            self._turn,
            agent=session.agent if session is not None else "",
            cwd=session.cwd if session is not None else "/",
            launch=self._store.launch(self._session, self._turn) or live.launch,
        )

    def _serve(self, live: LiveAgent, clerk: Clerk, descriptors: list[int]) -> tuple[int | None, str]:
        poll = select.poll()
        for descriptor in descriptors:
            poll.register(descriptor, select.POLLIN)
        # A process that failed may lack what a retry has, such as a sign-in: the retry gets one of its own.
        newest = self._store.one_turn(self._session, self._turn)
        failed = newest is not None and newest.status is Status.FAILED
        closes_at = time.monotonic() + (0 if failed else live.launch.warm.keep_seconds)
        while True:
            live.child.reap()
            if not live.alive:
                return self._gone(live)
            self._read(live)
            if self._began and (own := self._own_turn(live)) is not None:
                return own, "own"
            if (following := self._next()) is not None:
                return following, "run"
            kinds = self._requests()
            if kinds - {"close"} or self._signals.requested or not self._folder.path.is_dir():
                self._give_up(live)
                return self._turn, "sweep"
            if clerk.waits:  # an agent that asks is not idle, and needs time to confirm the answer
                closes_at = time.monotonic() + max(LOOK_SECONDS, live.launch.warm.keep_seconds)
            too_long = not self._began and (bool(kinds) or time.monotonic() >= closes_at)
            if too_long or self._signals.shutdown:
                close(live, self._layout.live_name(self._session, live.stream))
                return self._gone(live, closed=True)
            if clerk.advance():
                with contextlib.suppress(StoreError):  # the prompt that was added begins a turn
                    self._store.queue.advance(self._session, builder(self._layout, self._store))
                continue
            self._adjust()
            try:
                live.flush()
            except OSError:
                close(live, self._layout.live_name(self._session, live.stream))
                return self._gone(live, closed=True)
            for descriptor, _ in poll.poll(self._delay(live, clerk, closes_at) * 1000):
                inotify.drain(descriptor)

    def _delay(self, live: LiveAgent, clerk: Clerk, closes_at: float) -> float:
        """Return the seconds until the next check that nothing else triggers."""
        if live.waits:
            return SEND_SECONDS
        left = LOOK_SECONDS if clerk.due is None else min(LOOK_SECONDS, clerk.due)
        return left if clerk.waits or self._began else max(0.0, min(left, closes_at - time.monotonic()))

    def _read(self, live: LiveAgent) -> None:
        """Read the output, up to the beginning of a turn: what follows is for the runner of that turn."""
        with LineReader(self._folder.output(live.stream), live.position) as reader:
            for position, line in by_parts(reader.lines()):
                if self._began:
                    return
                live.feed(line, position, between=True)

    def _adjust(self) -> None:
        """Write the changes of settings that front ends requested."""
        if self._adjuster is not None:
            with contextlib.suppress(StoreError):
                self._adjuster.look()
                self._adjuster.advance()

    def _give_up(self, live: LiveAgent) -> None:
        """Record that the process is about to be stopped: it waits for nothing, and takes no answers."""
        with contextlib.suppress(StoreError):
            self._log.warm(None)
            self._store.asks.lose(self._session, live.stream)
        self._layout.live_name(self._session, live.stream).unlink(missing_ok=True)
        if not self._folder.path.is_dir():
            self._folder.create()  # the runner of a stop needs it
            self._signals.requested = True

    def _gone(self, live: LiveAgent, *, closed: bool = False) -> tuple[int | None, str]:
        """Record that the process is gone; what it left is counted as after any turn.

        A turn that it had begun by itself is recorded too, and concluded from its output like one of a killed agent.
        If a stop, or this runner (``closed``), ended the process, the turn was stopped with it.
        """
        self._read(live)
        own = self._own_turn(live) if self._began else None
        by = StoppedBy.AGENTDASH.because(_CLOSED) if closed else self._stop_that_ended(live)
        if own is not None and by is not None:
            TurnLog(self._store, self._session, own, owner()).stopping(by)
        self._layout.live_name(self._session, live.stream).unlink(missing_ok=True)
        live.channel.close()
        with contextlib.suppress(StoreError):
            self._lose_all()
        self._answer(_CLOSED)
        if own is not None:
            return own, "adopt"
        following = self._next()
        return (following, "run") if following is not None else (self._turn, "sweep")

    def _stop_that_ended(self, live: LiveAgent) -> str | None:
        """Return the requester of the stop of the turn before if it ended the process as well; None if none did."""
        turn = self._store.one_turn(self._session, self._turn)
        ended = turn.receipt.ended if turn is not None and turn.receipt is not None else ()
        ours = live.child.identity is not None and live.child.identity[0] in {process.pid for process in ended}
        return turn.stop_by if turn is not None and ours else None

    def _lose_all(self) -> None:
        """Record the fate of all that was under way between the user and the process."""
        # Before the session is recorded as gone: a runner that takes over after a kill comes here again.
        with contextlib.suppress(StoreError):
            count_rest(self._folder, self._store, self._session, None)
        self._log.warm(None)
        self._store.adjustments.defer(self._session)
        recover_steered(self._store, self._session, self._turn)
        if (turn := self._store.one_turn(self._session, self._turn)) is not None:
            self._store.asks.lose(self._session, turn.stream_number)

    def _answer(self, note: str) -> None:
        with contextlib.suppress(StoreError):
            turn = self._store.newest_turn(self._session)
            receipt = Receipt(session=self._session, status=turn.status, note=note)
            TurnLog(self._store, self._session, turn.n, owner()).answer(receipt)

    def _own_turn(self, live: LiveAgent) -> int | None:
        return self._log.own_turn(
            live.launch,
            str(uuid.uuid4()),
            owner(),
            live.child.identity or (0, 0),
            (live.stream, live.end_byte, live.end_error_byte),
            by=OWN if live.dialogue.wakes else OTHER_PROGRAM,
        )

    def _next(self) -> int | None:
        """Return the session's next turn if it has a place."""
        with contextlib.suppress(StoreError):
            own = pump(self._layout, self._store, None if self._signals.shutdown else self._session)
            queued = self._store.queued_after(self._session, self._turn)
            return own or (queued.n if queued is not None and queued.launches else None)
        return None

    def _requests(self) -> set[str]:
        """Return the kinds of the open requests; there is nothing to interrupt."""
        kinds: set[str] = set()
        with contextlib.suppress(StoreError):
            kinds = set(self._store.open_requests(self._session, self._turn))
        if kinds == {"interrupt"}:
            self._answer("the turn had ended")
            return set()
        return kinds

    def _make_room(self, live: LiveAgent) -> None:
        """Have the agents closed that wait longest, if too many wait on this host."""
        with contextlib.suppress(StoreError):
            self._log.warm(now_ms())
            warm = self._store.with_warm_agent()
            waiting = [one for one in warm if one.host == processes.host_name() and not one.asking]
            for session in waiting[: max(0, len(waiting) - live.launch.warm.keep_most)]:
                self._store.request_close(session, "agentdash")
                poke(self._layout.session(session.id).poke)
