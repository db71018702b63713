"""Check the machine: the kernel, the login, the limits of the shell, the terminal and what is around it."""

import ctypes
import os
import re
import resource
import select
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from agentdash.sessions.doctor.model import Answer, Finding, Subject, ask, fail, find, ok, warn
from agentdash.sessions.runner.inotify import watch_growth
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.service.clipboard import usable_helper
from agentdash.sessions.storage.paths import is_read_only
from agentdash.sessions.text.terminal import has_colours, is_forced, is_utf8

MOUNTS = "proc/self/mountinfo"

REMOTE = frozenset(
    {
        "9p", "afs", "beegfs", "ceph", "cifs", "davfs", "drvfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2",
        "smb3", "smbfs", "fuse.ceph", "fuse.davfs2", "fuse.gcsfuse", "fuse.glusterfs", "fuse.goofys",
        "fuse.grpcfuse", "fuse.osxfs", "fuse.rclone", "fuse.s3fs", "fuse.sshfs",
    }
)  # fmt: skip
"""File systems on which other machines write unseen: no events, unreliable locks, no shared memory for SQLite's WAL."""

_OCTAL = re.compile(r"\\([0-7]{3})")


class Mount(Struct, frozen=True, kw_only=True):
    """One line of mountinfo (proc(5))."""

    point: Path
    kind: str
    """``ext4``, ``nfs4``, ``fuse.sshfs``."""
    options: frozenset[str]
    """The options of the file system, such as ``hidepid=2``."""


def parse_mounts(mountinfo: str) -> list[Mount]:
    """Return the mounts in their order; invalid lines are skipped."""
    mounts = []
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        place, system = before.split(), after.split()
        if len(place) >= 5 and len(system) >= 3:
            point = _OCTAL.sub(lambda code: chr(int(code[1], 8)), place[4])
            options = frozenset(system[2].split(","))
            mounts.append(Mount(point=Path(point), kind=system[0], options=options))
    return mounts


def mount_of(mounts: list[Mount], path: Path) -> Mount | None:
    """Return the mount of a path without links: the deepest, and the last of several on the same mount point."""
    around = [mount for mount in mounts if path.is_relative_to(mount.point)]
    return max(reversed(around), key=lambda mount: len(mount.point.parts), default=None)


_PR_GET_CHILD_SUBREAPER = 37  # linux/prctl.h
_PROC = Path("/") / "proc"


def subreaper(_: Subject) -> Iterator[Finding]:
    """Check whether orphans can return to the runner."""
    if subreaper_known():
        yield ok("subreaper", "orphans return to their runner")
    else:
        found = "no child subreaper on this system: orphans are found only by their tags"
        yield warn("subreaper", found, "run agentdash on Linux, outside a sandbox that forbids prctl")


def pidfd(_: Subject) -> Iterator[Finding]:
    """Check whether a signal can be bound to one process."""
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (OSError, AttributeError) as error:
        yield fail("pidfd", f"pidfd_open does not work: {error}", "stopping needs Linux 5.3 or newer, unsandboxed")
    else:
        yield ok("pidfd", "signals reach exactly the intended process")


def environments(subject: Subject) -> Iterator[Finding]:
    """Check whether the environment of our own processes can be read: it holds the tags that find them."""
    mounts = (one for one in parse_mounts(subject.text(MOUNTS)) if one.point == _PROC and one.kind == "proc")
    options = {option for one in mounts for option in one.options}
    hidden = next((option for option in options if option.startswith("hidepid=")), "hidepid=0")
    where = str(_PROC) if hidden in ("hidepid=0", "hidepid=off") else f"{_PROC} is mounted with {hidden}"
    if processes.environment(os.getpid()):
        yield ok("processes", f"{where}: tags of own processes are readable")
    else:
        found = f"{where}: tags of own processes are not readable: detached processes are not found"
        yield fail("processes", found, f"mount -o remount,hidepid=0 {_PROC}, or give your user its gid= group")


