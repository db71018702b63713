"""Conversations as they are recorded, listed, read, marked and deleted.

What real agents do after a rewind or a compaction is shown by end-to-end tests.
"""

import json
import sqlite3
import threading
from pathlib import Path

import pytest
from factories import add_turn
from msgspec import structs
from recorded_sessions import evidence, lines, ran, record, said

from agentdash.sessions.agents.capabilities import Expansions
from agentdash.sessions.model.errors import (
    NewerStoreError,
    SessionBusyError,
    StoreError,
    UnknownSessionError,
    UsageError,
)
from agentdash.sessions.model.session import Status, StepKind, StepStatus
from agentdash.sessions.rules.conversation.history import History, Part, Place
from agentdash.sessions.rules.conversation.marks import Mark, MarkKind
from agentdash.sessions.rules.conversation.shown import FOR_PEOPLE
from agentdash.sessions.rules.json_schema import session_json, step_json
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.rules.truncate import KEPT
from agentdash.sessions.service.lifecycle.starts.continue_plan import GO_ON
from agentdash.sessions.service.lifecycle.starts.launch_plan import TITLE_CHARACTERS, completed, title_of
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.storage.files import trash
from agentdash.sessions.storage.files.session_record import read_identity, write_identity
from agentdash.sessions.storage.paths import default_home
from agentdash.sessions.storage.store import Store
from agentdash.sessions.text.units import share
from agentdash.sessions.transcript.export.formats import FORMATS
from agentdash.sessions.transcript.visible.retelling import retold
from agentdash.tui.services.background import Requests

HELLO = [("say hello", lines(said("hello")))]
TWO = [("first", lines(said("one"))), ("second", lines(said("two")))]


@pytest.fixture
def manager():
    with SessionManager() as manager:
        yield manager


def mark(number, kind, after, **fields):
    return Mark(id=number, session="s", kind=kind, after=after, **fields)


def add(manager, session, kind, **fields):
    """Record a mark as a front end does that has just read the session."""
    newest = max((one.id for one in manager.store.marks.of_session(session.id)), default=0)
    made = Mark(id=0, session=session.id, kind=kind, after=session.turn, asked_by="you", **fields)
    return manager.store.marks.add(made, newest=newest)


def view(manager, session):
    return History(range(1, session.turn + 1), manager.store.marks.of_session(session.id)).parts()


def start(prompt="do it", **fields):
    return Start(prompt, agent="codex", cwd=str(Path.cwd()), **fields)


