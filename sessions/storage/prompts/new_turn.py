"""The rows with which a turn begins, and the one place where a prompt of the queue becomes a turn.

The limits of the session may have changed since the prompt was asked for: those of now bind its turn.  Each function
works inside the transaction of its caller."""

import sqlite3
from collections.abc import Mapping

import msgspec
from msgspec import structs

from agentdash.sessions.model import typed
from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.errors import AgentdashError, SessionBusyError
from agentdash.sessions.model.session import ENDED, Status, short_id
from agentdash.sessions.rules.costs.usage_totals import spent_by
from agentdash.sessions.rules.launch import Launch
from agentdash.sessions.rules.limits.limits import Limits, used_up
from agentdash.sessions.storage.families.admission import admit_prompt
from agentdash.sessions.storage.marks import recorded
from agentdash.sessions.storage.prompts.queued_prompt import (
    UNDER_WAY,
    Build,
    QueuedPrompt,
    hold,
    let_go_if_empty,
    next_row,
    prompt_of,
)
from agentdash.sessions.storage.rows import SELECT_TURN, dump, inside, load, turn_from


def take(db: sqlite3.Connection, session_id: str, build: Build) -> int | None:
    """Make the next prompt of an ended session its next turn, inside the caller's transaction; return its number.

    None if the user works in the agent's own interface, which the turn would disturb.  If its start cannot be built (a
    setting that the agent does not take), or a limit or a budget is used up, the queue is held with the reason.
    """
    session = db.execute("SELECT status, turn, held, taken_by FROM sessions WHERE id = ?", (session_id,)).fetchone()
    if session is None or Status(session["status"]) not in ENDED or session["taken_by"] is not None:
        return None
    row = next_row(db, session_id)
    if db.execute(f"SELECT 1 FROM queue WHERE session = ? AND {UNDER_WAY}", (session_id,)).fetchone():  # noqa: S608
        return None  # the agent has it, and begins a turn with it
    if row is None or not (row["at_once"] or session["held"] is None):
        return None
    prompt, n = prompt_of(row), int(session["turn"]) + 1
    try:
        prompt = with_limits_now(db, prompt)
        check_within_limits(db, prompt)
        admit_prompt(db, session_id, prompt.plan.terms.family)
        launch = build(prompt, n, recorded(inside(db), session_id))
    except AgentdashError as error:
        db.execute("UPDATE queue SET at_once = 0 WHERE id = ?", (prompt.id,))
        hold(db, session_id, str(error))
        return None
    import uuid  # most runners send no second prompt

    now = now_ms()
    insert_turn(db, session_id, n, prompt.text, launch, str(uuid.uuid4()), now, prompt.asked_by)
    begin_turn(db, session_id, n, launch.model, now)
    db.execute("UPDATE queue SET state = 'taken', turn = ?, changed_at = ? WHERE id = ?", (n, now, prompt.id))
    let_go_if_empty(db, session_id)
    return n


def insert_turn(
    db: sqlite3.Connection,
    session_id: str,
    n: int,
    prompt: str | None,
    launch: Launch,
    run_id: str,
    now: int,
    asked_by: str | None,
    due_at: int | None = None,
) -> None:
    """Insert a queued turn with its prompt; without one it gets no place (:mod:`.chains`), nor before ``due_at``."""
    db.execute(
        "INSERT INTO turns (session, n, status, run_id, launch, created_at, asked_by)"
        " VALUES (?, ?, 'queued', ?, ?, ?, ?)",
        (session_id, n, run_id, dump(launch), now, asked_by),
    )
    if prompt is not None:
        insert_turn_prompt(db, session_id, n, prompt, now, due_at)


def insert_turn_prompt(
    db: sqlite3.Connection, session_id: str, n: int, text: str, now: int, due_at: int | None = None
) -> None:
    """Insert the prompt of a queued turn, which then gets a place, but not before ``due_at``."""
    db.execute(
        "INSERT INTO prompts (session, turn, text, state, created_at, due_at) VALUES (?, ?, ?, 'queued', ?, ?)",
        (session_id, n, text, now, due_at),
    )


def begin_turn(db: sqlite3.Connection, session_id: str, n: int, model: str | None, now: int) -> None:
    """Make a queued turn the newest of its session, which is then as if it had not ended."""
    db.execute(
        "UPDATE sessions SET status = 'queued', reason = NULL, turn = ?, exit_code = NULL, signal = NULL,"
        " archived_at = NULL, started_at = NULL, ended_at = NULL, model = COALESCE(?, model), updated_at = ?,"
        " stuck = NULL, stuck_at = NULL, denied = 0, asks = NULL, activity = NULL, plan = NULL, mode = NULL"
        " WHERE id = ?",
        (n, model, now, session_id),
    )


def limits_now(options: Mapping[str, object], limits: Limits) -> Limits:
    """Return the limits of a turn that begins now.

    Args:
        options: those of the session, with the limits that it was last given.
        limits: those of the prompt's plan, from the time at which it was asked for.
    """
    given = options.get("limits")
    return typed.convert(given, Limits).over(limits) if isinstance(given, dict) else limits


def with_limits_now(db: sqlite3.Connection, prompt: QueuedPrompt) -> QueuedPrompt:
    """Return a prompt whose plan has the limits that its session was last given."""
    row = db.execute("SELECT options FROM sessions WHERE id = ?", (prompt.session,)).fetchone()
    plan = prompt.plan
    limits = limits_now(load(row["options"], dict[str, object]) or {}, plan.terms.limits)
    if limits == plan.terms.limits:
        return prompt
    return structs.replace(prompt, recorded_plan=msgspec.Raw(msgspec.json.encode(plan.on(limits=limits))))


def check_within_limits(db: sqlite3.Connection, prompt: QueuedPrompt) -> None:
    """Refuse a turn of a session that has used up a limit: its runner would only stop it.

    Raises:
        SessionBusyError: it has.
    """
    limits = prompt.plan.terms.limits
    if not limits.stops or (limits.tokens is None and limits.cost_usd is None):
        return
    rows = db.execute(f"{SELECT_TURN} WHERE session = ?", (prompt.session,)).fetchall()
    spent = spent_by(map(turn_from, rows))
    over = used_up(limits, spent.tokens, spent.cost_usd, estimated=spent.estimated)
    if over:
        raise SessionBusyError(
            f"Session {short_id(prompt.session)} is over its limit: it {' and '.join(over.values())}."
        )
