"""Taking a session over, with a stand-in for the agent's own interface: the holder, the refusals, the turn by hand."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest
from e2e.own_interface import THREAD, OwnInterface, said
from isolation import work_folder
from repetition import SEED, repeated

from agentdash.sessions.model.errors import AgentdashError, SessionBusyError, StoreError, UsageError
from agentdash.sessions.model.session import Status, StepKind
from agentdash.sessions.rules.json_schema import session_json
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.runner.processes import processes, runner_lock
from agentdash.sessions.service.lifecycle.recovery.rebuild import rebuild
from agentdash.sessions.service.manager import SessionManager

FRONT_END = """
import subprocess, sys
from agentdash.sessions.service.manager import SessionManager
with SessionManager() as manager:
    taken = manager.take_over(sys.argv[1])
    print("taken", flush=True)
    program = subprocess.Popen(taken.argv, cwd=taken.cwd, env=taken.env)
    taken.started(program.pid)
    print("started", flush=True)
    program.wait()
    print("left", flush=True)
    print(manager.give_back(taken, program.returncode), flush=True)
"""


@pytest.fixture
def interface(tmp_path, monkeypatch):
    with OwnInterface.in_use(tmp_path, monkeypatch) as made:
        yield made


@pytest.fixture
def session(manager, interface, tmp_path):
    """A session that had one turn."""
    begun = manager.spawn(Start("first words", agent="codex", cwd=work_folder(tmp_path)))
    ended = manager.wait([begun.id], timeout=60)[0]
    assert (ended.status, ended.agent_session) == (Status.DONE, THREAD)
    return ended


def run(manager, session):
    """Take a session over, run its interface to the end, and give it back."""
    taken = manager.take_over(session.id)
    program = subprocess.Popen(taken.argv, cwd=taken.cwd, env=taken.env)
    taken.started(program.pid)
    return manager.give_back(taken, program.wait())


def marks(manager, session):
    rows = manager.store.database.rows("SELECT * FROM marks WHERE session = ?", (session.id,))
    return [(row["kind"], row["after"], row["turn"], json.loads(row["data"])) for row in rows]


def spoken(manager, session, turn):
    return [(step.kind, step.text) for step in manager.reader.steps.messages(session.id) if step.turn == turn]


def is_free(manager, session):
    return not runner_lock.is_held(manager.layout.session(session.id).lock)


@pytest.mark.smoke
def test_words_said_by_hand_are_one_turn_whose_file_is_that_part_of_the_transcript(manager, session, interface):
    added = interface.says("one", "two", "three")
    done = run(manager, session)
    assert (done.turn, done.prompts, done.reason, done.exit_code) == (2, 3, None, 0)
    after = manager.reader.get(session.id)
    assert (after.status, after.turn, after.taken_by, after.last_message) == (Status.DONE, 2, None, "you said three")
    assert manager.reader.outputs.part(session.id, 2).read() == added
    assert manager.layout.session(session.id).output(2).stat().st_mode & 0o777 == 0o600
    expected = [(StepKind.PROMPT, "one"), (StepKind.MESSAGE, "you said one")]
    assert spoken(manager, session, 2)[:2] == expected
    assert len(spoken(manager, session, 2)) == 6
    turn = manager.reader.turns(session.id)[1]
    assert (turn.asked_by, turn.argv[1:3]) == ("hand", ("resume", "--no-daemon"))
    ((kind, mark_after, mark_turn, data),) = marks(manager, session)
    assert (kind, mark_after, mark_turn, data["prompts"]) == ("takeover", 1, 2, 3)
    assert after.all_seen
    assert is_free(manager, session)


def test_the_interface_gets_the_folder_the_environment_and_the_tags_of_the_session(
    manager, session, interface, monkeypatch
):
    recorded = os.environ["CODEX_HOME"]
    monkeypatch.setenv("CODEX_HOME", "/another")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://another")
    run(manager, session)
    argv, env, cwd = interface.seen
    assert argv == ["resume", "--no-daemon", "-s", "workspace-write", "-a", "on-request", "--", THREAD]
    assert (env["CODEX_HOME"], cwd) == (recorded, session.cwd)
    assert "OPENAI_BASE_URL" not in env
    assert env[processes.SESSION_TAG] == session.id


def test_while_it_is_open_nothing_disturbs_it_and_each_refusal_names_the_holder(manager, session):
    taken = manager.take_over(session.id)
    try:
        held = manager.reader.get(session.id)
        assert held.taken_by is not None
        holder = held.taken_by.holder
        actions = {
            "stop": manager.stop, "delete": manager.delete, "archive": manager.housekeeping.archive,
            "retry": manager.prompts.retry, "take over": manager.take_over,
        }  # fmt: skip
        for action in actions.values():
            with pytest.raises(SessionBusyError) as refused:
                action(session.id)
            assert holder in str(refused.value)
        assert manager.housekeeping.archive_all([session.id]) == []
        assert manager.housekeeping.clean(0).deleted == ()
        data = session_json(held)
        assert (data["taken_by"]["pid"], data["taken_by"]["user"]) == (os.getpid(), held.taken_by.user)
        assert data["attention"] is None
        manager.housekeeping.settle()
        assert manager.reader.get(session.id).taken_by == held.taken_by
    finally:
        manager.give_back(taken)


def test_a_prompt_waits_and_is_sent_when_the_interface_is_closed(manager, session, interface):
    taken = manager.take_over(session.id)
    sent = manager.prompts.inject(session.id, "afterwards")
    assert (sent.turn, sent.position) == (None, 1)
    assert "closes the agent's own interface" in sent.answer
    manager.queue.send_now(sent.prompt)
    manager.housekeeping.settle()
    assert manager.reader.get(session.id).status is Status.DONE
    assert interface.prompts == ["first words"]
    manager.give_back(taken)
    after = manager.wait([session.id], timeout=60)[0]
    assert (after.turn, interface.prompts) == (2, ["first words", "afterwards"])


def test_a_session_that_follows_waits_until_the_interface_is_closed(manager, session, interface, tmp_path):
    taken = manager.take_over(session.id)
    interface.says("by hand")
    next_one = manager.spawn(Start("then this", agent="codex", cwd=work_folder(tmp_path), after=session.id))
    manager.housekeeping.settle()
    assert manager.reader.get(next_one.id).status is Status.QUEUED
    program = subprocess.Popen(taken.argv, cwd=taken.cwd, env=taken.env)
    manager.give_back(taken, program.wait())
    after = manager.wait([next_one.id], timeout=60)[0]
    assert after.followed == session.id
    assert "you said by hand" in interface.whole_prompts


def test_a_queue_that_the_user_held_stays_held(manager, session, interface):
    manager.queue.hold(session.id)
    interface.says("by hand")
    taken = manager.take_over(session.id)
    manager.prompts.inject(session.id, "afterwards")
    manager.give_back(taken)
    after = manager.reader.get(session.id)
    assert (after.queued, after.status) == (1, Status.DONE)
    assert interface.prompts == ["first words"]


@pytest.mark.parametrize("added", [b"", b'{"type":"session_meta"}\n', b"\xff\x00 no line"])
def test_without_a_prompt_there_is_no_turn(manager, session, interface, added):
    interface.adds(added)
    done = run(manager, session)
    assert (done.turn, done.prompts, done.reason) == (None, 0, None)
    after = manager.reader.get(session.id)
    assert (after.turn, after.taken_by) == (1, None)
    assert marks(manager, session) == []
    assert not manager.layout.session(session.id).output(2).exists()


def remove(interface):
    interface.transcript.unlink()


def break_into_a_pipe(interface):
    interface.transcript.unlink()
    os.mkfifo(interface.transcript)


def cut_off(interface):
    interface.transcript.write_bytes(b"")


@pytest.mark.parametrize("break_it", [remove, break_into_a_pipe, cut_off])
def test_a_transcript_that_cannot_be_read_leaves_a_mark_with_the_reason(manager, session, interface, break_it):
    taken = manager.take_over(session.id)
    break_it(interface)
    done = manager.give_back(taken)
    assert done.turn is None
    assert done.reason
    ((kind, after, turn, data),) = marks(manager, session)
    assert (kind, after, turn, data["reason"]) == ("takeover", 1, None, done.reason)
    assert manager.reader.get(session.id).taken_by is None


def test_what_cannot_be_written_now_is_recorded_by_the_next_command(manager, session, interface):
    added = interface.says("by hand")
    taken = manager.take_over(session.id)
    program = subprocess.Popen(taken.argv, cwd=taken.cwd, env=taken.env)
    taken.started(program.pid)
    program.wait()
    turns = manager.layout.session(session.id).turns
    turns.rename(turns.with_name("away"))
    turns.write_text("in the way")
    with pytest.raises(StoreError, match="cannot be recorded now"):
        manager.give_back(taken)
    assert manager.reader.get(session.id).taken_by is not None
    turns.unlink()
    turns.with_name("away").rename(turns)
    manager.housekeeping.settle()
    assert manager.reader.get(session.id).turn == 2
    assert manager.reader.outputs.part(session.id, 2).read() == added


def test_the_conversation_that_an_undo_shows_is_the_one_whose_transcript_is_read(manager, session, interface):
    manager.conversation.rewind(session.id, 0)
    other = THREAD[:-1] + "2"
    manager.prompts.inject(session.id, "another way")
    manager.wait([session.id], timeout=60)
    with manager.store.database.transaction() as db:  # the stand-in has one thread only
        db.execute("UPDATE turns SET agent_session = ? WHERE session = ? AND n = 2", (other, session.id))
        db.execute("UPDATE sessions SET agent_session = ? WHERE id = ?", (other, session.id))
    manager.conversation.undo(session.id)
    interface.says("by hand")
    done = run(manager, session)
    assert (done.turn, done.prompts, done.reason) == (3, 1, None)
    assert manager.reader.turns(session.id)[2].agent_session == THREAD
    assert (StepKind.MESSAGE, "you said by hand") in spoken(manager, session, 3)


def test_a_turn_by_hand_behind_a_compaction_begins_no_conversation_again(manager, session, interface):
    manager.compacting.compact(session.id)
    assert manager.wait([session.id], timeout=60)[0].turn == 2
    manager.prompts.inject(session.id, "and on")
    assert manager.wait([session.id], timeout=60)[0].turn == 3
    assert manager.store.launch(session.id, 3).how == "retold"
    interface.says("by hand")
    done = run(manager, session)
    launch = manager.store.launch(session.id, 4)
    assert (done.turn, done.prompts, launch.how, launch.compacts) == (4, 1, "", None)
    visible = [step.text for step in manager.reader.steps.messages(session.id) if step.turn == 4]
    assert visible == ["by hand", "you said by hand"]


def test_a_transcript_that_is_not_found_leaves_a_mark_with_the_reason(manager, session, interface):
    interface.transcript.unlink()
    done = run(manager, session)
    assert (done.turn, done.reason) == (None, "its transcript was not found")
    assert len(marks(manager, session)) == 1


def test_hostile_lines_are_steps_of_the_turn_and_break_nothing(manager, session, interface):
    hostile = b'{"type":"event_msg","payload":[1]}\n\xff\xfe\n' + b"[" * 100_000 + b"\n" + b"x" * (1 << 20) + b"\n{"
    added = interface.adds(hostile + b"\n" + said("still here") + b'{"torn')
    done = run(manager, session)
    assert (done.turn, done.prompts) == (2, 1)
    assert manager.reader.outputs.part(session.id, 2).read() == added
    assert (StepKind.MESSAGE, "you said still here") in spoken(manager, session, 2)


def test_the_next_turn_resumes_the_conversation_and_counts_from_there(manager, session, interface):
    interface.says("by hand")
    run(manager, session)
    manager.prompts.inject(session.id, "goes on")
    after = manager.wait([session.id], timeout=60)[0]
    assert (after.turn, after.agent_session, after.status) == (3, THREAD, Status.DONE)
    assert interface.prompts == ["first words", "goes on"]
    assert [turn.asked_by for turn in manager.reader.turns(session.id)] == [None, "hand", None]


def test_a_session_that_cannot_be_taken_over_is_refused_with_the_reason(manager, session, tmp_path):
    command = manager.run(["true"], cwd=str(tmp_path))
    manager.wait([command.id], timeout=60)
    with pytest.raises(UsageError, match="no conversation to resume"):
        manager.take_over(command.id)
    row = manager.store.database

    def refused(change, back, words):
        with row.transaction() as db:
            db.execute(f"UPDATE sessions SET {change} WHERE id = ?", (session.id,))
        with pytest.raises(AgentdashError, match=words):
            manager.take_over(session.id)
        with row.transaction() as db:
            db.execute(f"UPDATE sessions SET {back} WHERE id = ?", (session.id,))

    refused("agent_session = NULL", f"agent_session = '{THREAD}'", "has not reported a conversation")
    refused("archived_at = 1", "archived_at = NULL", "is archived")
    refused("host = 'elsewhere'", f"host = '{session.host}'", "runs on elsewhere")
    refused("cwd = '/not/there'", f"cwd = '{session.cwd}'", "does not exist")
    manager.queue.hold(session.id)
    manager.give_back(manager.take_over(session.id))


def test_a_session_that_works_is_refused(manager, interface, tmp_path):
    with open(os.environ["AGENTDASH_CONFIG"], "a") as config:
        config.write("[queue]\nmax_running = 1\n")
    blocker = manager.run(["sleep", "600"], cwd=str(tmp_path))
    manager.started(blocker.id)
    queued = manager.spawn(Start("waits", agent="codex", cwd=work_folder(tmp_path)))
    with manager.store.database.transaction() as db:
        db.execute("UPDATE sessions SET agent_session = ? WHERE id = ?", (THREAD, queued.id))
    with pytest.raises(SessionBusyError, match="is queued: it can be taken over when turn 1 has ended"):
        manager.take_over(queued.id)


def test_processes_that_are_left_are_refused(manager, session, wait_until):
    wait_until(lambda: is_free(manager, session), what="the runner to leave")  # it would stay with the process
    tag = {processes.SESSION_TAG: session.id, processes.HOME: str(manager.layout.home)}
    left = subprocess.Popen(["sleep", "600"], env=os.environ | tag, start_new_session=True)
    try:
        with pytest.raises(SessionBusyError, match="are still running"):
            manager.take_over(session.id)
        assert is_free(manager, session)
    finally:
        left.kill()
        left.wait()


def front_end(session):
    return subprocess.Popen([sys.executable, "-c", FRONT_END, session.id], stdout=subprocess.PIPE, text=True)


def told(program, word):
    while (line := program.stdout.readline()).strip() != word:
        assert line, f"the front end ended before {word!r}"


def kill(program):
    program.send_signal(signal.SIGKILL)
    program.wait()
    program.stdout.close()  # the interface may still have its other end


def test_a_killed_front_end_leaves_the_session_taken_while_the_interface_lives(manager, session, interface, wait_until):
    interface.stays()
    added = interface.says("before the kill")
    program = front_end(session)
    told(program, "started")
    wait_until(lambda: interface.has_spoken, what="the interface to speak")
    kill(program)
    manager.housekeeping.settle()
    assert manager.reader.get(session.id).taken_by is not None
    with pytest.raises(SessionBusyError, match="own interface"):
        manager.stop(session.id)
    interface.leaves()

    def is_settled():
        manager.housekeeping.settle()
        return manager.reader.get(session.id).taken_by is None

    wait_until(is_settled, what="the holder to be cleared")
    assert is_free(manager, session)
    assert manager.reader.get(session.id).turn == 2
    assert manager.reader.outputs.part(session.id, 2).read() == added


@pytest.mark.torture
@pytest.mark.parametrize("number", range(repeated(4, 40)))
def test_killed_at_any_moment_the_lock_is_free_and_nothing_said_is_lost(
    number, manager, session, interface, wait_until
):
    dice = random.Random(f"{SEED} {number}")
    added = interface.says("by hand")
    program = front_end(session)
    told(program, "taken")
    time.sleep(dice.uniform(0, 0.25))  # the moment of the kill is the example
    kill(program)

    def is_settled():
        manager.housekeeping.settle()
        return manager.reader.get(session.id).taken_by is None and is_free(manager, session)

    wait_until(is_settled, what="the session to be free")
    turns = manager.reader.turns(session.id)
    if interface.has_spoken:
        assert [turn.n for turn in turns] == [1, 2]
        assert manager.reader.outputs.part(session.id, 2).read() == added
        assert len(marks(manager, session)) == 1
    assert len(turns) == 1 + interface.has_spoken
    manager.prompts.inject(session.id, "goes on")
    assert manager.wait([session.id], timeout=60)[0].status is Status.DONE


def test_a_second_front_end_is_refused_and_the_first_one_goes_on(manager, session, interface):
    taken = manager.take_over(session.id)
    with SessionManager() as other, pytest.raises(SessionBusyError, match="own interface"):
        other.take_over(session.id)
    interface.says("by hand")
    program = subprocess.Popen(taken.argv, cwd=taken.cwd, env=taken.env)
    assert manager.give_back(taken, program.wait()).turn == 2


def test_a_rebuilt_database_knows_the_turn_by_hand(manager, session, interface):
    interface.says("by hand")
    run(manager, session)
    home = manager.layout
    for path in home.home.glob("agentdash.db*"):
        path.unlink()
    rebuild(home)
    with SessionManager() as again:
        assert again.reader.get(session.id).turn == 2
        assert spoken(again, session, 2)[0] == (StepKind.PROMPT, "by hand")
