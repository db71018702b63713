"""The rows of a step in a list, with the headings above it."""

from array import array

import pytest

from agentdash.sessions.model.session import Step, StepKind
from agentdash.widgets.steps.filtered_steps import FilteredSteps
from agentdash.widgets.steps.headed_steps import HeadedSteps, TurnNote, Unread


class Steps:
    """Two turns of two commands each."""

    repeats = array("I")

    def __len__(self):
        return 4

    def step(self, item):
        return Step(turn=self.turn(item), index=item, kind=StepKind.COMMAND, command="line", output="line\n" * 60)

    def turn(self, item):
        return item // 2 + 1


def texts(drawing, position):
    return ["".join(text for text, _ in row) for row in drawing.rows(FilteredSteps(Steps()), position, 60)]


@pytest.fixture
def drawing():
    return HeadedSteps()


def test_the_first_step_of_a_turn_has_a_heading_with_the_turns_note(drawing):
    drawing.note_turns({2: TurnNote("stopped by you")})
    assert "turn 2" in texts(drawing, 2)[0]
    assert "stopped by you" in texts(drawing, 2)[0]
    assert "turn" not in texts(drawing, 3)[0]


def test_the_turns_whose_note_changed_are_reported(drawing):
    a, b, c = TurnNote("a"), TurnNote("b"), TurnNote("b", (("sandbox: read-only", "dim"),))
    assert drawing.note_turns({1: a, 2: b}) == {1, 2}
    assert drawing.note_turns({1: a, 2: c}) == {2}
    assert drawing.note_turns({1: a}) == {2}


def test_changed_settings_are_a_line_below_the_heading_of_their_turn_and_fit_its_width(drawing):
    changes = (("sandbox: danger-full-access (was read-only)", "failure"), (" · ", "dim"), ("x" * 80, "dim"))
    drawing.note_turns({2: TurnNote("done", changes)})
    heading, line, first = drawing.rows(FilteredSteps(Steps()), 2, 60)[:3]
    assert "turn 2" in heading[0][0]
    assert line[0] == ("   sandbox: danger-full-access (was read-only)", "failure")
    assert len("".join(text for text, _ in line)) == 60
    assert "line" in "".join(text for text, _ in first)
    assert drawing.lines_above(FilteredSteps(Steps()), 2) == 2
    assert drawing.lines_above(FilteredSteps(Steps()), 0) == 1
    assert drawing.lines_above(FilteredSteps(Steps()), 3) == 0


def test_the_lines_above_a_step_are_its_headings(drawing):
    drawing.unread = Unread(2, "2 new steps")
    for position in range(4):
        above = drawing.lines_above(FilteredSteps(Steps()), position)
        assert [row for row in texts(drawing, position)[above:] if "turn" in row or "new steps" in row] == []
        assert sum("line" in row for row in texts(drawing, position)[:above]) == 0
    assert drawing.lines_above(FilteredSteps(Steps()), 2) == 2


def test_each_step_has_its_number_if_there_is_room(drawing):
    def shown(position, width):
        rows = drawing.rows(FilteredSteps(Steps()), position, width)
        return ["".join(text for text, _ in row) for row in rows]

    drawing.make_room(120)
    assert shown(1, 60)[0].startswith("   1 $ line")
    assert shown(1, 60)[1].startswith("       line")
    assert shown(1, 59)[0].startswith(" $ line")
    assert all(len(row) <= 60 for row in shown(1, 60))


def test_a_prompt_has_no_number(drawing):
    drawing.make_room(9)
    assert drawing.rows(FilteredSteps(Steps()), 0, 60)[1][0] == ("    ", "dim")


def test_a_step_unfolds_alone_and_folding_all_forgets_it(drawing):
    usual = len(texts(drawing, 1))
    drawing.unfold(Steps().step(1), 1)
    assert len(texts(drawing, 1)) > usual == len(texts(drawing, 3))
    drawing.fold_all()
    assert len(texts(drawing, 1)) == len(texts(drawing, 3)) > usual
    drawing.fold_all()
    assert len(texts(drawing, 1)) == len(texts(drawing, 3)) == 1
    drawing.fold_all()
    assert len(texts(drawing, 1)) == usual


def test_a_warning_about_the_prompt_is_a_line_below_the_changed_settings(drawing):
    drawing.note_turns({2: TurnNote("lost", (("sandbox: read-only", "dim"),), (("prompt unconfirmed", "failure"),))})
    heading, settings, warning, *_ = drawing.rows(FilteredSteps(Steps()), 2, 60)
    assert "turn 2" in heading[0][0]
    assert settings[0][0].strip() == "sandbox: read-only"
    assert (warning[0][0].strip(), warning[0][1]) == ("prompt unconfirmed", "failure")
    assert drawing.lines_above(FilteredSteps(Steps()), 2) == 3
