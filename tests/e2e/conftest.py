"""What the end-to-end tests share: a manager on a scratch state folder, ended with everything it started."""

import contextlib
import itertools
import os
import sqlite3
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from e2e.remote import open_outer, ssh
from real_clis import EVERY_CLI
from waiting import StuckError

from agentdash.sessions.model.errors import AgentdashError
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.service.lifecycle.stop_family import NOW
from agentdash.sessions.service.manager import SessionManager

__all__ = ["open_outer", "ssh"]


@pytest.fixture
def manager(monkeypatch, tmp_path):
    """A manager whose sessions are all stopped at the end of the test."""
    monkeypatch.chdir(tmp_path)
    with SessionManager() as manager:
        yield manager
        for session in manager.reader.sessions():
            with contextlib.suppress(AgentdashError):
                manager.stop(session.id, NOW)


@pytest.fixture
def at(manager, wait_until):
    """Waits until a session is in a turn with a status."""

    def wait(session, turn, *statuses, **facts):
        def there():
            manager.housekeeping.settle()
            found = manager.reader.get(session.id)
            wanted = all(getattr(found, name) == value for name, value in facts.items())
            return found if found.turn == turn and found.status in statuses and wanted else None

        return wait_until(there, timeout=120, what=f"turn {turn} to be {' or '.join(statuses)}")

    return wait


@pytest.fixture
def sleepers():
    """The pids of ``sleep NUMBER``, by a scan of its own."""

    def scan(number):
        found = []
        for pid in processes.scan():
            with contextlib.suppress(OSError):
                if Path(f"/proc/{pid}/cmdline").read_bytes() == f"sleep\0{number}\0".encode():
                    found.append(pid)
        return found

    return scan


@pytest.fixture
def similar_ids(monkeypatch):
    """All new sessions have ids with the same beginning, which is returned."""
    ids = (uuid.UUID(f"abcdef01-{number:04}-4000-8000-000000000000") for number in itertools.count())
    monkeypatch.setattr("agentdash.sessions.service.lifecycle.starts.launch_plan.uuid.uuid4", lambda: next(ids))
    return "abcdef01"


@pytest.fixture(params=EVERY_CLI)
def agent(request, use_agent):
    """Each real agent, pointed at the scripted model in a scratch home of its own; agentdash's name for it."""
    return use_agent(request.param)


class Terminal:
    """A real terminal (tmux) with one program in it: keys in, screen out."""

    def __init__(self, tmux, socket, wait_until):
        self._base = [tmux, "-L", socket, "-f", "/dev/null"]
        self._wait_until = wait_until
        self._measured = 0

    def start(self, command, width=160, height=45):
        """Run a shell command; its exit code stays on the screen as ``exited N``."""
        size = ["-x", str(width), "-y", str(height)]
        # Where these are exported they win over the terminal's own size.
        self._run("new-session", "-d", *size, f"unset COLUMNS LINES; {command}; echo exited $?; cat")

    def keys(self, *keys):
        """Press keys by tmux's names for them."""
        self._run("send-keys", *keys)

    def record(self, path):
        """Copy all that programs write to the terminal from now on to a file."""
        self._run("pipe-pane", f"cat > {path}")

    def press_until(self, key, text, every=2):
        """Press a key again, every so many seconds, until this text is on the screen: for programs that drop keys."""
        for _ in range(30):
            self.keys(key)
            try:
                return self._wait_until(lambda: text in self.screen, timeout=every, what=f"{text!r} on the screen")
            except StuckError:
                continue
        pytest.fail(f"pressed {key} in vain for {text!r}; the screen:\n{self.screen}")

    def type(self, text):
        """Type text as it stands."""
        self._run("send-keys", "-l", text)

    def resize(self, width, height):
        """Give the terminal another size."""
        self._run("resize-window", "-x", str(width), "-y", str(height))

    def told(self, variable):
        """What tmux says of the terminal, such as ``alternate_on``."""
        return self._run("display-message", "-p", f"#{{{variable}}}").strip()

    @property
    def screen(self):
        """What can be seen."""
        return self._run("capture-pane", "-p")

    @property
    def coloured(self):
        """What can be seen, with the sequences of its colours."""
        return self._run("capture-pane", "-p", "-e", "-N")

    def shows(self, *texts, timeout=60):
        """Wait until all these texts are on the screen at once; the screen."""

        def all_there():
            screen = self.screen
            return screen if all(text in screen for text in texts) else None

        try:
            return self._wait_until(all_there, timeout=timeout, what=f"{texts} on the screen")
        except StuckError:
            pytest.fail(f"waited in vain for {texts}; the screen:\n{self.screen}")

    def settles(self):
        """Wait until the screen no longer changes."""
        seen = []

        def same():
            seen.append(self.screen)
            return len(seen) > 25 and len(set(seen[-25:])) == 1

        self._wait_until(same, what="the screen to settle")

    def cells(self, text):
        """The number of cells that tmux gives a text; the program here prints what it is typed."""
        self._measured += 1
        mark = f"<{self._measured}>"
        self.type(f"\x1b[2K\r{text}{mark}")
        self._wait_until(lambda: mark in self.screen, what=f"{text!r} to be printed")
        return int(self.told("cursor_x")) - len(mark)

    def lacks(self, text, timeout=60):
        """Wait until a text is no longer on the screen."""
        self._wait_until(lambda: text not in self.screen, timeout=timeout, what=f"{text!r} to go")

    def choose(self, choice):
        """Go through the choices with the right arrow until this one stands in brackets."""
        for _ in range(10):
            screen = self.screen
            if f"[{choice}]" in screen:
                return
            self.keys("Right")
            self._wait_until(lambda before=screen: self.screen != before, what="another choice")
        pytest.fail(f"{choice} cannot be chosen:\n{self.screen}")

    def close(self):
        """End it with everything in it."""
        subprocess.run([*self._base, "kill-server"], check=False, capture_output=True)

    def _run(self, *words):
        done = subprocess.run([*self._base, *words], check=True, capture_output=True, text=True)
        return done.stdout


@pytest.fixture
def open_terminal(require_tool, wait_until, monkeypatch, tmp_path):
    """Opens terminals; the programs in them inherit the test's environment and run in its folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    opened = []

    def open_one():
        opened.append(Terminal(require_tool("tmux"), f"agentdash-test-{uuid.uuid4().hex[:12]}", wait_until))
        return opened[-1]

    yield open_one
    for terminal in opened:
        terminal.close()


@pytest.fixture
def terminal(open_terminal):
    """A terminal of its own."""
    return open_terminal()


@pytest.fixture
def database_at_rest(manager, wait_until):
    """Close the database once every runner has left, so that all of it is in its one file."""

    def close():
        turns = [turn for session in manager.reader.sessions() for turn in manager.reader.turns(session.id)]
        runners = [(turn.runner_pid, turn.runner_start) for turn in turns if turn.runner_pid is not None]
        # A runner has the database open until its process is gone, which is after its lock is free.
        wait_until(lambda: not any(processes.alive(*runner) for runner in runners), what="the runners to leave")
        path = manager.reader.home / "agentdash.db"
        manager.close()
        # Who closes it last writes the log back; of two who close it in the same moment neither may.
        last = sqlite3.connect(path)
        last.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        last.close()
        return path

    return close
