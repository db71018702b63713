"""The verb takeover: open the agent's own interface on a session."""

import sys

import click
from msgspec import to_builtins

from .....sessions.errors import UsageError
from ...exit_codes import FAILED
from .. import common


@click.command()
@common.json_option
@common.id_argument
def takeover(ref: str, as_json: bool) -> int:
    """Open the agent's own interface on an idle session.

    The session's conversation goes on there, with its folder and its recorded environment.  Until the interface is
    closed, prompts wait in the session's queue.  What you say there becomes one turn of the session.
    """
    if not sys.stdin.isatty() or not (sys.stdout.isatty() or (as_json and sys.stderr.isatty())):
        raise UsageError("takeover needs a terminal. To print the command instead: agentdash resume-command ID")
    from .....sessions.text.sanitize import clean
    from ....services.interface_run import run_interface
    from ....texts import takeover_texts

    with common.open_manager() as manager:
        taken = manager.take_over(ref)
        done = run_interface(manager, taken, None if sys.stdout.isatty() else sys.stderr.fileno())
        if as_json:
            common.print_json(to_builtins(done))
        else:
            common.print_lines([clean(takeover_texts.outcome(taken.session, done))])
        if failure := takeover_texts.failed(taken.session, done):
            common.notice(clean(failure))
            return FAILED
    return 0
