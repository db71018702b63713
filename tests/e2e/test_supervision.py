"""Real processes, really killed: what a session survives, and what a stop leaves (nothing)."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec import structs
from transcript_files import read

from agentdash.sessions.model.errors import SessionBusyError
from agentdash.sessions.model.session import Status, StepKind
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.runner.processes import processes, runner_lock
from agentdash.sessions.service.lifecycle.stop_family import NOW

pytestmark = pytest.mark.usefixtures("scripted_agent")

STUBBORN = (
    "import signal, time\n"
    "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "print('ready', flush=True)\n"
    "time.sleep(600)\n"
)
DAEMON = (
    "import os, time\n"
    "if os.fork(): os._exit(0)\n"
    "os.setsid()\n"
    "if os.fork(): os._exit(0)\n"
    "os.closerange(0, 64)\n"
    "time.sleep(600)\n"
)


def start(manager, *argv):
    session = manager.started(manager.run(argv).id)
    assert session.status is Status.RUNNING, session.reason
    return session


def printed(manager, session, text, wait_until):
    wait_until(lambda: text in manager.reader.outputs.part(session.id).path.read_text(), what=f"{text!r} in the output")


def turn_of(manager, session):
    return manager.reader.turns(session.id)[-1]


@pytest.mark.smoke
def test_a_stop_ends_the_group_and_what_left_it(manager, leftovers, wait_until):
    script = "setsid nohup sleep 611 >/dev/null 2>&1 & sleep 612 & echo ready; sleep 613"
    session = start(manager, "sh", "-c", script)
    printed(manager, session, "ready", wait_until)
    before = {p.pid: processes.by_pid(p.pid).start for p in manager.reader.processes(session.id)}
    assert len(before) == 4

    receipt = manager.stop(session.id)

    assert {e.pid for e in receipt.ended} == set(before)
    assert receipt.left == ()
    assert not any(processes.alive(pid, began) for pid, began in before.items())
    assert leftovers(session.id) == []
    stopped = manager.reader.get(session.id)
    assert stopped.status is Status.STOPPED
    assert stopped.reason == f"stopped by you; {receipt.summary()}"
    assert stopped.stopping is None
    assert "4 processes ended" in receipt.summary()


def test_a_setsid_nohup_grandchild_is_found_and_stopped(manager, leftovers, wait_until):
    session = start(manager, "sh", "-c", f"{sys.executable} -c '{DAEMON}' & echo ready; sleep 614")
    printed(manager, session, "ready", wait_until)
    wait_until(lambda: len(manager.reader.processes(session.id)) == 3, what="shell, sleep and daemon")
    manager.stop(session.id)
    assert leftovers(session.id) == []


@pytest.mark.smoke
def test_a_process_that_cleared_its_environment_is_stopped(manager, wait_until):
    script = f"env -i setsid {sys.executable} -c 'import time; time.sleep(615)' & echo ready; sleep 616"
    session = start(manager, "sh", "-c", script)
    printed(manager, session, "ready", wait_until)
    wait_until(lambda: any("615" in p.command for p in manager.reader.processes(session.id)), what="the bare process")
    bare = next(p for p in manager.reader.processes(session.id) if "time.sleep(615)" in p.command)
    receipt = manager.stop(session.id)
    assert bare.pid in {e.pid for e in receipt.ended}
    assert processes.by_pid(bare.pid) is None or processes.by_pid(bare.pid).zombie


@pytest.mark.smoke
def test_the_receipt_names_the_signal_that_ended_each_process(manager, wait_until):
    session = start(manager, sys.executable, "-c", STUBBORN)
    printed(manager, session, "ready", wait_until)
    receipt = manager.stop(session.id, NOW)
    assert [(e.signal, e.observed) for e in receipt.ended] == [("SIGKILL", False)]
    assert turn_of(manager, session).signal == "SIGKILL"


def test_the_ladder_climbs_to_sigkill_by_itself(manager, leftovers, wait_until):
    session = start(manager, sys.executable, "-c", STUBBORN)
    printed(manager, session, "ready", wait_until)
    receipt = manager.stop(session.id)
    assert [e.signal for e in receipt.ended] == ["SIGKILL"]
    assert leftovers(session.id) == []


def test_a_stop_of_an_ended_session_only_marks_it_as_dealt_with(manager):
    session = manager.wait([manager.run(["true"]).id], timeout=60)[0]
    receipt = manager.stop(session.id)
    assert (receipt.ended, receipt.left, receipt.status) == ((), (), Status.DONE)
    after = manager.reader.get(session.id)
    assert after.handled_at is not None
    marks = {name: getattr(after, name) for name in ("seen_at", "seen_steps", "handled_at")}
    assert after == structs.replace(session, **marks)


def test_children_left_by_an_agent_that_ends_are_kept_and_shown_and_stop_ends_them(manager, leftovers):
    # The shell ends when both have become what they run.
    named = "for pid in $pids; do until tr '\\0' ' ' < /proc/$pid/cmdline | grep -q '^sleep'; do :; done; done"
    script = f'sleep 617 & pids=$!; setsid sleep 618 & pids="$pids $!"; {named}; exit 0'
    session = manager.wait([manager.run(["sh", "-c", script]).id], timeout=60)[0]
    assert (session.status, session.left) == (Status.DONE, 2)
    assert {left.command for left in turn_of(manager, session).left} == {"sleep 617", "sleep 618"}
    receipt = manager.stop(session.id)
    assert len(receipt.ended) == 2
    assert leftovers(session.id) == []
    after = manager.reader.get(session.id)
    assert (after.status, after.left) == (Status.DONE, 0)


def test_a_new_turn_starts_while_children_of_the_last_one_live(manager, leftovers, wait_until):
    session = manager.wait([manager.run(["sh", "-c", "sleep 619 & exit 3"]).id], timeout=60)[0]
    assert session.left == 1
    manager.prompts.retry(session.id)
    again = manager.wait([session.id], timeout=60)[0]
    assert (again.turn, again.left) == (2, 2)
    manager.stop(session.id)
    assert leftovers(session.id) == []


@pytest.mark.smoke
def test_a_killed_runner_is_replaced_and_the_agent_stopped_by_the_new_one(manager, leftovers, wait_until):
    session = start(manager, "sh", "-c", "setsid sleep 620 & sleep 621")
    first = turn_of(manager, session)
    os.kill(first.runner_pid, signal.SIGKILL)
    wait_until(lambda: not processes.alive(first.runner_pid, first.runner_start), what="the runner's death")
    manager.housekeeping.settle()
    wait_until(lambda: turn_of(manager, session).runner_pid != first.runner_pid, what="the adoption")
    assert manager.reader.get(session.id).status is Status.RUNNING
    assert processes.alive(first.agent_pid, first.agent_start)
    receipt = manager.stop(session.id)
    assert receipt.status is Status.STOPPED
    assert leftovers(session.id) == []


@pytest.mark.smoke
def test_an_adopted_agent_ends_by_its_proper_end(manager, wait_until):
    session = manager.started(manager.spawn(Start("[[script:done]]", agent="scripted", options={"speed": 2})).id)
    wait_until(lambda: manager.reader.get(session.id).steps > 1, what="the first steps")
    os.kill(turn_of(manager, session).runner_pid, signal.SIGKILL)
    ended = manager.wait([session.id], timeout=60)[0]
    assert (ended.status, ended.reason, ended.exit_code) == (Status.DONE, "the runner was killed", None)


@pytest.mark.smoke
def test_lost_only_where_nothing_lives(manager, wait_until, leftovers):
    session = start(manager, "sh", "-c", "setsid sleep 622 & echo ready; sleep 623")
    printed(manager, session, "ready", wait_until)
    turn = turn_of(manager, session)
    os.kill(turn.runner_pid, signal.SIGKILL)
    os.kill(turn.agent_pid, signal.SIGKILL)
    lost = manager.wait([session.id], timeout=60)[0]
    assert lost.status is Status.LOST
    assert lost.left == 2
    with pytest.raises(SessionBusyError, match="are still running"):
        manager.prompts.retry(session.id)
    receipt = manager.stop(session.id)
    assert len(receipt.ended) == 2
    assert leftovers(session.id) == []
    assert manager.reader.get(session.id).status is Status.LOST


def test_an_agent_killed_from_outside_is_failed_at_once(manager):
    session = start(manager, "sleep", "624")
    os.kill(turn_of(manager, session).agent_pid, signal.SIGKILL)
    ended = manager.wait([session.id], timeout=60)[0]
    assert (ended.status, ended.signal) == (Status.FAILED, "SIGKILL")
    assert ended.reason == "killed by SIGKILL, not by agentdash"


def test_a_runner_told_to_end_stops_its_agent_and_says_so(manager, leftovers):
    session = start(manager, "sleep", "625")
    os.kill(turn_of(manager, session).runner_pid, signal.SIGTERM)
    ended = manager.wait([session.id], timeout=60)[0]
    assert ended.status is Status.STOPPED
    assert ended.reason == "stopped by the system; 1 process ended (SIGINT 1), 0 left"
    assert leftovers(session.id) == []


@pytest.mark.smoke
def test_a_start_that_fails_is_a_visible_failed_session(manager, tmp_path):
    plain = tmp_path / "plain.txt"
    plain.write_text("not a program")
    cases = {
        "no-such-command-here": "no-such-command-here: command not found",
        str(plain): f"{plain}: permission denied",
    }
    for command, reason in cases.items():
        session = manager.wait([manager.run([command]).id], timeout=60)[0]
        assert session.status is Status.FAILED
        assert session.reason.startswith(reason)


def test_a_folder_deleted_between_record_and_start_is_the_reason(manager, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    session = manager.wait([manager.run(["false"], cwd=str(gone)).id], timeout=60)[0]
    gone.rmdir()
    assert session.status is Status.FAILED
    from agentdash.sessions.model.errors import UsageError

    with pytest.raises(UsageError, match="does not exist"):
        manager.prompts.retry(session.id)


def test_the_first_lines_of_stderr_are_the_reason(manager):
    session = manager.wait([manager.run(["sh", "-c", "echo 'no licence' >&2; exit 7"]).id], timeout=60)[0]
    assert (session.status, session.exit_code, session.reason) == (Status.FAILED, 7, "exit 7: no licence")


def test_an_agent_started_by_a_script_with_ampersand_stops_at_the_first_sigint(manager, tmp_path, leftovers):
    code = (
        "from agentdash.sessions.service.manager import SessionManager\n"
        "m = SessionManager()\n"
        "s = m.started(m.run(['sleep', '626']).id)\n"
        "print(s.id, s.status)\n"
    )
    program = tmp_path / "start.py"
    program.write_text(code)
    # A non-interactive shell starts what stands before `&` with SIGINT ignored.
    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} {program} & wait"], capture_output=True, text=True, check=True
    )
    session_id, status = done.stdout.split()
    assert status == "running"
    receipt = manager.stop(session_id)
    assert [e.signal for e in receipt.ended] == ["SIGINT"]
    assert leftovers(session_id) == []


def test_a_session_spawned_from_inside_a_session_survives_the_stop_of_the_outer_one(
    manager, tmp_path, leftovers, wait_until
):
    program = tmp_path / "inner.py"
    program.write_text(
        "from agentdash.sessions.service.manager import SessionManager\n"
        "m = SessionManager()\n"
        "s = m.started(m.run(['sh', '-c', 'setsid sleep 627 & sleep 628']).id)\n"
        "print('inner', s.id, flush=True)\n"
    )
    outer = start(manager, "sh", "-c", f"{sys.executable} {program}; sleep 629")
    printed(manager, outer, "inner", wait_until)
    inner = manager.reader.get(manager.reader.outputs.part(outer.id).path.read_text().split()[1])
    assert inner.parent == outer.id

    manager.stop(outer.id)

    assert leftovers(outer.id) == []
    assert manager.reader.get(inner.id).status is Status.RUNNING
    assert len(manager.reader.processes(inner.id)) == 3
    manager.stop(inner.id)
    assert leftovers(inner.id) == []
    assert manager.reader.get(inner.id).status is Status.STOPPED


def test_a_reused_pid_is_never_signalled():
    stranger = subprocess.Popen(["sleep", "630"])
    try:
        real = processes.by_pid(stranger.pid)
        reused = processes.Process(pid=real.pid, start=real.start - 1, parent=1, group=real.group, command="old")
        assert not processes.send(reused, signal.SIGKILL)
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


@pytest.mark.smoke
def test_the_agent_goes_on_when_the_front_end_is_killed(manager, tmp_path, wait_until):
    program = tmp_path / "front.py"
    go = tmp_path / "go"
    program.write_text(
        "import time\n"
        "from agentdash.sessions.service.manager import SessionManager\n"
        "m = SessionManager()\n"
        f"s = m.started(m.run(['sh', '-c', 'while [ ! -e {go} ]; do sleep 0.05; done; echo bye; exit 5']).id)\n"
        "print(s.id, flush=True)\n"
        "time.sleep(600)\n"
    )
    front = subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, text=True)
    session_id = front.stdout.readline().strip()
    front.kill()
    front.wait()
    front.stdout.close()
    assert manager.reader.get(session_id).status is Status.RUNNING
    go.touch()
    ended = manager.wait([session_id], timeout=60)[0]
    assert (ended.status, ended.exit_code) == (Status.FAILED, 5)


def test_opening_listing_and_watching_change_no_byte_of_a_session(manager, wait_until):
    session = manager.wait([manager.run(["sh", "-c", "echo a; echo b"]).id], timeout=60)[0]
    folder = manager.reader.home / "sessions" / session.id
    wait_until(lambda: not runner_lock.is_held(folder / "runner.lock"), what="the runner to leave")

    def snapshot():
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}

    before, seq = snapshot(), manager.reader.changes(0).seq
    manager.reader.sessions()
    manager.reader.steps.trajectory(session.id)
    manager.reader.steps.messages(session.id)
    manager.reader.explain(session.id)
    manager.reader.processes(session.id)
    manager.housekeeping.settle()
    assert snapshot() == before
    assert manager.reader.changes(seq).updated == ()


@pytest.mark.smoke
def test_files_are_private(manager, wait_until):
    session = manager.wait([manager.run(["echo", "secret"]).id], timeout=60)[0]
    folder = manager.reader.home / "sessions" / session.id
    lock = manager.layout.session(session.id).lock
    wait_until(lambda: not runner_lock.is_held(lock), what="the runner, which writes files, to be gone")
    for path in [manager.reader.home, folder, *folder.rglob("*"), *manager.reader.home.glob("agentdash.db*")]:
        assert path.stat().st_mode & 0o077 == 0, path


def test_an_agent_never_reads_from_the_terminal(manager):
    session = manager.wait([manager.run(["cat"]).id], timeout=60)[0]
    assert session.status is Status.DONE
    assert Path(manager.reader.outputs.part(session.id).path).read_bytes() == b""


def test_an_agent_that_floods_its_output_is_stopped(manager, leftovers, wait_until):
    session = start(manager, "yes", "x" * 5_000)  # long lines: many short ones take seconds to count
    wait_until(lambda: manager.reader.outputs.part(session.id).path.stat().st_size > 5_000_000, what="a flood of 5 MB")
    receipt = manager.stop(session.id)
    assert [e.signal for e in receipt.ended] == ["SIGINT"]
    assert leftovers(session.id) == []
    assert manager.reader.get(session.id).status is Status.STOPPED
    manager.delete(session.id)
    shutil.rmtree(manager.reader.home / "trash" / session.id)


def test_hostile_lines_and_an_unknown_status_hide_no_session(manager, tmp_path):
    lines = [
        b"42",
        b'"' + b"x" * 5_000_000 + b'"',
        b'{"type":"item.completed","item":{"type":"agent_message","text":"\xff\xfe bad"}}',
        '{"type":"new.event","text":"a\u2028b"}'.encode(),
        b'{"type":"nul","text":"a\x00b"}',
        b'{"type":"torn","te',
    ]
    file = tmp_path / "hostile.jsonl"
    file.write_bytes(b"\n".join(lines))
    hostile = manager.run(["cat", str(file)])
    other = manager.run(["echo", "fine"])
    manager.wait([hostile.id, other.id], timeout=60)

    assert {s.id for s in manager.reader.sessions()} == {hostile.id, other.id}
    steps = [
        step
        for step in manager.reader.steps.trajectory(hostile.id)
        if step.kind not in (StepKind.PROMPT, StepKind.START)
    ]
    assert len(steps) == len(lines)
    assert manager.reader.outputs.part(hostile.id).read() == file.read_bytes()
    for agent in ("codex", "claude"):
        assert [step.kind for step in read(file, agent)].count(StepKind.UNKNOWN) >= 5

    with sqlite3.connect(manager.reader.home / "agentdash.db") as database:
        database.execute("UPDATE sessions SET status = 'dancing' WHERE id = ?", (hostile.id,))
    found = {s.id: s for s in manager.reader.sessions()}
    assert found[other.id].status is Status.DONE
    assert (found[hostile.id].status, found[hostile.id].reason) == (
        Status.LOST,
        "the store has an unknown status: dancing",
    )
