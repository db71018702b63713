"""The way in which an agent compacts a conversation, and the start of a turn that does it."""

from msgspec import structs

from agentdash.sessions.agents.base import Agent
from agentdash.sessions.model.compaction import BY_AGENT, BY_SUMMARY, Compaction, summary_request
from agentdash.sessions.rules.launch import Launch


def way_of(agent: Agent, launch: Launch, compaction: Compaction, *, resumes: bool) -> str:
    """Return :data:`BY_AGENT` or :data:`BY_SUMMARY`.

    Args:
        resumes: the turn resumes a conversation of the agent, which its own command can compact.
    """
    if not resumes or compaction.by == BY_SUMMARY:
        return BY_SUMMARY
    if _command(agent, compaction) is not None:
        return BY_AGENT
    live = launch.transport and agent.live is not None and agent.live.compacts
    return BY_AGENT if live and not compaction.words else BY_SUMMARY


def text_of(agent: Agent, compaction: Compaction) -> str:
    """Return the text that a turn gives the agent to compact, in the way that the compaction names."""
    if compaction.by == BY_SUMMARY:
        return summary_request(compaction)
    return _command(agent, compaction) or compaction.prompt


def without_live(agent: Agent, launch: Launch) -> Launch:
    """Return the start of a process of one turn with a way to compact that it can take.

    An agent that compacts only while it is live is asked for a summary instead.
    """
    compaction = launch.compacts
    if compaction is None or compaction.by == BY_SUMMARY or launch.transport:
        return launch
    asked = structs.replace(compaction, by=way_of(agent, launch, compaction, resumes=True))
    return structs.replace(launch, compacts=asked, stdin=text_of(agent, asked))


def _command(agent: Agent, compaction: Compaction) -> str | None:
    return agent.conversations.compact_prompt(compaction.words) if agent.conversations is not None else None
