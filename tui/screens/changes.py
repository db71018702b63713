"""The net result of a session and its edits: the files, their diffs, and a prompt about a place in one of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input

from agentdash.sessions.model.session import Session
from agentdash.sessions.service.changes.model import SessionChanges
from agentdash.sessions.service.changes.net import FindNet
from agentdash.sessions.service.reader import SessionReader
from agentdash.sessions.text.sanitize import one_line
from agentdash.tui.keys.action import Place
from agentdash.tui.keys.actions import CHANGES_ACTIONS, REGISTRY, bindings
from agentdash.tui.keys.footer import CHANGES, IN_DIFFS, key_line, labelled, whole
from agentdash.tui.keys.keymap import DEFAULT, Keymap
from agentdash.tui.panes import change_documents
from agentdash.tui.panes.change_documents import ChangedFile
from agentdash.tui.panes.prompt_sender import PromptWays
from agentdash.tui.services.background import Requests
from agentdash.tui.services.external_programs import ExternalPrograms
from agentdash.widgets.document.diff_pane import DiffPane
from agentdash.widgets.document.document_pane import DocumentPane
from agentdash.widgets.document.model import Document
from agentdash.widgets.drawing.text_lines import Line
from agentdash.widgets.inputs.history import HistoryInput
from agentdash.widgets.inputs.prompt_box import PromptBox, PromptInput
from agentdash.widgets.lists.row_list import FileList


class ChangesScreen(Screen[tuple[int, int] | None]):
    """The changes of a session; returns the turn and the index of the step that the user chose to see, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,c", "back", "back", show=False),
        *bindings([
            *CHANGES_ACTIONS,
            *(REGISTRY[name] for name in ("write_prompt", "help", "shell", "lazygit", "menu.go")),
        ]),
    ]  # fmt: skip
    AUTO_FOCUS = "FileList"

    def __init__(
        self,
        reader: SessionReader,
        requests: Requests,
        outside: ExternalPrograms,
        session: Session,
        ways: PromptWays,
        keymap: Keymap = DEFAULT,
    ) -> None:
        super().__init__()
        self._keymap = keymap
        self._reader = reader
        self._requests = requests
        self._programs = outside
        self._session = session
        self._ways = ways
        self._changes: SessionChanges | None = None
        self._listed: Sequence[ChangedFile] = ()
        self._find: FindNet | None = None
        self._showing = False
        self._title = Line(id="changes-title")
        self.files = FileList(id="files")
        self.pane = DiffPane(id="diffs")
        self.prompt = PromptBox(ways.drafts)
        self._keys = Line(id="keys")

    def compose(self) -> ComposeResult:
        """Yield the summary, the files, the diffs of one file, the fields that are opened when needed, and the keys."""
        yield self._title
        with Container(id="changes"):
            yield self.files
            yield self.pane
        yield self.prompt
        yield HistoryInput(id="ask", placeholder="/ text in the diffs of the file (lower case ignores case)")
        yield self._keys

    def on_mount(self) -> None:
        """Start to read the changes."""
        self.files.note = "reading…"
        self.prompt.input.tools = self._ways.tools
        self.prompt.switch(self._session.id)
        self.action_look_again()

    def on_resize(self) -> None:
        """Show as much of the title, and as many keys, as fit."""
        self._show_words()

    def _show_words(self) -> None:
        width = self.size.width
        if self._changes is not None:
            title = one_line(self._session.label)
            self._title.show_text(change_documents.title(title, self._changes, width))
        pane = self.pane
        if not pane.needle:
            self._keys.show_text(self.keys_in(width))
            return
        found = f"{pane.at + 1} of {len(pane.matches)}" if pane.matches else "not found in this file"
        keys = [("/", f"{one_line(pane.needle)}  {found}"), *labelled(self._keymap, IN_DIFFS)]
        self._keys.show_text(key_line(whole(keys, width)))

    def keys_in(self, width: int) -> Content:
        """Return the keys that fit into ``width`` cells."""
        return key_line(whole(labelled(self._keymap, CHANGES), width))

    @property
    def _file(self) -> ChangedFile | None:
        return self._listed[self.files.cursor] if self.files.cursor < len(self._listed) else None

    @work(exclusive=True, group="changes")
    async def action_look_again(self) -> None:
        """Read the session's changes and the state of its files in git."""
        changes = await self._requests.ask(self._reader.steps.changes_of, self._session.id)
        if changes is None:
            self.dismiss(None)
            return
        self._changes, self._find = changes, None
        self._listed = change_documents.changed_files(changes)
        self._show_words()
        # Set before the rows: an empty list paints its note only when its rows are replaced.
        self.files.note = "No changes."
        self.files.show_files([change_documents.file_row(file) for file in self._listed])
        if not self._listed:
            self.pane.show_file(change_documents.nothing(changes))

    @on(FileList.Opened)
    def _opened(self) -> None:
        self._read_diffs()

    def _read_diffs(self) -> None:
        self.add_class("-reading")
        self.set_focus(self.pane)

    @on(DocumentPane.Another)
    def _another(self, event: DocumentPane.Another) -> None:
        self.action_file(event.direction)

    def action_file(self, direction: int) -> None:
        """Go to the next file, or to the previous one; the keys stay where they are."""
        self.files.action_move(direction)

    @on(FileList.Highlighted)
    @work
    async def _show_file(self) -> None:
        """Show the file under the cursor, one at a time: a cursor that passes many files must not start many gits."""
        if self._showing:
            return
        self._showing = True
        try:
            shown: ChangedFile | None = None
            while (file := self._file) is not None and file is not shown and self._changes is not None:
                made = await self._requests.ask(self._document, file, self._changes)
                shown = file
                if made is not None and file is self._file:
                    self.pane.show_file(made)
                    self._show_words()
        finally:
            self._showing = False

    def _document(self, file: ChangedFile, changes: SessionChanges) -> Document:
        if self._find is None:
            self._find = self._reader.steps.net_diffs(self._session.id)
        return change_documents.file_document(file, changes, self._find)

    def action_back(self) -> None:
        """Leave the field, the search, the diffs or the screen, one at a time."""
        if self.has_class("-asking"):
            self._end_asking()
        elif self.pane.needle:
            self.pane.end_search()
            self._show_words()
        elif self.pane.has_focus:
            self.remove_class("-reading")
            self.set_focus(self.files)
        else:
            self.dismiss(None)

    def action_help(self) -> None:
        """Show the keys of this screen."""
        from agentdash.tui.dialogs.help import HelpScreen

        self.app.push_screen(HelpScreen(self._keymap, Place.FILES, read_only=self._programs.read_only))

    def action_search(self) -> None:
        """Ask for a text to search for."""
        self.add_class("-asking")
        field = self.query_one("#ask", HistoryInput)
        field.value = ""
        # Focus at once, not at the screen's next refresh: the next key belongs to the field.
        self.set_focus(field)

    @on(Input.Submitted, "#ask")
    def _searched(self, event: Input.Submitted) -> None:
        event.stop()
        self._end_asking()
        if event.value:
            self.query_one("#ask", HistoryInput).earlier.sent(event.value)
            self._read_diffs()
            self.pane.search(event.value)
            self._show_words()

    def _end_asking(self) -> None:
        self.remove_class("-asking")
        self.set_focus(self.pane if self.has_class("-reading") else self.files)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002 - Textual's
        """Return False for the next match without a search."""
        return action != "match" or bool(self.pane.needle)

    def action_match(self, direction: int) -> None:
        """Go to the next match, or to the previous one."""
        self.pane.go_to_match(direction)
        self._show_words()

    def action_write_prompt(self) -> None:
        """Write a prompt to the session, below the place that the diffs show."""
        if refusal := self._ways.refusal():
            self._requests.show_refusal(refusal)
            return
        self.add_class("-writing")
        self.prompt.show_draft()
        self.prompt.show_target(*self._ways.words())
        if (file := self._file) is not None:
            self.prompt.insert(self._session.id, self._ways.quoted(self._quoted(file)))
        self.set_focus(self.prompt.input)

    def _quoted(self, file: ChangedFile) -> str:
        """Return the file, the line and the quoted lines, and the beginning of the line where the user types."""
        quote = self.pane.quote()
        if quote is None:
            return f"{one_line(file.path)}\n"
        line = f":{quote.line}" if quote.line else ""
        return "\n".join((f"{one_line(file.path)}{line}", *(f"> {text}" for text in quote.lines), ""))

    @on(PromptInput.Sent)
    def _sent(self, event: PromptInput.Sent) -> None:
        event.stop()
        if not event.text.strip():
            return
        self._ways.send(event.text, interrupts=event.interrupts)
        self._leave_prompt()
        if event.then_next:
            self.dismiss(None)
            self._ways.go_on()

    @on(PromptInput.Left)
    def _leave_prompt(self) -> None:
        """Go back to the files or the diffs; an unsent text stays the session's draft."""
        self.remove_class("-writing")
        self.set_focus(self.pane if self.has_class("-reading") else self.files)

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
        file = self._file
        if file is None or file.edits is None or not file.edits.edits:
            return
        edits = file.edits.edits
        edit = next((edit for edit in reversed(edits) if edit.counts), edits[-1])
        self.dismiss((edit.turn, edit.index))
