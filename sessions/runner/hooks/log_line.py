"""The line about a hook in a runner's log, for those that write it and those that find it again."""

_BEGIN = "hook on "


def hook_line(status: str, words: str) -> str:
    """Return the line about the hook of a change to ``status``: ``hook on done: exit 7``."""
    return f"{_BEGIN}{status}: {words}"


def is_hook_line(line: str) -> bool:
    """Return whether :func:`hook_line` made the line."""
    return line.startswith(_BEGIN)
