"""The runner's record of its turn.

Facts that a user may be waiting for (conversation id, question, error, end) are committed at once; counters, usage
and the last message at most once a second.
"""

import contextlib
import os
import sys
import time
from collections.abc import Callable

from msgspec import structs

from agentdash.sessions.agents.base import Agent
from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.compaction import Compaction
from agentdash.sessions.model.errors import AgentdashError, StoreError
from agentdash.sessions.model.session import Status, Step
from agentdash.sessions.rules.activity import ActivityWatch
from agentdash.sessions.rules.attention import Stuck
from agentdash.sessions.rules.compaction import judged
from agentdash.sessions.rules.costs.pricing import Pricing
from agentdash.sessions.rules.costs.reports import Reported
from agentdash.sessions.rules.launch import Launch, model_at_start
from agentdash.sessions.rules.limits.period_budgets import Share
from agentdash.sessions.rules.prompts.delivery import Fate, TurnEvidence, fate
from agentdash.sessions.rules.status import at_the_end, while_running
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.runner.clock_steps import ClockSteps
from agentdash.sessions.runner.disk import DiskWatch, give_back
from agentdash.sessions.runner.follow import Follower
from agentdash.sessions.runner.limits.spending import Spending
from agentdash.sessions.runner.limits.stuck import Look
from agentdash.sessions.runner.limits.turn_watch import TurnWatch
from agentdash.sessions.runner.own_conversation import OwnConversation
from agentdash.sessions.runner.processes.processes import uptime
from agentdash.sessions.runner.queue.next_turn import builder
from agentdash.sessions.runner.queue.prompt_evidence import with_transcript
from agentdash.sessions.runner.spawn import StartError
from agentdash.sessions.runner.turn_end import Ending, asked_at_the_end, end_facts, end_of, evidence_of
from agentdash.sessions.storage.files.session_record import write_identity
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.claim import Outcome, move_times
from agentdash.sessions.storage.turns.turn_log import TurnLog
from agentdash.sessions.storage.turns.turn_output import TurnOutput, own_output

COMMIT_SECONDS = 1.0
DISK_SECONDS = 600.0
"""Maximum duration of the retries to record a turn's outcome while the disk is full."""

_NOT_STARTED = "the agent could not be started"


