"""The dashboard driven by keys, over the real manager."""

import asyncio
import unicodedata
from contextlib import suppress
from itertools import chain
from time import monotonic
from types import SimpleNamespace

import pytest
from factories import T0
from textual.app import ScreenStackError
from textual.css.stylesheet import Stylesheet
from textual.events import Key, Resize
from textual.geometry import Size
from textual.keys import REPLACED_KEYS, _character_to_key, _get_unicode_name_from_key
from textual.screen import Screen

from agentdash.tui.app import Dashboard
from agentdash.tui.screens.main import MainScreen
from pilot.examples import SESSIONS, STEPS
from pilot.gate import CALL, HELD
from pilot.house import House, here
from pilot.terminal import strips

PATIENCE_SECONDS = 60
"""Time after which what a test waits for does not come; also that a key waits for the one before it."""


@pytest.fixture
def place(tmp_path, tmp_path_factory, monkeypatch):
    """The test's own home with two agents to be found, at the moment of the tests."""
    home, programs = tmp_path_factory.mktemp("home"), tmp_path / "programs"  # the name of the test is in no folder
    programs.mkdir()
    for name in ("codex", "claude"):
        (programs / name).touch(mode=0o700)
    (tmp_path / "config.toml").write_text("[agents.codex]\nlive = false\n[agents.claude]\nlive = false\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setattr(
        "agentdash.sessions.model.clock.time", SimpleNamespace(time_ns=lambda: T0 * 1_000_000, monotonic=monotonic)
    )
    monkeypatch.setattr("agentdash.tui.app.now_ms", lambda: T0)
    # A slow machine may draw the next frame only after a message would have gone.
    monkeypatch.setattr("agentdash.tui.services.background.MESSAGE_SECONDS", 60)
    monkeypatch.setattr("agentdash.tui.keys.key_queue.PATIENCE_SECONDS", PATIENCE_SECONDS)
    monkeypatch.chdir(here("/home/ann/code/api"))


@pytest.fixture
def bare(place, monkeypatch):
    """The real manager without any session."""
    with House(monkeypatch) as house:
        yield house


@pytest.fixture
def manager(bare):
    """The real manager with the five sessions."""
    for one in reversed(SESSIONS):
        bare.put(one, STEPS if one.id == "waiting1" else ())
    return bare


@pytest.fixture(scope="session", autouse=True)
def styles_parsed_once():
    """Keep parsed style sheets for the whole run: parsing them is a good part of what opening a dashboard takes."""
    parse, kept = Stylesheet._parse_rules, {}

    def parse_once(sheet, *args, **named):
        key = (args, frozenset(named.items()), frozenset(sheet._variables.items()))
        if key not in kept:
            kept[key] = parse(sheet, *args, **named)
        return kept[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", parse_once)
        yield


class Painting:
    """Lets the driver alone paint, what a test reads and the end: other paints say only how fast the machine is."""

    def __init__(self):
        self._paint = Screen._compositor_refresh
        self._due = False

    def refresh(self, screen):
        """Refresh the terminal, as Textual does; until the driver paints, what is dirty stays dirty."""
        if self._due:
            self._paint(screen)

    def paint(self, screens):
        """Paint what changed."""
        self._due = True
        try:
            for screen in screens:
                screen._compositor_refresh()
        finally:
            self._due = False


@pytest.fixture(autouse=True)
def painting(monkeypatch):
    painting = Painting()
    monkeypatch.setattr("textual.screen.UPDATE_PERIOD", 3600)

    def refresh(screen):
        painting.refresh(screen)

    monkeypatch.setattr(Screen, "_compositor_refresh", refresh)
    return painting


class Calls:
    """The calls that run in threads, by which a screen waits for an answer."""

    def __init__(self):
        self._to_thread = asyncio.to_thread
        self._running = set()
        self._ended = asyncio.Event()

    async def __call__(self, call, /, *args, **named):
        """Stand in for ``asyncio.to_thread``."""
        number = object()
        self._running.add(number)
        token = CALL.set(number)
        try:
            return await self._to_thread(call, *args, **named)
        finally:
            CALL.reset(token)
            self._running.discard(number)
            self._ended.set()

    def under_way(self):
        """Say if an answer is to be waited for."""
        return bool(self._running - HELD)

    async def one_ends(self):
        """Wait until a call has ended, or for a moment: one that comes to a gate does not end."""
        self._ended.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), 0.02)


