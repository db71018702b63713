"""Notifications that the dashboard writes to the terminal while the user is elsewhere."""

import os

import pytest
from factories import T0
from msgspec import structs
from textual.events import AppBlur, AppFocus

from agentdash.sessions.model.session import Changes, Status
from agentdash.sessions.rules.notifications import terminal_support
from agentdash.sessions.rules.notifications.settings import NotifySettings
from agentdash.sessions.settings.config import Config, DashboardSettings
from agentdash.tui.messages import SettingsRead
from pilot.examples import session
from pilot.gate import Gate

QUIET = NotifySettings(terminal="off")


class Written:
    """What goes to the terminal besides the screen."""

    def __init__(self, d):
        self._all = []
        d.app._driver.write = self._all.append

    @property
    def notices(self):
        return [text for text in self._all if text.startswith("\x1b]777;") or "\a" in text]

    @property
    def titles(self):
        return [text.removeprefix("\x1b]2;").removesuffix("\x1b\\") for text in self._all if text.startswith("\x1b]2;")]

    def __contains__(self, text):
        return text in self._all


class Timed:
    """The app, whose timers end when the test says so."""

    def __init__(self, app, due):
        self._app, self._due = app, due

    def set_timer(self, _, call):
        self._due.append(call)

    def __getattr__(self, name):
        return getattr(self._app, name)