class Recorder:
    """One turn's record: facts from the stream, rows in the store, the readable copy on disk."""

    def __init__(
        self,
        layout: Layout,
        session_id: str,
        turn: int,
        store: Store,
        log: TurnLog,
        tell: Callable[[Status, str | None, int], object] = lambda *_: None,
        output: TurnOutput | None = None,
    ) -> None:
        """``output`` is the part of a stream's files that the turn has; None: files of its own."""
        self._layout = layout
        self._folder = layout.session(session_id)
        self._session = session_id
        self._turn = turn
        self._store = store
        self._log = log
        self._tell = tell
        self._agent: Agent | None = None
        self._follower: Follower | None = None
        self._committed: tuple[object, ...] = ()
        self._committed_at = 0.0
        self._began = uptime()
        self._clock = ClockSteps()
        self._watch: TurnWatch | None = None
        self._activity = ActivityWatch()
        self._output = output or own_output(self._folder, turn)
        self._disk = DiskWatch(self._output.stdout.path, self._output.stdout.begin)
        self._hears: Callable[[bytes, int], None] | None = None
        self._reads_on = False
        """The output behind the end of the turn is read too."""
        self._unanswered: Callable[[], int | None] = int
        self._not_recorded: tuple[int, int] | None = None
        self._compacts: Compaction | None = None
        self._clears = False
        self._conversation: OwnConversation | None = None
        self._began_at = 0
        self._env: dict[str, str] = {}

    @property
    def facts(self) -> Facts:
        """The facts of the stream so far."""
        return self._follower.facts if self._follower is not None else Facts()

    def count_denial(self, what: str) -> None:
        """Count a tool or program that a rule or the time limit denied."""
        self.facts.deny(what)

    @property
    def unsaved(self) -> bool:
        """True if something was read that is not committed yet."""
        return self._follower is not None and self._key(self._follower) != self._committed

    def hear(
        self, hears: Callable[[bytes, int], None], output: TurnOutput, unanswered: Callable[[], int | None]
    ) -> None:
        """Follow a part of a live agent's output; ``hears`` gets each line, and the offset behind it.

        The prompt's way is recorded elsewhere.  ``unanswered`` returns the number of the ask that waits for the user;
        None if the agent waits only until it has an answer.
        """
        self._hears, self._unanswered = hears, unanswered
        self._output = output
        self._disk = DiskWatch(output.stdout.path, output.stdout.begin)

    def end_here(self) -> None:
        """End the turn behind the line that is being read."""
        if self._follower is not None and not self._reads_on:
            self._follower.end = self._follower.position

    @property
    def position(self) -> int:
        """The offset behind the last line that was read."""
        return self._follower.position if self._follower is not None else self._output.stdout.begin

    def started(self, agent_pid: int, agent_start: int) -> None:
        """Record the agent's identity; on a full disk with the next commit, so that following starts at once."""
        if not self.guarded(lambda: self._log.running(agent_pid, agent_start, sent=self._hears is None)):
            self._not_recorded = (agent_pid, agent_start)

    def begin(
        self, agent: Agent, launch: Launch, used: Look, began: int, *, adopted_after_s: float | None = None
    ) -> None:
        """Start following the turn file; earlier output of an adopted agent has no arrival times.

        ``used`` returns the CPU time of the session's processes; ``began`` is the start of the turn (UTC ms).
        ``adopted_after_s`` is the age of an adopted turn in seconds, without what it waited for answers.
        """
        self._agent = agent
        self._compacts = launch.compacts
        self._clears = agent.begins_conversation(launch.stdin or "")
        self._conversation = OwnConversation(self._store, agent, self._session, self._turn, launch)
        self._env, self._began_at = dict(os.environ) | dict(launch.env), began
        self._watch = TurnWatch(
            self._store, self._session, self._turn, agent, launch, self._output, used, began,
            adopted_after_s=adopted_after_s,
        )  # fmt: skip
        parser, output = agent.parser(self._turn, launch.transport), self._output
        # The session of an adopted turn may already have the model of the next turn.
        model = model_at_start(launch) if adopted_after_s is not None else None
        with contextlib.suppress(StoreError):
            parser.facts.thread_before = self._store.thread_total_before(self._session, self._turn)
        with contextlib.suppress(StoreError):
            session = self._store.session(self._session)
            model = model or (session.model if session is not None else None)
        parser.facts.reported = Reported(Pricing(launch.prices), model)
        if launch.compacts is not None:
            parser.facts.context_before = launch.compacts.tokens_before
        if output.stream == self._turn:
            parser.facts.total_before = agent.total_before(launch, self._env, began)
        path, begin, shared = output.stdout.path, output.stdout.begin, self._hears is not None
        self._follower = Follower(path, output.times, parser, self._step, self._line, begin, shared=shared)
        if adopted_after_s is not None:
            self._follower.take_over()
        self.guarded(lambda: write_identity(self._store, self._folder))

    def follow(self) -> bool:
        """Read new output and commit its facts; return whether there is more to read at once."""
        if self._follower is None:
            return False
        self._follow_clock(self._follower)
        more = self._follower.catch_up()
        self._check_conversation()
        if self._watch is not None:
            more = self._watch.update(self.facts) or more
        self._disk.check()
        self._commit(self._follower)
        return more

    def _follow_clock(self, follower: Follower) -> None:
        """Move the times of the turn with the wall clock if that has made a step."""
        step = self._clock.step_ms()
        if step:
            follower.move_times(step)
            self.guarded(lambda: move_times(self._store.database, self._session, self._turn, step))

    def _check_conversation(self) -> None:
        """Drop a conversation that is not the turn's."""
        conversation, facts = self._conversation, self.facts
        if conversation is not None:
            self.guarded(lambda: conversation.check(facts))

    def over_limit(self) -> tuple[str | None, float | None]:
        """Return the crossed limits for which to stop the turn, in words, and the seconds until the next check.

        A crossed limit that only warns is shown beside the status instead.
        """
        if self._watch is None or self._follower is None or self.facts.end is not None:
            return None, None
        over, due = self._watch.check_limits(self._follower)
        if over is None:
            self._commit(self._follower)
        return over, due

    def mind_idleness(self) -> float | None:
        """Check whether the turn is idle; return the seconds until the next check, None if none is due."""
        if self._watch is None or self._follower is None:
            return None
        due = self._watch.check_idleness(self._follower)
        self._commit(self._follower)
        return due

    def _line(self, line: bytes) -> None:
        if self._watch is not None:
            self._watch.feed_line(line)
        if self._hears is not None and self._follower is not None:
            self._hears(line, self._follower.position)

    def _step(self, step: Step) -> None:
        self._activity.feed(step, now_ms())
        if self._watch is not None:
            self._watch.feed_step(step)

    def _stuck(self, follower: Follower) -> Stuck | None:
        return self._watch.stuck(follower) if self._watch is not None else None

    @property
    def exceeds(self) -> bool:
        """True if the turn printed or used more than it may, and the runner has not acted on it."""
        return self._watch is not None and self._watch.exceeds(self.facts)

    def budgets_changed(self) -> None:
        """Read the budgets of the session and its leads again."""
        if self._watch is not None:
            self._watch.family.read()

    @property
    def spending(self) -> Spending | None:
        """The session's use of tokens and money; None unless one of them is limited or estimated."""
        return self._watch.spending if self._watch is not None else None

    @property
    def _over(self) -> tuple[str, ...]:
        return tuple(self._watch.over.values()) if self._watch is not None else ()

    @property
    def _blind(self) -> str | None:
        return self._watch.blind if self._watch is not None else None

    def _commit(self, follower: Follower) -> None:
        key = self._key(follower)
        if key == self._committed:
            return
        if self._not_recorded is not None:
            missing, self._not_recorded = self._not_recorded, None
            self.started(*missing)
        now = time.monotonic()
        # A turn that used up its share of a budget reserves more before the agent's next report.
        outgrown = self._watch is not None and self._watch.outgrown(follower.facts)
        urgent = key[0] != (self._committed[0] if self._committed else None) or outgrown
        if not urgent and now - self._committed_at < COMMIT_SECONDS:
            return
        ask = self._ask(follower)
        status, reason = while_running(follower.facts, self._over, self._blind, answered=ask is None)
        reason = "; ".join(filter(None, (self._disk.trouble, reason))) or None
        stuck, steps, event_at = self._stuck(follower), follower.steps, follower.last_event_at
        doing = self._activity
        shares: list[Share | None] = []

        def progress() -> None:
            seen = self._hears is None
            shares.append(
                self._log.progress(
                    follower.facts, status, reason, steps, event_at, stuck, doing.activity, doing.plan, seen=seen
                )
            )

        if self.guarded(progress):
            self._committed, self._committed_at = key, now
            if self._watch is not None:
                self._watch.note_share(shares[0], follower.facts)
                self._watch.family.check()
            self.guarded(lambda: self._tell(status, reason, ask or 0))

    def conclude(self, ending: Ending) -> Status:
        """Record the turn's end; retried while the disk is full, because it is recorded nowhere else."""
        facts, steps, end = self.facts, 0, self.position
        if self._follower is not None:
            self._follow_clock(self._follower)
            self._finish(self._follower, goes_on=ending.goes_on)
            self._check_conversation()
            steps = self._follower.steps
            if self._watch is not None:
                self._watch.finish(facts)
            if self._agent is not None:
                self._agent.count_broken_off(facts, self._env, self._began_at)
            self._look_back(self._follower, stopped=ending.stopped_by is not None)
        stderr = end_of(self._output.stderr)
        complaints = self._agent.complaints if self._agent is not None else None
        for what in complaints.refusals(stderr) if complaints is not None else ():
            facts.deny(what)
        concluded = end_facts(ending, self._agent, facts, stderr)
        verdict = at_the_end(
            structs.replace(
                concluded,
                crossed=tuple(self._watch.ever_over.values()) if self._watch is not None else (),
                blind=self._blind,
                no_room=self._disk.at_the_end(stderr, proven=concluded.succeeded and facts.end is not None),
            )
        )
        verdict, compaction = judged(verdict, self._compacts, facts)
        if self._watch is not None and not ending.goes_on:
            self._watch.plans.finish(facts.agent_session)
        limited = self._watch.plans.limited if self._watch is not None else None
        if limited is not None and verdict.status is Status.FAILED:
            verdict = structs.replace(verdict, reason="; ".join(filter(None, (verdict.reason, limited))))
        outcome = Outcome(
            status=verdict.status,
            reason=verdict.reason,
            rule=verdict.rule,
            stop_by=ending.stopped_by,
            exit_code=ending.child.exit_code,
            signal=ending.child.signal,
            duration_ms=None if ending.adopted else round((uptime() - self._began) * 1000),
            rusage=ending.child.rusage,
            receipt=ending.receipt(verdict.status) if ending.receipt else None,
            left=ending.left,
            asks=asked_at_the_end(verdict.status, self._agent, facts.last_message),
            prompt=self._fate(ending, facts, steps),
            end_byte=end if ending.goes_on else None,
            warm=ending.goes_on,
            compaction=compaction,
            clears=self._clears,
        )
        self._write_end(facts, outcome, steps)
        return verdict.status

    def _finish(self, follower: Follower, *, goes_on: bool) -> None:
        """Read the rest of the output.

        If the agent is gone, no later turn reads what it printed behind the end of this one: it is counted here.  It
        may begin another turn, which changes nothing about the end of this one.
        """
        facts = self.facts
        if not goes_on:
            follower.read_all()
        if goes_on or follower.end is None:
            follower.finish()
            return
        ended = facts.end, facts.error, facts.last_message
        follower.end, self._reads_on = None, True
        follower.finish()
        facts.end, facts.error, facts.last_message = ended

    def _fate(self, ending: Ending, facts: Facts, steps: int) -> Fate:
        evidence = evidence_of(ending, self._agent, facts, steps)
        with contextlib.suppress(StoreError):
            evidence = with_transcript(evidence, self._store, self._session, self._turn, facts.agent_session)
        return fate(evidence)

    def _look_back(self, follower: Follower, *, stopped: bool) -> None:
        """Usage is often known only at the end, so report a limit that was crossed by then."""
        if self._watch is None or not self._watch.looks_back or stopped:
            return
        self.guarded(
            lambda: self._log.progress(
                follower.facts,
                *while_running(follower.facts),
                follower.steps,
                follower.last_event_at,
                plan=self._activity.plan,
            )
        )
        self._watch.look_back(follower)

    def fail_to_start(self, agent: Agent, error: StartError) -> None:
        """Record a failed turn: the agent could not be started."""
        hint = agent.install_hint if error.command_missing else ""
        reason = f"{error}. {hint}" if hint else str(error)
        unsent = fate(TurnEvidence(started=False, printed=False, proper_end=False, crashed=False))
        self._write_end(Facts(), Outcome(status=Status.FAILED, reason=reason, rule=_NOT_STARTED, prompt=unsent), 0)

    def guarded(self, action: Callable[[], object]) -> bool:
        """Run an action; False if it failed.  A full disk or a removed folder must not end the supervision."""
        try:
            action()
        except (OSError, AgentdashError) as error:
            self._disk.blame(error)
            with contextlib.suppress(OSError):  # the log is on the same full disk
                print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)  # noqa: T201 - runner.log
            return False
        return True

    def retried(self, action: Callable[[], object]) -> None:
        """Run an action that must not be lost: while it fails (disk full), keep the lock and retry."""
        deadline = time.monotonic() + DISK_SECONDS
        while not self.guarded(action) and time.monotonic() < deadline and self._folder.path.is_dir():
            time.sleep(1.0)

    def _write_end(self, facts: Facts, outcome: Outcome, steps: int) -> None:
        ended: list[bool] = []

        def end() -> None:
            ended.append(self._log.end(facts, outcome, steps, builder(self._layout, self._store)))

        if not self.guarded(end):
            give_back(self._folder.reserve)
            self.retried(end)
        give_back(self._folder.reserve)
        self._follower = None
        if not outcome.warm:
            with contextlib.suppress(OSError):
                self._layout.live_name(self._session, self._output.stream).unlink(missing_ok=True)
        self.guarded(lambda: write_identity(self._store, self._folder))
        if ended == [True]:
            self.guarded(lambda: self._tell(outcome.status, outcome.reason, 0))

    def _key(self, follower: Follower) -> tuple[object, ...]:
        facts = follower.facts
        stuck = self._stuck(follower)
        kept_by = stuck.key if stuck is not None else None
        remarks = (*self._over, self._blind, self._disk.trouble)
        waits = (facts.waiting, self._ask(follower))
        urgent = (facts.agent_session, facts.end, waits, facts.error, facts.notice, remarks, kept_by)
        return (urgent, follower.steps, follower.last_event_at, facts.usage.total_tokens)

    def _ask(self, follower: Follower) -> int | None:
        """Return the number of the ask that waits for the user; 0 if no ask waits.

        None if the agent waits only until it has an answer.
        """
        return self._unanswered() if follower.facts.waiting is not None else 0
