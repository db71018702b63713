"""Check whether a logout kills the agents.

With ``KillUserProcesses=yes`` logind ends everything in the scope of a login session (logind.conf(5)).  Lingering
alone does not help: it keeps the user's own systemd alive, and only processes below that survive.
"""

import re
from collections.abc import Iterator

from .. import commands
from ..model import Finding, Subject, ok, warn

_PLACES = ("etc", "run", "usr/local/lib", "usr/lib")
"""The folders in which logind searches for its settings, highest priority first."""

_SETTING = re.compile(r"^[ \t]*KillUserProcesses[ \t]*=[ \t]*(\S+)[ \t]*$", re.MULTILINE)
_PROPERTY = (
    "get-property", "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager",
    "KillUserProcesses",
)  # fmt: skip


def logout(subject: Subject) -> Iterator[Finding]:
    """Report the effect of a logout on running agents."""
    if not (subject.root / "run/systemd/system").is_dir():
        yield ok("logout", "no systemd that could end agents")
    elif not kills(subject):
        yield ok("logout", "agents survive logout (KillUserProcesses=no)")
    elif subject.user == "root":
        yield ok("logout", "agents survive logout (KillUserProcesses=yes spares root)")
    else:
        yield _judge(subject)


def kills(subject: Subject) -> bool:
    """Return whether logind kills a user's processes at logout: by its own answer, else by its settings."""
    busctl = commands.find("busctl", subject.env)
    if busctl:
        answer = commands.ask([busctl, "--system", *_PROPERTY], subject.env)
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


def _judge(subject: Subject) -> Finding:
    lingers = (subject.root / "var/lib/systemd/linger" / subject.user).exists()
    outside = "/user@" in subject.text("proc/self/cgroup")
    if lingers and outside:
        return ok("logout", "agents survive logout (KillUserProcesses=yes, but lingering is enabled)")
    steps = [] if lingers else ["loginctl enable-linger"]
    steps += [] if outside else ["start it with: systemd-run --user --scope agentdash"]
    found = f"kills agents at logout (KillUserProcesses=yes, {'' if lingers else 'no '}lingering)"
    return warn("logout", found, ", then ".join(steps))
