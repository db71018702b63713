"""Short forms of paths and commands; :mod:`...sessions.text.units` has those of numbers and times."""

from pathlib import Path

from agentdash.sessions.text.sanitize import cut_middle, one_line


def place(path: str) -> str:
    """The path, with ``~`` for the user's home."""
    home = str(Path.home())
    return "~" + path[len(home) :] if path == home or path.startswith(home + "/") else path


def below(path: str, folder: str | None) -> str:
    """The path relative to a folder if it is below it, else with ``~`` for the user's home."""
    if folder and path.startswith(folder.rstrip("/") + "/"):
        return path[len(folder.rstrip("/")) + 1 :]
    return place(path)


def command(text: str, width: int = 0) -> str:
    """A command line without the folder of its program, cut in its middle to ``width`` cells if that is not 0."""
    program, blank, rest = one_line(text).partition(" ")
    short = program.rpartition("/")[2] or program
    return cut_middle(short + blank + rest, width) if width else short + blank + rest


def place_of(number: int | None, count: int) -> str:
    """Return where a cursor is, always in as many cells for one count: `` 3/26``; "" if there is nothing to count.

    ``number`` is None if the cursor is on nothing that counts.
    """
    return f"{'-' if number is None else number:>{len(str(count))}}/{count}" if count else ""
