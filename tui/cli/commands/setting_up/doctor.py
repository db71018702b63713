"""The verb doctor: check the installation."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from ...exit_codes import FAILED
from .. import common

if TYPE_CHECKING:
    from .....sessions.lifecycle.recovery.rebuild import Rebuilt
    from .....sessions.settings.config import Loaded


@click.command()
@click.option("--rebuild", "rebuilds", is_flag=True, help="Rebuild the database first.")
@common.json_option
def doctor(rebuilds: bool, as_json: bool) -> int:
    """Check the installation and suggest fixes.

    Exits 0 if there is no error, else 1.  --rebuild restores the database from the session folders and removes empty
    folders of interrupted starts; a database that is unreadable, or of an older version, is set aside, not deleted.
    """
    rebuilt = _rebuild() if rebuilds else None
    from .....sessions.doctor.checks import examine
    from .....sessions.storage.paths import Layout, default_home

    # No manager: it would create the state folder, and a database that it cannot open would end the checks.
    findings = examine(Layout(default_home()), check=_check_keys)
    if as_json:
        common.print_json(findings if rebuilt is None else {"rebuilt": rebuilt, "findings": findings})
    else:
        from ....render.setup.doctor import findings_text

        common.print_lines(findings_text(findings, common.style()))
    return FAILED if any(finding.state == "fail" for finding in findings) else 0


def _rebuild() -> "Rebuilt":
    """Rebuild the database, and print the result."""
    from .....sessions.families.enclosing import check_user
    from .....sessions.lifecycle.recovery.rebuild import rebuild
    from .....sessions.settings.config import load_config
    from .....sessions.storage.paths import Layout, default_home

    check_user("A rebuild of the database")
    done = rebuild(Layout(default_home()), load_config().queue.max_running)
    for line in _rebuilt_lines(done):
        common.notice(line, named=False)
    return done


def _rebuilt_lines(done: "Rebuilt") -> Iterator[str]:
    from .....sessions.text.sanitize import one_line
    from .....sessions.text.units import count

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
        from ....keys.keymap import check_keys

        check_keys(loaded)
