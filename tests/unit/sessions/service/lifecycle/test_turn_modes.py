"""The settings of a turn: they are recorded with its launch, and a conversation keeps its instructions."""

import json
from typing import Any

import msgspec
import pytest

from agentdash.sessions.agents.codex.adapter import CodexSettings
from agentdash.sessions.agents.registry import PLAIN_COMMAND, agent_named, agent_names
from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.model.session import TurnMode
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.service.lifecycle.agent_list import agent_list
from agentdash.sessions.service.lifecycle.starts.launch_plan import LaterTurn, build_launch
from agentdash.sessions.settings.config import Config

TALK = "0190f7a2-0000-7000-8000-000000000001"


def launch(
    agent: str,
    *,
    config: Config | None = None,
    model: str | None = None,
    later: LaterTurn | None = None,
    **options: Any,
) -> Launch:
    start = Start("x", agent=agent, cwd="/usr", model=model, options=options, session_id="s" * 8, argv=("make",))
    return build_launch(config or Config(), start, later=later)


def after(mode: TurnMode | None, *options: str, agent_session: str | None = TALK) -> LaterTurn:
    return LaterTurn(turn=2, agent_session=agent_session, limits=(), env={}, mode=mode, options=options)


def test_a_launch_records_the_settings_that_the_turn_runs_with() -> None:
    assert launch("codex").mode == TurnMode(setting="sandbox", permissions="workspace-write", default="workspace-write")
    assert launch("codex", model="m", search=False, args=["--x"], sandbox="danger-full-access").mode == TurnMode(
        setting="sandbox",
        permissions="danger-full-access",
        default="workspace-write",
        dangerous=True,
        model="m",
        search=False,
        args=("--x",),
    )
    assert launch("claude", full_danger=True, allowed_tools=["Bash"], instructions="be brief").mode == TurnMode(
        setting="permission_mode",
        permissions="no-checks",
        default="acceptEdits",
        dangerous=True,
        allowed_tools=("Bash",),
        instructions="be brief",
    )
    assert launch(PLAIN_COMMAND).mode is None


def test_the_record_outlives_its_encoding_and_an_older_one_has_none() -> None:
    made = launch("codex", search=True)
    encoded = msgspec.json.encode(made)
    assert msgspec.json.decode(encoded, type=Launch).mode == made.mode
    older = {key: value for key, value in json.loads(encoded).items() if key != "mode"}
    assert msgspec.convert(older, Launch).mode is None


def test_an_agent_that_takes_no_instructions_refuses_them() -> None:
    with pytest.raises(UsageError, match="Any command takes no instructions"):
        launch(PLAIN_COMMAND, instructions="be brief")
    for name in agent_names():
        offers = "instructions" in {one.key for one in agent_named(name).offered_settings()}
        assert offers == agent_named(name).takes_instructions == (name in ("codex", "claude"))


@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
def test_instructions_that_no_command_line_can_carry_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="The instruction text"):
        launch("claude", instructions=text)


@pytest.mark.parametrize("agent", ["codex", "claude"])
def test_a_conversation_keeps_its_instructions_whatever_the_settings_are_now(agent: str) -> None:
    now = Config(agents={agent: agent_named(agent).settings_type(instructions="from the settings")})
    kept = launch(agent, config=now, later=after(TurnMode(instructions="at the start")))
    assert kept.mode is not None
    assert kept.mode.instructions == "at the start"
    assert any("at the start" in word for word in (*kept.argv, *kept.opening))
    without = launch(agent, config=now, later=after(TurnMode()))
    assert not any("from the settings" in word for word in (*without.argv, *without.opening))


def test_a_later_turn_has_the_instructions_that_its_request_names() -> None:
    former = TurnMode(instructions="at the start")
    named = (
        after(former, "instructions"),
        after(None, "instructions"),
        after(former, "instructions", agent_session=None),
    )
    for later in named:
        assert (made := launch("codex", instructions="others", later=later)).mode is not None
        assert made.mode.instructions == "others"


def test_a_dialog_gets_the_settings_to_offer_with_their_values() -> None:
    config = Config(agents={"codex": CodexSettings(search=True, instructions="be brief")})
    offered = {info.name: {one.key: one.switch for one in info.offered} for info in agent_list(config)}
    assert offered == {
        "codex": {"instructions": False, "lead": True, "search": True},
        "claude": {"instructions": False, "lead": True},
    }
    codex = next(info for info in agent_list(config) if info.name == "codex")
    assert dict(codex.values) == {"lead": False, "search": True, "instructions": "be brief"}
