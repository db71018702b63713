"""The start of a later turn, made from its plan when the conversation to resume is known."""

from collections.abc import Mapping
from typing import Any

import msgspec

from agentdash.sessions.agents.base import Agent, AgentSettings, LaunchRequest
from agentdash.sessions.agents.names import command_of
from agentdash.sessions.model import typed
from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.rules.launch import Fork, Launch, TurnPlan, Way


def settings_of(settings: Mapping[str, Any], agent: Agent) -> AgentSettings:
    """Return the agent's section of the settings from plain values, as a plan or a launch has them.

    Raises:
        UsageError: the agent cannot take them: another version of agentdash recorded them.
    """
    try:
        return typed.convert(settings, agent.settings_type)
    except msgspec.ValidationError as error:
        raise UsageError(f"The recorded settings cannot be used: {error}.") from None


def launch_of(
    plan: TurnPlan,
    agent: Agent,
    *,
    prompt: str,
    cwd: str,
    session_id: str,
    turn: int,
    agent_session: str | None,
    fork: Fork | None = None,
    how: Way = "",
) -> Launch:
    """Return the start of a turn.

    Args:
        agent_session: the conversation to resume or to fork; None if the agent has not named one.
        fork: the place behind which it is forked.
        how: how it takes up the conversation, if it does not follow the turn before it.

    Raises:
        UsageError: the agent cannot take the plan (another version of agentdash made it), or a recorded name is not
            valid.
    """
    request = LaunchRequest(
        prompt=prompt,
        cwd=cwd,
        session_id=session_id,
        turn=turn,
        agent_session=agent_session,
        fork=fork,
        model=plan.model,
        led=plan.terms.led,
        settings=settings_of(plan.settings, agent),
        argv=plan.argv,
    )
    conversation = agent_session if how == "native" else None
    return plan.launch(command_of(agent, request), how=how, conversation=conversation, fork=fork)
