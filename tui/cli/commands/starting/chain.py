"""The verb for sessions that wait for the end of another one: start."""

from typing import TYPE_CHECKING

import click

from .....sessions.errors import AgentdashError, UnknownSessionError, UsageError
from .. import common
from ..keeping.finish import complain
from .start import one_other

if TYPE_CHECKING:
    from .....sessions.manager import SessionManager
    from .....sessions.model import Session


@click.command()
@click.option(
    "--after", multiple=True, callback=one_other, metavar="OTHER", shell_complete=common.complete_ids,
    help="Wait for session OTHER instead.",
)  # fmt: skip
@click.option("--no-answer", is_flag=True, help="Start without the last message of the other session.")
@common.json_option
@common.live_ids_argument
def start(refs: tuple[str, ...], after: str, no_answer: bool, as_json: bool) -> None:
    """Start sessions that wait for another one, now.

    They get the last message of the session that they waited for, also if it failed.  To cancel them, use stop.
    """
    if after and no_answer:
        raise UsageError("--after and --no-answer cannot be combined.")
    with common.open_manager() as manager:
        try:
            sessions = common.named(manager.reader, refs)
        except UnknownSessionError as error:
            raise UnknownSessionError(f"{error}. To start a new one: agentdash spawn") from None
        changed, errors = [], []
        for session in sessions:
            try:
                changed.append(_changed(manager, session, after, answer=not no_answer))
            except AgentdashError as error:
                errors.append(error)
    common.print_sessions(changed, as_json=as_json)
    complain(errors)


def _changed(manager: "SessionManager", session: "Session", after: str, *, answer: bool) -> "Session":
    """Start a session that waits, or make it wait for another one."""
    if after:
        return manager.chains.wait_for(session.id, after)
    return manager.started(manager.chains.start(session.id, answer=answer).id)
