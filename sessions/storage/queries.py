"""The queries of front ends over all sessions: each method is one query, or one snapshot."""

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from agentdash.sessions.model.compaction import RecordedCompaction
from agentdash.sessions.model.errors import UnknownSessionError
from agentdash.sessions.model.session import Changes, Prompt, Receipt, Session, Status, Turn, Usage, short_id
from agentdash.sessions.rules.conversation.continuation import Recorded
from agentdash.sessions.rules.launch import Launch
from agentdash.sessions.rules.urgency_levels import Urgency
from agentdash.sessions.storage.database import Database
from agentdash.sessions.storage.families.families import FAMILY, Families
from agentdash.sessions.storage.families.family_budgets import FamilyBudgets
from agentdash.sessions.storage.marks import Marks, recorded
from agentdash.sessions.storage.prompts.adjustments import Adjustments
from agentdash.sessions.storage.prompts.asks import Asks
from agentdash.sessions.storage.prompts.prompt_queue import PromptQueue
from agentdash.sessions.storage.prompts.queued_prompt import Unconfirmed
from agentdash.sessions.storage.rows import (
    COUNTED_COLUMNS,
    OPEN,
    SELECT_SESSION,
    SELECT_TURN,
    counted_from,
    launch_from,
    load,
    prompt_from,
    session_from,
    struct_from,
    turn_from,
)
from agentdash.sessions.storage.urgency import CURRENT, FIRST, IN_ORDER
from agentdash.sessions.storage.use.period_budgets import PeriodBudgets
from agentdash.sessions.storage.use.plan_windows import PlanWindows

_NEWEST = "SELECT rowid FROM sessions WHERE archived_at IS NULL ORDER BY created_at DESC, rowid DESC LIMIT ?"
_QUIET = (
    f"{CURRENT} AND urgency IN ({Urgency.DONE:d}, {Urgency.AT_REST:d}) AND pinned_at IS NULL"
    f" AND sessions.rowid NOT IN ({_NEWEST})"
)
SHOWN_IN_SHORT = (
    f"{SELECT_SESSION} WHERE archived_at IS NULL AND ({_QUIET}) IS NOT 1 ORDER BY created_at DESC, sessions.rowid DESC"
)
COUNTED_IN_SHORT = f"SELECT {', '.join(COUNTED_COLUMNS)} FROM sessions WHERE {_QUIET}"  # noqa: S608


class Recipe(Struct, frozen=True, kw_only=True):
    """The settings from which a later turn of a session is built."""

    options: dict[str, object]
    command: tuple[str, ...]
    env: dict[str, str | None]


