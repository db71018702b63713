"""An agent's own command that begins a new conversation: its mark, the next turn, and what taking it back restores."""

import pytest
from unit.sessions.rules.conversation.test_compaction import NAME, TALK_1, TALK_2, TALK_3, Session

from agentdash.sessions.model.session import Status, StepKind
from agentdash.sessions.rules.compaction import cleared
from agentdash.sessions.rules.conversation.history import History
from agentdash.sessions.rules.conversation.marks import MarkKind
from agentdash.sessions.rules.conversation.shown import shown
from agentdash.sessions.rules.conversation.words import mark_words
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.transcript.visible.visible_steps import source_of


@pytest.fixture
def session(tmp_path):
    layout = Layout(tmp_path / "state")
    layout.create()
    session = Session(layout, "codex")
    session.end("answer 1")
    session.say("request 2", "answer 2")
    yield session
    session.store.close()


def clear(session, talk=TALK_2, *, reported=False, status=Status.DONE):
    facts = Facts(end="completed", agent_session=talk, local=True, cleared=reported)
    session.say("/clear", talk=talk, status=status, facts=facts)


@pytest.mark.parametrize("reported", [False, True])
def test_the_next_prompt_goes_into_the_new_conversation_and_a_mark_says_so(session, reported):
    clear(session, reported=reported)
    (mark,) = session.marks
    assert (mark.kind, mark.turn, mark.after, mark.asked_by) == (MarkKind.CLEAR, 3, 3, "you")
    assert mark_words(mark).startswith("turn 3 cleared the agent's conversation at ")
    launch = session.say("request 4", "answer 4", talk=TALK_2)
    assert (launch.argv[-3:], launch.how) == (("--", TALK_2, "-"), "")
    assert launch.stdin == "request 4"


def test_what_was_before_is_shown_as_it_was_and_is_not_part_of_the_conversation(session):
    clear(session)
    session.say("request 4", "answer 4", talk=TALK_2)
    source = source_of(session.layout, session.store, NAME)
    known = source.visible()
    assert [step.text for step in known if step.kind in (StepKind.PROMPT, StepKind.MESSAGE)] == [
        "request 4",
        "answer 4",
    ]
    assert not any(shown(range(1, 5), session.marks).cuts(turn, 0) for turn in range(1, 5))


def test_taking_it_back_goes_on_in_the_conversation_before(session):
    clear(session)
    session.undo()
    launch = session.say("request 4", "answer 4", talk=TALK_1)
    assert (launch.argv[-3:], launch.how) == (("--", TALK_1, "-"), "native")
    assert History(range(1, 5), session.marks).ignored == []


@pytest.mark.parametrize("facts", [
    Facts(end="completed", agent_session=TALK_1, local=True),
    Facts(end="completed", agent_session=TALK_2),
    Facts(end="completed", agent_session=None, local=True, cleared=True),
], ids=["the same conversation", "no command", "no conversation"])  # fmt: skip
def test_no_other_turn_has_such_a_mark(session, facts):
    session.say("/context", talk=TALK_1, facts=facts)
    assert session.marks == []


def test_a_command_that_did_not_end_well_clears_nothing(session):
    clear(session, status=Status.STOPPED)
    assert session.marks == []
    assert session.store.session(NAME).status is Status.STOPPED


@pytest.mark.parametrize(("said", "marks"), [(None, 1), ("(no content)", 0)], ids=["nothing", "an answer"])
def test_a_command_that_is_not_reported_is_known_by_its_prompt_where_the_conversation_began_with_it(said, marks):
    facts = Facts(end="completed", agent_session=TALK_2, local=True, last_message=said)
    assert cleared(Status.DONE, facts, None, asked=True) == bool(marks)
    assert not cleared(Status.DONE, facts, None)
    assert not cleared(Status.DONE, facts, TALK_2, asked=True)
    assert not cleared(Status.FAILED, facts, None, asked=True)


@pytest.mark.parametrize("prompt", ["/clear", "/new"])
def test_the_command_is_sent_alone_where_the_conversation_would_be_retold(tmp_path, prompt):
    layout = Layout(tmp_path / "state")
    layout.create()
    session = Session(layout, "claude")
    session.end("answer 1")
    session.compact("a summary", talk=TALK_2)
    (before,) = session.marks
    assert before.kind == MarkKind.COMPACT
    clears = Facts(end="completed", agent_session=TALK_3, local=True)
    launch = session.say(prompt, talk=TALK_3, facts=clears)
    assert (launch.stdin, launch.how, launch.conversation) == (prompt, "new", None)
    assert [mark.kind for mark in session.marks] == [MarkKind.COMPACT, MarkKind.CLEAR]
    assert session.say("request 4", talk=TALK_3).how == ""
    session.store.close()


def test_words_before_a_command_are_retold_as_before(tmp_path):
    layout = Layout(tmp_path / "state")
    layout.create()
    session = Session(layout, "claude")
    session.end("answer 1")
    session.compact("a summary", talk=TALK_2)
    launch = session.say("/context", talk=TALK_3)
    assert launch.how == "retold" and launch.stdin.endswith("/context")
    session.store.close()
