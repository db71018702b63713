"""The dashboard by its keys, over a manager that only remembers what it was asked."""

import asyncio
import threading
from pathlib import Path

import pytest
from msgspec import structs

from agentdash.sessions.errors import SessionBusyError, UsageError
from agentdash.sessions.manager import AgentInfo, ProcessInfo
from agentdash.sessions.model import (
    Change,
    Changes,
    Ended,
    Left,
    PlanItem,
    Receipt,
    Session,
    Status,
    Step,
    StepKind,
    StepStatus,
    Usage,
)
from agentdash.tui.app import Dashboard
from agentdash.tui.screens.confirm import ConfirmScreen
from agentdash.tui.screens.help import HelpScreen
from agentdash.tui.screens.main import MainScreen
from agentdash.tui.screens.new_session import NewSessionScreen
from agentdash.tui.screens.receipt import ReceiptScreen
from agentdash.widgets.prompt_box import PromptInput

T0 = 1_790_000_000_000
AGES = {"waiting1": 4, "failed01": 120, "done0001": 540, "running1": 1, "stopped1": 3600}


def session(sid, status, title, *, created, **own):
    facts = {
        "id": sid, "agent": "codex", "title": title, "task": title, "status": status, "cwd": "/home/ann/work/api",
        "turn": 1, "created_at": T0 - created, "updated_at": T0 - created,
        "last_event_at": T0 - 1000 * AGES.get(sid, 5), "usage": Usage.of(15_200, 3_000, 3_000, 100), "cost_usd": 0.31,
    }  # fmt: skip
    return Session(**(facts | own))


SESSIONS = [
    session("waiting1", Status.WAITING, "fix the flaky login test", created=1, turn=2,
            reason="wants to run: rm -rf build/"),
    session("failed01", Status.FAILED, "add dark mode", created=2, agent="claude", cwd="/home/ann/work/web",
            reason="401 invalid api key", cost_usd=None),
    session("done0001", Status.DONE, "write the migration", created=3, agent="claude", turn=3),
    session("running1", Status.RUNNING, "split [/red] the monolith into services", created=4),
    session("stopped1", Status.STOPPED, "rename the store", created=5),
]  # fmt: skip

STEPS = [
    Step(turn=1, index=0, kind=StepKind.PROMPT, text="fix the flaky login test in tests/login"),
    Step(turn=1, index=1, kind=StepKind.REASONING, text="The failure depends on the clock; look at the fixture first."),
    Step(turn=1, index=2, kind=StepKind.COMMAND, command="pytest -q tests/login", exit_code=1,
         at=T0, ended_at=T0 + 3200, status=StepStatus.FAILED,
         output="\n".join(f"line {n} \x1b[31mof\x1b[0m the output" for n in range(47))),
    Step(turn=1, index=3, kind=StepKind.FILE_CHANGE, status=StepStatus.OK, changes=(
        Change(path="src/clock.py", kind="update", diff="+a\n+b\n-c"),
        Change(path="tests/login/conftest.py", kind="add"))),
    Step(turn=1, index=4, kind=StepKind.TOOL_CALL, tool="search_docs", arguments={"query": "freezegun tick"},
         status=StepStatus.OK, at=T0, ended_at=T0 + 400),
    Step(turn=1, index=5, kind=StepKind.PLAN, items=(
        PlanItem(text="read the fixture", status="completed"), PlanItem(text="freeze the clock", status="in_progress"),
        PlanItem(text="run the tests", status="pending"))),
    Step(turn=1, index=6, kind=StepKind.MESSAGE,
         text="The test read the real clock. It now uses the frozen one, and a regression test covers the last "
              "second of an hour.\n\nNothing else depends on it."),
    Step(turn=1, index=7, kind=StepKind.ERROR, text="stream disconnected: retrying"),
    Step(turn=1, index=8, kind=StepKind.USAGE, usage=Usage.of(15_200, 3_000, 3_000), cost_usd=0.31),
    Step(turn=2, index=0, kind=StepKind.PROMPT, text="also add a regression test"),
    Step(turn=2, index=1, kind=StepKind.UNKNOWN, event="item.odd", text='{"type":"item.odd","x":"[red]"}'),
    Step(turn=2, index=2, kind=StepKind.COMMAND, command="rm -rf build/", status=StepStatus.RUNNING),
]  # fmt: skip


