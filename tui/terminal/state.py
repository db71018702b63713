"""The terminal's mouse reports, and terminals without a size or that are gone: Textual (8.2) expects neither."""

import os
import select
import sys
import termios
from contextlib import suppress
from typing import Any, TextIO

MOUSE_ON = "\x1b[?1000h\x1b[?1006h"
MOUSE_OFF = "\x1b[?1006l\x1b[?1000l"
"""Switch mouse reports while the dashboard runs; without them the terminal's own selection works.

Clicks and the wheel only (modes 1000 and 1006 of xterm): Textual's own switch also asks for every movement, which
wastes bytes on the line.
"""

USUAL_SIZE = (24, 80)
"""Lines and columns."""


def give_size(terminal: TextIO) -> None:
    """Set the usual size if the terminal has none, as on a serial line or in ``ssh -tt`` from a script.

    From 0x0 cells Textual and Rich would compute two different sizes, and lay out for one and the other without end.
    """
    with suppress(OSError, termios.error):
        if termios.tcgetwinsize(terminal) == (0, 0):
            termios.tcsetwinsize(terminal, USUAL_SIZE)


_GIVEN_BACK = (
    "\x1b[?2026l\x1b[0m\x1b[?2048l\x1b[?2004l\x1b[?1000l\x1b[?1006l\x1b[?1004l\x1b[?7h\x1b[<u\x1b[?1049l\x1b[?25h\r"
)
"""Ends what Textual (8.2.8) and the dashboard begin: a picture, pastes in brackets, the mouse, the other screen."""


def give_back(modes: list[Any] | None, words: str) -> None:
    """Give the terminal back at an end that cannot wait for Textual, and print a line; a stopped terminal gets neither.

    ``modes`` are those of its lines before the start.
    """
    if sys.__stderr__ is None:
        return
    with suppress(OSError, termios.error):
        terminal = os.open(os.ttyname(sys.__stderr__.fileno()), os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
        if modes is not None:
            termios.tcsetattr(terminal, termios.TCSANOW, modes)
        os.write(terminal, f"{_GIVEN_BACK}{words}\n".encode())


def abandon() -> None:
    """Discard all output from now on: on a terminal that is gone it would be an error, at the exit too."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for file in (sys.__stdout__, sys.__stderr__):
        if file is not None:
            os.dup2(nowhere, file.fileno())
    os.close(nowhere)


def hung_up() -> bool:
    """Return True if the other end of our terminal was closed.

    SIGHUP reports that only if the terminal is the controlling one.  Without the signal, Textual (8.2) would read the
    end of the file from then on without a pause.
    """
    if sys.__stdin__ is None:
        return False
    poll = select.poll()
    poll.register(sys.__stdin__, 0)  # poll reports a hang-up unasked
    return any(event & select.POLLHUP for _, event in poll.poll(0))
