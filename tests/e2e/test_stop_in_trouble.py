"""Stops that meet trouble: a stopped runner, a database that cannot be read, a flood of asks, forgotten requests."""

import json
import os
import signal
import subprocess
import sys

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.runner.processes import processes, runner_lock

FLOOD = """#!{python}
import json, sys
def out(event):
    sys.stdout.write(json.dumps(event) + "\\n")
ID = "0199a213-81c0-4800-8aa1-bbab2a035a53"
for line in sys.stdin:
    sent = json.loads(line)
    if sent.get("type") == "control_request":
        response = {{"subtype": "success", "request_id": sent["request_id"], "response": {{}}}}
        out({{"type": "control_response", "response": response}})
    elif sent.get("type") == "user":
        out({{"type": "system", "subtype": "init", "session_id": ID, "model": "m", "cwd": "/", "tools": []}})
        out(sent | {{"isReplay": True, "session_id": ID, "timestamp": "2026-01-01T00:00:00Z"}})
        for number in range({asks}):
            request = {{"subtype": "can_use_tool", "tool_name": "Bash", "input": {{"command": f"make {{number}}"}}}}
            request["tool_use_id"] = f"t{{number}}"
            out({{"type": "control_request", "request_id": f"r{{number}}", "request": request}})
    sys.stdout.flush()
"""


def test_a_stopped_runner_goes_on_and_records_the_end_that_it_missed(manager, wait_until):
    session = manager.started(manager.run(["sh", "-c", "read line < fifo"], cwd=fifo_folder(manager)).id)
    turn = manager.store.newest_turn(session.id)
    wait_until(lambda: processes.by_pid(turn.agent_pid) is not None, what="the command")
    os.kill(turn.runner_pid, signal.SIGSTOP)
    wait_until(lambda: processes.by_pid(turn.runner_pid).stopped, what="the runner to be stopped")
    with (manager.layout.home.parent / "fifo").open("w") as fifo:
        fifo.write("go\n")
    wait_until(lambda: processes.by_pid(turn.agent_pid).zombie, what="the end of the command")
    manager.stop(session.id)
    ended = manager.reader.by_id(session.id)
    assert (ended.status, ended.exit_code) == (Status.DONE, 0), ended.reason
    assert manager.store.newest_turn(session.id).runner_pid == turn.runner_pid


def fifo_folder(manager):
    folder = manager.layout.home.parent
    os.mkfifo(folder / "fifo")
    return str(folder)


def test_a_damaged_database_keeps_no_process_from_being_stopped(manager, wait_until, sleepers):
    session = manager.started(manager.run(["sh", "-c", "setsid sleep 4021 & sleep 4021"]).id)
    wait_until(lambda: len(sleepers(4021)) == 2, what="the processes")
    for name in ("agentdash.db-wal", "agentdash.db-shm", "agentdash.db"):
        (manager.layout.home / name).write_bytes(os.urandom(50_000))
    words = [sys.executable, "-m", "agentdash", "stop", "--json"]
    done = subprocess.run([*words, session.short_id], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    [receipt] = json.loads(done.stdout)
    assert (len(receipt["ended"]), sleepers(4021)) == (3, [])
    assert "doctor --rebuild" in receipt["note"]
    unknown = subprocess.run([*words, "ffffffff"], capture_output=True, text=True, check=False)
    assert unknown.returncode == 1
    assert "doctor --rebuild" in unknown.stderr
    for name in ("agentdash.db", "agentdash.db-wal", "agentdash.db-shm"):
        (manager.layout.home / name).unlink(missing_ok=True)


def test_a_flood_of_asks_leaves_none_open_and_is_not_recorded_to_its_end(manager, tmp_path, wait_until):
    agent = tmp_path / "agent"
    agent.write_text(FLOOD.format(python=sys.executable, asks=3000))
    agent.chmod(0o755)
    manager.reader.settings.path.write_text(f'[agents.claude]\nbin = "{agent}"\n')
    session = manager.spawn(Start("x", agent="claude", options={"permission_mode": "default"}))
    asks = manager.store.asks
    wait_until(lambda: asks.of_session(session.id), what="the first ask")
    manager.stop(session.id)
    assert manager.reader.by_id(session.id).status is Status.STOPPED
    recorded = asks.of_session(session.id)
    assert len(recorded) < 3000
    assert (asks.open(), manager.reader.by_id(session.id).asking) == ([], 0)


def test_a_request_that_nobody_waits_for_is_answered_after_a_while(manager, wait_until):
    session = manager.wait([manager.run(["true"]).id], timeout=60)[0]
    lock = manager.layout.session(session.id).lock
    wait_until(lambda: not runner_lock.is_held(lock), what="the end of the runner, which would answer itself")
    number = manager.store.request(session.id, 1, "stop", "you")
    manager.housekeeping.settle()
    assert manager.store.answered(number) is None  # its front end may be about to start a runner
    with manager.store.database.transaction() as db:
        db.execute("UPDATE requests SET created_at = created_at - 120000")
    manager.housekeeping.settle()
    assert manager.store.answered(number).note == "the turn had ended"
