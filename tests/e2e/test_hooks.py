"""The user's command on a change of state, run for real sessions by real runners."""

import contextlib
import os
import signal
import sys

import pytest

from agentdash.sessions.model.session import Status
from agentdash.sessions.runner.processes import processes, runner_lock

TELLS = """\
#!/bin/sh
env > "$TOLD.$AGENTDASH_STATUS.env"
echo "$AGENTDASH_TURN $AGENTDASH_STATUS" >> "$TOLD"
"""


class Told:
    """What the hook was told, by what it wrote down."""

    def __init__(self, path, wait_until):
        self._path = path
        self._wait_until = wait_until

    @property
    def lines(self):
        return self._path.read_text().splitlines() if self._path.exists() else []

    def until(self, *lines):
        self._wait_until(lambda: len(self.lines) >= len(lines), what=f"the hook to be told {lines}")
        assert self.lines == list(lines)

    def environment(self, status):
        path = self._path.with_name(f"{self._path.name}.{status}.env")
        return dict(line.split("=", 1) for line in path.read_text().splitlines() if "=" in line)


def use(tmp_path, *argv, timeout=60):
    words = ", ".join(f"'{word}'" for word in argv)
    (tmp_path / "config.toml").write_text(f"[notify]\nhook = [{words}]\nhook_timeout_seconds = {timeout}\n")


def script(tmp_path, text):
    path = tmp_path / "hook"
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def told(manager, tmp_path, monkeypatch, wait_until):
    monkeypatch.setenv("TOLD", str(tmp_path / "told"))
    use(tmp_path, script(tmp_path, TELLS))
    return Told(tmp_path / "told", wait_until)


def run(manager, *argv, **options):
    session = manager.run(argv, **options)
    [ended] = manager.wait([session.id], timeout=60)
    return ended


def runner_log(manager, session, wait_until, words):
    path = manager.layout.session(session.id).runner_log
    wait_until(lambda: words in path.read_text(), what=f"{words!r} in the runner's log")
    return path.read_text()


def explained(manager, session):
    return next(fact.value for fact in manager.reader.explain(session.id).facts if fact.name == "hook")


def hooks(home):
    """The living processes of hooks, keepers and all: a scan of the test's own."""
    environments = {process.pid: processes.environment(process.pid) for process in processes.scan().values()}
    own = {processes.SESSION_TAG, processes.RUNNER_MARK}
    return [
        pid
        for pid, env in environments.items()
        if env.get(processes.HOME) == str(home) and "AGENTDASH_STATUS" in env and not own & env.keys()
    ]


@pytest.fixture(autouse=True)
def no_hook_is_left(manager):
    yield
    for pid in hooks(manager.reader.home):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.smoke
def test_each_end_is_told_once_with_what_it_is_about(manager, told, tmp_path):
    session = run(manager, "sh", "-c", "exit 3", title="try \x1b[31mthis")
    told.until("1 failed")
    env = told.environment("failed")
    assert env["AGENTDASH_SESSION"] == session.id
    assert (env["AGENTDASH_AGENT"], env["AGENTDASH_STATUS"], env["AGENTDASH_TURN"]) == ("command", "failed", "1")
    assert (env["AGENTDASH_REASON"], env["AGENTDASH_TITLE"]) == (session.reason, "try this")
    assert (env["AGENTDASH_CWD"], env["AGENTDASH_HOME"]) == (str(tmp_path), str(manager.reader.home))
    assert not env.keys() & {processes.SESSION_TAG, processes.RUN_TAG, processes.RUNNER_MARK}
    assert explained(manager, session) == str(tmp_path / "hook")
    manager.prompts.retry(session.id)
    manager.wait([session.id], timeout=60)
    told.until("1 failed", "2 failed")


def test_what_is_done_or_stopped_or_cannot_start_is_told(manager, told):
    run(manager, "true")
    told.until("1 done")
    session = manager.run(["sleep", "600"])
    manager.started(session.id)
    manager.stop(session.id)
    told.until("1 done", "1 stopped")
    assert told.environment("stopped")["AGENTDASH_REASON"].startswith("stopped by you")
    run(manager, "no-such-command")
    told.until("1 done", "1 stopped", "1 failed")
    assert told.environment("failed")["AGENTDASH_REASON"].endswith("command not found")


def test_what_is_stopped_in_the_queue_is_told(manager, told, tmp_path):
    path = tmp_path / "config.toml"
    path.write_text(f"{path.read_text()}[queue]\nmax_running = 1\n")
    first = manager.run(["sleep", "600"])
    manager.started(first.id)
    second = manager.run(["true"])
    manager.stop(second.id)
    told.until("1 stopped")
    assert told.environment("stopped")["AGENTDASH_SESSION"] == second.id


def test_what_is_lost_is_told_by_whoever_finds_out(manager, told, wait_until):
    session = manager.run(["sleep", "600"])
    wait_until(lambda: manager.reader.turns(session.id)[-1].agent_pid, what="the agent to run")
    turn = manager.reader.turns(session.id)[-1]
    os.kill(turn.runner_pid, signal.SIGKILL)
    os.kill(turn.agent_pid, signal.SIGKILL)
    wait_until(lambda: not runner_lock.is_held(manager.layout.session(session.id).lock), what="the runner to be gone")
    manager.housekeeping.settle()
    assert manager.reader.get(session.id).status is Status.LOST
    told.until("1 lost")
    manager.housekeeping.settle()
    run(manager, "true")
    told.until("1 lost", "1 done")


