"""The list of checks, and a function that runs them all; a check that breaks is a finding and never ends the run."""

import os
import pwd
from collections.abc import Callable
from pathlib import Path

from ..settings.config import Loaded
from ..settings.place import config_path as usual_config_path
from ..storage.paths import Layout
from .agents import agent_clis, limits, mcp_server, prices, versions
from .machine import clipboard, inotify, logind, supervision, terminal, tmux, ulimits
from .model import Check, Finding, Subject, fail
from .state import budgets, database, own_files, records, settings, state_folder, strays

CHECKS: tuple[tuple[str, Check], ...] = (
    ("versions", versions.versions),
    ("agents", agent_clis.agent_clis),
    ("MCP server", mcp_server.start),
    ("MCP clients", mcp_server.clients),
    ("settings", settings.settings_file),
    ("limits", limits.limits),
    ("budgets", budgets.budgets),
    ("prices", prices.prices),
    ("state folder", state_folder.folder),
    ("permissions", state_folder.permissions),
    ("own files", own_files.own_files),
    ("disk space", state_folder.disk_space),
    ("file system", state_folder.file_system),
    ("database", database.database),
    ("session folders", records.folders_and_rows),
    ("live turns", records.live_turns),
    ("subreaper", supervision.subreaper),
    ("pidfd", supervision.pidfd),
    ("processes", supervision.environments),
    ("strays", strays.strays),
    ("inotify", inotify.instances_and_watches),
    ("file events", inotify.file_events),
    ("logout", logind.logout),
    ("open files", ulimits.open_files),
    ("user processes", ulimits.user_processes),
    ("terminal", terminal.terminal),
    ("tmux", tmux.options),
    ("clipboard", clipboard.clipboard),
)
"""The checks in report order; the name is used if a check breaks before it yields a finding."""


def examine(
    layout: Layout, config_path: Path | None = None, check: Callable[[Loaded], None] = lambda _: None
) -> list[Finding]:
    """Run all checks; creates no state folder and no database, and raises nothing.

    Args:
        layout: the state folder, which need not exist.
        config_path: the settings; None takes ``$AGENTDASH_CONFIG`` or the platform's.
        check: the front end's own check of the settings; raises ConfigError.
    """
    subject = Subject(
        layout=layout,
        config_path=config_path or usual_config_path(),
        env=dict(os.environ),
        user=user_name(),
        check=check,
    )
    return [finding for name, check in CHECKS for finding in findings_of(name, check, subject)]


def findings_of(name: str, check: Check, subject: Subject) -> list[Finding]:
    """Return the findings of one check; its failure is a finding too."""
    try:
        return list(check(subject))
    except OSError as error:
        return [fail(name, f"check failed: {error}", "check its owner, and the disk")]
    except Exception as error:  # noqa: BLE001 - one broken check must not hide what the others find
        why = f"check failed: {type(error).__name__}: {error}"
        return [fail(name, why, "please report this line as a bug of agentdash")]


def user_name() -> str:
    """Return the user's name; the number if a container has no name for it."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())
