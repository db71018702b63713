"""The settings of projects in the dashboard: those of a folder, and the user's trust in them."""

import asyncio
from typing import TYPE_CHECKING, Any

from .....sessions.reader import SessionReader
from ....keys.key_queue import KeysInOrder
from ...background import Requests
from ...write_access import WriteAccess

if TYPE_CHECKING:
    from ....dialogs.starting.folder_settings import FolderSettings


class ProjectActions:
    """Reads the settings that a folder has, and asks whether they are trusted."""

    def __init__(self, app: KeysInOrder[Any], reader: SessionReader, access: WriteAccess, requests: Requests) -> None:
        self._app = app
        self._reader = reader
        self._access = access
        self._requests = requests

    async def settings_in(self, folder: str) -> "FolderSettings | None":
        """Return the agents and the presets of a start in a folder; None after an error, which is shown."""
        from ....dialogs.starting.folder_settings import FolderSettings

        def read() -> FolderSettings:
            reader = self._reader
            return FolderSettings(
                agents=reader.settings.agents(folder),
                presets=reader.settings.presets(folder),
                project=reader.settings.project_of(folder),
                default_agent=reader.settings.default_agent(folder),
            )

        return await self._requests.ask(read)

    async def review(self, folder: str) -> bool:
        """Show the settings of a folder's project; return whether the user changed the trust in them."""
        from ....dialogs.starting.trust import TrustScreen
        from ....texts import project_texts

        with self._app.keys_held():
            found, reason = await self._requests.outcome(asyncio.to_thread(self._reader.settings.project_of, folder))
            if found is None:
                self._requests.show_refusal(reason or project_texts.no_project(folder))
                return False
            screen = TrustScreen(found, read_only=self._access.read_only)
            answer = self._app.push_screen(screen, wait_for_dismiss=True)
        choice = await answer
        if choice is None:
            return False
        path = found.path
        if choice == "trust":
            done = await self._requests.done(lambda: self._access.manager("trust").projects.trust(found))
        else:
            done = await self._requests.done(lambda: self._access.manager("trust").projects.forget(str(path)))
        if done:
            self._requests.show_message((project_texts.trusted if choice == "trust" else project_texts.forgotten)(path))
        return done
