"""The start of a later turn, made from its plan when the conversation to resume is known."""

import msgspec
from msgspec import structs

from ..errors import UsageError
from ..launch import Fork, Launch, TurnPlan, Way
from .base import Agent, AgentSettings, LaunchRequest
from .names import start_of


def settings_of(plan: TurnPlan, agent: Agent) -> AgentSettings:
    """Return the agent's section of the settings of a plan.

    Raises:
        UsageError: the agent cannot take the plan: another version of agentdash made it.
    """
    try:
        return msgspec.convert(plan.settings, agent.settings_type)
    except msgspec.ValidationError as error:
        raise UsageError(f"The settings of the queued prompt cannot be used: {error}.") from None


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
    settings = settings_of(plan, agent)
    launch = start_of(
        agent,
        LaunchRequest(
            prompt=prompt,
            cwd=cwd,
            session_id=session_id,
            turn=turn,
            agent_session=agent_session,
            fork=fork,
            model=plan.model,
            led=plan.frame.led,
            settings=settings,
            argv=plan.argv,
        ),
    )
    made = ("argv", "stdin", "env", "model", "transport", "opening", "plain_argv")
    return structs.replace(
        plan.frame,
        settings=plan.settings,
        how=how,
        conversation=agent_session if how == "native" else None,
        fork=fork,
        **{name: getattr(launch, name) for name in made},
    )
