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

from ..agents.base import Agent
from ..clock import now_ms
from ..costs.pricing import Pricing
from ..costs.reports import Reported
from ..costs.session_usage import Spent
from ..errors import AgentdashError, StoreError
from ..launch import Launch
from ..model import Left, Receipt, Status, Step
from ..rules.activity import ActivityWatch
from ..rules.attention import Stuck
from ..rules.compaction import judged
from ..rules.prompts.delivery import Fate, PromptState, TurnEvidence, fate
from ..rules.prompts.questions import question
from ..rules.status import EndFacts, at_the_end, while_running
from ..rules.turn_facts import Facts
from ..storage.files.file_part import FilePart
from ..storage.files.session_record import write_identity
from ..storage.paths import Layout
from ..storage.store import Store
from ..storage.turns.turn_log import Outcome, TurnLog
from ..storage.turns.turn_output import TurnOutput, own_output
from ..values.compaction import Compaction
from .child import AgentChild
from .disk import DiskWatch, Reserve
from .follow import Follower
from .limits.family_budget import FamilyBudget
from .limits.idleness import Look
from .limits.plan_watch import PlanWatch
from .limits.spending import Spending
from .limits.stuck import StuckWatch
from .limits.watchdog import Watchdog
from .queue.next_turn import builder
from .queue.prompt_evidence import with_transcript

COMMIT_SECONDS = 1.0
DISK_SECONDS = 600.0
"""Maximum duration of the retries to record a turn's outcome while the disk is full."""

_NOT_STARTED = "the agent could not be started"

