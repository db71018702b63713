"""The writes of a runner that only turns of live agents need: the part of a stream, the prompt's way, warm agents."""

import sqlite3

from msgspec import Struct, structs

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Launch, following
from agentdash.sessions.rules.prompts.delivery import PromptState
from agentdash.sessions.storage.database import Database
from agentdash.sessions.storage.prompts.adjustments import defer_earlier
from agentdash.sessions.storage.prompts.new_turn import begin_turn
from agentdash.sessions.storage.prompts.queued_prompt import UNDER_WAY
from agentdash.sessions.storage.rows import dump, struct_from
from agentdash.sessions.storage.turns.claim import Owner
from agentdash.sessions.storage.turns.turn_log import withdraw_close

OWN = "agent"
"""``turns.asked_by`` of a turn that a live agent began by itself."""


class SentPrompt(Struct, frozen=True, kw_only=True):
    """The prompt of a turn as it is recorded."""

    text: str
    state: PromptState
    attempt: int


class Steered(Struct, frozen=True, kw_only=True):
    """A prompt into a running turn."""

    id: int
    text: str
    state: PromptState
    attempt: int
    session: str

    @property
    def run_id(self) -> str:
        """Names the prompt for the agent; a turn that begins with it has this id."""
        return self.run_id_of(self.attempt)

    def run_id_of(self, attempt: int) -> str:
        """Return the name of an attempt: a UUID, as claude demands.

        Each attempt has its own, because claude never reads a prompt whose key it knows, also if it was taken back.
        """
        import uuid  # few runners need it

        again = f":{attempt}" if attempt > 1 else ""
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"agentdash:{self.session}:{self.id}{again}"))


_AGAIN = "attempt = MAX(attempt, 1) + 1"
"""A prompt that the agent had goes back to the queue: the next attempt is another one."""


