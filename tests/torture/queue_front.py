"""One front end in a process of its own: queues prompts, and settles again and again, until it is killed.

``python queue_front.py WORK``.  ``WORK/asked.json`` has the prompts of each session, in order.  Each prompt has a key:
the next front end asks for all of them again, and nothing may be sent twice.
"""

import contextlib
import json
import sys
import time
from pathlib import Path

from agentdash.sessions.model.errors import AgentdashError
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.service.prompts.prompter import PromptOptions

BETWEEN_SECONDS = 0.1


def ask(manager, session, texts, accepted):
    """Queue the prompts that are not accepted yet; the first that is refused comes again in the next round."""
    with contextlib.suppress(AgentdashError):
        for key, text, steer in texts[accepted.get(session, 0) :]:
            manager.prompts.inject(session, text, PromptOptions(key=key, steer=steer))
            accepted[session] = accepted.get(session, 0) + 1


def main(work):
    """Ask and settle until the harness has enough."""
    accepted = {}
    with SessionManager() as manager:
        while not (work / "enough").exists():
            for session, texts in json.loads((work / "asked.json").read_text()).items():
                ask(manager, session, texts, accepted)
            manager.housekeeping.settle()
            (work / "accepted" / str(time.monotonic_ns())).write_text(json.dumps(accepted))
            time.sleep(BETWEEN_SECONDS)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
