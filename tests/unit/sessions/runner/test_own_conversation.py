"""The conversation of a turn: not one that its output takes from elsewhere."""

import pytest
from talks import THREAD, THREAD_2, Talk

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.rules.launch import Fork, Launch
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.runner.own_conversation import OwnConversation
from agentdash.sessions.service.manager import SessionManager

SESSION, OTHER = "0123456789abcdef", "fedcba9876543210"
NEW = "0190f7a2-0000-7000-8000-000000000009"


@pytest.fixture
def manager(tmp_path):
    with SessionManager(tmp_path / "state") as manager:
        yield manager


@pytest.fixture
def talk(manager, tmp_path):
    talk = Talk(manager, SESSION, tmp_path)
    talk.answered()
    talk.turn()
    return talk


def judged(manager, name, turn=2, agent="codex", **launch):
    """The facts of a turn whose output names a conversation."""
    facts = Facts(agent_session=name)
    start = Launch(argv=("codex",), **launch)
    OwnConversation(manager.store, agent_named(agent), SESSION, turn, start).check(facts)
    return facts


def test_a_turn_that_resumes_keeps_its_conversation(manager, talk):
    assert judged(manager, THREAD).agent_session == THREAD
    facts = judged(manager, NEW)
    assert facts.agent_session is None
    assert facts.strange == f"its output names another conversation than it resumed, {NEW}, which is not taken"


def test_the_conversation_of_another_session_is_never_taken(manager, talk, tmp_path):
    other = Talk(manager, OTHER, tmp_path)
    other.answered(conversation=THREAD_2)
    other.turn(conversation=NEW)
    for name in (THREAD_2, NEW):  # of an earlier turn, and of the newest
        for launch in ({}, {"how": "new"}, {"how": "native", "fork": Fork(session=SESSION, turn=1)}):
            facts = judged(manager, name, **launch)
            assert facts.agent_session is None
            assert facts.strange == "its output names the conversation of session fedcba98, which is not taken"


def test_a_start_that_begins_a_conversation_takes_a_new_one(manager, talk):
    fork = Fork(session=SESSION, turn=1)
    for launch in ({"how": "new"}, {"how": "retold"}, {"how": "native", "conversation": THREAD, "fork": fork}):
        assert judged(manager, NEW, **launch).agent_session == NEW
    assert judged(manager, NEW, how="native", conversation=THREAD).agent_session is None
    assert judged(manager, NEW, turn=1).agent_session == NEW


@pytest.mark.parametrize(("prompt", "taken"), [("/clear", NEW), ("/clear now", NEW), ("/cleared", None)])
def test_claude_begins_another_conversation_when_it_is_asked_to(manager, talk, prompt, taken):
    with manager.store.database.transaction() as db:
        db.execute("UPDATE prompts SET text = ? WHERE turn = 2", (prompt,))
    assert judged(manager, NEW, agent="claude").agent_session == taken
    assert judged(manager, NEW).agent_session is None  # codex has no such command


def test_the_output_does_not_choose_the_model_of_later_turns(manager, talk):
    with manager.store.database.transaction() as db:
        db.execute("UPDATE sessions SET model = '--dangerously-bypass-approvals-and-sandbox'")
    launch = talk.say("go on", live=False)
    assert not {"-m", "--dangerously-bypass-approvals-and-sandbox"} & set(launch.argv)
