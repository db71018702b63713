"""Whether logging out kills the agents.

With ``KillUserProcesses=yes`` logind ends everything in the scope of a login session (logind.conf(5)).  Lingering
alone does not help: it keeps the user's own systemd alive, and only what runs below that survives.
"""

import re
from collections.abc import Iterator

from . import commands
from .model import Finding, Subject, ok, warn

_PLACES = ("etc", "run", "usr/local/lib", "usr/lib")
"""Where logind looks for its settings, the strongest first."""

_SETTING = re.compile(r"^\s*KillUserProcesses\s*=\s*(\S+)\s*$", re.MULTILINE)
_PROPERTY = (
    "get-property", "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager",
    "KillUserProcesses",
)  # fmt: skip


def logout(subject: Subject) -> Iterator[Finding]:
    """What a logout does to running agents."""
    if not (subject.root / "run/systemd/system").is_dir():
        yield ok("logout", "no systemd here that could end agents")
    elif not kills(subject):
        yield ok("logout", "agents live on (KillUserProcesses=no)")
    elif subject.user == "root":
        yield ok("logout", "agents live on (KillUserProcesses=yes spares root)")
    else:
        yield _judge(subject)


def kills(subject: Subject) -> bool:
    """Whether logind ends what a user leaves behind: what it says itself, else what its settings say."""
    busctl = commands.find("busctl", subject.env)
    if busctl:
        answer = commands.ask([busctl, "--system", *_PROPERTY], subject.env)
        if answer.exit_code == 0:
            return answer.first_line == "b true"
    return configured(subject).lower() in ("yes", "true", "on", "1")


def configured(subject: Subject) -> str:
    """The value in logind's settings; ``no``, the default, where they say nothing."""
    values = _SETTING.findall("\n".join(_settings(subject)))
    return str(values[-1]) if values else "no"


def _settings(subject: Subject) -> Iterator[str]:
    """The main file, then the drop-ins by name: a file in a stronger place hides its namesake."""
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
        return ok("logout", "agents live on (KillUserProcesses=yes, but this runs below a systemd that lingers)")
    steps = [] if lingers else ["loginctl enable-linger"]
    steps += [] if outside else ["start it with: systemd-run --user --scope agentdash"]
    found = f"kills running agents (KillUserProcesses=yes, {'' if lingers else 'no '}lingering)"
    return warn("logout", found, ", then ".join(steps))
