"""Check what tmux passes on to the terminal around it: notifications, the clipboard, and an Esc without delay."""

import re
from collections.abc import Iterator

from .. import commands
from ..commands import Answer
from ..model import Finding, Subject, ok, warn

LONGEST_ESCAPE_MS = 50
"""A delay that people do not notice; tmux before 3.6 waits 500 ms by default."""


def options(subject: Subject) -> Iterator[Finding]:
    """Check the relevant options; no finding outside tmux."""
    if not subject.env.get("TMUX"):
        return
    tmux = commands.find("tmux", subject.env)
    if tmux is None:
        yield warn("tmux", "inside tmux, but no tmux command in PATH", "add its folder to PATH")
        return
    version = commands.ask([tmux, "display-message", "-p", "#{version}"], subject.env)
    yield passthrough(
        commands.ask([tmux, "show", "-gv", "allow-passthrough"], subject.env), has_all=_is_since(version, 3, 4)
    )
    yield set_clipboard(commands.ask([tmux, "show", "-gv", "set-clipboard"], subject.env))
    yield escape_time(commands.ask([tmux, "show", "-sv", "escape-time"], subject.env))


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


def _is_since(version: Answer, *since: int) -> bool:
    """Return whether tmux reports this version or a later one: ``3.4``, ``3.3a``, ``next-3.5``."""
    numbers = re.search(r"(\d{1,6})\.(\d{1,6})", version.first_line) if version.exit_code == 0 else None
    return numbers is not None and tuple(map(int, numbers.groups())) >= since


def _value(answer: Answer) -> str:
    return f"not known ({answer.first_line})" if answer.exit_code else answer.first_line or "not known"
