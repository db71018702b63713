"""Commands by name: what a screen offers, how a line is understood and completed.  No screen."""

from collections.abc import Awaitable, Callable, Iterable
from difflib import get_close_matches

from msgspec import Struct

from ...sessions.text.sanitize import whole_names


class UnusableLineError(ValueError):
    """A line that is no command, or cannot be done now; its text says why, and what is near."""


def _nothing(_: str) -> Iterable[str]:
    return ()


class Command(Struct, frozen=True, kw_only=True):
    """One thing that can be asked for by name."""

    names: tuple[str, ...]
    """The first one is shown; the others are understood too."""
    help: str
    run: Callable[[str], Awaitable[object] | object]
    """Does it, with what was written behind the name; empty where nothing was."""
    takes: str = ""
    """What stands behind the name: ``TEXT``; ``[TEXT]`` where it may be left out; nothing where it takes nothing."""
    complete: Callable[[str], Iterable[str]] = _nothing
    """What may stand behind the name and begins like this."""
    why_not: str = ""
    """Why it cannot be done now; nothing where it can."""

    @property
    def usage(self) -> str:
        """How it is written."""
        return f"{self.names[0]} {self.takes}".strip()


class CommandLine:
    """Finds and completes commands; of two with the same name the later one counts."""

    def __init__(self, commands: Iterable[Command]) -> None:
        self._by_name: dict[str, Command] = {}
        for command in commands:
            self._by_name.update(dict.fromkeys(command.names, command))

    def find(self, line: str) -> tuple[Command, str]:
        """The command of a line, and what stands behind its name.

        Raises:
            UnusableLineError: there is no such command, it cannot be done now, or it takes more or less than was
                written.
        """
        name, _, argument = line.strip().removeprefix(":").strip().partition(" ")
        command, argument = self._named(name), argument.strip()
        if command.why_not:
            raise UnusableLineError(command.why_not)
        if argument and not command.takes:
            raise UnusableLineError(f"{command.names[0]} takes nothing: {argument[:40]!r} is too much.")
        if not argument and command.takes and not command.takes.startswith("["):
            raise UnusableLineError(f"{command.usage}: {command.help}.")
        return command, argument

    def _named(self, name: str) -> Command:
        command = self._by_name.get(name) or self._by_name.get(name.replace("-", "_"))
        if command is None:
            close = get_close_matches(name, self._by_name, 3)
            hint = f" Did you mean {' or '.join(close)}?" if close else " Tab shows what there is."
            raise UnusableLineError(f"Unknown command {name[:40]!r}.{hint}")
        return command

    def completions(self, line: str) -> list[str]:
        """What the line may become."""
        name, blank, argument = line.lstrip().partition(" ")
        if not blank:
            # What has a dot in its name belongs to one pane: there are many of them.
            able = [known for known, command in self._by_name.items() if not command.why_not]
            return sorted((known for known in able if known.startswith(name)), key=lambda known: "." in known)
        command = self._by_name.get(name)
        return [f"{name} {value}" for value in command.complete(argument.lstrip())] if command else []

    def hint(self, line: str, width: int) -> str:
        """What is said of a line that is being written: the command's use, else what it may become.

        As many whole names as fit into ``width`` cells.
        """
        name, blank, _ = line.lstrip().partition(" ")
        command = self._by_name.get(name)
        if command is not None:
            values = [value.partition(" ")[2] for value in self.completions(line)] if blank else []
            return command.why_not or whole_names([f"{command.usage}: {command.help}", *values], width, "  ")
        return whole_names(self.completions(line), width, "  ") or self._impossible(name) or "unknown"

    def _impossible(self, begun: str) -> str:
        """Why what a name may become cannot be done now."""
        found = (command.why_not for name, command in self._by_name.items() if name.startswith(begun))
        return next(filter(None, found), "")


def longer(line: str, completions: list[str]) -> str:
    """The line as far as all completions agree; the line itself where they do not."""
    # All of them agree on a character where the least and the greatest do.
    pairs = list(zip(min(completions, default=""), max(completions, default=""), strict=False))
    length = next((at for at, (one, other) in enumerate(pairs) if one != other), len(pairs))
    return max(line, max(completions, default="")[:length], key=len)


def starting(values: Iterable[str]) -> Callable[[str], Iterable[str]]:
    """Completes to those of some values that begin alike."""
    known = list(values)
    return lambda prefix: [value for value in known if value.startswith(prefix)]
