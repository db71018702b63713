"""The versions of the schema and the migrations between them; migrations only add.

Runners of an earlier version keep writing while they live: the names they use must stay, with the same meaning.
"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from ...errors import NewerStoreError
from .budgets_migration import STATEMENTS as BUDGETS
from .lacking_migration import STATEMENTS as LACKING
from .reports_migration import STATEMENTS as REPORTS

Statements = tuple[str, ...]

_COUNT_QUEUED = (
    "BEGIN UPDATE sessions SET queued = (SELECT COUNT(*) FROM queue"
    " WHERE session = NEW.session AND state = 'queued') WHERE id = NEW.session; END"
)

_COUNT_ASKING = (
    "BEGIN UPDATE sessions SET asking = (SELECT COUNT(*) FROM asks"
    " WHERE session = NEW.session AND state = 'open') WHERE id = NEW.session; END"
)

_COUNT_UNCONFIRMED = (
    "BEGIN UPDATE sessions SET unconfirmed ="
    " (SELECT COUNT(*) FROM prompts WHERE session = NEW.session AND state = 'unconfirmed')"
    " + (SELECT COUNT(*) FROM queue WHERE session = NEW.session AND state = 'unconfirmed')"
    " WHERE id = NEW.session; END"
)

_ENDED = "('done', 'failed', 'stopped', 'lost')"

MIGRATIONS: tuple[Statements, ...] = (
    ("ALTER TABLE seen ADD COLUMN steps INTEGER",),  # 2: the number of steps the user has seen
    (  # 3: facts that decide whether a session needs attention, and when it was pinned
        "ALTER TABLE sessions ADD COLUMN stuck TEXT",
        "ALTER TABLE sessions ADD COLUMN stuck_at INTEGER",
        "ALTER TABLE sessions ADD COLUMN denied INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE sessions ADD COLUMN pinned_at INTEGER",
    ),
    (  # 4: queries that front ends make every few seconds cost the same with any number of sessions
        "CREATE INDEX sessions_parent ON sessions (parent) WHERE parent IS NOT NULL",
        "CREATE INDEX sessions_left ON sessions (left) WHERE left > 0",
    ),
    (  # 5: fields that could not be read, and the cost that a limit is compared with
        "ALTER TABLE turns ADD COLUMN unreadable TEXT NOT NULL DEFAULT '{}'",
        "ALTER TABLE turns ADD COLUMN cost_about_usd REAL",
    ),
    (  # 6: the order of the first screen, and the names of the tools that were refused
        "ALTER TABLE sessions ADD COLUMN urgency INTEGER",
        "ALTER TABLE sessions ADD COLUMN urgency_seq INTEGER",
        "CREATE INDEX sessions_outdated ON sessions (id) WHERE archived_at IS NULL AND urgency_seq IS NOT seq",
        (
            "CREATE INDEX sessions_first ON sessions (pinned_at IS NULL, urgency, created_at DESC, id)"
            " WHERE archived_at IS NULL AND urgency_seq IS seq"
        ),
        "ALTER TABLE turns ADD COLUMN denied_names TEXT",
    ),
    (  # 7: what an agent does now and what its last message asks, and an order of urgency that knows the latter
        "ALTER TABLE sessions ADD COLUMN asks TEXT",
        "ALTER TABLE sessions ADD COLUMN activity TEXT",
        "ALTER TABLE sessions ADD COLUMN plan TEXT",
        "UPDATE sessions SET urgency_seq = NULL",
    ),
    (  # 8: the queue of prompts, and turns that are parts of one file
        "ALTER TABLE sessions ADD COLUMN queued INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE sessions ADD COLUMN held TEXT",
        "ALTER TABLE sessions ADD COLUMN unconfirmed INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE turns ADD COLUMN stream INTEGER",
        "ALTER TABLE turns ADD COLUMN begin_byte INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE turns ADD COLUMN end_byte INTEGER",
        "ALTER TABLE turns ADD COLUMN begin_error_byte INTEGER NOT NULL DEFAULT 0",
        (
            "CREATE TABLE queue (id INTEGER PRIMARY KEY,"
            " session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE, key TEXT NOT NULL,"
            " place REAL NOT NULL, text TEXT NOT NULL, plan TEXT NOT NULL, state TEXT NOT NULL,"
            " at_once INTEGER NOT NULL DEFAULT 0, turn INTEGER, asked_by TEXT,"
            " created_at INTEGER NOT NULL, changed_at INTEGER NOT NULL, UNIQUE (session, key)) STRICT"
        ),
        "CREATE INDEX queue_waiting ON queue (session, place) WHERE state = 'queued'",
        f"CREATE TRIGGER queue_added AFTER INSERT ON queue {_COUNT_QUEUED}",
        f"CREATE TRIGGER queue_changed AFTER UPDATE ON queue {_COUNT_QUEUED}",
        (
            "CREATE TRIGGER prompt_confirmed AFTER UPDATE OF state ON prompts"
            " WHEN NEW.state <> OLD.state AND 'unconfirmed' IN (NEW.state, OLD.state) BEGIN"
            " UPDATE sessions SET unconfirmed = (SELECT COUNT(*) FROM prompts"
            " WHERE session = NEW.session AND state = 'unconfirmed') WHERE id = NEW.session; END"
        ),
    ),
    (  # 9: live agents: what they ask, and how long they wait
        "ALTER TABLE sessions ADD COLUMN asking INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE sessions ADD COLUMN warm_since INTEGER",
        "CREATE INDEX sessions_warm ON sessions (warm_since) WHERE warm_since IS NOT NULL",
        "ALTER TABLE turns ADD COLUMN attempt INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE turns ADD COLUMN running_cost_usd REAL",
        "ALTER TABLE queue ADD COLUMN steers INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE queue ADD COLUMN attempt INTEGER NOT NULL DEFAULT 0",
        "CREATE INDEX queue_under_way ON queue (session) WHERE state IN ('sending', 'sent')",
        (
            "CREATE TABLE asks (id INTEGER PRIMARY KEY,"
            " session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE, turn INTEGER NOT NULL,"
            " stream INTEGER NOT NULL, key TEXT NOT NULL, ask TEXT NOT NULL, state TEXT NOT NULL,"
            " asked_at INTEGER NOT NULL, due_at INTEGER, answer TEXT, answered_by TEXT, answered_at INTEGER,"
            " sent_at INTEGER, settled_at INTEGER, UNIQUE (session, stream, key)) STRICT"
        ),
        "CREATE INDEX asks_open ON asks (session) WHERE state = 'open'",
        f"CREATE TRIGGER ask_added AFTER INSERT ON asks {_COUNT_ASKING}",
        f"CREATE TRIGGER ask_changed AFTER UPDATE ON asks {_COUNT_ASKING}",
    ),
    (  # 10: prompts into running turns are unconfirmed too
        "DROP TRIGGER prompt_confirmed",
        (
            "CREATE TRIGGER prompt_confirmed AFTER UPDATE OF state ON prompts"
            f" WHEN NEW.state <> OLD.state AND 'unconfirmed' IN (NEW.state, OLD.state) {_COUNT_UNCONFIRMED}"
        ),
        (
            "CREATE TRIGGER steered_confirmed AFTER UPDATE OF state ON queue"
            f" WHEN NEW.state <> OLD.state AND 'unconfirmed' IN (NEW.state, OLD.state) {_COUNT_UNCONFIRMED}"
        ),
    ),
    (  # 11: changes of the settings of running agents, the use of the context, and estimated costs
        "ALTER TABLE sessions ADD COLUMN mode TEXT",
        "ALTER TABLE sessions ADD COLUMN context_tokens INTEGER",
        "ALTER TABLE sessions ADD COLUMN context_window INTEGER",
        "ALTER TABLE sessions ADD COLUMN cost_about_usd REAL",
        (
            "CREATE TABLE adjustments (id INTEGER PRIMARY KEY,"
            " session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE, turn INTEGER NOT NULL,"
            " what TEXT NOT NULL, value TEXT NOT NULL, counts_from TEXT NOT NULL, state TEXT NOT NULL,"
            " reason TEXT NOT NULL DEFAULT '', asked_by TEXT NOT NULL, asked_at INTEGER NOT NULL,"
            " changed_at INTEGER NOT NULL) STRICT"
        ),
        "CREATE INDEX adjustments_session ON adjustments (session)",
    ),
    (  # 12: marks of the conversation, the agent's own interface, and sessions that start after others
        "ALTER TABLE sessions ADD COLUMN taken_by TEXT",
        "ALTER TABLE sessions ADD COLUMN after TEXT",
        "ALTER TABLE sessions ADD COLUMN blocked INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE sessions ADD COLUMN followed TEXT",
        "CREATE INDEX sessions_after ON sessions (after) WHERE after IS NOT NULL",
        "CREATE INDEX sessions_taken ON sessions (taken_by) WHERE taken_by IS NOT NULL",
        (
            "CREATE TABLE marks (id INTEGER PRIMARY KEY,"
            " session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE, kind TEXT NOT NULL,"
            " after INTEGER NOT NULL, turn INTEGER, step INTEGER, undoes INTEGER, origin TEXT,"
            " data TEXT NOT NULL DEFAULT '{}', asked_by TEXT NOT NULL, at INTEGER NOT NULL) STRICT"
        ),
        "CREATE INDEX marks_session ON marks (session)",
        "CREATE INDEX marks_origin ON marks (origin) WHERE origin IS NOT NULL",
    ),
    (  # 13: agents that lead agents
        "ALTER TABLE sessions ADD COLUMN lead TEXT",
        "ALTER TABLE sessions ADD COLUMN depth INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE sessions ADD COLUMN lifecycle TEXT NOT NULL DEFAULT 'detached'",
        "ALTER TABLE sessions ADD COLUMN key TEXT",
        "ALTER TABLE sessions ADD COLUMN call TEXT",
        "ALTER TABLE sessions ADD COLUMN budget TEXT",
        "ALTER TABLE sessions ADD COLUMN reported_turn INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE sessions ADD COLUMN born_to TEXT",
        "CREATE UNIQUE INDEX sessions_key ON sessions (coalesce(parent, lead, ''), key) WHERE key IS NOT NULL",
        "CREATE INDEX sessions_linked ON sessions (parent) WHERE lifecycle <> 'detached'",
        "CREATE INDEX sessions_lead ON sessions (lead) WHERE lead IS NOT NULL",
        "ALTER TABLE sessions ADD COLUMN share TEXT",
        "ALTER TABLE tombstones ADD COLUMN parent TEXT",
        "ALTER TABLE tombstones ADD COLUMN lead TEXT",
        "ALTER TABLE tombstones ADD COLUMN budget TEXT",
        "ALTER TABLE tombstones ADD COLUMN total_tokens INTEGER",
        "ALTER TABLE tombstones ADD COLUMN cost_usd REAL",
        "ALTER TABLE tombstones ADD COLUMN cost_about_usd REAL",
        "CREATE INDEX tombstones_parent ON tombstones (parent) WHERE parent IS NOT NULL",
        "CREATE INDEX tombstones_lead ON tombstones (lead) WHERE lead IS NOT NULL",
        "DROP TRIGGER sessions_removed",
        (
            "CREATE TRIGGER sessions_removed AFTER DELETE ON sessions BEGIN"
            " UPDATE counter SET seq = seq + 1;"
            " INSERT OR REPLACE INTO tombstones"
            " (session, seq, deleted_at, parent, lead, budget, total_tokens, cost_usd, cost_about_usd)"
            " VALUES (OLD.id, (SELECT seq FROM counter), CAST(strftime('%s', 'now') AS INTEGER) * 1000,"
            " OLD.parent, OLD.lead, OLD.budget, OLD.total_tokens, OLD.cost_usd, OLD.cost_about_usd); END"
        ),
        "ALTER TABLE sessions ADD COLUMN woken_turn INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE sessions ADD COLUMN escalates_at INTEGER",
        "ALTER TABLE sessions ADD COLUMN escalated INTEGER NOT NULL DEFAULT 0",
        ("CREATE INDEX sessions_escalates ON sessions (escalates_at) WHERE escalates_at IS NOT NULL AND NOT escalated"),
        (
            "CREATE TABLE wakes (lead TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE, due_at"
            " INTEGER NOT NULL, sent INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID"
        ),
        (
            "CREATE TABLE wake_ends (prompt INTEGER NOT NULL REFERENCES queue (id) ON DELETE CASCADE, session"
            " TEXT NOT NULL, turn INTEGER NOT NULL, PRIMARY KEY (prompt, session)) STRICT, WITHOUT ROWID"
        ),
        "CREATE INDEX wake_ends_session ON wake_ends (session)",
        (
            "CREATE TRIGGER lead_changed AFTER UPDATE OF status, archived_at ON sessions WHEN NEW.status <>"
            " OLD.status OR (NEW.archived_at IS NULL) <> (OLD.archived_at IS NULL) BEGIN UPDATE sessions SET"
            " seq = seq WHERE parent = NEW.id AND lifecycle <> 'detached'; END"
        ),
        (
            "CREATE TRIGGER wake_sent AFTER UPDATE OF state ON queue WHEN NEW.asked_by = 'agentdash' AND"
            " NEW.state = 'taken' AND OLD.state = 'queued' BEGIN UPDATE sessions SET reported_turn ="
            " max(reported_turn, (SELECT wake_ends.turn FROM wake_ends WHERE prompt = NEW.id AND"
            " wake_ends.session = sessions.id)) WHERE id IN (SELECT session FROM wake_ends WHERE prompt ="
            " NEW.id); END"
        ),
        (
            "CREATE TRIGGER end_reported AFTER UPDATE OF reported_turn ON sessions WHEN NEW.reported_turn >"
            " OLD.reported_turn BEGIN UPDATE queue SET state = 'cancelled' WHERE state = 'queued' AND id IN"
            " (SELECT prompt FROM wake_ends WHERE session = NEW.id) AND NOT EXISTS (SELECT 1 FROM wake_ends"
            " JOIN sessions AS worker ON worker.id = wake_ends.session WHERE wake_ends.prompt = queue.id AND"
            " worker.reported_turn < wake_ends.turn); END"
        ),
        (
            "CREATE TABLE ends (seq INTEGER PRIMARY KEY, session TEXT NOT NULL, turn INTEGER NOT NULL,"
            " status TEXT NOT NULL, at INTEGER NOT NULL) STRICT"
        ),
        (
            "CREATE TRIGGER turn_ended AFTER UPDATE OF status ON turns"  # noqa: S608
            f" WHEN NEW.status IN {_ENDED} AND OLD.status NOT IN {_ENDED} BEGIN"
            " UPDATE counter SET seq = seq + 1;"
            " INSERT INTO ends (seq, session, turn, status, at) VALUES ((SELECT seq FROM counter), NEW.session, NEW.n,"
            " NEW.status, coalesce(NEW.ended_at, CAST(strftime('%s', 'now') AS INTEGER) * 1000)); END"
        ),
    ),
    REPORTS + BUDGETS,  # 14: every report of use, kept also for deleted sessions; budgets of days and weeks; plans
    LACKING,  # 15: the turns of a session that lack a cost or tokens
)
"""The statements from version 1 to 2, from 2 to 3, and so on; ``schema.sql`` creates the newest version directly."""

VERSION = 1 + len(MIGRATIONS)
"""``user_version`` of the schema in ``schema.sql``; a file with a higher one is refused."""


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring the schema up to date: all of it, or nothing.

    If several processes migrate at once, one does the work; the others wait and find it done.

    Raises:
        NewerStoreError: the file was written by a newer agentdash.
        sqlite3.DatabaseError: the file cannot be written; it is unchanged.
    """
    if _version(connection, path) == VERSION:
        return
    connection.execute("BEGIN EXCLUSIVE")
    try:
        for statement in _missing(_version(connection, path)):
            connection.execute(statement)
        from ..urgency import write_urgency

        write_urgency(connection)
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()
        raise


def _version(connection: sqlite3.Connection, path: Path) -> int:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > VERSION:
        raise NewerStoreError(f"{path} was written by a newer agentdash (schema {version}). Upgrade this one.")
    return version


def _missing(version: int) -> Iterator[str]:
    """The statements that a file of this version still needs; version 0 is an empty file."""
    if version == 0:
        yield from _split((Path(__file__).parent / "schema.sql").read_text("utf-8"))
        return
    for statements in MIGRATIONS[version - 1 :]:
        yield from statements


def _split(script: str) -> Iterator[str]:
    """Split a script into statements: ``executescript`` would commit the caller's transaction."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
