"""What the user typed and marked, as the answer to a question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.rules.asks.answers import check_answer
from agentdash.sessions.rules.asks.model import Answer, Ask, AskKind, Choice, Question, Verdict
from agentdash.widgets.asks.ask_document import NO, UNSET, YES, boolean, combined, kind, problem

ONE = Question(key="k", text="t", choices=(Choice(label="a"), Choice(label="b")))
SEVERAL = Question(key="k", text="t", several=True)
SECRET = Question(key="k", text="t", secret=True)


@pytest.mark.parametrize(
    ("question", "marked", "words", "values"),
    [
        (ONE, ("a",), "", ("a",)),
        (ONE, ("a",), "  c ", ("c",)),
        (ONE, (), "   ", ()),
        (SEVERAL, ("a", "b"), "c", ("a", "b", "c")),
        (SECRET, (), " hunter2 ", (" hunter2 ",)),
    ],
)
def test_words_and_marks_make_one_answer(question, marked, words, values):
    assert combined(question, marked, words) == values


def test_a_value_must_fit_its_type():
    for type_, text, reason in [
        ("integer", "80", ""),
        ("integer", "-3", ""),
        ("integer", "8o", "This must be a whole number."),
        ("integer", "1.5", "This must be a whole number."),
        ("integer", "٣", "This must be a whole number."),
        ("integer", "+5", "This must be a whole number."),
        ("number", "\uff11\uff12", "This must be a number."),
        ("boolean", "perhaps", "This must be true or false."),
        ("number", "1.5e3", ""),
        ("number", "nan", "This must be a number."),
        ("number", "inf", "This must be a number."),
        ("number", "1_000", "This must be a number."),
        ("string", "anything", ""),
        ("odd", "anything", ""),
    ]:
        assert problem(Question(key="k", text="t", type=type_), (text,)) == reason, (type_, text)


def test_an_offered_choice_answers_a_question_of_any_type():
    level = Question(key="k", text="t", type="integer", choices=(Choice(label="low"),))
    assert [problem(level, (value,)) for value in ("low", "3", "high")] == ["", "", "This must be a whole number."]


def test_only_a_required_question_needs_an_answer():
    assert problem(ONE, ()) == "An answer is required."
    assert problem(Question(key="k", text="t", required=False, type="integer"), ()) == ""


def test_a_boolean_is_set_by_words():
    assert [boolean(word) for word in (YES, NO, UNSET)] == [("true",), ("false",), ()]


def test_a_question_names_its_type_and_if_it_is_optional():
    assert kind(Question(key="k", text="t", type="integer", required=False)) == "whole number, optional"
    assert kind(SEVERAL) == "several"
    assert kind(ONE) == ""


QUESTIONS = st.builds(
    Question,
    key=st.just("k"),
    choices=st.lists(st.sampled_from(["low", "3", "true"]).map(lambda label: Choice(label=label))).map(tuple),
    type=st.sampled_from(["string", "number", "integer", "boolean", "odd"]),
    several=st.booleans(),
    free=st.booleans(),
    required=st.booleans(),
)
NUMBERS = ["+5", "\uff11\uff12", "-0", "1e5", "1_0", " 7", "nan", "1.", "true"]


@given(QUESTIONS, st.data(), st.text() | st.sampled_from(NUMBERS))
def test_the_card_takes_the_answers_that_its_ask_takes(question, data, text):
    labels = [choice.label for choice in question.choices]
    marked = data.draw(st.lists(st.sampled_from(labels), max_size=2)) if labels else []
    values = combined(question, tuple(marked), text if question.free or not labels else "")
    ask = Ask(key="a", kind=AskKind.FORM, title="t", questions=(question,), verdicts=(Verdict.ANSWER,))
    refused = False
    try:
        check_answer(ask, Answer(verdict=Verdict.ANSWER, values={"k": values} if values else {}))
    except UsageError:
        refused = True
    assert bool(problem(question, values)) is refused
