"""What a supervisor must not be fooled by: strangers, processes that hide, records that are gone."""

import os
import shlex
import shutil
import signal
import subprocess
import sys

import pytest

from agentdash.sessions.model.errors import SessionBusyError, StoreError, UsageError
from agentdash.sessions.model.session import Status, StepKind
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.runner.processes import processes, runner_lock
from agentdash.sessions.runner.processes.process_ownership import SessionProcesses

pytestmark = pytest.mark.usefixtures("scripted_agent")

CODEX_THAT_STAYS = """#!/bin/sh
echo '{"type":"thread.started","thread_id":"0199a213-81c0-7800-8aa1-bbab2a035a53"}'
echo '{"type":"turn.started"}'
echo '{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"fine"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":2}}'
exec sleep 700
"""


def test_a_process_group_that_may_be_a_strangers_is_spared(tmp_path):
    """Its number was the agent's; the agent ended, the number came round, and its new leader ended too."""
    stranger = subprocess.Popen(["sh", "-c", "sleep 901 & echo $!"], stdout=subprocess.PIPE, start_new_session=True)
    assert stranger.stdout is not None
    child = int(stranger.stdout.readline())
    stranger.wait()
    try:
        assert processes.by_pid(stranger.pid) is None
        living = SessionProcesses("0123456789abcdef", tmp_path / "runner.lock", tmp_path / "procs.json")
        living.agent = (stranger.pid, 1)
        assert child not in {process.pid for process in living.find().values()}
    finally:
        os.kill(child, signal.SIGKILL)


def test_what_pretends_to_be_a_runner_is_ended_all_the_same(manager, leftovers, wait_until):
    script = "AGENTDASH_RUNNER=/x setsid sleep 813 & sleep 814"
    session = manager.started(manager.run(["sh", "-c", script]).id)
    wait_until(lambda: len(leftovers(session.id)) == 3, what="three processes")
    receipt = manager.stop(session.id)
    assert len(receipt.ended) == 3
    assert leftovers(session.id) == []


def test_a_runner_that_inherits_anothers_agent_leaves_it_alone(manager, leftovers, wait_until):
    """It is the subreaper of what was started inside its session: a killed inner runner's agent becomes its child."""
    inside = f"{sys.executable} -m agentdash run -- sh -c 'setsid sleep 711 & sleep 710'; sleep 709"
    outer = manager.started(manager.run(["sh", "-c", inside]).id)
    inner = wait_until(
        lambda: next((s for s in manager.reader.sessions() if s.parent == outer.id), None), what="the inner one"
    )
    wait_until(lambda: len(manager.reader.processes(inner.id)) == 3, what="its processes")
    turn = manager.reader.turns(inner.id)[-1]
    processes.send_kill(processes.by_pid(turn.runner_pid))
    wait_until(lambda: processes.by_pid(turn.agent_pid).parent != turn.runner_pid, what="the agent to be inherited")
    assert len(manager.reader.processes(inner.id)) == 3
    receipt = manager.stop(outer.id)
    assert not [ended for ended in receipt.ended if ended.command in ("sleep 710", "sleep 711")]
    assert len(leftovers(inner.id)) == 3
    assert len(manager.stop(inner.id).ended) == 3
    assert leftovers(inner.id) == []


def test_what_is_left_is_ended_also_after_a_queued_turn_was_cancelled(manager, tmp_path, leftovers):
    session = manager.run(["sh", "-c", "sleep 843 & exit 1"])
    [failed] = manager.wait([session.id], timeout=60)
    assert failed.left == 1
    (tmp_path / "config.toml").write_text("[queue]\nmax_running = 1\n")
    manager.started(manager.run(["sleep", "600"]).id)
    manager.prompts.retry(session.id)
    assert manager.reader.get(session.id).status is Status.QUEUED
    receipt = manager.stop(session.id)
    assert [ended.command for ended in receipt.ended] == ["sleep 843"]
    assert leftovers(session.id) == []


