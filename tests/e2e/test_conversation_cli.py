"""rewind, fork, marks and messages on the command line, with the scripted agent; and many front ends at once."""

import json
import subprocess
import sys

import pytest
from verbs import verb

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Start


@pytest.fixture
def talk(manager, scripted_agent, tmp_path):
    """A session of the scripted agent with three turns."""

    def start(**options):
        def ended(session):
            [session] = manager.wait([session.id], timeout=60)
            assert session.status is Status.DONE, session.reason
            return session

        options = {"speed": 50} | options
        session = ended(
            manager.spawn(Start("[[script:quick]] one", agent="scripted", cwd=str(tmp_path), options=options))
        )
        for word in ("two", "three"):
            manager.prompts.inject(session.id, f"[[script:quick]] {word}")
            session = ended(session)
        return session

    return start


def prompts(*words):
    """The prompts that a verb prints as JSON."""
    done = verb(*words, "--json")
    assert done.returncode == 0, done.stderr
    return [step["text"] for step in json.loads(done.stdout) if step["kind"] == "prompt"]


@pytest.mark.smoke
def test_a_user_goes_back_takes_it_back_and_forks(manager, talk):
    session = talk()
    dry = verb("rewind", session.id, "1", "--dry-run")
    assert f"Session {session.short_id} would go back: it goes on behind the end of turn 1." in dry.stdout
    assert verb("rewind", "--list", session.id).stdout == "No marks: nothing was cut or forked.\n"

    done = verb("rewind", session.id, "1", "--json")
    effect = json.loads(done.stdout)
    assert (effect["turn"], effect["step"], effect["how"], effect["hidden"]["turns"]) == (1, None, "retold", 2)
    assert prompts("trajectory", "--messages", session.id) == ["[[script:quick]] one"]
    assert len(prompts("trajectory", "--messages", session.id, "--all")) == 3
    shown = verb("trajectory", "--messages", session.id, "--all", "--numbers").stdout.splitlines()
    assert any(line.startswith("| 3.0 ") and line.endswith("[[script:quick]] three") for line in shown)
    assert any(line.startswith("1.0 ") for line in shown)
    assert any(line.startswith("mark 1: went back to the end of turn 1") for line in shown)
    assert "--all prints them too" in verb("trajectory", "--messages", session.id).stdout

    manager.prompts.inject(session.id, "[[script:quick]] four")
    manager.wait([session.id], timeout=60)
    launch = manager.store.launch(session.id, 4)
    assert launch.how == "retold"
    assert "| USER:\n|     [[script:quick]] one\n" in launch.stdin
    assert "two" not in launch.stdin

    assert verb("rewind", session.id, "--undo").returncode == 0
    assert prompts("trajectory", "--messages", session.id) == [
        f"[[script:quick]] {word}" for word in ("one", "two", "three")
    ]
    listed = verb("rewind", "--list", session.id).stdout.splitlines()
    assert [line.partition(" at ")[0] for line in listed] == [
        "mark 1: went back to the end of turn 1",
        'mark 2: took back "went back to the end of turn 1"',
    ]
    kinds = [
        (mark["kind"], mark["has_effect"], mark["undoable"])
        for mark in json.loads(verb("rewind", "--list", session.id, "--json").stdout)["marks"]
    ]
    assert kinds == [("rewind", True, False), ("undo", True, False)]

    made = json.loads(verb("fork", session.id, "--at", "2", "[[script:quick]] fork", "--wait", "--json").stdout)
    assert made["fork"] == {"origin": session.id, "turn": 2, "step": None, "how": "retold"}
    assert (made["status"], made["source"], made["task"]) == ("done", "fork", "[[script:quick]] fork")
    assert "three" not in manager.store.launch(made["id"], 1).stdin
    assert "forked from the end of turn 2" in verb("rewind", "--list", made["id"]).stdout


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (["rewind", "@last", "x"], 2, "'x' is not a valid place"),
        (["rewind", "@last", "9"], 2, "has no turn 9"),
        (["rewind", "@last", "1.99"], 2, "has no step 1.99"),
        (["rewind", "@last"], 2, "Name the place"),
        (["rewind", "@last", "--undo"], 2, "no rewind or compaction to take back"),
        (["rewind", "@last", "1.2", "--undo"], 2, "is not the number of a mark"),
        (["fork", "@last", "--at", "0", "go"], 2, "start a session"),
        (["fork", "@last", "--at", "1", " "], 2, "The prompt is empty"),
        (["rewind", "nothing-like-it", "1"], 1, "No session with id"),
    ],
)
def test_what_makes_no_sense_is_refused(manager, scripted_agent, tmp_path, words, code, error):
    session = manager.spawn(Start("[[script:quick]] one", agent="scripted", cwd=str(tmp_path), options={"speed": 50}))
    manager.wait([session.id], timeout=60)
    done = verb(*words)
    assert (done.returncode, done.stdout) == (code, "")
    assert error in done.stderr


def test_going_back_closes_the_process_that_remembers_what_is_hidden(manager, talk, wait_until):
    session = talk(live=True)
    assert session.warm_since is not None
    manager.conversation.rewind(session.id, 1)
    wait_until(lambda: manager.reader.by_id(session.id).warm_since is None, what="the agent to be closed")
    manager.prompts.inject(session.id, "[[script:quick]] four")
    manager.wait([session.id], timeout=60)
    turns = manager.reader.turns(session.id)
    assert turns[2].agent_pid == turns[0].agent_pid != turns[3].agent_pid
    assert turns[3].stream_number == 4


def test_of_many_front_ends_at_once_each_is_refused_or_has_its_way(manager, talk):
    session = talk()
    code = "import sys; from agentdash.tui.cli.main import run; sys.stdin.readline(); sys.exit(run(sys.argv[1:]))"
    places = ("1", "2", "1.0", "0")
    front_ends = [
        subprocess.Popen(
            [sys.executable, "-c", code, "rewind", session.id, place],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for place in places
    ]  # fmt: skip
    for one in front_ends:
        one.stdin.write("\n")
        one.stdin.flush()
    ended = [one.communicate(timeout=60) for one in front_ends]
    codes = [one.returncode for one in front_ends]
    assert set(codes) <= {0, 1}
    assert 0 in codes
    assert all("changed meanwhile" in error for (_, error), code in zip(ended, codes, strict=True) if code)
    marks = manager.store.marks.of_session(session.id)
    assert len(marks) == codes.count(0)
    for mark in reversed(marks):
        manager.conversation.undo(session.id, mark.id)
    assert len(prompts("trajectory", "--messages", session.id)) == 3
