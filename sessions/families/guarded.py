"""The one place that every act on a session passes: a method that changes sessions is marked with :func:`acts`."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from ..model import short_id
from .rights import Rights

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
G = TypeVar("G", bound="Guarded")


class Guarded:
    """A part of the manager whose acts are checked against the rights of the caller.

    Args:
        rights: those of the manager's caller; there is no default, so that no part acts for the user by omission.
    """

    def __init__(self, rights: Rights) -> None:
        self.rights = rights
        """The rights of the caller."""

    @property
    def inside(self) -> str | None:
        """The session from inside which the call comes; None if it comes from the user or from an outside lead."""
        return self.rights.caller.session

    @property
    def asker(self) -> str:
        """The recorded name of the caller: ``you``, or the session from inside which the call comes."""
        return f"session {short_id(self.inside)}" if self.inside else "you"


def acts(
    verb: str, *, on_itself: bool = True
) -> Callable[[Callable[Concatenate[G, T, P], R]], Callable[Concatenate[G, T, P], R]]:
    """Mark a method that changes the session, or the sessions, of its first argument, and check the caller's rights.

    A dry run changes nothing and is not checked.

    Args:
        verb: the act in the text of a refusal: ``stop``.
        on_itself: a session may do it to itself.
    """

    def marked(method: Callable[Concatenate[G, T, P], R]) -> Callable[Concatenate[G, T, P], R]:
        @wraps(method)
        def checked(self: G, target: T, /, *args: P.args, **kwargs: P.kwargs) -> R:
            kept: Any = list(target) if isinstance(target, Iterable) and not isinstance(target, str) else target
            if not kwargs.get("dry_run"):
                self.rights.check(kept, verb, on_itself=on_itself)
            return method(self, kept, *args, **kwargs)

        checked.acts = verb  # type: ignore[attr-defined]
        return checked

    return marked
