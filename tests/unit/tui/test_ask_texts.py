"""Texts about asks."""

import factories
import pytest
from factories import T0
from hostile_text import REMOVED, nasty
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.asks.model import Answer, Ask, AskKind, Question, Verdict
from agentdash.sessions.asks.recorded import AskState, RecordedAsk
from agentdash.sessions.text.sanitize import cell_width
from agentdash.tui import ask_texts


def recorded(ask=None, **facts):
    ask = ask or Ask(key="k", kind=AskKind.COMMAND, title="run: make")
    return RecordedAsk(
        **{"id": 1, "session": "s1", "turn": 1, "stream": 1, "ask": ask, "state": AskState.OPEN, "asked_at": T0} | facts
    )


@given(st.sampled_from(AskKind), nasty, st.integers(10, 120))
def test_each_line_fits_and_is_clean(kind, text, width):
    ask = Ask(key=text, kind=kind, tool=text, title=text, cwd=text, paths=(text, text), why=text, always=text,
              verdicts=tuple(Verdict))  # fmt: skip
    lines = [ask_texts.what(ask, width), ask_texts.where(ask, width), ask_texts.why(ask, width)]
    for line in lines:
        assert not (REMOVED | {"\n", "\t"}) & set(line.plain)
        assert cell_width(line.plain) <= max(width, 30)
    for one in ask_texts.decisions(ask):
        assert not (REMOVED | {"\n", "\t"}) & set(one.text)


@pytest.mark.parametrize("width", [46, 74, 116])
def test_the_title_keeps_the_position_of_the_ask(width):
    one = factories.session(title="fix the flaky login test and whatever depends on the clock of the machine")
    assert ask_texts.card_title(one, 2, 3, width).endswith('" asks (2 of 3)')
    assert cell_width(ask_texts.card_title(one, 2, 3, width)) <= width
    assert ask_texts.card_title(one, 1, 1, width).endswith('" asks')


def test_the_folder_gives_way_to_the_file():
    ask = Ask(key="k", kind=AskKind.EDIT, title="t", cwd="/srv/code/api", paths=("/srv/code/api/src/clock.py", "b"))
    assert ask_texts.where(ask, 80).plain == "files    src/clock.py +1   in /srv/code/api"
    assert ask_texts.where(ask, 38).plain == "files    src/clock.py +1   in …ode/api"
    assert ask_texts.where(ask, 28).plain == "files    src/clock.py +1"


@pytest.mark.parametrize(
    ("due", "words"),
    [(None, "asked    12s ago"), (250, "denied in 4m"), (30, "denied in 30s"), (0, "its time is over")],
)
def test_the_age_and_the_time_that_is_left(due, words):
    ask = recorded(asked_at=T0 - 12_000, due_at=None if due is None else T0 + 1000 * due)
    assert words.replace("12s", "10s") in ask_texts.since(ask, T0).plain


def test_decisions_are_in_the_agents_order_each_once():
    verdicts = (Verdict.DENY, Verdict.ALLOW, Verdict.DENY, Verdict.ALWAYS)
    ask = Ask(key="k", kind=AskKind.PLAN, title="t", verdicts=verdicts)
    assert [(one.key, one.text, one.possible) for one in ask_texts.decisions(ask)] == [
        ("d", "deny, with words if you like", True),
        ("y", "approve the plan", True),
        ("a", "always (the agent does not say what it would cover)", False),
    ]


def test_an_answer_is_offered_only_if_something_is_asked():
    ask = Ask(key="k", kind=AskKind.QUESTION, title="t", verdicts=(Verdict.ANSWER, Verdict.DENY))
    assert [one.verdict for one in ask_texts.decisions(ask)] == [Verdict.DENY]
    asks = Ask(
        key="k", kind=AskKind.FORM, title="t", verdicts=(Verdict.ANSWER,), questions=(Question(key="a", text="b"),)
    )
    assert [one.verdict for one in ask_texts.decisions(asks)] == [Verdict.ANSWER]


@pytest.mark.parametrize(
    ("state", "verdict", "by", "words"),
    [
        (AskState.OPEN, None, None, ""),
        (AskState.ANSWERED, Verdict.ALLOW, "you", "Allowed by you."),
        (AskState.SENT, Verdict.STOP, "rule: \x1b[31mrm", "Denied and stopped by rule: rm."),
        (AskState.SETTLED, None, None, "Answered."),
        (AskState.EXPIRED, Verdict.DENY, "the time limit", "No answer in time: denied."),
        (AskState.WITHDRAWN, None, None, "It no longer waits for an answer."),
        (AskState.LOST, Verdict.ALLOW, "you", "The agent ended before an answer."),
    ],
)
def test_the_end_of_an_ask_in_words(state, verdict, by, words):
    answer = Answer(verdict=verdict) if verdict else None
    assert ask_texts.fate(recorded(state=state, answer=answer, answered_by=by)) == words
