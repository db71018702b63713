"""The dates of the prices in force for the models in use."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date

from ...costs.price_table import AS_OF
from ...costs.prices import Price
from ...settings.prices.entries import Origin, entry_of, names_of
from ...settings.prices.imported import Imported
from ..model import Finding, warn

STALE_DAYS = 60
REMEDY = 'import newer prices (agentdash usage prices --import FILE), or set [prices."MODEL"]'

Dates = dict[tuple[Origin, str], list[str]]
"""Models by the origin and the date of their price."""

_FROM: dict[Origin, str] = {"built-in": "built-in ", "imported": "imported ", "settings": "settings' "}


def dates_in_force(models: Iterable[str], own: Mapping[str, Price], found: Imported) -> Dates:
    """Return the models by the origin and the date of their price; prices of the settings may have no date.

    Without models, the result has the date of the newest list alone.
    """
    entries = [entry for model in models if (entry := entry_of(model, own, found)) is not None]
    dates: Dates = {}
    for entry in entries:
        if _day(entry.as_of) is not None:
            dates.setdefault((entry.origin, entry.as_of), []).append(entry.model)
    newest = found.as_of if _day(found.as_of) and found.as_of > AS_OF else AS_OF
    return dates if entries else {("imported" if newest != AS_OF else "built-in", newest): []}


def stale(dates: Dates, today: date) -> Iterator[Finding]:
    """Yield a finding for each date that is older than :data:`STALE_DAYS`."""
    for (origin, as_of), models in sorted(dates.items(), key=lambda one: one[0][1]):
        days = (today - (_day(as_of) or today)).days
        if days > STALE_DAYS:
            named = f" of {names_of(models)}" if models else ""
            yield warn("prices", f"the {_FROM[origin]}prices{named} are those of {as_of}, {days} days ago", REMEDY)


def span(dates: Dates) -> str:
    """Return the first and the last date."""
    days = sorted({as_of for _, as_of in dates})
    return "the settings" if not days else days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
