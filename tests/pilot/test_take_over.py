"""The agent's own interface from the dashboard: the key, the refusal, and a session that is open there."""

from contextlib import nullcontext
from pathlib import Path
from time import monotonic
from types import SimpleNamespace

import pytest
from factories import T0
from msgspec import json, structs
from textual.app import App, SuspendNotSupported

from agentdash.sessions.model.errors import Remedy, SessionBusyError
from agentdash.sessions.model.session import Status, Step, StepKind, TakenBy
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.settings.config import DashboardSettings
from agentdash.tui.dialogs.asking.confirm import ConfirmScreen
from agentdash.tui.dialogs.queue import QueueScreen
from agentdash.tui.keys.availability import possible
from agentdash.tui.services import pager_editor
from pilot.examples import session
from pilot.house import failing

TAKEN = TakenBy(
    host="here", user="ann", tty="pts/3", since=T0, pid=7, start=7, boot_id="b", pid_ns="n", run_id="r", turn=2,
    argv=("codex",), talks=(),
)  # fmt: skip
CONVERSATION = "11111111-2222-4333-8444-555555555555"


@pytest.fixture(autouse=True)
def transcript(manager):
    """The agent's transcript of its conversation."""
    manager.put(structs.replace(manager.get("done0001"), agent_session=CONVERSATION))
    path = Path("~/.claude/projects/api").expanduser() / f"{CONVERSATION}.jsonl"
    path.parent.mkdir(parents=True)
    path.touch()
    return path


@pytest.fixture
def opened(monkeypatch, transcript):
    """The interfaces that had the terminal for four minutes, in which two prompts were typed."""
    ran = []

    def run(argv, cwd, **_):
        ran.append((argv[0], CONVERSATION in argv, cwd))
        typed = [Step(turn=4, index=n, kind=StepKind.PROMPT, text="go on") for n in range(2)]
        transcript.write_bytes(b"".join(json.encode(step) + b"\n" for step in typed))
        later = SimpleNamespace(time_ns=lambda: (T0 + 240_000) * 1_000_000, monotonic=monotonic)
        monkeypatch.setattr("agentdash.sessions.model.clock.time", later)
        return 0

    monkeypatch.setattr(pager_editor, "run", run)
    monkeypatch.setattr(App, "suspend", lambda _: nullcontext())
    return ran


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (50, 24)])
async def test_the_interface_opens_on_the_row_and_the_row_stays_selected(dashboard, opened, manager, size):
    async with dashboard(size=size) as d:
        await d.select("done0001")
        await d.press("H")
        await d.shows("2 prompts by hand, 4m: turn 4.")
        assert opened == [("claude", True, manager.get("done0001").cwd)]
        assert d.main.current.id == "done0001"


async def test_a_refusal_is_shown_and_nothing_is_opened(dashboard, opened, manager, monkeypatch):
    refusal = SessionBusyError("Processes of s are still running.", Remedy.STOP, "Stop them: agentdash stop s")
    monkeypatch.setattr(manager, "take_over", failing(refusal))
    async with dashboard() as d:
        await d.select("done0001")
        await d.press("H")
        await d.shows("Processes of s are still running. x to stop them.")
        assert opened == []


async def test_a_terminal_that_cannot_be_given_away_frees_the_session(dashboard, opened, manager, monkeypatch):
    def unsupported(_):
        raise SuspendNotSupported

    monkeypatch.setattr(App, "suspend", unsupported)
    async with dashboard() as d:
        await d.select("done0001")
        await d.press("H")
        await d.shows("Cannot give the terminal to claude.")
        assert manager.get("done0001").taken_by is None
        assert opened == []


@pytest.mark.usefixtures("opened")
async def test_a_program_that_cannot_be_started_is_named_and_the_session_is_free(dashboard, manager, monkeypatch):
    def missing(argv, cwd, **_):
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(pager_editor, "run", missing)
    async with dashboard() as d:
        await d.select("done0001")
        await d.press("H")
        await d.shows("claude could not be started")
        assert manager.get("done0001").taken_by is None


