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
    """

    def __init__(self, poke: Path, signals: StopSignals) -> None:
        self._poke = os.open(poke, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._signals = signals
        self._poll = select.poll()
        self.output = inotify.LateWatch(self._poll)
        """The output of the agent; the runner has to poll it if the kernel cannot watch it."""
        self.use = inotify.LateWatch(self._poll)
        """The file that measures the use."""
        for descriptor in (signals.wake, self._poke):
            self._poll.register(descriptor, select.POLLIN)

    def wait(self, seconds: float) -> Woken:
        """Return at the first event, or when the time is over."""
        ready = [descriptor for descriptor, _ in self._poll.poll(seconds * 1000)]
        for descriptor in ready:
            inotify.drain(descriptor)
        return Woken(self._poke in ready, self._signals.wake in ready, self.output.descriptor in ready)

    def close(self) -> None:
        """Close the descriptors."""
        os.close(self._poke)
        self.output.off()
