"""Find an agent's last answer among a session's steps, which are read from their end."""

from collections.abc import Callable

from agentdash.sessions.model.session import StepKind
from agentdash.sessions.transcript.index.kind_codes import NESTED, table
from agentdash.sessions.transcript.session_steps import Growth
from agentdash.sessions.transcript.snapshot import View

_ANSWERS = table([StepKind.MESSAGE], lacking=NESTED)
"""Messages of the agent itself, not of its sub-agents."""

_ERRORS = table([StepKind.ERROR])


def last_answer(read: Callable[[], Growth]) -> tuple[View, int | None]:
    """Return the steps that were read, and the item of the last answer; without one, of the last error; none was cut.

    Args:
        read: reads more of the steps, the end first.
    """
    growth = read()
    while (item := _last(growth, _ANSWERS)) is None and growth.ahead and growth.trouble is None:
        growth = read()
    return growth.view, _last(growth, _ERRORS) if item is None else item


def _last(growth: Growth, marked: bytes) -> int | None:
    """Return the last item that a table of ``kind_codes`` marks and that was not cut."""
    view, item = growth.view, growth.view.next_marked(marked, len(growth.view), -1)
    while item is not None and growth.shown is not None and growth.shown.cuts(view.turn(item), view.step(item).index):
        item = view.next_marked(marked, item, -1)
    return item