def test_a_live_session_without_its_folder_harms_no_other(manager, wait_until):
    broken = manager.started(manager.run(["sleep", "600"]).id)
    turn = manager.reader.turns(broken.id)[-1]
    processes.send_kill(processes.by_pid(turn.runner_pid))
    wait_until(lambda: not processes.alive(turn.runner_pid, turn.runner_start), what="the runner's end")
    shutil.rmtree(manager.reader.home / "sessions" / broken.id)
    [other] = manager.wait([manager.run(["true"]).id], timeout=60)
    assert other.status is Status.DONE
    receipt = manager.stop(broken.id)
    assert [ended.pid for ended in receipt.ended] == [turn.agent_pid]
    assert manager.reader.get(broken.id).status is Status.STOPPED


def test_a_session_whose_folder_was_removed_after_its_end_can_be_tried_again(manager, wait_until):
    [failed] = manager.wait([manager.run(["false"]).id], timeout=60)
    lock = manager.layout.session(failed.id).lock
    wait_until(lambda: not runner_lock.is_held(lock), what="the runner to leave")
    shutil.rmtree(manager.reader.home / "sessions" / failed.id)
    manager.prompts.retry(failed.id)
    [again] = manager.wait([failed.id], timeout=60)
    assert (again.turn, again.status) == (2, Status.FAILED)


def test_an_open_request_of_an_earlier_turn_does_not_stop_the_next(manager):
    [first] = manager.wait([manager.spawn(Start("hello [[script:quick]]", agent="scripted")).id], timeout=60)
    manager.store.request(first.id, 1, "stop", "you")
    manager.prompts.inject(first.id, "more [[script:quick]]")
    [second] = manager.wait([first.id], timeout=60)
    assert second.status is Status.DONE


def test_a_signal_without_a_name_is_a_reason_like_any_other(manager):
    [ended] = manager.wait([manager.run(["sh", "-c", f"kill -{signal.SIGRTMIN + 1} $$"]).id], timeout=60)
    assert (ended.status, ended.signal) == (Status.FAILED, f"SIG{signal.SIGRTMIN + 1}")


def test_a_command_that_cannot_be_one_is_a_visible_failure(manager):
    session = manager.spawn(Start("x", agent="scripted", options={"args": ["a\0b"]}))
    [ended] = manager.wait([session.id], timeout=60)
    assert ended.status is Status.FAILED
    assert "null byte" in ended.reason


@pytest.mark.parametrize("kill_runner", [False, True])
def test_a_stop_after_the_final_event_leaves_the_turn_done(manager, tmp_path, wait_until, kill_runner):
    agent = tmp_path / "codex-that-stays"
    agent.write_text(CODEX_THAT_STAYS)
    agent.chmod(0o755)
    session = manager.spawn(Start("x", agent="codex", options={"live": False, "bin": str(agent)}))
    wait_until(lambda: manager.reader.get(session.id).status is Status.FINISHING, what="the final event")
    if kill_runner:
        turn = manager.reader.turns(session.id)[-1]
        processes.send_kill(processes.by_pid(turn.runner_pid))
        wait_until(lambda: not runner_lock.is_held(manager.layout.session(session.id).lock), what="the runner's end")
    receipt = manager.stop(session.id)
    ended = manager.reader.get(session.id)
    assert (ended.status, len(receipt.ended)) == (Status.DONE, 1)
    assert "the process stayed after its final event and was ended" in ended.reason


def test_a_chatty_leftover_keeps_nobody_busy(manager, wait_until):
    session = manager.run(["sh", "-c", "(while :; do echo x; sleep 0.01; done) & exit 0"])
    manager.wait([session.id], timeout=60)
    wait_until(lambda: manager.reader.get(session.id).left > 0, what="the runner to count what is left")
    output = manager.reader.outputs.part(session.id).path
    version, size = manager.store.data_version(), output.stat().st_size
    wait_until(lambda: output.stat().st_size > size + 200, what="a hundred lines")
    assert manager.store.data_version()[1] - version[1] <= 1


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda manager: manager.run(["echo", "\udcff"]), "The command is not UTF-8 text"),
        (lambda manager: manager.run(["echo", "a\0b"]), "The command contains a NUL byte"),
        (lambda manager: manager.run(["true"], cwd="/tmp/\udcff"), "The folder is not UTF-8 text"),
        (lambda manager: manager.run(["true"], cwd="~nobody-of-this-name/x"), "Could not determine home directory"),
        (lambda manager: manager.spawn(Start("x", agent="scripted", title="\udcff")), "The title is not UTF-8 text"),
    ],
)
def test_what_cannot_be_recorded_is_refused_and_leaves_nothing(manager, call, told):
    with pytest.raises(UsageError, match=told):
        call(manager)
    assert manager.reader.sessions() == []
    assert list((manager.reader.home / "sessions").iterdir()) == []


