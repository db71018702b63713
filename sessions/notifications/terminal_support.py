"""Which notification a terminal understands, as far as the environment tells: pure.

Over SSH only ``TERM`` comes along, and ``LC_…`` where the server accepts it.  Who knows better says so in the settings.
"""

from collections.abc import Callable, Mapping

from msgspec import Struct

from .escape_sequences import BELL, notification
from .settings import Chosen, Kind

Env = Mapping[str, str]


class Way(Struct, frozen=True, kw_only=True):
    """How to reach somebody here."""

    kind: Kind
    why: str
    """By what it was chosen, in words."""
    tmux: bool = False
    bell: bool = False
    """Whether a bell goes with it, because nobody can tell whether the sequence arrives."""

    def sequence(self, title: str, body: str) -> str:
        """One notification."""
        return notification(self.kind, title, body, tmux=self.tmux) + (BELL if self.bell else "")


def way(chosen: Chosen, env: Env) -> Way | None:
    """The way that was chosen, or the best one that is known; None where nobody wants to be told."""
    if chosen == "off":
        return None
    tmux = bool(env.get("TMUX"))
    if chosen != "auto":
        return Way(kind=chosen, why="it was asked for", tmux=tmux)
    kind, why = _known(env)
    # tmux drops what is wrapped unless `allow-passthrough` is on, and marks the window by a bell in any case.
    sure = kind == "bell" or not (tmux or why == _VTE)
    return Way(kind=kind, why=why, tmux=tmux, bell=not sure)


def has_title(env: Env) -> bool:
    """Whether there is a title to set; a console would print some of the sequence."""
    return not env.get("TERM", "").startswith(("linux", "vt", "cons"))


_VTE = "VTE_VERSION"
"""Fedora's VTE takes OSC 777; the original drops it (kitty issue 1474, tcell issue 499)."""


def _known(env: Env) -> tuple[Kind, str]:
    if env.get("STY"):
        return "bell", "inside screen"
    for kind, name, fits in _SIGNS:
        if fits(env.get(name, "")):
            return kind, name
    return "bell", "no terminal that is known to understand more"


def _is(*names: str) -> Callable[[str], bool]:
    return lambda value: value in names


def _begins(*names: str) -> Callable[[str], bool]:
    return lambda value: value.startswith(names)


_SIGNS: tuple[tuple[Kind, str, Callable[[str], bool]], ...] = (
    # What a terminal says of itself comes before what another one, around it, may have left in the environment.
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
