"""The verbs that try and check an installation: demo, doctor, notify."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agentdash.sessions.model.errors import UsageError
from agentdash.tui.cli.commands import common
from agentdash.tui.cli.exit_codes import FAILED, INTERRUPTED

if TYPE_CHECKING:
    from agentdash.sessions.rules.notifications.settings import Chosen
    from agentdash.sessions.rules.notifications.terminal_support import Way
    from agentdash.sessions.service.lifecycle.recovery.rebuild import Rebuilt
    from agentdash.sessions.settings.config import Loaded


@click.command()
@click.option("--dir", "folder", type=click.Path(path_type=Path), help="Keep the demo's state in this folder.")
def demo(folder: Path | None) -> int:
    """Open the dashboard with scripted agents.

    The demo has its own state folder, which is removed at the end.  --dir keeps it: name a new or empty folder, or the
    folder of an earlier demo.
    """
    from agentdash.sessions.storage.scratch import scratch_folder
    from agentdash.tui.demo.start import run_demo

    try:
        if folder:
            return run_demo(folder.absolute(), kept=True)
        with scratch_folder(of_state=False) as fresh:
            return run_demo(fresh, kept=False)
    except KeyboardInterrupt:
        return INTERRUPTED  # its sessions were ended


@click.command()
@click.option("--rebuild", "rebuilds", is_flag=True, help="Rebuild the database first.")
@common.json_option
def doctor(rebuilds: bool, as_json: bool) -> int:
    """Check the installation and suggest fixes.

    Exits 0 if there is no error, else 1.  --rebuild restores the database from the session folders and removes empty
    folders of interrupted starts; a database that is unreadable, or of an older version, is set aside, not deleted.
    """
    rebuilt = _rebuild() if rebuilds else None
    from agentdash.sessions.doctor.checks import examine
    from agentdash.sessions.storage.paths import Layout, default_home

    # No manager: it would create the state folder, and a database that it cannot open would end the checks.
    findings = examine(Layout(default_home()), check=_check_keys)
    if as_json:
        common.print_json(findings if rebuilt is None else {"rebuilt": rebuilt, "findings": findings})
    else:
        from agentdash.tui.render.setup.doctor import findings_text

        common.print_lines(findings_text(findings, common.style()))
    return FAILED if any(finding.state == "fail" for finding in findings) else 0


def _rebuild() -> "Rebuilt":
    """Rebuild the database, and print the result."""
    from agentdash.sessions.service.families.enclosing import check_user
    from agentdash.sessions.service.lifecycle.recovery.rebuild import rebuild
    from agentdash.sessions.settings.config import load_config
    from agentdash.sessions.storage.paths import Layout, default_home

    check_user("A rebuild of the database")
    done = rebuild(Layout(default_home()), load_config().queue.max_running)
    for line in _rebuilt_lines(done):
        common.notice(line, named=False)
    return done


def _rebuilt_lines(done: "Rebuilt") -> Iterator[str]:
    from agentdash.sessions.text.sanitize import one_line
    from agentdash.sessions.text.units import count

    if done.set_aside:
        yield one_line(f"The database could not be used; moved to {done.set_aside}.")
        yield (
            "Only that file has: asks and answers, changes of the model or mode, plan windows, raised budgets, single"
            " reports of use, compactions, past events, and the use of sessions that were deleted for good."
        )
    for reason in done.skipped:
        yield f"skipped: {one_line(reason)}"
    if done.removed:
        yield f"{count(len(done.removed), 'empty folder')} removed."
    if done.trashed:
        yield f"{count(len(done.trashed), 'folder')} moved to the trash."
    if done.corrected:
        yield f"{count(len(done.corrected), 'session')} corrected: the end of a turn's output had not been read."
    yield f"{count(len(done.restored), 'session')} restored."


def _check_keys(loaded: "Loaded") -> None:
    """Check ``[keys]`` as the dashboard does; the registry of keys is loaded only if the user changed a key."""
    if "keys" in loaded.stated or any("keys" in profile for profile in loaded.profiles.values()):
        from agentdash.tui.keys.keymap import check_keys

        check_keys(loaded)


@click.command()
@click.option(
    "--kind", type=click.Choice(("auto", "osc9", "osc99", "osc777", "bell")), help="Override the configured kind."
)
@click.argument("text", required=False, default="This is a test notification.")
@common.json_option
def notify(kind: "Chosen | None", text: str, as_json: bool) -> None:
    """Send a test notification through this terminal.

    Reports which escape sequence was sent, so that you can check a setup with SSH or tmux.
    """
    from agentdash.sessions.rules.notifications.terminal_support import way
    from agentdash.sessions.service.families.enclosing import check_user
    from agentdash.sessions.service.tmux import outer_terminals
    from agentdash.sessions.settings.config import load_config

    check_user("A notification")
    chosen = way(kind or load_config().notify.terminal, os.environ, outer_terminals(os.environ))
    if chosen is not None:
        _send(chosen.sequence("agentdash", text))
    known = {"kind": chosen.kind, "why": chosen.why, "tmux": chosen.tmux, "bell": chosen.bell} if chosen else None
    common.print_one({"sent": chosen is not None, "way": known}, _told(chosen), as_json=as_json)


def _send(sequence: str) -> None:
    """Write a sequence to the terminal itself, even if stdout is redirected.

    Raises:
        UsageError: there is no terminal.
    """
    try:
        with open("/dev/tty", "w", encoding="utf-8", errors="replace") as terminal:
            terminal.write(sequence)
    except OSError as error:
        raise UsageError(f"No terminal for the notification: {error.strerror}.") from None


_NAMES = {"osc9": "OSC 9 (iTerm2)", "osc99": "OSC 99 (kitty)", "osc777": "OSC 777 (rxvt)", "bell": "a bell"}


def _told(way: "Way | None") -> str:
    """Return a description of the notification that was sent."""
    if way is None:
        return "nothing sent: notify.terminal is off"
    wrapped = ", wrapped for tmux (needs `set -g allow-passthrough on`)" if way.tmux and way.kind != "bell" else ""
    beside = ", and a bell" if way.bell else ""
    return f"sent {_NAMES[way.kind]}{wrapped}{beside}; reason: {way.why}"
