"""A session whose turns are parts of one file, as the store, its record and every reader have it."""

import json
import os
import shutil
from pathlib import Path

import pytest
from places import CAPTURES

from agentdash.sessions.model.session import Prompt, Session, Status, Turn, Usage
from agentdash.sessions.rules.launch import Launch
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.service.lifecycle.recovery.reconcile import settle
from agentdash.sessions.service.lifecycle.recovery.salvage import salvaged
from agentdash.sessions.service.reader import SessionReader
from agentdash.sessions.storage.files.session_record import Identity, read_identity, restore, write_identity
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.queries import Recipe
from agentdash.sessions.storage.store import Store
from agentdash.sessions.transcript.export.formats import FORMATS
from agentdash.sessions.transcript.tail import StepTail

SESSION = "11111111-1111-4111-8111-111111111111"
PIECES = [(CAPTURES / f"codex-{name}.jsonl").read_bytes() for name in ("files", "work", "shell_fail")]
ERRORS = [b"first warning\n", b"", b"third warning\n"]


class Stored:
    """A state folder with one session of three turns, in one stream or in files of their own."""

    def __init__(self, home: Path, *, shared: bool) -> None:
        self.layout = Layout(home)
        self.layout.create()
        self.folder = self.layout.session(SESSION)
        self.folder.create()
        self.store = Store(self.layout.database)
        self.reader = SessionReader(self.layout, self.store, home / "none.toml")
        turns, begin, begin_error = [], 0, 0
        for n, (piece, error) in enumerate(zip(PIECES, ERRORS, strict=True), 1):
            place = {"begin_byte": begin, "begin_error_byte": begin_error, "stream": 1 if n > 1 else None}
            begin, begin_error = begin + len(piece), begin_error + len(error)
            end = {"end_byte": begin if n < len(PIECES) else None}
            turns.append(self._turn(n, **(place | end if shared else {})))
            for path, data in ((self.folder.output, piece), (self.folder.errors, error)):
                with path(1 if shared else n).open("ab") as file:
                    file.write(data)
        asked = {"session": SESSION, "state": "seen", "created_at": 1}
        prompts = [Prompt(id=n, turn=n, text=f"task {n}", **asked) for n in (1, 2, 3)]
        session = Session(
            id=SESSION, agent="codex", title="t", task="task 1", status=Status.DONE, cwd="/", turn=3, created_at=1,
            updated_at=2, ended_at=2, host=processes.host_name(),
        )  # fmt: skip
        identity = Identity(
            session=session, recipe=Recipe(options={}, command=(), env={}), turns=tuple(turns),
            launches=(Launch(argv=("codex",)),) * 3, prompts=tuple(prompts),
        )  # fmt: skip
        assert restore(self.store, identity)

    @staticmethod
    def _turn(n: int, **place: int | None) -> Turn:
        facts = {"session": SESSION, "n": n, "run_id": f"r{n}", "created_at": 1, "ended_at": 2, "steps": 1}
        here = {"boot_id": processes.boot_id(), "pid_ns": processes.pid_namespace(), "argv": ("codex",)}
        return Turn(status=Status.DONE, usage=Usage.of(n, 0, 0), **facts, **here, **place)

    def documents(self, turn: int | None = None) -> list[str]:
        session = self.reader.get(SESSION)
        return ["".join(one.write(session, self.reader.steps.each_step(SESSION, turn))) for one in FORMATS]

    def tail(self) -> list[object]:
        return list(StepTail(self.reader.steps.open_trajectory(SESSION)).begin(None))


@pytest.fixture
def one(tmp_path: Path) -> Stored:
    return Stored(tmp_path / "one", shared=True)


@pytest.fixture
def own(tmp_path: Path) -> Stored:
    return Stored(tmp_path / "own", shared=False)


def test_every_reader_says_the_same_of_a_stream_as_of_files_of_their_own(one: Stored, own: Stored) -> None:
    for turn in (None, 1, 2, 3):
        assert one.reader.steps.trajectory(SESSION, turn) == own.reader.steps.trajectory(SESSION, turn)
        assert one.documents(turn) == own.documents(turn)
        assert one.reader.steps.digest(SESSION, turn) == own.reader.steps.digest(SESSION, turn)
        assert one.reader.steps.changes_of(SESSION, turn, git=False) == own.reader.steps.changes_of(
            SESSION, turn, git=False
        )
    assert one.tail() == own.tail()
    assert one.reader.steps.messages(SESSION) == own.reader.steps.messages(SESSION)
    assert one.reader.steps.answer(SESSION) == own.reader.steps.answer(SESSION)


