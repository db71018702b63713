"""Check how text gets onto the clipboard of the user at the terminal."""

from collections.abc import Iterator

from ...clipboard import usable_helper
from ..model import Finding, Subject, ok


def clipboard(subject: Subject) -> Iterator[Finding]:
    """Yield the usable helper, or the terminal itself."""
    env = subject.env
    helper = usable_helper(env)
    if env.get("SSH_CONNECTION") or env.get("SSH_TTY"):
        yield ok("clipboard", "OSC 52 only: over SSH, only the terminal can reach your clipboard")
    elif helper:
        yield ok("clipboard", f"{helper[0]}, or OSC 52")
    else:
        yield ok("clipboard", "OSC 52 only, if the terminal supports it (no wl-copy, xclip, xsel or pbcopy)")
