"""Compare listing sessions with reading a folder of JSON files each time: ``python bench/listing.py``."""

import json
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

from measure import milliseconds, table
from sample import events
from sizes import sized

from agentdash.sessions.model.session import Status, Usage
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.claim import Outcome, Owner
from agentdash.sessions.storage.turns.turn_log import TurnLog

COUNTS = sized((100, 1_000, 10_000), (2, 4))


def fill(store: Store, count: int) -> None:
    """Fill the store with sessions that started, ran and ended, as a runner records them."""
    owner = Owner(pid=1, start=1, boot_id="boot", pid_ns="ns")
    task = "Add tests for the auth module and fix what they find"
    for _ in range(count):
        session_id = str(uuid.uuid4())
        start = Start(task, agent="codex", title=task, cwd="/home/dev/project", session_id=session_id)
        store.create(start, Launch(argv=("codex",), model="m"), str(uuid.uuid4()), host="h")
        log = TurnLog(store, session_id, 1, owner)
        log.claim()
        facts = Facts(end="completed", last_message="All tests pass. " * 20, usage=Usage.of(24763, 24448, 122))
        log.end(facts, Outcome(status=Status.DONE, reason=None, exit_code=0), 50, lambda *_: Launch(argv=()))


def fill_files(folder: Path, count: int) -> None:
    """Write the same sessions as one ``meta.json`` each, messages included."""
    for _ in range(count):
        path = folder / str(uuid.uuid4())
        path.mkdir()
        messages = [event for event in events(50) if "agent_message" in str(event)]
        path.joinpath("meta.json").write_text(json.dumps({"status": "completed", "messages": messages}, indent=2))


def read_files(folder: Path) -> int:
    return len([json.loads(path.read_text()) for path in folder.glob("*/meta.json")])


def measured(count: int, scratch: Path) -> list[object]:
    """Return one row of the table."""
    home, files = scratch / "home", scratch / "files"
    files.mkdir()
    fill_files(files, count)
    with SessionManager(home) as manager:
        store = Store(home / "agentdash.db")
        fill(store, count)
        store.close()
        some_id = manager.reader.sessions()[count // 2].id
        seq = manager.reader.changes(0).seq
        by_files = milliseconds(lambda: read_files(files))
        listed = milliseconds(manager.reader.sessions)
        refreshed = milliseconds(lambda: manager.reader.changes(seq))
        found = milliseconds(lambda: manager.reader.get(some_id[:8]))
    return [f"{count:,}", by_files, listed, by_files / listed, refreshed, found, whole_process(home)]


def main() -> None:
    rows = []
    for count in COUNTS:
        with tempfile.TemporaryDirectory() as scratch:
            rows.append(measured(count, Path(scratch)))
    head = ["sessions", "files again, ms", "list, ms", "ratio", "nothing new, ms", "by prefix, ms", "`ls --json`, ms"]
    table("listing", head, rows)


def whole_process(home: Path) -> float:
    argv = [sys.executable, "-m", "agentdash", "ls", "--json"]
    env = {"AGENTDASH_HOME": str(home), "PATH": "/usr/bin:/bin"}
    return milliseconds(lambda: subprocess.run(argv, env=env, check=True, stdout=subprocess.DEVNULL), runs=5)


if __name__ == "__main__":
    main()
