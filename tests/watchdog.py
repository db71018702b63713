"""Ends the process of a test that its own time limit does not end, and shows where the test hangs.

pytest-timeout raises an exception in the test, once.  Hypothesis takes that exception for the failure of an example and
tries the example again, and a teardown after it has no limit: either way the whole run would wait without end.
"""

import contextlib
import faulthandler
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

from pytest_timeout import is_debugging

GRACE_SECONDS = 120
"""How much longer than its time limit a test may take: the end of a test may wait for an agent to be stopped."""


@contextlib.contextmanager
def watched(name: str, seconds: float, stderr: int) -> Iterator[None]:
    """End this process, with code 1, if the block takes longer than so many seconds and no debugger is at work.

    Args:
        name: the test, for the message.
        seconds: the longest time of the block.
        stderr: the descriptor for the message and the stacks of all threads.
    """
    timer = threading.Timer(seconds, _end, (f"{name} did not end within {seconds:g} s\n", stderr))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _end(message: str, stderr: int) -> None:
    if is_debugging():
        return
    os.write(stderr, f"\n{message}".encode())
    faulthandler.dump_traceback(file=stderr, all_threads=True)
    # A child that is left would keep the output of the run open.
    for child in _children():
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    os._exit(1)


def _children() -> Iterator[int]:
    """Yield the pids of the processes that this one started; none on a system without /proc."""
    for listed in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):
            yield from map(int, listed.read_text().split())
