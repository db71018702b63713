"""Marks, one by one and from here to there."""

from agentdash.widgets.table.row_canvas import Selection


def test_marks_keep_the_order_in_which_they_were_made():
    marks = Selection()
    for name in "cab":
        marks.toggle(name)
    marks.toggle("a")
    assert list(marks) == ["c", "b"]


def test_a_range_follows_its_end_and_keeps_what_was_marked_before():
    marks, order = Selection(), list("abcdef")
    marks.toggle("f")
    marks.begin("b")
    marks.reach(order, "d")
    assert list(marks) == ["f", "b", "c", "d"]
    marks.reach(order, "a")
    assert list(marks) == ["f", "a", "b"]
    marks.close()
    marks.reach(order, "e")
    assert list(marks) == ["f", "a", "b"]


def test_a_range_whose_beginning_is_gone_stays_as_it_is():
    marks = Selection()
    marks.begin("a")
    marks.forget(["a"])
    marks.reach(["b", "c"], "c")
    assert list(marks) == []
    assert not len(marks)


def test_a_range_ends_with_the_session_at_which_it_began():
    marks = Selection()
    marks.begin("a")
    marks.reach(["a", "b", "c"], "c")
    marks.forget(["a"])
    assert not marks.ranging
    assert list(marks) == ["b", "c"]


def test_what_is_gone_does_not_come_back_with_a_range():
    marks = Selection()
    marks.toggle("x")
    marks.begin("a")
    marks.forget(["x"])
    marks.reach(["a", "b"], "b")
    assert list(marks) == ["a", "b"]


def test_a_group_is_marked_wholly_before_its_marks_are_taken_away():
    marks = Selection()
    marks.toggle("b")
    marks.toggle_all(["a", "b", "c"])
    assert list(marks) == ["b", "a", "c"]
    marks.toggle_all(["a", "b", "c"])
    assert not len(marks)
