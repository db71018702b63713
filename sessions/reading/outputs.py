"""The output of agents, byte for byte: which file has that of a turn, and its contents."""

from collections.abc import Callable
from pathlib import Path

from ..errors import StoreError
from ..lifecycle.session_ref import find_turn
from ..model import Session
from ..storage.files.file_part import FilePart
from ..storage.paths import Layout
from ..storage.queries import Queries
from ..storage.turns.turn_output import output_in


class OutputReader:
    """Reads what agents printed.

    Args:
        layout: the state folder.
        queries: its database.
        get: returns the session that a text names: :meth:`..reader.SessionReader.get`.
    """

    def __init__(self, layout: Layout, queries: Queries, get: Callable[[str], Session]) -> None:
        self._layout = layout
        self._queries = queries
        self._get = get

    def check_folder(self, session: Session) -> None:
        """Make sure that a session's output still exists.

        Raises:
            StoreError: its folder was removed; the contents of its rows can still be shown.
        """
        path, short = self._layout.session(session.id).path, session.short_id
        if not path.is_dir():
            lost = f"The folder of session {short} is gone: {path}. Its output is lost"
            raise StoreError(f"{lost}. Remove the session: agentdash rm {short}")

    def read(self, ref: str, turn: int | None = None, *, stderr: bool = False) -> bytes:
        """Return the agent's output in a turn, byte for byte; empty if there is no such file."""
        return self.part(ref, turn, stderr=stderr).read()

    def path(self, ref: str, turn: int | None = None, *, stderr: bool = False) -> Path:
        """Return the file of the agent's output in a turn, which can hold other turns; see :meth:`part`."""
        return self.part(ref, turn, stderr=stderr).path

    def part(self, ref: str, turn: int | None = None, *, stderr: bool = False) -> FilePart:
        """Return the part of a file with the agent's output in a turn (default: the newest).

        Raises:
            UsageError: it has no such turn.
        """
        session = self._get(ref)
        n = find_turn(session, turn)
        output = output_in(self._layout.session(session.id), self._queries.turns(session.id, n), n)
        return output.stderr if stderr else output.stdout

    def stderr_tail(self, ref: str, turn: int | None = None, most: int = 1 << 20) -> tuple[str, int]:
        """Return at most ``most`` bytes from the end of the agent's stderr, and the number of bytes before them.

        Raises:
            UsageError: it has no such turn.
            StoreError: the file cannot be read.
        """
        part = self.part(ref, turn, stderr=True)
        try:
            data, left_out = part.last(most)
        except OSError as error:
            raise StoreError(f"{part.path}: {error.strerror or error}.") from None
        return data.decode("utf-8", "replace"), left_out
