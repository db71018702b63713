"""The events of 200 sessions that record something each second: ``python bench/events.py``.

A writer in a process of its own changes rows as runners do; "delay" is from the commit to the line.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median, quantiles

from measure import memory, once, table, work
from sizes import sized

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store

SESSIONS = sized(200, 5)
SECONDS = sized(10.0, 0.5)


def filled(home: Path) -> Store:
    """Return a store with sessions at work."""
    layout = Layout(home)
    layout.create()
    store = Store(layout.database)
    for number in range(SESSIONS):
        start = Start("go", agent="codex", title=f"task {number}", cwd="/", session_id=f"session-{number:04}")
        store.create(start, Launch(argv=("codex",)), f"run-{number}", host="elsewhere")
    change(store, "UPDATE turns SET status = 'running'")
    change(store, "UPDATE sessions SET status = 'running'")
    return store


def change(store: Store, sql: str, *values: object) -> None:
    with store.database.transaction() as db:
        db.execute(sql, values)


def measured(store: Store, home: Path, *, busy: bool) -> list[object]:
    """Follow the events for some seconds; return CPU per second, wakeups per second, lines, delays, memory."""
    environment = os.environ | {"AGENTDASH_HOME": str(home)}
    argv = [sys.executable, "-m", "agentdash", "events", "--follow"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        for _ in range(SESSIONS + 1):
            process.stdout.readline()
        delays: list[float] = []
        reader = threading.Thread(target=read, args=(process, delays), daemon=True)
        reader.start()
        time.sleep(sized(3.0, 0.0))  # its start is not measured
        before, began, number = work(process.pid), time.perf_counter(), 0
        while (spent := time.perf_counter() - began) < SECONDS:
            if busy:
                number += 1
                change(
                    store, "UPDATE sessions SET input_tokens = ?, updated_at = ? WHERE id = ?",
                    number, now_ms(), f"session-{number % SESSIONS:04}",
                )  # fmt: skip
            time.sleep(max(0.0, number / SESSIONS - spent) if busy else 0.1)
        done = work(process.pid) - before
        size = memory(process.pid)[0]
        process.terminate()
        reader.join()
    slow = quantiles(delays, n=20)[-1] if len(delays) > 1 else 0.0
    return [done.cpu_ms / SECONDS, done.wakeups / SECONDS, len(delays), median(delays or [0.0]), slow, size]


def read(process: "subprocess.Popen[bytes]", delays: list[float]) -> None:
    assert process.stdout is not None
    delays.extend(now_ms() - json.loads(line)["at"] for line in process.stdout)


def run(argv: list[str], environment: dict[str, str]) -> None:
    subprocess.run(argv, check=True, env=environment, capture_output=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        store = filled(home)
        environment = os.environ | {"AGENTDASH_HOME": str(home)}
        rows = [
            [name, *measured(store, home, busy=busy)] for name, busy in (("nothing happens", False), ("busy", True))
        ]
        head = [f"{SESSIONS} sessions", "CPU ms/s", "wakeups/s", "lines", "delay ms", "95 %", "MB"]
        table("events of sessions", head, rows)
        for verb in ("status", "events"):
            argv = [sys.executable, "-m", "agentdash", verb]
            times = [once(lambda argv=argv: run(argv, environment)) for _ in range(5)]
            table(f"agentdash {verb}, a process", ["verb", "best of 5, ms"], [[verb, min(times)]])
        store.close()


if __name__ == "__main__":
    main()
