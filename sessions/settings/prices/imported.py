"""The imported prices: a file beside the user's settings, and the prices in force with it."""

import os
import stat
from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from ...clock import now_ms
from ...costs.models_dev import MOST_BYTES, prices_in
from ...costs.prices import Price
from ...costs.pricing import list_price, stated_price
from ...errors import AgentdashError, ConfigError, UsageError
from ...storage.paths import write_atomic
from ..config import Config
from ..place import config_path


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
        return msgspec.json.decode(_bytes(path), type=Imported)
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
    return {**{name: _over(settings, name, price) for name, price in below.items()}, **_without(settings, below)}


def in_force(config: Config) -> dict[str, Price]:
    """Return the prices of a start: those of the settings over the imported ones; the built-in ones are below both.

    Raises:
        ConfigError: the imported prices cannot be used.
    """
    return with_imported(config.prices, imported())


def _without(settings: Mapping[str, Price], below: Mapping[str, Price]) -> dict[str, Price]:
    """Return the settings' prices without those of exact names that already include the imported ones."""
    return {name: price for name, price in settings.items() if name.lower() not in below}


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
