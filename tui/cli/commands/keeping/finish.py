"""The verbs that end sessions, list their processes or wait for their end: stop, ps, rm, wait."""

import sys
from typing import TYPE_CHECKING

import click

from agentdash.sessions.model.durations import seconds
from agentdash.sessions.model.errors import AgentdashError, StoreError, UsageError
from agentdash.tui.cli.commands import common
from agentdash.tui.cli.exit_codes import FAILED

if TYPE_CHECKING:
    from agentdash.sessions.model.session import Receipt, Session
    from agentdash.sessions.service.manager import SessionManager


@click.command()
@click.option("--now", is_flag=True, help="Send SIGKILL immediately.")
@click.option("--family", is_flag=True, help="Also stop the sessions that they started.")
@click.option("--reason", metavar="TEXT", default="", help="Why, in a line: recorded with the stop.")
@common.json_option
@common.live_ids_argument
def stop(refs: tuple[str, ...], now: bool, family: bool, reason: str, as_json: bool) -> int:
    """Stop sessions and all their processes.

    Prints a receipt for each: which signal ended which process, and which processes are left.
    """
    from agentdash.sessions.model.session import Receipt

    try:
        with common.open_manager() as manager:
            outcomes = _stopped(manager, refs, now=now, family=family, reason=reason)
    except StoreError as error:
        outcomes = [(ref, _stopped_unread(ref, error)) for ref in refs]
    receipts = [(label, one) for label, one in outcomes if isinstance(one, Receipt)]
    if as_json:
        from agentdash.sessions.rules.json_schema import record_json

        common.print_json([record_json(receipt) for _, receipt in receipts])
    for label, receipt in () if as_json else receipts:
        _say_receipt(receipt, label)
    complain([one for _, one in outcomes if isinstance(one, AgentdashError)])
    return FAILED if any(receipt.left for _, receipt in receipts) else 0


def _stopped(
    manager: "SessionManager", refs: tuple[str, ...], *, now: bool, family: bool, reason: str
) -> "list[tuple[str, Receipt | AgentdashError]]":
    """Stop sessions; return the label of each with its receipt, or with the error that prevented it."""
    sessions = common.named(manager.reader, refs)
    ids = [session.id for session in sessions]
    from agentdash.sessions.service.lifecycle.stop_family import StopHow

    how = StopHow(now=now, reason=reason)
    if family:
        return [(one.label, answer) for one, answer in manager.stop_family(ids, how)]
    answers = manager.stop_all(ids, how)
    return [(session.label, answer) for session, answer in zip(sessions, answers, strict=True)]


def _stopped_unread(ref: str, why: StoreError) -> "Receipt | AgentdashError":
    """Stop a session although no row can be read, for the user alone: nothing shows what an agent may stop."""
    from agentdash.sessions.runner.caller import find_caller
    from agentdash.sessions.service.lifecycle.stop import stop_unread
    from agentdash.sessions.storage.paths import Layout, default_home

    if not find_caller().acts_for_user:
        raise why
    try:
        return stop_unread(Layout(default_home()), ref, why)
    except AgentdashError as error:
        return error


@click.command()
@common.json_option
@common.id_argument
def ps(ref: str, as_json: bool) -> None:
    """List a session's processes: CPU, memory, ports."""
    with common.open_reader() as reader:
        processes = reader.processes(ref)
    if as_json:
        common.print_json(processes)
        return
    from agentdash.tui.render.sessions.cards import processes_text

    common.print_lines(processes_text(processes, common.style()))


@click.command()
@click.option("--yes", "-y", is_flag=True, help="Stop running sessions without asking.")
@common.json_option
@common.ids_argument
def rm(refs: tuple[str, ...], yes: bool, as_json: bool) -> int:
    """Move sessions to the trash.

    Running sessions are stopped first, after a confirmation.  `restore` undoes it.
    """
    with common.open_manager() as manager:
        sessions = common.named(manager.reader, refs)
        if not yes and not _agreed([session for session in sessions if session.status.live]):
            common.notice("Nothing deleted.", named=False)
            return FAILED
        common.warn_of_holders(sessions)
        deleted, errors = _deleted(manager, sessions)
    if as_json:
        from agentdash.sessions.rules.json_schema import record_json

        common.print_json([
            {"deleted": session.id, "receipt": receipt and record_json(receipt)} for session, receipt in deleted
        ])  # fmt: skip
    for session, receipt in () if as_json else deleted:
        if receipt:
            _say_receipt(receipt, session.label)
        common.print_lines([f"deleted {common.name_of(session)} (undo: agentdash restore {session.short_id})"])
    complain(errors)
    return 0


@click.command()
@click.option("--any", "any_", is_flag=True, help="Wait for the first to end, not for all.")
@click.option("--timeout", type=seconds, metavar="S", help="Give up after S seconds, or 10m, 2h (exit 124).")
@common.json_option
@common.live_ids_argument
def wait(refs: tuple[str, ...], any_: bool, timeout: float | None, as_json: bool) -> int:
    """Wait until sessions end.

    Exits 0 if all are done, 1 if any is not, 124 after the timeout.  Asks of live agents, and the
    reason why a session is not started, are printed on stderr.
    """
    with common.open_manager() as manager:
        sessions = manager.wait(refs, any_=any_, timeout=timeout, asked=common.say_asked, blocked=common.say_blocked)
    common.print_sessions(sessions, as_json=as_json)
    return common.outcome(session for session in sessions if session.status.ended)


def _deleted(
    manager: "SessionManager", sessions: "list[Session]"
) -> "tuple[list[tuple[Session, Receipt | None]], list[AgentdashError]]":
    """Delete sessions in turn; if one cannot be deleted, the rest still are."""
    deleted, errors = [], []
    for session in sessions:
        try:
            deleted.append((session, manager.delete(session.id)))
        except AgentdashError as error:
            errors.append(error)
    return deleted, errors


def complain(errors: list[AgentdashError]) -> None:
    """Report all failures at the end.

    Raises:
        AgentdashError: there was a failure.
    """
    if errors:
        raise errors[0] if len(errors) == 1 else AgentdashError("\n".join(map(str, errors)))


def _agreed(running: list["Session"]) -> bool:
    """Ask the user whether the running sessions may be stopped, and return the answer; No is the default.

    Raises:
        UsageError: there is no terminal to ask on.
    """
    if not running:
        return True
    names = ", ".join(map(common.name_of, running))
    if not sys.stdin.isatty():
        raise UsageError(f"Still running: {names}. Add --yes to stop and delete.")
    return click.confirm(f"Stop and delete {names}?", default=False, err=True)


def _say_receipt(receipt: "Receipt", label: str) -> None:
    from agentdash.tui.render.sessions.cards import receipt_text

    common.print_lines(receipt_text(receipt, label, common.style()))
