"""The use of a model's context as text, and the advice to compact the conversation."""

from collections.abc import Sequence

from agentdash.sessions.model.session import Session
from agentdash.sessions.rules.compaction import should_compact
from agentdash.sessions.text.units import share
from agentdash.sessions.text.units import tokens as short_count


def context_forms(session: Session) -> Sequence[str]:
    """Return the use of the model's context, the longest form first; "" if it is not known."""
    part = share(session.context_tokens, session.context_window)
    if not part:
        return ("",)
    whole = f"context {part} of {short_count(session.context_window)}"
    if compaction_advised(session):
        return (f"{whole}: {compact_command(session)}", f"context {part}: compact", f"context {part}")
    return (whole, f"context {part}")


def compaction_advised(session: Session) -> bool:
    """Return whether the conversation should be compacted."""
    return should_compact(session.context_tokens, session.context_window)


def compact_command(session: Session) -> str:
    """Return the command that compacts the conversation."""
    return f"agentdash compact {session.short_id}"
