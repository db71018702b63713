"""The verb for status lines and prompts of a shell: status."""

import click

from .. import common


@click.command()
@click.option("--tmux", is_flag=True, help="With the colours of a tmux status line.")
@common.json_option
def status(tmux: bool, as_json: bool) -> None:
    """Count the sessions that need you, work, wait or failed.

    One line, and nothing if all are zero.  For tmux.conf: set -ag status-right '#(agentdash status --tmux)'
    """
    from .....sessions.clock import now_ms
    from .....sessions.storage.counts import Counts, counts
    from .....sessions.storage.database import Database
    from .....sessions.storage.paths import Layout, default_home
    from .....sessions.storage.use.plan_windows import PlanWindows
    from .....sessions.values.plan_windows import PlanWindow, those_that_matter, window_words

    if tmux and as_json:
        raise click.UsageError("--tmux and --json exclude each other.")
    layout = Layout(default_home())
    found, plans = Counts(), list[PlanWindow]()
    if layout.database.exists():  # a status line makes no state folder
        database = Database(layout.database)
        try:
            found = counts(database)
            plans = those_that_matter(PlanWindows(database).all(), now_ms())
        finally:
            database.close()
    if as_json:
        common.print_json(found)
        return
    from ....render.sessions.status_line import status_line

    if line := status_line(found, tmux=tmux, plans=[window_words(one, now_ms()) for one in plans[:1]]):
        common.print_lines([line])
