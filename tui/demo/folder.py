"""The folder of a demo: projects, settings, and the programs ``codex`` and ``claude`` with which its PATH begins.

The programs are launchers that name this folder, so that they play scripts nowhere else.
"""

import os
import shlex
import sys
from pathlib import Path

from agentdash.sessions.model.errors import UsageError
from agentdash.tui.demo import claude, codex
from agentdash.tui.demo.files import PROJECTS, replace

MARK, BIN, STATE, SETTINGS = "agentdash-demo", "bin", "state", "config.toml"
"""The file that marks the folder, and the others in it."""

_LAUNCHERS = {
    "codex": ("agentdash.tui.demo.codex", True),
    "claude": ("agentdash.tui.demo.claude", True),
    "agentdash": ("agentdash", False),
}
"""The module of each program, and whether it is told the folder and the speed."""

_SETTINGS = f"""\
# The settings of this demo.
default_agent = "codex"

[queue]
max_running = 16

[agents.codex]
model = "{codex.MODEL}"
approvals = "ask"

[agents.claude]
model = "{claude.MODEL}"
approvals = "ask"
"""

_OWN = {"CODEX_HOME": "codex", "CLAUDE_CONFIG_DIR": "claude", "AGENTDASH_HOME": STATE, "AGENTDASH_CONFIG": SETTINGS}
"""Variables that name something below the folder."""

_NOT_PASSED_ON = ("AGENTDASH_PROFILE", "ANTHROPIC_MODEL", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL")
"""Variables of the user that mean something to the adapters."""


def make_demo(folder: Path, speed: float = 1.0) -> None:
    """Make the folder of a demo, or renew that of an earlier one.

    Raises:
        UsageError: the folder contains files, and no demo made it.
    """
    if folder.exists() and not (folder / MARK).is_file() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} contains other files. Name a new or an empty folder.")
    for name in ("", STATE, PROJECTS, BIN):
        (folder / name).mkdir(mode=0o700, parents=True, exist_ok=True)
    replace(folder / MARK, "The folder of a demo of agentdash.\n")
    for name, (module, is_agent) in _LAUNCHERS.items():
        words = [sys.executable, "-P", "-m", module, *([str(folder), f"{speed:g}"] if is_agent else [])]
        replace(folder / BIN / name, f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
        (folder / BIN / name).chmod(0o700)
    if not (folder / SETTINGS).exists():
        replace(folder / SETTINGS, _SETTINGS)


def enter_demo(folder: Path) -> None:
    """Let this process, and all that it starts, find the programs and the files of the demo alone."""
    for name, below in _OWN.items():
        os.environ[name] = str(folder / below)
    for name in _NOT_PASSED_ON:
        os.environ.pop(name, None)
    os.environ["PATH"] = f"{folder / BIN}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
