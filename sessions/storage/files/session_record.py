"""``session.json``: a copy of a session's identity and settings, readable by people, from which its rows are restored.

They are restored to undo a deletion, or after the database was lost."""

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs

from agentdash.sessions.model import typed
from agentdash.sessions.model.errors import NewerStoreError, StoreError
from agentdash.sessions.model.session import Prompt, Session, Status, StoppedBy, Turn
from agentdash.sessions.rules.conversation.marks import Mark
from agentdash.sessions.rules.launch import Launch
from agentdash.sessions.storage.families.families import take_back, without_used_key
from agentdash.sessions.storage.marks import add_mark
from agentdash.sessions.storage.paths import SessionFolder, write_atomic
from agentdash.sessions.storage.prompts.queued_prompt import QueuedPrompt
from agentdash.sessions.storage.queries import Recipe
from agentdash.sessions.storage.rows import USAGE_COLUMNS, dump
from agentdash.sessions.storage.store import Store, touch_children
from agentdash.sessions.storage.use.report_log import count_lacking

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
        identity = typed.decode(data, Identity)
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
        version = typed.decode(data, _Versioned).format
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return
    if version > FORMAT:
        raise NewerStoreError(f"{path} was written by a newer agentdash (format {version}).")


_OWN_COLUMNS = (
    "usage", "stopping", "stopped_by", "denied_names", "seen_at", "seen_steps", "deleted_at", "steers", "led",
    "escalated", "handled_at",
)  # fmt: skip
"""Fields of a session that are not columns, or are stored in another form."""


def restore(store: Store, identity: Identity) -> bool:
    """Insert everything in the record; False if the session already exists.

    Raises:
        StoreError: the record contradicts itself; nothing was inserted.
    """
    session = identity.session
    try:
        return _insert_all(store, identity, session)
    except sqlite3.IntegrityError as error:
        raise StoreError(f"The record of session {session.short_id} is inconsistent: {error}.") from None


def _insert_all(store: Store, identity: Identity, session: Session) -> bool:
    with store.database.transaction() as db:
        if db.execute("SELECT 1 FROM sessions WHERE id = ?", (session.id,)).fetchone():
            return False
        db.execute("DELETE FROM tombstones WHERE session = ?", (session.id,))
        _insert(db, "sessions", _session_row(without_used_key(db, session), identity.recipe))
        take_back(db, session.id)
        touch_children(db, session.id)
        for turn, launch in zip(identity.turns, identity.launches, strict=True):
            _insert(db, "turns", _turn_row(turn, launch, identity))
        count_lacking(db, session.id)
        for prompt in identity.prompts:
            # The number was given by the lost database; in this one another prompt may have it.
            _insert(db, "prompts", _plain(prompt, ("id", "steered")))
        for place, queued in enumerate(identity.queue):
            plan = bytes(queued.recorded_plan).decode()
            _insert(db, "queue", _plain(queued, ("id", "recorded_plan")) | {"plan": plan, "place": place})
        _insert_marks(db, identity.marks)
        if session.seen_at is not None:
            seen: dict[str, object] = {
                "at": session.seen_at,
                "steps": session.seen_steps,
                "handled_at": session.handled_at,
            }
            _insert(db, "seen", seen | {"session": session.id})
    return True


def _plain(value: Struct, without: Iterable[str]) -> dict[str, Any]:
    """Return the fields of a value that are stored as they are."""
    return {name: field for name, field in structs.asdict(value).items() if name not in without}


def _session_row(session: Session, recipe: Recipe) -> dict[str, object]:
    plain = _plain(session, _OWN_COLUMNS)
    usage = {name: getattr(session.usage, name) for name in USAGE_COLUMNS}
    built = {name: dump(getattr(recipe, name)) for name in ("options", "command", "env")}
    values = {name: plain[name] for name in ("activity", "plan", "taken_by", "budget")}
    progress = {name: dump(value) if value is not None else None for name, value in values.items()}
    # The record has no asks: the process that asked has ended, or its runner records them again.
    return plain | usage | built | progress | {"asking": 0, "waits_since": None}


def _turn_row(turn: Turn, launch: Launch, identity: Identity) -> dict[str, object]:
    session, derived = identity.session, ("argv", "mode", "transport", "compacts", "cost_missing", "tokens_missing")
    plain = _plain(turn, derived)
    packed = {name: dump(plain[name]) for name in ("usage", "thread_usage", "left", "unreadable")}
    receipt = dump(turn.receipt) if turn.receipt else None
    columns = {"receipt": receipt, "launch": dump(launch)}
    if all(one.agent_session is None for one in identity.turns):
        # An older version recorded no conversations of turns; the turns that matter here belong to the last one.
        columns["agent_session"] = session.agent_session
    if turn.n == session.turn and session.denied_names is not None:
        columns["denied_names"] = dump(session.denied_names)
    return plain | packed | columns


def _insert_marks(db: sqlite3.Connection, marks: Sequence[Mark]) -> None:
    """Insert the marks; all get new numbers if another session has taken one of theirs."""
    places = ", ".join("?" * len(marks))
    taken = db.execute(f"SELECT 1 FROM marks WHERE id IN ({places})", [mark.id for mark in marks]).fetchone()  # noqa: S608
    numbers: dict[int, int] = {}
    for mark in marks:
        undoes = numbers.get(mark.undoes) if mark.undoes is not None else None
        numbers[mark.id] = add_mark(db, structs.replace(mark, undoes=undoes, id=0 if taken else mark.id)).id


def _insert(db: sqlite3.Connection, table: str, row: dict[str, object]) -> None:
    columns = ", ".join(f'"{name}"' for name in row)
    marks = ", ".join("?" * len(row))
    db.execute(f"INSERT INTO {table} ({columns}) VALUES ({marks})", tuple(row.values()))  # noqa: S608
