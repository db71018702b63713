"""The writes of the one process that owns a turn: claim, progress, end, receipts.

A turn is claimed, adopted and ended by compare-and-set.  Only the process that holds the session's lock writes here.
"""

import sqlite3
from collections.abc import Mapping
from typing import Any

from msgspec import structs

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.session import (
    MESSAGE_CHARACTERS,
    Activity,
    Left,
    Plan,
    Receipt,
    Status,
    StoppedBy,
    Stopping,
    Usage,
    left_text,
)
from agentdash.sessions.model.usage import known_sum
from agentdash.sessions.rules.attention import Stuck
from agentdash.sessions.rules.compaction import CompactionMark, cleared
from agentdash.sessions.rules.conversation.marks import Mark, MarkKind
from agentdash.sessions.rules.limits.period_budgets import Share, least_of
from agentdash.sessions.rules.prompts.delivery import PromptState
from agentdash.sessions.rules.status import Verdict
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.storage.families.admission import keep_worker_share
from agentdash.sessions.storage.marks import add_mark
from agentdash.sessions.storage.prompts.adjustments import defer_earlier
from agentdash.sessions.storage.prompts.new_turn import take
from agentdash.sessions.storage.prompts.queued_prompt import Build, hold_after, put_back
from agentdash.sessions.storage.rows import LIVE_ONES, USAGE_COLUMNS, dump, launch_from, load, struct_from
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.claim import Claim, Outcome, Owner
from agentdash.sessions.storage.use.period_budgets import PeriodAdmission
from agentdash.sessions.storage.use.report_log import ReportLog, TurnUse
from agentdash.sessions.storage.use.turn_accounts import TurnAccounts, name_of
from agentdash.sessions.storage.wakes import note_end


