"""The demo agent works inside a demo and nowhere else, and never replaces a file that is not its own."""

import json
import shutil
from pathlib import Path

import pytest

from agentdash.sessions.agents.demo.place import MARK, find_demo, make_demo, mark_demo
from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.model.session import StepKind, StepStatus
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.lifecycle.recovery.rebuild import rebuild
from agentdash.sessions.service.lifecycle.stop_family import NOW
from agentdash.sessions.transcript.worker_steps import started_by
from agentdash.tui.cli.main import run

REFUSED = "The demo agent works only inside `agentdash demo`."


@pytest.fixture
def old_demo(manager, tmp_path):
    """A demo session in a state folder that is no demo's any more."""
    mark_demo(manager.reader.home, tmp_path)
    [session] = manager.wait(
        [manager.spawn(Start("hello [[demo:fail]]", agent="demo", options={"speed": 900})).id], timeout=60
    )
    (manager.reader.home / MARK).unlink()
    return session


def changes_of(manager, session):
    return [step for step in manager.reader.steps.trajectory(session.id) if step.kind is StepKind.FILE_CHANGE]


def test_a_file_that_is_there_is_left_alone_and_the_step_says_so(manager, demo_agent, tmp_path):
    clock = tmp_path / "src" / "clock.py"
    clock.parent.mkdir()
    clock.write_text("# my precious real clock\n")
    started = manager.spawn(Start("go", agent="demo", options={"script": "done", "speed": 100}))
    [session] = manager.wait([started.id], timeout=60)
    refused, written = changes_of(manager, session)
    assert clock.read_text() == "# my precious real clock\n"
    assert refused.status is StepStatus.FAILED
    assert refused.output == "clock.py exists and is not the demo's: not overwritten"
    assert (written.status, session.status) == (StepStatus.OK, "done")


def test_its_own_file_is_replaced_unless_somebody_changed_it(manager, demo_agent, tmp_path):
    def again(prompt):
        return manager.wait([manager.spawn(Start(prompt, agent="demo")).id], timeout=60)[0]

    first, second = (changes_of(manager, again("x [[demo:quick]]")) for _ in range(2))
    assert [step.status for step in first + second] == [StepStatus.OK] * 4
    (tmp_path / "demo.txt").write_text("mine now")
    assert [step.status for step in changes_of(manager, again("x [[demo:quick]]"))] == [StepStatus.FAILED] * 2
    assert (tmp_path / "demo.txt").read_text() == "mine now"


def test_a_link_out_of_its_folder_is_not_followed(manager, tmp_path):
    projects, outside = tmp_path / "projects", tmp_path / "outside"
    for folder in (projects, outside):
        folder.mkdir()
    place = mark_demo(manager.reader.home, projects)
    (projects / "src").symlink_to(outside)
    with pytest.raises(PermissionError):
        place.write(projects / "src" / "clock.py", "x")
    (projects / "to").symlink_to(outside / "new.txt")
    with pytest.raises(OSError, match="to"):
        place.write(projects / "to", "x")
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
@pytest.mark.parametrize("agent", ["demo", "codex-demo", "claude-demo"])
def test_spawn_refuses_it_in_a_normal_state_folder(manager, capsys, agent, dry):
    assert run(["spawn", "--agent", agent, *dry, "x"]) == 2
    assert capsys.readouterr().err == f"agentdash: {REFUSED}\n"
    assert manager.reader.sessions() == []


def test_it_is_neither_completed_nor_listed_in_a_normal_state_folder(manager, tmp_path, monkeypatch):
    from agentdash.tui.cli.commands.starting.options import complete_agents

    assert complete_agents(None, None, "") == ["codex", "claude", "command"]
    assert [agent.name for agent in manager.reader.settings.agents()] == ["codex", "claude"]
    mark_demo(manager.reader.home, tmp_path)
    assert {"demo", "codex-demo", "claude-demo"} <= {*complete_agents(None, None, "")}
    assert [agent.name for agent in manager.reader.settings.agents()] == ["codex-demo", "claude-demo"]


