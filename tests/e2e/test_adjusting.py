"""The model and the mode of a session changed while its agent works, waits, or is gone."""

import json

import pytest
from e2e.test_live import (
    AGENTS,
    ALLOW,
    ASKS,
    FREE,
    LONG,
    REAL,
    SHORT,
    STRICT,
    agent_of,
    explained,
    kill_runner,
    live,
    session_of,
)

from agentdash.sessions.model.adjustments import AdjustmentState
from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.model.session import Status, StepKind
from agentdash.sessions.service.prompts.prompter import PromptOptions
from agentdash.tui.cli.main import run

__all__ = ["live", "session_of"]

MODES = {"claude": ("plan", "default"), "codex": ("read-only", "workspace-write")}
"""Two modes of each agent that limit it."""
USES = {
    "scripted": "from the agent's next step on",
    "claude": "from the agent's next step on",
    "codex": "from turn 2 on",
}
MODELS = {"scripted": "scripted-2", "claude": "claude-sonnet-5", "codex": "gpt-5.4"}


@pytest.fixture
def printed(manager, capfdbinary):
    """What a command line prints."""

    def tell(*words):
        assert run(words) == 0
        return capfdbinary.readouterr().out.decode()

    return tell


def fact(manager, session, name):
    return explained(manager, session)[f"changed {name}"]


@pytest.mark.parametrize("live", AGENTS, indirect=True)
def test_the_model_is_changed_in_a_running_turn_and_stays(manager, live, session_of, at, wait_until):
    session = session_of(live, LONG)
    at(session, 1, Status.RUNNING)
    wait_until(lambda: manager.reader.get(session.id).steps > 1, what="its first steps")
    changed = manager.adjuster.model(session.id, MODELS[live])
    assert (changed.state, changed.effect) == (AdjustmentState.IN_FORCE, USES[live])
    assert fact(manager, session, "model").startswith(f"{MODELS[live]}, {USES[live]} (by you, ")
    assert manager.reader.get(session.id).model == MODELS[live]
    assert manager.reader.get(session.id).status is Status.RUNNING, "the turn went on"
    manager.prompts.interrupt(session.id, f"{SHORT[live]} next")
    ended = at(session, 2, Status.DONE)
    assert ended.model == MODELS[live]
    assert manager.reader.turns(session.id)[1].mode.model == MODELS[live] or live == "scripted"
    assert len({turn.agent_pid for turn in manager.reader.turns(session.id)}) == 1


@pytest.mark.parametrize("live", REAL, indirect=True)
def test_the_mode_is_changed_in_a_running_turn_and_stays(manager, live, session_of, at, wait_until):
    session = session_of(live, LONG, STRICT)
    at(session, 1, Status.RUNNING, Status.WAITING)
    for mode in MODES[live]:
        changed = manager.adjuster.mode(session.id, mode)
        assert (changed.state, changed.effect) == (AdjustmentState.IN_FORCE, USES[live])
        assert manager.reader.get(session.id).mode == mode
    first, last = (one.value for one in manager.reader.adjustments(session.id))
    assert (first, last) == MODES[live]
    manager.prompts.interrupt(session.id, f"{SHORT[live]} next")
    ended = at(session, 2, Status.DONE)
    assert ended.mode is None, "the turn began with it"
    turns = manager.reader.turns(session.id)
    assert turns[1].mode.permissions == last
    assert turns[0].agent_pid == turns[1].agent_pid


@pytest.mark.parametrize("live", [one for one in REAL if "claude" in one.values[0]], indirect=True)
def test_a_mode_that_the_running_agent_refuses_counts_from_the_next_turn(manager, live, session_of, at, wait_until):
    session = session_of(live, LONG, STRICT)
    at(session, 1, Status.RUNNING, Status.WAITING)
    wait_until(lambda: manager.reader.get(session.id).steps > 1, what="its first steps")
    changed = manager.adjuster.mode(session.id, "bypassPermissions")
    assert changed.state is AdjustmentState.REFUSED
    assert changed.effect.startswith("from turn 2 on; the running agent refuses it: ")
    manager.prompts.interrupt(session.id, f"{SHORT[live]} next")
    at(session, 2, Status.DONE)
    turns = manager.reader.turns(session.id)
    assert turns[1].mode.permissions == "bypassPermissions"
    assert turns[0].agent_pid != turns[1].agent_pid


@pytest.mark.parametrize("live", AGENTS, indirect=True)
def test_a_change_whose_runner_is_killed_is_carried_out_by_the_next(manager, live, session_of, at, wait_until):
    session = session_of(live, ASKS, STRICT)
    at(session, 1, Status.WAITING, asking=1)
    kill_runner(manager, session, wait_until)
    assert manager.adjuster.model(session.id, MODELS[live]).state is AdjustmentState.IN_FORCE
    agent = agent_of(manager, session)
    for one in manager.reader.asks(session.id):
        manager.asks.answer(one.id, ALLOW)
    assert agent_of(manager, session) == agent


