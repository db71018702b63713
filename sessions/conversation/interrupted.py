"""A tool call that never got its result: the words for it, and the projection that closes it.  Pure.

A call is closed at its own place, each open one, and only in what is shown or retold.  Nothing is written: the turn may
still run in another process, and its result may still come.
"""

from msgspec import structs

from ..values.steps import Step, StepKind, StepStatus

FOR_THE_MODEL = "interrupted: its result is not known, and it may have had effects; check before you repeat it"
"""The result of such a call in a conversation that is retold to an agent."""

FOR_PEOPLE = "no result was recorded; it may have had effects"
"""The result of such a call on the screen, in printed messages and in exports, after the word ``interrupted``."""

CALLS = frozenset({
    StepKind.COMMAND, StepKind.TOOL_CALL, StepKind.FILE_CHANGE, StepKind.WEB_SEARCH, StepKind.SUBAGENT,
})  # fmt: skip
"""The kinds of steps that have a result."""

SAID = frozenset({StepKind.PROMPT, StepKind.MESSAGE})


def is_interrupted(step: Step) -> bool:
    """Return whether a step is a call whose result never came."""
    return step.status is StepStatus.INTERRUPTED and step.kind in CALLS


def is_conversation(step: Step) -> bool:
    """Return whether a step belongs to the conversation: a prompt, a message, or an interrupted call."""
    return step.kind in SAID or is_interrupted(step)


def closed(step: Step) -> Step:
    """Return an open call as an interrupted one, and any other step as it is: for turns that have ended."""
    is_open = step.status is StepStatus.RUNNING and step.kind in CALLS
    return structs.replace(step, status=StepStatus.INTERRUPTED) if is_open else step
