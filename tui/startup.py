"""Start the dashboard: check the terminal, and read the first sessions during the heavy imports."""

import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.text.terminal import has_colours, is_wanted
from agentdash.tui.terminal.state import MOUSE_OFF, abandon, give_size, hung_up

if TYPE_CHECKING:
    from agentdash.sessions.model.session import Session
    from agentdash.sessions.service.manager import SessionManager
    from agentdash.sessions.service.selected import Follower
    from agentdash.tui.app import Dashboard
    from agentdash.tui.keys.footer import Labels


def open_dashboard(
    manager: "SessionManager",
    *,
    tour: "Labels" = (),
    watched: "Sequence[Session]" = (),
    alone: bool = False,
    read_only: bool = False,
    pictured: bool = False,
    name: str | None = None,
    following: "Follower | None" = None,
) -> int:
    """Run the dashboard until the user quits, and return the exit code.

    The dashboard is read-only if the state folder is.  The sessions of the first screen are read while Textual is
    imported, which takes longer.

    The caller has checked the terminal: :func:`check_terminal`.

    Args:
        tour: keys to try, for a first-time user.
        watched: show only the steps of these sessions.
        alone: show only the table.
        pictured: keep the first picture for the next start.
        name: the name by which others find the table and follow it; without one, by its tmux window.
        following: show the session that is selected in another table.

    Raises:
        ConfigError: the settings cannot be used.
        StoreError: the state folder cannot be read.
    """
    gc.disable()  # almost all objects of the start stay; the dashboard collects again after its first picture
    read_only = read_only or manager.reader.read_only
    give_size(sys.stderr)
    if has_colours(os.environ):
        os.environ.pop("NO_COLOR", None)  # Textual takes an empty one for a wish too
    else:
        os.environ["NO_COLOR"] = "1"  # Textual removes it when it starts, so that no program inherits it
    from concurrent.futures import ThreadPoolExecutor  # other commands do not need it

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(manager.reader.first_sessions)
        from msgspec import structs

        from agentdash.sessions.service.selected import Selected
        from agentdash.sessions.storage.paths import Layout
        from agentdash.tui.app import Dashboard
        from agentdash.tui.keys.keymap import keys_in_force
        from agentdash.tui.terminal.watchdog import guard
    loaded = manager.reader.settings.loaded()
    settings, notify = loaded.config.dashboard, loaded.config.notify
    selected = Selected(Layout(manager.reader.home).selected, os.environ, name)
    app = Dashboard(
        manager,
        settings=structs.replace(settings, read_only=read_only or settings.read_only),
        keymap=keys_in_force(loaded),
        notify=notify,
        plain_ascii=is_wanted(sys.stdout.encoding, os.environ),
        tour=tour,
        watched=watched,
        alone=alone,
        first=first.result(),
        following=following,
        selected=selected,
    )
    app.pictured = pictured and not read_only
    guard().attend(sys.stdin.fileno(), app.leave, app.abandon)
    try:
        return _run(app)
    finally:
        selected.end()


def _run(app: "Dashboard") -> int:
    """Run the app until the user quits; return the exit code."""
    try:
        app.run(mouse=False)
    finally:
        if hung_up():
            abandon()
        # Textual turns off only the modes that it turned on itself.
        if app.mouse:
            sys.stderr.write(MOUSE_OFF)
        app.notifier.end(sys.stderr.write)
        if (reason := app.drafts.save()) is not None:
            sys.stderr.write(f"agentdash: an unsent prompt could not be saved: {reason}.\n")
        sys.stderr.flush()
    return app.return_code or 0


def start(*, read_only: bool = False) -> int:
    """Run the dashboard of the user's sessions, and return the exit code.

    Raises:
        ConfigError: the settings cannot be used.
        StoreError: the state folder cannot be read.
        UsageError: there is no terminal to draw on.
    """
    gc.disable()  # before the first heavy imports
    from agentdash.sessions.service.manager import SessionManager

    tolerate_small_character_sets()
    check_terminal()
    with SessionManager() as manager:
        return open_dashboard(manager, read_only=read_only, pictured=not read_only)


def replace_closed_streams() -> None:
    """Discard the output if stdout or stderr is closed, as in ``agentdash ls >&-``.

    The descriptor is then in use, so that no file of agentdash takes its number and gets what an agent prints.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(descriptor, "w", encoding="utf-8", errors="replace"))


def tolerate_small_character_sets() -> None:
    """Let the output replace characters that the terminal does not have: they are not a reason to fail."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def check_terminal() -> None:
    """Check that the terminal can show a dashboard.

    Raises:
        UsageError: there is no terminal, or it cannot be drawn on.
    """
    # Textual reads from stdin and draws on stderr.
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        raise UsageError("The dashboard needs a terminal (stdin, stdout and stderr). For a plain list: agentdash ls.")
    if os.environ.get("TERM", "") in ("", "dumb"):
        term = os.environ.get("TERM", "")
        raise UsageError(f"The dashboard does not support TERM={term!r}. For a plain list: agentdash ls.")
