"""What can be done with the step under the cursor in other programs: copied, paged, edited, saved."""

from functools import partial
from typing import NamedTuple

from textual import work
from textual.containers import Vertical
from textual.message import Message

from ...sessions.model import Step
from ...sessions.text.sanitize import one_line
from ...sessions.transcript.snapshot import View
from ..dialogs.pick import PickScreen
from ..services.background import Requests
from ..services.external_programs import Outside
from .copy_parts import main_piece, pieces
from .step_documents import Papers, Source, step_text


class Chosen(NamedTuple):
    """A step of a session."""

    session_id: str
    view: View
    item: int


class StepActions(Vertical):
    """A pane in which a step is chosen."""

    class SaveAsked(Message):
        """The session is to be saved as a file."""

        def __init__(self, session_id: str) -> None:
            super().__init__()
            self.session_id = session_id

    def __init__(self, source: Source, requests: Requests, outside: Outside, papers: Papers) -> None:
        super().__init__()
        self.source = source
        self.requests = requests
        self.papers = papers
        self._outside = outside

    @property
    def chosen(self) -> Chosen | None:
        """The step under the cursor; None where there is none."""
        raise NotImplementedError

    @property
    def shows_stderr(self) -> bool:
        """Whether stderr is what somebody looks at."""
        raise NotImplementedError

    @work
    async def action_copy(self) -> None:
        """Copy what the step is about."""
        step = await self._whole()
        piece = main_piece(step) if step is not None else None
        if piece is not None:
            await self._outside.copy(piece.text, piece.name)

    @work
    async def action_copy_part(self) -> None:
        """Ask what of the step is to be copied."""
        step = await self._whole()
        found = list(pieces(step)) if step is not None else []
        if found:
            offers = [(piece.key, f"{piece.name}   {one_line(piece.text, 50)}") for piece in found]
            number = await self.app.push_screen_wait(PickScreen("Copy", offers))
            if number is not None:
                await self._outside.copy(found[number].text, found[number].name)

    async def action_page_step(self) -> None:
        """The whole step in the pager."""
        if (step := await self._whole()) is not None:
            self._outside.page_text(step_text(step), f"turn-{step.turn}-step-{step.index}.txt")

    async def action_edit_step(self) -> None:
        """A copy of the whole step in the editor."""
        if (step := await self._whole()) is not None:
            self._outside.edit_text(step_text(step), f"turn-{step.turn}-step-{step.index}.md")

    async def action_page_file(self) -> None:
        """The turn's file in the pager, where the step lies in it; stderr, while that is shown."""
        if self.chosen is None:
            return
        session_id, view, item = self.chosen
        path = partial(self.source.output_path, session_id, view.turn(item), stderr=self.shows_stderr)
        found = await self.requests.ask(path)
        if found is not None:
            self._outside.page(found, 0 if self.shows_stderr else view.where(item)[0])

    def action_export(self) -> None:
        """Save the session as a file."""
        if self.chosen is not None:
            self.post_message(self.SaveAsked(self.chosen.session_id))

    async def _whole(self) -> Step | None:
        """The step under the cursor with all its words."""
        if self.chosen is None:
            return None
        return await self.requests.ask(self.papers.whole, self.chosen.view, self.chosen.item)
