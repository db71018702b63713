"""Check the kernel features that a runner needs to find and end everything its agent started."""

import ctypes
import os
from collections.abc import Iterator
from pathlib import Path

from ...processes import processes
from ..model import Finding, Subject, fail, ok, warn
from .mounts import MOUNTS, Mount, parse

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
    hidden = _hidepid(parse(subject.text(MOUNTS)))
    where = f"{_PROC} is mounted with {hidden}" if hidden else str(_PROC)
    if processes.environment(os.getpid()):
        yield ok("processes", f"{where}: tags of own processes are readable")
    else:
        found = f"{where}: tags of own processes are not readable: detached processes are not found"
        yield fail("processes", found, f"mount -o remount,hidepid=0 {_PROC}, or give your user its gid= group")


def subreaper_known() -> bool:
    """Return whether the kernel has subreapers; queries it, so that this process does not become one."""
    answer = ctypes.c_int()
    return bool(ctypes.CDLL(None).prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(answer), 0, 0, 0) == 0)


def _hidepid(mounts: list[Mount]) -> str | None:
    """Return the option that hides other users' processes, if it is on."""
    options = {option for mount in mounts if mount.point == _PROC and mount.kind == "proc" for option in mount.options}
    option_set = next((option for option in options if option.startswith("hidepid=")), None)
    return None if option_set in ("hidepid=0", "hidepid=off") else option_set
