"""The writes of a runner that only turns of live agents need: the part of a stream, the prompt's way, warm agents."""

from msgspec import Struct

from ..clock import now_ms
from ..launch import Launch
from ..model import Status
from ..rules.delivery import PromptState
from .database import Database
from .prompt_queue import begin_turn
from .rows import dump
from .turn_log import Owner


class SentPrompt(Struct, frozen=True, kw_only=True):
    """The prompt of a turn as it is recorded."""

    text: str
    state: PromptState
    attempt: int


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
        with self._database.transaction() as db:
            db.execute(
                "UPDATE turns SET stream = ?, begin_byte = ?, begin_error_byte = ? WHERE session = ? AND n = ?",
                (stream, begin, begin_error, self._session, turn),
            )

    def relaunch(self, turn: int, launch: Launch) -> None:
        """Record another start of a turn whose agent could not be used."""
        with self._database.transaction() as db:
            db.execute("UPDATE turns SET launch = ? WHERE session = ? AND n = ?", (dump(launch), self._session, turn))

    def own_turn(
        self, launch: Launch, run_id: str, owner: Owner, agent: tuple[int, int], part: tuple[int, int, int]
    ) -> int:
        """Record a turn that the agent began by itself, as running; return its number.

        Args:
            launch: the start of its process.
            run_id: a new id.
            owner: this runner.
            agent: pid and start time of the process.
            part: the stream, and the offsets at which the turn begins in its stdout and stderr.
        """
        now = now_ms()
        with self._database.transaction() as db:
            row = db.execute("SELECT turn FROM sessions WHERE id = ?", (self._session,)).fetchone()
            n = int(row["turn"]) + 1
            db.execute(
                "INSERT INTO turns (session, n, status, run_id, launch, launches, launched_at, created_at, started_at,"
                " runner_pid, runner_start, boot_id, pid_ns, agent_pid, agent_start, asked_by, stream, begin_byte,"
                " begin_error_byte) VALUES (?, ?, 'running', ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'agent', ?, ?, ?)",
                (
                    self._session, n, run_id, dump(launch), now, now, now, owner.pid, owner.start, owner.boot_id,
                    owner.pid_ns, *agent, *part,
                ),
            )  # fmt: skip
            begin_turn(db, self._session, n, None, now)
            db.execute(
                "UPDATE sessions SET status = ?, started_at = ?, warm_since = NULL WHERE id = ?",
                (Status.RUNNING, now, self._session),
            )
        return n

    def warm(self, since: int | None) -> None:
        """Record since when the agent waits for prompts, UTC ms; None if its process is gone, or works."""
        with self._database.transaction() as db:
            db.execute(
                "UPDATE sessions SET warm_since = ? WHERE id = ? AND warm_since IS NOT ?", (since, self._session, since)
            )