@pytest.fixture
def calls(monkeypatch):
    found = Calls()
    monkeypatch.setattr(asyncio, "to_thread", found)
    return found


def key_event(name):
    """Make of a key's name what a terminal's driver makes of the key."""
    key = _character_to_key(name) if len(name) == 1 and not name.isalnum() else name
    character: str | None
    try:
        character = unicodedata.lookup(_get_unicode_name_from_key(REPLACED_KEYS.get(key, key)))
    except KeyError:
        character = key if len(key) == 1 else None
    return Key(key, character)


def waits_for_messages(pump):
    """Return whether an app, a screen or a widget has handled all that it was given: its task waits for more."""
    queue = pump._message_queue
    return queue.empty() and bool(queue.ready_event._waiters) and not pump._next_callbacks


class Driver:
    """A running dashboard: keys, and waiting until something is so."""

    def __init__(self, app, pilot, manager, calls, painting):
        self.app, self.pilot, self.manager, self._calls, self._painting = app, pilot, manager, calls, painting

    @property
    def main(self) -> MainScreen:
        return self.app.home

    async def until(self, condition, what="it"):
        async def poll():
            pause = 0.005
            while not condition():
                await asyncio.sleep(pause)
                pause = min(2 * pause, 0.05)  # reading the screen takes its time from what is waited for
                self._update()
                self._paint_behind()

        try:
            await asyncio.wait_for(poll(), PATIENCE_SECONDS)
        except TimeoutError:
            pytest.fail(f"waited in vain for {what}; the screen:\n{self.text()}")
        await self.settled()

    async def press(self, *keys):
        """Press keys one behind the other, and wait until all that they bring about is on the screen.

        The keys of a menu may be written as one: ``g u``.
        """
        for key in chain.from_iterable(key.split(" ") if len(key) > 1 else [key] for key in keys):
            self.app.post_message(key_event(key))
        await self.settled()

    async def resize(self, width, height):
        """Give the terminal another size."""
        size = self.app._driver._size = Size(width, height)
        self.app.post_message(Resize(size, size))
        await self.until(lambda: self.app.screen._compositor.size == size)

    async def settled(self):
        """Wait until no key waits, no answer is under way, no widget goes, and nothing is to be laid out."""
        rounds = 0
        while rounds < 2 and not self._over:
            await self._keys_handled()
            await self._round()
            self._update()
            if self._calls.under_way():
                rounds = 0
                await self._calls.one_ends()
            elif self._keys_wait or self._removing:
                rounds = 0
                await asyncio.sleep(0.001)
            else:
                rounds += 1
                if rounds == 1:
                    self._paint_behind()

    async def _keys_handled(self):
        """Let the keys that wait act one behind the other, until none is left or one needs a round."""
        waiting = None
        while self._keys_wait and len(self.app._typed) != waiting:
            waiting = len(self.app._typed)
            await asyncio.sleep(0.005)

    @property
    def _over(self):
        return self.app._exit or self.app._exception is not None

    @property
    def _keys_wait(self):
        return self.app._busy or self.app._typed

    @property
    def _removing(self):
        return any(widget._pruning for widget in self._widgets())

    def _widgets(self):
        return (widget for screen in self.app.screen_stack for widget in screen.walk_children(with_self=True))

    async def _round(self):
        """Wait until every widget has handled what it had been given, or the dashboard ends."""
        left = 0
        done = asyncio.Event()

        def handled():
            nonlocal left
            left -= 1
            if not left:
                done.set()

        for pump in (self.app, *self._widgets()):
            if not waits_for_messages(pump):
                left += pump.call_later(handled)
        await asyncio.sleep(0)
        while left and not self._over:
            with suppress(TimeoutError):
                await asyncio.wait_for(done.wait(), 0.1)

    def _update(self):
        """Lay out what has changed, as a timer of Textual's does sixty times a second."""
        with suppress(ScreenStackError):  # it may have been ended meanwhile
            for screen in self.app.screen_stack:
                screen._on_timer_update()

    def paint(self):
        """Draw what changed since the last time: before a test counts drawings, and at its end."""
        if not self._over:
            with suppress(ScreenStackError):
                self._painting.paint(self.app.screen_stack)

    def _paint_behind(self):
        """Hand on what changed behind a dialog, which shows it through its own paint."""
        with suppress(ScreenStackError):
            self._painting.paint(self.app.screen_stack[:-1])

    def burst(self, text):
        """Keys that all arrive before the first of them is handled, as over a slow line."""
        names = {"\n": "enter", "\x1b": "escape"}
        for character in text:
            self.app.post_message(Key(names.get(character, character), character))

    async def screen(self, kind):
        await self.until(lambda: isinstance(self.app.screen, kind) and self.app.screen.is_mounted)
        return self.app.screen

    def text(self):
        return "\n".join(strip.text for strip in strips(self.app))

    async def shows(self, text):
        await self.until(lambda: text in self.text(), repr(text))

    async def will_run(self, words):
        """Wait until the dialog of a new session shows these words of its command, however its lines are broken."""
        if not self.app.screen.has_class("-exact"):
            await self.press("ctrl+o")

        def command():
            place = self.app.screen.query_one("#new-plan").region
            lines = self.text().splitlines()[place.y : place.bottom]
            return " ".join(line[place.x : place.right].strip() for line in lines)

        await self.until(lambda: words in command(), f"the command {words!r}")

    async def select(self, sid):
        self.main.table.select(sid)
        await self.until(lambda: self.main.table.selected.id == sid and self.manager.trajectories.get(sid))

    async def begun(self, prompt, agent, model, folder, options):
        """Wait until a session was started so, and return it."""
        wanted = (prompt, agent, model, here(folder), options)
        await self.until(lambda: wanted in map(self.manager.start_of, self.manager.begun()), f"the start {wanted}")
        return next(one for one in self.manager.begun() if self.manager.start_of(one) == wanted)

    async def answered(self, number, answer):
        await self.until(lambda: (number, answer) in self.manager.answers(), "the answer to be recorded")

    async def sent(self, sid, *texts):
        """Wait until a session got these prompts, and no other."""
        await self.until(lambda: self.manager.asked_of(sid) == list(texts), f"{sid} to get {texts}")

    async def requested(self, sid, *kinds):
        """Wait until these stops of a session were requested, and no other."""
        await self.until(lambda: self.manager.requests(sid) == list(kinds), f"{kinds} of {sid}")


@pytest.fixture
def dashboard(manager, calls, painting):
    """An async context: the dashboard with its five sessions on the screen."""

    class Running:
        def __init__(self, size=(160, 45), **options):
            self.app = Dashboard(manager, **options)
            self.context = self.app.run_test(size=size)

        async def __aenter__(self):
            pilot = await self.context.__aenter__()
            driver = self.driver = Driver(self.app, pilot, manager, calls, painting)
            if manager.reader.sessions():
                await driver.until(lambda: driver.main.table.selected is not None)
            return driver

        async def __aexit__(self, kind, *exc):
            if kind is None:
                self.driver.paint()  # what cannot be drawn fails the test, read or not
            return await self.context.__aexit__(kind, *exc)

    return Running
