"""Drives a dashboard without a terminal: keys as users write them, and waiting for what the screen shows."""

import asyncio
import io
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, redirect_stdout
from time import monotonic
from typing import Any

from msgspec import Struct
from task_store import Store
from textual._context import visible_screen_stack
from textual.pilot import Pilot

from agentdash.sessions.model.session import Session
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.service.reader import SessionReader
from agentdash.tui.app import Dashboard
from agentdash.tui.keys.key_names import textual_name

PATIENCE_SECONDS = 60.0

READING_SECONDS = 0.6


class Words(str):
    """Words that the user types; ``{api}`` is the path of a folder of the store."""


class Until(Struct, frozen=True):
    """A wait for something that the user waits for too."""

    so: Callable[["Desk"], bool]


class Desk:
    """A dashboard in front of a user."""

    def __init__(self, app: Dashboard, pilot: Pilot[Any], manager: SessionManager, store: Store, ids: dict[str, str]):
        self.app = app
        self._pilot = pilot
        self.reader: SessionReader = manager.reader
        self.store = store
        self.ids = ids
        self._read_since: dict[str, float] = {}

    @property
    def text(self) -> str:
        """The text on the screen."""
        visible_screen_stack.set(self.app._background_screens)
        return "\n".join(strip.text for strip in self.app.screen._compositor.render_strips())

    @property
    def in_table(self) -> bool:
        """True if the table has the keys."""
        return self.app.screen is self.app.home and self.app.focused is self._table

    @property
    def selected(self) -> str | None:
        """The name of the session under the cursor."""
        return self._name(self._table.selected)

    @property
    def first(self) -> str | None:
        """The name of the session in the table's first row."""
        return self._name(self._table.on_screen[0])

    def _name(self, session: Session | None) -> str | None:
        return next((name for name, session_id in self.ids.items() if session and session_id == session.id), None)

    @property
    def _table(self) -> Any:
        return self.app.home.table  # type: ignore[union-attr]

    def has_read(self, text: str) -> bool:
        """Return whether a text has been on the screen for as long as it takes to read it."""
        if text not in self.text:
            self._read_since.pop(text, None)
            return False
        return monotonic() - self._read_since.setdefault(text, monotonic()) > READING_SECONDS

    @property
    def table_sessions(self) -> list[Session]:
        """The sessions as the table has them."""
        return list(self._table.sessions)

    def session(self, name: str) -> Session:
        """Return a session by its name, as it is recorded now."""
        return self.reader.get(self.ids[name])

    def shows(self, *names: str) -> bool:
        """Return whether the table has these sessions."""
        return all(self._table.session(self.ids[name]) is not None for name in names)

    def select(self, name: str) -> None:
        """Put the cursor on a session."""
        self._table.select(self.ids[name])

    async def press(self, *keys: str | Until) -> None:
        """Press keys one after the other, each when the one before has done its work."""
        for key in keys:
            if isinstance(key, Until):
                await self.until(lambda wait=key: wait.so(self))  # type: ignore[misc]
                continue
            if isinstance(key, Words):
                await self._pilot.press(*key.format(api=self.store.folder("api")))
            else:
                await self._pilot.press(textual_name(key) or key)
            await self._settled()

    async def until(self, condition: Callable[[], bool]) -> bool:
        """Wait until something is so; return False if it is not in time."""
        end = monotonic() + PATIENCE_SECONDS
        while monotonic() < end:
            if condition():
                return True
            await asyncio.sleep(0.02)
        return False

    async def _settled(self) -> None:
        """Wait until the dashboard has handled all keys, and shows what they led to."""
        await self.until(lambda: not self.app._busy and not self.app._typed)
        await self._pilot.pause()


@asynccontextmanager
async def opened(manager: SessionManager, store: Store, ids: dict[str, str]) -> AsyncIterator[Desk]:
    """Yield the dashboard over a store, with its table filled; another program needs no terminal here."""
    app = Dashboard(manager)
    app.suspend = lambda: redirect_stdout(io.StringIO())  # type: ignore[method-assign,assignment]
    async with app.run_test(size=(160, 45)) as pilot:
        desk = Desk(app, pilot, manager, store, ids)
        await desk.until(lambda: desk.shows(*store.ids))
        yield desk
