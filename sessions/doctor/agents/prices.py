"""Check whether the prices are of this season, cover the models in use, and agree with the agents' own figures."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, structs

from ...clock import now_ms
from ...costs.prices import Call, Price
from ...costs.pricing import call_of, price_of
from ...errors import AgentdashError
from ...settings.config import load_config
from ...settings.prices.entries import names_of, outdated
from ...settings.prices.imported import Imported, imported, local_day, prices_path, with_imported
from ...storage.database import Database
from ...text.sanitize import one_line
from ...text.units import money
from ...values.usage import Usage
from ..model import Finding, Subject, ok, warn
from .price_dates import REMEDY, STALE_DAYS, dates_in_force, span, stale

_MOST_DIFFERENCE = 0.02
_DAY_MS = 86_400_000
_MOST_REPORTS = 5_000
_MOST_FINDINGS = 5

_REPORTS = f"""SELECT model, input_tokens, cached_input_tokens, cache_write_tokens, cache_write_1h_tokens,
    output_tokens, reported_usd FROM reports WHERE counted = 1 AND reported_usd > 0 AND model IS NOT NULL AND at >= ?
    ORDER BY at DESC LIMIT {_MOST_REPORTS}"""  # noqa: S608
_USED = """SELECT model, min(reported_usd IS NOT NULL) AS reported FROM reports WHERE counted = 1
    AND model IS NOT NULL AND model NOT LIKE '<%' AND at >= ? GROUP BY model ORDER BY model LIMIT 100"""


class Use(Struct, frozen=True):
    """The models that agents used lately, and the costs that they reported."""

    models: Mapping[str, bool] = {}
    """The models; False if some use has no cost that the agent reported."""
    reports: Sequence[sqlite3.Row] = ()
    """The reports with a cost of the agent."""


def prices(subject: Subject) -> Iterator[Finding]:
    """Yield a finding for each fault of the prices; one if there is none."""
    try:
        own = load_config(subject.config_path, home=subject.layout.home).prices
        found = imported(subject.config_path)
    except AgentdashError as error:
        yield warn("prices", str(error), REMEDY)
        return
    force, now = with_imported(own, found), now_ms()
    use = _use(subject, now - STALE_DAYS * _DAY_MS)
    dates = dates_in_force(use.models, own, found)
    faults = [*_outdated(subject, found), *stale(dates, local_day(now / 1000)), *_in_use(use, force)]
    yield from faults
    if not faults:
        yield ok("prices", f"prices of {span(dates)}; no difference from the agents' own figures")


def _outdated(subject: Subject, found: Imported) -> Iterator[Finding]:
    if (why := outdated(found)) is not None:
        path = one_line(str(prices_path(subject.config_path)))
        yield warn("prices", why, f"import newer prices (agentdash usage prices --import FILE), or remove {path}")


def _use(subject: Subject, since: int) -> Use:
    if not subject.layout.database.exists():
        return Use()
    database = Database(subject.layout.database)
    try:
        models = {row["model"]: bool(row["reported"]) for row in database.rows(_USED, (since,))}
        return Use(models, database.rows(_REPORTS, (since,)))
    except AgentdashError:
        return Use()  # a database that cannot be read is a finding of its own
    finally:
        database.close()


def _in_use(use: Use, force: Mapping[str, Price]) -> Iterator[Finding]:
    missing = [model for model, reported in use.models.items() if not reported and price_of(model, force) is None]
    if missing:
        yield warn("prices", f"no price for {names_of(missing)}", REMEDY)
    yield from list(_differences(use.reports, force))[:_MOST_FINDINGS]


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
            yield warn("prices", words, REMEDY)


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
