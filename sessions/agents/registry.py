"""The registry of agent CLIs: a new one takes one module and one line here.

Adapters are imported on first use, so that a runner loads exactly one.
"""

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from agentdash.sessions.model.errors import UsageError

if TYPE_CHECKING:
    from agentdash.sessions.agents.base import Agent, TranscriptFormat


class Entry(NamedTuple):
    """The classes for one CLI, each as ``package.module:class``."""

    adapter: str | None = None
    """The :class:`.base.Agent`; None for a CLI that agentdash cannot start, and whose transcripts it reads."""
    transcript: str | None = None
    """The :class:`.base.TranscriptFormat` of the CLI's own transcripts; None if they are not read."""


PLAIN_COMMAND = "command"
"""The agent that runs any command as a session; its output may be any text."""

REGISTRY: dict[str, Entry] = {
    "codex": Entry(
        "agentdash.sessions.agents.codex.adapter:Codex", "agentdash.sessions.agents.codex.rollout.files:CodexRollout"
    ),
    "claude": Entry(
        "agentdash.sessions.agents.claude.adapter:Claude", "agentdash.sessions.agents.claude.transcript:ClaudeProject"
    ),
    PLAIN_COMMAND: Entry("agentdash.sessions.agents.command:PlainCommand"),
    "gemini": Entry(transcript="agentdash.sessions.agents.gemini.transcript:GeminiSession"),
}
"""By the name of the CLI."""


def agent_names() -> tuple[str, ...]:
    """Return the names of the agents that can be started."""
    return tuple(name for name, entry in REGISTRY.items() if entry.adapter)


@cache
def agent_named(name: str) -> "Agent":
    """Return the adapter of this name.

    Raises:
        UsageError: no adapter has this name; the message lists the known agents.
    """
    if not is_agent(name):
        raise UsageError(f"Unknown agent {name!r}. Known agents: {', '.join(agent_names())}.")
    adapter: Agent = _loaded(REGISTRY[name].adapter)
    return adapter


def is_agent(name: str) -> bool:
    """Return whether there is an adapter of this name."""
    return name in REGISTRY and REGISTRY[name].adapter is not None


def takes_prompts(name: str) -> bool:
    """Return whether an agent takes prompts; True for an agent that only another version of agentdash has."""
    return not is_agent(name) or agent_named(name).prompted


@cache
def transcript_formats() -> "tuple[TranscriptFormat, ...]":
    """Return the formats of the CLIs' own transcripts."""
    return tuple(_loaded(entry.transcript) for entry in REGISTRY.values() if entry.transcript)


def _loaded(path: str | None) -> Any:
    module, _, kind = (path or "").partition(":")
    return getattr(import_module(module), kind)()
