"""Stops of the real codex and claude at awkward moments: always a receipt, never anything left."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from repetition import repeated

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.runner.processes import processes

pytestmark = pytest.mark.real

MINUTE = 60
ATTEMPTS = 5
CODEX_MODES = ["workspace-write", "read-only", "danger-full-access"]
SECONDS_INTO_A_COMMAND = repeated((0, 3), (0, 1, 2, 3, 4))
CLAUDE_STARTS_MS = range(600, 1001, repeated(200, 50))
"""During its start claude can swallow a SIGINT (docs/protocols/claude.md, "Signals")."""


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def found(manager, session, text):
    return next((p for p in manager.reader.processes(session.id) if text in p.command), None)


def stopped(manager, session):
    """Stop it; what was known of it before, and the receipt."""
    before = {
        (p.pid, processes.by_pid(p.pid).start) for p in manager.reader.processes(session.id) if processes.by_pid(p.pid)
    }
    return before, manager.stop(session.id)


def check(manager, session, before, receipt, leftovers):
    assert receipt.left == ()
    assert receipt.ended
    assert not [pid for pid, start in before if processes.alive(pid, start)]
    assert leftovers(session.id) == []
    assert manager.reader.get(session.id).status is Status.STOPPED
    assert manager.reader.get(session.id).reason.startswith("stopped by you; ")


def lost_its_helper(session):
    """Whether codex's own transcript says that the sandbox could not be started."""
    [transcript] = Path(os.environ["CODEX_HOME"]).glob(f"sessions/**/*{session.agent_session}.jsonl")
    return "codex-linux-sandbox: No such file" in transcript.read_text()


@pytest.mark.torture
@pytest.mark.parametrize("sandbox", CODEX_MODES)
def test_codex_is_stopped_in_each_of_the_first_seconds_of_a_command(
    manager, codex_env, project, leftovers, wait_until, sandbox
):
    stop_in_the_first_seconds(manager, "codex", project, leftovers, wait_until, {"sandbox": sandbox})


@pytest.mark.torture
def test_claude_is_stopped_in_each_of_the_first_seconds_of_a_command(
    manager, claude_env, project, leftovers, wait_until
):
    stop_in_the_first_seconds(
        manager, "claude", project, leftovers, wait_until, {"permission_mode": "bypassPermissions"}
    )


def stop_in_the_first_seconds(manager, agent, project, leftovers, wait_until, options):
    def one(second):
        # Of several codex (0.169.0) that start in the same moment one may take the sandbox's helper from another, whose
        # command then fails at once: that one is started again.
        for _ in range(ATTEMPTS):
            session = manager.spawn(Start("[[fake:sleep600]] go", agent=agent, cwd=str(project), options=options))

            def so_far(session=session):
                command = found(manager, session, "sleep 600")
                return (command is not None and (command.age_s or 0) >= second) or manager.reader.get(
                    session.id
                ).status.ended

            wait_until(so_far, timeout=2 * MINUTE, what=f"second {second} of the command")
            if not manager.reader.get(session.id).status.ended:
                return session, *stopped(manager, session)
            assert lost_its_helper(manager.reader.get(session.id)), "the command must not end by itself"
        return pytest.fail(f"codex had no helper in {ATTEMPTS} attempts")

    with ThreadPoolExecutor(len(SECONDS_INTO_A_COMMAND)) as pool:
        for session, before, receipt in pool.map(one, SECONDS_INTO_A_COMMAND):
            assert any("sleep 600" in ended.command for ended in receipt.ended)
            check(manager, session, before, receipt, leftovers)


@pytest.mark.torture
def test_claude_is_stopped_at_any_moment_of_its_start(manager, claude_env, project, leftovers, wait_until):
    for after_ms in CLAUDE_STARTS_MS:
        session = manager.started(manager.spawn(Start("[[fake:sleep600]] go", agent="claude", cwd=str(project))).id)
        agent = manager.reader.turns(session.id)[-1].agent_pid
        wait_until(
            lambda pid=agent, age=after_ms / 1000: (processes.age_seconds(processes.by_pid(pid)) or 0) >= age,
            what=f"{after_ms} ms after the start",
        )
        before, receipt = stopped(manager, session)
        check(manager, session, before, receipt, leftovers)


def test_an_agent_that_waits_for_its_model_is_stopped(manager, agent, project, leftovers, wait_until):
    session = manager.spawn(Start("[[fake:hang_after_tool]] go", agent=agent, cwd=str(project)))
    wait_until(
        lambda: "before-hang" in manager.reader.outputs.part(session.id).read().decode(),
        timeout=MINUTE,
        what="the first command",
    )
    before, receipt = stopped(manager, session)
    check(manager, session, before, receipt, leftovers)


def test_a_real_agent_that_hangs_is_stopped_by_its_limit(manager, agent, project, leftovers):
    options = {"limits": {"silence_seconds": 3}}
    session = manager.spawn(Start("[[fake:hang]] go", agent=agent, cwd=str(project), options=options))
    [ended] = manager.wait([session.id], timeout=2 * MINUTE)
    assert ended.status is Status.STOPPED
    assert ended.reason.startswith("stopped by its limit: no output for 3s; ")
    assert leftovers(session.id) == []


def test_more_real_agents_than_places_all_get_their_turn(manager, codex_env, project, tmp_path):
    (tmp_path / "config.toml").write_text("[queue]\nmax_running = 2\n")
    sessions = manager.spawn_copies(Start("[[fake:plain]] go", agent="codex", cwd=str(project), copies=5))
    ended = manager.wait([session.id for session in sessions], timeout=3 * MINUTE)
    assert [session.status for session in ended] == [Status.DONE] * 5