class FakeTrajectory:
    def __init__(self, steps):
        self.fresh = list(steps)
        self.closed = False

    def refresh(self):
        fresh, self.fresh = self.fresh, []
        return fresh

    def close(self):
        self.closed = True


class FakeManager:
    """Sessions in memory, by the interface of the real manager."""

    def __init__(self, home: Path, sessions=SESSIONS):
        self.home = home
        self.live_dir = home / "live"
        self.live_dir.mkdir(parents=True)
        self.calls = []
        self.seq = 0
        self.log = []
        self.lock = threading.Lock()
        self.trajectories = {}
        self.error = None
        for one in reversed(sessions):
            self.put(one)

    def put(self, one):
        with self.lock:
            self.seq += 1
            self.log.append((self.seq, one.id, one))
        (self.home / "agentdash.db-wal").write_text(str(self.seq))

    def drop(self, sid):
        with self.lock:
            self.seq += 1
            self.log.append((self.seq, sid, None))
        (self.home / "agentdash.db-wal").write_text(str(self.seq))

    def changes(self, since):
        with self.lock:
            newest = {sid: one for seq, sid, one in self.log if seq > since}
            updated = tuple(one for one in newest.values() if one is not None)
            return Changes(seq=self.seq, updated=updated, removed=tuple(s for s, one in newest.items() if one is None))

    def get(self, ref):
        return next(one for _, sid, one in reversed(self.log) if sid == ref)

    def asked(self, *call):
        self.calls.append(call)
        if self.error is not None:
            raise self.error

    def spawn(self, prompt, *, agent=None, model=None, cwd=None, title=None, options=None):
        self.asked("spawn", prompt, agent, model, cwd)
        one = session("spawned1", Status.RUNNING, prompt, created=-10, agent=agent or "codex")
        self.put(one)
        return one

    def inject(self, ref, prompt):
        self.asked("inject", ref, prompt)
        one = self.get(ref)
        self.put(structs.replace(one, status=Status.RUNNING, turn=one.turn + 1))
        return self.get(ref)

    def retry(self, ref):
        self.asked("retry", ref)
        return self.get(ref)

    def stop(self, ref, *, now=False):
        self.asked("stop", ref, now)
        self.put(structs.replace(self.get(ref), status=Status.STOPPED, reason=None))
        ended = (
            Ended(pid=4121, command="codex exec", signal="SIGINT"),
            Ended(pid=4190, command="sleep 600", signal="SIGKILL"),
        )
        left = (Left(pid=9, command="sudo x", reason="belongs to another user"),)
        return Receipt(session=ref, status=Status.STOPPED, ended=ended, left=left, duration_ms=1200)

    def delete(self, ref):
        self.asked("delete", ref)
        self.drop(ref)

    def processes(self, ref):
        return [
            ProcessInfo(pid=4121, parent=1, command="codex exec --json", age_s=60.0),
            ProcessInfo(pid=4188, parent=4121, command="bash -c 'pytest [-q]'", age_s=3.0),
            ProcessInfo(pid=4190, parent=4188, command="pytest -q", age_s=2.0),
        ]

    def open_trajectory(self, ref):
        steps = STEPS if ref == "waiting1" else [Step(turn=1, index=0, kind=StepKind.PROMPT, text=f"task of {ref}")]
        self.trajectories[ref] = FakeTrajectory(steps)
        return self.trajectories[ref]

    def agents(self):
        names = (("codex", True), ("claude", True), ("demo", True), ("gemini", False), ("command", True))
        return [AgentInfo(name=n, title=n.title(), installed=i, hint=f"npm install {n}") for n, i in names]

    def default_agent(self):
        return "codex"

    def mark_seen(self, ref):
        self.calls.append(("mark_seen", ref))

    def settle(self):
        pass


@pytest.fixture
def manager(tmp_path, monkeypatch):
    monkeypatch.setattr("agentdash.tui.app.now_ms", lambda: T0)
    monkeypatch.setenv("HOME", "/home/ann")
    return FakeManager(tmp_path / "state")


