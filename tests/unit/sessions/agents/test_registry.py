"""The registry of agents: what follows from its lines, and what is loaded to know it."""

import subprocess
import sys
from typing import ClassVar

import pytest

from agentdash.sessions.agents.base import Agent, LaunchRequest, LiveSettings
from agentdash.sessions.agents.capabilities import Modes
from agentdash.sessions.agents.claude.adapter import ClaudeSettings
from agentdash.sessions.agents.leading import LeadSettings
from agentdash.sessions.agents.registry import REGISTRY, agent_named, agent_names, takes_prompts, transcript_formats
from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.model.taken_by import BY_HAND
from agentdash.sessions.rules.costs.usage_totals import WITHOUT_MODEL
from agentdash.sessions.rules.launch import Command


def test_an_agent_has_the_name_of_its_line() -> None:
    assert [agent_named(name).name for name in agent_names()] == [*agent_names()]


def test_a_cli_whose_transcripts_alone_are_read_is_no_agent() -> None:
    [name] = set(REGISTRY) - set(agent_names())
    assert name == "gemini"
    with pytest.raises(UsageError, match="Known agents: codex, claude, command"):
        agent_named(name)
    assert [one.name for one in transcript_formats()] == ["codex-rollout", "claude-project", "gemini-session"]


def test_an_agent_that_only_another_version_has_takes_prompts() -> None:
    assert takes_prompts("codex")
    assert takes_prompts("of-tomorrow")
    assert not takes_prompts("command")


def test_the_agents_without_a_model_are_those_that_take_no_prompts() -> None:
    assert {name for name in agent_names() if not takes_prompts(name)} == WITHOUT_MODEL


@pytest.mark.usefixtures("scripted_agent")
@pytest.mark.parametrize("name", [*agent_names(), "scripted"])
def test_each_capability_of_an_adapter_is_whole(name: str) -> None:
    agent = agent_named(name)
    assert lacks(agent) == []


def lacks(agent: Agent) -> list[str]:
    """What an adapter promises by one of its groups, and does not have in another one."""
    modes, files, live = agent.modes, agent.own_files, agent.live
    named = {*modes.dangerous, *modes.ranks, *modes.writing, *modes.narrower} if modes is not None else set()
    named |= {mode for others in modes.narrower.values() for mode in others} if modes is not None else set()
    settings = agent.settings_type.__struct_fields__
    follows = agent.interface is not None and agent.interface.shown is not None
    reads = files is not None and files.transcript is not None
    whole = {
        "a parser of every other transport": "" in agent.parsers,
        "a parser of what is done by hand": reads == (BY_HAND in agent.parsers),
        "a transcript of the conversation that is shown": reads or not follows,
        "modes that its setting can have": modes is None or named <= {*modes.names},
        "the setting of its modes": modes is None or modes.key in settings,
        "the setting without limits": (modes is not None and modes.unlimited is not None)
        == ("full_danger" in settings),
        "a command that is listed if it is a lead": agent.leading is None or agent.binary is not None,
        "the setting of a lead": (agent.leading is not None) == issubclass(agent.settings_type, LeadSettings),
        "the settings of a live process": (live is not None) == issubclass(agent.settings_type, LiveSettings),
        "a mark of its plan": agent.plan is None or agent.plan.mark != b"",
        "conversations that it forks": agent.forks is None or agent.conversations is not None,
        "conversations that it compacts": live is None or not live.compacts or agent.conversations is not None,
        "conversations that its interface resumes": agent.interface is None or agent.conversations is not None,
        "no names beside those of the contract": {*vars(type(agent))} <= {*dir(Agent), *Agent.__annotations__},
    }
    return [what for what, is_there in whole.items() if not is_there]


def test_an_adapter_that_is_not_whole_is_found() -> None:
    class Half(Agent):
        """Has a command of a lead, modes without their setting, and a misspelt group."""

        name = "half"
        parsers: ClassVar = {}
        fork = agent_named("claude").forks
        modes = Modes(settings=ClaudeSettings, key="permission_mode", ranks={"of tomorrow": 0}, unlimited="all")
        leading = agent_named("claude").leading
        live = agent_named("claude").live
        interface = agent_named("claude").interface
        conversations = None

        def command(self, request: LaunchRequest) -> Command:
            return Command(argv=request.argv)

    assert lacks(Half()) == [
        "a parser of every other transport",
        "a transcript of the conversation that is shown",
        "modes that its setting can have",
        "the setting of its modes",
        "the setting without limits",
        "a command that is listed if it is a lead",
        "the setting of a lead",
        "the settings of a live process",
        "conversations that its interface resumes",
        "no names beside those of the contract",
    ]


def test_what_the_adapters_say_is_known_without_their_parsers() -> None:
    code = (
        "import sys\n"
        "from agentdash.sessions.agents.formats import guess_format\n"
        'guess_format([b\'{"type": "of tomorrow"}\'])\n'
        "print(*(name for name in sys.modules if name.startswith('agentdash.sessions.agents.')))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    names = {name.removeprefix("agentdash.sessions.agents.") for name in loaded}
    assert {"codex.adapter", "claude.adapter", "command", "gemini.transcript"} <= names
    assert not [name for name in names if name.rpartition(".")[2] in ("events", "turn_parser", "reader", "project")]
