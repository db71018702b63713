"""Commands by name: parse and complete a command line, and offer the registry's actions."""

from collections.abc import Awaitable, Callable, Iterable, Iterator
from difflib import get_close_matches
from functools import partial

from msgspec import Struct
from textual.widget import Widget

from agentdash.sessions.text.sanitize import whole_names
from agentdash.tui.keys.action import Action

VERBS = frozenset({
    "answer", "archive", "changes", "compact", "continue", "explain", "export", "fork", "inject", "interrupt", "pin",
    "queue", "rename", "retry", "rewind", "start", "stop", "trust", "usage", "view",
})  # fmt: skip
"""The commands with the names of verbs of ``agentdash``: completion offers them first."""


class UnusableLineError(ValueError):
    """A line that is not a command or cannot be run now; the message has the reason and similar names."""


class Command(Struct, frozen=True, kw_only=True):
    """A command of the command line."""

    names: tuple[str, ...]
    """The first name is shown; the others are aliases."""
    help: str
    run: Callable[[str], Awaitable[object] | object]
    """Runs the command with the text after its name, which may be empty."""
    takes: str = ""
    """The argument: ``TEXT``; ``[TEXT]`` if it is optional; empty if there is none."""
    complete: Callable[[str], Iterable[str]] = lambda _: ()
    """Returns the possible arguments that begin with a text."""
    why_not: str = ""
    """The reason it cannot be run now; empty if it can."""

    @property
    def usage(self) -> str:
        """The name and the argument, as shown in help."""
        return f"{self.names[0]} {self.takes}".strip()


class CommandLine:
    """Finds and completes commands; if two have the same name, the later one counts."""

    def __init__(self, commands: Iterable[Command]) -> None:
        self._by_name: dict[str, Command] = {}
        for command in commands:
            self._by_name.update(dict.fromkeys(command.names, command))

    def find(self, line: str) -> tuple[Command, str]:
        """Return the command of a line, and its argument.

        Raises:
            UnusableLineError: the command is unknown, cannot be run now, or has an argument too many or too few.
        """
        name, _, argument = line.strip().removeprefix(":").strip().partition(" ")
        command, argument = self._named(name), argument.strip()
        if command.why_not:
            raise UnusableLineError(command.why_not)
        if argument and not command.takes:
            raise UnusableLineError(f"{command.names[0]} takes no argument (got {argument[:40]!r}).")
        if not argument and command.takes and not command.takes.startswith("["):
            raise UnusableLineError(f"{command.usage}: {command.help}.")
        return command, argument

    def _named(self, name: str) -> Command:
        command = self._by_name.get(name) or self._by_name.get(name.replace("-", "_"))
        if command is None:
            close = get_close_matches(name, self._by_name, 3)
            hint = f" Did you mean {' or '.join(close)}?" if close else " Tab lists the commands."
            raise UnusableLineError(f"Unknown command {name[:40]!r}.{hint}")
        return command

    def completions(self, line: str) -> list[str]:
        """Return the possible completions of the line."""
        name, blank, argument = line.lstrip().partition(" ")
        if not blank:
            able = [known for known, command in self._by_name.items() if not command.why_not]
            # Names with a dot belong to one pane each, and there are many of them.
            begun = [known for known in able if known.startswith(name) and ("." in name or "." not in known)]
            return sorted(begun, key=lambda known: (known not in VERBS, "." in self._by_name[known].names[0]))
        command = self._by_name.get(name)
        return [f"{name} {value}" for value in command.complete(argument.lstrip())] if command else []

    def hint(self, line: str, width: int) -> str:
        """Return the hint for an unfinished line: the command's usage, else the possible completions.

        It has only whole names, as many as fit into ``width`` cells.
        """
        name, blank, _ = line.lstrip().partition(" ")
        command = self._by_name.get(name)
        if command is not None:
            values = [value.partition(" ")[2] for value in self.completions(line)] if blank else []
            return command.why_not or whole_names([f"{command.usage}: {command.help}", *values], width, "  ")
        return whole_names(self.completions(line), width, "  ") or self._impossible(name) or "unknown"

    def _impossible(self, begun: str) -> str:
        """Return why a command that begins like this cannot be run now; empty if there is no reason."""
        reasons = (command.why_not for name, command in self._by_name.items() if name.startswith(begun))
        return next(filter(None, reasons), "")


def longer(line: str, completions: list[str]) -> str:
    """Return the common prefix of all completions, or the line itself if that is longer."""
    # All completions have a prefix in common if the least and the greatest have it.
    pairs = list(zip(min(completions, default=""), max(completions, default=""), strict=False))
    length = next((at for at, (one, other) in enumerate(pairs) if one != other), len(pairs))
    return max(line, max(completions, default="")[:length], key=len)


def starting(values: Iterable[str]) -> Callable[[str], Iterable[str]]:
    """Return a completer that offers the values that begin with its argument."""
    known = list(values)
    return lambda prefix: [value for value in known if value.startswith(prefix)]


_NEVER = {"back", "command_line"}
"""Actions that make no sense while the user types a command line."""


def named(
    target: Widget, actions: Iterable[Action], *, short: bool = False, why_not: Callable[[str], str] = lambda _: ""
) -> Iterator[Command]:
    """Yield the actions of a widget as commands by name; ``short`` adds the part of the name after the dot.

    ``why_not`` returns the reason an action cannot be run now.
    """
    for action in actions:
        if action.id not in _NEVER:
            names = [action.id, *([action.id.rpartition(".")[2]] if short else []), action.label]
            usable = tuple(dict.fromkeys(name for name in names if name and " " not in name))
            run = partial(_run, target, action.run)
            yield Command(names=usable, help=action.help, run=run, why_not=why_not(action.id))


def _run(target: Widget, action: str, _: str) -> Awaitable[object]:
    return target.run_action(action)
