"""The actions of the registry as commands of the command line, by their names."""

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from typing import Any, Protocol

from .actions import Action
from .command_line import Command

_NEVER = {"back", "command_line"}
"""What makes no sense where a line is being written."""


class Target(Protocol):
    """A widget or a screen that has actions."""

    def run_action(self, action: str) -> Coroutine[Any, Any, None]:
        """Do one of them."""


def named(
    target: Target, actions: Iterable[Action], *, short: bool = False, why_not: Callable[[str], str] = lambda _: ""
) -> Iterator[Command]:
    """Actions of a widget by their names; ``short`` also by what stands behind the dot.

    ``why_not`` tells of an action why it cannot be done now.
    """
    for action in actions:
        if action.id not in _NEVER:
            names = [action.id, *([action.id.rpartition(".")[2]] if short else []), action.label]
            told = tuple(dict.fromkeys(name for name in names if name and " " not in name))
            run = _runner(target, action.run)
            yield Command(names=told, help=action.help, run=run, why_not=why_not(action.id))


def _runner(target: Target, action: str) -> Callable[[str], Awaitable[object]]:
    return lambda _: target.run_action(action)
