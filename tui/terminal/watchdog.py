"""Ends this process soon after a signal or the end of its terminal, whatever its main thread does.

Python handles a signal only between two steps of the main thread, and an app only in its loop: a loop that never ends,
a call that never returns, or a thread that the exit waits for would outlive the terminal.
"""

import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from agentdash.sessions.model.clock import monotonic

PATIENCE_SECONDS = 1.5
"""Time for an end in good order; then the process ends without it."""

_LAST_SECONDS = 0.3
"""Maximum time for giving the terminal back and saving drafts at such an end."""

ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
"""The signals after which the process ends."""


_THEIRS, _OURS = b"\xff", b"\xfe"
"""Written between the numbers of signals: from here on, Ctrl+C is another program's, or ours again."""


def noted(*_: object) -> None:
    """Handle a signal by nothing: with a handler of Python, it is reported to the watchdog's pipe."""


class Watchdog:
    """A thread that waits for signals and for the end of the terminal; a process has one, because signals are its own.

    It costs nothing while nothing happens.
    """

    def __init__(self) -> None:
        self._heard, self._told = os.pipe()
        os.set_blocking(self._told, False)
        self._leave: Callable[[], object] = lambda: None
        self._last: Callable[[], object] = lambda: None
        self._terminal: int | None = None
        self._deadline: float | None = None
        self._number = signal.SIGTERM
        self._resting = False
        self._theirs = 0

    def start(self) -> "Watchdog":
        """Begin to wait; only the main thread can call this."""
        signal.set_wakeup_fd(self._told, warn_on_full_buffer=False)
        threading.Thread(target=self._run, name="watchdog", daemon=True).start()
        return self

    def attend(self, terminal: int, leave: Callable[[], object], last: Callable[[], object]) -> None:
        """End a front end of a terminal in good order, if that works; only the main thread can call this.

        Args:
            terminal: a descriptor of it.
            leave: asks the front end to end; it is called by the watchdog's thread.
            last: gives the terminal back and saves what can be saved, if the front end did not.
        """
        self._leave, self._last = leave, last
        for number in ENDING:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, noted)
        self.follow(terminal)

    def end_by(self, last: Callable[[], object]) -> None:
        """Give the terminal back by ``last``, until a front end attends to it."""
        self._last = last

    def follow(self, terminal: int) -> None:
        """Also end when this terminal is gone, unless the user asked to outlive it (``nohup``)."""
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            self._terminal = terminal
            self._wake()

    def expect_end(self) -> None:
        """Let the process end soon: the user asked for it, and the front end knows; any thread may call this."""
        self._number = signal.SIGINT
        self._deadline = monotonic() + PATIENCE_SECONDS
        self._wake()

    def give_interrupts(self) -> None:
        """Let what comes from now on of Ctrl+C be another program's in our terminal, until it is taken back."""
        self._write(_THEIRS)

    def take_interrupts(self) -> None:
        """Act on Ctrl+C again; what the program got is in front of this, however late the thread reads it."""
        self._write(_OURS)

    def rest(self) -> None:
        """Do nothing from now on: what follows ends by itself, and takes its time."""
        self._resting = True
        self._wake()

    def _wake(self) -> None:
        self._write(b"\0")

    def _write(self, told: bytes) -> None:
        with suppress(OSError):  # the pipe is full: the thread has enough to read
            os.write(self._told, told)

    def _run(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})  # the modes are set from the background, too
        poll = select.poll()
        poll.register(self._heard, select.POLLIN)
        watched: int | None = None
        while not self._resting:
            if self._terminal != watched:
                watched = self._terminal
                if watched is not None:
                    poll.register(watched, 0)  # a hang-up is reported unasked
            left_ms = None if self._deadline is None else max(0.0, self._deadline - monotonic()) * 1000
            for descriptor, event in poll.poll(left_ms):
                if descriptor == self._heard:
                    self._hear(os.read(self._heard, 512))
                elif event & (select.POLLHUP | select.POLLNVAL):
                    poll.unregister(descriptor)
                    self._begin(signal.SIGHUP)
            if self._deadline is not None and monotonic() >= self._deadline and not self._resting:
                self._end()

    def _hear(self, told: bytes) -> None:
        for byte in told:
            if byte == _THEIRS[0]:
                self._theirs += 1
            elif byte == _OURS[0]:
                self._theirs -= 1
            elif byte in ENDING and not (byte == signal.SIGINT and self._theirs):
                self._begin(signal.Signals(byte))

    def _begin(self, number: signal.Signals) -> None:
        if self._deadline is None:
            self._number = number
            self._deadline = monotonic() + PATIENCE_SECONDS
        with suppress(Exception):  # the front end can have ended by itself
            self._leave()

    def _end(self) -> None:
        """End the process as if by the signal, without waiting for any other thread of it."""
        helper = threading.Thread(target=self._last, daemon=True)  # it can be held up by a disk, or by the terminal
        helper.start()
        helper.join(_LAST_SECONDS)
        os._exit(128 + self._number)


_watchdog: Watchdog | None = None


def guard() -> Watchdog:
    """Return this process's watchdog; the first call, by the main thread, starts it."""
    global _watchdog  # noqa: PLW0603 - signals belong to the process
    if _watchdog is None:
        _watchdog = Watchdog().start()
    return _watchdog


@contextmanager
def deaf(*numbers: signal.Signals) -> Iterator[None]:
    """Do nothing on these signals, which another program in our terminal gets too; only the main thread can."""
    # Handlers that do nothing: the program would inherit an ignored signal, but a handler becomes the default there.
    before = {number: signal.signal(number, noted) for number in numbers}
    if _watchdog is not None:
        _watchdog.give_interrupts()
    try:
        yield
    finally:
        if _watchdog is not None:
            _watchdog.take_interrupts()
        for number, handler in before.items():
            signal.signal(number, handler)


def guard_command(last: Callable[[], object] | None = None) -> None:
    """Let no command outlive Ctrl+C, or a terminal that it writes to; ``last`` gives the terminal back."""
    watchdog = guard()
    if last is not None:
        watchdog.end_by(last)
    if sys.stdout is not None and sys.stdout.isatty():
        watchdog.follow(sys.stdout.fileno())
