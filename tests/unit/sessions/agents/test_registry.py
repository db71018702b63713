"""The registry of agents: what follows from its lines, and what is loaded to know it."""

import subprocess
import sys

import pytest

from agentdash.sessions.agents.registry import REGISTRY, agent_named, agent_names, takes_prompts, transcript_formats
from agentdash.sessions.costs.usage_totals import WITHOUT_MODEL
from agentdash.sessions.errors import UsageError


def test_an_agent_has_the_name_of_its_line() -> None:
    assert [agent_named(name).name for name in agent_names(demo=True)] == [*agent_names(demo=True)]
    assert set(agent_names(demo=True)) - set(agent_names(demo=False)) == {"demo", "codex-demo", "claude-demo"}


def test_a_cli_whose_transcripts_alone_are_read_is_no_agent() -> None:
    [name] = set(REGISTRY) - set(agent_names(demo=True))
    assert name == "gemini"
    with pytest.raises(UsageError, match="Known agents: codex, claude, command"):
        agent_named(name)
    assert [one.name for one in transcript_formats()] == ["codex-rollout", "claude-project", "gemini-session"]


def test_an_agent_that_only_another_version_has_takes_prompts() -> None:
    assert takes_prompts("codex")
    assert takes_prompts("of-tomorrow")
    assert not takes_prompts("command")


def test_the_agents_without_a_model_are_those_that_take_no_prompts() -> None:
    assert {name for name in agent_names(demo=True) if not takes_prompts(name)} == WITHOUT_MODEL


def test_what_the_adapters_say_is_known_without_their_parsers() -> None:
    code = (
        "import sys\n"
        "from agentdash.sessions.agents.format_detection import guess_format\n"
        'guess_format([b\'{"type": "of tomorrow"}\'])\n'
        "print(*(name for name in sys.modules if name.startswith('agentdash.sessions.agents.')))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    names = {name.removeprefix("agentdash.sessions.agents.") for name in loaded}
    assert {"codex.adapter", "claude.adapter", "demo.adapter", "command", "gemini.transcript"} <= names
    assert not [name for name in names if name.rpartition(".")[2] in ("events", "turn_parser", "reader", "project")]
