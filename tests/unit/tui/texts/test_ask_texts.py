"""Texts about asks."""

import pytest
from factories import T0
from hostile_text import REMOVED, nasty
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from agentdash.sessions.rules.asks.model import Ask, AskKind, Question, Verdict
from agentdash.sessions.rules.asks.recorded import AskState, RecordedAsk
from agentdash.sessions.text.sanitize import cell_width
from agentdash.tui.texts import ask_texts


def recorded(ask=None, **facts):
    ask = ask or Ask(key="k", kind=AskKind.COMMAND, title="run: make")
    return RecordedAsk(
        **{"id": 1, "session": "s1", "turn": 1, "stream": 1, "ask": ask, "state": AskState.OPEN, "asked_at": T0} | facts
    )


@given(st.sampled_from(AskKind), nasty, st.integers(10, 120))
def test_each_line_fits_and_is_clean(kind, text, width):
    ask = Ask(key=text, kind=kind, tool=text, title=text, cwd=text, paths=(text, text), why=text, always=text,
              verdicts=tuple(Verdict))  # fmt: skip
    title = ask_texts.card_title(ask, 2, 3, (1, 1), width)
    lines = [title, ask_texts.where(ask, width).plain, ask_texts.why(ask, width).plain]
    for line in lines:
        assert not (REMOVED | {"\n", "\t"}) & set(line)
        assert cell_width(line) <= max(width, 30)
    for one in ask_texts.decisions(ask):
        assert not (REMOVED | {"\n", "\t"}) & set(one.text)


@pytest.mark.parametrize("width", [46, 74, 116])
def test_the_title_keeps_the_position_of_the_ask(width):
    ask = Ask(key="k", kind=AskKind.TOOL, title="use a tool that does whatever depends on the clock of the machine" * 2)
    assert ask_texts.card_title(ask, 2, 3, (1, 1), width).endswith("… · 2 of 3 asks")
    assert cell_width(ask_texts.card_title(ask, 2, 3, (1, 1), width)) <= width
    assert ask_texts.card_title(ask, 1, 1, (1, 1), width).endswith("…")


def test_the_title_says_plainly_what_is_asked_for_and_repeats_nothing_of_the_text():
    one = (Question(key="q", text="Which colour?", header="Colour"),)
    answers = (Verdict.ANSWER,)
    for kind, facts, page, what in (
        (AskKind.COMMAND, {"title": "run: make", "body": "make"}, (1, 1), "run a command"),
        (AskKind.COMMAND, {"title": "run without a sandbox: make", "body": "make"}, (1, 1), "run without a sandbox"),
        (AskKind.EDIT, {"title": "write notes.txt", "paths": ("notes.txt",)}, (1, 1), "write notes.txt"),
        (
            AskKind.TOOL,
            {"title": "use fetch of web: example.org", "body": "{}"},
            (1, 1),
            "use fetch of web: example.org",
        ),
        (
            AskKind.QUESTION,
            {"title": "Which colour?", "questions": one, "verdicts": answers},
            (1, 1),
            "question",
        ),
        (
            AskKind.QUESTION,
            {"title": "Which?", "questions": one * 3, "verdicts": answers},
            (2, 3),
            "question 2 of 3",
        ),
    ):
        assert ask_texts.what(Ask(key="k", kind=kind, **facts), page) == what


def test_the_folder_gives_way_to_the_file():
    ask = Ask(key="k", kind=AskKind.EDIT, title="t", cwd="/srv/code/api", paths=("/srv/code/api/src/clock.py", "b"))
    assert ask_texts.where(ask, 80).plain == "files    src/clock.py +1   in /srv/code/api"
    assert ask_texts.where(ask, 38).plain == "files    src/clock.py +1   in …ode/api"
    assert ask_texts.where(ask, 28).plain == "files    src/clock.py +1"


@pytest.mark.parametrize(
    ("due", "overdue", "words"),
    [
        (None, None, "asked    12s ago"),
        (250, Verdict.DENY, "denied in 4m"),
        (30, Verdict.STOP, "denied and stopped in 30s"),
        (30, None, "decided in 30s"),
        (0, Verdict.DENY, "its time is over"),
    ],
)
def test_the_age_and_the_time_that_is_left(due, overdue, words):
    ask = recorded(asked_at=T0 - 12_000, due_at=None if due is None else T0 + 1000 * due, overdue=overdue)
    assert words.replace("12s", "10s") in ask_texts.since(ask, T0).plain


def test_decisions_are_in_the_agents_order_each_once():
    verdicts = (Verdict.DENY, Verdict.ALLOW, Verdict.DENY, Verdict.ALWAYS)
    ask = Ask(key="k", kind=AskKind.PLAN, title="t", verdicts=verdicts)
    assert [(one.key, one.text, one.possible) for one in ask_texts.decisions(ask)] == [
        ("d", "deny", True),
        ("y", "approve the plan", True),
    ]
    assert ask_texts.decisions(structs.replace(ask, always="all plans"))[-1].text == "always: all plans"


def test_agentdash_offers_to_remember_what_it_may_allow():
    ask = Ask(key="k", kind=AskKind.COMMAND, title="run: ls", body="ls")
    offered = [("y", "allow once"), ("s", "always: the same, for this session (agentdash remembers it)")]
    assert [(one.key, one.text) for one in ask_texts.decisions(ask)][:2] == offered
    dangerous = ask_texts.decisions(structs.replace(ask, body="rm -rf build"))
    assert [one.key for one in dangerous] == ["y", "d", "D"]


def test_an_answer_is_offered_only_if_something_is_asked():
    ask = Ask(key="k", kind=AskKind.QUESTION, title="t", verdicts=(Verdict.ANSWER, Verdict.DENY))
    assert [one.verdict for one in ask_texts.decisions(ask)] == [Verdict.DENY]
    asks = Ask(
        key="k", kind=AskKind.FORM, title="t", verdicts=(Verdict.ANSWER,), questions=(Question(key="a", text="b"),)
    )
    assert [one.verdict for one in ask_texts.decisions(asks)] == [Verdict.ANSWER]


def test_the_end_of_an_ask_is_a_sentence():
    assert ask_texts.ended("denied by you") == "Denied by you."
    assert ask_texts.former_ended("denied by you") == "The one before: denied by you."


ANSWERED = (Verdict.ANSWER, Verdict.DENY)


@pytest.mark.parametrize(
    ("kind", "verdicts", "pressed", "text"),
    [
        (AskKind.QUESTION, ANSWERED, Verdict.ALLOW, "A question has no yes: choose an answer, or d."),
        (AskKind.FORM, ANSWERED, Verdict.ALWAYS, "A question has no always: choose an answer, or d."),
        (AskKind.TOOL, (Verdict.DENY,), Verdict.ALLOW, "It does not take yes: only no."),
        (AskKind.TOOL, (Verdict.DENY, Verdict.STOP), Verdict.ALLOW, "It does not take yes: only no or stop."),
    ],
)
def test_a_key_that_an_ask_does_not_take_is_answered_in_plain_words(kind, verdicts, pressed, text):
    ask = Ask(key="k", kind=kind, title="Which colour?", verdicts=verdicts)
    assert ask_texts.not_taken(ask, pressed) == text