def test_an_agent_that_is_adopted_is_told_of_once(manager, told, tmp_path, wait_until):
    os.mkfifo(tmp_path / "go")
    session = manager.run(["sh", "-c", "read line < go"])
    wait_until(lambda: manager.reader.turns(session.id)[-1].agent_pid, what="the agent to run")
    before = manager.reader.turns(session.id)[-1].runner_pid
    os.kill(before, signal.SIGKILL)
    wait_until(lambda: not runner_lock.is_held(manager.layout.session(session.id).lock), what="the runner to be gone")
    manager.housekeeping.settle()
    wait_until(lambda: manager.reader.turns(session.id)[-1].runner_pid != before, what="another runner")
    (tmp_path / "go").write_text("\n")
    [ended] = manager.wait([session.id], timeout=60)
    told.until(f"1 {ended.status}")


def test_a_command_that_is_missing_is_one_line(manager, tmp_path, wait_until):
    use(tmp_path, "/no/such/hook")
    session = run(manager, "true")
    assert session.status is Status.DONE
    log = runner_log(manager, session, wait_until, "hook on done")
    assert log == "hook on done: No such file or directory\n"
    assert explained(manager, session) == "/no/such/hook (hook on done: No such file or directory)"


def test_a_command_that_fails_is_one_short_line(manager, tmp_path, wait_until):
    noisy = script(
        tmp_path, "#!/bin/sh\nhead -c 300000 /dev/zero | tr '\\0' 'x'\nprintf '\\033]0;no\\007\\n' >&2\nexit 7\n"
    )
    use(tmp_path, noisy)
    session = run(manager, "true")
    log = runner_log(manager, session, wait_until, "hook on done")
    assert log.startswith("hook on done: exit 7: xxx")
    assert log.count("\n") == 1
    assert len(log) < 600


def test_a_hook_is_none_of_the_agents_processes_and_holds_nobody_up(manager, tmp_path, wait_until):
    os.mkfifo(tmp_path / "go")
    use(
        tmp_path,
        script(tmp_path, f"#!/bin/sh\ntouch {tmp_path}/begun\nsetsid sleep 600 &\nread line < {tmp_path}/go\n"),
        timeout=600,
    )
    # What the agent leaves keeps the runner; the hook is its child, and is not counted.
    session = run(manager, "sh", "-c", "sleep 600 & echo hello")
    wait_until((tmp_path / "begun").exists, what="the hook to begin")
    wait_until(lambda: len(hooks(manager.reader.home)) == 3, what="the keeper, the hook and its child")
    assert [process.command for process in manager.reader.processes(session.id)] == ["sleep 600"]
    receipt = manager.stop(session.id)
    assert [process.command for process in receipt.ended] == ["sleep 600"]
    assert len(hooks(manager.reader.home)) == 3, "the stop must not have touched the hook"
    manager.prompts.retry(session.id)
    [ended] = manager.wait([session.id], timeout=60)
    assert (ended.turn, ended.status) == (2, Status.DONE)


def test_after_its_time_nothing_of_a_hook_is_left(manager, tmp_path, wait_until):
    text = f"#!/bin/sh\ntrap '' TERM INT\nsetsid sleep 600 &\n(sleep 600 &)\necho begun > {tmp_path}/begun\nsleep 600\n"
    use(tmp_path, script(tmp_path, text), timeout=1)
    session = run(manager, "true")
    log = runner_log(manager, session, wait_until, "hook on done")
    assert log == "hook on done: killed after 1 s\n"
    assert (tmp_path / "begun").exists()
    wait_until(lambda: not hooks(manager.reader.home), what="the hook to be gone")


def test_a_session_that_a_hook_starts_outlives_it(manager, tmp_path, wait_until):
    once = f"[ -e {tmp_path}/once ] && exit\ntouch {tmp_path}/once\n"
    starts = f"{sys.executable} -m agentdash run -- sleep 600\n"
    use(tmp_path, script(tmp_path, f"#!/bin/sh\n{once}{starts}sleep 600\n"), timeout=3)
    first = run(manager, "true")
    runner_log(manager, first, wait_until, "killed after 3 s")
    [second] = [session for session in manager.reader.sessions() if session.id != first.id]
    wait_until(lambda: manager.reader.get(second.id).status is Status.RUNNING, what="the session of the hook at work")
    assert second.parent is None
    assert manager.stop(second.id).left == ()


def test_a_hook_runs_in_no_folder_of_an_agent(manager, tmp_path, wait_until):
    use(
        tmp_path, script(tmp_path, f"#!/bin/sh\npwd > {tmp_path}/where.new; mv {tmp_path}/where.new {tmp_path}/where\n")
    )
    run(manager, "true")
    wait_until((tmp_path / "where").exists, what="the hook")
    assert (tmp_path / "where").read_text() == "/\n"
