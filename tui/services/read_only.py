"""A manager that only looks: the one guard that no way to change a session can slip past."""

from collections.abc import Callable
from typing import Any, NoReturn

from ...sessions.errors import UsageError
from ...sessions.manager import SessionManager
from ...sessions.reader import SessionReader


class LookingManager:
    """Passes on what the reader below the manager has, and refuses the rest: also what will be added one day.

    Refused is the call, not the name: who calls tells the error like any other.
    """

    def __init__(self, manager: SessionManager) -> None:
        self._manager = manager

    def __getattr__(self, name: str) -> Any:
        return getattr(self._manager, name) if hasattr(SessionReader, name) else _refusal(name)


def _refusal(name: str) -> Callable[..., NoReturn]:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise UsageError(f"This dashboard is read-only: no {name.replace('_', ' ')} from here.")

    return refuse
