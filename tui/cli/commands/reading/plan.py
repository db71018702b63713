"""The verb that shows the windows of the plans of agents: plan."""

import click

from .. import common


@click.command()
@common.json_option
def plan(as_json: bool) -> None:
    """Show how much of the plans of agents is used.

    Of the five hours and of the week, for example.

    The figures are the newest that claude and codex reported in a session; agentdash asks no server.
    """
    from .....sessions.clock import now_ms
    from .....sessions.values.plan_windows import current, window_words

    with common.open_reader() as reader:
        now = now_ms()
        windows = current(reader.plan_windows(), now)
    if as_json:
        common.print_json(windows)
    elif windows:
        from .....sessions.text.units import age

        common.print_lines([f"{window_words(one, now)}, reported {age(now - one.seen_at)} ago" for one in windows])
    else:
        common.print_lines(["No agent has reported how much of its plan is used."])