class LiveLog:
    """The rows of one session with a live agent, written by the runner that holds the session's lock."""

    def __init__(self, database: Database, session_id: str) -> None:
        self._database = database
        self._session = session_id

    def prompt(self, turn: int) -> SentPrompt | None:
        """Return the prompt of a turn; None if the agent began the turn by itself."""
        rows = self._database.rows(
            "SELECT text, state, attempt FROM prompts JOIN turns ON turns.session = prompts.session AND n = turn"
            " WHERE prompts.session = ? AND turn = ?",
            (self._session, turn),
        )
        if not rows:
            return None
        row = rows[0]
        return SentPrompt(text=row["text"], state=PromptState(row["state"]), attempt=max(1, row["attempt"]))

    def prompt_is(self, turn: int, state: PromptState, attempt: int | None = None) -> None:
        """Record the state of a turn's prompt, and the number of the attempt to send it."""
        now = now_ms()
        with self._database.transaction() as db:
            db.execute(
                "UPDATE prompts SET state = ?,"
                " sent_at = CASE WHEN ? = 'sent' THEN ? ELSE sent_at END,"
                " seen_at = CASE WHEN ? = 'seen' THEN COALESCE(seen_at, ?) ELSE seen_at END"
                " WHERE session = ? AND turn = ? AND state <> 'seen'",
                (state, state, now, state, now, self._session, turn),
            )
            if attempt is not None:
                db.execute("UPDATE turns SET attempt = ? WHERE session = ? AND n = ?", (attempt, self._session, turn))

    def continue_stream(self, turn: int, stream: int, begin: int, begin_error: int) -> None:
        """Record where the output of a turn begins in the files of a process that served turns before."""
        self._database.run(
            "UPDATE turns SET stream = ?, begin_byte = ?, begin_error_byte = ? WHERE session = ? AND n = ?",
            (stream, begin, begin_error, self._session, turn),
        )

    def unclosed(self, living: int | None) -> list[int]:
        """Return the last turn of each stream whose process was left alive behind it, but that of ``living``."""
        rows = self._database.rows(
            "SELECT MAX(n) AS n FROM turns WHERE session = ? AND COALESCE(stream, n) IS NOT ?"
            " GROUP BY COALESCE(stream, n) HAVING MAX(n) = MAX(CASE WHEN end_byte IS NOT NULL THEN n END)",
            (self._session, living),
        )
        return [row["n"] for row in rows]

    def close_stream(self, turn: int, steps: int, unknown: int) -> None:
        """Record that the last turn of a stream has it to its end, and its counts."""
        with self._database.transaction() as db:
            db.execute(
                "UPDATE sessions SET steps = steps + ? - (SELECT steps FROM turns WHERE session = ? AND n = ?),"
                " unknown = CASE turn WHEN ? THEN ? ELSE unknown END WHERE id = ?",
                (steps, self._session, turn, turn, unknown, self._session),
            )
            db.execute(
                "UPDATE turns SET end_byte = NULL, steps = ?, unknown = ? WHERE session = ? AND n = ?",
                (steps, unknown, self._session, turn),
            )

    def relaunch(self, turn: int, launch: Launch) -> None:
        """Record another start of a turn whose agent could not be used."""
        self._database.run(
            "UPDATE turns SET launch = ? WHERE session = ? AND n = ?", (dump(launch), self._session, turn)
        )

    def own_turn(
        self,
        launch: Launch,
        run_id: str,
        owner: Owner,
        agent: tuple[int, int],
        part: tuple[int, int, int],
        by: str = OWN,
    ) -> int | None:
        """Record a turn that the agent began by itself, as running; return its number.

        None if a turn is queued already: its prompt goes to the working agent, and the output belongs to that turn.

        Args:
            part: the stream, and the offsets at which the turn begins in its stdout and stderr.
            by: :data:`OWN`, or another program that sent its prompt to the agent.
        """
        queued = "SELECT 1 FROM turns WHERE session = ? AND status = 'queued'"
        with self._database.transaction() as db:
            if db.execute(queued, (self._session,)).fetchone() is not None:
                return None
            return self._insert_own(db, following(launch), run_id, owner, agent, part, by)

    def _insert_own(
        self,
        db: sqlite3.Connection,
        launch: Launch,
        run_id: str,
        owner: Owner,
        agent: tuple[int, int],
        part: tuple[int, int, int],
        by: str = OWN,
    ) -> int:
        now = now_ms()
        row = db.execute("SELECT turn, model FROM sessions WHERE id = ?", (self._session,)).fetchone()
        n, launch = int(row["turn"]) + 1, structs.replace(launch, model_before=row["model"])
        db.execute(
            "INSERT INTO turns (session, n, status, run_id, launch, launches, launched_at, created_at, started_at,"
            " runner_pid, runner_start, boot_id, pid_ns, agent_pid, agent_start, asked_by, stream, begin_byte,"
            " begin_error_byte) VALUES (?, ?, 'running', ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                self._session, n, run_id, dump(launch), now, now, now, owner.pid, owner.start, owner.boot_id,
                owner.pid_ns, *agent, by, *part,
            ),
        )  # fmt: skip
        begin_turn(db, self._session, n, None, now)
        withdraw_close(db, self._session, now)
        defer_earlier(db, self._session, n, now)
        db.execute(
            "UPDATE sessions SET status = ?, started_at = ?, warm_since = NULL WHERE id = ?",
            (Status.RUNNING, now, self._session),
        )
        return n

    def steering(self) -> Steered | None:
        """Return the next prompt that is to be written into the running turn; None if none is, or the queue is held."""
        free = "EXISTS (SELECT 1 FROM sessions WHERE id = queue.session AND (held IS NULL OR at_once))"
        order = "ORDER BY at_once DESC, place, id LIMIT 1"
        return next(iter(self._steered(f"state = 'queued' AND steers AND due_at IS NULL AND {free} {order}")), None)

    def under_way(self) -> list[Steered]:
        """Return the prompts that were written into a turn, or may have been, and were not seen yet."""
        return self._steered(f"{UNDER_WAY} ORDER BY changed_at, id")

    def begin_steering(self, prompt: Steered, turn: int) -> bool:
        """Record that a prompt is about to be written into a running turn; False if it was cancelled or edited."""
        return self._database.run(
            "UPDATE queue SET state = 'sending', turn = ?, attempt = ?, changed_at = ?"
            " WHERE id = ? AND state = 'queued' AND text = ?",
            (turn, prompt.attempt, now_ms(), prompt.id, prompt.text),
        )

    def steered_is(self, prompt_id: int, state: PromptState, turn: int, attempt: int | None = None) -> bool:
        """Record the state of a prompt into a running turn; False if it was cancelled or seen before.

        If it goes back to the queue, its next attempt is another one.
        """
        if state is PromptState.QUEUED:
            return self._database.run(
                f"UPDATE queue SET state = 'queued', turn = NULL, {_AGAIN}, changed_at = ?"  # noqa: S608
                f" WHERE id = ? AND {UNDER_WAY}",
                (now_ms(), prompt_id),
            )
        return self._database.run(
            "UPDATE queue SET state = ?, turn = ?, attempt = COALESCE(?, attempt), changed_at = ?"
            " WHERE id = ? AND state IN ('queued', 'sending', 'sent')",
            (state, turn, attempt, now_ms(), prompt_id),
        )

    def steered_turn(
        self, prompt: Steered, launch: Launch, owner: Owner, agent: tuple[int, int], part: tuple[int, int, int]
    ) -> int:
        """Record the turn that the agent begins with a prompt that came too late for the turn before.

        The prompt keeps its state: if it may not have been written, the turn's runner finds out.  The arguments are
        those of :meth:`own_turn`.
        """
        begins, now = structs.replace(following(launch), stdin=prompt.text), now_ms()
        with self._database.transaction() as db:
            n = self._insert_own(db, begins, prompt.run_id, owner, agent, part)
            db.execute(
                "INSERT INTO prompts (session, turn, text, state, created_at, sent_at)"
                " SELECT session, ?, text, state, created_at, CASE state WHEN 'sent' THEN ? END"
                " FROM queue WHERE id = ?",
                (n, now, prompt.id),
            )
            db.execute("UPDATE queue SET state = 'taken', turn = ?, changed_at = ? WHERE id = ?", (n, now, prompt.id))
            db.execute(
                "UPDATE turns SET asked_by = NULL, attempt = ? WHERE session = ? AND n = ?",
                (prompt.attempt, self._session, n),
            )
        return n

    def begins_turn(self, key: str) -> None:
        """Queue a prompt again, as the next turn: the running one does not take it."""
        late = next((prompt for prompt in self.under_way() if prompt.run_id == key), None)
        if late is not None:
            self._database.run(
                f"UPDATE queue SET state = 'queued', turn = NULL, steers = 0, {_AGAIN}, changed_at = ?"  # noqa: S608
                " WHERE id = ?",
                (now_ms(), late.id),
            )

    def steered_again(self, prompt_id: int) -> None:
        """Queue a prompt again that the agent read, but did not keep before it was killed."""
        self._database.run(
            f"UPDATE queue SET state = 'queued', turn = NULL, {_AGAIN}, changed_at = ?"  # noqa: S608
            " WHERE id = ? AND state = 'seen'",
            (now_ms(), prompt_id),
        )

    def steered_into(self, turn: int) -> list[Steered]:
        """Return the prompts that the agent read during a turn."""
        return self._steered(f"state = 'seen' AND turn = {turn:d} ORDER BY changed_at, id")

    def _steered(self, where: str) -> list[Steered]:
        rows = self._database.rows(f"SELECT * FROM queue WHERE session = ? AND {where}", (self._session,))  # noqa: S608
        return [
            struct_from(Steered, row, state=PromptState(row["state"]), attempt=max(1, row["attempt"])) for row in rows
        ]

    def warm(self, since: int | None) -> None:
        """Record since when the agent waits for prompts, UTC ms; None if its process is gone, or works."""
        self._database.run(
            "UPDATE sessions SET warm_since = ? WHERE id = ? AND warm_since IS NOT ?", (since, self._session, since)
        )
