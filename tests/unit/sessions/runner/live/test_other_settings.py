"""A live agent serves only turns with the settings that it was started with, but for its model and its mode."""

import pytest

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.runner.child import AgentChild
from agentdash.sessions.runner.live.agent import LiveAgent
from agentdash.sessions.runner.live.channel import Channel, make_fifo
from agentdash.sessions.service.lifecycle.starts.launch_plan import LaterTurn, build_launch
from agentdash.sessions.settings.config import Config

TALK = "0190f7a2-0000-7000-8000-000000000001"
SESSION = "00000000-0000-4000-8000-000000000001"


def started(agent, *, turn=1, model=None, **options):
    start = Start("go", agent=agent, cwd="/p", session_id=SESSION, model=model, options=options)
    later = LaterTurn(turn=turn, agent_session=TALK, limits=(), env={}) if turn > 1 else None
    return build_launch(Config(), start, later=later)


@pytest.fixture
def serves(tmp_path, monkeypatch):
    """Tells whether the process of a first turn serves the second one."""
    make_fifo(tmp_path / "stdin")
    channels = []

    def ask(agent, before, after, **more):
        channel = Channel(tmp_path / "stdin")
        channels.append(channel)
        launch = started(agent, **before)
        dialogue = agent_named(agent).dialogue(launch.transport, launch.opening)
        live = LiveAgent(AgentChild(), channel, dialogue, launch=launch, stream=1)
        live.child.gone = False
        # The agent has answered the handshake.
        monkeypatch.setattr(live, "_takes", lambda what, value: value is not None)
        return live.serves(started(agent, turn=2, **after, **more), agent_named(agent))

    yield ask
    for channel in channels:
        channel.close()


@pytest.mark.parametrize("agent", ["codex", "claude"])
def test_the_next_turn_has_the_same_process(serves, agent):
    assert serves(agent, {}, {})
    assert serves(agent, {"instructions": "be brief"}, {"instructions": "be brief"})
    assert serves(agent, {}, {}, model="other")
    mode = {"codex": {"sandbox": "read-only"}, "claude": {"permission_mode": "plan"}}[agent]
    assert serves(agent, {}, mode)


NETWORK = [{"config": {"sandbox_workspace_write": {"network_access": on}}} for on in (True, False)]
EFFORT = [{"config": {"model_reasoning_effort": effort}} for effort in ("high", "low")]
TOOLS = [{"allowed_tools": tools} for tools in (["Bash"], [])]


def test_a_turn_with_other_settings_gets_another_process(serves):
    for agent, before, after in [
        ("codex", *NETWORK),
        ("codex", *EFFORT),
        ("codex", {"search": True}, {}),
        ("claude", *TOOLS),
        ("claude", {"args": ["--add-dir", "/srv"]}, {}),
        *((agent, {"lead": on}, {"lead": not on}) for agent in ("codex", "claude") for on in (True, False)),
        *((agent, {"approvals": "deny"}, {"approvals": "ask"}) for agent in ("codex", "claude")),
        *((agent, {"instructions": "be brief"}, {}) for agent in ("codex", "claude")),
        *((agent, {"bin": "/opt/other"}, {}) for agent in ("codex", "claude")),
    ]:
        assert not serves(agent, before, after), (agent, before, after)
        assert not serves(agent, after, before), (agent, before, after)
