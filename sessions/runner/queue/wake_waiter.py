"""Start the process that waits until the ends of workers are gathered, or a budget begins again."""

import os
import subprocess
import sys
import threading

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.runner.base_environment import base_for
from agentdash.sessions.runner.processes.processes import RUNNER_MARK
from agentdash.sessions.runner.processes.runner_lock import WAITER_MODE, arguments
from agentdash.sessions.storage.paths import Layout

WAITER = "agentdash.sessions.runner.queue.wake_process"


def send_waiter(layout: Layout, lead_id: str, due_at: int) -> None:
    """Start the process, which serves the queue at ``due_at`` (UTC ms).

    It has the mark of a runner of the lead, so that what it starts has no caller but the user.

    Raises:
        OSError: it could not be started.
    """
    folder = layout.session(lead_id)
    log = os.open(folder.runner_log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        process = subprocess.Popen(
            [
                sys.executable,
                "-P",
                "-m",
                WAITER,
                *arguments(layout.home, lead_id, max(0, due_at - now_ms()), WAITER_MODE),
            ],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            env=base_for(folder) | {RUNNER_MARK: str(folder.lock)},
            start_new_session=True,
        )
    finally:
        os.close(log)
    threading.Thread(target=process.wait, name=f"reap waiter {process.pid}", daemon=True).start()
