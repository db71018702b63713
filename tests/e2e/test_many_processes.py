"""Several front ends on one session at once, each a process of its own: one outcome, no lost row."""

import subprocess
import sys

import pytest

from agentdash.sessions.model.session import Status

PROGRAM = """
import sys
from agentdash.sessions.model.errors import AgentdashError
from agentdash.sessions.service.manager import SessionManager
verb, session_id = sys.argv[1:]
with SessionManager() as manager:
    print('ready', flush=True)
    sys.stdin.readline()
    try:
        if verb == 'retry':
            print('turn', manager.prompts.retry(session_id).turn)
        elif verb == 'stop':
            print('stopped', len(manager.stop(session_id).ended))
        elif verb == 'delete':
            manager.delete(session_id)
            print('deleted')
        else:
            manager.housekeeping.settle()
            print('settled')
    except AgentdashError as error:
        print('refused', type(error).__name__)
"""


@pytest.fixture
def race(tmp_path):
    program = tmp_path / "front.py"
    program.write_text(PROGRAM)

    def run(session_id, verbs):
        """Start one process per verb, let them all go at once, return what each printed last."""
        fronts = [
            subprocess.Popen(
                [sys.executable, str(program), verb, session_id],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for verb in verbs
        ]
        for front in fronts:
            assert front.stdout.readline() == "ready\n"
        for front in fronts:
            front.stdin.write("\n")
            front.stdin.flush()
        found = [front.communicate(timeout=60) for front in fronts]
        assert [errors for _, errors in found] == [""] * len(fronts)
        return [out.strip() for out, _ in found]

    return run


def ended(manager, *argv):
    return manager.wait([manager.run(argv).id], timeout=60)[0]


def test_two_front_ends_that_send_at_once_give_one_turn_and_one_refusal(manager, race):
    session = ended(manager, "sh", "-c", "echo once; exit 1")
    answers = race(session.id, ["retry"] * 4)
    assert sorted(a.split()[0] for a in answers) == ["refused"] * 3 + ["turn"]
    after = manager.wait([session.id], timeout=60)[0]
    assert after.turn == 2
    assert len(manager.reader.prompts(session.id)) == 2
    assert manager.reader.outputs.part(session.id, 2).read() == b"once\n"


def test_several_stops_at_once_join_and_get_the_same_receipt(manager, race, leftovers):
    session = manager.started(manager.run(["sh", "-c", "setsid sleep 640 & sleep 641"]).id)
    answers = race(session.id, ["stop"] * 4)
    counts = {int(answer.split()[1]) for answer in answers}
    # A stop that came after the end got the answer "nothing to stop".
    assert counts <= {0, 3}
    assert 3 in counts
    assert manager.reader.get(session.id).status is Status.STOPPED
    assert leftovers(session.id) == []


def test_stop_retry_delete_and_settle_at_once_have_one_outcome(manager, race, leftovers):
    session = manager.started(manager.run(["sleep", "642"]).id)
    answers = race(session.id, ["stop", "delete", "settle", "retry", "stop", "delete"])
    assert answers.count("deleted") == 1
    assert manager.reader.sessions() == []
    assert not (manager.reader.home / "sessions" / session.id).exists()
    assert (manager.reader.home / "trash" / session.id).is_dir()
    assert leftovers(session.id) == []


def test_a_killed_runner_is_settled_by_exactly_one(manager, race, leftovers):
    import os
    import signal

    session = manager.started(manager.run(["sleep", "643"]).id)
    turn = manager.reader.turns(session.id)[0]
    os.kill(turn.runner_pid, signal.SIGKILL)
    os.kill(turn.agent_pid, signal.SIGKILL)
    race(session.id, ["settle"] * 4)
    lost = manager.wait([session.id], timeout=60)[0]
    assert lost.status is Status.LOST
    feed = manager.reader.changes(0)
    assert [s.id for s in feed.updated] == [session.id]
    assert leftovers(session.id) == []
