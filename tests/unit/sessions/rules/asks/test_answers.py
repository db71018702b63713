"""Which answers fit an ask, and how its fate is told."""

import pytest
from factories import T0
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.rules.asks.answers import check_answer, decision_line, fate, taken, takes_none
from agentdash.sessions.rules.asks.model import Answer, Ask, AskKind, Choice, Question, Verdict
from agentdash.sessions.rules.asks.recorded import AskState, RecordedAsk

COMMAND = Ask(key="k", kind=AskKind.COMMAND, title="run: ls", body="ls", verdicts=(Verdict.ALLOW, Verdict.DENY))
COLOUR = Question(key="colour", text="Which colour?", choices=(Choice(label="Red"), Choice(label="Blue")), free=False)


def form(*questions):
    return Ask(key="k", kind=AskKind.FORM, title="?", questions=questions, verdicts=(Verdict.ANSWER, Verdict.DENY))


def answers(**values):
    return Answer(verdict=Verdict.ANSWER, values={key: tuple(value) for key, value in values.items()})


def refused(ask, answer):
    with pytest.raises(UsageError) as caught:
        check_answer(ask, answer)
    return str(caught.value)


def test_an_ask_takes_its_verdicts_and_always_if_it_can_be_allowed():
    for verdict in (Verdict.ALLOW, Verdict.DENY, Verdict.ALWAYS):
        check_answer(COMMAND, Answer(verdict=verdict))
    assert (
        refused(COMMAND, Answer(verdict=Verdict.STOP)) == "This ask does not take stop. It takes: allow, always, deny."
    )
    assert refused(form(COLOUR), Answer(verdict=Verdict.ALWAYS)).startswith("This ask does not take always.")
    assert refused(COMMAND, answers(colour=["Red"])).startswith("This ask does not take answer.")
    assert refused(COMMAND, Answer(verdict=Verdict.ALLOW, values={"a": ("b",)})).startswith(
        "Values belong to an answer"
    )


def test_values_fit_the_questions():
    for question, values, complaint in [
        (COLOUR, {"colour": ["Red"]}, None),
        (COLOUR, {"colour": ["Green"]}, "'Green' is not offered for 'colour'. Choices: Red, Blue."),
        (COLOUR, {"colour": ["Red", "Blue"]}, "'colour' takes one answer, not 2."),
        (COLOUR, {}, "'colour' has no answer. Question: Which colour?"),
        (COLOUR, {"colour": ["Red"], "size": ["1"]}, "No question has the name 'size'. Names: colour."),
        (Question(key="a", text="?", choices=COLOUR.choices, several=True), {"a": ["Red", "Green"]}, None),
        (Question(key="a", text="?", required=False), {}, None),
        (Question(key="a", text="?"), {"a": [""]}, None),
        (Question(key="a", text="?", type="integer"), {"a": ["-12"]}, None),
        (Question(key="a", text="?", type="integer"), {"a": ["1.5"]}, "'1.5' is not a valid integer for 'a'."),
        (Question(key="a", text="?", type="number"), {"a": ["1.5e3"]}, None),
        (Question(key="a", text="?", type="number"), {"a": ["1e9999"]}, "'1e9999' is not a valid number for 'a'."),
        (Question(key="a", text="?", type="number"), {"a": ["nan"]}, "'nan' is not a valid number for 'a'."),
        (Question(key="a", text="?", type="boolean"), {"a": ["true"]}, None),
        (Question(key="a", text="?", type="boolean"), {"a": ["yes"]}, "'yes' is not a valid boolean for 'a'."),
        (Question(key="a", text="?", type="integer", secret=True), {"a": ["x"]}, "The answer is not a valid integer"),
    ]:
        if complaint is None:
            check_answer(form(question), answers(**values))
        else:
            assert refused(form(question), answers(**values)).startswith(complaint), (question, values)


def test_a_refusal_has_no_control_character_of_the_agent():
    evil = Question(key="\x1b[2Ja", text="\x1b]0;x\x07", choices=(Choice(label="\x9b31m"),), free=False)
    assert refused(form(evil), answers(x=["y"])).isprintable()
    assert refused(form(evil), Answer(verdict=Verdict.ANSWER)).isprintable()
    assert refused(form(evil), Answer(verdict=Verdict.ANSWER, values={"\x1b[2Ja": ("\x1b",)})).isprintable()


QUESTIONS = st.builds(Question, key=st.sampled_from("abc"), type=st.sampled_from(["string", "number", "x", "boolean"]))


