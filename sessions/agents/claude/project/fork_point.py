"""The message behind which claude can fork its conversation (Claude Code 2.1.197 and 2.1.330).

``--resume-session-at`` takes the ``uuid`` of a line ``assistant`` of the stream, which has one content block.  It
refuses the id of any other line (docs/protocols/claude.md, "Forks and compactions").
"""

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct, field

from agentdash.sessions.agents.claude.events import SYNTHETIC
from agentdash.sessions.agents.parsing.json_lines import decoded
from agentdash.sessions.agents.parsing.line_parts import each_part
from agentdash.sessions.agents.parsing.parser import TurnParser
from agentdash.sessions.model.session import Step, StepKind

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,99}")
"""An id that can be an argument: it comes from the stream and must never be taken for an option."""


class _Message(Struct):
    model: str | None = None


class _Line(Struct):
    type: str = ""
    uuid: str = ""
    parent_tool_use_id: str | None = None
    message: _Message = field(default_factory=_Message)


def message_before(lines: Iterable[bytes], parser: TurnParser, through: int | None) -> str | None:
    """Return the id of the message that is the last part of the conversation at a place of a turn.

    Args:
        through: the index of the last step before the place; None for the end of the turn.

    Returns:
        None if the last part is not a message of the main agent, or if a tool call is open there: the fork would have
        less, or more, than the steps.
    """
    found: str | None = None
    for line in each_part(lines):
        steps = parser.feed(line)
        if through is not None and any(step.index > through for step in steps):
            break
        event = decoded(line, _Line)
        if event is None:
            found = None if any(step.parent is None for step in steps) else found
        elif event.parent_tool_use_id is None and event.type in ("assistant", "user"):
            found = _after(event, steps, found)
    opened = (step for step in parser.state.open.values() if step.parent is None)
    return None if any(through is None or step.index <= through for step in opened) else found


def _after(event: _Line, steps: Sequence[Step], found: str | None) -> str | None:
    """Return the id that counts behind a line of the main agent's conversation.

    A thought leaves it as it is, and so does the repeated prompt of the turn, which gives no step.
    """
    kinds = {step.kind for step in steps}
    if kinds <= {StepKind.REASONING}:
        return found
    if event.type != "assistant" or kinds != {StepKind.MESSAGE} or event.message.model == SYNTHETIC:
        return None
    return event.uuid if _ID.fullmatch(event.uuid) else None
