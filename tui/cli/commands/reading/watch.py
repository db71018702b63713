"""The verbs that show only the table or only steps, for terminal panes of their own: table, watch."""

import sys

import click

from .. import common
from .tail import follow


@click.command()
@click.pass_context
def table(context: click.Context) -> int:
    """Open only the session table, e.g. for a tmux pane.

    Enter opens a session in place of the table, Esc goes back, q quits (sessions keep running).
    """
    from ....startup import check_terminal, open_dashboard

    check_terminal()
    with common.open_manager() as manager:
        return open_dashboard(manager, alone=True, read_only=context.find_root().params["read_only"])


@click.command()
@common.ids_argument
@click.pass_context
def watch(context: click.Context, refs: tuple[str, ...]) -> int:
    """Watch one to four sessions side by side, full screen.

    q quits (sessions keep running).  If stdout is not a terminal, print lines like `tail`.
    """
    if not _has_screen():
        return follow(refs)
    from ....screens.watch import MOST
    from ....startup import check_terminal, open_dashboard

    if len(refs) > MOST:
        raise click.UsageError(f"{len(refs)} sessions are too many: at most {MOST} fit side by side.")
    check_terminal()
    with common.open_manager() as manager:
        read_only = context.find_root().params["read_only"] or manager.reader.settings.config().dashboard.read_only
        if not read_only:
            manager.housekeeping.settle()
        chosen = {session.id: session for session in map(manager.reader.get, refs)}
        return open_dashboard(manager, watched=list(chosen.values()), read_only=read_only)


def _has_screen() -> bool:
    return sys.stdout.isatty()
