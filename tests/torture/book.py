"""The harness's own view of processes: who was started, who lives, who is a runner.  Shares no code with agentdash."""

import contextlib
import os
import signal
from pathlib import Path

from torture import lines
from torture.nasty import BARE, LEAVES_GROUP, LEAVES_SESSION


def start_of(pid):
    """The start time of a living process; None where there is none, or only a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    fields = stat[stat.rfind(b")") + 2 :].split()
    return None if fields[0] in (b"Z", b"X") else int(fields[19])


def command_of(pid):
    """What runs there, for a message."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return "?"


def environment_of(pid):
    """The environment it was started with."""
    try:
        data = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return {}
    return dict(entry.partition("=")[::2] for entry in data.decode(errors="replace").split("\0") if "=" in entry)


def kill(pid, start):
    """Kill -9 exactly this process; whether it was there."""
    try:
        descriptor = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if start_of(pid) != start:
            return False
        signal.pidfd_send_signal(descriptor, signal.SIGKILL)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def runners(home):
    """The living runners of this state folder: ``(pid, start, session)``."""
    below = f"{home}/sessions/"
    found = []
    for pid in pids():
        mark = environment_of(pid).get("AGENTDASH_RUNNER", "")
        start = start_of(pid)
        if mark.startswith(below) and start is not None:
            found.append((pid, start, Path(mark).parent.name))
    return found


def tagged(home):
    """Everything that says of itself that it belongs to this state folder: ``(pid, start, environment)``."""
    found = []
    for pid in pids():
        env = environment_of(pid)
        start = start_of(pid)
        if start is not None and env.get("AGENTDASH_HOME") == str(home):
            found.append((pid, start, env))
    return found


def pids():
    """Every process but this one."""
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit() and int(entry) != os.getpid()]


class Book:
    """What hostile agents, and the harness itself, wrote down."""

    def __init__(self, path):
        self.path = Path(path)
        self._seen = set()

    def records(self, kind=None):
        """All records, or those of a kind."""
        if not self.path.exists():
            return []
        found, _ = lines.records(self.path.read_bytes())
        return [record for record in found if kind in (None, record["kind"])]

    def add(self, pid, start, how, session=""):
        """Enter a process that the harness started or saw."""
        if start is None or (pid, start) in self._seen:
            return
        self._seen.add((pid, start))
        record = {"kind": "process", "session": session, "run": "", "pid": pid, "start": start, "how": [how]}
        lines.append(self.path, record)

    def add_tagged(self, home):
        """Enter what only its environment names: runners, the scripted agent and its children."""
        for pid, start, env in tagged(home):
            mark = env.get("AGENTDASH_RUNNER")
            session = Path(mark).parent.name if mark else env.get("AGENTDASH_SESSION_ID", "")
            self.add(pid, start, "runner" if mark else "seen", session)

    def processes(self):
        """Everybody by pid and start time: the session, and all that is known of its behaviour."""
        found = {}
        for record in self.records("process"):
            session, how = found.setdefault((record["pid"], record["start"]), [record["session"], set()])
            how.update(record["how"])
            found[record["pid"], record["start"]] = [session or record["session"], how]
        return found

    def living(self):
        """Those who still run; also who was forked just now and carries this book's name without a line in it."""
        alive = {key: found for key, found in self.processes().items() if start_of(key[0]) == key[1]}
        unsigned = {(pid, start_of(pid)): ["", {"unsigned"}] for pid in pids() if str(self.path) in command_of(pid)}
        return {key: found for key, found in unsigned.items() if key[1] is not None} | alive

    def kill_all(self):
        """The finalizer: no process on the list survives, not even one that is born during the check."""
        while living := self.living():
            for pid, start in living:
                kill(pid, start)


def unfindable(how):
    """Whether only a runner's memory could have found such a process."""
    return BARE in how and bool({LEAVES_SESSION, LEAVES_GROUP} & set(how))
