"""Check whether the budget of a day or a week holds sessions."""

from collections.abc import Iterator

from ...errors import AgentdashError
from ...rules.limits.period_budgets import full
from ...rules.limits.period_words import state_words, used_words
from ...storage.database import Database
from ...storage.use.period_budgets import PeriodBudgets
from ...text.units import count
from ..model import Finding, Subject, ok, warn

_REMEDY = "wait until the period ends, or raise it: agentdash budget"
_WAITING = "SELECT COUNT(*) AS n FROM sessions WHERE status = 'queued' AND reason LIKE 'waits: %budget%'"


def budgets(subject: Subject) -> Iterator[Finding]:
    """Yield a finding for each budget of which nothing is left; one if none is, or there are none."""
    if not subject.layout.database.exists():
        return
    database = Database(subject.layout.database)
    try:
        states = PeriodBudgets(database).states()
        waiting = database.rows(_WAITING)[0]["n"]
    except AgentdashError:
        return  # a database that cannot be read is a finding of its own
    finally:
        database.close()
    spent = full(states)
    for one in spent:
        held = f"; {count(waiting, 'session')} waiting for a budget" if waiting else ""
        yield warn("budgets", f"{used_words(one)}{held}", _REMEDY)
    if not spent:
        words = "; ".join(f"{one.budget.name}: {state_words(one)}" for one in states)
        yield ok("budgets", words or "no budget of a day or a week")
