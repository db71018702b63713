"""The characters of the screen, and the ASCII character that each becomes on a terminal without Unicode.

Everything is drawn with these characters, each of one cell.  Who has only ASCII gets their twins, put in at the last
moment: by :class:`.plain_ascii.InAscii` in each line of the screen, and in each line that the command line prints.

On the screen this includes the text of agents: the terminal can show none of it but ASCII, and a twin says more than
the ``?`` of any other character.  The command line leaves other characters to the encoding of its output, so that names
and languages stay readable where they can be.

Each state and each kind of step has its own character, so that nothing is shown by colour alone; so do their twins.
"""

from agentdash.sessions.model.session import Status, StepKind
from agentdash.sessions.rules.conversation.marks import MarkKind
from agentdash.sessions.text.sanitize import cell_width

STATES = {
    Status.QUEUED: "◌",
    Status.STARTING: "◔",
    Status.RUNNING: "●",
    Status.WAITING: "?",
    Status.FINISHING: "◕",
    Status.DONE: "✓",
    Status.FAILED: "✗",
    Status.STOPPED: "■",
    Status.LOST: "~",
}

KINDS = {
    StepKind.PROMPT: "❯",  # noqa: RUF001 - the prompt's own character
    StepKind.START: "▹",
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
}

MARKS: dict[str, str] = {
    MarkKind.FORK: "⑂",
    MarkKind.REWIND: "↶",
    MarkKind.UNDO: "↷",
    MarkKind.COMPACT: "≡",
    MarkKind.CLEAR: "∅",
    MarkKind.TAKEOVER: "✎",
}
"""The character of each kind of mark of a conversation."""

PLAN: dict[str, str] = {"completed": "☑", "in_progress": "◐", "pending": "☐"}
"""The character of an item of a plan."""

RULE = "─"
MARKED = "◆"
"""Leads the title of a session that the user marked."""
STUCK = "!"
"""Marks a running session that is stuck."""
PINNED = "★"
"""Leads the title of a pinned session, which stays above the others."""
CURSOR = "▌"
"""The left edge of the row under the cursor."""
NESTED = "┆"
"""Leads the steps of a sub-agent."""
BELOW = "↳"
"""Leads the second line of a row."""
LINKED = "⊸"
"""Leads the title of a worker that is stopped with its lead."""
BETWEEN = "·"
"""Separates two texts on one line."""
CUT = "╎"
"""The left edge of a step that was cut from the conversation."""

_BOXES = {
    chr(code): "-" if chr(code) in "─━┄┅┈┉╌╍╴╶╸╺╼╾" else "|" if chr(code) in "│┃┆┇┊┋╏║╵╷╹╻╽╿" else "+"
    for code in range(0x2500, 0x2580)
}

TWINS = _BOXES | {
    # States, and the ends of steps.
    "◌": "-", "◔": ":", "●": "*", "◕": ";", "✓": "+", "✗": "x", "■": ".", "⊘": "!",
    # Kinds of steps, and items of plans.
    "❯": ">", "▹": "|", "∴": "~", "✦": "*", "⚙": "@", "±": "%", "⌕": "w", "⑂": "Y", "Σ": "=",  # noqa: RUF001
    "☑": "+", "◐": ">", "☐": "_",
    # Marks.
    "↶": "<", "↷": ">", "≡": "=", "∅": "0", "✎": "&", "◆": "*", "★": "^", "⊸": "=",
    # Edges, trees and folds.
    "▌": ">", "▎": "|", "╎": ":", "├": "|", "└": "`", "▾": "v", "▴": "^", "▸": ">", "↳": ">",
    # The columns of a plot: each series, and the heights at which a column ends: low, middle, nearly full.
    "█": "#", "▓": "+", "▒": "o", "░": "%", "▚": ":",
    "▁": "_", "▂": "_", "▃": "_", "▄": "-", "▅": "-", "▆": "-", "▇": "^",
    # Texts.
    "…": "~", "·": "-", "•": "*", "≈": "~", "≥": ">", "→": ">", "←": "<", "↑": "^", "↓": "v",
    # A heavier line.
    "━": "=", "═": "=",
}  # fmt: skip
"""The ASCII character of each character that is drawn, of boxes also those that only agents draw."""

_OF_TWINS = str.maketrans(TWINS)


class _AllTwins(dict[int, str]):
    """Has a twin of every character: ``?`` for each cell of one that is not in :data:`TWINS`."""

    def __missing__(self, code: int) -> str:
        return "?" * cell_width(chr(code))


_OF_ALL = _AllTwins({code: chr(code) for code in range(128)} | _OF_TWINS)


def twins(text: str) -> str:
    """Return the text with the twins of the characters that have one."""
    return text if text.isascii() else text.translate(_OF_TWINS)


def in_ascii(text: str) -> str:
    """Return the text in ASCII, each character in as many cells as before."""
    return text if text.isascii() else text.translate(_OF_ALL)
