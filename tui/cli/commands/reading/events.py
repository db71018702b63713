"""The verb that prints what happens to the sessions, for scripts: events."""

from typing import TYPE_CHECKING

import click

from ...exit_codes import FAILED, INTERRUPTED
from .. import common

if TYPE_CHECKING:
    from .....sessions.events.feed import EventFeed
    from .....sessions.manager import SessionManager
    from .....sessions.model import Session


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
    from .....sessions.errors import StoreError
    from .....sessions.events.feed import OUTSIDE_LEAD, EventFeed, Selection
    from .....sessions.rules.filter_query import parse
    from .....sessions.storage.files import trash

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
    from ...follow_events import EventPrinter, StepLines, follow_events

    lines = StepLines(manager.reader) if steps else None
    printer = EventPrinter(feed, common.print_bytes, lines)
    try:
        if following:
            follow_events(manager, printer, lambda: until_done and feed.over, steps=steps)
        else:
            printer.begin()
    finally:
        if lines is not None:
            lines.close()
