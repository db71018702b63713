"""Calls that a test holds up: the driver knows of them, and waits for no answer to them."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

CALL: ContextVar[object] = ContextVar("CALL", default=None)
"""The call that runs in this thread."""

HELD: set[object] = set()
"""The calls that wait at a gate."""

PATIENCE_SECONDS = 120


class Gate:
    """Lets calls through while it is open, and lets them wait while it is shut, which it is at first."""

    def __init__(self) -> None:
        self._open = threading.Event()
        self.set = self._open.set
        self.clear = self._open.clear
        self.is_set = self._open.is_set

    def wait(self) -> bool:
        """Wait until the test opens the gate; true."""
        with self.holding():
            if not self._open.wait(PATIENCE_SECONDS):
                raise TimeoutError("the test never opened the gate")
        return True

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Tell the driver not to wait for the answer of the call in this block."""
        call = CALL.get()
        HELD.add(call)
        try:
            yield
        finally:
            HELD.discard(call)
