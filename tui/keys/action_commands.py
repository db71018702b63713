"""The actions of the registry as commands of the command line, by their names."""

from collections.abc import Awaitable, Callable, Iterable, Iterator

from textual.widget import Widget

from .actions import Action
from .command_line import Command

_NEVER = {"back", "command_line"}
"""What makes no sense where a line is being written."""


def named(
    target: Widget, actions: Iterable[Action], *, short: bool = False, why_not: Callable[[str], str] = lambda _: ""
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


def _runner(target: Widget, action: str) -> Callable[[str], Awaitable[object]]:
    return lambda _: target.run_action(action)
