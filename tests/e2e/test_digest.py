"""Read markers and digests on real sessions: the numbers of runners, files and rows fit each other."""

import json
import os
import signal
import sys

import pytest

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.digest.collect import is_prompt
from agentdash.sessions.rules.launch import Start
from agentdash.tui.cli.main import run

pytestmark = pytest.mark.usefixtures("scripted_agent")


def made(manager, session_id, turn=None):
    """The steps that the agent made, as readers see them."""
    return [step for step in manager.reader.steps.each_step(session_id, turn) if not is_prompt(step)]


def ended(manager, prompt="hello [[script:quick]]"):
    return manager.wait([manager.spawn(Start(prompt, agent="scripted")).id], timeout=60)[0]


def again(manager, session_id, prompt="more [[script:quick]]"):
    manager.prompts.inject(session_id, prompt)
    return manager.wait([session_id], timeout=60)[0]


@pytest.fixture
def told(manager, capfdbinary):
    """What a command line prints."""

    def tell(*words):
        assert run(words) == 0
        return capfdbinary.readouterr().out.decode()

    return tell


def test_runners_count_all_steps_but_the_prompts(manager):
    first = ended(manager)
    assert first.steps == first.unread == len(made(manager, first.id)) > 10
    second = again(manager, first.id, "and more")
    assert second.steps == second.unread == len(made(manager, first.id)) > first.steps
    assert [turn.steps for turn in manager.reader.turns(first.id)] == [len(made(manager, first.id, n)) for n in (1, 2)]
    assert len(manager.reader.steps.trajectory(first.id)) == second.steps + 2


def test_a_digest_begins_where_somebody_stopped_reading(manager):
    session = ended(manager)
    manager.housekeeping.mark_seen(session.id, 4)
    rest = manager.reader.steps.digest(session.id)
    assert (rest.steps, rest.prompts, rest.usage.total_tokens) == (session.steps - 4, 0, None)
    manager.housekeeping.mark_seen(session.id)
    assert manager.reader.steps.digest(session.id).steps == 0
    again(manager, session.id)
    new, turn, whole = (
        manager.reader.steps.digest(session.id),
        manager.reader.steps.digest(session.id, 2),
        manager.reader.steps.digest(session.id, whole=True),
    )
    assert new == turn
    assert (new.steps, new.prompts) == (len(made(manager, session.id, 2)), 1)
    assert (new.commands, new.commands_failed, new.files, new.web_searches) == (1, 1, ("scripted.txt",), 1)
    assert (whole.steps, whole.prompts, whole.commands) == (new.steps + session.steps, 2, 2)
    assert (new.usage.total_tokens, whole.usage.total_tokens) == (110, 220)


def test_the_reason_that_readers_add_to_a_failed_turn_shifts_no_marker(manager, wait_until):
    session = manager.started(manager.spawn(Start("wait [[script:silent]]", agent="scripted")).id)
    wait_until(lambda: manager.reader.get(session.id).steps == 2, what="its first words")
    manager.housekeeping.mark_seen(session.id)
    os.kill(manager.reader.turns(session.id)[0].agent_pid, signal.SIGKILL)
    [failed] = manager.wait([session.id], timeout=60)
    assert (failed.status, failed.unread) == (Status.FAILED, 0)
    assert len(made(manager, session.id)) == failed.steps + 1
    why = manager.reader.steps.digest(session.id)
    assert (why.steps, why.errors_fatal) == (1, 1)
    manager.housekeeping.mark_seen(session.id)
    assert manager.reader.steps.digest(session.id).steps == 0
    done = again(manager, session.id)
    assert manager.reader.steps.digest(session.id).steps == done.unread == len(made(manager, session.id, 2))


def test_the_verb_tells_what_is_new_and_only_a_terminal_has_seen_it(manager, told, monkeypatch):
    session = ended(manager)
    short = session.id[:8]
    first = told("digest", short)
    assert (
        f"{session.steps} steps since the start\n  1 command, 1 failed (`echo out; echo err >&2; exit 3` exit 3) ·"
        in first
    )
    assert 'last: "a message about hello [[script:quick]]"' in first
    assert told("digest", short) == first
    with monkeypatch.context() as patch:
        patch.setattr(sys.stdout, "isatty", lambda: True)
        told("digest", short)
    assert "nothing new since you looked, " in told("digest", short)
    assert f"{session.steps} steps in turn 1" in told("digest", short, "--turn", "1")
    assert f"{session.steps} steps since the start" in told("digest", short, "--since-start")
    again(manager, session.id)
    assert f"{session.steps} steps since you looked, " in told("digest", short)
    facts = json.loads(told("digest", short, "--json"))
    assert (facts["session"], facts["turn"], facts["since_steps"]) == (session.id, None, session.steps)
    assert (facts["commands"], facts["files"], facts["tests"]) == (1, ["scripted.txt"], [])
    assert json.loads(told("ls", "--json"))[0]["unread"] == session.steps


def test_who_has_read_an_earlier_turn_has_not_read_what_came_behind_it(manager, told, monkeypatch):
    session = ended(manager)
    again(manager, session.id)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    told("digest", session.id, "--turn", "1")
    assert manager.reader.get(session.id).unread == 2 * session.steps
    told("trajectory", session.id)
    assert manager.reader.get(session.id).unread == 0


def test_parts_that_contradict_each_other_and_turns_that_are_not_there_are_refused(manager, capfdbinary):
    session = ended(manager)
    assert run(["digest", session.id, "--turn", "1", "--since-start"]) == 2
    assert b"cannot be combined" in capfdbinary.readouterr().err
    assert run(["digest", session.id, "--turn", "7"]) == 2
    assert b"has no turn 7" in capfdbinary.readouterr().err
