"""The list of checks, and a function that runs them all; a check that breaks is a finding and never ends the run."""

import os
import pwd
from collections.abc import Callable
from pathlib import Path

from agentdash.sessions.doctor import agents, files, machine
from agentdash.sessions.doctor.model import Check, Finding, Subject, fail
from agentdash.sessions.settings.config import Loaded
from agentdash.sessions.settings.place import config_path as usual_config_path
from agentdash.sessions.storage.paths import Layout

CHECKS: tuple[tuple[str, Check], ...] = (
    ("versions", agents.versions),
    ("agents", agents.agent_clis),
    ("MCP server", agents.mcp_server),
    ("MCP clients", agents.mcp_clients),
    ("settings", files.settings_file),
    ("limits", agents.limits),
    ("budgets", files.budgets),
    ("prices", agents.prices),
    ("state folder", files.folder),
    ("permissions", files.permissions),
    ("own files", files.own_files),
    ("disk space", files.disk_space),
    ("file system", files.file_system),
    ("database", files.database),
    ("session folders", files.folders_and_rows),
    ("live turns", files.live_turns),
    ("subreaper", machine.subreaper),
    ("pidfd", machine.pidfd),
    ("processes", machine.environments),
    ("strays", files.strays),
    ("inotify", machine.instances_and_watches),
    ("file events", machine.file_events),
    ("logout", machine.logout),
    ("open files", machine.open_files),
    ("user processes", machine.user_processes),
    ("terminal", machine.terminal),
    ("tmux", machine.tmux_options),
    ("clipboard", machine.clipboard),
)
"""The checks in report order; the name is used if a check breaks before it yields a finding."""


def examine(
    layout: Layout, config_path: Path | None = None, check: Callable[[Loaded], None] = lambda _: None
) -> list[Finding]:
    """Run all checks; creates no state folder and no database, and raises nothing.

    Args:
        layout: need not exist.
        config_path: the settings; None takes ``$AGENTDASH_CONFIG`` or the platform's.
        check: the front end's own check of the settings; raises ConfigError.
    """
    path, env = config_path or usual_config_path(), dict(os.environ)
    subject = Subject(layout=layout, config_path=path, env=env, user=user_name(), check=check)
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