def test_it_works_only_in_folders_of_the_demo(manager, tmp_path):
    (tmp_path / "projects").mkdir()
    mark_demo(manager.reader.home, tmp_path / "projects")
    with pytest.raises(UsageError, match=r"works only below .*/projects, not in "):
        manager.spawn(Start("x", agent="demo", cwd=str(tmp_path)))


def test_an_old_demo_session_is_read_but_goes_on_nowhere(manager, old_demo, capsys):
    for verb in (["inject", old_demo.id, "more"], ["retry", old_demo.id]):
        assert run(verb) == 2
        assert REFUSED in capsys.readouterr().err
    assert run(["trajectory", old_demo.id]) == 0
    assert run(["view", "--agent", "demo", str(manager.reader.outputs.path(old_demo.id))]) == 0
    assert "401 invalid API key" in capsys.readouterr().out


def test_the_agent_itself_refuses_where_the_mark_is_gone(manager, demo_agent):
    (manager.reader.home / MARK).rename(manager.reader.home / "elsewhere")
    from agentdash.sessions.agents.base import LaunchRequest
    from agentdash.sessions.agents.registry import agent_named

    request = LaunchRequest(prompt="x", cwd="/", session_id="0123456789abcdef")
    argv = agent_named("demo").command(request).argv
    [session] = manager.wait([manager.run(list(argv)).id], timeout=60)
    assert json.loads(manager.reader.outputs.path(session.id).read_text())["error"] == REFUSED
    assert session.exit_code == 1


def test_a_mark_holds_for_its_own_folder_alone_and_survives_a_rebuild(manager, demo_agent, tmp_path):
    shutil.copytree(manager.reader.home, tmp_path / "copy", ignore=lambda *_: ["live"])
    assert find_demo(tmp_path / "copy") is None
    manager.close()
    rebuild(manager.layout, 4)
    assert find_demo(tmp_path / "state") == demo_agent
    for text in (b"", b"{}", b"[1]", b"\xff"):
        (tmp_path / "state" / MARK).write_bytes(text)
        assert find_demo(tmp_path / "state") is None


def test_no_demo_begins_in_a_folder_that_holds_something(tmp_path):
    (tmp_path / "mine" / "projects" / "api").mkdir(parents=True)
    with pytest.raises(UsageError, match=r"contains other files\. Name a new or an empty folder\."):
        make_demo(tmp_path / "mine" / "state", tmp_path / "mine" / "projects")
    assert not (tmp_path / "mine" / "state").exists()
    made = make_demo(tmp_path / "new" / "state", tmp_path / "new" / "projects")
    (Path(made.projects) / "api").mkdir()
    assert make_demo(tmp_path / "new" / "state", tmp_path / "new" / "projects") == made


def test_without_any_agent_spawn_names_the_demo(manager, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run(["spawn", "hello"]) == 1
    told = capsys.readouterr().err
    assert "npm install -g @openai/codex" in told
    assert "No agent installed. To try agentdash without one: agentdash demo" in told


def test_a_demo_that_ends_says_one_line_and_leaves_nothing(terminal, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.delenv("AGENTDASH_HOME")
    terminal.start("agentdash demo")
    terminal.shows("Split the mono", "running")
    terminal.keys("n")
    terminal.shows("New session", "[codex-demo]", "claude-demo")
    terminal.keys("Escape", "q")
    screen = terminal.shows("exited 0", "Demo sessions removed.")
    assert screen.split("exited 0")[0].strip() == "Demo sessions removed."
    assert not list(tmp_path.glob("agentdash-demo-*"))


def test_a_lead_starts_its_workers_by_the_command_line_and_its_steps_name_them(manager, demo_agent):
    started = manager.spawn(Start("lead", agent="demo", options={"script": "lead", "speed": 100}))
    [lead] = manager.wait([started.id], timeout=120)
    workers = manager.reader.descendants(lead.id)
    manager.stop_all([one.id for one in workers], NOW)
    assert [one.title for one in workers] == [f"Port the tests of {name}" for name in ("api", "web", "auth", "infra")]
    assert {one.parent for one in workers} == {lead.id}
    steps = manager.reader.steps.each_step(lead.id)
    assert [one.id for step in steps for one in started_by(step, workers)] == [one.id for one in workers]
