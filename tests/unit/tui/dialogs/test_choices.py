"""The letters of the dialogs in which one thing of several is picked."""

import pytest

from agentdash.sessions.model.session import Change, PlanItem, Step, StepKind
from agentdash.tui.dialogs.table.pick import PickScreen
from agentdash.tui.keys.key_names import LIST_LETTERS
from agentdash.tui.panes.steps.step_actions import main_piece, pieces
from agentdash.tui.texts.screen_texts import SORT_KEYS
from agentdash.widgets.table.ordering import ORDERS
from pilot.examples import STEPS


def everything(kind):
    """A step of this kind that has every part that can be copied."""
    return Step(
        kind=kind, command="make", text="words", arguments={"a": 1}, output="out",
        changes=(Change(path="a.py", kind="update", diff="+x"),), items=(PlanItem(text="one", status="pending"),),
    )  # fmt: skip


MENUS = {
    "sort": list(SORT_KEYS),
    **{f"copy of {kind}": [one.key for one in pieces(everything(kind))] for kind in StepKind},
    **{f"copy of step {n}": [one.key for one in pieces(step)] for n, step in enumerate(STEPS)},
}


def test_no_letter_of_a_menu_moves_its_cursor_or_closes_it_or_is_there_twice():
    for menu, letters in MENUS.items():
        assert not LIST_LETTERS & set(letters), menu
        assert len(set(letters)) == len(letters), menu
        PickScreen("menu", [(letter, "what") for letter in letters])


@pytest.mark.parametrize("letters", ["j", "k", "q", "aa"])
def test_a_menu_with_such_a_letter_cannot_be_made(letters):
    with pytest.raises(ValueError, match="collide"):
        PickScreen("menu", [(letter, "what") for letter in letters])


def test_every_part_of_a_step_can_be_copied():
    for kind in StepKind:
        names = ["command", "diff", "paths", "plan", "arguments", kind.replace("_", " "), "output", "json"]
        assert [one.name for one in pieces(everything(kind))] == names, kind
        assert main_piece(everything(kind)).text == "make", kind


def test_the_menu_of_orders_has_every_order():
    assert sorted(SORT_KEYS.values()) == sorted(ORDERS)
