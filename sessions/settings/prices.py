"""The prices of models in force: the user's own over the imported ones, which are in a file beside the settings.

Each has an origin and a date.  The built-in list is below both.
"""

import os
import stat
from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct, structs

from agentdash.sessions.model import typed
from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.errors import AgentdashError, ConfigError, UsageError
from agentdash.sessions.rules.costs.models_dev import MOST_BYTES, prices_in
from agentdash.sessions.rules.costs.price_table import AS_OF, TABLE
from agentdash.sessions.rules.costs.prices import Price
from agentdash.sessions.rules.costs.pricing import OWN, list_price, price_of, stated_price
from agentdash.sessions.settings.config import Config, Loaded, unusable
from agentdash.sessions.settings.place import config_path
from agentdash.sessions.storage.paths import write_atomic


class Imported(Struct, frozen=True, kw_only=True):
    """The prices of a file, and their provenance."""

    source: str = ""
    """The file from which they were imported."""
    as_of: str = ""
    """The date of that file, ISO."""
    prices: dict[str, Price] = {}
    """By the exact name of the model, in small letters."""


def local_day(seconds: float) -> date:
    """Return the local day of a moment, in seconds since the epoch."""
    return datetime.fromtimestamp(seconds, UTC).astimezone().date()


def prices_path(settings: Path | None = None) -> Path:
    """Return the place of the imported prices: ``prices.json`` beside the settings."""
    return (settings or config_path()).parent / "prices.json"


def imported(settings: Path | None = None) -> Imported:
    """Return the imported prices; none if there is no such file.

    Raises:
        ConfigError: the file cannot be read, or is not valid.
    """
    path = prices_path(settings)
    try:
        return typed.decode(_bytes(path), Imported)
    except FileNotFoundError:
        return Imported()
    except (OSError, UsageError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(
            f"{path}: {error}. Remove it, or import prices again: agentdash usage prices --import FILE"
        ) from None


def import_prices(file: Path) -> Imported:
    """Replace the imported prices by those of a file in the form of models.dev.

    Raises:
        UsageError: the file cannot be read or is not valid; the earlier prices stay.
        AgentdashError: the prices cannot be written.
    """
    try:
        data = _bytes(file)
        made = local_day(min(file.stat().st_mtime, now_ms() / 1000)).isoformat()
        found = Imported(source=str(file.absolute()), as_of=made, prices=prices_in(data, made))
    except (OSError, OverflowError, ValueError) as error:
        raise UsageError(f"{file}: {getattr(error, 'strerror', None) or error}. No price was changed.") from None
    except UsageError as error:
        raise UsageError(f"{file}: {error}. No price was changed.") from None
    target = prices_path()
    try:
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomic(target, msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")
    except OSError as error:
        raise AgentdashError(f"{target} cannot be written: {error.strerror}. No price was changed.") from None
    return found


def with_imported(settings: Mapping[str, Price], found: Imported) -> dict[str, Price]:
    """Return the user's prices with the imported ones below them; imported prices that equal the list are left out.

    Each start records the result, so that it is as small as it can be.
    """
    below = {
        name: price for name, price in found.prices.items() if structs.replace(price, as_of=None) != list_price(name)
    }
    # A price of the settings for an exact name already includes the imported one.
    others = {name: price for name, price in settings.items() if name.lower() not in below}
    return {**{name: _over(settings, name, price) for name, price in below.items()}, **others}


def in_force(config: Config) -> dict[str, Price]:
    """Return the prices of a start: those of the settings over the imported ones; the built-in ones are below both.

    Raises:
        ConfigError: the imported prices cannot be used.
    """
    return with_imported(config.prices, imported())


def _over(settings: Mapping[str, Price], name: str, price: Price) -> Price:
    own = stated_price(name, settings)
    return price if own == Price() else own.over(structs.replace(price, as_of=None))


def _bytes(path: Path) -> bytes:
    """Return the contents of a regular file of at most :data:`MOST_BYTES`."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UsageError("not a regular file")
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise UsageError(f"the file is larger than {MOST_BYTES // 10**6} MB, which no list of prices is")
    return data


Origin = Literal["built-in", "imported", "settings"]

_MOST_NAMES = 5
"""Models that a sentence names."""


class PriceEntry(Struct, frozen=True, kw_only=True):
    """The price of a model, or of a pattern of the settings."""

    model: str
    origin: Origin
    as_of: str
    price: Price


def entries(settings: Mapping[str, Price], found: Imported) -> list[PriceEntry]:
    """Return the price of each model with its origin, by name; patterns of the settings come with their own values."""
    force = with_imported(settings, found)
    names = sorted({*TABLE, *found.prices, *settings})
    return [one for name in names if (one := _entry(name, settings, found, force)) is not None]


def entry_of(model: str, settings: Mapping[str, Price], found: Imported) -> PriceEntry | None:
    """Return the price of a model with its origin; None if it has none."""
    return _entry(model, settings, found, with_imported(settings, found))


def outdated(found: Imported) -> str | None:
    """Return a sentence if the imported prices are older than the built-in ones that they replace; else None."""
    if not found.prices or not found.as_of or found.as_of >= AS_OF:
        return None
    replaced = sorted(TABLE.keys() & with_imported({}, found).keys())
    win = f", and replace them for {names_of(replaced)}" if replaced else ""
    return f"the imported prices are those of {found.as_of}, older than the built-in ones of {AS_OF}{win}"


def names_of(models: list[str]) -> str:
    """Return the first names, and a sign if there are more."""
    return ", ".join(models[:_MOST_NAMES]) + (", …" if len(models) > _MOST_NAMES else "")


def _entry(name: str, settings: Mapping[str, Price], found: Imported, force: Mapping[str, Price]) -> PriceEntry | None:
    price = price_of(name, force) or settings.get(name)
    if price is None:
        return None
    if name in settings or stated_price(name, settings) != Price():
        return PriceEntry(model=name, origin="settings", as_of=price.as_of or OWN, price=price)
    # An imported price that equals the list confirms it, unless it is older.
    if stated_price(name, found.prices) != Price() and (price.as_of is not None or found.as_of >= AS_OF):
        return PriceEntry(model=name, origin="imported", as_of=found.as_of, price=price)
    return PriceEntry(model=name, origin="built-in", as_of=price.as_of or AS_OF, price=price)


def check_prices(loaded: Loaded) -> None:
    """Check the prices, without a profile and under each profile of the file.

    Only a check reports it: an agent can work without a cost.

    Raises:
        ConfigError: a price would have no effect; names file, line and key.
    """
    for name in ("", *loaded.profiles):
        settings = loaded.under(name)
        if (lacking := incomplete(settings.config.prices)) is not None:
            entry, field = lacking
            under = f" (under the profile {name})" if name else ""
            why = f"{field} is missing. No list has the price of such a model, so that its use has no cost.{under}"
            raise unusable(settings, ("prices", entry), why)


def incomplete(prices: Mapping[str, Price]) -> tuple[str, str] | None:
    """Return the first entry with which no model has a price, and the field that it lacks; None if there is none.

    A part of a price is enough if a list, or another entry, has the rest.
    """
    partial = [name for name, price in prices.items() if not price.known]
    if not partial:
        return None
    found = _imported()
    force = with_imported(prices, found)
    models = {*TABLE, *found.prices, *prices}
    for name in partial:
        own = {name: prices[name]}
        if not any(stated_price(model, own) != Price() and price_of(model, force) for model in models):
            return name, "input" if prices[name].input is None else "output"
    return None


def _imported() -> Imported:
    try:
        return imported()
    except ConfigError:
        return Imported()  # a start reports it
