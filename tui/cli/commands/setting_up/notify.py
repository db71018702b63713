"""The verb notify: send a test notification."""

import os
from typing import TYPE_CHECKING

import click

from .....sessions.errors import UsageError
from .. import common

if TYPE_CHECKING:
    from .....sessions.notifications.settings import Chosen
    from .....sessions.notifications.terminal_support import Way


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
    from .....sessions.families.enclosing import check_user
    from .....sessions.notifications.terminal_support import way
    from .....sessions.notifications.tmux import outer_terminals
    from .....sessions.settings.config import load_config

    check_user("A notification")
    chosen = way(kind or load_config().notify.terminal, os.environ, outer_terminals(os.environ))
    if chosen is not None:
        _send(chosen.sequence("agentdash", text))
    if as_json:
        known = {"kind": chosen.kind, "why": chosen.why, "tmux": chosen.tmux, "bell": chosen.bell} if chosen else None
        common.print_json({"sent": chosen is not None, "way": known})
    else:
        common.print_lines([_told(chosen)])


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


_NAMES = {
    "osc9": "OSC 9 (iTerm2)",
    "osc99": "OSC 99 (kitty)",
    "osc777": "OSC 777 (rxvt)",
    "bell": "a bell",
}


def _told(way: "Way | None") -> str:
    """Return a description of the notification that was sent."""
    if way is None:
        return "nothing sent: notify.terminal is off"
    wrapped = ", wrapped for tmux (needs `set -g allow-passthrough on`)" if way.tmux and way.kind != "bell" else ""
    beside = ", and a bell" if way.bell else ""
    return f"sent {_NAMES[way.kind]}{wrapped}{beside}; reason: {way.why}"
