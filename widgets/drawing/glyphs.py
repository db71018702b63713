"""The characters of the screen, and their ASCII twins for terminals without Unicode.

Each state and each kind of step has its own character, so that nothing is shown by colour alone.
"""

from msgspec import Struct

from ...sessions.conversation.marks import MarkKind
from ...sessions.model import Status, StepKind, StepStatus
from ...sessions.transcript.blocks import ENDINGS


class Signs(Struct, frozen=True, kw_only=True):
    """One set of characters."""

    states: dict[Status, str]
    kinds: dict[StepKind, str]
    rule: str
    marked: str
    """Leads the title of a session that the user marked."""
    stuck: str
    """Marks a running session that is stuck."""
    pinned: str
    """Leads the title of a pinned session, which stays above the others."""
    cursor: str
    """The left edge of the row under the cursor."""
    nested: str
    """Leads the steps of a sub-agent."""
    below: str
    """Leads the second line of a row."""
    linked: str
    """Leads the title of a worker that is stopped with its lead."""
    between: str
    """Separates two texts on one line."""
    cut: str
    """The left edge of a step that was cut from the conversation."""
    marks: dict[str, str]
    """The character of each kind of mark of a conversation (:class:`...sessions.conversation.marks.MarkKind`)."""
    endings: dict[StepStatus, str]
    """The mark of each step ending."""
    plan: dict[str, str]
    ascii_only: bool = False

    def plain(self, text: str) -> str:
        """The text as the terminal can show it, each character replaced by one character."""
        if not self.ascii_only or text.isascii():
            return text
        return "".join(char if char.isascii() else _TWINS.get(char, "?") for char in text)


_TWINS = {
    "≈": "~",
    "≥": ">",
    "▾": "v",
    "▴": "^",
    "▸": ">",
    "├": "|",
    "└": "`",
    "…": "~",
    "·": "-",
    "─": "-",
    "│": "|",
    "┼": "+",
    "▎": "|",
    "•": "*",
    "→": ">",
    "←": "<",
    "↑": "^",
    "↓": "v",
    "↳": ">",
}

UNICODE = Signs(
    states={
        Status.QUEUED: "◌",
        Status.STARTING: "◔",
        Status.RUNNING: "●",
        Status.WAITING: "?",
        Status.FINISHING: "◕",
        Status.DONE: "✓",
        Status.FAILED: "✗",
        Status.STOPPED: "■",
        Status.LOST: "~",
    },
    kinds={
        StepKind.PROMPT: "❯",  # noqa: RUF001 - the prompt's own character
        StepKind.START: "▸",
        StepKind.REASONING: "∴",
        StepKind.MESSAGE: "✦",
        StepKind.COMMAND: "$",
        StepKind.TOOL_CALL: "⚙",
        StepKind.FILE_CHANGE: "±",
        StepKind.WEB_SEARCH: "⌕",
        StepKind.PLAN: "☐",
        StepKind.SUBAGENT: "⑂",
        StepKind.ERROR: "!",
        StepKind.NOTICE: "·",
        StepKind.USAGE: "Σ",
        StepKind.UNKNOWN: "??",
    },
    rule="─",
    marked="◆",
    stuck="!",
    pinned="★",
    cursor="▌",
    nested="┆",
    below="↳",
    linked="⊸",
    between="·",
    cut="╎",
    marks={
        MarkKind.FORK: "⑂",
        MarkKind.REWIND: "↶",
        MarkKind.UNDO: "↷",
        MarkKind.COMPACT: "≡",
        MarkKind.CLEAR: "∅",
        MarkKind.TAKEOVER: "✎",
    },
    endings=ENDINGS,
    plan={"completed": "☑", "in_progress": "◐", "pending": "☐"},
)

ASCII = Signs(
    states={
        Status.QUEUED: "-",
        Status.STARTING: ":",
        Status.RUNNING: "*",
        Status.WAITING: "?",
        Status.FINISHING: ";",
        Status.DONE: "+",
        Status.FAILED: "x",
        Status.STOPPED: ".",
        Status.LOST: "~",
    },
    kinds={
        StepKind.PROMPT: ">",
        StepKind.START: "|",
        StepKind.REASONING: "~",
        StepKind.MESSAGE: "*",
        StepKind.COMMAND: "$",
        StepKind.TOOL_CALL: "@",
        StepKind.FILE_CHANGE: "+-",
        StepKind.WEB_SEARCH: "w",
        StepKind.PLAN: "[]",
        StepKind.SUBAGENT: "Y",
        StepKind.ERROR: "!",
        StepKind.NOTICE: "-",
        StepKind.USAGE: "=",
        StepKind.UNKNOWN: "??",
    },
    rule="-",
    marked="*",
    stuck="!",
    pinned="^",
    cursor=">",
    nested="|",
    below=">",
    linked="=",
    between="-",
    cut=":",
    marks={
        MarkKind.FORK: "Y",
        MarkKind.REWIND: "<",
        MarkKind.UNDO: ">",
        MarkKind.COMPACT: "=",
        MarkKind.CLEAR: "0",
        MarkKind.TAKEOVER: "&",
    },
    endings={
        StepStatus.OK: "+",
        StepStatus.FAILED: "x",
        StepStatus.DECLINED: "! declined",
        StepStatus.INTERRUPTED: ". interrupted",
        StepStatus.RUNNING: "* running",
    },
    plan={"completed": "[x]", "in_progress": "[>]", "pending": "[ ]"},
    ascii_only=True,
)
