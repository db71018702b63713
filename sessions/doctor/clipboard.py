"""How something gets onto the clipboard of whoever sits there."""

from collections.abc import Iterator, Mapping

from . import commands
from .model import Finding, Subject, ok

_HELPERS = (("wl-copy", "WAYLAND_DISPLAY"), ("xclip", "DISPLAY"), ("xsel", "DISPLAY"), ("pbcopy", None))
"""Commands, and the variable without which each has no clipboard to write to."""


def clipboard(subject: Subject) -> Iterator[Finding]:
    """The helper that can be used, or the terminal itself."""
    env = subject.env
    helper = usable_helper(env)
    if env.get("SSH_CONNECTION") or env.get("SSH_TTY"):
        yield ok("clipboard", "OSC 52 alone: over SSH only the terminal can reach yours")
    elif helper:
        yield ok("clipboard", f"{helper}, or OSC 52")
    else:
        yield ok("clipboard", "OSC 52 alone, if the terminal knows it (no wl-copy, xclip, xsel or pbcopy to use)")


def usable_helper(env: Mapping[str, str]) -> str | None:
    """The first helper that is installed and has a display."""
    for helper, variable in _HELPERS:
        if (variable is None or env.get(variable)) and commands.find(helper, env):
            return helper
    return None