def subreaper_known() -> bool:
    """Return whether the kernel has subreapers; queries it, so that this process does not become one."""
    answer = ctypes.c_int()
    return bool(ctypes.CDLL(None).prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(answer), 0, 0, 0) == 0)


FEW_INSTANCES = 128
"""The kernel's default; each runner and each front end takes one, and editors take many."""

FEW_WATCHES = 8192

_SECONDS = 2.0
"""Time limit for an event, which normally takes microseconds."""

_LIMITS = "proc/sys/fs/inotify"


def instances_and_watches(subject: Subject) -> Iterator[Finding]:
    """Check the limits of this user; no finding if the system has no limits."""
    instances = _number(subject.text(f"{_LIMITS}/max_user_instances"))
    watches = _number(subject.text(f"{_LIMITS}/max_user_watches"))
    if instances is None or watches is None:
        return
    found = f"{instances} instances, {watches} watches for this user"
    if instances < FEW_INSTANCES:
        yield warn("inotify", found, "sudo sysctl fs.inotify.max_user_instances=512")
    elif watches < FEW_WATCHES:
        yield warn("inotify", found, "sudo sysctl fs.inotify.max_user_watches=65536")
    else:
        yield ok("inotify", found)


def file_events(subject: Subject) -> Iterator[Finding]:
    """Write to a file in the state folder and wait for the event; no finding if the folder is missing or read-only."""
    home = subject.layout.home
    if not home.is_dir() or is_read_only(home):
        return
    with tempfile.TemporaryDirectory(prefix=".doctor-", dir=home) as scratch:
        reported = growth_is_reported(Path(scratch) / "file")
    if reported is None:
        remedy = "close other programs that watch files, or: sudo sysctl fs.inotify.max_user_instances=512"
        yield warn("file events", "the kernel refuses a watch: agentdash polls twice a second instead", remedy)
    elif reported:
        yield ok("file events", "writes in the state folder are reported")
    else:
        found = "writes in the state folder are not reported: updates are up to two seconds late"
        yield warn("file events", found, "set AGENTDASH_HOME to a folder on a local disk")


def growth_is_reported(path: Path) -> bool | None:
    """Return whether a write to this file is reported; None if it cannot be watched."""
    path.touch(0o600)
    descriptor = watch_growth(path)
    if descriptor is None:
        return None
    try:
        path.write_bytes(b"!")
        return bool(select.select([descriptor], [], [], _SECONDS)[0])
    finally:
        os.close(descriptor)


def _number(text: str) -> int | None:
    return int(text) if text.strip().isdigit() else None


_PLACES = ("etc", "run", "usr/local/lib", "usr/lib")
"""The folders in which logind searches for its settings, highest priority first."""

_SETTING = re.compile(r"^[ \t]*KillUserProcesses[ \t]*=[ \t]*(\S+)[ \t]*$", re.MULTILINE)
_PROPERTY = (
    "get-property", "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager",
    "KillUserProcesses",
)  # fmt: skip


def logout(subject: Subject) -> Iterator[Finding]:
    """Report the effect of a logout on running agents.

    With ``KillUserProcesses=yes`` logind ends everything in the scope of a login session (logind.conf(5)).  Lingering
    alone does not help: it keeps the user's own systemd alive, and only processes below that survive.
    """
    if not (subject.root / "run/systemd/system").is_dir():
        yield ok("logout", "no systemd that could end agents")
    elif not kills(subject):
        yield ok("logout", "agents survive logout (KillUserProcesses=no)")
    elif subject.user == "root":
        yield ok("logout", "agents survive logout (KillUserProcesses=yes spares root)")
    else:
        yield _after_logout(subject)


def kills(subject: Subject) -> bool:
    """Return whether logind kills a user's processes at logout: by its own answer, else by its settings."""
    busctl = find("busctl", subject.env)
    if busctl:
        answer = ask([busctl, "--system", *_PROPERTY], subject.env)
        if answer.exit_code == 0:
            return answer.first_line == "b true"
    return configured(subject).lower() in ("yes", "true", "on", "1")


