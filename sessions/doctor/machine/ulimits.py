"""Check the resource limits of the shell that starts agentdash."""

import resource
from collections.abc import Iterator

from ..model import Finding, Subject, ok, warn

FEW_FILES = 1024
FEW_PROCESSES = 2048
"""An agent CLI takes 10 to 30 threads, each of which counts, in addition to the processes it starts."""


def open_files(_: Subject) -> Iterator[Finding]:
    """Check ``ulimit -n``."""
    yield judge("open files", "n", resource.getrlimit(resource.RLIMIT_NOFILE)[0], FEW_FILES)


def user_processes(_: Subject) -> Iterator[Finding]:
    """Check ``ulimit -u``."""
    yield judge("user processes", "u", resource.getrlimit(resource.RLIMIT_NPROC)[0], FEW_PROCESSES)


def judge(name: str, letter: str, limit: int, few: int) -> Finding:
    """Judge whether a limit leaves room for many agents."""
    if limit == resource.RLIM_INFINITY:
        return ok(name, "no limit")
    if limit < few:
        return warn(name, f"{limit} at most", f"ulimit -{letter} {few * 4}, in the shell that starts agentdash")
    return ok(name, f"{limit} at most")
