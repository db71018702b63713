"""Names that a stream chooses: they are never an option, another thread, or the model of a later turn."""

import json

import pytest

from agentdash.sessions.agents.base import LaunchRequest
from agentdash.sessions.agents.names import command_of
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.model.session import StepKind
from agentdash.sessions.rules.launch import Fork

OWN, OTHER = (f"0190f7a2-0000-7000-8000-{number:012d}" for number in (1, 2))
ODD = ["--dangerously-bypass-approvals-and-sandbox", "../../etc", "*", "a b", f"{OWN}\n", OWN.upper(), "x" * 5_000]
STREAMS = {
    "codex": ("", lambda name: {"type": "thread.started", "thread_id": name}),
    "claude": ("stream-json", lambda name: {"type": "system", "subtype": "init", "session_id": name, "model": name}),
    "codex live": ("app-server", lambda name: {"id": 2, "result": {"thread": {"id": name}, "model": "m"}}),
}


def read(kind, *names):
    """The facts and the steps of a stream that names conversations."""
    transport, event = STREAMS[kind]
    parser = agent_named(kind.split()[0]).parser(1, transport)
    steps = [step for name in names for step in parser.feed(json.dumps(event(name)).encode())]
    return parser.facts, steps


def test_a_name_that_is_not_an_id_is_shown_and_not_kept():
    for kind in STREAMS:
        for name in ODD:
            facts, (step,) = read(kind, name)
            assert facts.agent_session is None, (kind, name)
            assert (step.kind, step.event) == (StepKind.NOTICE, "conversation"), (kind, name)
            assert name in step.text, (kind, name)


@pytest.mark.parametrize("kind", ["codex", "claude"])
def test_a_second_conversation_within_a_turn_is_shown_and_not_kept(kind):
    facts, steps = read(kind, OWN, OTHER, OWN)
    assert facts.agent_session == OWN
    assert [(step.kind, step.agent_session) for step in steps] == [
        (StepKind.START, OWN), (StepKind.NOTICE, None), (StepKind.START, OWN),
    ]  # fmt: skip
    assert facts.model in (OWN, None)


def test_a_recorded_name_that_is_not_an_id_is_refused_at_the_start():
    for agent in ["codex", "claude"]:
        for name in ODD:
            request = LaunchRequest(prompt="go", cwd="/p", session_id="s" * 16, turn=2, agent_session=name)
            with pytest.raises(UsageError, match="is not a valid id of a conversation"):
                command_of(agent_named(agent), request)


@pytest.mark.parametrize("agent", ["codex", "claude"])
def test_other_names_are_checked_at_the_start_too(agent):
    fork = Fork(at="--dangerously-skip-permissions", session="s", turn=1)
    request = LaunchRequest(prompt="go", cwd="/p", session_id="s", turn=2, agent_session=OWN, fork=fork)
    with pytest.raises(UsageError, match="is not a valid place"):
        command_of(agent_named(agent), request)
    with pytest.raises(UsageError, match="is not a valid name of a model"):
        command_of(agent_named(agent), LaunchRequest(prompt="go", cwd="/p", session_id="s", model="--full-auto"))


@pytest.mark.parametrize(("fork", "verb"), [(None, "resume"), (Fork(session="s", turn=1), "fork")])
def test_codex_cannot_take_a_thread_for_an_option(fork, verb):
    request = LaunchRequest(prompt="go", cwd="/p", session_id="s", turn=2, agent_session=OWN, fork=fork)
    launch = command_of(agent_named("codex"), request)
    assert launch.plain_argv[-4:] == (verb, "--", OWN, "-")
    assert agent_named("codex").interface.resume(request)[-2:] == ("--", OWN)


@pytest.mark.parametrize(
    ("agent", "settings", "folders"),
    [
        ("codex", {"config": {"sandbox_workspace_write": {"writable_roots": ["/srv"]}}}, ("/srv",)),
        ("codex", {"config": {"sandbox_workspace_write.writable_roots": ["/srv"]}}, ("/srv",)),
        ("codex", {"args": ["--add-dir", "..", "-c", "a=1"]}, ("..",)),
        ("claude", {"args": ["--add-dir", "/srv", "/opt", "--verbose", "x"]}, ("/srv", "/opt")),
        ("claude", {"args": ["--add-dir=/"]}, ("/",)),
        ("claude", {}, ()),
    ],
)
def test_the_folders_that_settings_add_are_known(agent, settings, folders):
    adapter = agent_named(agent)
    assert adapter.writable_folders(adapter.settings_type(**settings)) == folders