def configured(subject: Subject) -> str:
    """Return the value in logind's settings; ``no``, the default, if it is not set."""
    values = _SETTING.findall("\n".join(_settings(subject)))
    return str(values[-1]) if values else "no"


def _settings(subject: Subject) -> Iterator[str]:
    """Yield the main file, then the drop-ins by name; a file in a folder of higher priority hides its namesakes."""
    mains = (subject.text(f"{place}/systemd/logind.conf") for place in _PLACES)
    yield next(filter(None, mains), "")
    drop_ins: dict[str, str] = {}
    for place in _PLACES:
        for path in (subject.root / place).glob("systemd/logind.conf.d/*.conf"):
            drop_ins.setdefault(path.name, f"{place}/systemd/logind.conf.d/{path.name}")
    yield from (subject.text(drop_ins[name]) for name in sorted(drop_ins))


def _after_logout(subject: Subject) -> Finding:
    lingers = (subject.root / "var/lib/systemd/linger" / subject.user).exists()
    outside = "/user@" in subject.text("proc/self/cgroup")
    if lingers and outside:
        return ok("logout", "agents survive logout (KillUserProcesses=yes, but lingering is enabled)")
    steps = [] if lingers else ["loginctl enable-linger"]
    steps += [] if outside else ["start it with: systemd-run --user --scope agentdash"]
    found = f"kills agents at logout (KillUserProcesses=yes, {'' if lingers else 'no '}lingering)"
    return warn("logout", found, ", then ".join(steps))


FEW_FILES = 1024
FEW_PROCESSES = 2048
"""An agent CLI takes 10 to 30 threads, each of which counts, in addition to the processes it starts."""


def open_files(_: Subject) -> Iterator[Finding]:
    """Check ``ulimit -n``."""
    yield judge_limit("open files", "n", resource.getrlimit(resource.RLIMIT_NOFILE)[0], FEW_FILES)


def user_processes(_: Subject) -> Iterator[Finding]:
    """Check ``ulimit -u``."""
    yield judge_limit("user processes", "u", resource.getrlimit(resource.RLIMIT_NPROC)[0], FEW_PROCESSES)


def judge_limit(name: str, letter: str, limit: int, few: int) -> Finding:
    """Judge whether a limit leaves room for many agents."""
    if limit == resource.RLIM_INFINITY:
        return ok(name, "no limit")
    if limit < few:
        return warn(name, f"{limit} at most", f"ulimit -{letter} {few * 4}, in the shell that starts agentdash")
    return ok(name, f"{limit} at most")


def terminal(subject: Subject) -> Iterator[Finding]:
    """Check kind, characters and colours."""
    yield kind(subject.env)
    yield characters(subject.env)
    yield ok("colours", colours(subject.env))


def kind(env: Mapping[str, str]) -> Finding:
    """Check whether its cursor can be moved."""
    term = env.get("TERM", "")
    if term in ("", "dumb", "unknown"):
        found = f"TERM is {term or 'not set'}: not supported by the dashboard"
        return warn("terminal", found, "use a terminal; over SSH: ssh -t")
    inside = "tmux" if env.get("TMUX") else "screen" if env.get("STY") else None
    return ok("terminal", f"{term}, inside {inside}" if inside else term)


def characters(env: Mapping[str, str]) -> Finding:
    """Check whether the locale is UTF-8."""
    locale = next(filter(None, map(env.get, ("LC_ALL", "LC_CTYPE", "LANG"))), "C")
    if is_forced(env):
        return ok("characters", "ASCII (AGENTDASH_ASCII)")
    if is_utf8(locale):
        return ok("characters", f"UTF-8 ({locale})")
    found = f"the locale {locale} is not UTF-8"
    return warn("characters", found, "export LC_ALL=C.UTF-8, or AGENTDASH_ASCII=1")


