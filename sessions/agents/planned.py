"""The start of a later turn, made from its plan when the conversation to resume is known."""

import msgspec
from msgspec import structs

from ..errors import UsageError
from ..launch import Launch, TurnPlan
from .base import Agent, LaunchRequest


def launch_of(
    plan: TurnPlan, agent: Agent, *, prompt: str, cwd: str, session_id: str, turn: int, agent_session: str | None
) -> Launch:
    """Return the start of a turn.

    Args:
        plan: its settings.
        agent: its agent.
        prompt: the text for the agent.
        cwd: the folder to work in.
        session_id: the session.
        turn: the number of the turn.
        agent_session: the conversation to resume; None if the agent has not named one.

    Raises:
        UsageError: the agent cannot take the plan: another version of agentdash made it.
    """
    try:
        settings = msgspec.convert(plan.settings, agent.settings_type)
    except msgspec.ValidationError as error:
        raise UsageError(f"The settings of the queued prompt cannot be used: {error}.") from None
    launch = agent.launch(
        LaunchRequest(
            prompt=prompt,
            cwd=cwd,
            session_id=session_id,
            turn=turn,
            agent_session=agent_session,
            model=plan.model,
            settings=settings,
            argv=plan.argv,
        )
    )
    made = ("argv", "stdin", "env", "model", "transport", "opening", "plain_argv")
    return structs.replace(plan.frame, settings=plan.settings, **{name: getattr(launch, name) for name in made})
