"""Copies the step under the cursor, and opens it in the pager and the editor."""

import asyncio
from functools import partial
from typing import Any, NamedTuple

from textual.app import App

from agentdash.sessions.model.session import Step
from agentdash.sessions.service.reader import SessionReader
from agentdash.sessions.text.sanitize import one_line
from agentdash.sessions.transcript.snapshot import View
from agentdash.tui.panes.steps.copy_parts import main_piece, pieces
from agentdash.tui.panes.steps.step_documents import StepDocuments, step_text
from agentdash.tui.services.background import Requests
from agentdash.tui.services.external_programs import ExternalPrograms


class Chosen(NamedTuple):
    """A step of a session."""

    session_id: str
    view: View
    item: int


class StepActions:
    """Passes steps to the clipboard, the pager and the editor; does nothing without a step.

    Args:
        reader: returns the paths of the files.
        requests: runs blocking calls in a thread.
        outside: runs the other programs.
        documents: reads the full text of a step.
    """

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

        reading = asyncio.to_thread(self._reader.resume_command, chosen.session_id)
        resume, why_not = await self._requests.outcome(reading)
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
        path = partial(self._reader.outputs.path, session_id, view.turn(item), stderr=stderr)
        file = await self._requests.ask(path)
        if file is not None:
            self._programs.page(file, 0 if stderr else view.where(item)[0])

    async def _whole(self, chosen: Chosen | None) -> Step | None:
        """Return the step with its full text."""
        return await self._requests.ask(self._documents.whole, chosen.view, chosen.item) if chosen is not None else None
