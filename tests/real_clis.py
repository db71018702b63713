"""The real agent CLIs that the tests run: each tested version, and where ``make tools`` puts its command.

Versions that print the same kinds of events are one *kind* of CLI.  A test names a kind, and runs with one version of
it; which one follows from the test's name, so each scenario runs once, and each version runs a share of them.
"""

from pathlib import Path
from zlib import crc32

from places import TESTS

from agentdash.sessions.agents.registry import agent_named

TOOLS = TESTS / "tools"
PACKAGES = {"codex": "@openai/codex", "claude": "@anthropic-ai/claude-code"}
"""The npm package of each agent."""

CLIS = [(name, version) for name in PACKAGES for version in agent_named(name).tested_versions]
"""Each tested CLI: the agent's name and its version, oldest first."""

OLD_CLAUDE = "2.1.197"
"""Its totals of costs begin again with each process, and its sub-agents end within a turn; those of the later ones
differ."""

CLAUDES = (f"claude-{OLD_CLAUDE}", "claude-new")
"""The kinds of claude."""

NEWEST = CLAUDES[-1]

EVERY_CLI = ("codex", *CLAUDES)
"""The kinds of all agents."""


def versions_of(kind: str) -> list[str]:
    """Return the versions of a kind of CLI, oldest first."""
    agent, _, version = kind.partition("-")
    versions = [version for name, version in CLIS if name == agent]
    if not version:
        return versions
    return [one for one in versions if (one == OLD_CLAUDE) == (version == OLD_CLAUDE)]


def version_for(kind: str, test: str) -> str:
    """Return the version of a kind that a test runs with.

    Args:
        kind: one of :data:`EVERY_CLI`.
        test: the test's name with its parameters.
    """
    versions = versions_of(kind)
    return versions[crc32(test.encode()) % len(versions)]


def command_of(name: str, version: str) -> Path:
    """Return the path of an agent's command."""
    return TOOLS / f"{name}-{version}" / "node_modules" / ".bin" / name
