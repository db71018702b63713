"""The limits of a session when a prompt of its queue becomes a turn: they may have changed since it was asked for.

Each function works inside the transaction of its caller.
"""

import sqlite3
from collections.abc import Mapping

import msgspec
from msgspec import structs

from ...costs.session_usage import spent_by
from ...errors import SessionBusyError
from ...model import short_id
from ...rules.limits.limits import Limits, used_up
from ..rows import SELECT_TURN, load, turn_from
from .queued_prompt import QueuedPrompt


def limits_now(options: Mapping[str, object], limits: Limits) -> Limits:
    """Return the limits of a turn that begins now.

    Args:
        options: those of the session, with the limits that it was last given.
        limits: those of the prompt's plan, from the time at which it was asked for.
    """
    given = options.get("limits")
    return msgspec.convert(given, Limits).over(limits) if isinstance(given, dict) else limits


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
