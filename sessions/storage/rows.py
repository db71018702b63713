"""Convert rows to values and back: a field of a value has the name of its column, but for those converted here."""

import sqlite3
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from agentdash.sessions.model import typed
from agentdash.sessions.model.session import (
    ENDED,
    LIVE,
    Activity,
    Budget,
    Led,
    Left,
    Plan,
    Prompt,
    Receipt,
    Session,
    Status,
    StoppedBy,
    Stopping,
    TakenBy,
    Turn,
    Usage,
)
from agentdash.sessions.rules.costs.usage_totals import WITHOUT_MODEL
from agentdash.sessions.rules.launch import Launch

T = TypeVar("T")
S = TypeVar("S", bound=Struct)

Query = Callable[[str, tuple[object, ...]], Sequence[sqlite3.Row]]
"""Runs a query, and returns its rows."""


def inside(db: sqlite3.Connection) -> Query:
    """Return the queries inside a transaction."""
    return lambda sql, values: db.execute(sql, values).fetchall()


def struct_from(kind: type[S], row: sqlite3.Row, /, **converted: Any) -> S:
    """Return a value with the columns of a row in the fields of the same names, but for the converted fields."""
    for name in _same(kind, tuple(converted)):
        converted[name] = row[name]
    return kind(**converted)


@cache  # a list reads thousands of rows
def _same(kind: type[Struct], converted: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in kind.__struct_fields__ if name not in converted)


OPEN = ", ".join(f"'{status}'" for status in sorted(LIVE | {Status.QUEUED}))
"""The states of a turn that has not ended, as SQL."""

_MODELLESS = ", ".join(f"'{name}'" for name in sorted(WITHOUT_MODEL))

USES_MODEL = f"sessions.agent NOT IN ({_MODELLESS})"
"""The condition that the agent of a session uses a model, as SQL."""

LIVE_ONES = ", ".join(f"'{status}'" for status in sorted(LIVE))
"""The statuses of turns at work, as SQL."""

ENDED_ONES = ", ".join(f"'{status}'" for status in sorted(ENDED))
"""The statuses of turns that have ended, as SQL."""

WITHOUT_FIGURES = (
    f"sessions.status IN ({LIVE_ONES}) AND sessions.started_at IS NOT NULL"  # noqa: S608
    f" AND {USES_MODEL} AND NOT EXISTS (SELECT 1 FROM use_sums WHERE use_sums.session = sessions.id"
    " AND use_sums.turn = sessions.turn)"
)
"""The condition that nothing is known yet of what the turn at work of a session uses, as SQL.

It uses something, so no sum that it belongs to is exact.
"""

USAGE_COLUMNS = Usage.__struct_fields__

SELECT_TURN = (
    "SELECT turns.*, (SELECT max(missing) FROM use_sums WHERE (session, turn) = (turns.session, turns.n)) AS no_cost,"
    " (SELECT max(total_tokens IS NULL) FROM use_sums WHERE (session, turn) = (turns.session, turns.n)) AS no_tokens"
    " FROM turns"
)
"""Turns, each with whether a part of its cost and of its tokens is not known."""


WAKES_USED = (
    "(SELECT COUNT(*) FROM queue WHERE queue.session = leads.id AND queue.asked_by = 'agentdash'"
    " AND queue.state <> 'cancelled' AND EXISTS (SELECT 1 FROM wake_ends WHERE wake_ends.prompt = queue.id))"
)
"""The number of prompts that woke the session ``leads``, as SQL."""

MOST_WAKES = "COALESCE((SELECT value FROM settings WHERE name = 'wakes'), 20)"
"""The setting ``orchestration.wakes``, and its default before a front end stored it, as SQL."""

LED = (
    "CASE WHEN leads.archived_at IS NOT NULL THEN 'over'"  # noqa: S608
    f" WHEN leads.status NOT IN ({ENDED_ONES}) THEN 'at work'"
    f" WHEN leads.status = '{Status.DONE}' AND leads.agent NOT IN ({_MODELLESS})"
    " AND (SELECT stop_by FROM turns WHERE turns.session = leads.id AND turns.n = leads.turn) IS NULL"
    f" AND {WAKES_USED} < {MOST_WAKES} THEN 'wakes' ELSE 'over' END"
)
"""The state of the session ``leads`` for its workers (:class:`..model.membership.Led`), as SQL."""

