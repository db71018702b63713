"""The failure of an agent that cannot find the conversation that it is to resume."""

from functools import cache

from agentdash.sessions.agents.registry import agent_named, agent_names
from agentdash.sessions.model.session import Session, Status, Turn


def lost_conversation(failed: Session | Turn) -> bool:
    """Return whether a turn, or the newest turn of a session, failed because its conversation is gone.

    The transcript was deleted, or is on another machine; claude also finds it only from its own folder.
    """
    reason = failed.reason or ""
    return failed.status is Status.FAILED and any(words in reason for words in _words())


@cache
def _words() -> tuple[str, ...]:
    found = (agent_named(name).conversations for name in agent_names())
    return tuple(one.lost for one in found if one is not None and one.lost)
