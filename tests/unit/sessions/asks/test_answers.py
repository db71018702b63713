"""Which answers fit an ask, and how its fate is told."""

import pytest
from factories import T0
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.asks.answers import check_answer, fate
from agentdash.sessions.asks.model import Answer, Ask, AskKind, Choice, Question, Verdict
from agentdash.sessions.asks.recorded import AskState, RecordedAsk
from agentdash.sessions.errors import UsageError

COMMAND = Ask(key="k", kind=AskKind.COMMAND, title="run: ls", verdicts=(Verdict.ALLOW, Verdict.DENY))
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
    assert refused(COMMAND, Answer(verdict=Verdict.STOP)) == "This ask does not take stop. It takes: allow, deny."
    assert refused(form(COLOUR), Answer(verdict=Verdict.ALWAYS)).startswith("This ask does not take always.")
    assert refused(COMMAND, answers(colour=["Red"])).startswith("This ask does not take answer.")
    assert refused(COMMAND, Answer(verdict=Verdict.ALLOW, values={"a": ("b",)})).startswith(
        "Values belong to an answer"
    )


@pytest.mark.parametrize(
    ("question", "values", "complaint"),
    [
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
    ],
)
def test_values_fit_the_questions(question, values, complaint):
    if complaint is None:
        check_answer(form(question), answers(**values))
    else:
        assert refused(form(question), answers(**values)).startswith(complaint)


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


def recorded(state, **facts):
    return RecordedAsk(id=7, session="s1", turn=1, stream=1, ask=COMMAND, state=state, asked_at=T0, **facts)


def test_the_fate_of_an_ask_names_who_answered_it_and_when():
    denied = {"answer": Answer(verdict=Verdict.DENY), "answered_by": "you", "answered_at": T0}
    assert fate(recorded(AskState.SENT, **denied), T0 + 12_345) == "Ask 7 was answered by you (denied) 12 s ago."
    assert fate(recorded(AskState.EXPIRED, **denied | {"answered_by": "the time limit"}), T0 + 300_000) == (
        "Ask 7 was answered by the time limit (denied) 5m ago."
    )
    assert fate(recorded(AskState.LOST), T0) == "Ask 7 takes no answer: the agent ended first."
    assert fate(recorded(AskState.WITHDRAWN), T0) == "Ask 7 takes no answer: the agent no longer waits."
