"""The step of an ended session that the user wants to read first: the answer, or the reason of the failure.  Pure."""

from collections.abc import Sequence

from agentdash.sessions.model.session import Status, StepKind, Turn
from agentdash.sessions.rules.conversation.shown import Shown
from agentdash.sessions.transcript.index.kind_codes import NESTED, table
from agentdash.sessions.transcript.snapshot import View
from agentdash.widgets.steps.filtered_steps import FAILURES

_MESSAGES = table([StepKind.MESSAGE], lacking=NESTED)
_ERRORS = table([StepKind.ERROR], lacking=NESTED)


def answer(view: View, turns: Sequence[Turn], known: Shown | None = None) -> int | None:
    """Return the last message of the newest turn, or the error of a failed turn.

    None if the turn has neither, and if its end was cut: the line of the step back is then the last one.
    """
    if not turns or not len(view):
        return None
    newest = turns[-1]
    failed = newest.status in (Status.FAILED, Status.LOST)
    wanted = (_ERRORS, FAILURES, _MESSAGES) if failed else (_MESSAGES, _ERRORS)
    last = (view.next_marked(marked, len(view), -1) for marked in wanted)
    found = next((item for item in last if item is not None and view.turn(item) == newest.n), None)
    return None if found is None or (known is not None and known.cuts(newest.n, view.step(found).index)) else found
