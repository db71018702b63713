"""Derive from an agent's steps what it does now, and how far its plan is.  Pure."""

from ..model import Activity, Plan, Step, StepKind, StepStatus
from ..text.sanitize import one_line

_SHOWN = frozenset({
    StepKind.REASONING, StepKind.MESSAGE, StepKind.COMMAND, StepKind.TOOL_CALL, StepKind.FILE_CHANGE,
    StepKind.WEB_SEARCH, StepKind.SUBAGENT,
})  # fmt: skip
"""Kinds of steps that an agent does; the others report about the turn."""

_MOST_OPEN = 100
"""Open steps that are remembered: more cannot be shown, and their number is the agent's choice."""

_CELLS = 200
"""Length to which texts are cut: a row shows no more."""


class ActivityWatch:
    """Follows the steps of one turn."""

    def __init__(self) -> None:
        self._open: dict[int, Activity] = {}
        self._last: Activity | None = None
        self._plan: Plan | None = None

    @property
    def activity(self) -> Activity | None:
        """The newest step that runs or, without one, the newest that ended; None before the first."""
        return next(reversed(self._open.values()), self._last)

    @property
    def plan(self) -> Plan | None:
        """The progress of the newest plan; None if the agent has made none."""
        return self._plan

    def feed(self, step: Step, now: int) -> None:
        """Take in a step, or a later form of one; ``now`` is UTC ms."""
        if step.parent is not None:
            return  # the row shows the main agent, and its call of the sub-agent runs meanwhile
        if step.kind is StepKind.PLAN:
            self._plan = _plan(step)
        elif step.kind in _SHOWN:
            before = self._open.pop(step.index, None)
            running = step.status is StepStatus.RUNNING
            self._last = Activity(step.kind, _text(step), before.since if before is not None else now, running)
            if running and len(self._open) < _MOST_OPEN:
                self._open[step.index] = self._last


def _plan(step: Step) -> Plan:
    waiting = [item for item in step.items if item.status != "completed"]
    current = next((item for item in waiting if item.status == "in_progress"), waiting[0] if waiting else None)
    text = one_line(current.text, _CELLS) if current is not None else ""
    return Plan(len(step.items) - len(waiting), len(step.items), text)


def _text(step: Step) -> str:
    if step.kind is StepKind.FILE_CHANGE and step.changes:
        more = f" +{len(step.changes) - 1}" if len(step.changes) > 1 else ""
        return one_line(step.changes[0].path, _CELLS) + more
    return one_line((step.command or step.text).lstrip()[: _CELLS * 4], _CELLS)
