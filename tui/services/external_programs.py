"""The user's external programs: pager, editor, shell, lazygit, clipboard."""

import asyncio
import os
import shutil
import signal
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported

from agentdash.sessions.service.clipboard import copy_natively
from agentdash.sessions.storage.scratch import scratch_folder, write_private
from agentdash.sessions.text.sanitize import clean
from agentdash.sessions.text.units import count
from agentdash.tui.services.background import Requests
from agentdash.tui.services.pager_editor import at_line, editor, pager, run, shell
from agentdash.widgets.drawing.short_forms import place

OSC52_MOST = 74_000
"""Maximum bytes of Base64 that terminals accept (xterm's limit is the smallest that matters)."""

SECURE = {"LESSSECURE": "1"}
"""less then runs no command and writes no file (less(1), SECURITY)."""


class ExternalPrograms:
    """Passes texts and files to other programs; the dashboard waits while a program has the terminal."""

    def __init__(self, app: App[Any], requests: Requests, *, read_only: bool = False) -> None:
        """``read_only`` refuses every program that can write, and keeps the pager from writing."""
        self._app = app
        self._requests = requests
        self.read_only = read_only

    def refused(self, what: str) -> bool:
        """Return whether a program is refused because the dashboard is read-only; the user is told."""
        if self.read_only:
            self._requests.show_refusal(f"The dashboard is read-only: no {what}.")
        return self.read_only

    async def copy(self, text: str, what: str) -> None:
        """Copy a text to the terminal's clipboard (OSC 52), and to this machine's if a helper can."""
        text = await asyncio.to_thread(clean, text)
        fits = len(text.encode("utf-8", "replace")) <= OSC52_MOST * 3 // 4
        if fits:
            self._app.copy_to_clipboard(text)
        helper = await asyncio.to_thread(copy_natively, text, os.environ)
        lines = text.count("\n") + 1
        how = count(len(text), "character") + (f", {count(lines, 'line')}" if lines > 1 else "")
        if fits or helper is not None:
            self._requests.show_message(f"Copied {what}: {how}{f' ({helper})' if helper else ''}.")
        else:
            self._requests.show_error(
                f"Not copied: {what}, {how}. Terminals accept 55 kB at most; use the pager instead."
            )

    def page(self, path: Path, offset: int = 0) -> None:
        """Show a file in ``$PAGER``; less opens it at a byte offset."""
        argv = pager(os.environ)
        if self.read_only and Path(argv[0]).name != "less":
            self._requests.show_refusal(
                f"The dashboard is read-only: only less, not {argv[0]}, can be kept from writing."
            )
            return
        place = [f"+{offset}P"] if offset and Path(argv[0]).name == "less" else []
        self._run([*argv, *place, str(path)])

    def edit(self, path: Path, line: int | None = None) -> None:
        """Open a file in ``$VISUAL`` or ``$EDITOR``, at a line if the editor accepts one."""
        if self.refused("editor"):
            return
        argv = editor(os.environ)
        if argv is None:
            self._requests.show_error("No editor: set VISUAL or EDITOR.")
        else:
            self._run(at_line(argv, path, line))

    def shell(self, folder: str) -> None:
        """Open the user's shell in a folder; its exit code is that of the last command in it, and no error."""
        if not self.refused("shell") and self._is_there(folder):
            note = f"agentdash: shell in {clean(folder)} (exit or Ctrl+D to return)"
            self._run(shell(os.environ), folder, note=note, codes=range(256))

    def lazygit(self, folder: str) -> None:
        """Open lazygit in a folder of a git repository."""
        if self.refused("lazygit") or not self._is_there(folder):
            return
        if shutil.which("lazygit") is None:
            self._requests.show_error("lazygit is not installed (github.com/jesseduffield/lazygit).")
        elif not any((parent / ".git").exists() for parent in (Path(folder), *Path(folder).parents)):
            self._requests.show_error(f"Not in a git repository: {place(folder)}.")
        else:
            self._run(["lazygit"], folder)

    def _is_there(self, folder: str) -> bool:
        """Return whether a folder exists; show an error if it does not."""
        there = Path(folder).is_dir()
        if not there:
            self._requests.show_error(f"No such folder: {place(folder)}.")
        return there

    def page_text(self, text: str, name: str) -> None:
        """Show a text in ``$PAGER``, cleaned of control sequences."""
        self._with_file(text, name, self.page)

    def edit_text(self, text: str, name: str) -> None:
        """Open a copy of a text in the editor."""
        self._with_file(text, name, self.edit)

    def edited(self, text: str, name: str) -> str | None:
        """Return a text after the user edited it in the editor; None if that failed, or the editor reported a failure.

        The file ends with a newline, as editors want it; the text does not include it.
        """
        if self.refused("editor"):
            return None
        argv = editor(os.environ)
        if argv is None:
            self._requests.show_error("No editor: set VISUAL or EDITOR.")
            return None
        try:
            with scratch_folder() as folder:
                path = folder / name
                write_private(path, f"{text}\n")
                if not self._run([*argv, str(path)]):
                    return None
                return path.read_text(encoding="utf-8", errors="replace").removesuffix("\n")
        except OSError as error:
            self._requests.show_error(f"{name} could not be edited: {error.strerror or error}.")
            return None

    def _with_file(self, text: str, name: str, show: Any) -> None:
        try:
            with scratch_folder() as folder:
                path = folder / name
                write_private(path, clean(text))
                show(path)
        except OSError as error:
            self._requests.show_error(f"{name} could not be written: {error.strerror or error}.")

    def _run(
        self,
        argv: Sequence[str],
        folder: str | None = None,
        *,
        note: str = "",
        codes: Collection[int] = (0, -signal.SIGINT, 130),
    ) -> bool:
        """Run a program that takes the terminal, in a folder, after a note; return whether it ran and exited well.

        Exit codes that are not in ``codes`` are shown as an error.
        """
        if shutil.which(argv[0]) is None:
            self._requests.show_error(f"{argv[0]} is not installed.")
            return False
        try:
            with self._app.suspend():
                if note:
                    print(note, flush=True)  # noqa: T201 - for the terminal that the program gets
                code = run(argv, folder, env=os.environ | SECURE) if self.read_only else run(argv, folder)
        except SuspendNotSupported:
            self._requests.show_error(f"Cannot give the terminal to {argv[0]}.")
            return False
        except (OSError, ValueError) as error:  # an agent's path can hold characters that no path may
            self._requests.show_error(f"{argv[0]}: {error}.")
            return False
        with suppress(AttributeError):
            self._app.screen.refresh(layout=True)
        if code not in codes:
            self._requests.show_error(f"{argv[0]} exited with code {code}.")
        return code in codes
