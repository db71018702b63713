"""The verbs that name, keep and clean up sessions: rename, pin, mark, archive, restore, clean."""

from typing import TYPE_CHECKING

import click

from agentdash.sessions.model.durations import seconds
from agentdash.tui.cli.commands import common

if TYPE_CHECKING:
    from agentdash.sessions.model.session import Session
    from agentdash.sessions.storage.files.trash import Cleaned


@click.command()
@common.json_option
@common.ids_argument
def archive(refs: tuple[str, ...], as_json: bool) -> None:
    """Archive ended sessions.

    Archived sessions are listed only by `ls --archived` and are never cleaned up.  `restore` undoes it.
    """
    with common.open_manager() as manager:
        named = common.named(manager.reader, refs)
        common.warn_of_holders(named)
        sessions = [manager.housekeeping.archive(session.id) for session in named]
    _tell("archived", sessions, as_json)


@click.command()
@common.json_option
@click.argument("refs", metavar="[ID...]", nargs=-1)
def restore(refs: tuple[str, ...], as_json: bool) -> None:
    """Restore deleted or archived sessions.

    Without an ID: list the trash.  @last is the session deleted last.
    """
    with common.open_manager() as manager:
        if not refs:
            trashed = manager.reader.deleted()
        sessions = [manager.housekeeping.restore(ref) for ref in refs]
    if refs:
        _tell("restored", sessions, as_json)
    elif as_json:
        common.print_json(trashed)
    else:
        from agentdash.tui.render.sessions.table import trash_text

        common.print_lines(trash_text(trashed, common.style()))


@click.command()
@common.json_option
@common.id_argument
@click.argument("title", metavar="TITLE")
def rename(ref: str, title: str, as_json: bool) -> None:
    """Rename a session.

    An empty title ("") restores the automatic one.
    """
    with common.open_manager() as manager:
        session = manager.housekeeping.rename(ref, title)
    if as_json:
        from agentdash.sessions.rules.json_schema import session_json

        common.print_json(session_json(session))
    else:
        _tell("renamed", [session], as_json=False)


@click.command()
@click.option("--off", is_flag=True, help="Unpin.")
@common.json_option
@common.ids_argument
def pin(refs: tuple[str, ...], off: bool, as_json: bool) -> None:
    """Pin sessions to the top of tables and lists.

    The order of JSON output does not change.
    """
    with common.open_manager() as manager:
        sessions = [manager.housekeeping.pin(session.id, not off) for session in common.named(manager.reader, refs)]
    _tell("unpinned" if off else "pinned", sessions, as_json)


@click.command()
@click.option("--unread", is_flag=True, help="Mark as unread instead.")
@common.json_option
@common.ids_argument
def mark(refs: tuple[str, ...], unread: bool, as_json: bool) -> None:
    """Mark sessions as read or unread."""
    with common.open_manager() as manager:
        ids = [session.id for session in common.named(manager.reader, refs)]
        sessions = manager.housekeeping.mark_all_seen(ids, seen=not unread)
    _tell("marked unread" if unread else "marked read", sessions, as_json)


@click.command()
@click.option(
    "--older-than", type=seconds, default="7d", metavar="AGE", help="Minimum age, e.g. 12h, 7d (default), 4w."
)
@click.option("--dry-run", is_flag=True, help="Only show what would be deleted.")
@common.json_option
def clean(older_than: float, dry_run: bool, as_json: bool) -> None:
    """Delete old sessions and empty old trash.

    Keeps sessions that are running, are archived, left processes running, or for which another session waits.
    """
    with common.settled_manager() as manager:
        cleaned = manager.housekeeping.clean(older_than, dry_run=dry_run)
    if as_json:
        common.print_json(_cleaned_json(cleaned, dry_run))
        return
    from agentdash.tui.render.sessions.table import cleaned_text

    common.print_lines(cleaned_text(cleaned, common.style(), dry_run=dry_run))


def _cleaned_json(cleaned: "Cleaned", dry_run: bool) -> dict[str, object]:
    return {
        "dry_run": dry_run,
        "deleted": [session.id for session in cleaned.deleted],
        "kept": [session.id for session in cleaned.kept],
        "removed": [trashed.id for trashed in cleaned.removed],
        "empty_folders": cleaned.empty_folders,
        "removed_bytes": sum(trashed.bytes for trashed in cleaned.removed),
    }


def _tell(verb: str, sessions: "list[Session]", as_json: bool) -> None:
    if as_json:
        common.print_sessions(sessions, as_json=True)
    else:
        common.print_lines(f"{verb} {common.name_of(session)}" for session in sessions)
