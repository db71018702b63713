"""The steps that a reader is shown as cut: those that a step back left, and none for which a summary stands."""

from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.rules.conversation.history import History
from agentdash.sessions.rules.conversation.marks import Mark, MarkKind
from agentdash.sessions.rules.conversation.shown import kept_turns, shown, stands_for


def mark(number, kind, after, **facts):
    return Mark(id=number, session="s", kind=kind, after=after, **facts)


def test_without_marks_nothing_is_cut():
    known = shown([1, 2], [])
    assert not any(known.cuts(turn, step) for turn in (1, 2) for step in range(5))
    assert known.undoable is None


def test_a_step_back_cuts_what_follows_its_step_and_not_the_later_turns():
    known = shown([1, 2, 3], [mark(1, MarkKind.REWIND, 2, turn=1, step=2)])
    cut = [(turn, step) for turn in (1, 2, 3) for step in (0, 2, 3) if known.cuts(turn, step)]
    assert cut == [(1, 3), (2, 0), (2, 2), (2, 3)]
    assert known.undoable.id == 1


def test_an_undo_cuts_the_turns_since_the_step_back_and_shows_those_before_it():
    known = shown([1, 2, 3], [mark(1, MarkKind.REWIND, 2, turn=1), mark(2, MarkKind.UNDO, 3, undoes=1)])
    assert known.kept == {1: None, 2: None}
    assert known.cuts(3, 1)


def test_a_summary_cuts_nothing_for_which_it_stands():
    compact = mark(1, MarkKind.COMPACT, 3, turn=3)
    known = shown([1, 2, 3, 4], [compact])
    assert known.kept == {1: None, 2: None, 3: None, 4: None}
    assert stands_for(compact, History([1, 2, 3, 4], [compact])) == 2


def test_what_was_cut_before_a_summary_stays_cut_and_is_not_counted():
    marks = [mark(1, MarkKind.REWIND, 2, turn=1), mark(2, MarkKind.COMPACT, 3, turn=3)]
    known = shown([1, 2, 3], marks)
    assert known.cuts(2, 1)
    assert not known.cuts(1, 1)
    assert stands_for(marks[1], History([1, 2, 3], marks)) == 1


def test_a_summary_that_was_taken_back_is_cut_with_its_turn():
    marks = [mark(1, MarkKind.COMPACT, 2, turn=2), mark(2, MarkKind.REWIND, 2, turn=1)]
    assert shown([1, 2], marks).kept == {1: None}


def test_marks_without_an_effect_are_named():
    assert shown([1], [mark(1, MarkKind.REWIND, 1, turn=9)]).ignored == {1}


@given(st.lists(st.tuples(st.sampled_from([*MarkKind, "braid"]), st.integers(0, 4), st.integers(0, 4))))
def test_all_that_is_visible_is_kept(acts):
    turns = range(1, 5)
    marks = [
        mark(number, kind, after, turn=turn or None, undoes=turn)
        for number, (kind, after, turn) in enumerate(sorted(acts, key=lambda act: act[1]), 1)
    ]
    history = History(turns, marks)
    kept = kept_turns(history)
    for turn, through in history.visible_turns().items():
        assert turn in kept
        assert kept[turn] is None or (through is not None and kept[turn] >= through)
