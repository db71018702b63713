"""Copy to the clipboard of this machine, with an installed helper."""

import shutil
import subprocess
from collections.abc import Mapping

_HELPERS = (
    (("wl-copy",), "WAYLAND_DISPLAY"),
    (("xclip", "-selection", "clipboard"), "DISPLAY"),
    (("xsel", "--clipboard", "--input"), "DISPLAY"),
    (("pbcopy",), None),
)
"""Commands that take the text on stdin, and the variable without which each has no clipboard to write to."""

_SECONDS = 5.0


def usable_helper(env: Mapping[str, str]) -> tuple[str, ...] | None:
    """Return the first installed helper that has a display; None over SSH, because no helper reaches the user."""
    if env.get("SSH_CONNECTION") or env.get("SSH_TTY"):
        return None
    for argv, variable in _HELPERS:
        if (variable is None or env.get(variable)) and shutil.which(argv[0], path=env.get("PATH")):
            return argv
    return None


def copy_natively(text: str, env: Mapping[str, str]) -> str | None:
    """Put a text onto the clipboard; return the name of the helper that did it, None if none could."""
    argv = usable_helper(env)
    if argv is None:
        return None
    try:
        # Its output is discarded: xclip stays in the background and would hold a pipe open.
        subprocess.run(
            argv, input=text.encode("utf-8", "replace"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            check=True, timeout=_SECONDS, start_new_session=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return argv[0]
