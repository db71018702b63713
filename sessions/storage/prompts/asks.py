"""The asks of live agents: recorded by the runner, answered by a front end, a rule or the time limit.

Each method is one transaction.  An answer is a compare-and-set: of several processes that answer an ask, exactly one
has its way.  A row of an ask is bounded, and notes what it lacks."""

import sqlite3
from collections.abc import Iterator, Sequence

import msgspec
from msgspec import structs

from agentdash.sessions.model import typed
from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.errors import UnknownSessionError
from agentdash.sessions.model.session import short_id
from agentdash.sessions.rules.asks.answers import title_repeats_body
from agentdash.sessions.rules.asks.model import MOST_BODY_BYTES, Answer, Ask, Choice, Question, Verdict
from agentdash.sessions.rules.asks.recorded import AskState, RecordedAsk
from agentdash.sessions.rules.asks.settings import decided_late
from agentdash.sessions.storage.database import Database
from agentdash.sessions.storage.rows import dump, load, struct_from
from agentdash.sessions.text.sanitize import shorten
from agentdash.sessions.text.unhidden import unhidden

_SELECT = (
    "SELECT *, (SELECT json_extract(launch, '$.asks.on_timeout') FROM turns"
    " WHERE turns.session = asks.session AND turns.n = asks.turn) AS on_timeout FROM asks"
)
_UNSENT = "state IN ('answered', 'expired') AND answer IS NOT NULL AND sent_at IS NULL AND settled_at IS NULL"
_WAITS_FOR_AGENT = "state IN ('open', 'answered', 'sent')"
_ORDER = "ORDER BY asked_at, id"


