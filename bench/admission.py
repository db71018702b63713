"""Admission of one start among many sessions: what the transaction costs with the families of a busy state folder."""

import sqlite3
import tempfile
import uuid
from pathlib import Path

from many_sessions import fill
from measure import milliseconds, table
from sizes import sized

from agentdash.sessions.launch import Launch, Start
from agentdash.sessions.rules.limits.admission import FamilyLimits
from agentdash.sessions.storage.store import Store
from agentdash.sessions.values.membership import Budget, Membership

COUNTS = sized((50, 5_000), (25,))
LIMITS = FamilyLimits(max_workers=10**6, max_open=10**6, budget=Budget(cost_usd=10.0**9))


def times(count: int) -> list[float]:
    """Return the milliseconds of a start by the user, one by a lead, and the check of a worker's runner."""
    with tempfile.TemporaryDirectory() as folder:
        ids = fill(Path(folder), count)
        lead, workers = ids[0], ids[1:21]
        with sqlite3.connect(Path(folder) / "agentdash.db") as database:
            database.executemany("UPDATE sessions SET parent = ? WHERE id = ?", [(lead, one) for one in workers])
        database.close()
        store = Store(Path(folder) / "agentdash.db")
        acts = (
            lambda: _start(store, None),
            lambda: _start(store, lead),
            lambda: store.family_budgets.crossed(workers[0], LIMITS),
        )
        found = [milliseconds(act) for act in acts]
        store.close()
    return found


def _start(store: Store, lead: str | None) -> None:
    start = Start("x", agent="command", title="x", cwd="/", session_id=str(uuid.uuid4()))
    store.create(start, Launch(argv=("true",), family=LIMITS), "r", host="h", membership=Membership(parent=lead))


if __name__ == "__main__":
    rows = [(f"{count:,} sessions", *(f"{ms:.2f}" for ms in times(count))) for count in COUNTS]
    table("one start among sessions, ms (medians)", ("", "by the user", "by a lead", "check of a runner"), rows)
