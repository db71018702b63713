"""Processes: identity, trees, tags, costs and signals.  The only module that knows ``/proc``.

A process is identified by its pid *and* its start time, within one boot: a pid alone may be reused.
"""

import contextlib
import errno
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

from msgspec import Struct

SESSION_TAG = "AGENTDASH_SESSION_ID"
RUN_TAG = "AGENTDASH_RUN_ID"
HOOK_TAG = "AGENTDASH_STATUS"
"""Variable of the command of a hook, which is the user's although a runner starts it."""

HOME = "AGENTDASH_HOME"
"""Variable in an agent's environment: the state folder of its session."""

RUNNER_MARK = "AGENTDASH_RUNNER"
"""Variable in a runner's own environment: the path of its lock.  Its children do not inherit it."""

_LONGEST_COMMAND = 16384  # several paths of 4096 bytes
_LISTEN = "0A"  # the state TCP_LISTEN in /proc/net/tcp
_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


class Process(Struct, frozen=True, kw_only=True):
    """One process at the moment of a scan."""

    pid: int
    start: int
    """Start time, in clock ticks after boot."""
    parent: int
    group: int
    command: str
    zombie: bool = False
    stopped: bool = False
    """A signal stopped it: it does nothing until it is continued."""

    @property
    def key(self) -> tuple[int, int]:
        """The identity of the process within this boot."""
        return self.pid, self.start


@cache
def host_name() -> str:
    """The name of this machine, as recorded in a session."""
    return os.uname().nodename


@cache
def boot_id() -> str:
    """An id that changes with every boot of this machine."""
    with contextlib.suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    # A sandbox may hide the id; the boot time serves as well.
    lines = Path("/proc/stat").read_text("ascii").splitlines()
    return next(line.split()[1] for line in lines if line.startswith("btime "))


def pid_namespace() -> str:
    """The pid namespace (container) in which our pids are valid."""
    try:
        return Path("/proc/self/ns/pid").readlink().name
    except OSError:
        return ""


def is_here(boot: str | None, namespace: str | None) -> bool:
    """Return whether pids recorded in this boot and this namespace name the same processes for us."""
    return boot == boot_id() and namespace == pid_namespace()


def become_subreaper() -> bool:
    """Let orphaned descendants become our children; False if the kernel refuses."""
    import ctypes  # only a runner needs it

    return bool(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


def by_pid(pid: int, *, commands: bool = True) -> Process | None:
    """Return the process that has this pid now, or None; without ``commands``, its command is only its name."""
    argv = b""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            stat = file.read()
        if commands:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                argv = file.read()
    except OSError:
        return None
    # The name is in brackets and may itself contain brackets and blanks: cut at the last bracket.
    opening, closing = stat.find(b"("), stat.rfind(b")")
    fields = stat[closing + 2 :].split()
    if len(fields) < 20:
        return None
    command = argv.rstrip(b"\0").replace(b"\0", b" ") or b"[" + stat[opening + 1 : closing] + b"]"
    return Process(
        pid=pid,
        start=int(fields[19]),
        parent=int(fields[1]),
        group=int(fields[2]),
        command=command[:300].decode("utf-8", "replace"),
        zombie=fields[0] in (b"Z", b"X"),
        stopped=fields[0] in (b"T", b"t"),
    )


def alive(pid: int, start: int) -> bool:
    """Return whether exactly this process still runs; a zombie does not."""
    process = by_pid(pid)
    return process is not None and process.start == start and not process.zombie


def scan() -> dict[int, Process]:
    """Return all visible processes by pid, without their commands (:func:`by_pid` gives those)."""
    pids = [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]
    return {pid: process for pid in pids if (process := by_pid(pid, commands=False))}


def environment(pid: int) -> dict[str, str]:
    """Return the environment a process was started with; empty if it cannot be read."""
    try:
        data = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return {}
    pairs = (entry.partition(b"=") for entry in data.split(b"\0") if b"=" in entry)
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}


def descriptor_path(descriptor: int) -> str:
    """Return a path of what a descriptor has open, for this process and for a child until its exec."""
    return f"/proc/self/fd/{descriptor}"


def arguments(pid: int) -> list[str]:
    """Return the command line of a process; empty if it cannot be read, or is longer than any of agentdash."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            data = file.read(_LONGEST_COMMAND + 1)
    except OSError:
        return []
    return [] if len(data) > _LONGEST_COMMAND else list(map(os.fsdecode, data.rstrip(b"\0").split(b"\0")))


def tagged_leader(run_id: str) -> tuple[int, int] | None:
    """Find the process-group leader that carries this run's tag: an agent whose identity was not recorded."""
    for process in sorted(scan().values(), key=lambda p: p.start):
        if process.group == process.pid and environment(process.pid).get(RUN_TAG) == run_id:
            return process.key
    return None


def descendants(
    processes: dict[int, Process], roots: Iterable[int], skip: Callable[[int], bool] = lambda _: False
) -> Iterator[Process]:
    """Yield everything below the roots, parents first; a process for which ``skip`` is true hides its subtree."""
    below: dict[int, list[Process]] = {}
    for process in processes.values():
        below.setdefault(process.parent, []).append(process)
    stack = list(roots)
    seen = set(stack)
    while stack:
        # A scan takes time: with reused pids it can have a circle, so that no process is taken twice.
        for child in below.get(stack.pop(), ()):
            if child.pid not in seen and not skip(child.pid):
                seen.add(child.pid)
                stack.append(child.pid)
                yield child