_NEWEST_TURN = "FROM turns WHERE turns.session = sessions.id AND turns.n = sessions.turn"
SELECT_SESSION = (
    "SELECT sessions.*, seen.at AS seen_at, seen.steps AS seen_steps, seen.handled_at,"  # noqa: S608
    " CASE WHEN sessions.parent IS NOT NULL"
    " THEN (SELECT id FROM sessions AS parents WHERE parents.id = sessions.parent) END AS there_parent,"
    f" CASE WHEN sessions.status = '{Status.STOPPED}' THEN (SELECT stop_by {_NEWEST_TURN}) END AS stop_by,"
    f" CASE WHEN sessions.denied > 0 THEN (SELECT denied_names {_NEWEST_TURN}) END AS denied_names,"
    f" CASE WHEN sessions.status IN ('{Status.STARTING}', '{Status.RUNNING}', '{Status.WAITING}')"
    f" THEN (SELECT json_extract(launch, '$.transport') {_NEWEST_TURN}) END AS transport,"
    f" {WITHOUT_FIGURES} AS without_figures,"
    " CASE WHEN sessions.lifecycle <> 'detached' AND sessions.parent IS NOT NULL"
    f" THEN (SELECT {LED} FROM sessions AS leads WHERE leads.id = sessions.parent) END AS led"
    " FROM sessions LEFT JOIN seen ON seen.session = sessions.id"
)


def session_from(row: sqlite3.Row) -> Session:
    """The session of a ``SELECT_SESSION`` row; without its parent while the parent is deleted."""
    status, odd = _status(row["status"])
    return struct_from(
        Session, row, status=status, reason=odd or row["reason"], parent=row["there_parent"], usage=usage_from(row),
        stopping=load(row["stopping"], Stopping), stopped_by=StoppedBy.recorded(row["stop_by"]),
        denied_names=load(row["denied_names"], tuple[str, ...]), activity=load(row["activity"], Activity),
        plan=load(row["plan"], Plan), steers=bool(row["transport"]), blocked=bool(row["blocked"]),
        taken_by=load(row["taken_by"], TakenBy), budget=load(row["budget"], Budget),
        led=Led(row["led"]) if row["led"] is not None else None, escalated=bool(row["escalated"]), deleted_at=None,
        cost_missing=row["cost_missing"] + row["without_figures"],
        tokens_missing=row["tokens_missing"] + row["without_figures"],
    )  # fmt: skip


COUNTED_COLUMNS = (
    "id", "agent", "status", "turn", "total_tokens", "cost_usd", "cost_about_usd", "cost_missing", "tokens_missing",
    "exit_code", "signal", "steps", "started_at", "created_at", "updated_at",
)  # fmt: skip
"""The columns of a session that is not shown: its state and its use."""


def counted_from(row: sqlite3.Row) -> Session:
    """The session of a row with `COUNTED_COLUMNS`: it has no texts."""
    values = dict(zip(COUNTED_COLUMNS, row, strict=True))
    status, _ = _status(values.pop("status"))
    usage = Usage(total_tokens=values.pop("total_tokens"))
    return Session(status=status, usage=usage, title="", task="", cwd="", **values)


def turn_from(row: sqlite3.Row) -> Turn:
    """The turn of a row of :data:`SELECT_TURN`."""
    status, odd = _status(row["status"])
    launch = launch_from(row)
    return struct_from(
        Turn, row, status=status, reason=odd or row["reason"], argv=launch.argv, mode=launch.mode,
        transport=launch.transport, compacts=launch.compacts is not None,
        usage=load(row["usage"], Usage) or Usage(), thread_usage=load(row["thread_usage"], Usage) or Usage(),
        receipt=load(row["receipt"], Receipt), left=load(row["left"], tuple[Left, ...]) or (),
        unreadable=load(row["unreadable"], dict[str, int]) or {}, cost_missing=bool(row["no_cost"]),
        tokens_missing=bool(row["no_tokens"]),
    )  # fmt: skip


def usage_from(row: sqlite3.Row) -> Usage:
    """Return the tokens in the columns of a row."""
    return struct_from(Usage, row)


def status_from(text: str) -> Status:
    """Return a status; LOST for one of another version."""
    return _status(text)[0]


def _status(text: str) -> tuple[Status, str | None]:
    """Return the status; LOST and the reason for another version's unknown status: an odd row must not hide others."""
    try:
        return Status(text), None
    except ValueError:
        return Status.LOST, f"the store has an unknown status: {text}"


def launch_from(row: sqlite3.Row) -> Launch:
    """The record of how a turn is, or was, started."""
    return typed.decode(row["launch"], Launch)


def prompt_from(row: sqlite3.Row) -> Prompt:
    """The prompt of a ``prompts`` row."""
    return Prompt(**dict(row))


def dump(value: Any) -> str:
    """Encode a value as JSON text for a column."""
    return msgspec.json.encode(value).decode()


def load(text: str | None, kind: type[T]) -> T | None:
    """Decode the value of a JSON column; None for NULL."""
    return None if text is None else typed.decode(text, kind)
