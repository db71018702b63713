"""The steps of a lead that started its workers.  Pure.

A step started a worker if it is the call that the worker was recorded with, or if it ran ``agentdash spawn`` (or the
tool ``delegate``) and its output names the worker.  Only the lead's own workers are searched for: an id in a stranger's
text opens nothing.
"""

import re
from collections.abc import Iterable, Sequence

from agentdash.sessions.model.session import SHORT_ID, Session, Step, StepKind

_READ = 20_000
"""Characters of a command and of an output in which ids are searched for."""

_STARTS = re.compile(r"\bagentdash\b[^\n;&|]{0,200}\b(?:spawn|run)\b")
"""A shell command that starts a session: ``agentdash spawn``, also ``python -m agentdash``."""

_SERVER = "agentdash"
_TOOL = "delegate"

_ITEM = re.compile(r"item_\d+")
"""The number that ``codex exec`` (0.169.0) prints in place of the id of a call."""

_ID = re.compile(rf"(?<![0-9A-Za-z_-])[0-9A-Za-z_-]{{{SHORT_ID},64}}(?![0-9A-Za-z_-])")


def started_by(step: Step, workers: Sequence[Session]) -> list[Session]:
    """Return those of a lead's workers that a step of the lead started, in the order of ``workers``."""
    if not workers or step.kind not in (StepKind.TOOL_CALL, StepKind.COMMAND):
        return []
    if step.call_id is not None and (called := [one for one in workers if one.call == step.call_id]):
        return called
    if not _may_start(step):
        return []
    named = {word[0] for word in _ID.finditer(_text(step.output))}
    # A worker with a call was started by the step with that call, even if another step names it.
    numbered = step.kind is StepKind.TOOL_CALL and _ITEM.fullmatch(step.call_id or "") is not None
    return [one for one in workers if (numbered or one.call is None) and not named.isdisjoint((one.id, one.short_id))]


def step_that_started(steps: Iterable[Step], worker: Session) -> Step | None:
    """Return the step of a lead that started a worker; None if none is recorded."""
    return next((step for step in steps if started_by(step, [worker])), None)


def _may_start(step: Step) -> bool:
    if step.kind is StepKind.COMMAND:
        return _STARTS.search(_text(step.command)) is not None
    names = f"{step.server or ''} {step.tool or ''}"
    return _SERVER in names and _TOOL in names


def _text(value: object) -> str:
    return value[:_READ] if isinstance(value, str) else ""