@pytest.fixture(autouse=True)
def in_no_terminal_in_particular(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("TMUX", "STY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("agentdash.tui.services.notifier.GATHER_SECONDS", 0.05)


def ends(d, sid, status, **own):
    one = structs.replace(d.manager.get(sid), **({"status": status, "reason": None, "updated_at": T0 + 1000} | own))
    d.manager.put(one)


def notifying(**own):
    return NotifySettings(**({"terminal": "osc777", "title": False} | own))


async def test_a_session_that_ends_is_told_once(dashboard):
    async with dashboard(notify=notifying()) as d:
        written = Written(d)
        ends(d, "running1", Status.FAILED, reason="exit 1: \x1b]0;no\a")
        await d.until(lambda: written.notices)
        ends(d, "running1", Status.FAILED, reason="exit 1: no", steps=141)
        d.manager.put(session("later001", Status.DONE, "the one after", created=-1, updated_at=T0 + 9000))
        await d.until(lambda: len(written.notices) > 1)
        first, second = written.notices
        assert first == "\x1b]777;notify;split [/red] the monolith into services;failed: exit 1:\x1b\\"
        assert second == "\x1b]777;notify;the one after;done\x1b\\"


async def test_nothing_is_told_of_what_was_there_before(dashboard):
    async with dashboard(notify=notifying()) as d:
        written = Written(d)
        d.manager.put(structs.replace(d.manager.get("failed01"), steps=7))
        ends(d, "running1", Status.DONE)
        await d.until(lambda: written.notices)
        assert len(written.notices) == 1
        assert "add dark mode" not in written.notices[0]


async def test_what_is_being_read_is_not_told(dashboard):
    async with dashboard(notify=notifying()) as d:
        written = Written(d)
        await d.select("running1")
        await d.press("enter")
        await d.until(lambda: d.app.home.reading == {"running1"})
        ends(d, "running1", Status.DONE)
        ends(d, "waiting1", Status.DONE)
        await d.until(lambda: written.notices)
        assert written.notices == ["\x1b]777;notify;fix the flaky login test;done\x1b\\"]


async def test_what_is_on_a_terminal_without_focus_is_told(dashboard):
    async with dashboard(notify=notifying()) as d:
        written = Written(d)
        await d.select("running1")
        await d.press("enter")
        await d.until(lambda: d.app.home.reading == {"running1"})
        d.app.post_message(AppBlur())
        await d.until(lambda: not d.app.app_focus)
        ends(d, "running1", Status.DONE)
        await d.until(lambda: written.notices)
        d.app.post_message(AppFocus())
        await d.until(lambda: d.app.home.reading == {"running1"})


async def test_what_ends_in_one_moment_is_one_notification(dashboard):
    async with dashboard(notify=notifying()) as d:
        written = Written(d)
        ends(d, "running1", Status.DONE)
        ends(d, "waiting1", Status.DONE)
        ends(d, "stopped1", Status.FAILED)
        await d.until(lambda: written.notices)
        assert written.notices[0].startswith("\x1b]777;notify;3 sessions ended, 1 failed;")


async def test_only_what_is_wanted_is_told(dashboard):
    async with dashboard(notify=notifying(on=("failed",))) as d:
        written = Written(d)
        ends(d, "running1", Status.DONE)
        ends(d, "waiting1", Status.FAILED)
        await d.until(lambda: written.notices)
        assert [text.split(";")[2] for text in written.notices] == ["fix the flaky login test"]


async def test_a_terminal_that_nobody_knows_gets_a_bell(dashboard, monkeypatch):
    for name in ("TERM_PROGRAM", "LC_TERMINAL", "KITTY_WINDOW_ID", "WEZTERM_PANE", "GHOSTTY_RESOURCES_DIR",
                 "ITERM_SESSION_ID", "KONSOLE_VERSION", "VTE_VERSION"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    async with dashboard() as d:
        written = Written(d)
        ends(d, "running1", Status.DONE)
        await d.until(lambda: written.notices)
        assert written.notices == ["\a"]


async def test_the_title_counts_and_is_set_only_when_it_changes(dashboard):
    async with dashboard(notify=QUIET) as d:
        assert d.app.notifier._title == "1 waiting · 1 failed · 1 running - agentdash"
        written = Written(d)
        d.manager.put(structs.replace(d.manager.get("running1"), steps=141))
        ends(d, "running1", Status.DONE)
        await d.until(lambda: written.titles)
        d.manager.put(structs.replace(d.manager.get("running1"), steps=142))
        ends(d, "waiting1", Status.DONE)
        await d.until(lambda: len(written.titles) > 1)
        assert written.titles == ["1 waiting · 1 failed - agentdash", "1 failed - agentdash"]


async def test_the_title_goes_back_while_somebody_else_has_the_terminal(dashboard):
    async with dashboard(notify=QUIET) as d:
        written = Written(d)
        d.app.app_suspend_signal.publish(d.app)
        assert terminal_support.RESTORE_TITLE in written
        assert written.titles == []
        d.app.app_resume_signal.publish(d.app)
        await d.until(lambda: written.titles)
        assert terminal_support.SAVE_TITLE in written


async def test_at_the_end_the_title_is_given_back_once(dashboard):
    async with dashboard(notify=QUIET) as d:
        left = []
        d.app.notifier.end(left.append)
        d.app.notifier.end(left.append)
        assert left == [terminal_support.RESTORE_TITLE]


async def test_settings_that_are_read_again_count_at_once(dashboard):
    async with dashboard(notify=QUIET) as d:
        written = Written(d)
        d.main.post_message(SettingsRead(Config(notify=notifying())))
        await d.until(lambda: terminal_support.RESTORE_TITLE in written)
        ends(d, "running1", Status.DONE)
        await d.until(lambda: written.notices)
        assert written.titles == []


async def test_another_store_is_counted_anew(dashboard):
    async with dashboard(notify=QUIET) as d:
        written = Written(d)
        d.app.notifier.hear(Changes(seq=1, updated=(session("other001", Status.RUNNING, "x", created=1),), fresh=True))
        assert written.titles == ["1 running - agentdash"]


async def test_nobody_has_to_have_a_title(dashboard):
    async with dashboard(notify=NotifySettings(terminal="off", title=False)) as d:
        written = Written(d)
        ends(d, "running1", Status.DONE)
        await d.until(lambda: d.manager.get("running1").status == d.main.table.session("running1").status)
        assert written.titles == []
        assert written.notices == []


class SlowClaims:
    """Takes everything, the first batch as soon as it may."""

    def __init__(self):
        self.batches = []
        self.may = Gate()

    def take(self, notices):
        self.batches.append([notice.session for notice in notices])
        if len(self.batches) == 1:
            self.may.wait()
        return list(notices)


@pytest.fixture
def slow(monkeypatch):
    claims = SlowClaims()
    monkeypatch.setattr("agentdash.tui.app.Claims", lambda *_: claims)
    yield claims
    claims.may.set()


async def test_a_slow_claim_holds_up_no_keys(dashboard, slow):
    async with dashboard(notify=notifying()) as d:
        written = Written(d)
        ends(d, "running1", Status.DONE)
        await d.until(lambda: slow.batches)
        before = d.main.table.selected.id
        await d.press("down")
        await d.until(lambda: d.main.table.selected.id != before)
        assert written.notices == []
        slow.may.set()
        await d.until(lambda: written.notices)
        assert written.notices == ["\x1b]777;notify;split [/red] the monolith into services;done\x1b\\"]


async def test_what_comes_while_a_batch_is_claimed_is_told_after_it_as_one(dashboard, slow):
    async with dashboard(notify=notifying()) as d:
        written = Written(d)
        due = []
        d.app.notifier._host = Timed(d.app, due)
        ends(d, "running1", Status.DONE)
        await d.until(lambda: due)
        due.pop()()
        await d.until(lambda: slow.batches)
        ends(d, "waiting1", Status.DONE)
        await d.until(lambda: due)
        due.pop()()
        await d.settled()
        ends(d, "stopped1", Status.FAILED)
        await d.until(lambda: len(d.app.notifier._pending) == 2)
        assert written.notices == []
        slow.may.set()
        await d.until(lambda: len(written.notices) == 2)
        assert [text.split(";")[2] for text in written.notices] == [
            "split [/red] the monolith into services",
            "2 sessions ended, 1 failed",
        ]
        assert due == []


async def test_what_is_read_while_it_is_claimed_is_not_told(dashboard, slow):
    async with dashboard(notify=notifying()) as d:
        written = Written(d)
        await d.select("running1")
        ends(d, "running1", Status.DONE)
        ends(d, "waiting1", Status.DONE)
        await d.until(lambda: slow.batches)
        await d.press("enter")
        await d.until(lambda: d.app.home.reading == {"running1"})
        slow.may.set()
        await d.until(lambda: written.notices)
        assert written.notices == ["\x1b]777;notify;fix the flaky login test;done\x1b\\"]


@pytest.mark.parametrize("read_only", [True, False])
async def test_in_tmux_who_only_looks_tells_without_a_claim(dashboard, manager, tmp_path, monkeypatch, read_only):
    (tmp_path / "tmux").write_text("#!/bin/sh\necho @1\n")
    (tmp_path / "tmux").chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("TMUX", "/tmp/tmux-0/default,4121,0")
    monkeypatch.setenv("TMUX_PANE", "%3")
    look = DashboardSettings(read_only=read_only)
    async with dashboard(settings=look, notify=notifying(terminal="bell")) as d:
        written = Written(d)
        ends(d, "running1", Status.DONE)
        await d.until(lambda: written.notices)
        assert written.notices == ["\a"]
        assert (manager.home / "told").exists() == (not read_only)