def tree(root: int, skip: Callable[[int], bool] = lambda _: False) -> Iterator[Process]:
    """Yield everything below one process; if the kernel lists children, no other process is read.

    The cost then depends on the tree, not on the machine: cheap enough to repeat for many sessions.
    """
    first = _children(root)
    if first is None:
        yield from descendants(scan(), [root], skip)
        return
    stack, seen = first, {root}
    while stack:
        pid = stack.pop()
        if pid in seen or skip(pid):
            continue
        seen.add(pid)
        process = by_pid(pid)
        if process is not None:
            yield process
            stack.extend(_children(pid) or [])


def _children(pid: int) -> list[int] | None:
    """The children of all threads of a process; None if the kernel does not list them (CONFIG_PROC_CHILDREN)."""
    if not Path(f"/proc/self/task/{os.getpid()}/children").exists():
        return None
    children: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    for thread in threads:
        with contextlib.suppress(OSError):
            children.extend(int(child) for child in Path(f"/proc/{pid}/task/{thread}/children").read_text().split())
    return children


def listening_ports(pids: Iterable[int]) -> dict[int, tuple[int, ...]]:
    """The TCP ports on which each of these processes listens; none if the process may not be inspected."""
    ports_of = {}
    for pid in pids:
        sockets = _listening(pid)
        ports = {sockets[inode] for inode in _sockets(pid) if inode in sockets} if sockets else set()
        if ports:
            ports_of[pid] = tuple(sorted(ports))
    return ports_of


def _listening(pid: int) -> dict[str, int]:
    """Ports by socket inode, in the process's own network namespace (proc(5), ``/proc/net/tcp``)."""
    ports = {}
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{pid}/net/{table}").read_text("ascii").splitlines()[1:]:
                fields = line.split()
                if fields[3] == _LISTEN:
                    ports[fields[9]] = int(fields[1].rpartition(":")[2], 16)
    return ports


def _sockets(pid: int) -> Iterator[str]:
    """The inodes of a process's open sockets."""
    with contextlib.suppress(OSError):
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                kind, _, inode = str(entry.readlink()).partition(":")
                if kind == "socket":
                    yield inode.strip("[]")


def lock_holders(path: Path) -> Iterator[Process]:
    """Yield the processes that have a file open with a lock on it (proc(5), ``fdinfo``), if they may be inspected."""
    try:
        facts = path.stat()
    except OSError:
        return
    for pid in scan():
        if any(_has_locked(pid, number, facts) for number in _descriptors(pid)) and (found := by_pid(pid)) is not None:
            yield found


def _descriptors(pid: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return []


def _has_locked(pid: int, number: str, facts: os.stat_result) -> bool:
    try:
        opened = Path(f"/proc/{pid}/fd/{number}").stat()
        if (opened.st_dev, opened.st_ino) != (facts.st_dev, facts.st_ino):
            return False
        return "\nlock:" in Path(f"/proc/{pid}/fdinfo/{number}").read_text("ascii", "replace")
    except OSError:
        return False


def signal_name(number: int) -> str:
    """The name of a signal, as in ``SIGKILL``; a real-time signal without a name gets its number."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"


def send(process: Process, number: signal.Signals) -> bool:
    """Signal exactly this process; False if it is gone.

    The signal goes through a pidfd that is opened before the identity is checked, so no reused pid can get it.

    Raises:
        PermissionError: this user may not signal it.
    """
    try:
        descriptor = _pidfd(process.pid)
    except ProcessLookupError:
        return False
    try:
        if not alive(process.pid, process.start):
            return False
        if descriptor is None:
            os.kill(process.pid, number)
        else:
            signal.pidfd_send_signal(descriptor, number)
    except ProcessLookupError:
        return False
    finally:
        if descriptor is not None:
            os.close(descriptor)
    return True


def _pidfd(pid: int) -> int | None:
    """A descriptor of this process and no later one; None if the kernel has none, or forbids it."""
    try:
        return os.pidfd_open(pid)
    except OSError as error:
        if error.errno in (errno.ENOSYS, errno.EPERM):
            return None
        raise


def send_kill(process: Process) -> bool:
    """Send SIGKILL to exactly this process; False if it is gone."""
    return send(process, signal.SIGKILL)


def uptime() -> float:
    """Seconds since the machine was started, also while it slept; no step of the wall clock changes them.

    Without ``/proc``, seconds on the monotonic clock, which may stop while the machine sleeps.
    """
    since_boot = _read_uptime()
    return time.monotonic() if since_boot is None else since_boot


def since_start(start: int) -> float:
    """Seconds since the start of a process of this boot, which is given in clock ticks."""
    return max(0.0, uptime() - start / os.sysconf("SC_CLK_TCK"))


def _read_uptime() -> float | None:
    try:
        return float(Path("/proc/uptime").read_text("ascii").split()[0])
    except (OSError, ValueError):
        return None


def age_seconds(process: Process) -> float | None:
    """Seconds since a process was started; None if the uptime cannot be read."""
    since_boot = _read_uptime()
    return None if since_boot is None else max(0.0, since_boot - process.start / os.sysconf("SC_CLK_TCK"))


def usage(pid: int) -> tuple[float | None, int | None]:
    """Return a process's CPU time in seconds and its resident memory in bytes; None for each if not readable."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), int(fields[21]) * os.sysconf(
            "SC_PAGESIZE"
        )
    except (OSError, IndexError, ValueError):
        return None, None


def cpu_seconds(pid: int) -> float | None:
    """Return the CPU time of a process and of the children it has waited for, in seconds; None if not readable.

    The children are included because a build is many processes that are gone before the next check.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return None
