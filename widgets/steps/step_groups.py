"""Groups of step kinds to filter by; each has a number key."""

from collections.abc import Collection

from msgspec import Struct

from ...sessions.model import StepKind
from ...sessions.transcript.index.kind_codes import FAILED, NESTED, table


class Group(Struct, frozen=True):
    """Steps that are shown or hidden together."""

    key: str
    label: str
    kind: StepKind
    """The kind whose character represents the group."""
    marked: bytes
    """The steps of the group, as a table of ``kinds``."""
    one: str = ""
    """The word for one step of the group; "" for steps that are not worth a count."""
    many: str = ""
    rank: int = 0
    """The count with the highest rank is left out first if there is little room."""


_TOOLS = (StepKind.TOOL_CALL, StepKind.WEB_SEARCH, StepKind.SUBAGENT)
_OTHER = (StepKind.START, StepKind.PLAN, StepKind.NOTICE, StepKind.USAGE, StepKind.UNKNOWN)

GROUPS = (
    Group("1", "prompts", StepKind.PROMPT, table([StepKind.PROMPT]), "prompt", "prompts", 6),
    Group("2", "messages", StepKind.MESSAGE, table([StepKind.MESSAGE]), "message", "messages", 1),
    Group("3", "reasoning", StepKind.REASONING, table([StepKind.REASONING]), "thought", "thoughts", 5),
    Group("4", "commands", StepKind.COMMAND, table([StepKind.COMMAND]), "command", "commands", 2),
    Group("5", "tools", StepKind.TOOL_CALL, table(_TOOLS), "tool call", "tool calls", 4),
    Group("6", "files", StepKind.FILE_CHANGE, table([StepKind.FILE_CHANGE]), "edit", "edits", 3),
    Group("7", "failures", StepKind.ERROR, table(having=FAILED), "failed", "failed"),
    Group("8", "other", StepKind.NOTICE, table(_OTHER)),
)

LOG_LINES = table([StepKind.MESSAGE, StepKind.UNKNOWN])
"""The lines that a plain command printed."""

FAILURES = table(having=FAILED)
PROMPTS = table([StepKind.PROMPT], lacking=NESTED)


def union(keys: Collection[str]) -> bytes:
    """The steps of any of these groups, as a table of ``kinds``."""
    chosen = [group.marked for group in GROUPS if group.key in keys]
    return bytes(any(marked[value] for marked in chosen) for value in range(256))
