"""The verb for status lines and prompts of a shell: status."""

import click
from msgspec import to_builtins

from .. import common


@click.command()
@click.option("--tmux", is_flag=True, help="With the colours of a tmux status line.")
@common.json_option
def status(tmux: bool, as_json: bool) -> None:
    """Count the sessions that need you, work, wait or failed.

    One line, and nothing if all are zero.  For tmux.conf: set -ag status-right '#(agentdash status --tmux)'

    --json has the windows of the plans of agents too, as plan --json prints them.
    """
    from .....sessions.clock import now_ms
    from .....sessions.storage.counts import Counts, counts
    from .....sessions.storage.database import Database
    from .....sessions.storage.paths import Layout, default_home
    from .....sessions.storage.use.plan_windows import PlanWindows
    from .....sessions.values.plan_windows import PlanWindow, current, those_that_matter, window_words

    if tmux and as_json:
        raise click.UsageError("--tmux and --json exclude each other.")
    layout = Layout(default_home())
    found, plans, now = Counts(), list[PlanWindow](), now_ms()
    if layout.database.exists():  # a status line makes no state folder
        database = Database(layout.database)
        try:
            found = counts(database)
            plans = current(PlanWindows(database).all(), now)
        finally:
            database.close()
    if as_json:
        common.print_json(to_builtins(found) | {"plans": to_builtins(plans)})
        return
    from ....render.sessions.status_line import status_line

    words = [window_words(one, now) for one in those_that_matter(plans, now)[:1]]
    if line := status_line(found, tmux=tmux, plans=words):
        common.print_lines([line])
