"""A caller's own name of a request, by which it can be repeated: the same key does nothing twice."""

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.text.sanitize import one_line

_CELLS = 120


def check_same_task(key: str, owner: str, known: str, asked: str) -> None:
    """Refuse a key that names another task: the answer to it would be that of the other.

    Args:
        owner: what has it: ``session 12345678``.
        known: the task or the prompt with this key.
        asked: the one that is requested now.

    Raises:
        UsageError: they differ; both are named.
    """
    if known.strip() == asked.strip():
        return
    raise UsageError(
        f'The key {one_line(key, 80)} names another task, of {owner}: "{one_line(known, _CELLS)}", '
        f'and not "{one_line(asked, _CELLS)}". Use another key.'
    )
