"""The signals that ask a runner to stop its agent, and those that only wake it."""

import os
import signal


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
