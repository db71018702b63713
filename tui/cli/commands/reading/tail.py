"""The verbs that follow a session as plain lines: tail, logs, peek."""

from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from .....sessions.errors import UnknownSessionError
from ...exit_codes import FAILED
from .. import common
from .read import print_steps

if TYPE_CHECKING:
    from .....sessions.manager import SessionManager
    from .....sessions.model import Session, Step
    from .....sessions.reader import SessionReader

_LAST = 10
_PEEKED = 5

_turn = click.option("--turn", type=click.IntRange(min=1), metavar="N", help="Only turn N; exit when it ends.")
_full = click.option("--full", is_flag=True, help="No truncation; show diffs.")
_next_turns = click.option(
    "--follow-turns", "next_turns", is_flag=True, help="Keep following later turns until Ctrl+C."
)


@click.command()
@click.option("--lines", "-n", "last", type=click.IntRange(min=0), default=_LAST, show_default=True, metavar="N",
              help="Number of earlier steps to print first.")  # fmt: skip
@_turn
@_next_turns
@_full
@common.json_option
@common.ids_argument
def tail(refs: tuple[str, ...], last: int, turn: int | None, next_turns: bool, full: bool, as_json: bool) -> int:
    """Follow sessions as plain text.

    A long step is printed as one line when it begins, and with its result when it ends.  With --json, each is one
    line with the session id, and `status` is "running" at first.  With several sessions, lines begin with the session's
    name.

    Exits when all sessions have ended: 0 if all are done, else 1.  Ctrl+C leaves them running.
    """
    return follow(refs, last=last, turn=turn, next_turns=next_turns, full=full, as_json=as_json)


@click.command()
@click.option("--follow", "-f", "going_on", is_flag=True, help="Follow, like `tail`.")
@click.option(
    "--lines", "-n", "last", type=click.IntRange(min=0), metavar="N", help="Only the last N steps (default: all)."
)
@_turn
@_next_turns
@_full
@common.json_option
@common.id_argument
def logs(
    ref: str, going_on: bool, last: int | None, turn: int | None, next_turns: bool, full: bool, as_json: bool
) -> int:
    """Print a session's steps as plain text; -f follows.

    `logs -f` is like `tail` with all earlier steps; without -f, like `trajectory`.
    """
    if going_on or next_turns:
        return follow([ref], last=last, turn=turn, next_turns=next_turns, full=full, as_json=as_json)
    with common.open_manager() as manager:
        session = manager.reader.get(ref)
        if last is not None and turn is None:
            print_steps(_last_steps(manager.reader, session, last, whole=full or as_json), full=full, as_json=as_json)
        else:
            steps = manager.reader.steps.each_step(session.id, turn)
            print_steps(iter(deque(steps, maxlen=last)) if last is not None else steps, full=full, as_json=as_json)
        if not as_json:
            common.looked_at(manager, session, turn)
    return 0


@click.command()
@click.option("--lines", "-n", "last", type=click.IntRange(min=0), default=_PEEKED, show_default=True, metavar="N",
              help="Number of steps.")  # fmt: skip
@_full
@common.json_option
@common.id_argument
def peek(ref: str, last: int, full: bool, as_json: bool) -> None:
    """Show the last steps and the state of a session.

    Reads only the end of a long session.
    """
    with common.settled_manager() as manager:
        session = manager.reader.get(ref)
        steps = _last_steps(manager.reader, session, last, whole=full)
    if as_json:
        from .....sessions.json_schema import session_json, step_json

        common.print_json({"session": session_json(session), "steps": [step_json(step) for step in steps]})
        return
    print_steps(steps, full=full, as_json=False)
    common.print_sessions([session], as_json=False)


def _last_steps(reader: "SessionReader", session: "Session", last: int, *, whole: bool) -> list["Step"]:
    """Return the last steps of a session; only its end is read."""
    from .....sessions.transcript.tail import StepTail

    followed = StepTail(reader.steps.open_trajectory(session.id), whole=whole)
    try:
        return [one.step for one in followed.begin(last)]
    finally:
        followed.close()


def follow(
    refs: Sequence[str],
    *,
    last: int | None = _LAST,
    turn: int | None = None,
    next_turns: bool = False,
    full: bool = False,
    as_json: bool = False,
) -> int:
    """Print the steps of sessions as they come, until all have ended; return the exit code.

    Raises:
        click.UsageError: only one turn is to be printed, and later ones too.
    """
    if turn is not None and next_turns:
        raise click.UsageError("--turn and --follow-turns exclude each other: one turn ends, later ones follow.")
    from ...follow_lines import Printer, follow

    with common.open_manager() as manager:
        sessions = common.named(manager.reader, refs)
        write_json = common.print_json if as_json else None
        printer = Printer(common.style(full=full), common.print_lines, write_json, named=len(sessions) > 1)
        try:
            good = follow(manager, sessions, printer, _complain, last=last, turn=turn, full=full, next_turns=next_turns)
        except KeyboardInterrupt:
            return 130
        if not as_json:
            for session in sessions:
                _looked_at(manager, session.id)
    return 0 if good else FAILED


def _looked_at(manager: "SessionManager", session_id: str) -> None:
    with suppress(UnknownSessionError):  # it was deleted while it was followed
        common.looked_at(manager, manager.reader.get(session_id))


def _complain(text: str) -> None:
    common.notice(text)
