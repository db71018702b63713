"""The characters of the screen, and their ASCII twins for terminals that know no others.

Each state and each kind of step has a character of its own: nothing is told by colour alone.
"""

from msgspec import Struct

from ...sessions.model import Status, StepKind, StepStatus
from ...sessions.transcript.blocks import ENDINGS


class Signs(Struct, frozen=True, kw_only=True):
    """One set of characters."""

    states: dict[Status, str]
    kinds: dict[StepKind, str]
    rule: str
    marked: str
    """Leads the title of a session that somebody marked."""
    stuck: str
    """Of a session that runs and gets nowhere."""
    pinned: str
    """Leads the title of a session that is kept above the others."""
    cursor: str
    """Stands at the left edge of what the cursor is on."""
    nested: str
    """Leads what a sub-agent did."""
    below: str
    """Leads the second line of a row."""
    between: str
    """Stands between two texts on one line."""
    endings: dict[StepStatus, str]
    """How a step ended."""
    plan: dict[str, str]
    ascii_only: bool = False

    def plain(self, text: str) -> str:
        """The text as the terminal can show it, one character for one."""
        if not self.ascii_only or text.isascii():
            return text
        return "".join(char if char.isascii() else _TWINS.get(char, "?") for char in text)


_TWINS = {
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
    between="·",
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
    between="-",
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