@pytest.mark.parametrize("live", REAL, indirect=True)
def test_a_mode_given_with_a_prompt_is_changed_in_the_process(manager, live, session_of, at):
    session = session_of(live, SHORT, STRICT)
    at(session, 1, Status.DONE)
    setting = next(iter(STRICT[live]))
    wanted = next(mode for mode in MODES[live] if mode != STRICT[live][setting])
    manager.prompts.inject(session.id, f"{SHORT[live]} go", PromptOptions(settings={setting: wanted}))
    at(session, 2, Status.DONE)
    manager.prompts.inject(session.id, f"{SHORT[live]} go")
    at(session, 3, Status.DONE)
    turns = manager.reader.turns(session.id)
    assert [turn.mode.permissions for turn in turns] == [STRICT[live][setting], wanted, STRICT[live][setting]]
    assert len({turn.agent_pid for turn in turns}) == 1


@pytest.mark.parametrize("live", REAL, indirect=True)
def test_permissions_without_limits_given_with_a_prompt_need_another_process(manager, live, session_of, at):
    session = session_of(live, SHORT, STRICT)
    at(session, 1, Status.DONE)
    manager.prompts.inject(session.id, f"{SHORT[live]} go", PromptOptions(settings=FREE[live]))
    at(session, 2, Status.DONE)
    assert len({turn.agent_pid for turn in manager.reader.turns(session.id)}) == 2


@pytest.mark.smoke
@pytest.mark.parametrize("live", AGENTS, indirect=True)
def test_the_model_is_changed_while_the_agent_waits_for_prompts(manager, live, session_of, at):
    session = session_of(live, SHORT)
    at(session, 1, Status.DONE)
    changed = manager.adjuster.model(session.id, MODELS[live])
    assert changed.state is AdjustmentState.IN_FORCE
    assert manager.reader.get(session.id).model == MODELS[live]
    agent = agent_of(manager, session)
    manager.prompts.inject(session.id, f"{SHORT[live]} next")
    assert at(session, 2, Status.DONE).model == MODELS[live]
    assert agent_of(manager, session) == agent


def test_a_session_without_a_process_changes_with_its_next_turn(manager, scripted_agent, session_of, at):
    session = session_of("scripted", SHORT, {"scripted": {"speed": 20, "live": False}})
    at(session, 1, Status.DONE)
    changed = manager.adjuster.model(session.id, "scripted-2")
    assert (changed.state, changed.effect) == (AdjustmentState.NEXT, "from turn 2 on")
    assert manager.reader.options(session.id)["model"] == "scripted-2"


def test_a_waiting_prompt_follows_unless_it_has_a_setting_of_its_own(manager, scripted_agent, session_of, at):
    session = session_of("scripted", ASKS)
    at(session, 1, Status.WAITING)
    manager.prompts.inject(session.id, "follows", PromptOptions(steer=False))
    manager.prompts.inject(session.id, "has its own", PromptOptions(steer=False, model="mine"))
    manager.adjuster.model(session.id, "scripted-2")
    plans = [prompt.plan.model for prompt in manager.reader.queued(session.id)]
    assert plans == ["scripted-2", "mine"]


def test_the_command_line_changes_and_shows_it(manager, scripted_agent, session_of, at, printed):
    session = session_of("scripted", ASKS)
    at(session, 1, Status.WAITING)
    assert printed("set", session.id, "--model", "scripted-2") == "model scripted-2: from the agent's next step on\n"
    assert "model scripted-2: from the agent's next step on (during turn 1, by you)" in printed("show", session.id)
    told = json.loads(printed("show", session.id, "--json"))["adjustments"]
    assert [(one["what"], one["value"], one["state"]) for one in told] == [("model", "scripted-2", "in_force")]
    assert json.loads(printed("set", session.id, "--model", "scripted-3", "--json"))["state"] == "in_force"
    notices = [step.text for step in manager.reader.steps.trajectory(session.id) if step.kind is StepKind.NOTICE]
    assert "model: scripted-2" in notices


@pytest.mark.parametrize(
    ("what", "value", "why"),
    [
        ("model", "", "not a valid name"), ("model", "--help", "not a valid name"),
        ("model", "a\nb", "not a valid name"),
        ("mode", "plan", "has no permission modes"),
    ],
)  # fmt: skip
def test_what_cannot_be_set_is_refused(manager, scripted_agent, session_of, at, what, value, why):
    session = session_of("scripted", SHORT)
    at(session, 1, Status.DONE)
    with pytest.raises(UsageError, match=why):
        getattr(manager.adjuster, what)(session.id, value)
    assert manager.reader.adjustments(session.id) == []
