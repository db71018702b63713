"""The queue of a session: the prompts that wait for the end of a turn.

Each method is one transaction.  A prompt changes only while it is ``queued``, so that of several processes that edit,
move, cancel or send it, exactly one has its way, and each prompt is sent or cancelled once.
"""

import sqlite3

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.errors import RefusalError, SessionBusyError, UnknownSessionError
from agentdash.sessions.model.session import ENDED, Status, short_id
from agentdash.sessions.rules.keys import check_same_task
from agentdash.sessions.rules.launch import TurnPlan
from agentdash.sessions.rules.limits.period_budgets import agent_refusal_words, refusal_words
from agentdash.sessions.rules.prompts.delivery import HELD_BY_USER, PromptState
from agentdash.sessions.storage.database import DatabasePart
from agentdash.sessions.storage.families.admission import admit_prompt, admit_round
from agentdash.sessions.storage.prompts.new_turn import take
from agentdash.sessions.storage.prompts.queued_prompt import (
    AGAIN,
    ORDER,
    UNDER_WAY,
    WAITING,
    Build,
    QueuedPrompt,
    Request,
    Unconfirmed,
    attempt_of,
    decide,
    first_key,
    hold,
    insert_prompt,
    let_go_if_empty,
    place_at_edge,
    prompt_of,
    resend_key,
)
from agentdash.sessions.storage.rows import ENDED_ONES, dump
from agentdash.sessions.storage.use.period_budgets import PeriodAdmission