class Asks:
    """The asks of all sessions in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record(self, session_id: str, turn: int, stream: int, ask: Ask, due_at: int | None = None) -> RecordedAsk:
        """Record an ask; if the same process has asked it before, return the first record.

        Args:
            stream: the number of the process's files.
            due_at: the time at which the settings decide, UTC ms; None if it waits for ever.

        Raises:
            UnknownSessionError: the session was deleted.
        """
        place = (session_id, stream, encodable(ask.key))
        with self._database.transaction() as db:
            if db.execute("SELECT 1 FROM sessions WHERE id = ?", (session_id,)).fetchone() is None:
                raise UnknownSessionError(f"Session {short_id(session_id)} was deleted.")
            db.execute(
                "INSERT INTO asks (id, session, stream, key, turn, ask, state, asked_at, due_at)"
                " VALUES (?, ?, ?, ?, ?, ?, 'open', ?, ?) ON CONFLICT (session, stream, key) DO NOTHING",
                (_next_id(db), *place, turn, dump(bounded(ask)), now_ms(), due_at),
            )
            db.execute("INSERT OR REPLACE INTO settings (name, value) SELECT 'last_ask', MAX(id) FROM asks")
            row = db.execute(f"{_SELECT} WHERE session = ? AND stream = ? AND key = ?", place).fetchone()
        return _recorded(row)

    def open(self, session_id: str | None = None) -> list[RecordedAsk]:
        """Return the asks that wait for an answer, of one session or of all, the oldest first."""
        rows = self._database.rows(
            f"{_SELECT} WHERE state = 'open' AND (? IS NULL OR session = ?) {_ORDER}",
            (session_id, session_id),
        )
        return [_recorded(row) for row in rows]

    def of_session(self, session_id: str) -> list[RecordedAsk]:
        """Return all asks of a session, the oldest first."""
        rows = self._database.rows(f"{_SELECT} WHERE session = ? {_ORDER}", (session_id,))
        return [_recorded(row) for row in rows]

    def unsettled(self, session_id: str, stream: int) -> list[RecordedAsk]:
        """Return the asks of a process that are not over, the oldest first: also those whose answer is on its way."""
        rows = self._database.rows(
            f"{_SELECT} WHERE session = ? AND stream = ? AND settled_at IS NULL {_ORDER}",
            (session_id, stream),
        )
        return [_recorded(row) for row in rows]

    def one(self, ask_id: int) -> RecordedAsk | None:
        """Return an ask of any state; None if its session was deleted."""
        rows = self._database.rows(f"{_SELECT} WHERE id = ?", (ask_id,))
        return _recorded(rows[0]) if rows else None

    def remembered(self, session_id: str) -> list[Ask]:
        """Return the asks that were allowed for the rest of the session, if the agent does not remember that itself.

        An ask that is cut in its row is left out, because the next could have the same beginning.
        """
        from agentdash.sessions.rules.asks.dangerous import (  # only a process whose agent asks needs them
            can_remember,
            own_scope,
        )

        rows = self._database.rows(
            f"{_SELECT} WHERE session = ? AND json_extract(answer, '$.verdict') = ?",
            (session_id, Verdict.ALWAYS),
        )
        asks = [_recorded(row).ask for row in rows]
        return [ask for ask in asks if not own_scope(ask) and can_remember(ask)]

    def answer(self, ask_id: int, answer: Answer, by: str, state: AskState = AskState.ANSWERED) -> bool:
        """Answer an open ask (``EXPIRED``: with the answer of the settings); False if it is not open."""
        return self._database.run(
            "UPDATE asks SET state = ?, answer = ?, answered_by = ?, answered_at = ? WHERE id = ? AND state = 'open'",
            (state, dump(answer), by, now_ms(), ask_id),
        )

    def overrule(self, ask_id: int, answer: Answer, by: str) -> bool:
        """Replace an answer that cannot be written to the agent; False if none is to be written."""
        return self._database.run(
            f"UPDATE asks SET answer = ?, answered_by = ? WHERE id = ? AND {_UNSENT}",  # noqa: S608
            (dump(answer), by, ask_id),
        )

    def answered(self, session_id: str) -> list[RecordedAsk]:
        """Return the asks whose answer is to be written to the agent, with the values of secret questions."""
        rows = self._database.rows(
            f"{_SELECT} WHERE session = ? AND {_UNSENT} ORDER BY answered_at, id",
            (session_id,),
        )
        return [_recorded(row, secrets=True) for row in rows]

    def sent(self, ask_id: int) -> bool:
        """Record that an answer was written to the agent, and forget its secrets; False if none was to be written."""
        with self._database.transaction() as db:
            changed = db.execute(
                "UPDATE asks SET sent_at = ?, state = CASE state WHEN 'answered' THEN 'sent' ELSE state END"  # noqa: S608
                f" WHERE id = ? AND {_UNSENT}",
                (now_ms(), ask_id),
            ).rowcount
            _forget_secrets(db, "id = ?", (ask_id,))
        return bool(changed)

    def settle(self, session_id: str, stream: int, key: str, answered: bool) -> bool:
        """End an ask: the agent has the answer, or no longer waits for one; False if it was over.

        The answer of an ask that a time limit decided stays what it is, and so does its state.  An ask without an
        answer was withdrawn, whatever the agent reports: codex reports both alike.
        """
        where, place = "session = ? AND stream = ? AND key = ?", (session_id, stream, encodable(key))
        with self._database.transaction() as db:
            return _end(db, AskState.SETTLED if answered else AskState.WITHDRAWN, where, place) > 0

    def lose(self, session_id: str, stream: int) -> int:
        """End all asks of a process that ended; return their number."""
        with self._database.transaction() as db:
            return _end(db, AskState.LOST, "session = ? AND stream = ?", (session_id, stream))


def _next_id(db: sqlite3.Connection) -> int:
    """Return a number that no ask ever had: an answer to one of a deleted session must not reach another one."""
    row = db.execute(
        "SELECT MAX(number) AS last FROM (SELECT MAX(id) AS number FROM asks"
        " UNION ALL SELECT value FROM settings WHERE name = 'last_ask')"
    ).fetchone()
    return int(row["last"] or 0) + 1


def _end(db: sqlite3.Connection, state: AskState, where: str, place: tuple[object, ...]) -> int:
    """End the asks at a place that are not over; return their number."""
    changed = db.execute(
        f"UPDATE asks SET settled_at = ?, state = CASE WHEN state = 'expired' THEN state"  # noqa: S608
        " WHEN ? = 'settled' AND answer IS NULL THEN 'withdrawn' ELSE ? END"
        f" WHERE {where} AND settled_at IS NULL AND ({_WAITS_FOR_AGENT} OR state = 'expired')",
        (now_ms(), state, state, *place),
    ).rowcount
    _forget_secrets(db, where, place)
    return changed


def _forget_secrets(db: sqlite3.Connection, where: str, place: tuple[object, ...]) -> None:
    """Remove the values of secret questions from the answers that the runner has no use for."""
    rows = db.execute(
        f"{_SELECT} WHERE {where} AND answer IS NOT NULL AND (sent_at IS NOT NULL OR settled_at IS NOT NULL)",
        place,
    ).fetchall()
    for row in rows:
        whole, public = _recorded(row, secrets=True), _recorded(row)
        if whole != public:
            db.execute("UPDATE asks SET answer = ? WHERE id = ?", (dump(public.answer), row["id"]))


def _recorded(row: sqlite3.Row, *, secrets: bool = False) -> RecordedAsk:
    ask = typed.decode(row["ask"], Ask)
    answer = load(row["answer"], Answer)
    if answer is not None and not secrets:
        hidden = {question.key for question in ask.questions if question.secret}
        public = {key: values for key, values in answer.values.items() if key not in hidden}
        answer = structs.replace(answer, values=public)
    overdue = decided_late(row["on_timeout"], ask) if row["due_at"] is not None else None
    return struct_from(RecordedAsk, row, ask=ask, answer=answer, state=AskState(row["state"]), overdue=overdue)


MOST_TEXT = 4_000
"""Characters of a title, a reason, or the name of a tool."""
MOST_PATHS = 1_000
"""Paths of one ask."""
MOST_QUESTIONS = 100
"""Questions of one ask, and choices of one question."""
MOST_QUESTION_BYTES = 256 * 1024
"""Bytes of all questions of one ask."""


def bounded(ask: Ask) -> Ask:
    """Return the ask without the ends of very long texts, and with text that can be encoded."""
    questions = tuple(_bounded_questions(ask.questions))
    short = structs.replace(
        ask,
        key=encodable(ask.key),
        tool=_short(ask.tool),
        title=_short(unhidden(ask.title)),
        why=_short(ask.why),
        always=_short(ask.always),
        body=_cut_body(ask.body),
        paths=tuple(encodable(path) for path in ask.paths[:MOST_PATHS]),
        cwd=encodable(ask.cwd),
        questions=questions,
    )
    return structs.replace(short, left_out=", ".join(_left_out(ask, short)))


def encodable(text: str) -> str:
    """Return the text with ``?`` for halves of surrogate pairs, which no column can hold."""
    return text.encode("utf-8", "replace").decode()


def _left_out(ask: Ask, short: Ask) -> Iterator[str]:
    """Yield each part of an ask that its row lacks, if the user would allow it unseen."""
    size = len(ask.body.encode("utf-8", "replace"))
    if size > MOST_BODY_BYTES:
        yield f"{size - MOST_BODY_BYTES:,} of {size:,} bytes of its text"
    if len(ask.paths) > MOST_PATHS:
        yield f"{len(ask.paths) - MOST_PATHS:,} of {len(ask.paths):,} files"
    if len(ask.tool) > MOST_TEXT or len(ask.always) > MOST_TEXT:
        yield "the end of a name"
    if len(unhidden(ask.title)) > MOST_TEXT and not title_repeats_body(ask):
        yield "the end of its title"
    if len(short.questions) < len(ask.questions):
        yield f"{len(ask.questions) - len(short.questions):,} of {len(ask.questions):,} questions"
    if any(_is_cut(one) for one in ask.questions[:MOST_QUESTIONS]):
        yield "the end of a question"


def _is_cut(question: Question) -> bool:
    texts = (question.text, question.header, *(one.description for one in question.choices[:MOST_QUESTIONS]))
    return len(question.choices) > MOST_QUESTIONS or any(len(text) > MOST_TEXT for text in texts)


def _bounded_questions(questions: Sequence[Question]) -> Iterator[Question]:
    """Yield the first questions, up to `MOST_QUESTION_BYTES`, that can be named in an answer."""
    size = 0
    for question in questions[:MOST_QUESTIONS]:
        short = _bounded_question(question)
        size += len(msgspec.json.encode(short))
        if size > MOST_QUESTION_BYTES:
            return
        if _is_name(question.key):
            yield short


def _bounded_question(question: Question) -> Question:
    """Return the question with the choices that can be named in an answer."""
    return structs.replace(
        question,
        key=encodable(question.key),
        text=_short(question.text),
        header=_short(question.header),
        choices=tuple(
            Choice(label=encodable(one.label), description=_short(one.description))
            for one in question.choices[:MOST_QUESTIONS]
            if _is_name(one.label)
        ),
    )


def _is_name(text: str) -> bool:
    """Return whether an answer can name a question or a choice: a name that is cut would name nothing."""
    return len(text) <= MOST_TEXT


def _short(text: str) -> str:
    return shorten(encodable(text), MOST_TEXT)


def _cut_body(body: str) -> str:
    """Return the body, cut to `MOST_BODY_BYTES` with a mark of its real size."""
    data = body.encode("utf-8", "replace")
    if len(data) <= MOST_BODY_BYTES:
        return data.decode()
    return data[:MOST_BODY_BYTES].decode("utf-8", "ignore") + f"\n[cut: {len(data):,} bytes in all]"