class Queries:
    """Reads the database at ``path``."""

    def __init__(self, path: Path, cache_kib: int | None = None) -> None:
        self.database = Database(path, cache_kib)
        self.families = Families(self.database)
        """The families of sessions."""
        self.family_budgets = FamilyBudgets(self.database)
        """The budgets of leads."""
        self.period_budgets = PeriodBudgets(self.database)
        """The budgets of days and weeks."""
        self.plan_windows = PlanWindows(self.database)
        """The windows of the plans of agents."""
        self.queue = PromptQueue(self.database)
        """The prompts that wait."""
        self.asks = Asks(self.database)
        """The asks of live agents."""
        self.adjustments = Adjustments(self.database)
        """The changes of the settings of sessions."""
        self.marks = Marks(self.database)
        """The marks of conversations."""

    def close(self) -> None:
        """Close the connections."""
        self.database.close()

    def data_version(self) -> tuple[int, int, int]:
        """A value that changes with each commit; its first item changes when the database file is replaced."""
        return self.database.data_version()

    def sessions(self, statuses: Iterable[Status] = ()) -> list[Session]:
        """All sessions, or those in one of these states; newest first."""
        wanted = tuple(str(status) for status in statuses)
        where = f"WHERE status IN ({', '.join('?' * len(wanted))})" if wanted else ""
        return self._sessions(f"{where} ORDER BY created_at DESC, sessions.rowid DESC", wanted)

    def first(self, limit: int) -> tuple[list[Session], int]:
        """Return the most urgent sessions in use, and the number of all in use; cheap with any number."""
        with self.database.snapshot():
            rows = self.database.rows(FIRST, (limit,))
            total = self.database.rows(IN_ORDER)[0]["n"]
        return [session_from(row) for row in rows], total

    def listed(self, newest: int) -> tuple[list[Session], list[Session]]:
        """Return the sessions in use that a short list may show, newest first, and all others without their texts.

        The others are at rest, or done and unread; they have only what the header of a list counts.
        """
        with self.database.snapshot():
            rows = self.database.rows(SHOWN_IN_SHORT, (newest,))
            others = self.database.rows(COUNTED_IN_SHORT, (newest,))
        return [session_from(row) for row in rows], [counted_from(row) for row in others]

    def archived(self) -> int:
        """The number of archived sessions."""
        return int(self.database.rows("SELECT COUNT(*) AS n FROM sessions WHERE archived_at IS NOT NULL")[0]["n"])

    def session(self, session_id: str) -> Session | None:
        """The session with exactly this id."""
        return next(iter(self._sessions("WHERE id = ?", (session_id,))), None)

    def recorded_parent(self, session_id: str) -> str | None:
        """The session that started this one, even if it is deleted: a restored parent finds its children again."""
        return self.database.value("SELECT coalesce(born_to, parent) FROM sessions WHERE id = ?", (session_id,))

    def was_deleted(self, session_id: str) -> bool:
        """Return whether the session's rows were removed on purpose and have not been restored."""
        return bool(self.database.rows("SELECT 1 FROM tombstones WHERE session = ?", (session_id,)))

    def ids(self) -> set[str]:
        """The ids of all sessions."""
        return {row["id"] for row in self.database.rows("SELECT id FROM sessions")}

    def sessions_like(self, prefix: str, limit: int = 10) -> list[Session]:
        """The sessions whose id begins with this text: a range of the primary key, not a scan."""
        return self._sessions("WHERE id >= ? AND id < ? ORDER BY id LIMIT ?", (prefix, prefix + "\U0010ffff", limit))

    def descendants(self, session_id: str | None, lead: str | None = None) -> list[Session]:
        """The sessions that a session or an outside lead started, those that they started, and so on; oldest first."""
        rows = self.database.rows(
            f"{FAMILY} {SELECT_SESSION} WHERE sessions.id IN family AND sessions.id IS NOT ?"
            " ORDER BY created_at, sessions.rowid",
            (session_id, lead, session_id),
        )
        return [session_from(row) for row in rows]

    def newest(self, parent: str | None, lead: str | None) -> Session | None:
        """The session that a session or an outside lead created last, or the user, if both are None."""
        order = "ORDER BY created_at DESC, sessions.rowid DESC LIMIT 1"
        return next(iter(self._sessions(f"WHERE sessions.parent IS ? AND lead IS ? {order}", (parent, lead))), None)

    def with_left(self) -> list[Session]:
        """Ended sessions that are recorded as having left processes."""
        return self._sessions(f"WHERE sessions.left > 0 AND status NOT IN ({OPEN})")

    def taken(self) -> list[Session]:
        """Return the sessions that a user has taken over, or had when their front end was killed."""
        return self._sessions("WHERE sessions.taken_by IS NOT NULL")

    def changes(self, since: int) -> Changes:
        """Everything after ``since`` in the change feed."""
        with self.database.snapshot():
            rows = self.database.rows(f"{SELECT_SESSION} WHERE sessions.seq > ? ORDER BY sessions.seq", (since,))
            gone = self.database.rows("SELECT session, seq FROM tombstones WHERE seq > ? ORDER BY seq", (since,))
        seqs = [row["seq"] for row in rows] + [row["seq"] for row in gone]
        return Changes(
            seq=max(seqs, default=since),
            updated=tuple(session_from(row) for row in rows),
            removed=tuple(row["session"] for row in gone),
        )

    def turns(self, session_id: str, first: int = 1) -> list[Turn]:
        """The turns of a session from the number ``first`` on, in order; by default all of them."""
        return self._turns("session = ? AND n >= ? ORDER BY n", (session_id, first))

    def one_turn(self, session_id: str, n: int) -> Turn | None:
        """Return a turn of a session; None if it was deleted."""
        return next(iter(self._turns("session = ? AND n = ?", (session_id, n))), None)

    def started_before(self, session_id: str, n: int) -> Turn | None:
        """Return the newest turn before a turn whose agent was started; None if there is none."""
        started = "session = ? AND n < ? AND agent_pid IS NOT NULL ORDER BY n DESC LIMIT 1"
        return next(iter(self._turns(started, (session_id, n))), None)

    def thread_total_before(self, session_id: str, n: int) -> Usage:
        """Return the thread's tokens as earlier turns of the same process reported them; unknown if none did."""
        total = self.database.value(
            "SELECT thread_usage FROM turns WHERE session = ?1 AND n < ?2 AND thread_usage IS NOT NULL"
            " AND COALESCE(stream, n) = (SELECT COALESCE(stream, n) FROM turns WHERE session = ?1 AND n = ?2)"
            " ORDER BY n DESC LIMIT 1",
            (session_id, n),
        )
        return load(total, Usage) or Usage()

    def conversation_before(self, session_id: str, n: int) -> str | None:
        """Return the conversation of the newest turn before a turn that named one."""
        return self.database.value(
            "SELECT agent_session FROM turns WHERE session = ? AND n < ? AND agent_session IS NOT NULL"
            " ORDER BY n DESC LIMIT 1",
            (session_id, n),
        )

    def session_of_conversation(self, conversation: str, *, but: str) -> str | None:
        """Return the id of a session, not ``but``, that has a conversation of an agent or had it in a turn."""
        return self.database.value(
            "SELECT id FROM sessions WHERE agent_session = ?1 AND id <> ?2"
            " UNION ALL SELECT session FROM turns WHERE agent_session = ?1 AND session <> ?2 LIMIT 1",
            (conversation, but),
        )

    def queued_after(self, session_id: str, n: int) -> Turn | None:
        """Return the turn after the number ``n`` that no runner has taken; None if there is none."""
        return next(iter(self._turns("session = ? AND n > ? AND status = 'queued'", (session_id, n))), None)

    def open_requests(self, session_id: str, turn: int) -> list[str]:
        """Return the kinds of the open requests for a turn, or for a later one that never started."""
        rows = self.database.rows(
            "SELECT kind FROM requests WHERE session = ? AND turn >= ? AND done_at IS NULL ORDER BY id",
            (session_id, turn),
        )
        return [row["kind"] for row in rows]

    def requester(self, session_id: str, turn: int) -> str | None:
        """Return the text to record for the stop that the open requests ask for; None if none is open."""
        return self.database.value(
            "SELECT asked_by FROM requests WHERE session = ? AND turn >= ? AND done_at IS NULL"
            " ORDER BY kind = 'close', id LIMIT 1",
            (session_id, turn),
        )

    def requested_at(self, session_id: str, turn: int) -> int | None:
        """Return when the oldest open request for a turn was made, UTC ms; None if none is open."""
        return self.database.value(
            "SELECT MIN(created_at) FROM requests WHERE session = ? AND turn >= ? AND done_at IS NULL",
            (session_id, turn),
        )

    def is_warm(self, session_id: str) -> bool:
        """Return whether a live agent of the session waits for prompts."""
        return bool(self.database.rows("SELECT 1 FROM sessions WHERE id = ? AND warm_since IS NOT NULL", (session_id,)))

    def with_warm_agent(self) -> list[Session]:
        """Return the sessions whose live agents wait for prompts, those that wait longest first."""
        return self._sessions("WHERE warm_since IS NOT NULL ORDER BY warm_since")

    def newest_turn(self, session_id: str) -> Turn:
        """The last turn of a session.

        Raises:
            UnknownSessionError: the session was deleted.
        """
        for turn in self._turns("session = ? ORDER BY n DESC LIMIT 1", (session_id,)):
            return turn
        raise UnknownSessionError(f"Session {short_id(session_id)} was deleted.")

    def open_turns(self) -> list[Turn]:
        """The queued and live turns of all sessions."""
        return self._turns(f"status IN ({OPEN}) ORDER BY created_at")

    def ended_by(self, rule: str) -> list[Turn]:
        """The ended turns of all sessions whose status followed from a rule."""
        return self._turns("rule = ?", (rule,))

    def open_elsewhere(self, host: str) -> set[str]:
        """The ids of the sessions in use that another machine than ``host`` started."""
        rows = self.database.rows(f"SELECT id FROM sessions WHERE host <> ? AND status IN ({OPEN})", (host,))  # noqa: S608
        return {row["id"] for row in rows}

    def launch(self, session_id: str, n: int) -> Launch | None:
        """The record of how a turn is, or was, started; None if there is no such turn."""
        rows = self.database.rows("SELECT launch FROM turns WHERE session = ? AND n = ?", (session_id, n))
        return launch_from(rows[0]) if rows else None

    def launches(self, session_id: str) -> dict[int, Launch]:
        """The records of how the turns of a session are, or were, started, by their numbers."""
        rows = self.database.rows("SELECT n, launch FROM turns WHERE session = ?", (session_id,))
        return {row["n"]: launch_from(row) for row in rows}

    def recipe(self, session_id: str) -> Recipe:
        """The settings from which a later turn is built.

        Raises:
            UnknownSessionError: the session was deleted.
        """
        rows = self.database.rows("SELECT options, command, env FROM sessions WHERE id = ?", (session_id,))
        if not rows:
            raise UnknownSessionError(f"Session {session_id} was deleted.")
        row = rows[0]
        return Recipe(
            options=load(row["options"], dict[str, object]) or {},
            command=load(row["command"], tuple[str, ...]) or (),
            env=load(row["env"], dict[str, str | None]) or {},
        )

    def prompts(self, session_id: str) -> list[Prompt]:
        """All prompts of a session, in order."""
        rows = self.database.rows("SELECT * FROM prompts WHERE session = ? ORDER BY id", (session_id,))
        return [prompt_from(row) for row in rows]

    def steered(self, session_id: str) -> list[Prompt]:
        """All prompts of a session that were written into running turns, in order."""
        rows = self.database.rows(
            "SELECT id, session, turn, text, state, created_at, CASE state WHEN 'seen' THEN changed_at END AS seen_at,"
            " id AS steered FROM queue WHERE session = ? AND turn IS NOT NULL AND state NOT IN"
            " ('queued', 'taken', 'cancelled') ORDER BY turn, id",
            (session_id,),
        )
        return [prompt_from(row) for row in rows]

    def unconfirmed(self, session_id: str) -> list[Unconfirmed]:
        """The prompts of a session of which it is not known whether the agent got them, in the order of their turns."""
        rows = self.database.rows(
            "SELECT session, turn, text, created_at, NULL AS steered, id FROM prompts"
            " WHERE session = ? AND state = 'unconfirmed'"
            " UNION ALL SELECT session, COALESCE(turn, 0), text, created_at, id, id FROM queue"
            " WHERE session = ? AND state = 'unconfirmed' ORDER BY turn, steered, id",
            (session_id, session_id),
        )
        return [struct_from(Unconfirmed, row) for row in rows]

    def compactions_of(self, session_id: str) -> list[RecordedCompaction]:
        """Return the compactions that the agent of a session reported, oldest first."""
        rows = self.database.rows(
            # A row has the parser's number of the step, from 0; the prompt of a turn is 0, its first step 1.
            "SELECT turn, step + 1 AS step, at, trigger, tokens_before, tokens_after FROM compactions WHERE session = ?"
            " ORDER BY turn, n",
            (session_id,),
        )
        return [struct_from(RecordedCompaction, row) for row in rows]

    def recorded(self, session_id: str) -> Recorded:
        """Return the records of the conversation of a session.

        Raises:
            UnknownSessionError: the session was deleted.
        """
        with self.database.snapshot():
            return recorded(self.database.rows, session_id)

    def answered(self, request: int) -> Receipt | None:
        """The receipt of a request, once a runner has carried it out."""
        return load(self.database.value("SELECT receipt FROM requests WHERE id = ?", (request,)), Receipt)

    def recent_folders(self, limit: int) -> list[str]:
        """The folders in which sessions were started, most recent first."""
        rows = self.database.rows(
            "SELECT cwd FROM sessions GROUP BY cwd ORDER BY MAX(created_at) DESC LIMIT ?", (limit,)
        )
        return [row["cwd"] for row in rows]

    def _sessions(self, condition: str, values: tuple[object, ...] = ()) -> list[Session]:
        return [session_from(row) for row in self.database.rows(f"{SELECT_SESSION} {condition}", values)]

    def _turns(self, condition: str, values: tuple[object, ...] = ()) -> list[Turn]:
        return [turn_from(row) for row in self.database.rows(f"{SELECT_TURN} WHERE {condition}", values)]