class TurnLog:
    """One turn's rows, written by the runner that owns the turn."""

    def __init__(self, store: Store, session_id: str, n: int, owner: Owner) -> None:
        self._store = store
        self._database = store.database
        self._session = session_id
        self._n = n
        self._owner = owner
        self._accounts = TurnAccounts(store.database, session_id, n)
        self._reports = ReportLog(session_id, n, self._accounts)

    def claim(self) -> Claim | None:
        """Take a queued turn; None if another runner has it or it was cancelled."""
        now = now_ms()
        with self._database.transaction() as db:
            changed = db.execute(
                "UPDATE turns SET status = 'starting', runner_pid = ?, runner_start = ?, boot_id = ?, pid_ns = ?,"
                " started_at = ?, launch = json_set(launch, '$.model_before',"
                " (SELECT model FROM sessions WHERE id = turns.session))"
                " WHERE session = ? AND n = ? AND status = 'queued'",
                (*structs.astuple(self._owner), now, self._session, self._n),
            ).rowcount
            if not changed:
                return None
            db.execute(
                "UPDATE sessions SET status = 'starting', reason = NULL, started_at = ?, last_event_at = NULL,"
                " stuck = NULL, stuck_at = NULL, denied = 0, asks = NULL, activity = NULL, plan = NULL,"
                " warm_since = NULL, updated_at = ? WHERE id = ?",
                (now, now, self._session),
            )
            withdraw_close(db, self._session, now)
            defer_earlier(db, self._session, self._n, now)
            claim = self._read_claim(db)
            if not claim.launch.transport:
                self._mark_prompt(db, PromptState.SENDING, only_from=PromptState.QUEUED)
            return claim

    def adopt(self) -> Claim | None:
        """Take a live turn whose runner is gone; the caller holds the session's lock."""
        with self._database.transaction() as db:
            changed = db.execute(
                f"UPDATE turns SET runner_pid = ?, runner_start = ?, boot_id = ?, pid_ns = ?"  # noqa: S608
                f" WHERE session = ? AND n = ? AND status IN ({LIVE_ONES})",
                (*structs.astuple(self._owner), self._session, self._n),
            ).rowcount
            return self._read_claim(db) if changed else None

    def running(self, agent_pid: int, agent_start: int, *, sent: bool = True) -> None:
        """Record the identity of the running agent, and its prompt as sent, unless it is sent later."""
        now = now_ms()
        with self._database.transaction() as db:
            changed = db.execute(
                "UPDATE turns SET status = 'running', agent_pid = ?, agent_start = ?"
                " WHERE session = ? AND n = ? AND status = 'starting' AND runner_pid = ?",
                (agent_pid, agent_start, self._session, self._n, self._owner.pid),
            ).rowcount
            if not changed:
                return
            db.execute(
                "UPDATE sessions SET status = 'running', reason = NULL, updated_at = ? WHERE id = ?",
                (now, self._session),
            )
            if sent:
                db.execute(
                    "UPDATE prompts SET state = 'sent', sent_at = ?"
                    " WHERE session = ? AND turn = ? AND state IN ('queued', 'sending')",
                    (now, self._session, self._n),
                )

    def progress(
        self,
        facts: Facts,
        status: Status,
        reason: str | None,
        steps: int,
        event_at: int | None,
        stuck: Stuck | None = None,
        activity: Activity | None = None,
        plan: Plan | None = None,
        *,
        seen: bool = True,
    ) -> Share | None:
        """Record the facts of the stream so far, what the agent does, and why the turn is stuck, if it is.

        ``seen``: a step proves that the agent has the prompt.  Returns the share of the budgets that count the
        turn, which is extended if the turn used it up; None if it has none, or has come to its end.
        """
        share: Share | None = None
        with self._database.transaction() as db:
            changed = db.execute(
                f"UPDATE turns SET status = ? WHERE session = ? AND n = ? AND status IN ({LIVE_ONES})"  # noqa: S608
                " AND runner_pid = ?",
                (status, self._session, self._n, self._owner.pid),
            ).rowcount
            if not changed:
                return None
            self.write_facts(db, facts, steps)
            if facts.end is None:
                shares = (
                    PeriodAdmission(db).keep(self._session, self._n),
                    keep_worker_share(db, self._session, self._n),
                )
                share = least_of([one for one in shares if one is not None])
            db.execute(
                "UPDATE sessions SET status = ?, reason = ?, last_event_at = COALESCE(?, last_event_at), stuck = ?,"
                " stuck_at = ?, activity = ?, plan = ?, updated_at = ? WHERE id = ?",
                (
                    status, _short(reason), event_at, _short(stuck.evidence) if stuck else None,
                    stuck.since if stuck else None, dump(activity) if activity else None,
                    dump(plan) if plan else None, now_ms(), self._session,
                ),
            )  # fmt: skip
            if steps and seen:
                db.execute(
                    "UPDATE prompts SET state = 'seen', seen_at = ?"
                    " WHERE session = ? AND turn = ? AND state IN ('sending', 'sent')",
                    (now_ms(), self._session, self._n),
                )
        _forget_written(facts)
        return share

    def end(self, facts: Facts, outcome: Outcome, steps: int, build: Build) -> bool:
        """Conclude the turn; False if another process has concluded it.

        The same transaction records the mark of a compaction or of a new conversation, and makes the next prompt of the
        queue the next turn, with the start that ``build`` makes, or holds the queue.
        """
        now, reason = now_ms(), _short(outcome.reason)
        with self._database.transaction() as db:
            changed = db.execute(
                f"UPDATE turns SET status = ?, reason = ?, rule = ?, exit_code = ?, signal = ?, duration_ms = ?,"  # noqa: S608
                f" stop_by = COALESCE(stop_by, ?), stop_requested_at = COALESCE(stop_requested_at, ?),"
                f" rusage = ?, receipt = ?, left = ?, ended_at = ?, end_byte = ? WHERE session = ? AND n = ?"
                f" AND status IN ({LIVE_ONES})",
                (
                    outcome.status, reason, outcome.rule, outcome.exit_code, outcome.signal, outcome.duration_ms,
                    outcome.stop_by, now if outcome.stop_by else None,
                    dump(outcome.rusage) if outcome.rusage else None,
                    dump(outcome.receipt) if outcome.receipt else None,
                    dump(outcome.left), now, outcome.end_byte, self._session, self._n,
                ),
            ).rowcount  # fmt: skip
            if not changed:
                return False
            self.write_facts(db, facts, steps)
            self._mark_prompt(db, outcome.prompt.state)
            db.execute(
                "UPDATE sessions SET status = ?, reason = ?, exit_code = ?, signal = ?, left = ?, left_note = ?,"
                " stopping = NULL, stuck = NULL, stuck_at = NULL, activity = NULL, asks = ?,"
                " warm_since = ?, ended_at = ?, updated_at = ? WHERE id = ?",
                (
                    outcome.status, reason, outcome.exit_code, outcome.signal, len(outcome.left),
                    left_text(outcome.left), outcome.asks, now if outcome.warm else None, now, now, self._session,
                ),
            )  # fmt: skip
            if outcome.compaction is not None:
                self._mark_compaction(db, outcome.compaction)
            if facts.local and cleared(outcome.status, facts, self._resumed(), asked=outcome.clears):
                self._mark(db, MarkKind.CLEAR)
            self._serve_queue(db, outcome, build)
            note_end(db, self._session)
        _forget_written(facts)
        return True

    def correct(self, facts: Facts, verdict: Verdict, steps: int) -> bool:
        """Record again how a failed turn ended, by an end that was not read before; False if it was not failed.

        What followed from the earlier record stays: a queue that it held is released by the user.
        """
        with self._database.transaction() as db:
            changed = db.execute(
                "UPDATE turns SET status = ?, reason = ?, rule = ? WHERE session = ? AND n = ? AND status = 'failed'",
                (verdict.status, _short(verdict.reason), verdict.rule, self._session, self._n),
            ).rowcount
            if changed:
                self.write_facts(db, facts, steps)
                db.execute(
                    "UPDATE sessions SET status = ?, reason = ?, updated_at = ? WHERE id = ?"
                    " AND ? = (SELECT MAX(n) FROM turns WHERE session = id)",
                    (verdict.status, _short(verdict.reason), now_ms(), self._session, self._n),
                )
        _forget_written(facts)
        return bool(changed)

    def _mark_compaction(self, db: sqlite3.Connection, compaction: CompactionMark) -> None:
        """Record that a summary stands for the conversation, and how many tokens it left, if that is known."""
        data = {name: value for name, value in structs.asdict(compaction).items() if name != "step" and value}
        self._mark(db, MarkKind.COMPACT, step=compaction.step, data=data)
        db.execute("UPDATE sessions SET context_tokens = ? WHERE id = ?", (compaction.tokens_after, self._session))

    def _mark(
        self, db: sqlite3.Connection, kind: MarkKind, *, step: int | None = None, data: Mapping[str, Any] | None = None
    ) -> None:
        """Record what the turn made of the conversation."""
        row = db.execute("SELECT asked_by FROM turns WHERE session = ? AND n = ?", (self._session, self._n)).fetchone()
        mark = Mark(
            id=0, session=self._session, kind=kind, after=self._n, turn=self._n, step=step, data=data or {},
            asked_by=row["asked_by"] or StoppedBy.YOU,
        )  # fmt: skip
        add_mark(db, mark)

    def _resumed(self) -> str | None:
        """Return the agent's conversation that the turn went on with; None if it began one, or forked one."""
        launch = self._store.launch(self._session, self._n)
        if launch is not None and launch.how:
            return launch.conversation if launch.fork is None else None
        return self._store.conversation_before(self._session, self._n)

    def start_again(self) -> bool:
        """Queue the turn again whose agent was certainly never started, or never got its prompt; False if it ended.

        The caller holds the session's lock and has removed the turn's files.
        """
        with self._database.transaction() as db:
            changed = db.execute(
                f"UPDATE turns SET status = 'queued', runner_pid = NULL, runner_start = NULL, agent_pid = NULL,"  # noqa: S608
                f" agent_start = NULL, started_at = NULL, launched_at = NULL, stream = NULL, begin_byte = 0,"
                f" begin_error_byte = 0 WHERE session = ? AND n = ?"
                f" AND status IN ({LIVE_ONES}) AND stop_requested_at IS NULL",
                (self._session, self._n),
            ).rowcount
            if changed:
                self._mark_prompt(db, PromptState.QUEUED)
                db.execute(
                    "UPDATE sessions SET status = 'queued', reason = NULL, started_at = NULL, updated_at = ?"
                    " WHERE id = ?",
                    (now_ms(), self._session),
                )
        return bool(changed)

    def _serve_queue(self, db: sqlite3.Connection, outcome: Outcome, build: Build) -> None:
        """Begin the next turn, or hold the prompts that wait for it."""
        stop = db.execute(
            "SELECT 1 FROM requests WHERE session = ? AND turn >= ? AND done_at IS NULL", (self._session, self._n)
        ).fetchone()
        row = db.execute("SELECT stop_by FROM turns WHERE session = ? AND n = ?", (self._session, self._n)).fetchone()
        requester = StoppedBy.recorded(row["stop_by"])
        by_user = stop is not None or (requester is not None and requester.knows)
        if outcome.prompt.again:
            self._forget_conversation(db)
            put_back(db, self._session, self._n, always=outcome.status is Status.STOPPED)
        hold_after(db, self._session, self._n, outcome.status, by_user=by_user)
        take(db, self._session, build)

    def _forget_conversation(self, db: sqlite3.Connection) -> None:
        """Forget a conversation that the turn was to begin: the agent named it, and kept nothing of it."""
        earlier = "SELECT agent_session FROM turns WHERE session = ?1 AND n < ?2 AND agent_session IS NOT NULL"
        db.execute(
            f"UPDATE turns SET agent_session = NULL WHERE session = ?1 AND n = ?2"  # noqa: S608
            f" AND agent_session NOT IN ({earlier})",
            (self._session, self._n),
        )
        db.execute(
            f"UPDATE sessions SET agent_session = ({earlier} ORDER BY n DESC LIMIT 1) WHERE id = ?1"  # noqa: S608
            f" AND agent_session NOT IN ({earlier})",
            (self._session, self._n),
        )

    def _mark_prompt(self, db: sqlite3.Connection, state: PromptState, only_from: PromptState | None = None) -> None:
        """Change the state of the turn's prompt."""
        seen_at = now_ms() if state is PromptState.SEEN else None
        db.execute(
            "UPDATE prompts SET state = ?, seen_at = COALESCE(seen_at, ?) WHERE session = ? AND turn = ?"
            " AND state <> ? AND (? IS NULL OR state = ?)",
            (state, seen_at, self._session, self._n, state, only_from, only_from),
        )

    def left(self, left: tuple[Left, ...]) -> None:
        """Record the processes that outlive the turn."""
        with self._database.transaction() as db:
            db.execute("UPDATE turns SET left = ? WHERE session = ? AND n = ?", (dump(left), self._session, self._n))
            db.execute(
                "UPDATE sessions SET left = ?, left_note = ? WHERE id = ? AND (left <> ? OR left_note IS NOT ?)",
                (len(left), left_text(left), self._session, len(left), left_text(left)),
            )

    def stopping(self, by: str) -> None:
        """Record that a stop was requested, and by whom, before the first signal is sent."""
        self._database.run(
            "UPDATE turns SET stop_requested_at = ?, stop_by = ? WHERE session = ? AND n = ?"
            " AND stop_requested_at IS NULL",
            (now_ms(), by, self._session, self._n),
        )

    def rung(self, stopping: Stopping | None) -> None:
        """Record the progress of a stop, for front ends to show."""
        self._database.run(
            "UPDATE sessions SET stopping = ? WHERE id = ?", (dump(stopping) if stopping else None, self._session)
        )

    def answer(self, receipt: Receipt) -> None:
        """Answer every open request with the same receipt: a second stop joins the first."""
        with self._database.transaction() as db:
            db.execute(
                "UPDATE requests SET done_at = ?, receipt = ? WHERE session = ? AND turn >= ? AND done_at IS NULL",
                (now_ms(), dump(receipt), self._session, self._n),
            )
            db.execute(
                "UPDATE turns SET receipt = ? WHERE session = ? AND n = ? AND receipt IS NULL",
                (dump(receipt), self._session, self._n),
            )

    def status(self) -> Status | None:
        """The turn's present status; None if the turn was deleted."""
        rows = self._database.rows("SELECT status FROM turns WHERE session = ? AND n = ?", (self._session, self._n))
        return Status(rows[0]["status"]) if rows else None

    def newer_turn_queued(self) -> bool:
        """Return whether a later turn of the session is queued."""
        rows = self._database.rows(
            "SELECT 1 FROM turns WHERE session = ? AND n > ? AND status = 'queued'", (self._session, self._n)
        )
        return bool(rows)

    def _read_claim(self, db: sqlite3.Connection) -> Claim:
        row = db.execute(
            "SELECT turns.*, sessions.agent AS agent, sessions.cwd AS cwd FROM turns"
            " JOIN sessions ON sessions.id = turns.session WHERE session = ? AND n = ?",
            (self._session, self._n),
        ).fetchone()
        return struct_from(Claim, row, launch=launch_from(row))

    def write_facts(self, db: sqlite3.Connection, facts: Facts, steps: int) -> None:
        """Write the turn's facts, and the session's sums over all turns."""
        record = TurnUse(
            source="record",
            usage=self._accounts.usage(db, facts),
            reported_usd=self._accounts.cost(db, facts),
            computed_usd=facts.cost_about_usd,
        )
        use = self._reports.write(db, facts, record)
        usage, cost = use.usage, use.reported_usd
        db.execute(
            "UPDATE turns SET agent_session = ?, end = ?, error = ?, usage = COALESCE(?, usage),"
            " thread_usage = COALESCE(?, thread_usage), cost_usd = ?,"
            " cost_about_usd = CASE WHEN ? THEN ? ELSE COALESCE(?, cost_about_usd) END,"
            " running_cost_usd = COALESCE(?, running_cost_usd),"
            " steps = ?, unknown = ?, unreadable = ?, denied_names = ? WHERE session = ? AND n = ?",
            (
                name_of(facts.agent_session), facts.end, _short(facts.error), _known(usage), _known(facts.thread_usage),
                cost, cost is not None, use.computed_usd, use.computed_usd, facts.running_cost_usd, steps,
                facts.unknown, dump(facts.unreadable), dump(facts.denied_names), self._session, self._n,
            ),
        )  # fmt: skip
        rows = db.execute(
            "SELECT usage, cost_usd, cost_about_usd, steps FROM turns WHERE session = ?", (self._session,)
        ).fetchall()
        total = Usage()
        for row in rows:
            total = total.plus(load(row["usage"], Usage) or Usage())
        cost_usd, about_usd = (known_sum(*(row[name] for row in rows)) for name in ("cost_usd", "cost_about_usd"))
        db.execute(
            f"UPDATE sessions SET {', '.join(f'{name} = ?' for name in USAGE_COLUMNS)}, cost_usd = ?, steps = ?,"  # noqa: S608
            " cost_about_usd = ?, context_tokens = COALESCE(?, context_tokens),"
            " context_window = COALESCE(?, context_window), unknown = ?, denied = ?,"
            " agent_session = COALESCE(?, agent_session), model = COALESCE(?, model),"
            " last_message = COALESCE(?, last_message) WHERE id = ?",
            (
                *(getattr(total, name) for name in USAGE_COLUMNS),
                cost_usd, sum(row["steps"] for row in rows), about_usd,
                _number(facts.context_tokens), _number(facts.context_window), facts.unknown, facts.denied,
                name_of(facts.agent_session), _short(facts.model), _short(facts.last_message),
                self._session,
            ),
        )  # fmt: skip
        self._reports.count(db, facts, use)


def _forget_written(facts: Facts) -> None:
    """Forget the reports that a transaction has committed."""
    if facts.reported is not None:
        facts.reported.written()


def _known(usage: Usage) -> str | None:
    """Usage as JSON; None if unknown, so that a process that concludes for a runner keeps the runner's figures."""
    return dump(usage) if usage.known else None


def _number(value: int | None) -> int | None:
    """Return a number that fits into a column; None for a greater one, which an agent may print."""
    return value if value is not None and value < 1 << 62 else None


def _short(text: str | None) -> str | None:
    """Truncate agent text, which has no limit: rows are read by every listing."""
    return text if text is None or len(text) <= MESSAGE_CHARACTERS else text[: MESSAGE_CHARACTERS - 1] + "…"


def withdraw_close(db: sqlite3.Connection, session_id: str, now: int) -> None:
    """Withdraw the requests to close an idle agent: it begins to work."""
    db.execute(
        "UPDATE requests SET done_at = ? WHERE session = ? AND kind = 'close' AND done_at IS NULL", (now, session_id)
    )
