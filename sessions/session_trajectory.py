"""An open trajectory over the store: the files say what the agent did, the rows which turns there are."""

from .model import Step
from .store.store import Store
from .trajectory import Trajectory


class SessionTrajectory:
    """An open trajectory: each refresh reads only what is new."""

    def __init__(self, store: Store, session_id: str, trajectory: Trajectory) -> None:
        self._store = store
        self._session = session_id
        self._trajectory = trajectory

    def refresh(self) -> list[Step]:
        """New steps since the last call, and replacements by (turn, index)."""
        # Turns first: a turn that is seen as ended then has all its bytes on disk.
        turns = self._store.turns(self._session)
        return self._trajectory.refresh(turns, self._store.prompts(self._session))

    def close(self) -> None:
        """Close the files."""
        self._trajectory.close()
