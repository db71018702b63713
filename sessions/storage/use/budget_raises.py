"""The end of the user's change of a budget, before the day or the week ends."""

from collections.abc import Iterable

from ...rules.limits.period_budgets import Period
from ...rules.limits.period_shares import Kind
from ..database import Database


def take_back(database: Database, folder: str, period: Period, kinds: Iterable[Kind]) -> bool:
    """Let the amounts of the settings count again; False if no budget of the settings has this folder and period."""
    with database.transaction() as db:
        sql = "SELECT 1 FROM budgets WHERE source = '' AND folder = ? AND period = ?"
        if db.execute(sql, (folder, period)).fetchone() is None:
            return False
        for kind in kinds:
            sql = f"UPDATE budget_raises SET {kind} = NULL WHERE folder = ? AND period = ?"  # noqa: S608
            db.execute(sql, (folder, period))
        db.execute("DELETE FROM budget_raises WHERE tokens IS NULL AND cost_usd IS NULL")
    return True
