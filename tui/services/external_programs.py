"""The user's external programs: pager, editor, clipboard."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported

from ...sessions.clipboard import copy_natively
from ...sessions.text.sanitize import clean
from ...sessions.text.units import count
from .background import Requests
from .pager_editor import at_line, editor, pager, run

OSC52_MOST = 74_000
"""Maximum bytes of Base64 that terminals accept (xterm's limit is the smallest that matters)."""


class ExternalPrograms:
    """Passes texts and files to other programs; the dashboard waits while a program has the terminal."""

    def __init__(self, app: App[Any], requests: Requests) -> None:
        self._app = app
        self._requests = requests

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
        place = [f"+{offset}P"] if offset and Path(argv[0]).name == "less" else []
        self._run([*argv, *place, str(path)])

    def edit(self, path: Path, line: int | None = None) -> None:
        """Open a file in ``$VISUAL`` or ``$EDITOR``, at a line if the editor accepts one."""
        argv = editor(os.environ)
        if argv is None:
            self._requests.show_error("No editor: set VISUAL or EDITOR.")
        else:
            self._run(at_line(argv, path, line))

    def page_text(self, text: str, name: str) -> None:
        """Show a text in ``$PAGER``, cleaned of control sequences."""
        self._with_file(text, name, self.page)

    def edit_text(self, text: str, name: str) -> None:
        """Open a copy of a text in the editor."""
        self._with_file(text, name, self.edit)

    def _with_file(self, text: str, name: str, show: Any) -> None:
        try:
            with tempfile.TemporaryDirectory(prefix="agentdash-") as folder:
                path = Path(folder) / name
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with open(descriptor, "w", encoding="utf-8") as file:
                    file.write(clean(text))
                show(path)
        except OSError as error:
            self._requests.show_error(f"{name} could not be written: {error.strerror or error}.")

    def _run(self, argv: Sequence[str]) -> None:
        """Run a program that takes the terminal."""
        if shutil.which(argv[0]) is None:
            self._requests.show_error(f"{argv[0]} is not installed.")
            return
        try:
            with self._app.suspend():
                code = run(argv)
        except SuspendNotSupported:
            self._requests.show_error(f"Cannot give the terminal to {argv[0]}.")
            return
        except (OSError, ValueError) as error:  # an agent's path can hold characters that no path may
            self._requests.show_error(f"{argv[0]}: {error}.")
            return
        with suppress(AttributeError):
            self._app.screen.refresh(layout=True)
        if code not in (0, -2, 130):
            self._requests.show_error(f"{argv[0]} exited with code {code}.")
