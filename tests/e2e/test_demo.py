"""`agentdash demo`: the real adapters start its codex and claude, and nothing of the user's is touched."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.lifecycle.stop_family import NOW
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.settings.config import load_config
from agentdash.sessions.transcript.worker_steps import started_by
from agentdash.tui.cli.main import run
from agentdash.tui.demo.folder import enter_demo, make_demo


@pytest.fixture
def demo(tmp_path, monkeypatch):
    """The manager of a demo at high speed."""
    for name in ("PATH", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "AGENTDASH_HOME", "AGENTDASH_CONFIG"):
        monkeypatch.setenv(name, os.environ.get(name, ""))
    make_demo(tmp_path / "demo", speed=100)
    enter_demo(tmp_path / "demo")
    (tmp_path / "demo" / "projects" / "api").mkdir()
    monkeypatch.chdir(tmp_path / "demo" / "projects" / "api")
    with SessionManager() as manager:
        yield manager
        manager.stop_family([session.id for session in manager.reader.sessions() if session.has_process], NOW)


def start(manager, prompt, agent, **options):
    return manager.wait([manager.spawn(Start(prompt, agent=agent, options=options)).id], timeout=60)[0]


@pytest.mark.parametrize("agent", ["codex", "claude"])
@pytest.mark.parametrize("live", [True, False])
def test_a_session_has_its_tokens_cost_model_and_changes(demo, agent, live):
    session = start(demo, "[[demo:quick]]", agent, live=live)
    assert session.status == "done"
    assert session.usage.total_tokens > 20_000
    assert 0.01 < (session.cost_usd or session.cost_about_usd) < 1
    assert session.model == load_config().settings_for(agent, {}).model
    steps = demo.reader.steps.trajectory(session.id)
    assert [str(step.kind) for step in steps if step.kind == "file_change"] == ["file_change"] * 2
    [used] = [step for step in steps if step.kind == "usage"]
    assert not used.whole_thread or used.turn_usage == used.usage  # else two equal sums are shown
    assert run(["changes", "--diff", session.id]) == 0


def test_a_lead_starts_its_workers_by_the_command_line_and_its_steps_name_them(demo):
    lead = start(demo, "Port the tests to pytest, one worker per folder", "codex")
    workers = demo.reader.descendants(lead.id)
    assert [one.title for one in workers] == [f"Port the tests of {name}" for name in ("api", "web", "auth", "infra")]
    assert [one.agent for one in workers] == ["claude", "codex", "claude", "codex"]
    assert {one.parent for one in workers} == {lead.id}
    steps = demo.reader.steps.each_step(lead.id)
    assert [one.id for step in steps for one in started_by(step, workers)] == [one.id for one in workers]


def test_what_a_turn_leaves_behind_is_found(demo, leftovers):
    session = start(demo, "Start a dev server and check the home page", "codex", live=False)
    assert (session.status, demo.reader.get(session.id).left) == ("done", 2)
    assert len(leftovers(session.id)) == 2
    demo.stop(session.id, NOW)
    assert leftovers(session.id) == []


@pytest.fixture
def users_home(tmp_path, monkeypatch):
    """The home of a user who has sessions, and agents of the same names as those of the demo."""
    home = tmp_path / "home"
    for name in ("state", "cache", ".codex", ".claude", "bin"):
        (home / name).mkdir(parents=True, mode=0o700)
    for agent in ("codex", "claude"):
        (home / "bin" / agent).write_text(f"#!/bin/sh\ntouch {home}/bin/called\n")
        (home / "bin" / agent).chmod(0o700)
    monkeypatch.setenv("AGENTDASH_HOME", str(home / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", "")
    monkeypatch.setenv("PATH", f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}")
    return home


def files_of(home):
    return sorted(str(path) for path in home.rglob("*") if path.name != "agentdash-scratch")


def processes_with(text):
    """Return the processes whose arguments or variables have a text."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if text.encode() in (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes():
                found.append(entry)
    return found


def test_a_demo_that_is_killed_leaves_nothing(terminal, users_home, wait_until):
    before = files_of(users_home)
    terminal.start("agentdash demo")
    terminal.shows("Split the mono", "running")
    [folder] = (users_home / "cache" / "agentdash-scratch").iterdir()
    [watcher] = [one for one in processes_with(str(folder)) if b"tui.demo.ending" in (one / "cmdline").read_bytes()]
    os.kill(int((watcher / "stat").read_text().rpartition(")")[2].split()[1]), signal.SIGKILL)
    wait_until(lambda: not folder.exists(), what="the folder to be removed")
    wait_until(lambda: not processes_with(str(folder)), what="the end of all processes")
    assert files_of(users_home) == before


INTERRUPTED = """
import sys
from agentdash.sessions.service.manager import SessionManager
from agentdash.tui import startup
from agentdash.tui.cli.main import run

def spawn(manager, start):
    if manager.reader.sessions():
        raise KeyboardInterrupt
    return first(manager, start)

first, SessionManager.spawn, startup.check_terminal = SessionManager.spawn, spawn, lambda: None
sys.exit(run(["demo"]))
"""
"""The demo, whose user presses Ctrl+C when its first session has begun."""


def test_a_demo_that_is_interrupted_while_it_starts_leaves_nothing(users_home, wait_until):
    before = files_of(users_home)
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.splitlines()[-1].strip()) == (130, "Demo sessions removed.")
    wait_until(lambda: not processes_with(f"{users_home}/cache/agentdash-scratch/"), what="the end of all processes")
    assert files_of(users_home) == before


def test_a_demo_that_ends_says_one_line_and_leaves_nothing(terminal, users_home):
    before = files_of(users_home)
    terminal.start("agentdash demo")
    terminal.shows("Split the mono", "running")
    terminal.keys("n")
    terminal.shows("New session", "[codex]", "claude")
    terminal.keys("Escape", "q")
    screen = terminal.shows("exited 0", "Demo sessions removed.")
    assert screen.split("exited 0")[0].strip() == "Demo sessions removed."
    assert files_of(users_home) == before


def test_a_folder_that_holds_something_is_refused(tmp_path, terminal):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").touch()
    terminal.start("agentdash demo --dir mine")
    terminal.shows("contains other files. Name a new or an empty folder.", "exited 2")


def test_without_any_agent_spawn_names_the_demo(manager, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run(["spawn", "hello"]) == 1
    told = capsys.readouterr().err
    assert agent_named("codex").install_hint.split("`")[1] in told
    assert "No agent installed. To try agentdash without one: agentdash demo" in told


@pytest.mark.parametrize("agent", ["codex", "claude"])
def test_a_prompt_that_a_stopped_agent_has_read_does_not_wait_again(demo, wait_until, agent):
    session = demo.spawn(Start("Split the monolith into services, step by step", agent=agent))
    wait_until(lambda: demo.reader.get(session.id).last_message)
    demo.prompts.inject(session.id, "use plain names")
    wait_until(lambda: any("You add:" in step.text for step in demo.reader.steps.each_step(session.id)))
    demo.stop(session.id, NOW)
    stopped = demo.reader.get(session.id)
    assert (stopped.status, stopped.queued, stopped.unconfirmed) == ("stopped", 0, 0)
    assert stopped.usage.known
