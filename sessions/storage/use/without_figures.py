"""The turns at work of which no figure is known yet: they use something, so no sum that they belong to is exact."""

from ..local_days import day_sql
from ..rows import WITHOUT_FIGURES
from .day_sums import COLUMNS, FIGURES


def without_figures(condition: str = "") -> str:
    """Return their query, with the columns of :data:`.day_sums.COLUMNS`; they count at the time of their start."""
    unknown = ", ".join(f"NULL AS {name}" for name in FIGURES)
    return (
        f"SELECT {', '.join(COLUMNS)} FROM (SELECT sessions.id AS session, turns.started_at / 900000 AS quarter,"  # noqa: S608
        f" {day_sql('(turns.started_at / 900000)')} AS day, coalesce(sessions.model, '') AS model, '' AS price_as_of,"
        f" sessions.agent AS agent, sessions.cwd AS folder, {unknown}, 1 AS missing, 1 AS tokens_missing"
        " FROM sessions JOIN turns ON turns.session = sessions.id AND turns.n = sessions.turn"
        f" WHERE turns.started_at IS NOT NULL AND {WITHOUT_FIGURES})"
        f"{f' WHERE {condition}' if condition else ''}"
    )
