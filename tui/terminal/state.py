"""Handles terminals without a size and terminals that are gone: Textual (8.2) expects neither."""

import os
import select
import sys
import termios
from contextlib import suppress
from typing import TextIO

USUAL_SIZE = (24, 80)
"""Lines and columns."""


def give_size(terminal: TextIO) -> None:
    """Set the usual size if the terminal has none, as on a serial line or in ``ssh -tt`` from a script.

    From 0x0 cells Textual and Rich would compute two different sizes, and lay out for one and the other without end.
    """
    with suppress(OSError, termios.error):
        if termios.tcgetwinsize(terminal) == (0, 0):
            termios.tcsetwinsize(terminal, USUAL_SIZE)


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
