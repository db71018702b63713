"""The terminal from the command to the first picture of Textual: what is typed meanwhile waits in it for the dashboard.

Nothing typed is echoed, and Ctrl+C ends the program.  The driver takes over what is held here.
"""

import os
import re
import signal
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from agentdash.sessions.text.sanitize import cell_width

ENTER = "\x1b[?1049h"
"""Goes to the other screen, as Textual does."""

_LEAVE = "\x1b[0m\x1b[?7h\x1b[?1049l\x1b[?25h"

_LOCAL, _INPUT, _CHARACTERS = 3, 0, 6
"""Places in what ``tcgetattr`` returns."""

Frame = dict[int, list[tuple[int, str, tuple[str, str]]]]
"""Texts by the number of their line, each with its column and the sequences before and after it."""


class Held:
    """A terminal whose keys wait unread, and are not echoed."""

    def __init__(self, modes: list[Any]) -> None:
        self.modes = modes
        """Those of its lines before."""
        self.size = (0, 0)
        self.frame: Frame | None = None
        """The texts that it shows; None if nothing was drawn."""

    def draw(self, size: tuple[int, int], frame: Frame) -> None:
        """Draw on the other screen, without moving the lines that are there."""
        self.size, self.frame = size, frame  # before it is whole: a signal may come meanwhile
        _write(f"{ENTER}\x1b[?25l\x1b[?7l{sequences(frame)}\x1b[0m")

    def give_back(self) -> None:
        """Restore the terminal, and discard what was typed: it was not meant for the shell."""
        with suppress(OSError, termios.error):
            termios.tcflush(_input(), termios.TCIFLUSH)  # TCSAFLUSH would also wait for a terminal that reads nothing
            termios.tcsetattr(_input(), termios.TCSANOW, self.modes)
            if self.frame is not None:
                _write(_LEAVE)


_held: Held | None = None


_PLAIN = re.compile("[ -\u02ff\u2010-\u2027\u2030-\u205e\u2070-\u20cf\u2100-\u22ff\u2500-\u25fc\u2713-\u271f]*")
"""Texts of characters that have one cell in every terminal."""


def sequences(frame: Frame) -> str:
    """Return what draws a frame; a text of which terminals may use other cells has blanks below it."""
    out: list[str] = []
    for y, line in frame.items():
        at = -1
        for x, text, (before, after) in line:
            place = f"\x1b[{y + 1};{x + 1}H"
            out.append(place if x != at else "")
            if _PLAIN.fullmatch(text):
                at = x + len(text)
            else:
                out.append(f"{before}{' ' * cell_width(text)}{after}{place}")
                at = -1
            out.append(f"{before}{text}{after}")
    return "".join(out)


@contextmanager
def holding() -> Iterator[Held | None]:
    """Hold the terminal until the dashboard takes it; give it back if that never does.

    None if it is not ours, or cannot show a dashboard: the caller says why.
    """
    global _held  # noqa: PLW0603 - there is one terminal
    _held = held = _hold()
    handlers = _end_by_signals() if held is not None else {}
    try:
        yield held
    finally:
        if _held is not None:
            _held.give_back()
            _held = None
            for number, handler in handlers.items():
                signal.signal(number, handler)


def take() -> Held | None:
    """Return the held terminal to the one who restores it from now on; None if it is not held."""
    global _held
    taken, _held = _held, None
    return taken


def _write(text: str) -> None:
    """Write all of a text; an unbuffered file of Python would drop the rest of it when a signal comes."""
    data = text.encode(errors="replace")
    while data and sys.__stderr__ is not None:
        data = data[os.write(sys.__stderr__.fileno(), data) :]


def _input() -> int:
    return sys.__stdin__.fileno() if sys.__stdin__ is not None else -1


def _hold() -> Held | None:
    streams = (sys.__stdin__, sys.__stdout__, sys.__stderr__)
    if not all(stream is not None and stream.isatty() for stream in streams):
        return None
    if os.environ.get("TERM", "") in ("", "dumb"):
        return None
    try:
        if _in_background():  # a change of its modes would stop us
            return None
        modes, ours = termios.tcgetattr(_input()), termios.tcgetattr(_input())
        ours[_LOCAL] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN)
        ours[_LOCAL] |= termios.ISIG
        ours[_INPUT] &= ~(termios.IXON | termios.IXOFF | termios.ICRNL | termios.INLCR | termios.IGNCR)
        ours[_CHARACTERS][termios.VMIN], ours[_CHARACTERS][termios.VTIME] = 1, 0
        for number in (termios.VSUSP, termios.VQUIT):
            ours[_CHARACTERS][number] = bytes([os.fpathconf(_input(), "PC_VDISABLE")])
        termios.tcsetattr(_input(), termios.TCSANOW, ours)
    except (OSError, termios.error, ValueError):
        return None
    return Held(modes)


def _in_background() -> bool:
    try:
        return os.tcgetpgrp(_input()) != os.getpgrp()
    except OSError:  # not our controlling terminal: it stops nothing
        return False


def _end_by_signals() -> dict[signal.Signals, Any]:
    """Let the signals that end a process give the terminal back."""
    before = {}
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            before[number] = signal.signal(number, _end)
    return before


def _end(number: int, _: object) -> None:
    """End at once: an exception may come where Python ignores it, and nothing else was begun yet."""
    if _held is not None:
        _held.give_back()
        if number == signal.SIGINT:
            _write("agentdash: Interrupted; sessions keep running.\n")
        os._exit(128 + number)
    raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)
