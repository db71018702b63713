"""The real manager in a state folder of the test, with sessions in any state; no process starts.

Only sending and waking a runner are replaced: a turn begins and ends in the rows at once.
"""

import os
from contextlib import nullcontext
from pathlib import Path

from factories import T0
from msgspec import json, structs

from agentdash.sessions.agents.parsing.parser import TurnParser
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.session import (
    Ended,
    Left,
    Prompt,
    Receipt,
    Session,
    Status,
    Step,
    StepKind,
    Turn,
    TurnMode,
)
from agentdash.sessions.rules.asks.model import Answer, Ask
from agentdash.sessions.rules.asks.recorded import AskState
from agentdash.sessions.rules.compaction import CompactionMark
from agentdash.sessions.rules.conversation.marks import MarkKind
from agentdash.sessions.rules.launch import Launch
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.runner.processes import processes, runner_lock
from agentdash.sessions.runner.queue.next_turn import builder
from agentdash.sessions.service.lifecycle.process_list import ProcessInfo
from agentdash.sessions.service.lifecycle.stop_family import GENTLY
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.storage.files.session_record import Identity, _insert, _session_row, _turn_row, restore
from agentdash.sessions.storage.queries import Recipe
from agentdash.sessions.storage.turns.claim import Outcome, Owner
from agentdash.sessions.storage.turns.turn_log import TurnLog
from pilot.gate import Gate
from pilot.month import record

OWNER = Owner(pid=2**22 - 2, start=1, boot_id=processes.boot_id(), pid_ns=processes.pid_namespace())
GONE = (2**22 - 3, 1)
"""The agent: a process that is gone."""

ENDED = (
    Ended(pid=4121, command="codex exec", signal="SIGINT"),
    Ended(pid=4190, command="sleep 600", signal="SIGKILL"),
)
LEFT = (Left(pid=9, command="sudo x", reason="belongs to another user"),)
"""What every stop ends, and what it cannot end."""

PROCESSES = (
    ProcessInfo(pid=4121, parent=1, command="codex exec --json", age_s=60.0),
    ProcessInfo(pid=4188, parent=4121, command="bash -c 'pytest [-q]'", age_s=3.0),
    ProcessInfo(
        pid=4190, parent=4188, command="pytest -q", age_s=2.0, cpu_s=12.3, rss_bytes=1_500_000, ports=(8000,)
    ),
)  # fmt: skip
"""The processes of every session at work."""


class WrittenSteps(TurnParser):
    """Reads steps from lines that are steps: an agent whose every step a test can choose."""

    def parse(self, line: bytes, at: int | None) -> list[Step]:
        step = structs.replace(json.decode(line, type=Step), turn=self.turn)
        self.state.next = max(self.state.next, step.index + 1)
        return [step]


