"""The queue of a session, with processes: every prompt is sent once, as it was last edited, or cancelled."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections import Counter

import pytest
from e2e.notebook import Notebook
from repetition import SEED, repeated

from agentdash.sessions.model.errors import SessionBusyError, UnknownSessionError
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.runner.processes import processes, runner_lock
from agentdash.sessions.service.lifecycle.recovery.rebuild import rebuild
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.service.prompts.prompter import PromptOptions

PROGRAM = """
import json, random, sys
from agentdash.sessions.model.errors import AgentdashError
from agentdash.sessions.service.manager import SessionManager
name, seed, adds, session_id = sys.argv[1:]
dice = random.Random(seed)

def note(**line):
    print(json.dumps(line), flush=True)

with SessionManager() as manager:
    print('ready', flush=True)
    sys.stdin.readline()
    mine = []
    for number in range(int(adds)):
        text = f'prompt-{name}-{number} first'
        mine.append(manager.prompts.inject(session_id, text).prompt)
        note(op='add', prompt=mine[-1].id, text=text)
        for act in dice.choices(['edit', 'move', 'cancel', 'hold', 'release'], [4, 3, 1, 1, 2], k=2):
            try:
                if act == 'edit':
                    own = dice.choice(mine)
                    text = f'prompt-{name}-{mine.index(own)} again-{number}'
                    manager.queue.edit(own, text)
                    note(op='edit', prompt=own.id, text=text)
                elif act in ('hold', 'release'):
                    getattr(manager.queue, act)(session_id)
                elif waiting := manager.queue.prompts(session_id):
                    prompt = dice.choice(waiting)
                    if act == 'move':
                        manager.queue.move(prompt, dice.randint(1, len(waiting)))
                    else:
                        manager.queue.cancel(prompt)
                        note(op='cancel', prompt=prompt.id)
            except AgentdashError as error:
                note(op='refused', error=type(error).__name__)
"""
OLD_END = """
UPDATE turns SET status = 'done', rule = 'the agent reported a completed turn', exit_code = 0, receipt = NULL,
    left = '[]', ended_at = :now, agent_session = :thread, "end" = 'completed', steps = 2, unknown = 0
    WHERE session = :id AND n = 1 AND status IN ('starting', 'running', 'waiting', 'finishing');
UPDATE sessions SET status = 'done', reason = NULL, exit_code = 0, left = 0, stopping = NULL, stuck = NULL,
    stuck_at = NULL, activity = NULL, asks = NULL, agent_session = :thread, ended_at = :now, updated_at = :now
    WHERE id = :id;
