"""The dialogs that ask for a name: of a session, and of the file to which one is saved."""

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from agentdash.sessions.text.sanitize import one_line
from agentdash.tui.dialogs.dialog import Frame, KeyLine, Kind
from agentdash.widgets.drawing.short_forms import place
from agentdash.widgets.inputs.history import HistoryInput


class RenameScreen(ModalScreen[None]):
    """Asks for a title; stays open with the reason if the session cannot have it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "close", show=False)]

    def __init__(self, title: str, rename: Callable[[str], Awaitable[str | None]]) -> None:
        """``rename`` takes the new title; returns None, or the reason why the title was refused."""
        super().__init__()
        self._title = one_line(title)
        self._rename = rename

    def compose(self) -> ComposeResult:
        """Yield the title, and the error in it."""
        with Frame(Kind.TAKES, "Rename"):
            yield HistoryInput(self._title, placeholder="automatic title", id="rename-title")
            yield Static("", id="rename-error", markup=False)
            yield KeyLine("Enter rename   empty = automatic title   Esc close")

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        self._try(event.value)

    @work(exclusive=True)
    async def _try(self, title: str) -> None:
        reason = await self._rename(title)
        if reason is None:
            self.dismiss(None)
        else:
            self.query_one("#rename-error", Static).update(reason)


class SaveScreen(ModalScreen[None]):
    """Asks for a file name; stays open with the reason if the file cannot be written."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "close", show=False)]

    def __init__(self, title: str, path: str, save: Callable[[str, bool], Awaitable[tuple[bool, str | None]]]) -> None:
        """``save`` takes a path, and True to replace a file; returns True if a file exists, and why the save failed."""
        super().__init__()
        self._title = title
        self._path = path
        self._save = save
        self._refused = ""

    def compose(self) -> ComposeResult:
        """Yield the file name, and the error."""
        with Frame(Kind.TAKES, f'Export "{self._title}"'):
            yield HistoryInput(self._path, id="save-path")
            yield Static(_folder(self._path), id="save-folder", markup=False)
            yield Static("", id="save-error", markup=False)
            yield KeyLine(".md Markdown   .html HTML   .json JSON     Enter save   Esc close")

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self.query_one("#save-folder", Static).update(_folder(event.value.strip()), layout=False)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        self._try(event.value.strip())

    @work(exclusive=True)
    async def _try(self, path: str) -> None:
        # The same name again, after it was refused, is the user's consent.
        there, reason = await self._save(path, path == self._refused)
        if reason is None:
            self.dismiss(None)
            return
        self._refused = path if there else ""
        self.query_one("#save-error", Static).update(_exists(path) if there else reason)


def _folder(name: str) -> str:
    """Return the folder into which a file of this name is written."""
    return f"into {place(str(Path(name or '.md').expanduser().absolute().parent))}"


def _exists(name: str) -> str:
    """Return the question before a file is replaced, with the place to which a link leads."""
    path = Path(name).expanduser()
    if path.is_symlink():
        return f"{path.name} is a link to {one_line(os.path.realpath(path))}. Enter again replaces that."
    return f"{path.name} exists. Enter again replaces it."
