"""Notifications through the terminal, and counts in its title, for a user who is elsewhere.

Both are escape sequences, so they reach the user wherever the terminal is: over SSH, and through tmux.
"""

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping
from typing import Any, Protocol

from agentdash.sessions.model.session import Changes
from agentdash.sessions.rules.notifications import terminal_support
from agentdash.sessions.rules.notifications.events import Notice, Watcher, merged
from agentdash.sessions.rules.notifications.settings import NotifySettings
from agentdash.sessions.rules.notifications.terminal_support import has_title, way
from agentdash.sessions.service.tmux import Claims, outer_terminals
from agentdash.widgets.table.header import Tally

GATHER_SECONDS = 0.3
"""Events within this time become one notification; those that the user reads or answers within it need none."""

_TITLED = (("waiting", "waiting"), ("stuck", "stuck"), ("failed new", "failed"), ("running", "running"))
"""The groups of sessions that the title counts, and their words in it."""


class Host(Protocol):
    """The app of a notifier."""

    @property
    def reading(self) -> Collection[str]:
        """Ids of the sessions whose steps the user reads now."""

    def write_to_terminal(self, sequence: str) -> None:
        """Write an escape sequence."""

    def set_timer(self, delay: float, callback: Callable[[], object]) -> object:
        """Call a function once, after ``delay`` seconds."""

    def run_worker(self, work: Coroutine[Any, Any, None]) -> object:
        """Run a coroutine in the background."""


class Notifier:
    """Receives changes, and writes to the terminal when the user should know of one.

    Args:
        clock: returns UTC ms.
        claims: decides which of several front ends in one window sends a notification.
        only: ids of the sessions that matter; None for all.
    """

    def __init__(
        self,
        host: Host,
        settings: NotifySettings,
        env: Mapping[str, str],
        *,
        clock: Callable[[], int],
        claims: Claims,
        only: Collection[str] | None = None,
        plain_ascii: bool = False,
    ) -> None:
        self._host = host
        self._env = env
        self._terminal = settings.terminal
        self._on = settings.on
        self._titled = settings.title and has_title(env)
        self._clock = clock
        self._claims = claims
        self._turn = asyncio.Lock()
        self._only = only
        self._between = ", " if plain_ascii else " · "
        self._watcher: Watcher | None = None
        self._tally = Tally()
        self._pending: list[Notice] = []
        self._title: str | None = None
        """The current title; None while the dashboard does not own it."""

    def hear(self, changes: Changes) -> None:
        """Receive changes; the first ones are the initial state."""
        updated = [session for session in changes.updated if self._only is None or session.id in self._only]
        if changes.fresh:
            self._tally = Tally()  # another store: the counts are void
        self._tally.update(updated, changes.removed)
        if self._title is not None:
            self._name()
        if self._watcher is None:
            self._watcher = Watcher(updated, self._clock())
            return
        wanted = [notice for notice in self._watcher.update(updated, self._host.reading) if notice.event in self._on]
        if wanted and not self._pending:
            self._host.set_timer(GATHER_SECONDS, lambda: self._host.run_worker(self._tell()))
        self._pending += wanted

    def use(self, settings: NotifySettings) -> None:
        """Use new settings."""
        self._terminal = settings.terminal
        self._on = settings.on
        self._titled = settings.title and has_title(self._env)
        if self._titled:
            self.begin()
        else:
            self.end()

    def begin(self) -> None:
        """Save the terminal's title and set our own, because we own the terminal now."""
        if self._titled and self._title is None:
            self._host.write_to_terminal(terminal_support.SAVE_TITLE)
            self._name()

    def end(self, write: Callable[[str], object] | None = None) -> None:
        """Restore the title, because another program gets the terminal; use ``write`` if our own output is closed."""
        if self._title is not None:
            self._title = None
            (write or self._host.write_to_terminal)(terminal_support.RESTORE_TITLE)

    def _name(self) -> None:
        """Set the title if it changed."""
        counts = [f"{self._tally.groups[group]} {word}" for group, word in _TITLED if self._tally.groups[group]]
        title = " - ".join(filter(None, (self._between.join(counts), "agentdash")))
        if title != self._title:
            self._title = title
            self._host.write_to_terminal(terminal_support.title(title))

    async def _tell(self) -> None:
        """Send one notification for the notices that are still news, both before and after they are claimed."""
        async with self._turn:  # a batch waits for the previous one, and includes the notices that come during the wait
            pending, self._pending = self._pending, []
            news = self._news(pending)
            if self._terminal == "off" or not news:
                return
            ours = self._news(await asyncio.to_thread(self._claims.take, news))
            # The user may have attached from another terminal since the last time.
            outer = await asyncio.to_thread(outer_terminals, self._env) if ours else ()
            ours = self._news(ours)
            now = way(self._terminal, self._env, outer)  # the settings may have changed by now
            if ours and now is not None:
                self._host.write_to_terminal(now.sequence(*merged(ours)))

    def _news(self, notices: Iterable[Notice]) -> list[Notice]:
        """Return the notices that the user neither reads now nor has dealt with.

        If only some sessions are shown, none is dealt with: that marks them as seen even if the user did not look.
        """
        unread = [notice for notice in notices if notice.session not in self._host.reading]
        if self._only is not None:
            return unread
        return [notice for notice in unread if self._watcher is not None and self._watcher.stands(notice)]
