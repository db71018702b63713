"""The watch over a turn at work: what it uses, which limits it crosses, and whether it is stuck."""

import contextlib
import os
import time
from collections.abc import Mapping

from agentdash.sessions.agents.base import Agent
from agentdash.sessions.agents.parsing.usage_meter import TranscriptEnd
from agentdash.sessions.model.errors import StoreError
from agentdash.sessions.model.session import Step
from agentdash.sessions.rules.attention import Stuck
from agentdash.sessions.rules.costs.usage_totals import Spent
from agentdash.sessions.rules.launch import Launch
from agentdash.sessions.rules.limits.limits import Limits, Measured, crossed, seconds_left, used_up
from agentdash.sessions.rules.limits.period_budgets import Share
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.runner.follow import Follower
from agentdash.sessions.runner.limits.family_budget import FamilyBudget
from agentdash.sessions.runner.limits.plan_watch import PlanWatch
from agentdash.sessions.runner.limits.spending import Spending
from agentdash.sessions.runner.limits.stuck import Look, StuckWatch
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.turn_output import TurnOutput


class Watchdog:
    """Measures one turn, and compares it with its limits.

    Args:
        limits: the limits with which the turn was started.
        output: its stdout and its stderr on disk.
        age_s: the turn's age in seconds without what it waited for answers, if another runner started it.
    """

    def __init__(self, limits: Limits, output: TurnOutput, age_s: float = 0.0) -> None:
        self.limits = limits
        self._output = output
        self._size = 0
        self.grown_at = time.monotonic()
        """Time at which growth of the output was last noticed, on the monotonic clock."""
        self._began = time.monotonic() - max(0.0, age_s)
        self._waits_since: float | None = None
        """Time since which the turn waits for an answer, on the monotonic clock."""

    @property
    def counts(self) -> bool:
        """True if tokens or money are limited: only then is the session's use followed."""
        return self.limits.tokens is not None or self.limits.cost_usd is not None

    def note(self, *, waits: bool) -> None:
        """Follow whether the turn waits for an answer of the user: that time is not the agent's, and does not count."""
        now = time.monotonic()
        if self._waits_since is not None:
            self._began += now - self._waits_since
        self._waits_since = now if waits else None

    def check(self, follower: Follower, spent: Spent) -> tuple[dict[str, str], float | None]:
        """Return the limits crossed, and the seconds until time alone crosses the next one; None if there is none."""
        now = time.monotonic()
        size = self._printed()
        if size != self._size:
            # Both streams count, but writes to stderr do not wake the runner, so its size is checked when needed.
            self._size, self.grown_at = size, now
        grown_at = max(self.grown_at, follower.grown_at)
        measured = Measured(
            wall_s=(self._waits_since or now) - self._began,
            silence_s=None if follower.facts.waiting is not None else now - grown_at,
            output_bytes=size,
            tokens=spent.tokens,
            cost_usd=spent.cost_usd,
            estimated=spent.estimated,
        )
        return crossed(self.limits, measured), seconds_left(self.limits, measured)

    def floods(self) -> bool:
        """Return whether too much was printed; called between two checks, because a disk fills up in seconds."""
        return self.limits.output_mb is not None and self._printed() > self.limits.output_mb * 10**6

    def overspent(self, spent: Spent) -> bool:
        """Return whether too much was used; called after each output, so that one model call is enough."""
        return bool(used_up(self.limits, spent.tokens, spent.cost_usd))

    def _printed(self) -> int:
        """Size of the turn's stdout and stderr on disk in bytes, read or not."""
        size = 0
        for part in (self._output.stdout, self._output.stderr):
            with contextlib.suppress(OSError):
                size += part.size
        return size


