"""The process that waits until the ends of workers are gathered, and then serves the queue.

``python -P -m agentdash.sessions.supervision.wake_process HOME MILLISECONDS``.  It holds no state: if it is killed, the
next process that serves the queue does the same.
"""

import sys
import time
from pathlib import Path

from ..errors import AgentdashError
from ..storage.paths import Layout
from ..storage.store import Store
from .queue import pump
from .spawn import clean_signals


def main(argv: list[str]) -> int:
    """Wait, and serve the queue; the arguments are described at the top of this module."""
    home, milliseconds = argv
    clean_signals()
    time.sleep(int(milliseconds) / 1000)
    layout = Layout(Path(home))
    try:
        store = Store(layout.database)
        pump(layout, store)
        store.close()
    except AgentdashError as error:
        print(error, file=sys.stderr)  # noqa: T201 - the runner's log of the lead
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
