"""Waiting for something that another process records."""

import time
from collections.abc import Callable

from ..clock import monotonic
from ..storage.store import Store

POLL_SECONDS = 0.03
"""How often it is asked whether anything was committed."""

SETTLE_SECONDS = 2.0
"""How often runners that died are looked for: they record nothing any more."""


def wait_until(
    store: Store, condition: Callable[[], bool], timeout: float | None, *, settle: Callable[[], None]
) -> bool:
    """Look again whenever somebody has committed something; whether it came true within ``timeout`` seconds."""
    deadline = None if timeout is None else monotonic() + timeout
    settled_at = 0.0
    version = None
    while True:
        current = store.data_version()
        if current != version:
            version = current
            if condition():
                return True
        now = monotonic()
        if deadline is not None and now >= deadline:
            return condition()
        if now - settled_at >= SETTLE_SECONDS:
            settled_at = now
            settle()
        time.sleep(POLL_SECONDS)