"""
"""How the runner of schema 7 ended a turn: it knows no queue."""


@pytest.fixture
def notebook(tmp_path):
    return Notebook(tmp_path / "notebook")


@pytest.fixture
def spawn(manager, notebook):
    def spawn(prompt):
        """Start a session with the stand-in."""
        return manager.spawn(Start(prompt, agent="codex", options={"live": False, "bin": str(notebook.command)}))

    return spawn


@pytest.fixture
def at_work(manager, spawn, notebook, wait_until):
    """A session whose first turn waits at the gate."""
    session = spawn("wait at the gate")
    wait_until(lambda: notebook.said and manager.reader.get(session.id).agent_session, what="the first turn")
    return session


@pytest.fixture
def finished(manager, wait_until):
    def finished(session, turn):
        """The session, once this turn has ended and nothing waits."""

        def ended():
            found = manager.reader.get(session.id)
            return found if found.turn >= turn and found.status.ended and not found.queued else None

        return wait_until(ended, timeout=120, what=f"turn {turn} to end")

    return finished


def states(manager, session):
    return [(prompt.text, prompt.state) for prompt in manager.reader.prompts(session.id)]


def settle_by_command():
    """Any command settles."""
    subprocess.run([sys.executable, "-m", "agentdash", "ls"], check=True, capture_output=True)


def kill_all(manager, session, wait_until):
    """Kill -9 the runner and the agent."""
    turn = manager.reader.turns(session.id)[-1]
    for pid in (turn.runner_pid, turn.agent_pid):
        os.kill(pid, signal.SIGKILL)
    lock = manager.layout.session(session.id).lock
    wait_until(lambda: not runner_lock.is_held(lock), what="the runner to be gone")


@pytest.mark.torture
@pytest.mark.timeout(300)
def test_eight_processes_at_one_queue_send_each_prompt_once_or_cancel_it_once(
    manager, at_work, notebook, tmp_path, wait_until
):
    (tmp_path / "front.py").write_text(PROGRAM)
    adds = repeated(2, 8)
    dice = random.Random(SEED)
    fronts = [
        subprocess.Popen(
            [sys.executable, str(tmp_path / "front.py"), str(n), str(dice.random()), str(adds), at_work.id],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for n in range(8)
    ]
    assert [front.stdout.readline() for front in fronts] == ["ready\n"] * 8
    for front in fronts:
        front.stdin.write("\n")
        front.stdin.flush()
    wait_until(lambda: manager.reader.get(at_work.id).queued >= 4, what="prompts in the queue")
    notebook.open_gate()  # from now on prompts leave while others come
    told = [front.communicate(timeout=120) for front in fronts]
    assert [errors for _, errors in told] == [""] * 8
    notes = [json.loads(line) for out, _ in told for line in out.splitlines()]

    def empty():
        manager.queue.release(at_work.id)
        session = manager.reader.get(at_work.id)
        return session.status.ended and not session.queued

    wait_until(empty, timeout=120, what="an empty queue")
    cancelled = Counter(note["prompt"] for note in notes if note["op"] == "cancel")
    assert set(cancelled.values()) <= {1}
    # Each process edits its own prompts only, so the last text that was accepted is known.
    texts = {note["prompt"]: note["text"] for note in notes if note["op"] in ("add", "edit")}
    assert len(texts) == 8 * adds
    assert {note["error"] for note in notes if note["op"] == "refused"} <= {"SessionBusyError"}
    sent = [texts[prompt] for prompt in texts if prompt not in cancelled]
    assert sorted(notebook.said[1:]) == sorted(sent)
    assert {state for _, state in states(manager, at_work)} == {"seen"}


@pytest.mark.smoke
def test_a_prompt_to_a_session_at_work_waits_and_an_unknown_session_is_an_error(manager, at_work, notebook, finished):
    sent = manager.prompts.inject(at_work.id, "and then this")
    assert (sent.answer, sent.turn) == ("queued #1, after turn 1", None)
    assert manager.prompts.inject(at_work.id, "and at last this").answer == "queued #2, after turn 1"
    assert notebook.said == ["wait at the gate"]
    with pytest.raises(UnknownSessionError):
        manager.prompts.inject("0000", "hello")
    notebook.open_gate()
    finished(at_work, 3)
    assert notebook.said == ["wait at the gate", "and then this", "and at last this"]


def test_a_queued_prompt_is_a_turn_with_a_process_and_a_file_of_its_own(manager, at_work, notebook, finished):
    manager.prompts.inject(at_work.id, "go on")
    notebook.open_gate()
    session = finished(at_work, 2)
    assert (session.status, session.turn) == (Status.DONE, 2)
    first, second = manager.reader.turns(session.id)
    assert first.agent_pid != second.agent_pid
    assert manager.reader.outputs.part(session.id, 1).path != manager.reader.outputs.part(session.id, 2).path
    assert [text for text, _ in states(manager, session)] == ["wait at the gate", "go on"]


def test_an_agent_without_a_conversation_is_told_the_earlier_messages(manager, spawn, notebook, finished, wait_until):
    session = spawn("nameless, wait at the gate")
    wait_until(lambda: notebook.said, what="the first turn")
    manager.prompts.inject(session.id, "and the second words")
    notebook.open_gate()
    finished(session, 2)
    told = notebook.said[1:]
    assert told[0].startswith("This continues an earlier conversation")
    assert [line for line in told if line.startswith("|")] == [
        "| USER:", "|     nameless, wait at the gate", "| ASSISTANT:", "|     heard",
    ]  # fmt: skip
    assert "Continue from where you left off" in told[-3]
    assert told[-1] == "USER: and the second words"
    assert states(manager, session)[1] == ("and the second words", "seen")


def test_a_prompt_that_was_queued_before_the_conversation_had_a_name_resumes_it(manager, spawn, notebook, finished):
    session = spawn("one")
    manager.prompts.inject(session.id, "two")
    manager.prompts.inject(session.id, "three")
    finished(session, 3)
    assert notebook.said == ["one", "two", "three"]
    assert [f"resume -- {session.id}" in argv for argv in notebook.argv] == [False, True, True]


def test_a_queued_prompt_of_200_kb_arrives_whole(manager, at_work, notebook, finished):
    text = "0123456789abcde " * 12800 + "the end"
    manager.prompts.inject(at_work.id, text)
    notebook.open_gate()
    assert finished(at_work, 2).status is Status.DONE
    assert notebook.said[1] == text
    assert "0123456789abcde" not in notebook.argv[1]


def test_the_same_request_from_two_front_ends_is_sent_once_and_others_once_each(manager, at_work, notebook, finished):
    with SessionManager() as other:
        for front in (manager, other):
            front.prompts.inject(at_work.id, "the same", PromptOptions(key="request-1"))
            front.prompts.inject(at_work.id, "its own")
    notebook.open_gate()
    finished(at_work, 4)
    assert Counter(notebook.said[1:]) == {"the same": 1, "its own": 2}


@pytest.mark.smoke
def test_interrupt_and_say_sends_the_words_next_and_holds_the_others(manager, at_work, notebook, wait_until):
    manager.prompts.inject(at_work.id, "later")
    receipt, sent = manager.prompts.interrupt(at_work.id, "do this instead")
    assert receipt.status is Status.STOPPED
    assert sent.turn == 2
    wait_until(lambda: manager.reader.get(at_work.id).status is Status.DONE, what="the second turn")
    assert notebook.said == ["wait at the gate", "do this instead"]
    session = manager.reader.get(at_work.id)
    assert (session.queued, session.held) == (1, "turn 1 was stopped")


def test_an_interrupt_that_comes_too_late_does_not_stop_the_turn_that_it_adds(
    manager, at_work, notebook, wait_until, finished, monkeypatch
):
    def stop_late(ref, turn):
        """Stop the turn, which has ended by itself meanwhile."""
        notebook.open_gate()
        wait_until(lambda: len(manager.reader.turns(ref)) > turn, what="the next turn")
        return manager.stop(ref, turn=turn)

    monkeypatch.setattr(manager.prompts, "_stop", stop_late)
    receipt, sent = manager.prompts.interrupt(at_work.id, "and this")
    assert (receipt.note, sent.turn) == ("turn 1 had ended", 2)
    assert finished(at_work, 2).status is Status.DONE
    assert notebook.said == ["wait at the gate", "and this"]


def test_interrupt_of_a_turn_that_waits_for_a_place_sends_the_words_in_its_stead(
    manager, spawn, at_work, notebook, tmp_path, wait_until
):
    (tmp_path / "config.toml").write_text("[queue]\nmax_running = 1\n")
    waits = spawn("not wanted any more")
    manager.prompts.inject(waits.id, "later")
    receipt, sent = manager.prompts.interrupt(waits.id, "this instead")
    assert (receipt.note, sent.turn) == ("not started yet", 2)
    notebook.open_gate()
    wait_until(lambda: manager.reader.get(waits.id).status is Status.DONE, what="the second turn")
    assert notebook.said == ["wait at the gate", "this instead"]
    assert manager.reader.get(waits.id).held == "turn 1 was stopped"


def test_a_queued_prompt_has_a_sandbox_of_its_own_for_its_turn_alone(manager, at_work, notebook, finished):
    manager.prompts.inject(at_work.id, "look only", PromptOptions(settings={"sandbox": "read-only"}))
    manager.prompts.inject(at_work.id, "now write", PromptOptions(settings={"sandbox": "workspace-write"}))
    notebook.open_gate()
    finished(at_work, 3)
    assert ["-s read-only" in argv for argv in notebook.argv[1:]] == [True, False]
    assert "-s workspace-write" in notebook.argv[2]


def test_a_prompt_after_a_turn_that_failed_waits_until_it_is_released(manager, spawn, notebook, wait_until, finished):
    session = spawn("fail at the gate")
    wait_until(lambda: notebook.said, what="the first turn")
    manager.prompts.inject(session.id, "go on")
    notebook.open_gate()
    wait_until(lambda: manager.reader.get(session.id).held, what="the queue to be held")
    assert manager.reader.get(session.id).held == "turn 1 failed"
    manager.queue.release(session.id)
    finished(session, 2)
    assert notebook.said == ["fail at the gate", "go on"]


def test_one_runner_serves_a_whole_queue(manager, at_work, notebook, finished):
    for text in ("two", "three"):
        manager.prompts.inject(at_work.id, text)
    manager.close()  # no front end takes the places
    notebook.open_gate()
    with SessionManager() as other:
        finished(at_work, 3)
        assert len({turn.runner_pid for turn in other.reader.turns(at_work.id)}) == 1


def test_the_queue_of_an_older_runner_is_served_by_the_next_command(manager, at_work, notebook, wait_until, finished):
    manager.prompts.inject(at_work.id, "go on")
    kill_all(manager, at_work, wait_until)
    with sqlite3.connect(manager.layout.database) as db:
        for statement in OLD_END.split(";\n"):
            db.execute(
                statement, {"id": at_work.id, "now": manager.reader.get(at_work.id).created_at, "thread": at_work.id}
            )
    db.close()
    settle_by_command()
    finished(at_work, 2)
    assert notebook.said == ["wait at the gate", "go on"]


def test_a_rebuild_brings_waiting_prompts_back_in_their_order(manager, spawn, notebook, finished, database_at_rest):
    session = spawn("begin")
    finished(session, 1)
    manager.queue.hold(session.id)
    for text in ("one", "two", "three"):
        manager.prompts.inject(session.id, text)
    manager.queue.move(manager.queue.named(session.id, "3"), 1)
    manager.queue.edit(manager.queue.named(session.id, "2"), "ONE")
    database_at_rest().unlink()
    assert rebuild(manager.layout).restored == (session.id,)
    assert [prompt.text for prompt in manager.queue.prompts(session.id)] == ["three", "ONE", "two"]
    assert manager.reader.get(session.id).held == "by you"
    manager.queue.release(session.id)
    finished(session, 4)
    assert notebook.said == ["begin", "three", "ONE", "two"]


def reboot(manager):
    """What a reboot leaves: the rows of another boot, and no process."""
    with manager.store.database.transaction() as db:
        db.execute("UPDATE turns SET boot_id = 'another boot', launched_at = launched_at - 600000")


def test_after_a_reboot_the_first_command_sends_the_queued_turn_and_the_prompts_behind_it(
    manager, spawn, at_work, notebook, tmp_path, wait_until, finished
):
    (tmp_path / "config.toml").write_text("[queue]\nmax_running = 1\n")
    waits = spawn("queued turn")
    manager.prompts.inject(waits.id, "queued prompt")
    assert manager.reader.get(waits.id).status is Status.QUEUED
    kill_all(manager, at_work, wait_until)
    reboot(manager)
    settle_by_command()
    finished(waits, 2)
    assert notebook.said == ["wait at the gate", "queued turn", "queued prompt"]
    assert manager.reader.get(at_work.id).status is Status.LOST


@pytest.mark.parametrize("on_failure", ["hold", "send"])
def test_prompts_behind_a_turn_that_a_reboot_ended_are_held_unless_they_are_to_be_sent(
    manager, at_work, notebook, tmp_path, wait_until, finished, on_failure
):
    (tmp_path / "config.toml").write_text(f'[queue]\non_failure = "{on_failure}"\n')
    manager.prompts.inject(at_work.id, "go on")
    kill_all(manager, at_work, wait_until)
    reboot(manager)
    settle_by_command()
    if on_failure == "hold":
        session = manager.reader.get(at_work.id)
        assert (session.status, session.queued, session.held) == (Status.LOST, 1, "turn 1 was lost")
        manager.queue.release(at_work.id)
    finished(at_work, 2)
    assert notebook.said == ["wait at the gate", "go on"]


def test_a_retry_sends_the_prompt_of_a_missing_agent_once(manager, at_work, notebook, wait_until, finished):
    manager.prompts.inject(at_work.id, "go on")
    notebook.command.rename(notebook.command.with_name("gone"))
    notebook.open_gate()
    wait_until(lambda: manager.reader.get(at_work.id).turn == 2, what="the second turn")
    wait_until(lambda: manager.reader.get(at_work.id).status is Status.FAILED, what="its end")
    notebook.command.with_name("gone").rename(notebook.command)
    manager.prompts.retry(at_work.id)
    finished(at_work, 3)
    assert notebook.said == ["wait at the gate", "go on"]
    assert states(manager, at_work)[1:] == [("go on", "unsent"), ("go on", "seen")]


def test_a_retry_of_a_prompt_that_waits_again_sends_it_and_no_copy(
    manager, spawn, finished, notebook, tmp_path, wait_until
):
    session = finished(spawn("begin"), 1)
    (tmp_path / "config.toml").write_text("[queue]\nmax_running = 1\n")
    spawn("wait at the gate")
    wait_until(lambda: len(notebook.said) == 2, what="the only place to be taken")
    manager.prompts.inject(session.id, "go on")
    assert manager.store.cancel_queued(session.id, 2, Status.FAILED, "its runner did not start", "no runner started")
    assert manager.reader.get(session.id).held == "turn 2 failed"
    sent = manager.prompts.retry(session.id)
    assert (sent.turn, sent.session.queued) == (3, 0)
    notebook.open_gate()
    finished(session, 3)
    assert notebook.said == ["begin", "wait at the gate", "go on"]


def test_a_session_of_another_host_takes_no_prompt_and_keeps_its_queue(manager, at_work, notebook, finished):
    manager.prompts.inject(at_work.id, "go on")
    with manager.store.database.transaction() as db:
        db.execute("UPDATE sessions SET host = 'elsewhere'")
    [waiting] = manager.queue.prompts(at_work.id)
    for change in (
        lambda: manager.prompts.inject(at_work.id, "hello"),
        lambda: manager.queue.send_now(waiting),
        lambda: manager.queue.release(at_work.id),
    ):
        with pytest.raises(SessionBusyError, match="elsewhere"):
            change()
    with manager.store.database.transaction() as db:
        db.execute("UPDATE sessions SET host = ?", (processes.host_name(),))
    notebook.open_gate()
    finished(at_work, 2)
    assert notebook.said == ["wait at the gate", "go on"]
