"""Whether the terminal is still there."""

import select
import sys


def hung_up() -> bool:
    """Whether the other end of our terminal was closed.

    Mostly SIGHUP tells, but only where the terminal is the controlling one; without it, Textual (8.2) would read the
    end of the file from then on without a pause.
    """
    if sys.__stdin__ is None:
        return False
    poll = select.poll()
    poll.register(sys.__stdin__, 0)  # a hang-up is told unasked
    return bool(poll.poll(0))
