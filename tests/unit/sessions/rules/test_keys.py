"""A key names one task: asked for again it is the same, and with another task it is refused."""

import pytest
from recorded_sessions import lines, record, said

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.runner.caller import Caller
from agentdash.sessions.runner.processes import runner_lock
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.service.prompts.prompter import PromptOptions


@pytest.fixture
def manager(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with SessionManager(caller=Caller()) as made:
        yield made


def test_a_start_with_the_key_of_another_task_is_refused_and_both_are_named(manager):
    one = record(manager, [("port the api", lines(said("x")))], key="nightly")
    assert manager.spawn(Start("port the api", key="nightly")).id == one.id
    assert manager.spawn(Start("port the api\n", key="nightly")).id == one.id
    with pytest.raises(UsageError) as refused:
        manager.spawn(Start("drop the tables", key="nightly"))
    for word in ("nightly", one.short_id, "port the api", "drop the tables", "Use another key"):
        assert word in str(refused.value)
    assert len(manager.reader.sessions()) == 1


def test_a_template_with_the_id_of_its_session_is_the_same_task(manager):
    one = record(manager, [("work as 11111111-aaaa", lines(said("x")))], id="11111111-aaaa", key="k")
    again = Start("work as 22222222-bbbb", key="k", session_id="22222222-bbbb")
    assert manager.spawn(again).id == one.id


def test_a_prompt_with_the_key_of_another_one_is_refused_and_both_are_named(manager):
    one = record(manager, [("x", lines(said("x")))], last=Status.RUNNING)
    lock = runner_lock.hold(manager.layout.session(one.id).lock)
    try:
        options = PromptOptions(key="k")
        first = manager.prompts.inject(one.id, "and then", options)
        assert manager.prompts.inject(one.id, "and then", options).prompt.id == first.prompt.id
        with pytest.raises(UsageError, match='"and then", and not "rm all"'):
            manager.prompts.inject(one.id, "rm all", options)
        assert [prompt.text for prompt in manager.queue.prompts(one.id)] == ["and then"]
    finally:
        lock.release()


LESSER = [
    ("codex", {"sandbox": "read-only"}, "claude", "plan"),
    ("codex", {"sandbox": "read-only"}, "codex", "read-only"),
    ("claude", {"permission_mode": "plan"}, "codex", "read-only"),
    ("claude", {"permission_mode": "default"}, "claude", "default"),
    ("claude", {"permission_mode": "default"}, "codex", "workspace-write"),
    ("claude", {"permission_mode": "bypassPermissions"}, "claude", "acceptEdits"),
]


@pytest.mark.parametrize(("lead", "options", "agent", "mode"), LESSER)
def test_a_start_without_a_mode_gets_the_greatest_that_its_lead_can_give(
    manager, monkeypatch, lead, options, agent, mode
):
    begun = []
    monkeypatch.setattr(SessionManager, "_record", lambda _, *parts: begun.append(parts))
    manager.spawn(Start("lead", agent=lead, options=options, session_id="11111111-lead"))
    start, launch, env, _ = begun.pop()
    manager.layout.session(start.session_id).create()
    manager.store.create(start, launch, "run", host="mars", env=env)
    with SessionManager(caller=Caller(session="11111111-lead", evidence="environment")) as inside:
        inside.spawn(Start("work", agent=agent))
    assert begun.pop()[1].mode.permissions == mode
