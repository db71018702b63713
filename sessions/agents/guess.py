"""Which agent wrote a turn file, told from its first lines."""

from collections.abc import Iterable

from .mending import parsed

LOOKED_AT = 50
"""Lines; a warning may stand before the first event."""
_CODEX = ("thread.", "turn.", "item.")
_CLAUDE = frozenset({"system", "assistant", "user", "result", "stream_event", "rate_limit_event"})


def guess_agent(lines: Iterable[bytes]) -> str:
    """The name of the agent; ``command``, which takes any text, where no line tells."""
    for line in lines:
        if name := _by_event(line):
            return name
    return "command"


def _by_event(line: bytes) -> str | None:
    try:
        event = parsed(line)
    except (ValueError, RecursionError):
        return None
    kind = event.get("type") if isinstance(event, dict) else None
    if not isinstance(kind, str):
        return None
    if kind.startswith(_CODEX):
        return "codex"
    return "claude" if kind in _CLAUDE and "session_id" in event else None
