"""Marks among the steps of a session: their places, their words, and the numbers of the steps around them."""

import pytest
from factories import T0

from agentdash.sessions.model.session import Step, StepKind
from agentdash.sessions.rules.conversation.marks import Mark, MarkKind, RelatedMark
from agentdash.sessions.transcript.mark_steps import Marking, MarkStep, marking
from agentdash.sessions.transcript.search import Search
from agentdash.sessions.transcript.snapshot import View
from agentdash.sessions.transcript.visible.going_back import NoPlaceError, place_of
from pilot.fakes import FakeTurn


def turn(number, *kinds):
    made = FakeTurn(number)
    for index, kind in enumerate((StepKind.PROMPT, *kinds)):
        made.put(Step(turn=number, index=index, kind=kind, text=f"{kind} {number}.{index}"))
    return made


TURNS = [turn(1, StepKind.MESSAGE, StepKind.USAGE), turn(2, StepKind.COMMAND, StepKind.MESSAGE), turn(3)]


def related(number, kind, session="s", other="", **facts):
    usual = {"id": number, "session": session, "kind": kind, "after": 2, "asked_by": "you", "at": T0}
    return RelatedMark(Mark(**(usual | facts)), other)


def seen(*marks, session="s"):
    made = marking(session, [1, 2, 3], marks)
    return View(made.among(TURNS)), made


def texts(view):
    return [view.step(item).text for item in range(len(view))]


def test_a_session_without_marks_has_the_sections_of_its_turns_alone():
    assert marking("s", [1, 2, 3], ()) == Marking()
    assert View(Marking().among(TURNS)).sections == tuple(TURNS)


def test_a_step_back_is_behind_the_turn_after_which_it_was_made():
    view, _ = seen(related(1, MarkKind.REWIND, turn=1, step=1))
    assert "went back to step 1.1 at" in texts(view)[6]
    assert texts(view)[5:8:2] == ["message 2.2", "prompt 3.0"]
    assert texts(view)[6].endswith(", by you")


def test_a_fork_begins_before_the_first_turn_and_names_its_origin():
    view, _ = seen(related(1, MarkKind.FORK, after=0, turn=4, step=2, origin="origin01-x", other="the [b]talk"))
    first = view.step(0)
    assert isinstance(first, MarkStep)
    assert first.text.startswith('forked from step 4.2 of "the [b]talk" (origin01)')
    assert first.opens == "origin01-x"
    assert view.turn(0) == 1


def test_a_fork_of_the_session_is_behind_the_turn_of_its_step():
    view, made = seen(related(1, MarkKind.FORK, "forked01", other="try", after=0, turn=1, step=1, origin="s"))
    step = view.step(3)
    assert step.text.startswith('step 1.1 was forked: "try" (forked01)')
    assert step.opens == "forked01"
    assert made.shown is None


def test_a_turn_by_hand_has_a_line_before_it():
    view, _ = seen(related(1, MarkKind.TAKEOVER, after=1, turn=2))
    assert texts(view)[3].startswith("turn 2 was typed by hand in the agent's own interface")


def test_a_takeover_of_which_nothing_could_be_recorded_names_the_reason():
    view, _ = seen(related(1, MarkKind.TAKEOVER, data={"reason": "its transcript was not found"}))
    said = "taken over, but what was typed by hand is not recorded (its transcript was not found) at"
    assert texts(view)[6].startswith(said)


def test_a_summary_names_the_turns_for_which_it_stands():
    view, _ = seen(
        related(1, MarkKind.COMPACT, after=2, turn=2, data={"tokens_before": 180_000, "tokens_after": 9_000})
    )
    assert texts(view)[6].startswith("a summary stands for 1 turn (180k → 9.0k tokens) at")


@pytest.mark.parametrize("data", [{}, {"tokens_before": "many"}, {"tokens_before": 5}, {"tokens_after": [1]}])
def test_a_summary_without_counts_has_none(data):
    view, _ = seen(related(1, MarkKind.COMPACT, turn=2, data=data))
    assert texts(view)[6].startswith("a summary stands for 1 turn at")


