"""The registry's actions as commands of the command line, by name."""

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from typing import Any, Protocol

from agentdash.tui.keys.action import Action
from agentdash.tui.keys.command_line import Command

_NEVER = {"back", "command_line"}
"""Actions that make no sense while the user types a command line."""


class Target(Protocol):
    """A widget or a screen that has actions."""

    def run_action(self, action: str) -> Coroutine[Any, Any, None]:
        """Run an action."""


def named(
    target: Target, actions: Iterable[Action], *, short: bool = False, why_not: Callable[[str], str] = lambda _: ""
) -> Iterator[Command]:
    """Yield the actions of a widget as commands by name; ``short`` adds the part of the name after the dot.

    ``why_not`` returns the reason an action cannot be run now.
    """
    for action in actions:
        if action.id not in _NEVER:
            names = [action.id, *([action.id.rpartition(".")[2]] if short else []), action.label]
            usable = tuple(dict.fromkeys(name for name in names if name and " " not in name))
            run = _runner(target, action.run)
            yield Command(names=usable, help=action.help, run=run, why_not=why_not(action.id))


def _runner(target: Target, action: str) -> Callable[[str], Awaitable[object]]:
    return lambda _: target.run_action(action)
