"""Derive from an agent's steps what it does now, and how far its plan is.  Pure."""

from agentdash.sessions.model.session import Activity, Plan, Step, StepKind, StepStatus
from agentdash.sessions.rules.conversation.shown import CALLS
from agentdash.sessions.text.sanitize import one_line

_SHOWN = CALLS | {StepKind.REASONING, StepKind.MESSAGE}
"""Kinds of steps that an agent does; the others report about the turn."""

_REFUSED = frozenset({StepStatus.FAILED, StepStatus.DECLINED})

_MOST_OPEN = 100
"""Open steps that are remembered: more cannot be shown, and their number is the agent's choice."""

_CELLS = 200
"""Length to which texts are cut: a row shows no more."""


class ActivityWatch:
    """Follows the steps of one turn."""

    def __init__(self) -> None:
        self._open: dict[int, Activity] = {}
        self._last: Activity | None = None
        self._plans: dict[int, Plan | None] = {}

    @property
    def activity(self) -> Activity | None:
        """The newest step that runs or, without one, the newest that ended; None before the first."""
        return next(reversed(self._open.values()), self._last)

    @property
    def plan(self) -> Plan | None:
        """The progress of the newest plan that was not refused; None without one, or if it has no items."""
        return next(reversed(self._plans.values()), None)

    def feed(self, step: Step, now: int) -> None:
        """Take in a step, or a later form of one; ``now`` is UTC ms."""
        if step.parent is not None:
            return  # the row shows the main agent, and its call of the sub-agent runs meanwhile
        if step.kind is StepKind.PLAN:
            # A plan that fails or is declined gives way to the plan before it.
            self._plans.pop(step.index, None)
            if step.status not in _REFUSED:
                self._plans[step.index] = _plan(step)
                if len(self._plans) > _MOST_OPEN:
                    del self._plans[next(iter(self._plans))]
        elif step.kind in _SHOWN:
            before = self._open.pop(step.index, None)
            since = max(before.since, step.decided_at or 0) if before is not None else now
            self._last = Activity(step.kind, _text(step), since, step.is_open)
            if step.is_open and len(self._open) < _MOST_OPEN:
                self._open[step.index] = self._last


def _plan(step: Step) -> Plan | None:
    if not step.items:
        return None
    waiting = [item for item in step.items if item.status != "completed"]
    current = next((item for item in waiting if item.status == "in_progress"), waiting[0] if waiting else None)
    text = one_line(current.text, _CELLS) if current is not None else ""
    return Plan(len(step.items) - len(waiting), len(step.items), text)


def _text(step: Step) -> str:
    if step.kind is StepKind.FILE_CHANGE and step.changes:
        more = f" +{len(step.changes) - 1}" if len(step.changes) > 1 else ""
        return one_line(step.changes[0].path, _CELLS) + more
    return one_line((step.command or step.text).lstrip()[: _CELLS * 4], _CELLS)
