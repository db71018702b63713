"""Acts on the step under the cursor: copies it, opens it in the pager and the editor, asks to save or change it."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from string import ascii_lowercase
from typing import Any

import msgspec
from msgspec import Struct
from textual import work
from textual.app import App
from textual.containers import Vertical

from agentdash.sessions.model.session import Session, Step
from agentdash.sessions.rules.json_schema import step_json
from agentdash.sessions.service.reader import SessionReader
from agentdash.sessions.text.sanitize import one_line
from agentdash.sessions.transcript.visible.last_answer import last_answer
from agentdash.sessions.transcript.worker_steps import started_by
from agentdash.tui.keys.key_names import LIST_LETTERS
from agentdash.tui.messages import ChangesAsked, ConversationAsked, SaveAsked, WorkersAsked
from agentdash.tui.panes.steps.step_document_pane import Chosen, StepDocumentPane, StepDocuments, step_text
from agentdash.tui.services.background import Requests
from agentdash.tui.services.external_programs import ExternalPrograms


class Piece(Struct, frozen=True):
    """A text of a step."""

    key: str
    name: str
    text: str


def pieces(step: Step, more: Iterable[tuple[str, str]] = ()) -> Iterator[Piece]:
    """Yield the parts of a step that can be copied, likeliest first; each key is the first free letter of the name.

    ``more`` has the names and texts of parts that are not the step's own; they come last.
    """
    taken = set(LIST_LETTERS)
    for name, text in (*_texts(step), *more):
        key = next(letter for letter in name + ascii_lowercase if letter in ascii_lowercase and letter not in taken)
        taken.add(key)
        yield Piece(key, name, text)


def main_piece(step: Step) -> Piece | None:
    """Return the part that ``y`` copies: the command, the text or the diff; None if the step has no text."""
    return next(pieces(step), None)


def _texts(step: Step) -> Iterator[tuple[str, str]]:
    if step.command:
        yield "command", step.command
    diffs = "\n".join(change.diff for change in step.changes if change.diff)
    if diffs:
        yield "diff", diffs
    if step.changes:
        yield "paths", "\n".join(change.path for change in step.changes)
    if step.items:
        yield "plan", "\n".join(f"{_BOX.get(item.status, '- [ ]')} {item.text}" for item in step.items)
    if step.arguments is not None:
        yield "arguments", step.arguments if isinstance(step.arguments, str) else _json(step.arguments)
    if step.text and step.text != step.command:
        yield step.kind.value.replace("_", " "), step.text
    if step.output:
        yield "output", step.output
    yield "json", _json(step_json(step))


_BOX = {"completed": "- [x]", "in_progress": "- [~]"}


def _json(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


class StepActions:
    """Passes steps to the clipboard, the pager and the editor; does nothing without a step."""

    def __init__(
        self, reader: SessionReader, requests: Requests, outside: ExternalPrograms, documents: StepDocuments
    ) -> None:
        self._reader = reader
        self._requests = requests
        self._programs = outside
        self._documents = documents

    async def copy(self, chosen: Chosen | None) -> None:
        """Copy the main part of the step."""
        step = await self._whole(chosen)
        piece = main_piece(step) if step is not None else None
        if piece is not None:
            await self._programs.copy(piece.text, piece.name)

    async def copy_part(self, chosen: Chosen | None, app: App[Any]) -> None:
        """Ask for a part of the step, or the command that resumes its session, and copy it."""
        step = await self._whole(chosen)
        if chosen is None or step is None:
            return
        from agentdash.tui.dialogs.table.pick import PickScreen

        resume, why_not = await self._requests.outcome(self._reader.resume_command, chosen.session_id)
        parts = list(pieces(step, [("resume command", resume.command if resume is not None else why_not or "")]))
        offers = [(piece.key, f"{piece.name}   {one_line(piece.text, 50)}") for piece in parts]
        number = await app.push_screen_wait(PickScreen("Copy", offers))
        if number == len(parts) - 1 and why_not is not None:
            self._requests.show_refusal(why_not)
        elif number is not None:
            await self._programs.copy(parts[number].text, parts[number].name)

    async def page(self, chosen: Chosen | None) -> None:
        """Show the whole step in the pager."""
        if (step := await self._whole(chosen)) is not None:
            self._programs.page_text(step_text(step), f"turn-{step.turn}-step-{step.index}.txt")

    async def edit(self, chosen: Chosen | None) -> None:
        """Open a copy of the whole step in the editor."""
        if (step := await self._whole(chosen)) is not None:
            self._programs.edit_text(step_text(step), f"turn-{step.turn}-step-{step.index}.md")

    async def page_file(self, chosen: Chosen | None, *, stderr: bool) -> None:
        """Show the turn's file in the pager, at the line of the step; or its stderr."""
        if chosen is None:
            return
        session_id, view, item = chosen
        part = await self._requests.ask(partial(self._reader.outputs.part, session_id, view.turn(item), stderr=stderr))
        if part is not None:
            self._programs.page(part.path, 0 if stderr else view.where(item)[0])

    async def on_answer(self, action: str, session_id: str, app: App[Any]) -> bool:
        """Do an action with the last answer of a session, or with its last step; return True if it was an answer.

        The actions are copy, page_step and edit_step, which need an answer, and copy_part and page_file.
        """
        found = await self._requests.ask(self._find, session_id)
        if found is None:
            return False
        chosen, answered = found
        if not answered and action in ("copy", "page_step", "edit_step"):
            self._requests.show_message("No answer yet.")
            return False
        match action:
            case "copy":
                await self.copy(chosen)
            case "copy_part":
                await self.copy_part(chosen, app)
            case "page_step":
                await self.page(chosen)
            case "edit_step":
                await self.edit(chosen)
            case "page_file":
                await self.page_file(chosen, stderr=False)
        return answered

    def _find(self, session_id: str) -> tuple[Chosen | None, bool]:
        """Return the last answer and True, else the last step and False; reads files."""
        steps = self._reader.steps.open_trajectory(session_id)
        try:
            view, item = last_answer(steps.refresh)
        finally:
            steps.close()
        if item is not None:
            return Chosen(session_id, view, item), True
        return Chosen(session_id, view, len(view) - 1) if len(view) else None, False

    async def _whole(self, chosen: Chosen | None) -> Step | None:
        """Return the step with its full text."""
        return await self._requests.ask(self._documents.whole, chosen.view, chosen.item) if chosen is not None else None


