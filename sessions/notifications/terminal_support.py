"""Find the notification that a terminal understands, as far as the environment shows it: pure.

SSH passes on only ``TERM``, and ``LC_…`` if the server accepts it.  The user can override the result in the settings.
"""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from .escape_sequences import BELL, notification
from .settings import Chosen, Kind

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
        chosen: the setting.
        env: the environment.
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