def test_an_undo_names_the_act_that_it_takes_back_and_an_unknown_mark_is_shown():
    marks = related(1, MarkKind.REWIND, turn=1), related(2, MarkKind.UNDO, undoes=1), related(3, "braid\x1b[2J")
    view, made = seen(*marks)
    assert texts(view)[7].startswith('took back "went back to the end of turn 1" at')
    assert texts(view)[8].startswith("mark of a kind that this version does not know: braid")
    assert "\x1b" not in texts(view)[8]
    assert made.shown.ignored == {3}


def test_marks_of_turns_that_are_not_read_yet_wait():
    made = marking("s", [1, 2, 3], [related(1, MarkKind.REWIND, turn=1)])
    assert View(made.among(TURNS[:1])).sections == tuple(TURNS[:1])


def test_steps_keep_their_numbers_beside_marks():
    view, _ = seen(related(1, MarkKind.FORK, after=0, turn=1, origin="o"), related(2, MarkKind.REWIND, turn=1))
    assert view.step(view.number(2, 2)).text == "message 2.2"
    assert view.step(view.number(1, 0)).text == "prompt 1.0"
    assert view.turn_starts() == [0, 4, 8]
    assert view.after_steps(len(view)) == len(view)


def test_a_mark_that_comes_extends_the_view_only_at_its_end():
    before = View(TURNS[:2])
    made = marking("s", [1, 2], [related(1, MarkKind.REWIND, turn=1)])
    assert View(made.among(TURNS[:2])).extends(before)
    in_between = marking("s", [1, 2], [related(1, MarkKind.FORK, "f", after=0, turn=1, origin="s")])
    later = View(in_between.among(TURNS[:2]))
    assert not later.extends(before)
    assert [later.moved(before, item) for item in (0, 2, 3, 5)] == [0, 2, 4, 6]


def test_a_search_finds_marks():
    view, _ = seen(related(1, MarkKind.REWIND, turn=1))
    search = Search(view, "went back")
    search.advance(10)
    assert list(search.hits) == [6]


def test_a_step_names_its_place_and_the_last_one_of_a_turn_the_whole_turn():
    view = View(TURNS)
    assert (place_of(view, 4, [1, 2, 3]).turn, place_of(view, 4, [1, 2, 3]).step) == (2, 1)
    # The tokens behind the message belong to no conversation.
    assert (place_of(view, 1, [1, 2, 3]).turn, place_of(view, 1, [1, 2, 3]).step) == (1, None)


def test_a_prompt_names_the_place_before_it():
    view = View(TURNS)
    assert place_of(view, 0, [1, 2, 3]).turn is None
    second = place_of(view, 3, [1, 2, 3])
    assert (second.turn, second.step, second.prompt, second.item) == (1, None, "prompt 2.0", 2)


def test_a_prompt_behind_a_step_back_names_the_step_that_it_followed():
    view, made = seen(related(1, MarkKind.REWIND, turn=1, step=1))
    third = place_of(view, view.number(3, 0), [1, 2, 3], made.shown)
    assert (third.turn, third.step) == (1, 1)


def test_a_mark_and_a_prompt_behind_a_summary_name_no_place():
    view, made = seen(related(1, MarkKind.COMPACT, turn=2))
    with pytest.raises(NoPlaceError, match="not a step of a turn"):
        place_of(view, 6, [1, 2, 3], made.shown)
    with pytest.raises(NoPlaceError, match="follows a summary"):
        place_of(view, 7, [1, 2, 3], made.shown)


def test_the_first_prompt_of_a_fork_names_its_beginning():
    view, made = seen(related(1, MarkKind.FORK, after=0, turn=4, origin="o"))
    assert place_of(view, 1, [1, 2, 3], made.shown).turn is None