def test_the_state_folder_is_that_of_the_environment_or_the_platform_and_is_made(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AGENTDASH_HOME", "~/mine")
    assert default_home() == tmp_path / "mine"
    with SessionManager() as manager:
        assert manager.layout.sessions == tmp_path / "mine" / "sessions"
        assert manager.layout.sessions.is_dir()
    monkeypatch.delenv("AGENTDASH_HOME")
    assert default_home().is_absolute()


def test_a_session_has_a_folder_with_its_record_and_a_file_for_each_turn(manager):
    session = record(manager, TWO)
    folder = manager.layout.session(session.id)
    write_identity(manager.store, folder)
    assert {path.name for path in folder.turns.iterdir()} == {"turn_1.jsonl", "turn_2.jsonl"}
    assert json.loads(folder.identity.read_text())["session"]["id"] == session.id


def test_a_plan_has_an_id_a_title_and_a_folder_and_leaves_the_disk_alone(manager):
    begun = completed(structs.replace(start(), cwd=""), manager.reader.settings.config())
    assert len(begun.session_id) == 36
    assert begun.cwd == str(Path.cwd())
    manager.reader.plan(start())
    assert list(manager.layout.sessions.iterdir()) == []
    assert manager.reader.sessions() == []


def test_a_session_records_its_title_agent_model_folder_and_times_in_utc(manager):
    session = record(manager, HELLO, model="gpt-5.5", created_at=1_790_000_000_000, updated_at=1_790_000_000_001)
    folder = manager.layout.session(session.id)
    write_identity(manager.store, folder)
    known = json.loads(folder.identity.read_text())
    assert known["format"] == 1
    assert {key: known["session"][key] for key in ("title", "agent", "model", "cwd", "created_at", "updated_at")} == {
        "title": "say hello", "agent": "codex", "model": "gpt-5.5", "cwd": str(Path.cwd()),
        "created_at": 1_790_000_000_000, "updated_at": 1_790_000_000_001,
    }  # fmt: skip


def test_a_caller_may_choose_the_id_once(manager):
    chosen = start(session_id="11111111-1111-4111-8111-111111111111")
    assert completed(chosen, manager.reader.settings.config()).session_id == chosen.session_id
    manager.store.create(chosen, Launch(argv=("codex",)), "r", host="here")
    with pytest.raises(sqlite3.IntegrityError):
        manager.store.create(chosen, Launch(argv=("codex",)), "r", host="here")
    assert len(manager.reader.sessions()) == 1


def test_sessions_are_listed_newest_first_and_by_folder(manager, tmp_path):
    old = record(manager, HELLO, created_at=1)
    new = record(manager, HELLO, created_at=3, cwd=str(tmp_path))
    middle = record(manager, HELLO, created_at=2)
    assert [one.id for one in manager.reader.sessions()] == [new.id, middle.id, old.id]
    assert [one.id for one in manager.reader.sessions(cwd=str(tmp_path))] == [new.id]
    assert manager.reader.get("@last").id == new.id
    # A deleted session whose record cannot be read is listed with the reason, not left out.
    folder = manager.layout.trash / "22222222-2222-4222-8222-222222222222"
    (folder / "turns").mkdir(parents=True)
    [broken] = trash.sessions(manager.layout)
    assert (broken.id, broken.status) == (folder.name, Status.LOST)


def test_an_unknown_id_is_an_error_and_no_line_of_a_turn_is_skipped(manager):
    with pytest.raises(UnknownSessionError):
        manager.reader.steps.messages("00000000")
    session = record(manager, [("go", b"not json\n42\n\xff\xfe\n" + lines(said("fine")))])
    steps = manager.reader.steps.trajectory(session.id)
    assert [step.text for step in steps if step.kind is StepKind.UNKNOWN] == ["not json", "42", "\ufffd\ufffd"]
    assert manager.reader.steps.messages(session.id)[-1].text == "fine"
    manager.layout.session(session.id).output(1).unlink()
    assert [step.text for step in manager.reader.steps.messages(session.id)] == ["go"]


def test_marks_act_in_the_order_in_which_they_were_made():
    compact, back = mark(1, MarkKind.COMPACT, 2, turn=2), mark(2, MarkKind.REWIND, 2, turn=1)
    assert History([1, 2], [compact, back]).parts() == [Part(turn=1)]
    back, compact = mark(1, MarkKind.REWIND, 2, turn=1), mark(2, MarkKind.COMPACT, 2, turn=2)
    assert History([1, 2], [back, compact]).parts() == [Part(mark=compact)]


def test_a_summary_replaces_everything_before_it_and_what_follows_stays():
    first, second = mark(1, MarkKind.COMPACT, 1, turn=1), mark(2, MarkKind.COMPACT, 3, turn=3)
    assert History([1, 2, 3, 4], [first, second]).parts() == [Part(mark=second), Part(turn=4)]


def test_a_compaction_keeps_its_facts_and_the_turns_stay(manager):
    session = record(manager, TWO)
    before = evidence(manager, session.id)[0]
    facts = {"summary": "all was said", "model": "m", "messages": 4, "usage": {"input_tokens": 7}}
    add(manager, session, MarkKind.COMPACT, turn=2, step=1, data=facts)
    assert manager.store.marks.of_session(session.id)[-1].data == facts
    assert evidence(manager, session.id)[0] == before
    assert [step.text for step in manager.reader.steps.messages(session.id)][:2] == ["first", "one"]


def test_the_share_of_the_context_is_shown_if_both_numbers_are_known():
    """Agents compact by themselves: agentdash shows the share, and makes no number of what it does not know."""
    assert share(164_000, 200_000) == "82%"
    assert share(None, 200_000) == share(164_000, None) == share(1, 0) == ""


def test_rewinds_compose_and_delete_nothing(manager):
    session = record(manager, [*TWO, ("third", lines(said("three")))])
    before = evidence(manager, session.id)[0]
    add(manager, session, MarkKind.REWIND, turn=2)
    assert view(manager, session) == [Part(turn=1), Part(turn=2)]
    add(manager, session, MarkKind.REWIND, turn=1, step=0)
    assert view(manager, session) == [Part(turn=1, through=0)]
    assert evidence(manager, session.id)[0] == before
    assert [step.text for step in manager.reader.steps.messages(session.id)][-1] == "three"


def test_a_rewind_reaches_the_front_ends_and_one_of_an_unknown_session_is_an_error(manager):
    with pytest.raises(UnknownSessionError):
        manager.store.marks.add(Mark(id=0, session="00000000", kind=MarkKind.REWIND, after=1, turn=1, asked_by="you"))
    assert manager.store.marks.of_session("00000000") == []
    session = record(manager, TWO)
    seen = manager.store.changes(0).seq
    add(manager, session, MarkKind.REWIND, turn=1)
    assert [one.id for one in manager.store.changes(seen).updated] == [session.id]


OPEN = b"".join(json.dumps(ran(f"make {n}", None, number=n)).encode() + b"\n" for n in (1, 2))
"""Two commands that began, and a turn without an end."""


def test_each_call_without_a_result_is_shown_and_retold_as_interrupted(manager):
    session = record(manager, [("go", OPEN), ("again", lines(said("done")))], last=Status.STOPPED)
    commands = [step for step in manager.reader.steps.trajectory(session.id) if step.kind is StepKind.COMMAND]
    assert [step.status for step in commands] == [StepStatus.INTERRUPTED] * 2
    assert [step.command for step in manager.reader.steps.messages(session.id) if step.command] == ["make 1", "make 2"]
    shown = ["".join(one.write(session, manager.reader.steps.each_step(session.id))) for one in FORMATS]
    assert [text.casefold().count(FOR_PEOPLE) for text in shown[:2]] == [2, 2]
    assert manager.reader.continued(session.id, Start("x", agent="claude")).launch.stdin.count("interrupted: ") == 2


def test_reading_twice_shows_the_same_and_adds_nothing(manager):
    session = record(manager, [("go", OPEN)], last=Status.STOPPED)
    before = evidence(manager, session.id)
    first = manager.reader.steps.trajectory(session.id)
    assert manager.reader.steps.trajectory(session.id) == first
    assert evidence(manager, session.id) == before


def test_a_prompt_is_recorded_as_it_was_written_and_changes_the_time_of_its_session(manager):
    session = record(manager, HELLO)
    add_turn(manager.store, session.id, 1, "Grüße, 鶴\tund mehr", Launch(argv=("codex",)))
    assert manager.reader.prompts(session.id)[-1].text == "Grüße, 鶴\tund mehr"
    assert manager.reader.by_id(session.id).updated_at > session.updated_at
    write_identity(manager.store, manager.layout.session(session.id))
    assert "Grüße, 鶴" in manager.layout.session(session.id).identity.read_text(encoding="utf-8")


def test_the_title_is_the_first_line_of_the_prompt_until_the_user_gives_another(manager):
    assert title_of("\n\n  fix the clock  \nwith care") == "fix the clock"
    assert len(title_of("x" * 500)) == TITLE_CHARACTERS
    assert title_of("{answer}\n\nreview it") == "review it"
    assert title_of("{answer}") == "answer of another session"
    session = record(manager, HELLO)
    assert session.title == "say hello"
    manager.housekeeping.rename(session.id, "clock")
    add_turn(manager.store, session.id, 1, "something else", Launch(argv=("codex",)))
    assert manager.reader.by_id(session.id).title == "clock"


def test_a_deletion_moves_the_folder_to_the_trash_and_an_unknown_id_is_an_error(manager):
    session = record(manager, HELLO)
    write_identity(manager.store, manager.layout.session(session.id))
    manager.delete(session.id)
    assert not manager.layout.session(session.id).path.exists()
    assert [one.id for one in manager.reader.deleted()] == [session.id]
    with pytest.raises(UnknownSessionError):
        manager.delete(session.id)


async def test_a_call_of_the_manager_runs_in_a_thread(tmp_path):
    """The dashboard makes every call through :class:`Requests`."""

    class Screenless:
        is_running = True

    requests = Requests(Screenless(), tmp_path)
    assert await requests.ask(threading.get_ident) != threading.get_ident()


def test_a_prompt_is_recorded_before_any_process_is_started(manager, monkeypatch):
    recorded = []

    def runners_are_sent(*_):
        recorded.append([(one.status, manager.store.prompts(one.id)[0].text) for one in manager.reader.sessions()])

    monkeypatch.setattr("agentdash.sessions.service.manager.pump", runners_are_sent)
    manager.spawn(start("fix it"))
    assert recorded == [[(Status.QUEUED, "fix it")]]


def test_a_compaction_that_failed_leaves_the_conversation_as_it_was(manager):
    session = record(manager, TWO)
    before = view(manager, session)
    add(manager, session, MarkKind.COMPACT, turn=9)  # it names a turn that never came
    assert view(manager, session) == before
    with pytest.raises(SessionBusyError):
        manager.store.marks.add(Mark(id=0, session=session.id, kind=MarkKind.COMPACT, after=1, turn=1, asked_by="you"))
    assert view(manager, session) == before


def test_an_output_of_more_than_5_mb_is_kept_whole_and_shown_in_part(manager):
    output = "".join(f"line {n:07}\n" for n in range(500_000))
    session = record(manager, [("go", lines(ran("make", 0, output)))])
    [whole] = [step for step in manager.reader.steps.each_step(session.id) if step.kind is StepKind.COMMAND]
    assert whole.output == output
    opened = manager.reader.steps.open_trajectory(session.id)
    shown = opened.refresh(60).view
    [listed] = [shown.step(n) for n in range(len(shown)) if shown.step(n).kind is StepKind.COMMAND]
    assert len(listed.output) < KEPT + 10
    assert listed.output.endswith("line 0499999\n")
    assert listed.cut == len(output) - KEPT
    opened.close()


def test_a_second_use_of_a_session_at_work_is_refused_with_the_turn(manager):
    session = record(manager, TWO, last=Status.RUNNING)
    with pytest.raises(SessionBusyError, match="turn 2"):
        manager.reader.continued(session.id, Start(GO_ON))
    with pytest.raises(SessionBusyError):
        add(manager, session, MarkKind.REWIND, turn=1)


def test_reading_during_a_running_call_changes_nothing_and_its_result_comes_once(manager):
    session = record(manager, [("go", OPEN)], last=Status.RUNNING)
    before = evidence(manager, session.id)
    for _ in range(2):
        commands = [step for step in manager.reader.steps.trajectory(session.id) if step.kind is StepKind.COMMAND]
        assert [step.status for step in commands] == [StepStatus.RUNNING] * 2
        manager.reader.steps.messages(session.id)
        manager.reader.steps.open_trajectory(session.id).refresh(5)
    assert evidence(manager, session.id) == before
    with manager.layout.session(session.id).output(1).open("ab") as file:
        file.write(json.dumps(ran("make 1", 0, "made", number=1)).encode() + b"\n")
    steps = manager.reader.steps.trajectory(session.id)
    assert [(step.command, step.status) for step in steps if step.kind is StepKind.COMMAND] == [
        ("make 1", StepStatus.OK), ("make 2", StepStatus.RUNNING),
    ]  # fmt: skip


def test_a_closed_call_stays_at_its_place(manager):
    session = record(manager, [("q", OPEN), ("new question", lines(said("answer")))])
    told = manager.reader.continued(session.id, Start("go on", agent="claude")).launch.stdin
    places = [told.index(words) for words in ("    q\n", "$ make 1 -> interrupted", "new question", "    answer")]
    assert places == sorted(places)
    kinds = [(step.turn, step.kind) for step in manager.reader.steps.messages(session.id)]
    assert kinds == [
        (1, StepKind.PROMPT), (1, StepKind.COMMAND), (1, StepKind.COMMAND), (2, StepKind.PROMPT), (2, StepKind.MESSAGE),
    ]  # fmt: skip


def test_every_open_call_is_closed_not_only_those_of_the_newest_turn(manager):
    session = record(manager, [("a", OPEN), ("b", OPEN), ("c", OPEN)], last=Status.LOST)
    commands = [step for step in manager.reader.steps.trajectory(session.id) if step.kind is StepKind.COMMAND]
    assert [step.status for step in commands] == [StepStatus.INTERRUPTED] * 6


@pytest.mark.parametrize("torn", [b'{"type":"item.completed","item":{"id":"i', b"{", b"\xc3"])
def test_a_torn_last_line_swallows_nothing_that_follows(manager, torn):
    session = record(manager, [("a", OPEN + torn), ("b", lines(said("VERY IMPORTANT")))])
    assert "VERY IMPORTANT" in [step.text for step in manager.reader.steps.messages(session.id)]
    unknown = [step for step in manager.reader.steps.trajectory(session.id) if step.kind is StepKind.UNKNOWN]
    assert [(step.turn, step.text) for step in unknown] == [(1, torn.decode("utf-8", "replace"))]
    add(manager, session, MarkKind.REWIND, turn=1)
    assert view(manager, session) == [Part(turn=1)]


def test_a_torn_record_stops_no_session_and_two_writers_lose_nothing(manager):
    session = record(manager, HELLO)
    manager.layout.session(session.id).identity.write_bytes(b'{"form')
    assert [one.id for one in manager.reader.sessions()] == [session.id]
    assert [step.text for step in manager.reader.steps.messages(session.id)] == ["say hello", "hello"]

    def write(who):
        store = Store(manager.layout.database)
        for n in range(40):
            store.rename(session.id, f"{who}-{n}")
            store.mark_seen(session.id)
            write_identity(store, manager.layout.session(session.id))
        store.close()

    threads = [threading.Thread(target=write, args=(who,)) for who in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read_identity(manager.layout.session(session.id).identity).session.title in ("a-39", "b-39")


def test_taking_a_second_compaction_back_gives_the_view_before_it():
    first = mark(1, MarkKind.COMPACT, 2, turn=2)
    second = mark(2, MarkKind.COMPACT, 4, turn=4)
    undo = mark(3, MarkKind.UNDO, 4, undoes=2)
    before = History([1, 2, 3], [first]).parts()
    assert before == [Part(mark=first), Part(turn=3)]
    assert History([1, 2, 3, 4], [first, second, undo]).parts() == before
    # A place behind a summary is a step of its turn, whatever is visible: the same address before and after.
    back = mark(4, MarkKind.REWIND, 4, turn=3, step=1)
    assert History([1, 2, 3, 4], [first, second, undo, back]).parts() == [Part(mark=first), Part(turn=3, through=1)]


@pytest.mark.parametrize(
    "fields",
    [{"turn": -1}, {"turn": 99}, {"turn": 0}, {"turn": 1, "step": -1}, {"kind": MarkKind.UNDO, "undoes": 77},
     {"kind": "unheard-of", "turn": 1}],
)  # fmt: skip
def test_a_mark_that_names_what_is_not_there_is_ignored_and_reported(fields):
    wrong = Mark(**{"id": 1, "session": "s", "kind": MarkKind.REWIND, "after": 2} | fields)
    history = History([1, 2], [wrong])
    assert history.parts() == [Part(turn=1), Part(turn=2)]
    assert history.ignored == [wrong]
    assert history.position == Place(2)


def test_a_mark_never_names_its_turn_by_text(manager):
    session = record(manager, TWO)
    with pytest.raises((sqlite3.IntegrityError, StoreError)):
        add(manager, session, MarkKind.REWIND, turn="first")
    assert manager.store.marks.of_session(session.id) == []


@pytest.mark.parametrize("wrong", ["", "..", "../../etc", "/etc/passwd", ".", "a/b", "%2e%2e", "a" * 65, "x\0y1234567"])
def test_an_id_is_never_a_path(manager, wrong, tmp_path):
    session = record(manager, HELLO)
    (tmp_path / "precious").mkdir(exist_ok=True)
    with pytest.raises(StoreError):
        manager.layout.session(wrong)
    with pytest.raises((UnknownSessionError, UsageError)):
        manager.delete(wrong)
    with pytest.raises((UnknownSessionError, UsageError)):
        manager.reader.continued(wrong, Start("x"))
    assert trash.record(manager.layout, wrong) is None
    assert manager.layout.session(session.id).path.is_dir()
    assert (tmp_path / "precious").is_dir()


def test_nothing_brings_a_deleted_session_back(manager):
    session = record(manager, HELLO)
    write_identity(manager.store, manager.layout.session(session.id))
    manager.delete(session.id)
    with pytest.raises(UnknownSessionError):
        manager.store.marks.add(Mark(id=0, session=session.id, kind=MarkKind.REWIND, after=1, turn=1, asked_by="you"))
    with pytest.raises(UnknownSessionError):
        manager.prompts.inject(session.id, "more")
    with pytest.raises(UnknownSessionError):
        add_turn(manager.store, session.id, 1, "more", Launch(argv=("codex",)))
    write_identity(manager.store, manager.layout.session(session.id))
    assert manager.reader.sessions() == []
    assert not manager.layout.session(session.id).path.exists()


def test_a_lone_surrogate_hides_no_step_and_a_prompt_with_one_is_refused(manager):
    data = lines(ran("make", 0, "MARK")).replace(b"MARK", rb"\ud800 end")
    session = record(manager, [("go", data + lines(said("after it", 1)))])
    steps = manager.reader.steps.trajectory(session.id)
    assert "end" in "".join(step.output or step.text for step in steps)
    assert steps[-2].text == "after it"
    for step in steps:
        json.dumps(step_json(step)).encode()
    retold("/", steps, "go on", Expansions()).encode()
    with pytest.raises(UsageError):
        manager.spawn(start("\ud800"))
    assert len(manager.reader.sessions()) == 1


def test_a_long_session_is_shown_from_its_end_before_the_rest_is_read(manager):
    filler = b"".join(json.dumps(said("x" * 2_000, n)).encode() + b"\n" for n in range(2_000))
    session = record(manager, [("go", filler), ("last", lines(said("the newest answer")))])
    opened = manager.reader.steps.open_trajectory(session.id)
    growth = opened.refresh(0)
    shown = [growth.view.step(n).text for n in range(len(growth.view))]
    assert "the newest answer" in shown
    assert growth.ahead > 1_000_000
    assert len(shown) < 300
    opened.close()


def test_listing_needs_no_file_of_a_session(manager):
    parent = record(manager, HELLO)
    record(manager, TWO, parent=parent.id)
    kept = manager.layout.sessions.rename(manager.layout.home / "away")
    listed = manager.reader.sessions()
    kept.rename(manager.layout.sessions)
    assert {(one.status, one.turn, one.parent) for one in listed} == {
        (Status.DONE, 1, None), (Status.DONE, 2, parent.id),
    }  # fmt: skip
    assert all({"usage", "parent", "status"} <= session_json(one).keys() for one in listed)


def test_nothing_is_cleared_in_place_and_newer_records_are_refused(manager):
    session = record(manager, TWO)
    before = evidence(manager, session.id)[0]
    add(manager, session, MarkKind.REWIND)  # to the beginning
    assert view(manager, session) == []
    assert evidence(manager, session.id)[0] == before
    path = manager.layout.session(session.id).identity
    write_identity(manager.store, manager.layout.session(session.id))
    path.write_bytes(path.read_bytes().replace(b'"format": 1', b'"format": 99', 1))
    with pytest.raises(NewerStoreError):
        read_identity(path)
    newer = sqlite3.connect(manager.layout.home / "newer.db")
    newer.execute("PRAGMA user_version = 999")
    newer.commit()
    newer.close()
    with pytest.raises(StoreError, match="newer"):
        Store(manager.layout.home / "newer.db").sessions()
