"""The escape sequences that make a terminal notify the user: pure.

Agents and people wrote the texts.  They are cleaned and cut here, so that whatever they contain, the terminal gets
the intended sequence and no other.

Sources: OSC 9 iTerm2's "Growl notifications"; OSC 777 the notify extension of rxvt-unicode; OSC 99 kitty's "Desktop
notifications"; titles xterm's control sequences; the wrapping tmux(1), ``allow-passthrough``.
"""

import re
import zlib

from ..text.sanitize import one_line
from .settings import Kind

BELL = "\a"
TITLE_CELLS = 80
BODY_CELLS = 200

SAVE_TITLE = "\x1b[22;2t"
"""Push the title of the window onto the terminal's stack."""
RESTORE_TITLE = "\x1b[23;2t"

_OSC, _ST = "\x1b]", "\x1b\\"
_CODE = re.compile(r"\A\d+(?=;|\Z)")
"""The start of a text that makes OSC 9 a command of ConEmu and Windows Terminal (``9;4;…`` is their progress bar)."""


def notification(kind: Kind, title: str, body: str, *, tmux: bool) -> str:
    """Build one notification; inside tmux it is wrapped, so that it reaches the outer terminal.

    A bell carries no text, and tmux understands it itself.
    """
    if kind == "bell":
        return BELL
    sequence = _FORMS[kind](one_line(title, TITLE_CELLS), one_line(body, BODY_CELLS))
    return through_tmux(sequence) if tmux else sequence


def title(text: str) -> str:
    """Set the title of the window; tmux names the pane by it."""
    return f"{_OSC}2;{one_line(text, TITLE_CELLS)}{_ST}"


def through_tmux(sequence: str) -> str:
    """Wrap a sequence so that tmux removes the wrapping and passes it on."""
    return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + _ST


def _osc9(title: str, body: str) -> str:
    text = " - ".join(filter(None, (title, body)))
    return f"{_OSC}9;{_CODE.sub(lambda code: code[0] + ' ', text)}{_ST}"


def _osc99(title: str, body: str) -> str:
    """Build title and body as two parts of one notification, joined by a common id."""
    name = f"{zlib.crc32(f'{title}/{body}'.encode('utf-8', 'replace')):08x}"
    if not body:
        return f"{_OSC}99;i={name};{title}{_ST}"
    return f"{_OSC}99;i={name}:d=0;{title}{_ST}{_OSC}99;i={name}:p=body;{body}{_ST}"


def _osc777(title: str, body: str) -> str:
    return f"{_OSC}777;notify;{title.replace(';', ',')};{body.replace(';', ',')}{_ST}"


_FORMS = {"osc9": _osc9, "osc99": _osc99, "osc777": _osc777}
