"""Check whether the settings can be used."""

from collections.abc import Iterator

from ...errors import ConfigError
from ...settings.config import read_settings
from ...settings.prices.own import check_prices
from ..model import Finding, Subject, fail, ok, warn


def settings_file(subject: Subject) -> Iterator[Finding]:
    """Check the settings file; an error names file, line and key."""
    path = subject.config_path
    try:
        loaded = read_settings(path, home=subject.layout.home)
    except ConfigError as error:
        yield fail("settings", str(error), "fix it: no agent starts until then")
        return
    try:
        subject.check(loaded)
    except ConfigError as error:
        yield fail("settings", str(error), "fix it: the dashboard does not start until then")
        return
    try:
        check_prices(loaded)
    except ConfigError as error:
        yield warn("settings", str(error), "set it, or remove the entry")
        return
    yield ok("settings", str(path) if path.exists() else f"defaults ({path} does not exist)")
