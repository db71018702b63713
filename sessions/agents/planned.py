"""The start of a later turn, made when the conversation to resume is known: from its plan, or to compact that."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import structs

from agentdash.sessions.agents.base import Agent, AgentSettings, LaunchRequest
from agentdash.sessions.agents.names import command_of
from agentdash.sessions.model import typed
from agentdash.sessions.model.compaction import BY_AGENT, BY_SUMMARY, Compaction, summary_request
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


def compaction_way(agent: Agent, launch: Launch, compaction: Compaction, *, resumes: bool) -> str:
    """Return the way in which an agent compacts a conversation: :data:`BY_AGENT` or :data:`BY_SUMMARY`.

    Args:
        resumes: the turn resumes a conversation of the agent, which its own command can compact.
    """
    if not resumes or compaction.by == BY_SUMMARY:
        return BY_SUMMARY
    if _compact_prompt(agent, compaction) is not None:
        return BY_AGENT
    live = launch.transport and agent.live is not None and agent.live.compacts
    return BY_AGENT if live and not compaction.words else BY_SUMMARY


def compaction_text(agent: Agent, compaction: Compaction) -> str:
    """Return the text that a turn gives the agent to compact, in the way that the compaction names."""
    if compaction.by == BY_SUMMARY:
        return summary_request(compaction)
    return _compact_prompt(agent, compaction) or compaction.prompt


def without_live(agent: Agent, launch: Launch) -> Launch:
    """Return the start of a process of one turn with a way to compact that it can take.

    An agent that compacts only while it is live is asked for a summary instead.
    """
    compaction = launch.compacts
    if compaction is None or compaction.by == BY_SUMMARY or launch.transport:
        return launch
    asked = structs.replace(compaction, by=compaction_way(agent, launch, compaction, resumes=True))
    return structs.replace(launch, compacts=asked, stdin=compaction_text(agent, asked))


def _compact_prompt(agent: Agent, compaction: Compaction) -> str | None:
    return agent.conversations.compact_prompt(compaction.words) if agent.conversations is not None else None
