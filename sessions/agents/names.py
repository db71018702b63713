"""Names that a stream may choose and that become arguments of an agent: conversations and models.  Pure.

What an agent prints is data.  Such a name is checked where it is recorded, and again where a start is made of it: the
records of earlier versions may hold anything.
"""

import re
from typing import TYPE_CHECKING

from agentdash.sessions.model.errors import UsageError

if TYPE_CHECKING:
    from agentdash.sessions.agents.base import Agent, LaunchRequest
    from agentdash.sessions.rules.launch import Command

UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""A conversation of codex (0.169.0, 0.171.0) or claude (2.1.197 to 2.1.332), as they print it."""

PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,199}")
"""A conversation of any other agent, or a place in one: neither an option nor a path."""

LONGEST_MODEL = 200
"""Characters of the name of a model."""

_SHOWN = 80


def is_model(name: str) -> bool:
    """Return whether a text can be the name of a model: one line that is not an option."""
    return bool(name) and not name.startswith("-") and len(name) <= LONGEST_MODEL and name.isprintable()


def command_of(agent: "Agent", request: "LaunchRequest") -> "Command":
    """Return the agent's command for a request whose names were checked.

    Raises:
        UsageError: a name is not valid, or the agent cannot take a setting.
    """
    check_names(agent, request)
    return agent.command(request)


def check_names(agent: "Agent", request: "LaunchRequest") -> None:
    """Check the names of a request that a stream may have chosen.

    Raises:
        UsageError: one is not valid.
    """
    conversation, model = request.agent_session, request.model or request.settings.model
    ids = agent.conversations.ids if agent.conversations is not None else PLAIN_NAME
    if conversation is not None and ids.fullmatch(conversation) is None:
        raise UsageError(
            f"{conversation[:_SHOWN]!r} is not a valid id of a conversation of {agent.title}, so it cannot be resumed. "
            f"Go on in a new conversation: agentdash continue {request.session_id[:8]}"
        )
    at = request.fork.at if request.fork is not None else None
    if at is not None and PLAIN_NAME.fullmatch(at) is None:
        raise UsageError(f"{at[:_SHOWN]!r} is not a valid place in a conversation of {agent.title}.")
    if model is not None and model and not is_model(model):
        raise UsageError(f"{model[:LONGEST_MODEL]!r} is not a valid name of a model.")
