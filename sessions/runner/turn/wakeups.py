"""The events that wake a runner: signals, of which some stop its agent, requests of front ends, and files that grow."""

import os
import select
import signal
from pathlib import Path
from typing import NamedTuple

from agentdash.sessions.runner import inotify


class StopSignals:
    """Handles the runner's signals; each also makes a descriptor readable, so that the runner's loop wakes."""

    def __init__(self) -> None:
        self.shutdown = False
        """SIGTERM: end the agent and exit."""
        self.requested = False
        """SIGUSR1: stop the agent; the request could not be recorded because the disk is full."""
        self.wake, send = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(send, warn_on_full_buffer=False)
        signal.signal(signal.SIGTERM, self._shut_down)
        signal.signal(signal.SIGUSR1, self._stop)
        for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
            signal.signal(number, self._only_wake)

    def _shut_down(self, *_: object) -> None:
        self.shutdown = True

    def _stop(self, *_: object) -> None:
        self.requested = True

    def _only_wake(self, *_: object) -> None:
        """Do nothing: the descriptor wakes the loop."""


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
