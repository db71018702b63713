"""The verbs that follow sessions: tail, watch, events."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from agentdash.sessions.model.errors import UnknownSessionError
from agentdash.tui.cli.commands import common
from agentdash.tui.cli.commands.reading.steps import last_steps, print_steps
from agentdash.tui.cli.exit_codes import FAILED, INTERRUPTED

if TYPE_CHECKING:
    from agentdash.sessions.model.session import Session
    from agentdash.sessions.service.events.feed import EventFeed
    from agentdash.sessions.service.manager import SessionManager

_LAST = 10


@click.command()
@click.option("--lines", "-n", "last", type=common.LastSteps(), default=_LAST, show_default=True, metavar="N|all",
              help="Number of earlier steps to print first.")  # fmt: skip
@click.option("--turn", type=click.IntRange(min=1), metavar="N", help="Only turn N; exit when it ends.")
@click.option("--follow-turns", "next_turns", is_flag=True, help="Keep following later turns until Ctrl+C.")
@click.option("--once", is_flag=True, help="Print the last steps and the state of each session, and exit.")
@click.option("--full", is_flag=True, help="No truncation; show diffs.")
@common.json_option
@common.ids_argument
def tail(
    refs: tuple[str, ...], last: int, turn: int | None, next_turns: bool, once: bool, full: bool, as_json: bool
) -> int:
    """Follow sessions as plain text.

    A long step is printed as one line when it begins, and with its result when it ends.  With --json, each is one
    line with the session id, and `status` is "running" at first.  With several sessions, lines begin with the session's
    name.

    Exits when all sessions have ended: 0 if all are done, else 1.  Ctrl+C leaves them running.

    --once reads only the end of a long session, and exits 0.
    """
    number = None if last == common.ALL_STEPS else last
    if not once:
        return follow(refs, last=number, turn=turn, next_turns=next_turns, full=full, as_json=as_json)
    if turn is not None or next_turns:
        raise click.UsageError("--once cannot be combined with --turn or --follow-turns.")
    _peek(refs, number, full=full, as_json=as_json)
    return 0


def _peek(refs: Sequence[str], last: int | None, *, full: bool, as_json: bool) -> None:
    """Print the last steps and the state of each session; the JSON of each is one line."""
    with common.settled_manager() as manager:
        for session in list(map(manager.reader.get, refs)):
            steps = last_steps(manager.reader, session, last, whole=full)
            if as_json:
                from agentdash.sessions.rules.json_schema import session_json, step_json

                common.print_json({"session": session_json(session), "steps": [step_json(step) for step in steps]})
                continue
            print_steps(steps, full=full, as_json=False)
            common.print_sessions([session], as_json=False)


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
    from agentdash.tui.cli.follow_lines import Printer, follow

    with common.open_manager() as manager:
        sessions = common.named(manager.reader, refs)
        write_json = common.print_json if as_json else None
        printer = Printer(common.style(full=full), common.print_lines, write_json, named=len(sessions) > 1)
        try:
            good = follow(
                manager, sessions, printer, common.notice, last=last, turn=turn, full=full, next_turns=next_turns
            )
        except KeyboardInterrupt:
            return 130
        if not as_json:
            for session in sessions:
                with suppress(UnknownSessionError):  # it was deleted while it was followed
                    common.looked_at(manager, manager.reader.get(session.id))
    return 0 if good else FAILED


@click.command()
@click.option(
    "--follow", "-f", "table", is_flag=False, flag_value="", metavar="[NAME]",
    help="The session that is selected in the table of this tmux window, or in the table with this name.",
)  # fmt: skip
@common.optional_ids_argument
@click.pass_context
def watch(context: click.Context, refs: tuple[str, ...], table: str | None) -> int:
    """Watch one to four sessions side by side, full screen.

    q quits (sessions keep running).  If stdout is not a terminal, print lines like `tail`.

    With --follow, moving in the table shows another session here; a prompt that is being written stays with its
    session.  Without a table it waits for one.
    """
    if table is not None:
        return _follow_table(context, refs, table)
    if not refs:
        raise click.UsageError("Name a session, or let it --follow a table.")
    if not sys.stdout.isatty():
        return follow(refs)
    from agentdash.tui.screens.watch import MOST
    from agentdash.tui.startup import check_terminal, open_dashboard

    if len(refs) > MOST:
        raise click.UsageError(f"{len(refs)} sessions are too many: at most {MOST} fit side by side.")
    check_terminal()
    with common.open_manager() as manager:
        read_only = context.find_root().params["read_only"] or manager.reader.settings.config().dashboard.read_only
        if not read_only:
            manager.housekeeping.settle()
        chosen = {session.id: session for session in map(manager.reader.get, refs)}
        return open_dashboard(manager, watched=list(chosen.values()), read_only=read_only)


def _follow_table(context: click.Context, refs: Sequence[str], name: str) -> int:
    """Show the session that is selected in a table."""
    import os

    from agentdash.sessions.service.selected import Follower
    from agentdash.sessions.storage.paths import Layout
    from agentdash.tui.startup import check_terminal, open_dashboard

    if refs:
        raise click.UsageError("--follow shows the session that the table selects: name no other one.")
    with common.open_manager() as manager:
        follower = Follower(Layout(manager.reader.home).selected, os.environ, name)
        check_terminal()
        return open_dashboard(manager, read_only=context.find_root().params["read_only"], following=follower)


@click.command()
@click.option("--follow", "-f", "going_on", is_flag=True, help="Keep printing until Ctrl+C.")
@click.option(
    "--since", type=click.IntRange(0, common.MOST_NUMBER), metavar="SEQ",
    help="Only what happened after SEQ, the `seq` of a line.",
)  # fmt: skip
@click.option("--filter", "words", default="", metavar="TEXT", shell_complete=common.complete_filter,
              help="Filter, for example 'agent:codex cost>1'.")  # fmt: skip
@click.option(
    "--family", metavar="ID", shell_complete=common.complete_ids, help="Only a session and those that it leads."
)
@click.option("--until-done", is_flag=True, help="Exit when no selected session is queued or at work.")
@click.option("--steps", is_flag=True, help="Also print the steps of sessions at work (with --follow).")
@click.option("--json", "as_json", is_flag=True, help="Output JSON lines (always the case).")
def events(
    going_on: bool, since: int | None, words: str, family: str | None, until_done: bool, steps: bool, as_json: bool
) -> int:
    """Print what happens to sessions, as JSON lines.

    The first line is {"event": "begin", "seq": N}.  Without --since, the sessions that exist follow ("present").  Then
    there is a line for each change: started, status, waiting, stuck, ended, usage, changed, deleted.  After a restart,
    --since with the `seq` of the last line goes on: no change and no end is missed, and no end is printed twice.
    Without --follow, exits when everything so far is printed.

    --until-done implies --follow, and exits 0 if all selected sessions are done, 1 if any is not.
    """
    del as_json  # the lines are JSON in any case; every verb takes the option
    following = going_on or until_done
    if steps and not following:
        raise click.UsageError("--steps works only with --follow or --until-done.")
    with common.settled_manager() as manager:
        feed = _feed(manager, words, family, since)
        try:
            _print(manager, feed, following=following, until_done=until_done, steps=steps)
        except KeyboardInterrupt:
            return INTERRUPTED
    return 0 if feed.good or not until_done else FAILED


def _feed(manager: "SessionManager", words: str, family: str | None, since: int | None) -> "EventFeed":
    """Return the events that the user asked for.

    Raises:
        UsageError: the filter is not valid.
        UnknownSessionError, AmbiguousSessionError: the family's session does not exist, or several fit.
    """
    from agentdash.sessions.model.errors import StoreError
    from agentdash.sessions.rules.filter_query import parse
    from agentdash.sessions.service.events.feed import OUTSIDE_LEAD, EventFeed, Selection
    from agentdash.sessions.storage.files import trash

    def trashed(session_id: str) -> "Session | None":
        try:
            record = trash.record(manager.layout, session_id)
        except StoreError:
            return None
        return record.session if record else None

    asked = parse(words)
    if family is not None and not OUTSIDE_LEAD.fullmatch(family):
        family = manager.reader.get(family).id
    return EventFeed(manager.store.database, Selection(asked, family), trashed, since)


def _print(manager: "SessionManager", feed: "EventFeed", *, following: bool, until_done: bool, steps: bool) -> None:
    import asyncio

    from agentdash.tui.cli.follow_events import EventPrinter, StepLines, follow_events

    lines = StepLines(manager.reader) if steps else None
    printer = EventPrinter(feed, common.print_bytes, lines)
    try:
        if following:
            asyncio.run(follow_events(manager, printer, lambda: until_done and feed.over, steps=steps))
        else:
            printer.begin()
    finally:
        if lines is not None:
            lines.close()
