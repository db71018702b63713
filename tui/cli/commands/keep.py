"""The verbs that name, keep and clean up sessions: rename, pin, mark, archive, restore, clean."""

from typing import TYPE_CHECKING

import click

from ....sessions.text.durations import seconds
from . import common

if TYPE_CHECKING:
    from ....sessions.model import Session
    from ....sessions.storage.trash import Cleaned


@click.command()
@common.json_option
@common.ids_argument
def archive(refs: tuple[str, ...], as_json: bool) -> None:
    """Put ended sessions out of the way.

    No list shows them (but ls --archived), no clean-up takes them; restore brings them back.
    """
    with common.open_manager() as manager:
        sessions = [manager.housekeeping.archive(session.id) for session in common.named(manager.reader, refs)]
    _tell("archived", sessions, as_json)


@click.command()
@common.json_option
@click.argument("refs", metavar="[ID...]", nargs=-1)
def restore(refs: tuple[str, ...], as_json: bool) -> None:
    """Bring back sessions that were deleted or archived.

    Without an ID: list what lies in the trash.  @last is what was deleted last.
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
        from ...render.trash import trash_text

        common.print_lines(trash_text(trashed, common.style()))


@click.command()
@common.json_option
@common.id_argument
@click.argument("title", metavar="TITLE")
def rename(ref: str, title: str, as_json: bool) -> None:
    """Give a session another title.

    An empty one ("") gives the automatic title back.
    """
    with common.open_manager() as manager:
        session = manager.housekeeping.rename(ref, title)
    if as_json:
        from ....sessions.json_schema import session_json

        common.print_json(session_json(session))
    else:
        _tell("renamed", [session], as_json=False)


@click.command()
@click.option("--off", is_flag=True, help="Undo it.")
@common.json_option
@common.ids_argument
def pin(refs: tuple[str, ...], off: bool, as_json: bool) -> None:
    """Keep sessions above the others in every table and list; JSON has them in their order."""
    with common.open_manager() as manager:
        sessions = [manager.housekeeping.pin(session.id, not off) for session in common.named(manager.reader, refs)]
    _tell("unpinned" if off else "pinned", sessions, as_json)


@click.command()
@click.option("--unread", is_flag=True, help="Mark them unread.")
@common.json_option
@common.ids_argument
def mark(refs: tuple[str, ...], unread: bool, as_json: bool) -> None:
    """Mark sessions read, or unread: an unread one that has ended needs you."""
    with common.open_manager() as manager:
        ids = [session.id for session in common.named(manager.reader, refs)]
        sessions = manager.housekeeping.mark_all_seen(ids, seen=not unread)
    _tell("marked unread" if unread else "marked read", sessions, as_json)


@click.command()
@click.option("--older-than", type=seconds, default="7d", metavar="AGE", help="Such as 12h, 7d (default), 4w.")
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@common.json_option
def clean(older_than: float, dry_run: bool, as_json: bool) -> None:
    """Delete what ended long ago, and empty the trash of what was deleted long ago.

    What runs, is archived, or has left processes running stays.
    """
    with common.settled_manager() as manager:
        cleaned = manager.housekeeping.clean(older_than, dry_run=dry_run)
    if as_json:
        common.print_json(_cleaned_json(cleaned, dry_run))
        return
    from ...render.trash import cleaned_text

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
        from ....sessions.json_schema import session_json

        common.print_json([session_json(session) for session in sessions])
    else:
        common.print_lines(f"{verb} {common.name_of(session)}" for session in sessions)