class Driver:
    """A running dashboard: keys, and waiting until something is so."""

    def __init__(self, app, pilot, manager):
        self.app, self.pilot, self.manager = app, pilot, manager

    @property
    def main(self) -> MainScreen:
        return self.app.main

    async def until(self, condition, what="it"):
        async def poll():
            while not condition():
                await self.pilot.pause(0.01)

        try:
            await asyncio.wait_for(poll(), 10)
        except TimeoutError:
            pytest.fail(f"waited in vain for {what}; the screen:\n{self.text()}")
        await self.pilot.pause()

    async def press(self, *keys):
        await self.pilot.press(*keys)

    async def screen(self, kind):
        await self.until(lambda: isinstance(self.app.screen, kind) and self.app.screen.is_mounted)
        return self.app.screen

    def text(self):
        lines = self.app.screen._compositor.render_strips()  # what is painted, as text
        return "\n".join("".join(segment.text for segment in strip) for strip in lines)

    async def shows(self, text):
        await self.until(lambda: text in self.text(), repr(text))

    async def select(self, sid):
        self.main.table.select(sid)
        await self.until(lambda: self.main.table.selected.id == sid and self.manager.trajectories.get(sid))
        await self.pilot.pause()

    async def called(self, *call):
        await self.until(lambda: call in self.manager.calls)


@pytest.fixture
def dashboard(manager):
    """An async context: the dashboard with its five sessions on the screen."""

    class Running:
        def __init__(self, size=(160, 45), **options):
            self.app = Dashboard(manager, **options)
            self.context = self.app.run_test(size=size, notifications=True)

        async def __aenter__(self):
            driver = Driver(self.app, await self.context.__aenter__(), manager)
            if manager.seq:
                await driver.until(lambda: driver.main.table.selected is not None)
            return driver

        async def __aexit__(self, *exc):
            return await self.context.__aexit__(*exc)

    return Running


async def test_the_table_shows_the_sessions_and_the_steps_of_the_first(dashboard):
    async with dashboard() as d:
        await d.shows("fix the flaky login test")
        await d.shows("wants to run: rm -rf build/")
        await d.shows("split [/red] the mono")
        await d.shows("── turn 2 ──")
        assert "1 waiting" in d.text()
        assert "1 running" in d.text()
        assert "1 failed" in d.text()
        assert "1 new" in d.text()
        assert "\x1b" not in d.text()


async def test_keys_move_the_selection(dashboard):
    async with dashboard() as d:
        at = lambda: d.main.table.selected.id  # noqa: E731
        assert at() == "waiting1"
        await d.press("j", "down")
        assert at() == "done0001"
        await d.press("k")
        assert at() == "failed01"
        await d.press("G")
        assert at() == "stopped1"
        await d.press("g")
        assert at() == "waiting1"
        await d.press("pagedown")
        assert at() == "stopped1"
        await d.press("pageup")
        assert at() == "waiting1"
        await d.press("up")
        assert at() == "waiting1"


async def test_the_selection_stays_with_its_session_when_rows_come_and_go(dashboard):
    async with dashboard() as d:
        await d.select("done0001")
        d.manager.put(session("newest01", Status.RUNNING, "another one", created=-5))
        await d.shows("another one")
        assert d.main.table.selected.id == "done0001"
        d.manager.drop("done0001")
        await d.until(lambda: d.main.table.session("done0001") is None)
        assert d.main.table.selected is not None


async def test_a_change_on_disk_reaches_the_screen(dashboard):
    async with dashboard() as d:
        d.manager.put(structs.replace(d.manager.get("running1"), status=Status.FAILED, reason="exit 137 (SIGKILL)"))
        await d.shows("exit 137 (SIGKILL)")
        await d.shows("2 failed")


async def test_ages_go_on_and_only_their_cells_are_drawn_again(dashboard, monkeypatch):
    async with dashboard() as d:
        await d.shows("waiting     4s")
        drawn = []
        monkeypatch.setattr(d.main.table, "refresh", lambda *regions, **_: drawn.extend(regions))
        d.main.table.tick()
        assert drawn == []
        d.main.table._clock = lambda: T0 + 30_000
        d.main.table.tick()
        monkeypatch.undo()
        # The waiting one and the running one; an hour is an hour half a minute later.
        assert [region.width for region in drawn] == [5, 5]
        d.main.table.tick()
        d.main.table.refresh()
        await d.shows("waiting    34s")


