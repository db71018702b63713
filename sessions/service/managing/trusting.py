"""Trust in the settings of projects: review a file, trust its contents, forget them."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from agentdash.sessions.model.errors import AgentdashError, UsageError
from agentdash.sessions.service.families.rights import Guarded, Rights
from agentdash.sessions.service.reader import SessionReader
from agentdash.sessions.storage.paths import Layout

if TYPE_CHECKING:
    from agentdash.sessions.service.projects.review import Review
    from agentdash.sessions.service.projects.trust import Trusted, TrustStore


class ProjectTrust(Guarded):
    """Changes which settings of projects are in force."""

    def __init__(self, rights: Rights, layout: Layout, reader: SessionReader) -> None:
        super().__init__(rights)
        self._layout = layout
        self._reader = reader

    @property
    def _store(self) -> "TrustStore":
        from agentdash.sessions.service.projects.trust import TrustStore  # only a project needs it

        return TrustStore(self._layout.home)

    def trust(self, seen: "Review") -> "Review":
        """Trust the contents that the user has seen, and return the file's review.

        Raises:
            UsageError: the file cannot be in force, or an agent asks for it.
            StoreError: the record cannot be written.
        """
        self._check_user()
        if seen.file is None or seen.config is None:
            raise UsageError(seen.why if seen.state == "refused" else seen.note)
        trusted = self._store.put(seen.file)
        return structs.replace(seen, state="trusted", trusted=trusted)

    def forget(self, place: str) -> Path:
        """Trust the settings of a project no longer; return the path of the file.

        Args:
            place: the file, or a folder of the project; the file need not exist.

        Raises:
            AgentdashError: it was not trusted.
        """
        self._check_user()
        for path in self._paths(place):
            if self._store.forget(path):
                return path
        raise AgentdashError(f"{place} has no trusted settings. List them: agentdash trust --list")

    def trusted(self) -> "list[tuple[Trusted, str]]":
        """List the trusted files with their present state: that of a review, or ``gone``."""
        from agentdash.sessions.service.projects.review import review

        own, store = self._reader.settings.loaded(), self._store
        return [
            (one, review(path, store, own).state if os.path.lexists(path) else "gone")
            for one in store.all()
            for path in [Path(one.path)]
        ]

    def _paths(self, place: str) -> list[Path]:
        """Return the paths that a place can mean: itself, the file in it, and the file that applies in it."""
        from agentdash.sessions.service.projects.file import NAME, find

        given = Path(os.path.abspath(Path(place).expanduser()))  # noqa: PTH100 - the file itself is not followed
        folder = Path(os.path.realpath(given.parent if given.name == NAME else given))
        applies = find(folder)
        return [folder / NAME, given, *([applies] if applies is not None and given.name != NAME else [])]

    def _check_user(self) -> None:
        """Refuse a request from inside a session, of any state folder: an agent can write the file."""
        self._layout.check_writable()
        if self.rights.caller.evidence:
            raise UsageError("An agent cannot change which projects are trusted. Do it in your own terminal.")
