"""The first version of the user's settings file: it lists every setting and sets only the default agent.

After that the file is the user's: agentdash never writes into it again.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap

from ..agents.codex.toml_values import toml_value
from ..agents.registry import agent_named, agent_names
from ..errors import ConfigError, UsageError
from .catalog import NAME, Setting, settings

_HEADER = """\
# Settings of agentdash, read at every start and every follow-up.
# Commented values are defaults or examples. Remove the "# " to set one, also from the [table] above it.
# agentdash config check validates this file; agentdash config list shows the effective settings.
"""


def write_first(path: Path) -> None:
    """Write a first file with the installed agents; an existing file is never touched.

    Raises:
        UsageError: the file exists already.
        ConfigError: it cannot be written.
    """
    if path.exists():
        raise UsageError(f"{path} already exists; not overwritten.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # O_EXCL: a file that another process creates at the same moment is not replaced either.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(first_file())
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}.") from None


def first_file() -> str:
    """Return every setting with its description, as a comment; only the default agent is set, to an installed one."""
    installed = [
        name for name in agent_names(demo=False) if (binary := agent_named(name).binary) and shutil.which(binary)
    ]
    return "\n".join([_HEADER, *_lines(installed)]) + "\n"


def _lines(installed: list[str]) -> Iterator[str]:
    section = ""
    for one in settings():
        if one.path[0] == "profiles":
            yield from _PROFILE
        if one.path[0] == "profiles" or one.path[2:-1]:
            continue
        if one.section != section:
            section = one.section
            yield from ("", f"[{section}]" if _is_live(one, installed) else f"# [{section}]")
            yield from _BELOW.get(one.path[0], ())
        yield from wrap(
            f"{one.description} {_takes(one)}", 118, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False
        )
        if one.path == ("default_agent",):
            yield f"default_agent = {toml_value(next(iter(installed), one.default))}"
        else:
            yield f"# {one.path[-1]} = {toml_value(one.sample)}"


def _takes(one: Setting) -> str:
    """Describe the values it takes, and its value if it is not set."""
    unset = f"; not set: {one.default_words}" if one.default_words else "; not set here" if one.default is None else ""
    return f"({one.kind}{unset})"


def _is_live(one: Setting, installed: list[str]) -> bool:
    """True if the table is present from the start: an empty one changes nothing, and a key needs it."""
    return NAME not in one.path and (one.path[0] != "agents" or one.path[1] in installed)


_BELOW = {
    "agents": ("# Subtables .stop and .limits override [stop] and [limits] for this agent.",),
    "presets": ("# A subtable .limits overrides [limits] for this preset.",),
}
_PROFILE = (
    "",
    "# A profile contains any of the tables above; --profile NAME or AGENTDASH_PROFILE applies it.",
    "# [profiles.NAME.limits]",
    "# wall_seconds = 3600.0",
)