async def test_new_steps_appear_when_the_turn_file_grows(dashboard):
    async with dashboard() as d:
        await d.shows("also add a regression test")
        d.manager.trajectories["waiting1"].fresh.append(
            Step(turn=2, index=2, kind=StepKind.COMMAND, command="rm -rf build/", status=StepStatus.OK)
        )
        d.manager.trajectories["waiting1"].fresh.append(Step(turn=2, index=3, kind=StepKind.MESSAGE, text="All green."))
        (d.manager.live_dir / "waiting1.2.jsonl").write_text("{}\n")
        await d.shows("All green.")
        assert "running…" not in d.text()  # the finished command took the place of the running one


async def test_enter_opens_and_escape_goes_back(dashboard):
    async with dashboard() as d:
        await d.select("done0001")
        await d.press("enter")
        assert d.app.focused is d.main.detail.steps
        await d.called("mark_seen", "done0001")
        await d.press("escape")
        assert d.app.focused is d.main.table
        await d.press("escape")
        assert d.app.is_running


async def test_scrolling_up_leaves_following_and_joins_again(dashboard):
    async with dashboard(size=(100, 24)) as d:
        steps = d.main.detail.steps
        await d.shows("rm -rf build/")
        await d.press("enter", "k")
        assert not steps.following
        await d.shows("F follows")
        await d.press("G")
        assert steps.following
        await d.press("g")
        await d.shows("── turn 1 ──")
        assert not steps.following
        await d.press("F")
        assert steps.following
        await d.shows("following")
        await d.press("pageup", "pagedown")
        assert steps.following


async def test_resizing_keeps_the_place(dashboard):
    async with dashboard(size=(100, 24)) as d:
        await d.shows("rm -rf build/")
        await d.press("enter", "g", "j", "j")
        await d.pilot.resize_terminal(80, 24)
        await d.until(lambda: "∴ The failure depends on the clock" in d.text())
        assert not d.main.detail.steps.following


async def test_a_prompt_goes_to_the_selected_session(dashboard):
    async with dashboard() as d:
        await d.select("done0001")
        await d.shows('goes to "write the migration" as turn 4')
        await d.press("i", *"and q", "ctrl+j", *"test", "enter")
        await d.called("inject", "done0001", "and q\ntest")
        await d.until(lambda: d.main.detail.prompt.input.text == "")
        assert d.app.focused is d.main.detail.steps
        assert d.app.is_running


async def test_a_refused_prompt_is_told_and_kept(dashboard):
    async with dashboard() as d:
        await d.select("running1")
        await d.shows("session is running: takes a prompt after turn 1")
        d.manager.error = SessionBusyError("Session is [running]; wait for it.")
        await d.press("m", *"hello", "enter")
        await d.shows("Session is [running]; wait for it.")
        assert d.main.detail.prompt.input.text == "hello"
        await d.press("escape")
        assert d.app.focused is d.main.table


async def test_a_blank_prompt_is_not_sent(dashboard):
    async with dashboard() as d:
        await d.press("i", "space", "enter")
        assert isinstance(d.app.focused, PromptInput)
        assert not [call for call in d.manager.calls if call[0] == "inject"]


async def test_new_session(dashboard):
    async with dashboard() as d:
        await d.press("n")
        await d.screen(NewSessionScreen)
        await d.shows("not installed: gemini")
        assert "command" not in d.text()
        await d.press(*"quick fix", "tab", "right", "tab", "tab", *"opus", "enter")
        await d.called("spawn", "quick fix", "claude", "opus", "/home/ann/work/api")
        await d.until(lambda: d.app.screen is d.main and d.main.table.selected.id == "spawned1")


async def test_the_dialog_stays_open_with_the_reason(dashboard):
    async with dashboard() as d:
        await d.press("n")
        await d.screen(NewSessionScreen)
        await d.press("tab", "tab", "enter")
        await d.shows("Write a prompt")
        d.manager.error = UsageError("No such folder: /x.")
        await d.press(*"go", "enter")
        await d.shows("No such folder: /x.")
        await d.press("escape")
        await d.until(lambda: d.app.screen is d.main)


