"""kill -9 of a front end at random moments: no session is damaged, none is forgotten."""

import contextlib
import random
import sqlite3
import subprocess
import sys

import pytest
from repetition import SEED, repeated

from agentdash.sessions.model.session import Status

MOMENTS = repeated(6, 150)
PROGRAM = """
from agentdash.sessions.service.manager import SessionManager
manager = SessionManager()
print('ready', flush=True)
while True:
    session = manager.run(['true'])
    print(session.id, flush=True)
    manager.housekeeping.mark_seen(session.id)
    manager.housekeeping.settle()
"""


# Hundreds of processes are started: on a busy machine that takes minutes.
@pytest.mark.torture
@pytest.mark.timeout(600)
def test_killing_front_ends_at_random_moments_damages_no_session(manager, tmp_path):
    program = tmp_path / "front.py"
    program.write_text(PROGRAM)
    dice = random.Random(SEED)
    announced = []
    kills = 0
    while kills < MOMENTS:
        fronts = [subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, text=True) for _ in range(3)]
        for front in fronts:
            assert front.stdout.readline() == "ready\n"
        for front in fronts:
            with contextlib.suppress(subprocess.TimeoutExpired):
                front.wait(timeout=dice.uniform(0, 0.03))
            front.kill()
            kills += 1
        for front in fronts:
            announced += [line for line in front.communicate()[0].split("\n")[:-1] if line]

    sessions = manager.wait([s.id for s in manager.reader.sessions()], timeout=120)

    # What a front end had said is there, and everything that is there ran to its end.
    assert set(announced) <= {s.id for s in sessions}
    assert [(s.id, s.reason) for s in sessions if s.status is not Status.DONE] == []
    for session in sessions:
        assert [turn.n for turn in manager.reader.turns(session.id)] == [1]
        assert [prompt.text for prompt in manager.reader.prompts(session.id)] == ["true"]
    with sqlite3.connect(manager.reader.home / "agentdash.db") as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
