"""The displayed names of the kinds of steps: the same words in the pane and in exports."""

from ..model import StepKind

_NAMES = {
    StepKind.TOOL_CALL: "tool call",
    StepKind.FILE_CHANGE: "file change",
    StepKind.WEB_SEARCH: "web search",
    StepKind.SUBAGENT: "sub-agent",
    StepKind.USAGE: "tokens",
    StepKind.UNKNOWN: "unknown event",
}
"""The names that differ from the kind's value."""


def kind_name(kind: StepKind) -> str:
    """Return the name of a kind in lower case: ``file change``."""
    return _NAMES.get(kind, kind.value)
