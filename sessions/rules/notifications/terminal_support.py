"""The notification that a terminal understands, as far as the environment shows it, and its escape sequences: pure.

SSH passes on only ``TERM``, and ``LC_…`` if the server accepts it.  The user can override the result in the settings.
Agents and people wrote the texts.  They are cleaned and cut here, so that whatever they contain, the terminal gets
the intended sequence and no other.

Sources: OSC 9 iTerm2's "Growl notifications"; OSC 777 the notify extension of rxvt-unicode; OSC 99 kitty's "Desktop
notifications"; titles xterm's control sequences; the wrapping tmux(1), ``allow-passthrough``.
"""

import re
import zlib
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from agentdash.sessions.rules.notifications.settings import Chosen, Kind
from agentdash.sessions.text.sanitize import one_line

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
    return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + _ST if tmux else sequence


def title(text: str) -> str:
    """Set the title of the window; tmux names the pane by it."""
    return f"{_OSC}2;{one_line(text, TITLE_CELLS)}{_ST}"


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


Env = Mapping[str, str]


class Way(Struct, frozen=True, kw_only=True):
    """The way to notify the user at this terminal."""

    kind: Kind
    why: str
    """The sign by which it was chosen, in words."""
    tmux: bool = False
    bell: bool = False
    """True if a bell is sent as well, because it is uncertain that the sequence arrives."""

    def sequence(self, title: str, body: str) -> str:
        """Build one notification."""
        return notification(self.kind, title, body, tmux=self.tmux) + (BELL if self.bell else "")


def way(chosen: Chosen, env: Env, outer: Sequence[Env] = ()) -> Way | None:
    """Return the chosen way, or the best known one; None if notifications are off.

    Args:
        outer: what the terminals around tmux would have there; they are meant if they all understand the same.
    """
    if chosen == "off":
        return None
    tmux = bool(env.get("TMUX"))
    # tmux drops wrapped sequences unless `allow-passthrough` is on, and, unless it is `all`, those of a window that is
    # not shown.  It marks that window by a bell in any case.
    if chosen != "auto":
        return Way(kind=chosen, why="configured", tmux=tmux, bell=tmux and chosen != "bell")
    kind, why = _known(env)
    kinds = {_known(one) for one in outer} if tmux else set()
    if len(kinds) == 1 and next(iter(kinds))[0] != "bell":
        kind, why = next(iter(kinds))[0], "tmux list-clients"
    sure = kind == "bell" or not (tmux or why == _VTE)
    return Way(kind=kind, why=why, tmux=tmux, bell=not sure)


def has_title(env: Env) -> bool:
    """Return whether there is a title to set; a console would print part of the sequence."""
    return not env.get("TERM", "").startswith(("linux", "vt", "cons"))


_VTE = "VTE_VERSION"
"""Fedora's VTE takes OSC 777; the original drops it (kitty issue 1474, tcell issue 499)."""


def _known(env: Env) -> tuple[Kind, str]:
    if env.get("STY"):
        return "bell", "inside screen"
    for kind, name, fits in _SIGNS:
        if fits(env.get(name, "")):
            return kind, name
    return "bell", "unknown terminal"


def _is(*names: str) -> Callable[[str], bool]:
    return lambda value: value in names


def _begins(*names: str) -> Callable[[str], bool]:
    return lambda value: value.startswith(names)


_SIGNS: tuple[tuple[Kind, str, Callable[[str], bool]], ...] = (
    # The terminal's own variables come before those that an outer terminal may have left in the environment.
    ("osc9", "TERM_PROGRAM", _is("iTerm.app", "WarpTerminal")),
    ("osc777", "TERM_PROGRAM", _is("WezTerm", "ghostty")),
    ("bell", "TERM_PROGRAM", _is("Apple_Terminal", "vscode")),
    ("osc99", "TERM", _begins("xterm-kitty")),
    ("osc777", "TERM", _begins("xterm-ghostty", "foot", "wezterm", "contour")),
    ("bell", "TERM", _begins("alacritty", "linux")),
    ("osc9", "LC_TERMINAL", _is("iTerm2")),
    ("osc99", "KITTY_WINDOW_ID", bool),
    ("osc777", "WEZTERM_PANE", bool),
    ("osc777", "GHOSTTY_RESOURCES_DIR", bool),
    ("osc9", "ITERM_SESSION_ID", bool),
    ("osc777", "KONSOLE_VERSION", bool),
    ("osc777", _VTE, bool),
)
