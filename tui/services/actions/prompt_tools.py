"""The tools for writing a prompt: the editor, the search in earlier prompts, the paths of a folder, templates."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from agentdash.sessions.model.clock import monotonic, now_ms
from agentdash.sessions.model.session import Session
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.settings.sections import PromptTemplate
from agentdash.tui.services.desk import Actions, Desk
from agentdash.tui.services.external_programs import ExternalPrograms
from agentdash.tui.texts import prompt_texts

if TYPE_CHECKING:
    from agentdash.widgets.lists.row_list import Entry


KEPT_SECONDS = 30.0
"""Age from which a list is read again; a word that begins reads it again too."""


def _expanded(folder: str) -> str:
    """Return a folder that the user typed with the home folder in place of ``~``."""
    return str(Path(folder).expanduser()) if folder.startswith("~") else folder


class PromptHelp:
    """The tools of one prompt.

    Args:
        folder: returns the folder whose paths complete ``@``.
        start: returns the start to which the prompt belongs, for the fields of templates.
    """

    def __init__(self, tools: "PromptWriting", folder: Callable[[], str], start: Callable[[], Start]) -> None:
        self._tools = tools
        self._folder = folder
        self._start = start

    def edit(self, text: str) -> str | None:
        """Return the text after the user edited it in the editor; None if that failed."""
        return self._tools.programs.edited(text, prompt_texts.EDITED_FILE)

    async def search(self) -> str | None:
        """Return an earlier prompt that the user found; None if the user chose none."""
        return await self._tools.search()

    async def template(self) -> str | None:
        """Return the text of a template that the user chose, filled in for the start; None if the user chose none."""
        start = self._start()
        picked = await self._tools.template(start.cwd)
        return await self._tools.filled_for_start(*picked, start) if picked is not None else None

    async def paths(self, letters: str, limit: int) -> list[str]:
        """Return the files that match the letters of a path, the best first."""
        return await self._tools.paths(self._folder(), letters, limit)


class PromptWriting(Actions):
    """Helps the user to write prompts; an error is shown."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.programs = ExternalPrograms(desk.app, desk.requests)
        self._folder = ""
        self._read_at = 0.0
        self._listing: asyncio.Future[list[str]] | None = None
        """The files of :attr:`_folder`, the last one that was completed."""

    async def paths(self, folder: str, letters: str, limit: int) -> list[str]:
        """Return the files of a folder that match the letters of a path, the best first."""
        from agentdash.sessions.service.prompts.file_paths import (  # the first screen needs no git
            best_paths,
            paths_below,
        )

        listing = self._listing
        is_old = not letters or monotonic() - self._read_at > KEPT_SECONDS
        if listing is None or folder != self._folder or (listing.done() and is_old):
            self._folder, self._read_at = folder, monotonic()
            listing = self._listing = asyncio.ensure_future(asyncio.to_thread(lambda: paths_below(_expanded(folder))))
        # The next key cancels this call, but not the list: a slow folder is read once.
        paths = await asyncio.shield(listing)
        return await asyncio.to_thread(best_paths, paths, letters, limit)

    async def search(self) -> str | None:
        """Let the user find an earlier prompt of any session; None if the user chose none."""
        with self._app.keys_held():
            prompts = await self._requests.ask(self._reader.past_prompts)
            if not prompts:
                if prompts is not None:
                    self._requests.show_refusal(prompt_texts.NO_PROMPTS)
                return None
            answer = self._asked("Earlier prompts", prompt_texts.prompt_entries(prompts, now_ms()))
        at = await answer
        return prompts[at].text if at is not None else None

    async def template(self, folder: str) -> tuple[str, PromptTemplate] | None:
        """Let the user choose a template of the settings in a folder; None if the user chose none."""
        with self._app.keys_held():
            templates = await self._requests.ask(self._reader.settings.templates, folder)
            if not templates:
                if templates is not None:
                    self._requests.show_refusal(prompt_texts.NO_TEMPLATES)
                return None
            answer = self._asked("Templates", prompt_texts.template_entries(templates))
        at = await answer
        return list(templates.items())[at] if at is not None else None

    def _asked(self, title: str, entries: "list[Entry]") -> "asyncio.Future[int | None]":
        """Open the list, and return its answer."""
        from agentdash.tui.dialogs.table.pick import FindScreen

        return self._app.push_screen(FindScreen(title, entries), wait_for_dismiss=True)

    async def filled_for(self, name: str, template: PromptTemplate, session: Session) -> str | None:
        """Return a template's prompt for a session; None if a field has no value."""
        return await self._requests.ask(self.text_for(name, template), session)

    def text_for(self, name: str, template: PromptTemplate) -> Callable[[Session], str]:
        """Return the function that fills in a template for a session; it blocks, and raises ``UsageError``."""
        from agentdash.sessions.service.prompts.filling import filled_for

        return lambda session: filled_for(self._reader, name, template, session)

    async def filled_for_start(self, name: str, template: PromptTemplate, start: Start) -> str | None:
        """Return a template's prompt for a start; None if a field has no value."""
        from agentdash.sessions.service.lifecycle.starts.launch_plan import completed
        from agentdash.sessions.service.prompts.filling import filled_for_start

        def fill() -> str:
            whole = completed(start, self._reader.settings.in_folder(start.cwd).config)
            # A prompt box does not know the id that its session will get.
            return filled_for_start(name, template, structs.replace(whole, session_id=start.session_id))

        return await self._requests.ask(fill)