def test_the_raw_output_of_a_turn_is_its_own(one: Stored, own: Stored) -> None:
    for n in (1, 2, 3):
        assert one.reader.outputs.part(SESSION, n).read() == own.reader.outputs.part(SESSION, n).read() == PIECES[n - 1]
        assert one.reader.outputs.part(SESSION, n, stderr=True).read() == ERRORS[n - 1]
        assert (
            one.reader.outputs.stderr_tail(SESSION, n)
            == own.reader.outputs.stderr_tail(SESSION, n)
            == (ERRORS[n - 1].decode(), 0)
        )
        assert one.reader.outputs.part(SESSION, n).path == one.folder.output(1)
    assert one.reader.outputs.stderr_tail(SESSION, 3, most=8) == ("warning\n", len(b"third "))


def test_explain_names_the_part_of_the_file(one: Stored, own: Stored) -> None:
    facts = {fact.name: fact for fact in one.reader.explain(SESSION).facts}
    begin = len(PIECES[0] + PIECES[1])
    assert facts["turn file"].value == f"{len(PIECES[2])} bytes from byte {begin}"
    assert facts["turn file"].source == str(one.folder.output(1))
    facts = {fact.name: fact for fact in own.reader.explain(SESSION).facts}
    assert facts["turn file"].value == f"{len(PIECES[2])} bytes"


def test_the_record_of_a_session_brings_the_places_back(one: Stored, tmp_path: Path) -> None:
    write_identity(one.store, one.folder)
    recorded = read_identity(one.folder.identity)
    places = [(turn.stream, turn.begin_byte, turn.end_byte, turn.begin_error_byte) for turn in recorded.turns]
    ends = [len(PIECES[0]), len(PIECES[0] + PIECES[1])]
    assert places == [(None, 0, ends[0], 0), (1, ends[0], ends[1], 14), (1, ends[1], None, 14)]
    other = Store(tmp_path / "other.db")
    assert restore(other, recorded)
    assert other.turns(SESSION) == one.store.turns(SESSION)


def test_the_record_of_an_earlier_version_has_turns_with_files_of_their_own(own: Stored) -> None:
    write_identity(own.store, own.folder)
    record = json.loads(own.folder.identity.read_text())
    for turn in record["turns"]:
        for name in ("stream", "begin_byte", "end_byte", "begin_error_byte"):
            del turn[name]
    own.folder.identity.write_text(json.dumps(record))
    assert list(read_identity(own.folder.identity).turns) == own.store.turns(SESSION)


def test_a_session_in_the_trash_is_read_by_its_parts(one: Stored, own: Stored) -> None:
    found = []
    for stored in (one, own):
        write_identity(stored.store, stored.folder)
        shutil.move(stored.folder.path, stored.layout.trash / SESSION)
        with stored.store.database.transaction() as db:
            db.execute("DELETE FROM sessions")
        found.append(list(stored.reader.steps.open_trajectory(SESSION).every_step()))
    assert found[0] == found[1]
    assert {step.turn for step in found[0]} == {1, 2, 3}


def test_without_its_record_a_stream_is_one_turn_with_all_of_its_bytes(one: Stored) -> None:
    found = salvaged(one.folder, "here")
    assert found is not None
    assert [(turn.n, turn.stream, turn.begin_byte, turn.end_byte) for turn in found.turns] == [(1, None, 0, None)]
    assert found.turns[0].status is Status.DONE
    assert found.turns[0].steps > 0
    assert found.session.agent == "codex"
    assert found.session.last_message == one.reader.steps.answer(SESSION)


def running(stored: Stored, n: int) -> None:
    """Let a turn run whose runner and agent are gone, with the name under which its file was written."""
    with stored.store.database.transaction() as db:
        db.execute("UPDATE turns SET status = 'running', ended_at = NULL WHERE n = ?", (n,))
        db.execute("UPDATE sessions SET status = 'running', ended_at = NULL")
    turn = stored.store.turns(SESSION)[n - 1]
    os.link(stored.folder.output(turn.stream_number), stored.layout.live_name(SESSION, turn.stream_number))


def test_a_lost_turn_is_concluded_by_its_own_part(one: Stored, own: Stored) -> None:
    found = []
    for stored in (one, own):
        running(stored, 3)
        settle(stored.layout, stored.store)
        assert list(stored.layout.live.iterdir()) == []
        turn, session = stored.store.newest_turn(SESSION), stored.store.session(SESSION)
        assert turn.status is Status.DONE
        found.append((turn.steps, turn.unknown, turn.end, turn.thread_usage, session and session.last_message))
    assert found[0] == found[1]


def test_the_second_name_of_a_stream_stays_while_a_later_turn_of_it_runs(one: Stored) -> None:
    running(one, 3)
    with one.store.database.transaction() as db:
        db.execute("UPDATE sessions SET host = 'elsewhere'")
        db.execute("UPDATE turns SET boot_id = 'another boot'")
    settle(one.layout, one.store)
    assert [path.name for path in one.layout.live.iterdir()] == [f"{SESSION}.1.jsonl"]