async def test_stop_asks_first_and_shows_the_receipt(dashboard):
    async with dashboard() as d:
        await d.select("running1")
        await d.press("x")
        await d.screen(ConfirmScreen)
        await d.shows("4188 bash -c 'pytest [-q]'")
        await d.press("enter")
        await d.until(lambda: d.app.screen is d.main)
        assert ("stop", "running1", False) not in d.manager.calls
        await d.press("x")
        await d.screen(ConfirmScreen)
        await d.press("y")
        await d.screen(ReceiptScreen)
        await d.shows("2 processes ended (SIGINT 1, SIGKILL 1), 1 left, 1.2s")
        await d.shows("belongs to another user")
        await d.press("escape")
        await d.until(lambda: d.app.screen is d.main)
        await d.shows("■ stopped")


async def test_capital_x_stops_at_once(dashboard):
    async with dashboard() as d:
        await d.select("running1")
        await d.press("X")
        await d.called("stop", "running1", True)
        await d.screen(ReceiptScreen)


async def test_delete_asks_first(dashboard):
    async with dashboard() as d:
        await d.select("stopped1")
        await d.press("D")
        await d.screen(ConfirmScreen)
        await d.press("n")
        await d.until(lambda: d.app.screen is d.main)
        await d.press("D")
        await d.screen(ConfirmScreen)
        await d.press("y")
        await d.called("delete", "stopped1")
        await d.until(lambda: d.main.table.session("stopped1") is None)


async def test_retry_where_it_makes_sense(dashboard):
    async with dashboard() as d:
        await d.select("done0001")
        await d.press("R")
        await d.select("failed01")
        assert "R retry" in d.text()
        await d.press("R")
        await d.called("retry", "failed01")
        assert ("retry", "done0001") not in d.manager.calls


async def test_help_lists_every_action(dashboard):
    async with dashboard() as d:
        await d.press("question_mark")
        await d.screen(HelpScreen)
        for told in ("start a session", "stop the session", "leave the dashboard", "next session"):
            await d.shows(told)
        await d.press("escape")
        await d.until(lambda: d.app.screen is d.main)


async def test_q_quits_only_where_nobody_types(dashboard):
    async with dashboard() as d:
        await d.press("i", "q")
        assert d.app.is_running
        assert d.main.detail.prompt.input.text == "q"
        await d.press("escape", "q")
        await d.until(lambda: not d.app.is_running)
        assert not [call for call in d.manager.calls if call[0] == "stop"]


async def test_tab_goes_round(dashboard):
    async with dashboard() as d:
        await d.press("tab")
        assert d.app.focused is d.main.detail.steps
        await d.press("tab")
        assert isinstance(d.app.focused, PromptInput)
        await d.press("tab")
        assert d.app.focused is d.main.table


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (50, 24), (30, 8)])
async def test_it_fits(dashboard, size):
    async with dashboard(size=size) as d:
        await d.shows("fix the flaky")
        table = d.main.table
        assert table.show_horizontal_scrollbar is False
        assert table.size.width <= size[0]


async def test_one_pane_at_a_time_on_a_narrow_screen(dashboard):
    async with dashboard(size=(50, 24)) as d:
        assert not d.main.detail.display
        await d.press("enter")
        await d.shows("also add a regression test")
        assert not d.main.table.display
        await d.press("escape")
        assert d.main.table.display
        await d.press("i")
        assert isinstance(d.app.focused, PromptInput)
        await d.press("escape")
        assert d.app.focused is d.main.table


async def test_without_sessions_the_screen_teaches(dashboard, tmp_path, manager):
    manager.log.clear()
    manager.seq = 0
    async with dashboard() as d:
        await d.shows("No sessions yet.")
        await d.shows("starts a new codex session in")
        await d.press("i", *"hello", "enter")
        await d.until(lambda: any(call[:2] == ("spawn", "hello") for call in d.manager.calls))


async def test_plain_ascii(dashboard):
    async with dashboard(plain_ascii=True) as d:
        await d.shows("* running")
        await d.shows("-- turn 2 --")
        assert not set("●✓✗■∴✦Σ…─") & set(d.text())


async def test_an_unexpected_error_is_told_and_logged(dashboard):
    async with dashboard() as d:
        await d.select("failed01")
        d.manager.error = RuntimeError("disk on fire")
        await d.press("R")
        await d.shows("Unexpected RuntimeError: disk on fire")
        assert "disk on fire" in (d.manager.home / "dashboard.log").read_text()
        assert d.app.is_running
