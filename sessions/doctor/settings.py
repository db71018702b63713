"""Check whether the settings can be used."""

from collections.abc import Iterator

from ..errors import ConfigError
from ..settings.config import read_settings
from .model import Finding, Subject, fail, ok


def settings_file(subject: Subject) -> Iterator[Finding]:
    """Check the settings file; an error names file, line and key."""
    path = subject.config_path
    try:
        loaded = read_settings(path, home=subject.layout.home)
    except ConfigError as error:
        yield fail("settings", str(error), "correct it: until then no agent is started")
        return
    try:
        subject.check(loaded)
    except ConfigError as error:
        yield fail("settings", str(error), "correct it: until then the dashboard does not start")
        return
    yield ok("settings", str(path) if path.exists() else f"the defaults ({path} is not there)")
