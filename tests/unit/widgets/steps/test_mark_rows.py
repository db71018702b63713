"""The rows of marks and of steps that were cut."""

import pytest
from factories import T0

from agentdash.sessions.model.session import Step, StepKind
from agentdash.sessions.rules.conversation.marks import Mark, MarkKind
from agentdash.sessions.rules.conversation.shown import shown
from agentdash.sessions.transcript.mark_steps import MarkStep
from agentdash.widgets.steps.headed_steps import NO_CUTS, Cuts, cut_rows, mark_rows
from agentdash.widgets.steps.step_lines import BRIEF, Manner, step_rows


def rewind(text="went back to step 1.1 at 14:02, by you"):
    mark = Mark(id=1, session="s", kind=MarkKind.REWIND, after=2, turn=1, step=1, at=T0)
    return MarkStep(turn=2, index=-1, kind=StepKind.NOTICE, text=text, mark=mark)


def plain(rows):
    return ["".join(text for text, _ in row) for row in rows]


def test_a_mark_has_the_sign_of_its_kind_and_a_dim_hint():
    rows = mark_rows(rewind(), 80, Manner(), Cuts(hints={1: "u takes it back"}))
    assert plain(rows) == ["↶ went back to step 1.1 at 14:02, by you; u takes it back"]
    assert rows[0][-1] == ("; u takes it back", "dim")


@pytest.mark.parametrize("width", [20, 30, 47])
def test_a_narrow_list_wraps_the_words_and_the_hint(width):
    rows = mark_rows(rewind(), width, Manner(), Cuts(hints={1: "u takes it back"}))
    assert max(map(len, plain(rows))) <= width
    assert " ".join(" ".join(plain(rows)).split()) == "↶ went back to step 1.1 at 14:02, by you; u takes it back"
    assert all(role == "dim" for text, role in rows[-1] if "back" in text)


def test_at_one_line_each_a_mark_has_one_line():
    assert len(mark_rows(rewind(), 20, Manner(level=BRIEF), NO_CUTS)) == 1


def test_a_mark_without_an_effect_says_so():
    known = shown([1], [Mark(id=1, session="s", kind=MarkKind.REWIND, after=1, turn=9)])
    assert plain(mark_rows(rewind(), 90, Manner(), Cuts(known)))[0].endswith("(without an effect)")


def test_a_cut_step_is_faint_and_has_an_edge_in_every_line():
    step = Step(kind=StepKind.COMMAND, command="ls", exit_code=1, output="a\nb", text="")
    rows = cut_rows(step_rows(step, 40, Manner()))
    assert len(rows) > 1
    assert all(line.startswith("╎ ") for line in plain(rows))
    assert {role for row in rows for _, role in row} == {"dim"}


def test_nothing_is_cut_without_marks_and_a_mark_never_is():
    step = Step(turn=2, index=1, kind=StepKind.MESSAGE, text="x")
    known = shown([1, 2], [rewind().mark])
    assert not NO_CUTS.cuts(step)
    assert Cuts(known).cuts(step)
    assert not Cuts(known).cuts(rewind())