def test_a_folder_that_was_deleted_under_us(manager, tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(UsageError, match="The current folder no longer exists"):
        manager.run(["true"])
    monkeypatch.chdir(tmp_path)


def test_one_folder_has_one_name(manager, tmp_path):
    (tmp_path / "code").mkdir()
    session = manager.run(["true"], cwd=str(tmp_path / "code" / ".." / "code"))
    assert session.cwd == str(tmp_path / "code")


def test_a_session_of_another_machine_is_refused_at_once(manager):
    session = manager.started(manager.run(["sleep", "600"]).id)
    with manager.store.database.transaction() as db:
        db.execute("UPDATE sessions SET host = 'elsewhere'")
        db.execute("UPDATE turns SET boot_id = 'another boot'")
    with pytest.raises(SessionBusyError, match="runs on elsewhere; stop it there"):
        manager.stop(session.id)
    with manager.store.database.transaction() as db:
        db.execute("UPDATE sessions SET host = ?", (processes.host_name(),))
        db.execute("UPDATE turns SET boot_id = ?", (processes.boot_id(),))


def test_signals_reach_their_process_where_the_kernel_has_no_pidfd(monkeypatch):
    def missing(pid):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(os, "pidfd_open", missing)
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    assert processes.send_kill(processes.by_pid(child.pid))
    assert child.wait() == -signal.SIGKILL


def test_a_damaged_database_says_what_to_do(manager, database_at_rest):
    manager.wait([manager.run(["true"]).id], timeout=60)
    database_at_rest().write_bytes(os.urandom(100_000))
    with pytest.raises(StoreError, match="agentdash doctor --rebuild"):
        manager.reader.sessions()
    for name in ("agentdash.db", "agentdash.db-wal", "agentdash.db-shm"):
        (manager.reader.home / name).unlink(missing_ok=True)


@pytest.mark.parametrize(
    ("argv", "reason", "told"),
    [
        (
            ["sh", "-c", "echo 'error: unknown option --x' >&2; echo 'usage: y' >&2; exit 2"],
            "exit 2: usage: y",
            ["error: unknown option --x", "usage: y"],
        ),
        (["/etc/passwd"], "permission denied", [""]),
        (["no-such-program-here", "--flag"], "no-such-program-here: command not found", [""]),
    ],
)
def test_a_start_that_failed_shows_reason_command_and_stderr(manager, argv, reason, told):
    [failed] = manager.wait([manager.run(argv).id], timeout=60)
    assert failed.status is Status.FAILED
    assert reason in failed.reason
    last = manager.reader.steps.trajectory(failed.id)[-1]
    assert (last.kind, last.fatal) == (StepKind.ERROR, True)
    assert reason in last.text
    assert (last.command, (last.output or "").split("\n")) == (shlex.join(argv), told)


def test_an_error_that_the_agent_told_itself_is_not_told_twice(manager):
    [failed] = manager.wait(
        [manager.spawn(Start("x [[script:fail]]", agent="scripted", options={"speed": 1000.0})).id], timeout=60
    )
    errors = [step for step in manager.reader.steps.trajectory(failed.id) if step.kind is StepKind.ERROR and step.fatal]
    assert [step.text for step in errors] == [failed.reason]


@pytest.mark.parametrize("tag", ["", ".", "..", "/tmp", "x" * 300, "a/b"])
def test_a_tag_that_is_no_id_spares_nobody_and_harms_nobody(manager, tmp_path, wait_until, tag):
    (tmp_path / "other" / "sessions").mkdir(parents=True)
    stray = subprocess.Popen(
        ["sleep", "60"], env={"AGENTDASH_SESSION_ID": tag, "AGENTDASH_HOME": str(tmp_path / "other")}
    )
    try:
        session = manager.started(manager.run(["sh", "-c", f"AGENTDASH_SESSION_ID='{tag}' sleep 301 & sleep 302"]).id)
        wait_until(lambda: len(manager.reader.processes(session.id)) == 3, what="three processes")
        assert len(manager.stop(session.id).ended) == 3
        assert stray.poll() is None
    finally:
        stray.kill()
        stray.wait()


def test_an_output_limit_holds_before_the_disk_is_full(manager):
    session = manager.run(["yes", "x" * 5_000], options={"limits": {"output_mb": 20}})
    [ended] = manager.wait([session.id], timeout=60)
    assert ended.reason.startswith("stopped by its limit: printed more than 20 MB (")
    assert manager.reader.outputs.part(session.id).path.stat().st_size < 2_000_000_000


def test_stderr_counts_as_output_and_as_a_sign_of_life(manager):
    flood = ["sh", "-c", "head -c 3000000 /dev/zero >&2; sleep 600"]
    session = manager.run(flood, options={"limits": {"output_mb": 1}})
    [ended] = manager.wait([session.id], timeout=60)
    assert "printed more than 1 MB" in ended.reason
    talks = ["sh", "-c", "for i in 1 2 3 4 5 6 7 8; do echo x >&2; sleep 0.25; done"]
    [ended] = manager.wait([manager.run(talks, options={"limits": {"silence_seconds": 1}}).id], timeout=60)
    assert ended.status is Status.DONE


@pytest.mark.parametrize("limit", [{"tokens": 10}, {"cost_usd": 0.0001, "action": "warn"}])
def test_a_limit_that_was_crossed_at_the_very_end_is_told(manager, limit):
    session = manager.spawn(Start("hello [[script:quick]]", agent="scripted", options={"limits": limit}))
    [done] = manager.wait([session.id], timeout=60)
    assert done.status is Status.DONE
    assert done.reason.startswith("over limit: ")


def test_what_was_not_set_when_a_session_was_asked_for_is_not_set_when_it_runs(manager, monkeypatch, tmp_path):
    (tmp_path / "config.toml").write_text("[queue]\nmax_running = 1\n")
    agent = tmp_path / "fake-codex"
    agent.write_text('#!/bin/sh\nsleep 0.3\necho "home=$CODEX_HOME" >> seen\n')
    agent.chmod(0o755)
    monkeypatch.setenv("CODEX_HOME", "/account/a")
    first = manager.spawn(Start("x", agent="codex", options={"live": False, "bin": str(agent)}))
    monkeypatch.delenv("CODEX_HOME")
    second = manager.spawn(Start("x", agent="codex", options={"live": False, "bin": str(agent)}))
    manager.wait([first.id, second.id], timeout=60)
    assert (tmp_path / "seen").read_text() == "home=/account/a\nhome=\n"


def test_what_an_ended_session_left_is_counted_again_when_its_runner_is_gone(manager, wait_until):
    [done] = manager.wait([manager.run(["sh", "-c", "sleep 600 & exit 0"]).id], timeout=60)
    turn = manager.reader.turns(done.id)[-1]
    processes.send_kill(processes.by_pid(turn.runner_pid))
    wait_until(lambda: not runner_lock.is_held(manager.layout.session(done.id).lock), what="the runner's end")
    os.kill(turn.left[0].pid, signal.SIGKILL)
    wait_until(lambda: processes.by_pid(turn.left[0].pid) is None, what="the end of what was left")
    manager.housekeeping.settle()
    assert (manager.reader.get(done.id).left, manager.reader.get(done.id).left_note) == (0, None)


def test_an_ended_session_of_a_machine_that_is_gone_can_be_deleted(manager):
    [done] = manager.wait([manager.run(["true"]).id], timeout=60)
    with manager.store.database.transaction() as db:
        db.execute("UPDATE sessions SET host = 'its-old-name'")
        db.execute("UPDATE turns SET boot_id = 'another boot'")
    manager.delete(done.id)
    assert manager.reader.sessions() == []