class StepActionKeys(Vertical):
    """A pane with steps, one of which is under the cursor."""

    actions: StepActions
    """The acts of the keys on the chosen step."""
    pane: StepDocumentPane
    """Shows one document about the step."""

    @property
    @abstractmethod
    def chosen(self) -> Chosen | None:
        """The step under the cursor; None if there is none."""

    workers_of: Callable[[str], Sequence[Session]] = staticmethod(lambda _: ())
    """Returns the workers of a session, by its id; a screen that can show them sets it."""

    _on_worker = False
    """True if the step under the cursor started a worker, as the screen last heard."""

    @property
    def started(self) -> Sequence[Session]:
        """The workers that the step under the cursor started."""
        chosen = self.chosen
        known = self.workers_of(chosen.session_id) if chosen is not None else ()
        return started_by(chosen.view.step(chosen.item), known) if chosen is not None and known else ()

    def turned_to_worker(self) -> bool:
        """Return whether the cursor came to a step that started a worker, or left one, since the last call."""
        before, self._on_worker = self._on_worker, bool(self.started)
        return before is not self._on_worker

    def ask_for_worker(self) -> bool:
        """Ask for the worker that the step under the cursor started; return False if it started none."""
        chosen, workers = self.chosen, self.started
        if chosen is None or not workers:
            return False
        step = chosen.view.step(chosen.item)
        self.post_message(WorkersAsked(chosen.session_id, (step.turn, step.index), workers))
        return True

    @property
    @abstractmethod
    def session_id(self) -> str | None:
        """The id of the session that is open or being read; None if there is none."""

    @work
    async def action_copy(self) -> None:
        """Copy the main part of the step."""
        await self.actions.copy(self.chosen)

    @work
    async def action_copy_part(self) -> None:
        """Ask for a part of the step, and copy it."""
        await self.actions.copy_part(self.chosen, self.app)

    async def action_page_step(self) -> None:
        """Show the whole step in the pager."""
        await self.actions.page(self.chosen)

    async def action_edit_step(self) -> None:
        """Open a copy of the whole step in the editor."""
        await self.actions.edit(self.chosen)

    async def action_page_file(self) -> None:
        """Show the turn's file in the pager, or its stderr if the pane shows stderr."""
        await self.actions.page_file(self.chosen, stderr=self.pane.kind == "stderr")

    def action_export(self) -> None:
        """Save the session as a file."""
        if self.chosen is not None:
            self.post_message(SaveAsked(self.chosen.session_id))

    def action_changes(self) -> None:
        """Show the files that the session changed."""
        if (session_id := self.session_id) is not None:
            self.post_message(ChangesAsked(session_id))

    def action_conversation(self, verb: str) -> None:
        """Fork the conversation, go back in it, take that back, or compact it."""
        if (session_id := self.session_id) is not None:
            self.post_message(ConversationAsked(session_id, verb))
