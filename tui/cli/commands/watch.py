"""The verbs that show only the table or only steps, for terminal panes of their own: table, watch."""

import sys

import click

from . import common
from .tail import follow


@click.command()
@click.pass_context
def table(context: click.Context) -> int:
    """The table of sessions alone: for a pane of its own, beside others with `watch`.

    Enter opens a session in the table's place, Esc comes back.  q leaves; the sessions go on.
    """
    from ...startup import check_terminal, open_dashboard

    check_terminal()
    with common.open_manager() as manager:
        return open_dashboard(manager, alone=True, read_only=context.find_root().params["read_only"])


@click.command()
@common.ids_argument
@click.pass_context
def watch(context: click.Context, refs: tuple[str, ...]) -> int:
    """The steps of a session as they come, full screen; of two to four, side by side.

    It is quiet: nothing moves unless something happens.  q leaves; the session goes on.  If stdout is not a terminal,
    it prints lines as `tail` does.
    """
    if not _has_screen():
        return follow(refs)
    from ...screens.watch import MOST
    from ...startup import check_terminal, open_dashboard

    if len(refs) > MOST:
        raise click.UsageError(f"{len(refs)} sessions are too many: {MOST} have room side by side.")
    check_terminal()
    with common.open_manager() as manager:
        read_only = context.find_root().params["read_only"] or manager.reader.config().dashboard.read_only
        if not read_only:
            manager.housekeeping.settle()
        chosen = {session.id: session for session in map(manager.reader.get, refs)}
        return open_dashboard(manager, watched=list(chosen.values()), read_only=read_only)


def _has_screen() -> bool:
    return sys.stdout.isatty()
