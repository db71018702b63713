"""Check whether the prices are of this season, cover the models in use, and agree with the agents' own figures."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from msgspec import structs

from ...clock import now_ms
from ...costs.price_table import CHECKED, price_of
from ...costs.prices import Call, Price
from ...costs.pricing import call_of
from ...errors import AgentdashError
from ...settings.config import load_config
from ...settings.imported_prices import Imported, imported, local_day, with_imported
from ...storage.database import Database
from ...text.units import money
from ...values.usage import Usage
from ..model import Finding, Subject, ok, warn

STALE_DAYS = 60
_MOST_DIFFERENCE = 0.02
_DAY_MS = 86_400_000
_MOST_REPORTS = 5_000
_MOST_FINDINGS = 5

_REMEDY = 'import newer prices (agentdash prices --import FILE), or set [prices."MODEL"]'

_REPORTS = f"""SELECT model, input_tokens, cached_input_tokens, cache_write_tokens, cache_write_1h_tokens,
    output_tokens, reported_usd FROM reports WHERE counted = 1 AND reported_usd > 0 AND model IS NOT NULL AND at >= ?
    ORDER BY at DESC LIMIT {_MOST_REPORTS}"""  # noqa: S608
_UNPRICED = """SELECT DISTINCT model FROM reports WHERE counted = 1 AND reported_usd IS NULL AND model IS NOT NULL
    AND model NOT LIKE '<%' AND at >= ? ORDER BY model LIMIT 100"""


def prices(subject: Subject) -> Iterator[Finding]:
    """Yield a finding for each fault of the prices; one if there is none."""
    try:
        own = load_config(subject.config_path, home=subject.layout.home).prices
        found = imported(subject.config_path)
    except AgentdashError as error:
        yield warn("prices", str(error), _REMEDY)
        return
    force, now = with_imported(own, found), now_ms()
    faults = [*stale(found, local_day(now / 1000)), *_in_use(subject, force, now - STALE_DAYS * _DAY_MS)]
    yield from faults
    if not faults:
        yield ok("prices", f"prices of {_newest(found)}; no difference from the agents' own figures")


def stale(found: Imported, today: date) -> Iterator[Finding]:
    """Yield a finding if all prices are older than :data:`STALE_DAYS`."""
    newest = _newest(found)
    days = (today - date.fromisoformat(newest)).days
    if days > STALE_DAYS:
        yield warn("prices", f"the prices are those of {newest}, {days} days ago", _REMEDY)


def _newest(found: Imported) -> str:
    try:
        return max(CHECKED, date.fromisoformat(found.as_of).isoformat())
    except ValueError:
        return CHECKED


def _in_use(subject: Subject, force: Mapping[str, Price], since: int) -> Iterator[Finding]:
    if not subject.layout.database.exists():
        return
    database = Database(subject.layout.database)
    try:
        reports = database.rows(_REPORTS, (since,))
        used = [row["model"] for row in database.rows(_UNPRICED, (since,))]
    except AgentdashError:
        return  # a database that cannot be read is a finding of its own
    finally:
        database.close()
    missing = [model for model in used if price_of(model, force) is None]
    if missing:
        more = ", …" if len(missing) > _MOST_FINDINGS else ""
        yield warn("prices", f"no price for {', '.join(missing[:_MOST_FINDINGS])}{more}", _REMEDY)
    yield from list(_differences(reports, force))[:_MOST_FINDINGS]


def _differences(reports: Sequence[sqlite3.Row], force: Mapping[str, Price]) -> Iterator[Finding]:
    """Compare the agents' figures with the same reports at these prices, for each model."""
    by_model: dict[str, list[tuple[float, float, float]]] = {}
    for row in reports:
        price = price_of(row["model"], force)
        computed = _range(price, row) if price is not None else None
        if computed is not None:
            by_model.setdefault(row["model"], []).append((row["reported_usd"], *computed))
    for model, figures in sorted(by_model.items()):
        reported, least, most = (sum(column) for column in zip(*figures, strict=True))
        nearest = min(max(reported, least), most)
        if abs(reported - nearest) > _MOST_DIFFERENCE * reported:
            words = f"{model}: the agent reported {money(reported)}, the prices make {money(nearest)} of the same use"
            yield warn("prices", words, _REMEDY)


def _range(price: Price, row: sqlite3.Row) -> tuple[float, float] | None:
    """Return the least and the greatest cost of a report; None if it is not certain.

    A report may not show for how long its cache writes stay, and whether one of its calls was long.
    """
    usage = Usage.of(
        row["input_tokens"], row["cached_input_tokens"], row["output_tokens"], written=row["cache_write_tokens"]
    )
    call = call_of(usage, row["cache_write_1h_tokens"])
    if call is None or (price.long_prompt_tokens is not None and call.prompt_tokens > price.long_prompt_tokens):
        return None
    if row["cache_write_1h_tokens"] is not None:
        return price.cost(call), price.cost(call)
    costs = [price.cost(call), price.cost(_for_an_hour(call))]
    return min(costs), max(costs)


def _for_an_hour(call: Call) -> Call:
    return structs.replace(call, cache_write_tokens=0, cache_write_1h_tokens=call.cache_write_tokens)