@pytest.mark.parametrize("size", [(160, 45), (80, 24)])
async def test_a_session_that_is_taken_over_names_its_holder(dashboard, manager, size):
    async with dashboard(size=size) as d:
        await d.select("done0001")
        manager.put(structs.replace(manager.get("done0001"), taken_by=TAKEN))
        await d.shows("by hand (pts/3")


async def test_a_read_only_dashboard_opens_nothing(dashboard, opened):
    async with dashboard(settings=DashboardSettings(read_only=True)) as d:
        await d.press("H")
        await d.shows("read-only")
        assert opened == []


@pytest.mark.parametrize("key", ["H", "x", "D", "A"])
@pytest.mark.parametrize("size", [(160, 45), (80, 24), (50, 24)], ids=str)
async def test_keys_that_would_disturb_the_holder_are_refused_at_once_with_the_name(dashboard, manager, size, key):
    async with dashboard(size=size) as d:
        await d.select("done0001")
        taken = structs.replace(TAKEN, host=processes.host_name())
        manager.put(structs.replace(manager.get("done0001"), taken_by=taken))
        await d.shows("by hand (pts/3")
        before = manager.rows()
        await d.press(key)
        await d.shows("by hand: ann (pts/3).")  # a narrow line loses its middle, never the holder
        assert not isinstance(d.app.screen, ConfirmScreen)
        assert manager.rows() == before


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (50, 24)], ids=str)
async def test_the_row_the_counts_and_the_headline_show_that_it_is_by_hand(dashboard, manager, size):
    async with dashboard(size=size) as d:
        await d.select("done0001")
        manager.put(structs.replace(manager.get("done0001"), taken_by=TAKEN))
        await d.shows("✎ 1")
        (row,) = [line for line in d.text().splitlines() if line.lstrip().startswith("✎") and "✎ 1" not in line]
        assert "✓" not in row
        await d.press("enter")
        await d.shows("✎ by hand")


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (50, 24)], ids=str)
async def test_the_queue_names_who_has_the_session_by_hand(dashboard, manager, size):
    async with dashboard(size=size) as d:
        manager.put(structs.replace(manager.get("done0001"), taken_by=TAKEN))
        manager.prompts.inject("done0001", "then this")
        await d.select("done0001")
        await d.shows(" +1 ")
        await d.press("Q")
        await d.screen(QueueScreen)
        await d.shows("by hand     then this")
        await d.shows("─ by hand: ann (pts/3) ")


def test_only_an_idle_session_offers_it():
    idle = session("s1", Status.DONE, "t", created=1)
    assert possible("take_over", idle)
    refused = ({"taken_by": TAKEN}, {"deleted_at": 1}, {"status": Status.RUNNING}, {"agent": "command"})
    assert [possible("take_over", structs.replace(idle, **own)) for own in refused] == [False] * 4


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (50, 24)])
async def test_the_question_before_a_deletion_names_the_holder_on_another_machine(dashboard, manager, size):
    async with dashboard(size=size) as d:
        await d.select("done0001")
        manager.put(structs.replace(manager.get("done0001"), taken_by=structs.replace(TAKEN, host="gone-machine")))
        await d.shows("by hand (pts/3")
        await d.press("D")
        await d.shows("gone-machine")
        await d.shows("ann (pts/3)")
        await d.press("y")
        await d.until(lambda: manager.trash() == {"done0001"})


async def test_the_archive_says_who_had_the_session_on_another_machine(dashboard, manager):
    async with dashboard() as d:
        await d.select("done0001")
        manager.put(structs.replace(manager.get("done0001"), taken_by=structs.replace(TAKEN, host="gone-machine")))
        await d.shows("by hand (pts/3")
        await d.press("A")
        await d.shows("u to undo. Open by hand on gone-machine: ann (pts/3)")