@given(st.lists(QUESTIONS, max_size=3), st.dictionaries(st.sampled_from("abcd"), st.lists(st.text()).map(tuple)))
def test_any_values_are_accepted_or_refused(questions, values):
    ask = form(*questions)
    try:
        check_answer(ask, Answer(verdict=Verdict.ANSWER, values=values))
    except UsageError:
        return
    assert set(values) <= {question.key for question in questions}


def test_always_is_taken_if_the_agent_or_agentdash_remembers_it():
    for facts, verdicts in [
        ({}, "allow always deny"),
        ({"verdicts": ()}, ""),
        ({"verdicts": (Verdict.DENY, Verdict.STOP)}, "deny stop"),
        ({"verdicts": (Verdict.DENY, Verdict.ALWAYS, Verdict.ALLOW), "always": "ls"}, "deny always allow"),
        ({"verdicts": (Verdict.DENY, Verdict.ALWAYS, Verdict.ALLOW)}, "deny always allow"),
        ({"kind": AskKind.PLAN}, "allow deny"),
        ({"kind": AskKind.PERMISSIONS}, "allow deny"),
        ({"kind": AskKind.PERMISSIONS, "verdicts": (Verdict.ALLOW, Verdict.ALWAYS), "always": "x"}, "allow always"),
        ({"body": ""}, "allow deny"),
        ({"body": "rm -rf build"}, "allow deny"),
        ({"body": "sudo ls", "verdicts": (Verdict.ALLOW, Verdict.ALWAYS, Verdict.DENY)}, "allow deny"),
        ({"body": "sudo ls", "verdicts": (Verdict.ALLOW, Verdict.ALWAYS), "always": "sudo"}, "allow always"),
        ({"body": "x" * 65_537}, "allow deny"),
        ({"each_time": True}, "allow deny"),
        ({"kind": AskKind.EDIT, "paths": (".git/hooks/commit-msg",)}, "allow deny"),
        ({"kind": AskKind.EDIT, "paths": ("src/app.py",)}, "allow always deny"),
    ]:
        assert " ".join(taken(structs.replace(COMMAND, **{"body": "ls", "cwd": "/srv"} | facts))) == verdicts, facts


def recorded(state, **facts):
    return RecordedAsk(id=7, session="s1", turn=1, stream=1, ask=COMMAND, state=state, asked_at=T0, **facts)


@pytest.mark.parametrize(
    ("state", "verdict", "by", "words"),
    [
        (AskState.OPEN, None, None, ""),
        (AskState.ANSWERED, Verdict.ALLOW, "you", "allowed by you"),
        (AskState.SENT, Verdict.STOP, "rule: \x1b[31mrm", "denied and stopped by rule: rm"),
        (AskState.SETTLED, Verdict.ALWAYS, "you", "allowed for this session by you"),
        (AskState.SETTLED, None, None, "answered"),
        (AskState.EXPIRED, Verdict.DENY, "the time limit", "denied by the time limit"),
        (AskState.WITHDRAWN, None, None, "the agent no longer waits"),
        (AskState.LOST, Verdict.ALLOW, "you", "the agent ended first"),
    ],
)
def test_the_fate_of_an_ask_names_the_decision_and_its_author(state, verdict, by, words):
    assert fate(recorded(state, answer=Answer(verdict=verdict) if verdict else None, answered_by=by)) == words


def test_a_refusal_names_the_fate_and_its_age():
    denied = {"answer": Answer(verdict=Verdict.DENY), "answered_by": "you", "answered_at": T0}
    assert (
        takes_none(recorded(AskState.SENT, **denied), T0 + 12_345) == "Ask 7 takes no answer: denied by you 12 s ago."
    )
    assert takes_none(recorded(AskState.EXPIRED, **denied | {"answered_by": "the time limit"}), T0 + 300_000) == (
        "Ask 7 takes no answer: denied by the time limit 5m ago."
    )
    assert takes_none(recorded(AskState.LOST, **denied), T0) == "Ask 7 takes no answer: the agent ended first."
    assert takes_none(recorded(AskState.OPEN), T0) == "Ask 7 takes no answer: the agent no longer waits."


def test_a_decision_is_named_with_its_subject():
    one = recorded(AskState.ANSWERED, answer=Answer(verdict=Verdict.DENY))
    assert (decision_line(one), decision_line(one, 6)) == ("denied: run: ls", "denied: run: …")
