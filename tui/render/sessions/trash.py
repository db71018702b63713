"""The sessions in the trash, and the result of a clean-up."""

from collections.abc import Iterator, Sequence

from agentdash.sessions.model.session import Session, short_id
from agentdash.sessions.storage.files.trash import Cleaned, Trashed
from agentdash.sessions.text.sanitize import one_line
from agentdash.sessions.text.units import age, count, size
from agentdash.tui.render.style import Style


def trash_text(trashed: Sequence[Trashed], style: Style) -> Iterator[str]:
    """Yield one line per deleted session, the last deleted first."""
    if not trashed:
        yield "The trash is empty."
    for one in trashed:
        ago = age(style.now - one.deleted_at)
        yield f"{short_id(one.id)}  {ago:>4}  {size(one.bytes):>8}  {one_line(one.title, 60)}"
    if trashed:
        yield style.paint("restore one: agentdash restore ID; empty old trash: agentdash clean", "dim")


def cleaned_text(cleaned: Cleaned, style: Style, *, dry_run: bool) -> Iterator[str]:
    """Yield the sessions that were deleted or removed from the trash, and those kept although they are old."""
    would = "would be " if dry_run else ""
    for session in cleaned.deleted:
        yield f"{would}deleted  {_line(session, style)}"
    for session in cleaned.kept:
        yield f"kept     {_line(session, style)}: {session.left_note or 'processes'} left running"
    for one in cleaned.removed:
        yield f"{would}removed from the trash  {short_id(one.id)}  {one_line(one.title, 60)}"
    if cleaned.empty_folders:
        yield f"{count(cleaned.empty_folders, 'empty folder')} of interrupted starts {would}removed"
    freed = size(sum(one.bytes for one in cleaned.removed))
    yield (
        f"{count(len(cleaned.deleted), 'session')} {would}deleted,"
        f" {count(len(cleaned.removed), 'session')} {would}removed from the trash ({freed})."
    )


def _line(session: Session, style: Style) -> str:
    ended = age(style.now - (session.ended_at or session.updated_at))
    return f"{session.short_id}  {session.status}  {ended} ago  {one_line(session.label, 60)}"
