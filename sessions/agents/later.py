"""Modules that are imported when something of them is called: an adapter names many, and a process needs few."""

from collections.abc import Callable
from importlib import import_module
from typing import Any


class Later:
    """A module below this package; it is imported at the first call of one of its functions or classes.

    An adapter also imports it in a branch for the type checker alone, which therefore checks each use.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            return getattr(import_module(f".{self._path}", __package__), name)(*args, **kwargs)

        return call
