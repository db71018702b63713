"""What codex was not allowed to do: declined items, what its sandbox stopped, and what only stderr tells.

``codex exec`` asks nobody.  codex-cli 0.169.0 leaves a patch that its sandbox forbids, and a command that its rules
forbid, out of the stream and complains about them on stderr (measured); other versions show such a command as a
failed one whose output says that it was rejected.
"""

import re
from collections.abc import Iterator

from ..model import Step, StepKind, StepStatus

_REJECTED = re.compile(r"error=patch rejected: |error=.{0,200}?`([^`]{1,4000})` rejected: ")
"""Lines of stderr; the command stands in backticks."""

_STOPPED = re.compile(r"^`.{1,4000}` rejected: |Read-only file system", re.DOTALL)
"""Outputs of failed commands; the second one is what a write outside of the sandbox's folders gets."""

_LOOKED_AT = 8192
"""Characters at the end of an output."""


def refused(step: Step) -> str | None:
    """What a completed step tried in vain: a program, a tool; None where nothing kept it from that."""
    stopped = step.kind is StepKind.COMMAND and step.status is StepStatus.FAILED and _is_refusal(step.output or "")
    if step.status is not StepStatus.DECLINED and not stopped:
        return None
    if step.kind is StepKind.COMMAND:
        return program(step.command or "")
    return "apply_patch" if step.kind is StepKind.FILE_CHANGE else step.tool or str(step.kind)


def complaints(stderr: str) -> Iterator[str | None]:
    """The commands that stderr says were refused, as codex wrapped them; None for a patch."""
    for line in stderr.splitlines():
        found = _REJECTED.search(line)
        if found is not None:
            yield found[1]


def program(command: str) -> str:
    """The first word of a command, without its folder."""
    words = command.split(maxsplit=1)
    return words[0].rsplit("/", 1)[-1] if words else "command"


def _is_refusal(output: str) -> bool:
    return _STOPPED.search(output[-_LOOKED_AT:]) is not None
