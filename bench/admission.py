"""Admission of one start among many sessions: what the transaction costs with the families of a busy state folder.

Also the same start with budgets of a day and a week, and what a runner's record of its turn costs with them.
"""

import sqlite3
import tempfile
import uuid
from pathlib import Path

from many_sessions import fill
from measure import milliseconds, table
from sizes import sized

from agentdash.sessions.model.membership import Budget, Membership
from agentdash.sessions.model.session import Status, Usage
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.rules.limits.admission import FamilyLimits
from agentdash.sessions.rules.limits.period_budgets import PeriodBudget
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.claim import Owner
from agentdash.sessions.storage.turns.turn_log import TurnLog

COUNTS = sized((50, 5_000), (25,))
LIMITS = FamilyLimits(max_workers=10**6, max_open=10**6, budget=Budget(cost_usd=10.0**9))
MOST = Budget(tokens=10**12, cost_usd=10.0**9)
_USED = (
    "INSERT INTO use_sums SELECT id, 1, (updated_at - rowid * 100) / 900000, '', '', 1, 0, 0, 1, 0, total_tokens,"
    " cost_usd, NULL, 0 FROM sessions"
)


def times(count: int) -> list[float]:
    """Return the milliseconds of each act, in the order of the columns."""
    with tempfile.TemporaryDirectory() as folder:
        ids = fill(Path(folder), count)
        lead, workers = ids[0], ids[1:21]
        with sqlite3.connect(Path(folder) / "agentdash.db") as database:
            database.executemany("UPDATE sessions SET parent = ? WHERE id = ?", [(lead, one) for one in workers])
            database.execute(_USED)
        database.close()
        store = Store(Path(folder) / "agentdash.db")
        log, spent = _turn(store), iter(range(1, 100))
        acts = (
            lambda: _start(store, None),
            lambda: _start(store, lead),
            lambda: store.family_budgets.crossed(workers[0], LIMITS),
            lambda: _record(log, next(spent)),
        )
        found = [milliseconds(act) for act in acts]
        store.period_budgets.keep([PeriodBudget(period="day", most=MOST), PeriodBudget(period="week", most=MOST)])
        log = _turn(store)
        found += [milliseconds(act) for act in (lambda: _start(store, None, "codex"), acts[-1])]
        store.close()
    return found


def _start(store: Store, lead: str | None, agent: str = "command") -> str:
    start = Start("x", agent=agent, title="x", cwd="/", session_id=str(uuid.uuid4()))
    launch = Launch(argv=("true",), family=LIMITS)
    store.create(start, launch, "r", host="h", membership=Membership(parent=lead))
    return start.session_id


def _turn(store: Store) -> TurnLog:
    """Return the log of a turn that runs."""
    log = TurnLog(store, _start(store, None, "codex"), 1, Owner(pid=1, start=2, boot_id="b", pid_ns="n"))
    log.claim()
    log.running(10, 11)
    return log


def _record(log: TurnLog, spent: int) -> None:
    log.progress(Facts(usage=Usage(total_tokens=spent), cost_usd=spent / 1000), Status.RUNNING, None, spent, None)


if __name__ == "__main__":
    rows = [(f"{count:,} sessions", *(f"{ms:.2f}" for ms in times(count))) for count in COUNTS]
    names = ("by the user", "by a lead", "check of a runner", "record of a turn", "start, budgets", "record, budgets")
    table("one start among sessions, ms (medians)", ("", *names), rows)