def colours(env: Mapping[str, str]) -> str:
    """Return the number of colours, with its source."""
    if env.get("NO_COLOR"):
        return "none (NO_COLOR)"
    if not has_colours(env):
        return "none (TERM)"
    if env.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return "16 million (COLORTERM)"
    return "256 (TERM)" if "256color" in env.get("TERM", "") else "16"


LONGEST_ESCAPE_MS = 50
"""A delay that people do not notice; tmux before 3.6 waits 500 ms by default."""


def tmux_options(subject: Subject) -> Iterator[Finding]:
    """Check the options of tmux that keys and notifications need; no finding outside tmux."""
    if not subject.env.get("TMUX"):
        return
    tmux = find("tmux", subject.env)
    if tmux is None:
        yield warn("tmux", "inside tmux, but no tmux command in PATH", "add its folder to PATH")
        return
    version = ask([tmux, "display-message", "-p", "#{version}"], subject.env)
    # ``3.4``, ``3.3a``, ``next-3.5``
    numbers = re.search(r"(\d{1,6})\.(\d{1,6})", version.first_line) if version.exit_code == 0 else None
    has_all = numbers is not None and tuple(map(int, numbers.groups())) >= (3, 4)
    yield passthrough(ask([tmux, "show", "-gv", "allow-passthrough"], subject.env), has_all=has_all)
    yield set_clipboard(ask([tmux, "show", "-gv", "set-clipboard"], subject.env))
    yield escape_time(ask([tmux, "show", "-sv", "escape-time"], subject.env))


def passthrough(answer: Answer, *, has_all: bool = False) -> Finding:
    """Check whether sequences unknown to tmux reach the terminal: ``off``, ``on`` or ``all``.

    ``all``, which passes on those of a window that is not shown too, is known since tmux 3.4.
    """
    if "invalid option" in answer.text:
        return ok("tmux passthrough", "always on (tmux older than 3.3)")
    found = f"allow-passthrough is {_value(answer)}"
    if answer.first_line == "all":
        return ok("tmux passthrough", found)
    if answer.first_line == "on":
        more = "; allow-passthrough all adds them" if has_all else ""
        return ok("tmux passthrough", f"{found}: windows that are not shown notify by a bell alone{more}")
    remedy = f"add to ~/.tmux.conf: set -g allow-passthrough {'all' if has_all else 'on'}"
    return warn("tmux passthrough", f"{found}: notifications are blocked", remedy)


def set_clipboard(answer: Answer) -> Finding:
    """Check whether a program inside may set the clipboard: only ``on`` allows it, ``external`` is for tmux itself."""
    found = f"set-clipboard is {_value(answer)}"
    if answer.first_line == "on":
        return ok("tmux clipboard", found)
    remedy = "add to ~/.tmux.conf: set -s set-clipboard on"
    return warn("tmux clipboard", f"{found}: copying is blocked", remedy)


def escape_time(answer: Answer) -> Finding:
    """Check how long tmux delays an Esc, in milliseconds: it waits for the rest of a possible key sequence."""
    known = answer.exit_code == 0 and answer.first_line.isdecimal()
    found = f"escape-time is {f'{answer.first_line} ms' if known else _value(answer)}"
    if known and int(answer.first_line) <= LONGEST_ESCAPE_MS:
        return ok("tmux escape-time", found)
    return warn("tmux escape-time", f"{found}: Esc is delayed", "add to ~/.tmux.conf: set -sg escape-time 10")


def _value(answer: Answer) -> str:
    return f"not known ({answer.first_line})" if answer.exit_code else answer.first_line or "not known"


def clipboard(subject: Subject) -> Iterator[Finding]:
    """Yield the usable helper, or the terminal itself."""
    env = subject.env
    helper = usable_helper(env)
    if env.get("SSH_CONNECTION") or env.get("SSH_TTY"):
        yield ok("clipboard", "OSC 52 only: over SSH, only the terminal can reach your clipboard")
    elif helper:
        yield ok("clipboard", f"{helper[0]}, or OSC 52")
    else:
        yield ok("clipboard", "OSC 52 only, if the terminal supports it (no wl-copy, xclip, xsel or pbcopy)")