class PromptQueue(DatabasePart):
    """The queues of all sessions in a database."""

    def waiting(self, session_id: str) -> list[QueuedPrompt]:
        """Return the prompts of a session that wait, in the order in which they will be sent."""
        return self._prompts(f"{WAITING} {ORDER}", (session_id,))

    def unconfirmed(self, session_id: str) -> list[QueuedPrompt]:
        """Return the prompts written into running turns of which it is not known whether the agent got them."""
        return self._prompts("FROM queue WHERE session = ? AND state = 'unconfirmed' ORDER BY id", (session_id,))

    def prompt(self, prompt_id: int) -> QueuedPrompt | None:
        """Return a prompt of any state; None if its session was deleted."""
        return next(iter(self._prompts("FROM queue WHERE id = ?", (prompt_id,))), None)

    def of_turn(self, session_id: str, turn: int) -> QueuedPrompt | None:
        """Return the prompt that became a turn; None for a first turn, which was never queued."""
        taken = "FROM queue WHERE session = ? AND turn = ? AND state = 'taken'"
        return next(iter(self._prompts(taken, (session_id, turn))), None)

    def waiting_again(self, session_id: str, turn: int) -> QueuedPrompt | None:
        """Return the waiting prompt that was put back from a turn; None if none was, or it was sent or cancelled."""
        taken = self.of_turn(session_id, turn)
        original, attempt = attempt_of(taken.key if taken is not None else first_key(turn))
        again = f"{original}{AGAIN}{attempt + 1}"
        return next((prompt for prompt in self.waiting(session_id) if prompt.key == again), None)

    def under_way(self) -> list[str]:
        """Return the sessions with a prompt on its way into a running turn."""
        rows = self._database.rows(f"SELECT DISTINCT session FROM queue WHERE {UNDER_WAY}")  # noqa: S608
        return [row["session"] for row in rows]

    def stalled(self) -> list[str]:
        """Return the sessions whose next prompt could be sent now: their runner was killed, or knows no queue."""
        rows = self._database.rows(
            "SELECT DISTINCT queue.session FROM queue JOIN sessions ON sessions.id = queue.session"  # noqa: S608
            f" WHERE queue.state = 'queued' AND sessions.status IN ({ENDED_ONES})"
            " AND sessions.taken_by IS NULL AND (sessions.held IS NULL OR queue.at_once) AND queue.due_at IS NULL"
        )
        return [row["session"] for row in rows]

    def add(self, request: Request, build: Build) -> QueuedPrompt:
        """Add a prompt, and begin its turn if the session is free.

        Raises:
            UsageError: the key names another prompt of the session.
            UnknownSessionError: the session was deleted.
            SessionBusyError: another turn began after ``request.only_after``, or the prompt that it sends again was
                sent again before.
            RefusalError: a budget that counts what the session spends is used up and the turn would begin at once, or
                an agent sent it enough prompts.
        """
        with self._database.transaction() as db:
            known = db.execute(
                "SELECT * FROM queue WHERE session = ? AND key = ?", (request.session, request.key)
            ).fetchone()
            if known is not None:
                if request.resends is None:
                    check_same_task(request.key, "a prompt", known["text"], request.text)
                return prompt_of(known)
            _check_session(db, request)
            limits = request.plan.terms.family
            admit_prompt(db, request.session, limits)
            admit_round(db, request.session, limits, asked_by=request.asked_by, key=request.key)
            _mark_resent(db, request)
            cursor = insert_prompt(db, request)
            if request.options is not None:
                db.execute("UPDATE sessions SET options = ? WHERE id = ?", (dump(request.options), request.session))
            begun = take(db, request.session, build)
            added = prompt_of(db.execute("SELECT * FROM queue WHERE id = ?", (cursor.lastrowid,)).fetchone())
            if begun is not None and added.turn == begun:
                held = PeriodAdmission(db).admit(request.session, begun, free=request.over_budget)
                by_agent = request.asked_by is not None
                if held is not None and (by_agent or not held.lacking.for_turns):
                    words = agent_refusal_words if by_agent else refusal_words
                    raise RefusalError("over_budget", words(held.lacking))
            return added

    def add_waiting(self, request: Request) -> bool:
        """Add a prompt of the runner itself, and begin no turn with it; False if it was added before.

        Raises:
            UnknownSessionError: the session was deleted.
        """
        with self._database.transaction() as db:
            _check_session(db, request)
            return bool(insert_prompt(db, request).rowcount)

    def edit(self, prompt_id: int, text: str, plan: TurnPlan | None = None, due_at: int | None = None) -> bool:
        """Replace the text of a waiting prompt, and its plan or time if one is given; False if it no longer waits."""
        return self._database.run(
            "UPDATE queue SET text = ?, plan = COALESCE(?, plan), due_at = COALESCE(?, due_at), changed_at = ?"
            " WHERE id = ? AND state = 'queued'",
            (text, dump(plan) if plan is not None else None, due_at, now_ms(), prompt_id),
        )

    def move(self, prompt_id: int, position: int) -> bool:
        """Move a waiting prompt to a position (1 is the next); False if it no longer waits."""
        with self._database.transaction() as db:
            row = db.execute("SELECT session FROM queue WHERE id = ? AND state = 'queued'", (prompt_id,)).fetchone()
            if row is None:
                return False
            order = [
                other["id"]
                for other in db.execute(f"SELECT id {WAITING} AND id <> ? {ORDER}", (row["session"], prompt_id))
            ]
            order.insert(max(0, position - 1), prompt_id)
            db.executemany("UPDATE queue SET place = ? WHERE id = ?", [(place, key) for place, key in enumerate(order)])
            db.execute("UPDATE queue SET at_once = 0, changed_at = ? WHERE id = ?", (now_ms(), prompt_id))
        return True

    def cancel(self, prompt_id: int) -> bool:
        """Cancel a waiting prompt; False if it no longer waits."""
        with self._database.transaction() as db:
            row = db.execute(
                "UPDATE queue SET state = 'cancelled', changed_at = ? WHERE id = ? AND state = 'queued'"
                " RETURNING session",
                (now_ms(), prompt_id),
            ).fetchone()
            if row is not None:
                let_go_if_empty(db, row["session"])
        return row is not None

    def hold(self, session_id: str, reason: str = HELD_BY_USER) -> None:
        """Hold the queue of a session: nothing of it is sent until it is released."""
        with self._database.transaction() as db:
            hold(db, session_id, reason)

    def release(self, session_id: str, build: Build) -> int | None:
        """Release the queue of a session, and return the turn that begins at once; None if none does."""
        with self._database.transaction() as db:
            db.execute("UPDATE sessions SET held = NULL WHERE id = ? AND held IS NOT NULL", (session_id,))
            return take(db, session_id, build)

    def send_now(self, prompt_id: int, build: Build) -> int | None:
        """Make a waiting prompt the next one, although the queue is held; return the turn that begins at once."""
        with self._database.transaction() as db:
            row = db.execute("SELECT session FROM queue WHERE id = ? AND state = 'queued'", (prompt_id,)).fetchone()
            if row is None:
                return None
            db.execute(
                "UPDATE queue SET place = ?, at_once = 1, due_at = NULL, changed_at = ? WHERE id = ?",
                (place_at_edge(db, row["session"], first=True), now_ms(), prompt_id),
            )
            return take(db, row["session"], build)

    def dismiss(self, prompt: Unconfirmed) -> bool:
        """Record that the user needs no second attempt; False if it was sent again or dismissed before."""
        with self._database.transaction() as db:
            return decide(db, prompt.session, prompt.turn, prompt.steered, PromptState.DISMISSED)

    def advance(self, session_id: str, build: Build) -> int | None:
        """Begin the turn of the next prompt, if the session is free; return its number."""
        with self._database.transaction() as db:
            return take(db, session_id, build)

    def _prompts(self, which: str, values: tuple[object, ...]) -> list[QueuedPrompt]:
        return [prompt_of(row) for row in self._database.rows(f"SELECT * {which}", values)]


def _check_session(db: sqlite3.Connection, request: Request) -> None:
    row = db.execute("SELECT status, turn FROM sessions WHERE id = ?", (request.session,)).fetchone()
    if row is None:
        raise UnknownSessionError(f"Session {short_id(request.session)} was deleted.")
    after = request.only_after
    if after is not None and (row["turn"] != after or Status(row["status"]) not in ENDED):
        state = f"{row['status']} (turn {row['turn']})"
        raise SessionBusyError(f"Session {short_id(request.session)} is {state}: another prompt came first.")


def _mark_resent(db: sqlite3.Connection, request: Request) -> None:
    """Record that an unconfirmed prompt is sent again; refuse if a copy of it waits already."""
    if request.resends is None:
        return
    if request.steered is not None:
        if not decide(db, request.session, request.resends, request.steered, PromptState.RESENT):
            raise SessionBusyError("The prompt was sent again or dismissed before.")
        return
    copies = (resend_key(request.resends), f"{resend_key(request.resends)}{AGAIN}%")
    if db.execute(f"SELECT 1 {WAITING} AND (key = ? OR key LIKE ?)", (request.session, *copies)).fetchone():
        what = f"The prompt of turn {request.resends} of session {short_id(request.session)}"
        raise SessionBusyError(f"{what} waits to be sent again already.")
    decide(db, request.session, request.resends, None, PromptState.RESENT)
