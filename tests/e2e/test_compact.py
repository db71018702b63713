"""``agentdash compact`` with the scripted agent: its queue, its refusals, and what the next turn is given."""

import json

import pytest
from verbs import verb

from agentdash.sessions.model.compaction import BY_SUMMARY
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Start

MINUTE = 60


@pytest.fixture
def spawn(manager, scripted_agent, tmp_path):
    def begin(script="done", live=False, speed=1000):
        options = {"script": script, "speed": speed, "live": live}
        return manager.spawn(Start("FIRST request", agent="scripted", cwd=str(tmp_path), options=options)).id

    return begin


@pytest.fixture
def ended(manager):
    def wait(session_id):
        return manager.wait([session_id], timeout=MINUTE)[0]

    return wait


@pytest.mark.smoke
@pytest.mark.parametrize("live", [False, True])
def test_a_summary_begins_the_next_conversation_with_every_request(manager, spawn, ended, live):
    session = spawn(live=live)
    first = ended(session)
    told = verb("compact", session, "keep", "the names", "--json", "--wait")
    assert told.returncode == 0, told.stderr
    printed = json.loads(told.stdout)
    assert (printed["by"], printed["status"], printed["turn"]) == (BY_SUMMARY, "done", 2)
    assert printed["prompt"]["text"] == "/compact keep the names"
    (mark,) = manager.store.marks.of_session(session)
    assert (mark.turn, mark.data) == (2, {"by": BY_SUMMARY, "words": "keep the names"} | mark.data)
    assert "keep the names" in manager.store.launch(session, 2).stdin

    (line,) = verb("rewind", "--list", session).stdout.splitlines()
    assert line.startswith(f"mark {mark.id}: a summary stands for 1 turn")

    manager.prompts.inject(session, "SECOND request")
    second = ended(session)
    assert second.agent_session != first.agent_session
    given = manager.store.launch(session, 3).stdin
    summary = manager.reader.turns(session)[1]
    assert summary.compacts
    assert given.index("FIRST request") < given.index("summary of the work") < given.index("SECOND request")
    assert given.endswith("\n\nSECOND request")

    refused = verb("compact", session)
    assert refused.returncode == 0, "something was said since the last time"
    ended(session)
    again = verb("compact", session)
    assert (again.returncode, again.stdout) == (1, "")
    assert "nothing to compact" in again.stderr


def test_a_compaction_waits_for_the_turn_that_runs_and_is_asked_for_once(manager, spawn, ended, wait_until):
    session = spawn("long", speed=1)
    wait_until(lambda: manager.reader.get(session).status is Status.RUNNING, timeout=MINUTE, what="the turn")
    told = [verb("compact", session, "--key", "once", "--summary") for _ in range(2)]
    assert [(one.returncode, one.stdout) for one in told] == [
        (0, "queued #1, after turn 1: scripted writes a summary\n")
    ] * 2
    (waiting,) = manager.queue.prompts(session)
    assert waiting.text == "/compact"
    edited = verb("queue", session, "edit", "1", "say hello")
    assert edited.returncode == 2
    assert "cannot be edited" in edited.stderr
    manager.stop(session)
    assert manager.store.marks.of_session(session) == []


def test_a_stopped_compaction_leaves_no_mark_and_its_retry_compacts(manager, spawn, ended, wait_until):
    session = spawn("quick", speed=10)
    ended(session)
    found = manager.compacting.compact(session, "[[script:long]]")
    wait_until(lambda: manager.reader.get(session).status is Status.RUNNING, timeout=MINUTE, what="the turn")
    assert found.answer == "turn 2: scripted writes a summary"
    manager.stop(session)
    assert (ended(session).status, manager.store.marks.of_session(session)) == (Status.STOPPED, [])
    manager.prompts.retry(session)
    wait_until(lambda: manager.reader.get(session).turn == 3, timeout=MINUTE, what="the next try")
    assert manager.store.launch(session, 3).compacts.by == BY_SUMMARY
    manager.stop(session)


def test_a_prompt_beside_a_live_compaction_waits_for_its_own_turn(manager, spawn, ended, wait_until):
    session = spawn("quick", live=True, speed=1)
    ended(session)
    manager.compacting.compact(session, "[[script:steer]]")
    wait_until(lambda: manager.reader.get(session).status is Status.RUNNING, timeout=MINUTE, what="the turn")
    sent = manager.prompts.inject(session, "not for the summary")
    assert (sent.prompt.state, sent.prompt.steers) == ("queued", False)
    manager.stop(session)
    assert [prompt.text for prompt in manager.queue.prompts(session)] == ["not for the summary"]


def test_what_has_no_conversation_cannot_be_compacted(manager, tmp_path):
    session = manager.run(["true"], cwd=str(tmp_path)).id
    manager.wait([session], timeout=MINUTE)
    told = verb("compact", session, "--json")
    assert (told.returncode, told.stdout) == (2, "")
    assert "has no conversation to compact" in told.stderr
    assert verb("compact", "nosuch").returncode == 1
