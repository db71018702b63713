"""Wait for a condition that another process records."""

import time
from collections.abc import Callable

from agentdash.sessions.model.clock import monotonic
from agentdash.sessions.storage.store import Store

POLL_SECONDS = 0.03
"""Interval at which the database is checked for commits."""

SETTLE_SECONDS = 2.0
"""Interval at which dead runners are searched for, because they record nothing."""


def wait_until(
    store: Store, condition: Callable[[], bool], timeout: float | None, *, settle: Callable[[], None]
) -> bool:
    """Check the condition after each commit of any process; True if it became true within ``timeout`` seconds."""
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
