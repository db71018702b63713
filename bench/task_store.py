"""A state folder with a day's work: sessions that are done, failed, seen and new, of an agent that answers at once."""

import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from msgspec import Struct

from agentdash.sessions.rules.launch import Start
from agentdash.sessions.runner.processes import runner_lock
from agentdash.sessions.service.lifecycle.stop_family import NOW
from agentdash.sessions.service.manager import SessionManager

ANSWER = "This is the answer to: "
CHANGED = "src/clock.py"

_AGENT = r"""#!/bin/sh
[ "$1" = resume ] && { touch "$PWD/taken"; exit 0; }
prompt=$(cat)
[ -e "$PWD/broken" ] && { echo 'Error: 401 invalid API key' >&2; exit 3; }
id=$(printf '%s\n' "$@" | grep -m 1 '^0190f7a2-')
[ "$id" ] || id=$(printf '0190f7a2-0000-7000-8000-%012d' $$)
echo '{"type":"thread.started","thread_id":"'"$id"'"}'
echo '{"type":"turn.started"}'
case $prompt in
*busy*) while :; do n=$(((n + 1) % 40000)); [ $n = 0 ] && sleep 0.05; done ;;
*idle*) sleep 600 ;;

*clock*) echo '{"type":"item.completed","item":{"id":"item_1","type":"file_change","status":"completed",'\
'"changes":[{"path":"'"$PWD"'/src/clock.py","kind":"update"}]}}' ;;
esac
echo '{"type":"item.completed","item":{"id":"item_2","type":"agent_message",'\
'"text":"This is the answer to: '"$prompt"'"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":2}}'
"""

TASKS = {
    "clock": ("api", "Freeze the clock in the login test"),
    "orders": ("api", "Write the migration for the orders table"),
    "dark": ("web", "Add dark mode to the settings page"),
    "rename": ("web", "Rename the store"),
    "sdk": ("web", "Bump the SDK"),
    "queue": ("infra", "Explain the queue"),
    "terraform": ("infra", "Upgrade terraform to the newest version"),
}
"""Folder and prompt of the sessions, by the name that the tasks use."""

FAILED = ("dark", "rename", "sdk")
AT_WORK = {"busy": ("api", "Split the monolith, a busy task"), "idle": ("api", "Wait for the review, an idle task")}
"""Sessions that run until they are stopped."""


class Store(Struct, frozen=True):
    """A state folder that is copied for each task."""

    scratch: Path
    ids: dict[str, str]
    """The sessions by name."""

    def folder(self, name: str) -> Path:
        """Return a folder in which agents work."""
        return self.scratch / "code" / name

    @contextmanager
    def copy(self) -> Iterator[SessionManager]:
        """Yield the manager of a copy; stop at the end what runs there."""
        with tempfile.TemporaryDirectory(dir=self.scratch, ignore_cleanup_errors=True) as copied:
            home = Path(copied) / "home"
            shutil.copytree(self.scratch / "home", home, ignore=shutil.ignore_patterns("poke", "*-wal", "*-shm"))
            for session_id in self.ids.values():
                os.mkfifo(home / "sessions" / session_id / "poke")  # which cannot be copied
            with SessionManager(home, config_path=self.scratch / "config.toml") as manager:
                yield manager
                manager.stop_all([one.id for one in manager.reader.sessions() if not one.status.ended], NOW)
                wait_for_runners(manager)


def start(manager: SessionManager, store: Store, tasks: dict[str, tuple[str, str]]) -> dict[str, str]:
    """Start the sessions of these tasks; return their ids by name."""
    return {
        name: manager.spawn(Start(prompt, agent="codex", cwd=str(store.folder(folder)))).id
        for name, (folder, prompt) in tasks.items()
    }


def wait_for_runners(manager: SessionManager) -> None:
    """Wait until all runners have left."""
    locks = [manager.layout.session(one.id).lock for one in manager.reader.sessions()]
    while any(map(runner_lock.is_held, locks)):
        time.sleep(0.02)


@contextmanager
def day() -> Iterator[Store]:
    """Yield a store in which all sessions have ended and none was opened."""
    with tempfile.TemporaryDirectory(prefix="agentdash-bench-") as scratch:
        store = Store(Path(scratch), {})
        agent = store.scratch / "agent"
        agent.write_text(_AGENT)
        agent.chmod(0o755)
        (store.scratch / "config.toml").write_text(
            f'default_agent = "codex"\n[agents.codex]\nlive = false\nbin = "{agent}"\n'
        )
        for name in ("api", "web", "infra"):
            store.folder(name).mkdir(parents=True)
        (store.folder("web") / "broken").touch()
        with SessionManager(store.scratch / "home", config_path=store.scratch / "config.toml") as manager:
            store.ids.update(start(manager, store, TASKS))
            manager.wait(list(store.ids.values()), timeout=120)
            wait_for_runners(manager)
        with closing(sqlite3.connect(store.scratch / "home" / "agentdash.db")) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (store.folder("web") / "broken").unlink()
        yield store
