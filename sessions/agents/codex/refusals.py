"""Actions that codex was refused: declined items, commands that its sandbox stopped, and complaints on stderr.

``codex exec`` never asks the user.  codex-cli 0.169.0 omits a patch that its sandbox forbids, and a command that its
rules forbid, from the stream, and complains about them on stderr (docs/protocols/codex.md, "Refusals").  Other versions
show such a command as failed, with an output that calls it rejected.
"""

import re
from collections.abc import Iterator

from agentdash.sessions.model.session import Step, StepKind, StepStatus
from agentdash.sessions.rules.digest.shell import programs
from agentdash.sessions.text.sanitize import clean, one_line, shorten

_REJECTED = re.compile(r"error=patch rejected: |error=.{0,200}?`([^`]{1,4000})` rejected: ")
"""Lines of stderr; the command is in backticks."""

_UNAPPLIED = re.compile(r"\bERROR\b.{0,80}\berror=apply_patch verification failed: ")
"""A line of stderr, without colours."""

_READ_ONLY = "Read-only file system"
_STOPPED = re.compile(rf"^`.{{1,4000}}` rejected: |{_READ_ONLY}", re.DOTALL)
"""Outputs of failed commands; the second is the error of a write outside the sandbox's folders."""

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
"""Words before a program that set its environment variables."""

_QUOTES = "'\"`\u2018\u2019"

_SHOWN = 60
"""Characters shown of a command that is named as a whole."""

_LOOKED_AT = 8192
"""Characters searched at the end of an output."""


def refused(step: Step) -> str | None:
    """Return the program or tool that a completed step was refused; None if it was not refused."""
    output = (step.output or "")[-_LOOKED_AT:]
    failed = step.kind is StepKind.COMMAND and step.status is StepStatus.FAILED
    if step.status is not StepStatus.DECLINED and not (failed and _STOPPED.search(output)):
        return None
    if step.kind is StepKind.COMMAND:
        return culprit(step.command or "", output)
    return "apply_patch" if step.kind is StepKind.FILE_CHANGE else step.tool or str(step.kind)


def complaints(stderr: str) -> Iterator[str | None]:
    """Yield the refused commands that stderr names, with codex's shell wrapper; None for a patch.

    The app server writes the lines with colours (codex-cli 0.169.0).
    """
    for line in clean(stderr).splitlines():
        match = _REJECTED.search(line)
        if match is not None:
            yield match[1]


def unapplied(stderr: str) -> int:
    """Count the patches that stderr says did not apply.

    codex-cli 0.169.0 has no event for such a patch, with or without its app server
    (docs/protocols/codex.md, "Refusals").  Its stderr and its rollout have the same words; the app server writes them
    with colours.
    """
    return sum(_UNAPPLIED.search(line) is not None for line in clean(stderr).splitlines())


def culprit(command: str, output: str = "") -> str:
    """Return the refused program of a command; the command itself, shortened, if the program is not certain.

    A command may start several programs.  The complaint about a read-only file names the program or, if it comes from
    a shell, the file for the program's output.
    """
    names = _names(command)
    for line in output.split("\n") if len(set(names)) > 1 else ():
        before, marker, after = line.partition(_READ_ONLY)
        if marker:
            who = before.partition(":")[0].strip()
            if (name := who.rsplit("/", 1)[-1]) in names:
                return name
            if (writer := _writer(command, before) or _writer(command, after)) is not None:
                return writer
    return names[0] if len(set(names)) == 1 else shorten(one_line(command), _SHOWN) or "command"


def _names(command: str) -> list[str]:
    """Return the programs of a command, without their folders."""
    words = (next((w for w in p.words if not _VARIABLE.match(w)), "") for p in programs(command))
    return [word.rsplit("/", 1)[-1] for word in words if word]


def _writer(command: str, complaint: str) -> str | None:
    """Return the program before the file that a complaint's text ends with."""
    words = complaint.strip(": ").split()
    path = words[-1].strip(_QUOTES) if words else ""
    at = command.find(path) if path else -1
    names = _names(command[:at]) if at > 0 else []
    return names[-1] if names else None
