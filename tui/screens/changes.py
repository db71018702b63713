"""The files that a session changed, their diffs, and their state in git."""

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.screen import Screen

from agentdash.sessions.model.session import Session
from agentdash.sessions.service.changes.git import GitDiff
from agentdash.sessions.service.changes.model import FileChanges, SessionChanges
from agentdash.sessions.service.reader import SessionReader
from agentdash.tui.keys.actions import CHANGES_ACTIONS, REGISTRY, bindings
from agentdash.tui.keys.footer import CHANGES, key_line, labelled, whole
from agentdash.tui.keys.keymap import DEFAULT, Keymap
from agentdash.tui.panes import change_documents
from agentdash.tui.services.background import Requests
from agentdash.tui.services.external_programs import ExternalPrograms
from agentdash.tui.texts import screen_texts as texts
from agentdash.widgets.document.document_pane import DocumentPane
from agentdash.widgets.document.model import Document
from agentdash.widgets.drawing.text_lines import Line
from agentdash.widgets.lists.row_list import FileList


class ChangesScreen(Screen[tuple[int, int] | None]):
    """The changes of a session; returns the turn and the index of the step that the user chose to see, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,c", "back", "back", show=False),
        *bindings([*CHANGES_ACTIONS, REGISTRY["shell"], REGISTRY["lazygit"], REGISTRY["menu.go"]]),
    ]  # fmt: skip
    AUTO_FOCUS = "FileList"

    def __init__(
        self,
        reader: SessionReader,
        requests: Requests,
        outside: ExternalPrograms,
        session: Session,
        keymap: Keymap = DEFAULT,
    ) -> None:
        super().__init__()
        self._keymap = keymap
        self._reader = reader
        self._requests = requests
        self._programs = outside
        self._session = session
        self._changes: SessionChanges | None = None
        self._find: Callable[[str], GitDiff] | None = None
        self._showing = False
        self._title = Line(id="changes-title")
        self.files = FileList(id="files")
        self.pane = DocumentPane(id="diffs")
        self._keys = Line(id="keys")

    def compose(self) -> ComposeResult:
        """Yield the summary, the files, the diffs of one file, and the keys."""
        yield self._title
        with Container(id="changes"):
            yield self.files
            yield self.pane
        yield self._keys

    def on_mount(self) -> None:
        """Start to read the changes."""
        self.files.note = "reading…"
        self.action_look_again()

    def on_resize(self) -> None:
        """Show as many keys as fit."""
        self._keys.show_text(key_line(whole(labelled(self._keymap, CHANGES), self.size.width)))

    @property
    def _file(self) -> FileChanges | None:
        files = self._changes.files if self._changes is not None else ()
        return files[self.files.cursor] if self.files.cursor < len(files) else None

    @work(exclusive=True, group="changes")
    async def action_look_again(self) -> None:
        """Read the session's changes and the state of its files in git."""
        changes = await self._requests.ask(self._reader.steps.changes_of, self._session.id)
        if changes is None:
            self.dismiss(None)
            return
        self._changes, self._find = changes, None
        self._title.show_text(change_documents.title(texts.title(self._session), changes))
        # Set before the rows: an empty list paints its note only when its rows are replaced.
        self.files.note = "No edits by this agent."
        self.files.show_files([change_documents.file_row(file) for file in changes.files])
        if not changes.files:
            self.pane.show(change_documents.nothing(changes))

    @on(FileList.Opened)
    def _opened(self) -> None:
        self.add_class("-reading")
        self.set_focus(self.pane)

    @on(DocumentPane.Another)
    def _another(self, event: DocumentPane.Another) -> None:
        self.files.action_move(event.direction)

    @on(FileList.Highlighted)
    @work
    async def _show_file(self) -> None:
        """Show the file under the cursor, one at a time: a cursor that passes many files must not start many gits."""
        if self._showing:
            return
        self._showing = True
        try:
            shown: FileChanges | None = None
            while (file := self._file) is not None and file is not shown and self._changes is not None:
                made = await self._requests.ask(self._document, file, self._changes.cwd)
                shown = file
                if made is not None and file is self._file:
                    self.pane.show(made)
        finally:
            self._showing = False

    def _document(self, file: FileChanges, cwd: str) -> Document:
        if self._find is None:
            self._find = self._reader.steps.git_diffs(cwd)
        return change_documents.file_document(file, self._find)

    def action_back(self) -> None:
        """Go from the diffs to the files, or from the files to the previous screen."""
        if self.pane.has_focus:
            self.remove_class("-reading")
            self.set_focus(self.files)
        else:
            self.dismiss(None)

    def action_edit(self) -> None:
        """Open the file, as it is now, in the editor."""
        if (file := self._file) is not None:
            self._programs.edit(Path(file.absolute))

    def action_shell(self) -> None:
        """Open a shell in the session's folder."""
        self._programs.shell(self._session.cwd)

    def action_lazygit(self) -> None:
        """Open lazygit in the session's folder."""
        self._programs.lazygit(self._session.cwd)

    async def action_copy(self) -> None:
        """Copy the file's path."""
        if (file := self._file) is not None:
            await self._programs.copy(file.absolute, "path")

    def action_step(self) -> None:
        """Go to the last recorded step that changed the file; if none did, to the last that tried."""
        if (file := self._file) is not None and file.edits:
            edit = next((edit for edit in reversed(file.edits) if edit.counts), file.edits[-1])
            self.dismiss((edit.turn, edit.index))
