"""``session.json``: a copy of a session's identity and settings, readable by people, from which to rebuild its rows."""

from pathlib import Path

import msgspec
from msgspec import Struct, structs

from ...conversation.marks import Mark
from ...errors import NewerStoreError, StoreError
from ...launch import Launch
from ...model import Prompt, Session, Status, StoppedBy, Turn
from ..paths import SessionFolder, write_atomic
from ..prompts.queued_prompt import QueuedPrompt
from ..queries import Recipe
from ..store import Store

FORMAT = 1


class Identity(Struct, frozen=True, kw_only=True):
    """The contents of the file."""

    format: int = FORMAT
    session: Session
    recipe: Recipe
    turns: tuple[Turn, ...]
    launches: tuple[Launch, ...]
    """The launch of each turn, in the order of the turns."""
    prompts: tuple[Prompt, ...]
    queue: tuple[QueuedPrompt, ...] = ()
    """The prompts that wait, in their order, and those written into running turns that are unconfirmed."""
    marks: tuple[Mark, ...] = ()
    """The marks of its conversation, oldest first."""


def write_identity(store: Store, folder: SessionFolder) -> None:
    """Write the session, its recipe, turns and prompts as they are now.

    Raises:
        OSError: the file could not be written; the rows are still right.
    """
    session = store.session(folder.id)
    if session is None:
        return
    turns, launches = tuple(store.turns(folder.id)), store.launches(folder.id)
    identity = Identity(
        session=structs.replace(session, parent=store.recorded_parent(folder.id)),
        recipe=store.recipe(folder.id),
        turns=turns,
        launches=tuple(launches.get(turn.n) or Launch(argv=turn.argv) for turn in turns),
        prompts=tuple(store.prompts(folder.id)),
        queue=(*store.queue.waiting(folder.id), *store.queue.unconfirmed(folder.id)),
        marks=tuple(store.marks.of_session(folder.id)),
    )
    write_record(folder.identity, identity)


def write_record(path: Path, identity: Identity) -> None:
    """Write the record of a session.

    Raises:
        OSError: the file could not be written; the earlier one stays.
    """
    write_atomic(path, msgspec.json.format(msgspec.json.encode(identity), indent=1))


def read_identity(path: Path) -> Identity:
    """Read the record of a session.

    Raises:
        NewerStoreError: a newer agentdash wrote it.
        StoreError: there is no record, or it is damaged.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}.") from None
    _check_format(path, data)
    try:
        identity = msgspec.json.decode(data, type=Identity)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StoreError(f"{path} cannot be read: {error}.") from None
    if identity.session.id != path.parent.name or len(identity.turns) != len(identity.launches):
        raise StoreError(f"{path} is not the record of this session.")
    return _with_stopper(identity)


def _with_stopper(identity: Identity) -> Identity:
    """Add who stopped the session: a record of an older version has that with the turn alone."""
    session = identity.session
    if session.status is not Status.STOPPED:
        return identity
    by = next((turn.stop_by for turn in identity.turns if turn.n == session.turn), None)
    return structs.replace(identity, session=structs.replace(session, stopped_by=StoppedBy.recorded(by)))


class _Versioned(Struct):
    format: int = FORMAT


def _check_format(path: Path, data: bytes) -> None:
    """Refuse the record of a newer agentdash, whatever else it contains."""
    try:
        version = msgspec.json.decode(data, type=_Versioned).format
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return
    if version > FORMAT:
        raise NewerStoreError(f"{path} was written by a newer agentdash (format {version}).")
