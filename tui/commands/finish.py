"""The verbs about the end: stop, rm, wait."""

import sys
from typing import TYPE_CHECKING

import click

from ...sessions.durations import seconds
from ...sessions.errors import AgentdashError, UsageError
from ...sessions.text import one_line
from . import common

if TYPE_CHECKING:
    from ...sessions.manager import SessionManager
    from ...sessions.model import Receipt, Session


@click.command()
@click.option("--now", is_flag=True, help="SIGKILL at once.")
@common.json_option
@common.live_ids_argument
def stop(refs: tuple[str, ...], now: bool, as_json: bool) -> int:
    """End sessions and all that they started.

    Prints a receipt: which process was ended by which signal, and what is left.
    """
    with common.open_manager() as manager:
        sessions = _named(manager, refs)
        receipts = [manager.stop(session.id, now=now) for session in sessions]
    if as_json:
        from ...sessions.schema import receipt_json

        common.print_json(common.one_or_all([receipt_json(receipt) for receipt in receipts]))
    else:
        for session, receipt in zip(sessions, receipts, strict=True):
            _say_receipt(receipt, session)
    return common.FAILED if any(receipt.left for receipt in receipts) else 0


@click.command()
@click.option("--yes", "-y", is_flag=True, help="Also what is running, without asking.")
@common.json_option
@common.ids_argument
def rm(refs: tuple[str, ...], yes: bool, as_json: bool) -> int:
    """Delete sessions.

    One that is running is stopped first, after asking.
    """
    with common.open_manager() as manager:
        sessions = _named(manager, refs)
        if not yes and not _agreed([session for session in sessions if session.status.live]):
            click.echo("Nothing was deleted.", err=True)
            return common.FAILED
        receipts = [manager.delete(session.id) for session in sessions]
    if as_json:
        from ...sessions.schema import receipt_json

        told = [
            {"deleted": session.id, "receipt": receipt and receipt_json(receipt)}
            for session, receipt in zip(sessions, receipts, strict=True)
        ]
        common.print_json(common.one_or_all(told))
        return 0
    for session, receipt in zip(sessions, receipts, strict=True):
        if receipt:
            _say_receipt(receipt, session)
        common.say([f"deleted {_name(session)}"])
    return 0


@click.command()
@click.option("--any", "any_", is_flag=True, help="Until the first of them has ended.")
@click.option("--timeout", type=seconds, metavar="S", help="Give up after S seconds, or 10m, 2h (exit 124).")
@common.json_option
@common.live_ids_argument
def wait(refs: tuple[str, ...], any_: bool, timeout: float | None, as_json: bool) -> int:
    """Wait until sessions have ended.

    Exits 0 if all are done, 1 if any is not, 124 after the timeout.
    """
    with common.open_manager() as manager:
        sessions = manager.wait(refs, any_=any_, timeout=timeout)
    common.print_sessions(sessions, as_json=as_json)
    return common.outcome(session for session in sessions if session.status.ended)


def _named(manager: "SessionManager", refs: tuple[str, ...]) -> list["Session"]:
    """All of them, before anything is done to the first; each once."""
    try:
        sessions = [manager.get(ref, destructive=True) for ref in refs]
    except AgentdashError as error:
        untouched = "" if len(refs) == 1 else " Nothing was done to the others."
        raise type(error)(f"{error}{untouched}") from None
    return list({session.id: session for session in sessions}.values())


def _name(session: "Session") -> str:
    return f'{session.id[:8]} "{one_line(session.title or session.task, 40)}"'


def _agreed(running: list["Session"]) -> bool:
    """Whether what is running may be ended; asks whoever sits there, and No is the default.

    Raises:
        UsageError: nobody can be asked.
    """
    if not running:
        return True
    names = ", ".join(_name(session) for session in running)
    if not sys.stdin.isatty():
        raise UsageError(f"Still running: {names}. Say --yes to stop and delete it.")
    return click.confirm(f"Stop and delete {names}?", default=False, err=True)


def _say_receipt(receipt: "Receipt", session: "Session") -> None:
    from ..render.cards import receipt_text

    common.say(receipt_text(receipt, session.title or session.task, common.look()))