class TurnWatch:
    """Feeds the output of one turn to all that measures it, and compares what they measured with the limits.

    Args:
        launch: its start, with the limits.
        used: returns the CPU time of the session's processes.
        began: the start of the turn (UTC ms).
        adopted_after_s: the age of a turn that another runner began, in seconds, without what it waited for answers.
    """

    def __init__(
        self,
        store: Store,
        session_id: str,
        turn: int,
        agent: Agent,
        launch: Launch,
        output: TurnOutput,
        used: Look,
        began: int,
        *,
        adopted_after_s: float | None = None,
    ) -> None:
        self.over: dict[str, str] = {}
        """The crossed limits in words, by their names."""
        self.ever_over: dict[str, str] = {}
        """Those that only warn, or were found at the end: crossed at any time of the turn."""
        self.spending: Spending | None = None
        """The session's use of tokens and money; None unless one of them is limited or estimated."""
        self._store = store
        self._session = session_id
        self._watchdog = Watchdog(launch.limits, output, adopted_after_s or 0.0)
        self._stuck_watch: StuckWatch | None = None
        # A command may be a server, which rightly waits in silence.
        recorded = self._recorded_stuck() if adopted_after_s is not None else None
        if agent.prompted:
            self._stuck_watch = StuckWatch(launch.attention, used, recorded, agent.polling_tools)
        env = dict(os.environ) | dict(launch.env)
        self.plans = PlanWatch(store, agent, env, began)
        """The user's plan with the agent."""
        self.family = FamilyBudget(store, session_id, turn, launch.family)
        """The budgets of the session and the leads above it."""
        counted = self._watchdog.counts or self.family.watched
        use = agent.use
        follows = use.meter if use is not None and (counted or launch.transport) else None
        meter = follows(self.family.limited(launch), env, began) if follows is not None else None
        at_end = use.final_meter if use is not None and meter is None else None
        final = at_end(launch, env, began) if at_end is not None else None
        seeker = meter or final
        if seeker is not None and seeker.seeks and adopted_after_s is None:
            seeker.earlier = self._transcript_end(agent, launch, env, began)
        if counted or meter is not None or final is not None:
            self.spending = Spending(lambda: store.turns(session_id), turn, meter or final, at_end=meter is None)

    def _transcript_end(self, agent: Agent, launch: Launch, env: Mapping[str, str], began: int) -> TranscriptEnd | None:
        """Return the end of the transcript that the turn goes on with; None if it cannot be known.

        A turn that begins a transcript gets that of the turn before it, which shows that all of the new one is its own.
        """
        with contextlib.suppress(StoreError, OSError):
            session = self._store.session(self._session)
            if session is None:
                return None
            # Behind a mark, the conversation of the turn before may be another one.
            resumed = launch.conversation if launch.how == "native" else None
            conversation = resumed or session.agent_session
            if conversation is None:
                return None
            path = agent.transcript(conversation, env, session.created_at or began)
            return TranscriptEnd(path, path.stat().st_size) if path is not None else None
        return None

    def _recorded_stuck(self) -> tuple[str, int] | None:
        """The evidence and start (UTC ms) that an earlier runner recorded; None without a record, or access to it."""
        with contextlib.suppress(StoreError):
            session = self._store.session(self._session)
            if session is not None and session.stuck is not None and session.stuck_at is not None:
                return session.stuck, session.stuck_at
        return None

    def feed_line(self, line: bytes) -> None:
        """Take a line of the output."""
        self.plans.feed(line)
        if self.spending is not None:
            self.spending.feed(line)

    def feed_step(self, step: Step) -> None:
        """Take a step of the turn."""
        if self._stuck_watch is not None:
            self._stuck_watch.feed(step)

    def update(self, facts: Facts) -> bool:
        """Read on in what measures the use; return whether there is more to read at once."""
        self._watchdog.note(waits=facts.waiting is not None)
        return self.spending is not None and self.spending.update(facts)

    def check_limits(self, follower: Follower) -> tuple[str | None, float | None]:
        """Return the crossed limits for which to stop the turn, in words, and the seconds until the next check."""
        self.over, due = self._watchdog.check(follower, self._spent(follower.facts))
        if (over := self.family.check()) is not None:
            return over, due
        if self.over and self._watchdog.limits.stops:
            return ", ".join(self.over.values()), due
        self.ever_over |= self.over
        return None, due

    def note_share(self, share: Share | None, facts: Facts) -> None:
        """Take the turn's share of the budgets, as the record of these facts left it."""
        self.family.note(share, self._spent(facts))

    def outgrown(self, facts: Facts) -> bool:
        """Return whether the turn used up its share, so that it must reserve more before the agent's next report."""
        return self.family.outgrown(self._spent(facts))

    def check_idleness(self, follower: Follower) -> float | None:
        """Check whether the turn is idle; return the seconds until the next check, None if none is due."""
        if self._stuck_watch is None:
            return None
        return self._stuck_watch.check(follower.facts, time.monotonic(), self._printed_at(follower))

    def stuck(self, follower: Follower) -> Stuck | None:
        """Return how the turn is stuck; None if it is not."""
        return self._stuck_watch.episode(follower.facts, self._printed_at(follower)) if self._stuck_watch else None

    def _printed_at(self, follower: Follower) -> float:
        """Time of the agent's last output, stderr included, on the monotonic clock."""
        return max(follower.grown_at, self._watchdog.grown_at)

    def exceeds(self, facts: Facts) -> bool:
        """Return whether the turn printed or used more than it may, and the runner has not acted on it."""
        if self.family.over is not None and facts.end is None:
            return True
        if self.over:
            return False
        spends = self._watchdog.counts and self.spending is not None and facts.end is None
        return self._watchdog.floods() or (spends and self._watchdog.overspent(self._spent(facts)))

    @property
    def blind(self) -> str | None:
        """The reason why the use is not measured; None if it is."""
        return self.spending.trouble if self.spending is not None else None

    def _spent(self, facts: Facts) -> Spent:
        return self.spending.now(facts) if self.spending is not None else Spent()

    def finish(self, facts: Facts) -> None:
        """Measure the use at the end of the turn."""
        if self.spending is not None:
            self.spending.finish(facts)

    @property
    def looks_back(self) -> bool:
        """True if :meth:`look_back` can find a crossed limit."""
        return (self._watchdog.counts or self.family.watched) and self.spending is not None

    def look_back(self, follower: Follower) -> None:
        """Find the limits that the recorded use has crossed: it is often known only at the end."""
        if self.spending is None:
            return
        over, _ = self._watchdog.check(follower, self.spending.recorded())
        self.ever_over |= over
        if (family := self.family.check()) is not None:
            self.ever_over["budget"] = family
        if self.family.warning is not None:
            self.ever_over["period"] = self.family.warning