STDERR_BYTES = 8192
"""Bytes at the end of stderr that are searched for the reason of a failure."""


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
        self._began = time.monotonic()
        self._watchdog: Watchdog | None = None
        self._stuck_watch: StuckWatch | None = None
        self._activity = ActivityWatch()
        self._spending: Spending | None = None
        self._family: FamilyBudget | None = None
        self._plans: PlanWatch | None = None
        self._over: dict[str, str] = {}
        self._ever_over: dict[str, str] = {}
        self._output = output or own_output(self._folder, turn)
        self._disk = DiskWatch(self._output.stdout.path, self._output.stdout.begin)
        self._reserve = Reserve(self._folder.reserve)
        self._hears: Callable[[bytes, int], None] | None = None
        self._unanswered: Callable[[], int | None] = int
        self._not_recorded: tuple[int, int] | None = None
        self._compacts: Compaction | None = None

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
        if self._follower is not None:
            self._follower.end = self._follower.position

    @property
    def position(self) -> int:
        """The offset behind the last line that was read."""
        return self._follower.position if self._follower is not None else self._output.stdout.begin

    def keep_room(self) -> None:
        """Reserve disk space for recording the end; call this before the agent can fill the disk."""
        self._reserve.take()

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
        self._watchdog = Watchdog(launch.limits, self._output, adopted_after_s or 0.0)
        output, turn = self._output, self._turn
        # A command may be a server, which rightly waits in silence.
        recorded = self._recorded_stuck() if adopted_after_s is not None else None
        if agent.prompted:
            self._stuck_watch = StuckWatch(launch.attention, used, recorded, agent.polling_tools)
        env = dict(os.environ) | dict(launch.env)
        self._plans = PlanWatch(self._store, agent, env, began)
        self._family = FamilyBudget(self._store, self._session, turn, launch.family)
        counted = self._watchdog.counts or self._family.watched
        meter = agent.meter(self._family.limited(launch), env, began) if counted or launch.transport else None
        final = agent.final_meter(launch, env, began) if meter is None else None
        if counted or meter is not None or final is not None:
            self._spending = Spending(
                lambda: self._store.turns(self._session), turn, meter or final, at_end=meter is None
            )
        parser = agent.parser(turn, launch.transport)
        parser.facts.reported = Reported(Pricing(launch.prices), self._known_model())
        with contextlib.suppress(StoreError):
            parser.facts.thread_before = self._store.thread_total_before(self._session, turn)
        if meter is not None:
            meter.thread_before = parser.facts.thread_before
        self._follower = Follower(
            output.stdout.path,
            output.times,
            parser,
            self._step,
            self._line,
            output.stdout.begin,
        )
        if adopted_after_s is not None:
            self._follower.take_over()
        self.guarded(lambda: write_identity(self._store, self._folder))

    def follow(self) -> bool:
        """Read new output and commit its facts; return whether there is more to read at once."""
        if self._follower is None:
            return False
        more = self._follower.catch_up()
        if self._watchdog is not None:
            self._watchdog.note(waits=self.facts.waiting is not None)
        if self._spending is not None:
            more = self._spending.update(self.facts) or more
        self._disk.check()
        self._commit(self._follower)
        return more

    def over_limit(self) -> tuple[str | None, float | None]:
        """Return the crossed limits for which to stop the turn, in words, and the seconds until the next check.

        A crossed limit that only warns is shown beside the status instead.
        """
        if self._watchdog is None or self._follower is None or self.facts.end is not None:
            return None, None
        self._over, due = self._watchdog.check(self._follower, self._spent())
        if self._family is not None and (over := self._family.check()) is not None:
            return over, due
        if self._over and self._watchdog.limits.stops:
            return ", ".join(self._over.values()), due
        self._ever_over |= self._over
        self._commit(self._follower)
        return None, due

    def mind_idleness(self) -> float | None:
        """Check whether the turn is idle; return the seconds until the next check, None if none is due."""
        if self._stuck_watch is None or self._follower is None:
            return None
        due = self._stuck_watch.check(self.facts, time.monotonic(), self._printed_at(self._follower))
        self._commit(self._follower)
        return due

    def _line(self, line: bytes) -> None:
        if self._plans is not None:
            self._plans.feed(line)
        if self._spending is not None:
            self._spending.feed(line)
        if self._hears is not None and self._follower is not None:
            self._hears(line, self._follower.position)

    def _step(self, step: Step) -> None:
        self._activity.feed(step, now_ms())
        if self._stuck_watch is not None:
            self._stuck_watch.feed(step)

    def _recorded_stuck(self) -> tuple[str, int] | None:
        """The evidence and start (UTC ms) that an earlier runner recorded; None without a record, or access to it."""
        with contextlib.suppress(StoreError):
            session = self._store.session(self._session)
            if session is not None and session.stuck is not None and session.stuck_at is not None:
                return session.stuck, session.stuck_at
        return None

    def _known_model(self) -> str | None:
        with contextlib.suppress(StoreError):
            session = self._store.session(self._session)
            return session.model if session is not None else None
        return None

    def _printed_at(self, follower: Follower) -> float:
        """Time of the agent's last output, stderr included, on the monotonic clock."""
        return max(follower.grown_at, self._watchdog.grown_at if self._watchdog is not None else 0.0)

    def _stuck(self, follower: Follower) -> Stuck | None:
        return self._stuck_watch.episode(follower.facts, self._printed_at(follower)) if self._stuck_watch else None

    @property
    def exceeds(self) -> bool:
        """True if the turn printed or used more than it may, and the runner has not acted on it."""
        if self._family is not None and self._family.over is not None and self.facts.end is None:
            return True
        if self._watchdog is None or self._over:
            return False
        spends = self._watchdog.counts and self._spending is not None and self.facts.end is None
        return self._watchdog.floods() or (spends and self._watchdog.overspent(self._spent()))

    def budgets_changed(self) -> None:
        """Read the budgets of the session and its leads again."""
        if self._family is not None:
            self._family.read()

    @property
    def spending(self) -> Spending | None:
        """The session's use of tokens and money; None unless one of them is limited or estimated."""
        return self._spending

    def _spent(self) -> Spent:
        return self._spending.now(self.facts) if self._spending is not None else Spent()

    def _blind(self) -> str | None:
        return self._spending.trouble if self._spending is not None else None

    def _commit(self, follower: Follower) -> None:
        key = self._key(follower)
        if key == self._committed:
            return
        if self._not_recorded is not None:
            missing, self._not_recorded = self._not_recorded, None
            self.started(*missing)
        now = time.monotonic()
        urgent = key[0] != (self._committed[0] if self._committed else None)
        if not urgent and now - self._committed_at < COMMIT_SECONDS:
            return
        ask = self._ask(follower)
        status, reason = while_running(follower.facts, tuple(self._over.values()), self._blind(), answered=ask is None)
        reason = "; ".join(filter(None, (self._disk.trouble, reason))) or None
        stuck, steps, event_at = self._stuck(follower), follower.steps, follower.last_event_at
        doing = self._activity
        if self.guarded(
            lambda: self._log.progress(
                follower.facts,
                status,
                reason,
                steps,
                event_at,
                stuck,
                doing.activity,
                doing.plan,
                seen=self._hears is None,
            )
        ):
            self._committed, self._committed_at = key, now
            if self._family is not None:
                self._family.check()
            self.guarded(lambda: self._tell(status, reason, ask or 0))

    def conclude(
        self,
        child: AgentChild,
        *,
        stopped_by: str | None,
        lingered: bool,
        left: tuple[Left, ...],
        receipt: Callable[[Status], Receipt] | None = None,
        prompt: PromptState | None = None,
        adopted: bool = False,
        goes_on: bool = False,
        unusable: str | None = None,
    ) -> Status:
        """Record the turn's end; retried while the disk is full, because it is recorded nowhere else.

        Args:
            child: the agent.
            stopped_by: the requester of the stop, if one ended the turn.
            lingered: the process was ended after its proper end.
            left: the processes that outlive the turn.
            receipt: makes the receipt of the stop or the sweep that ended the turn, if there was one.
            adopted: another runner began the turn.
            prompt: the recorded way of a live agent's prompt.
            goes_on: the live agent's process outlives the turn.
            unusable: the reason why the live agent was ended before it took the prompt.
        """
        facts, steps, end = self.facts, 0, self.position
        if self._follower is not None:
            self._follower.finish()
            steps = self._follower.steps
            if self._spending is not None:
                self._spending.finish(facts)
            self._look_back(self._follower, stopped=stopped_by is not None)
        stderr = _tail(self._output.stderr)
        for what in self._agent.refusals(stderr) if self._agent is not None else ():
            facts.deny(what)
        # For the adapter a signal is an exit code other than 0; None: no process could wait for the agent.
        code = child.exit_code if child.signal is None else -1
        succeeded = self._agent is not None and self._agent.succeeded(facts, code)
        verdict = at_the_end(
            EndFacts(
                facts=facts,
                succeeded=succeeded,
                exit_code=child.exit_code,
                signal=child.signal,
                stopped_by=stopped_by,
                stderr_reason=self._agent.stderr_reason(stderr) if self._agent is not None else None,
                stdout_reason=self._agent.stderr_reason("\n".join(facts.stray)) if self._agent is not None else None,
                runner_killed=adopted,
                lingered=lingered,
                crossed=tuple(self._ever_over.values()),
                blind=self._blind(),
                ended=receipt(Status.STOPPED).summary() if receipt and not goes_on else None,
                unusable=unusable,
                no_room=self._disk.at_the_end(stderr, proven=succeeded and facts.end is not None),
            )
        )
        verdict, compaction = judged(verdict, self._compacts, facts)
        if self._plans is not None and not goes_on:
            self._plans.finish(facts.agent_session)
        limited = self._plans.limited if self._plans is not None else None
        if limited is not None and verdict.status is Status.FAILED:
            verdict = structs.replace(verdict, reason="; ".join(filter(None, (verdict.reason, limited))))
        outcome = Outcome(
            status=verdict.status,
            reason=verdict.reason,
            rule=verdict.rule,
            stop_by=stopped_by,
            exit_code=child.exit_code,
            signal=child.signal,
            duration_ms=None if adopted else round((time.monotonic() - self._began) * 1000),
            rusage=child.rusage,
            receipt=receipt(verdict.status) if receipt else None,
            left=left,
            asks=self._question(verdict.status, facts.last_message),
            prompt=self._fate(facts, steps, prompt, crashed=stopped_by is None and child.exit_code is None),
            end_byte=end if goes_on else None,
            warm=goes_on,
            compaction=compaction,
        )
        self._write_end(facts, outcome, steps)
        return verdict.status

    def _fate(self, facts: Facts, steps: int, way: PromptState | None, *, crashed: bool) -> Fate:
        """Return the fate of the turn's prompt; ``crashed`` if the agent ended by a signal that is not ours.

        ``way`` is how far it came to a live agent, which prints also before it has the prompt.
        """
        proper = facts.end is not None
        printed = steps > 0 or (self._agent is not None and not self._agent.prompted)
        started = way is not PromptState.QUEUED
        if way is not None:
            printed = way is PromptState.SEEN
        evidence = TurnEvidence(started=started, printed=printed, proper_end=proper and started, crashed=crashed)
        with contextlib.suppress(StoreError):
            evidence = with_transcript(evidence, self._store, self._session, self._turn, facts.agent_session)
        return fate(evidence)

    def _question(self, status: Status, message: str | None) -> str | None:
        """Return what the last message of a turn that is done asks the user; the output of a command asks nothing."""
        if status is not Status.DONE or message is None or self._agent is None or not self._agent.prompted:
            return None
        return question(message)

    def _look_back(self, follower: Follower, *, stopped: bool) -> None:
        """Usage is often known only at the end, so report a limit that was crossed by then."""
        watched = self._family is not None and self._family.watched
        if self._watchdog is None or not (self._watchdog.counts or watched) or self._spending is None or stopped:
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
        over, _ = self._watchdog.check(follower, self._spending.recorded())
        self._ever_over |= over
        if self._family is not None and (family := self._family.check()) is not None:
            self._ever_over["budget"] = family
        if self._family is not None and self._family.warning is not None:
            self._ever_over["period"] = self._family.warning

    def fail_to_start(self, agent: Agent, reason: str) -> None:
        """Record a failed turn: the agent could not be started."""
        if reason.endswith("command not found") and agent.install_hint:
            reason = f"{reason}. {agent.install_hint}"
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
            self._reserve.give_back()
            self.retried(end)
        self._reserve.give_back()
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
        remarks = (*self._over.values(), self._blind(), self._disk.trouble)
        waits = (facts.waiting, self._ask(follower))
        urgent = (facts.agent_session, facts.end, waits, facts.error, facts.notice, remarks, kept_by)
        return (urgent, follower.steps, follower.last_event_at, facts.usage.total_tokens)

    def _ask(self, follower: Follower) -> int | None:
        """Return the number of the ask that waits for the user; 0 if no ask waits.

        None if the agent waits only until it has an answer.
        """
        return self._unanswered() if follower.facts.waiting is not None else 0


def _tail(part: FilePart) -> str:
    try:
        return part.last(STDERR_BYTES)[0].decode("utf-8", "replace")
    except OSError:
        return ""
