"""The characters of the screen and their ASCII twins: one cell each, and no two of a kind alike."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.strip import Strip

from agentdash.sessions.model.session import StepKind
from agentdash.sessions.text.sanitize import cell_width
from agentdash.sessions.transcript.blocks import ENDINGS
from agentdash.widgets.drawing import glyphs
from agentdash.widgets.drawing.glyphs import KINDS, MARKS, PLAN, STATES, TWINS, in_ascii, twins
from agentdash.widgets.drawing.plain_ascii import InAscii

FAMILY, FLAG, SKIN = "👨‍👩‍👧", "🇩🇪", "👍🏽"


@pytest.mark.parametrize("char", TWINS)
def test_a_character_and_its_twin_have_one_cell(char):
    assert (cell_width(char), cell_len(char), len(TWINS[char])) == (1, 1, 1)
    assert TWINS[char].isascii()
    assert TWINS[char].isprintable()


@pytest.mark.parametrize(
    "kind", [STATES, KINDS, MARKS, PLAN, ENDINGS], ids=["states", "kinds", "marks", "plan", "ends"]
)
def test_no_two_of_a_kind_look_alike_in_ascii_either(kind):
    assert len(set(kind.values())) == len(set(map(twins, kind.values()))) == len(kind)


def test_everything_that_is_drawn_has_a_twin():
    named = [value for name, value in vars(glyphs).items() if name.isupper() and isinstance(value, str)]
    assert glyphs.RULE in named
    drawn = "".join([*named, *STATES.values(), *KINDS.values(), *MARKS.values(), *PLAN.values(), *ENDINGS.values()])
    assert twins(drawn).isascii()
    assert "?" not in in_ascii(drawn).replace(STATES["waiting"], "").replace(KINDS[StepKind.UNKNOWN], "")


def test_the_command_line_keeps_what_is_not_a_sign_and_the_screen_does_not():
    text = "✓ größer → 修复"
    assert twins(text) == "+ größer > 修复"
    assert in_ascii(text) == "+ gr??er > ????"


@given(st.text())
@example("中文 e\u0301 ─ ✓")
def test_a_text_in_ascii_has_the_cells_of_the_text(text):
    assert in_ascii(text).isascii()
    assert len(in_ascii(text)) == sum(map(cell_width, text))


@given(st.lists(st.text(st.characters(exclude_categories=["Cc", "Cs"]))))
@example([FAMILY, " and ", FLAG, SKIN, " end"])
@example(["\u0301", "\ufe0f", "☑\ufe0f x"])
def test_a_drawn_line_in_ascii_is_as_wide_as_before(texts):
    line = Strip([Segment(text, Style(bold=True)) for text in texts])
    shown = line.apply_filter(InAscii(), Color.parse("black"))
    assert shown.text.isascii()
    assert [len(segment.text) for segment in shown] == [cell_len(text) for text in texts]
    assert all(segment.style == Style(bold=True) for segment in shown)


def test_a_cluster_of_one_shape_moves_nothing_behind_it():
    strip = Strip([Segment(f"{FAMILY} and {SKIN} end")]).apply_filter(InAscii(), Color.parse("black"))
    assert strip.text == "?? and ?? end"
