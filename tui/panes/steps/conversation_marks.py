"""The marks of a conversation in the list of steps: the keys that act on them, the sessions that they name.  Pure."""

from agentdash.sessions.model.session import Step
from agentdash.sessions.rules.conversation.marks import MarkKind
from agentdash.sessions.transcript.mark_steps import MarkStep
from agentdash.sessions.transcript.session_steps import Growth
from agentdash.tui.messages import OtherSessionAsked
from agentdash.widgets.steps.headed_steps import NO_CUTS, Cuts


def cuts_of(growth: Growth, undo_key: str, open_key: str) -> Cuts:
    """Return what the list shows of the marks and their keys; of a session without marks always the same value."""
    if not growth.marks:
        return NO_CUTS
    hints = {step.mark.id: f"{open_key} opens it" for section in growth.marks for step in section.steps if step.opens}
    undoable = growth.shown.undoable if growth.shown is not None else None
    if undoable is not None and undo_key:
        hints[undoable.id] = f"{undo_key} takes it back"
    return Cuts(growth.shown, hints)


def other_session(step: Step | None) -> OtherSessionAsked | None:
    """Return the request to open the other session of a fork; None for another step."""
    if not isinstance(step, MarkStep) or step.opens is None or step.mark.kind != MarkKind.FORK:
        return None
    mark = step.mark
    is_origin = step.opens == mark.origin and mark.turn is not None
    place = mark.turn or 1, _LAST_STEP if mark.step is None else mark.step
    return OtherSessionAsked(step.opens, place if is_origin else None)


_LAST_STEP = 1 << 30
"""An index beyond the last step of every turn: a place of that index is the last step."""