class House(SessionManager):
    """The real manager; a test puts sessions into its store, and looks at what is recorded."""

    def __init__(self, monkeypatch) -> None:
        super().__init__()
        self.trajectories = {}
        """The steps that screens opened, by session."""
        self.processes = PROCESSES
        self.may_end = Gate()
        """Cleared: a stop goes on until it is set."""
        self.may_end.set()
        self._locks = {}
        self._put = set()
        opened = self.reader.steps.open_trajectory

        def open_trajectory(ref):
            steps = self.trajectories[ref] = opened(ref)
            return steps

        monkeypatch.setattr(self.reader.steps, "open_trajectory", open_trajectory)
        for place in ("runner.queue.pump", "service.lifecycle.stop", "service.lifecycle.recovery.reconcile"):
            monkeypatch.setattr(f"agentdash.sessions.{place}.send_runner", self._sent)
        monkeypatch.setattr("agentdash.sessions.service.lifecycle.stop.poke", self._poked)
        monkeypatch.setattr("agentdash.sessions.runner.runner_process.subprocess", None)  # no process starts
        warm = lambda _, turn: self.get(turn.session).warm_since is not None  # noqa: E731
        monkeypatch.setattr("agentdash.sessions.service.lifecycle.stop._has_processes", warm)
        living = lambda _, turn: list(self.processes) if _at_work(turn.status) else []  # noqa: E731
        monkeypatch.setattr("agentdash.sessions.service.reader.process_list", living)
        for name in ("codex", "claude"):
            monkeypatch.setattr(type(agent_named(name)), "parser", lambda _, turn=1, transport="": WrittenSteps(turn))

    @property
    def home(self) -> Path:
        return self.layout.home

    def close(self) -> None:
        for lock in self._locks.values():
            lock.release()
        self._locks.clear()
        super().close()

    def get(self, session_id: str) -> Session:
        return self.reader.by_id(session_id)

    def put(self, one: Session, steps=()) -> None:
        """Record a session as it is to be, with the steps of its turns; another front end sees it as a change."""
        one = structs.replace(one, host=one.host or processes.host_name(), cwd=here(one.cwd))
        folder = self.layout.session(one.id)
        if self.store.session(one.id) is None:
            folder.create()
            if not steps and one.after is None:  # the prompt of one that waits is recorded when it starts
                steps = [Step(turn=1, index=0, kind=StepKind.PROMPT, text=f"task of {one.id}")]
            turns = tuple(_turn(one, n) for n in range(1, one.turn + 1))
            asked = [step for step in steps if _begins_turn(step)]
            prompts = tuple(
                Prompt(id=0, session=one.id, turn=step.turn, text=step.text, state="seen", created_at=one.created_at)
                for step in asked
            )
            identity = _identity(one, turns, prompts)
            assert restore(self.store, identity)
            self._put.add(one.id)
            if one.after is None:  # else a queued one would start with the next look at the queue
                with self.store.database.transaction() as db:
                    sql = "UPDATE turns SET launches = 1, launched_at = ? WHERE session = ? AND status = 'queued'"
                    db.execute(sql, (T0, one.id))
            self.write(one.id, [step for step in steps if not _begins_turn(step)])
        self._change(one)
        self._hold(one)

    def ask(self, session_id: str, ask: Ask, *, age=12, due_in=None) -> int:
        """Record an ask, as a runner does, and return its number; the session waits."""
        due = None if due_in is None else T0 + 1000 * due_in
        one, ask = self.get(session_id), structs.replace(ask, cwd=here(ask.cwd))
        stream = 1 + len(self.store.asks.of_session(session_id))  # as from a process of its own: a key may come again
        number = self.store.asks.record(session_id, one.turn, stream, ask, due).id
        self._set_ask(number, asked_at=T0 - 1000 * age)
        with self.store.database.transaction() as db:
            db.execute(
                """UPDATE turns SET launch = json_set(launch, '$.asks', json('{"on_timeout": "deny"}'))"""
                " WHERE session = ? AND n = ?",
                (session_id, one.turn),
            )
        self._count_asks(session_id)
        return number

    def change_ask(self, number: int, ask: Ask) -> None:
        """Change what an ask is about."""
        self._set_ask(number, ask=json.encode(ask).decode())
        self._count_asks(self.reader.ask(number).session)

    def end_ask(self, number: int, state: AskState, answer: Answer | None = None, by: str | None = None) -> None:
        """End an ask, as another front end, a rule or the runner does."""
        text = json.encode(answer).decode() if answer is not None else None
        self._set_ask(number, state=state, answer=text, answered_by=by, answered_at=T0)
        self._count_asks(self.reader.ask(number).session)

    def _set_ask(self, number: int, **columns) -> None:
        with self.store.database.transaction() as db:
            names = ", ".join(f"{name} = ?" for name in columns)
            db.execute(f"UPDATE asks SET {names} WHERE id = ?", (*columns.values(), number))

    def _count_asks(self, session_id: str) -> None:
        waiting = self.reader.asks(session_id)
        status = Status.WAITING if waiting else Status.RUNNING
        reason = f"asks to {waiting[0].ask.title}" if waiting else None
        self.put(structs.replace(self.get(session_id), status=status, reason=reason))

    def answers(self) -> list[tuple[int, Answer]]:
        """The answers that the user gave, by the numbers of the asks."""
        rows = self.store.database.rows("SELECT id, answer FROM asks WHERE answered_by = 'you' ORDER BY id")
        return [(row["id"], json.decode(row["answer"], type=Answer)) for row in rows]

    def _change(self, one: Session) -> None:
        row = _session_row(one, Recipe(options={}, command=(), env={}))
        kept = {name: value for name, value in row.items() if name not in ("options", "command", "env")}
        kept["asking"] = one.asking
        kept["stopping"] = json.encode(one.stopping).decode() if one.stopping is not None else None
        stopped = str(one.stopped_by) if one.stopped_by is not None else None
        with self.store.database.transaction() as db:
            marks = ", ".join(f'"{name}" = ?' for name in kept)
            db.execute(f"UPDATE sessions SET {marks} WHERE id = ?", (*kept.values(), one.id))
            db.execute(
                "UPDATE turns SET status = ?, reason = ?, stop_by = coalesce(?, stop_by), ended_at = ?"
                " WHERE session = ? AND n = ?",
                (one.status, one.reason, stopped, one.updated_at if one.status.ended else None, one.id, one.turn),
            )
            if one.agent_session is not None:
                db.execute("UPDATE turns SET agent_session = ? WHERE session = ?", (one.agent_session, one.id))
            if one.steers:
                live = "UPDATE turns SET launch = json_set(launch, '$.transport', 'live') WHERE session = ? AND n = ?"
                db.execute(live, (one.id, one.turn))
            begun = db.execute("SELECT max(n) AS n FROM turns WHERE session = ?", (one.id,)).fetchone()["n"]
            for n in range(begun + 1, one.turn + 1):
                _insert(db, "turns", _turn_row(_turn(one, n), Launch(argv=(one.agent,)), _identity(one)))
            db.execute("DELETE FROM seen WHERE session = ?", (one.id,))
            if one.seen_at is not None:
                db.execute(
                    "INSERT INTO seen (session, at, steps, handled_at) VALUES (?, ?, ?, ?)",
                    (one.id, one.seen_at, one.seen_steps, one.handled_at),
                )
            db.execute("UPDATE sessions SET title = title WHERE id = ?", (one.id,))

    def tell(self, session_id: str, steps) -> None:
        """Give a session that no screen has opened yet other steps than it has."""
        one, folder = self.get(session_id), self.layout.session(session_id)
        for file in folder.turns.iterdir():
            file.unlink()
        self.put(structs.replace(one, turn=max([one.turn, *(step.turn for step in steps)])))
        with self.store.database.transaction() as db:
            db.execute("DELETE FROM prompts WHERE session = ?", (session_id,))
            for step in steps:
                if _begins_turn(step):
                    db.execute(
                        "INSERT INTO prompts (session, turn, text, state, created_at) VALUES (?, ?, ?, 'seen', ?)",
                        (session_id, step.turn, step.text, step.at or one.created_at),
                    )
        self.write(session_id, [step for step in steps if not _begins_turn(step)])

    def write(self, session_id: str, steps) -> None:
        """Let the agent of a session print steps."""
        folder = self.layout.session(session_id)
        for step in steps:
            with folder.output(step.turn).open("ab") as file:
                file.write(json.encode(structs.replace(step, index=step.index - 1)) + b"\n")

    def count(self, session_id: str, turn: int, steps: int) -> None:
        """Record how many steps the agent made in a turn, as its runner does."""
        with self.store.database.transaction() as db:
            db.execute("UPDATE turns SET steps = ? WHERE session = ? AND n = ?", (steps, session_id, turn))

    def drop(self, session_id: str) -> None:
        """Remove the rows of a session, as a front end does when it deletes the session."""
        self._release(session_id)
        with self.store.database.transaction() as db:
            db.execute("DELETE FROM sessions WHERE id = ?", (session_id,))

    def end(self, session_id: str) -> None:
        """Let the turn of a session end as it was asked to."""
        turn = self.get(session_id).turn
        asked = self.store.launch(session_id, turn).compacts
        compaction = CompactionMark(by=asked.by, step=None, words=asked.words) if asked is not None else None
        outcome = Outcome(status=Status.DONE, reason=None, compaction=compaction)
        TurnLog(self.store, session_id, turn, OWNER).end(Facts(), outcome, 1, builder(self.layout, self.store))
        self._hold(self.get(session_id))

    def begun(self) -> list[Session]:
        """The sessions that were started, in order; not those that a test put there."""
        rows = self.store.database.rows("SELECT id FROM sessions ORDER BY rowid")
        return [self.get(row["id"]) for row in rows if row["id"] not in self._put]

    def start_of(self, one: Session) -> tuple[object, ...]:
        """The prompt, the agent, the model, the folder and the options of a start."""
        return one.task, one.agent, one.model, one.cwd, self.store.recipe(one.id).options

    def set_mode(self, session_id: str, turn: int, mode: TurnMode) -> None:
        """Let a turn have been started with permissions."""
        with self.store.database.transaction() as db:
            db.execute(
                "UPDATE turns SET launch = json_set(launch, '$.mode', json(?)) WHERE session = ? AND n = ?",
                (json.encode(mode).decode(), session_id, turn),
            )

    def give(self, session_id: str, options: dict[str, object]) -> None:
        """Let a session have been started with options."""
        with self.store.database.transaction() as db:
            text = json.encode(options).decode()
            db.execute("UPDATE sessions SET options = ? WHERE id = ?", (text, session_id))

    def empty(self) -> None:
        """Remove all sessions."""
        for one in self.reader.sessions():
            self.drop(one.id)

    def mark(self, session_id: str, kind: MarkKind, **facts) -> int:
        """Record what was done to a conversation, as another front end does, and return the number of the mark."""
        usual = {"after": self.get(session_id).turn, "asked_by": "you", "at": T0 - 60_000}
        row = {"session": session_id, "kind": kind} | usual | facts
        with self.store.database.transaction() as db:
            marks = ", ".join("?" * len(row))
            made = db.execute(f"INSERT INTO marks ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))
            for changed in (session_id, facts.get("origin")):
                db.execute("UPDATE sessions SET title = title WHERE id = ?", (changed,))
        return int(made.lastrowid or 0)

    def use(self, rows) -> None:
        """Record what was used, as rows of the sums of each quarter of an hour."""
        record(self.store.database, rows)

    def enqueue(self, session_id: str, *texts: str) -> None:
        """Send prompts to a session that cannot take them now, the first a minute ago, the next two minutes ago..."""
        for text in texts:
            sent = self.prompts.inject(session_id, text)
            with self.store.database.transaction() as db:
                asked = T0 - 60_000 * (sent.position or 0)
                db.execute("UPDATE queue SET created_at = ? WHERE id = ?", (asked, sent.prompt.id))

    def unconfirm(self, session_id: str, turn: int, text: str) -> None:
        """Record that a prompt was sent without a receipt from the agent."""
        with self.store.database.transaction() as db:
            db.execute(
                "INSERT INTO prompts (session, turn, text, state, created_at) VALUES (?, ?, ?, 'seen', ?)",
                (session_id, turn, text, T0 - 60_000),
            )
            db.execute("UPDATE prompts SET state = 'unconfirmed' WHERE session = ? AND turn = ?", (session_id, turn))

    def requests(self, session_id: str) -> list[str]:
        """The kinds of the stops that were requested of a session, in order."""
        rows = self.store.database.rows("SELECT kind FROM requests WHERE session = ? ORDER BY id", (session_id,))
        return [row["kind"] for row in rows]

    def asked_of(self, session_id: str) -> list[str]:
        """The prompts of a session that were ever in its queue, in order."""
        rows = self.store.database.rows("SELECT text FROM queue WHERE session = ? ORDER BY id", (session_id,))
        return [row["text"] for row in rows]

    def rows(self) -> dict[str, list[tuple]]:
        """All rows except what was seen, to check that an action changed nothing."""
        tables = ("sessions", "turns", "prompts", "queue", "requests", "asks", "adjustments", "marks")
        left_out = ("seq", "urgency", "urgency_seq")
        return {
            table: [
                tuple(value for name, value in dict(row).items() if name not in left_out)
                for row in self.store.database.rows(f"SELECT * FROM {table} ORDER BY 1, 2")
            ]
            for table in tables
        }

    def archived(self) -> set[str]:
        """The sessions in the archive."""
        return {one.id for one in self.reader.put_away(deleted=False)}

    def trash(self) -> set[str]:
        """The sessions in the trash."""
        return {one.id for one in self.reader.put_away(archived=False)}

    def configure(self, text: str) -> None:
        """Add to the settings."""
        with self.reader.settings.path.open("a") as file:
            file.write(text)

    def _hold(self, one: Session) -> None:
        """Hold the lock of a session at work, or whose agent waits for prompts, as its runner does."""
        at_work = _at_work(one.status) or one.warm_since is not None
        if at_work and one.id not in self._locks:
            lock = runner_lock.hold(self.layout.session(one.id).lock)
            assert lock is not None
            lock.sign()
            self._locks[one.id] = lock
        elif not at_work:
            self._release(one.id)

    def _release(self, session_id: str) -> None:
        lock = self._locks.pop(session_id, None)
        if lock is not None:
            lock.release()

    def _sent(self, layout, session_id, turn, mode, env) -> None:
        if mode != "run":
            return
        log = TurnLog(self.store, session_id, turn, OWNER)
        if log.claim() is not None:
            log.running(*GONE)
            self._hold(self.get(session_id))

    def stop(self, ref, how=GENTLY, *, turn=None) -> Receipt:
        with nullcontext() if self.may_end.is_set() else self.may_end.holding():
            return super().stop(ref, how, turn=turn)

    def _poked(self, fifo: Path) -> bool:
        """Carry out the requests to a session."""
        session_id = fifo.parent.name
        asked = self.store.database.rows(
            "SELECT turn, kind, asked_by FROM requests WHERE session = ? AND done_at IS NULL", (session_id,)
        )
        if not self.may_end.is_set():
            return True  # it is woken again in a moment
        for request in asked:
            one, log = self.get(session_id), TurnLog(self.store, session_id, request["turn"], OWNER)
            gone = {} if request["kind"] == "interrupt" else {"ended": ENDED, "left": LEFT}
            receipt = Receipt(session=session_id, status=Status.STOPPED, duration_ms=1200, **gone)
            if one.status.ended:
                self.put(structs.replace(one, warm_since=None))
            else:
                log.stopping(request["asked_by"])
                outcome = Outcome(status=Status.STOPPED, reason=None, stop_by=request["asked_by"], receipt=receipt)
                log.end(Facts(), outcome, 1, builder(self.layout, self.store))
                self._hold(self.get(session_id))
            log.answer(receipt)
        return bool(asked)


def here(folder: str) -> str:
    """Put a folder of Ann's into the home of the test, and make it."""
    if not folder.startswith("/home/ann"):
        return folder
    path = Path(folder.replace("/home/ann", os.environ["HOME"]))
    path.mkdir(parents=True, exist_ok=True)
    return str(path)


def failing(error: Exception):
    """Return a method that fails."""

    def fail(*_, **__):
        raise error

    return fail


def _begins_turn(step: Step) -> bool:
    """Return whether a step is made of the recorded prompt of its turn, not of the agent's output."""
    return step.kind is StepKind.PROMPT and step.index == 0


def _at_work(status: Status) -> bool:
    return not status.ended and status is not Status.QUEUED


def _identity(one: Session, turns=(), prompts=()) -> Identity:
    launches = (Launch(argv=(one.agent,)),) * len(turns)
    recipe = Recipe(options={}, command=(), env={})
    return Identity(session=one, recipe=recipe, turns=turns, launches=launches, prompts=prompts)


def _turn(one: Session, n: int) -> Turn:
    last = n == one.turn
    status = one.status if last else Status.DONE
    own = {"usage": one.usage, "cost_usd": one.cost_usd, "steps": one.steps} if last else {}
    at_work = _at_work(status)
    return Turn(
        session=one.id, n=n, status=status, run_id=f"run-{n}", created_at=one.created_at, started_at=one.created_at,
        ended_at=one.updated_at if status.ended else None, boot_id=processes.boot_id(),
        pid_ns=processes.pid_namespace(), runner_pid=OWNER.pid if at_work else None,
        runner_start=OWNER.start if at_work else None, **own,
    )  # fmt: skip


def counted(monkeypatch, owner, name):
    """Let the calls of a method be counted; return their arguments, in order."""
    calls, called = [], getattr(owner, name)
    monkeypatch.setattr(owner, name, lambda *given, **named: calls.append(given) or called(*given, **named))
    return calls
