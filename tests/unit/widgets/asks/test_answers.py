"""What the user typed and marked, as the answer to a question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.asks.model import Choice, Question
from agentdash.widgets.asks.answers import NO, UNSET, YES, boolean, combined, kind, problem

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


@pytest.mark.parametrize(
    ("type_", "text", "reason"),
    [
        ("integer", "80", ""),
        ("integer", "-3", ""),
        ("integer", "8o", "This must be a whole number."),
        ("integer", "1.5", "This must be a whole number."),
        ("integer", "٣", "This must be a whole number."),
        ("number", "1.5e3", ""),
        ("number", "nan", "This must be a number."),
        ("number", "inf", "This must be a number."),
        ("number", "1_000", "This must be a number."),
        ("string", "anything", ""),
        ("odd", "anything", ""),
    ],
)
def test_a_value_must_fit_its_type(type_, text, reason):
    assert problem(Question(key="k", text="t", type=type_), (text,)) == reason


def test_only_a_required_question_needs_an_answer():
    assert problem(ONE, ()) == "An answer is required."
    assert problem(Question(key="k", text="t", required=False, type="integer"), ()) == ""


def test_a_boolean_is_set_by_words():
    assert [boolean(word) for word in (YES, NO, UNSET)] == [("true",), ("false",), ()]


def test_a_question_names_its_type_and_if_it_is_optional():
    assert kind(Question(key="k", text="t", type="integer", required=False)) == "whole number, optional"
    assert kind(SEVERAL) == "several"
    assert kind(ONE) == ""


@given(st.text(), st.sampled_from(["string", "number", "integer", "boolean", "odd"]), st.booleans())
def test_no_text_makes_it_fail(text, type_, several):
    question = Question(key="k", text="t", type=type_, several=several)
    assert isinstance(problem(question, combined(question, (), text)), str)
