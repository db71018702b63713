"""The cost of a runner, and the duration of a stop: ``python bench/supervision.py``."""

import os
import statistics
import tempfile
import time
from pathlib import Path

from measure import all_at_once, memory, once, table
from sizes import sized

from agentdash.sessions.model.session import Session
from agentdash.sessions.service.manager import SessionManager

RUNS = sized(15, 2)
MANY = sized(50, 2)
IDLE_SECONDS = sized(5, 1)


def start(manager: SessionManager) -> Session:
    return manager.started(manager.run(["sh", "-c", "setsid sleep 600 & sleep 600"]).id)


def spawned_after(manager: SessionManager) -> float:
    """Return the milliseconds from the recorded intent until the agent's process exists, by the agent's own clock."""
    session = manager.wait([manager.run(["sh", "-c", "date +%s%3N"]).id], timeout=30)[0]
    return float(manager.reader.outputs.part(session.id).read()) - session.created_at


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, SessionManager(Path(folder), all_at_once(folder)) as manager:
        delays = [spawned_after(manager) for _ in range(RUNS)]
        session = start(manager)
        time.sleep(1)
        resident, proportional = memory(manager.reader.turns(session.id)[0].runner_pid or 0)
        stops = [once(lambda: manager.stop(session.id))]
        for _ in range(RUNS - 1):
            another = start(manager)
            stops.append(once(lambda: manager.stop(another.id)))  # noqa: B023 - called at once
        many = [start(manager) for _ in range(MANY)]
        busy = os.times()
        time.sleep(IDLE_SECONDS)
        idle = os.times()
        used = idle.user + idle.system - busy.user - busy.system
        all_stops = once(lambda: manager.stop_all([session.id for session in many]))
        table(
            "one runner",
            ["", "median", "worst"],
            [
                ["agent's process exists after, ms", statistics.median(delays), max(delays)],
                ["stop with sweep and receipt, ms", statistics.median(stops), max(stops)],
                ["resident memory, MB", resident, ""],
                ["proportional memory, MB", proportional, ""],
            ],
        )
        table(
            f"{MANY} sessions",
            ["", ""],
            [
                ["all stopped at once after, ms", all_stops],
                ["the same per session, ms", all_stops / MANY],
                ["front end's CPU while they run, %", used / IDLE_SECONDS * 100],
            ],
        )


if __name__ == "__main__":
    main()
