"""The events that wake the runner of a turn: signals, requests of front ends, and files that grow."""

import os
import select
from pathlib import Path
from typing import NamedTuple

from agentdash.sessions.runner import inotify
from agentdash.sessions.runner.stop_signals import StopSignals


class Woken(NamedTuple):
    """The events of one wait; all are false if its time is over."""

    poked: bool
    """A front end requested something."""
    signalled: bool
    """A signal came, or a child ended."""
    grew: bool
    """The agent printed something."""


class Wakeups:
    """Waits for the events of one turn.

    Args:
        poke: the FIFO into which front ends write.
        signals: the signals of this process.
    """

    def __init__(self, poke: Path, signals: StopSignals) -> None:
        self._poke = os.open(poke, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._signals = signals
        self._growth: int | None = None
        self._use = inotify.LateWatch()
        self._poll = select.poll()
        for descriptor in (signals.wake, self._poke):
            self._poll.register(descriptor, select.POLLIN)

    @property
    def sees_output(self) -> bool:
        """True if the growth of the output wakes the runner; else it has to poll."""
        return self._growth is not None

    @property
    def sees_use(self) -> bool:
        """True if the growth of the file that measures the use wakes the runner."""
        return self._use.descriptor is not None

    def watch_output(self, path: Path) -> None:
        """Wait for the growth of the output, too."""
        self._growth = inotify.watch_growth(path)
        if self._growth is not None:
            self._poll.register(self._growth, select.POLLIN)

    def watch_use(self, path: Path | None) -> None:
        """Wait for the growth of the file that measures the use, too; a repeated call has no effect."""
        self._use.on(path, self._poll)

    def forget_output(self) -> None:
        """Stop waiting for files, because the turn has ended."""
        if self._growth is None:
            return
        self._poll.unregister(self._growth)
        os.close(self._growth)
        self._growth = None
        self.forget_use()

    def forget_use(self) -> None:
        """Stop waiting for the file that measures the use."""
        self._use.off(self._poll)

    def wait(self, seconds: float) -> Woken:
        """Return at the first event, or when the time is over."""
        ready = [descriptor for descriptor, _ in self._poll.poll(seconds * 1000)]
        for descriptor in ready:
            inotify.drain(descriptor)
        return Woken(self._poke in ready, self._signals.wake in ready, self._growth in ready)

    def close(self) -> None:
        """Close the descriptors."""
        os.close(self._poke)
        if self._growth is not None:
            os.close(self._growth)
