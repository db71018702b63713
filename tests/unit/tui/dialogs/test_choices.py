"""The letters of the dialogs in which one thing of several is picked."""

import pytest

from agentdash.sessions.model import Change, PlanItem, Step, StepKind
from agentdash.tui.dialogs.table.pick import PickScreen
from agentdash.tui.keys.key_names import LIST_LETTERS
from agentdash.tui.panes.steps.copy_parts import main_piece, pieces
from agentdash.tui.panes.table.table_pane import SORT_KEYS
from agentdash.widgets.table.ordering import ORDERS
from pilot.fakes import STEPS


def everything(kind):
    """A step of this kind that has every part that can be copied."""
    return Step(
        kind=kind, command="make", text="words", arguments={"a": 1}, output="out",
        changes=(Change(path="a.py", kind="update", diff="+x"),), items=(PlanItem(text="one", status="pending"),),
    )  # fmt: skip


MENUS = [
    pytest.param(list(SORT_KEYS), id="sort"),
    *(pytest.param([one.key for one in pieces(everything(kind))], id=f"copy of {kind}") for kind in StepKind),
    *(pytest.param([one.key for one in pieces(step)], id=f"copy of step {n}") for n, step in enumerate(STEPS)),
]


@pytest.mark.parametrize("letters", MENUS)
def test_no_letter_of_a_menu_moves_its_cursor_or_closes_it_or_is_there_twice(letters):
    assert not LIST_LETTERS & set(letters)
    assert len(set(letters)) == len(letters)
    PickScreen("menu", [(letter, "what") for letter in letters])


@pytest.mark.parametrize("letters", ["j", "k", "q", "aa"])
def test_a_menu_with_such_a_letter_cannot_be_made(letters):
    with pytest.raises(ValueError, match="collide"):
        PickScreen("menu", [(letter, "what") for letter in letters])


@pytest.mark.parametrize("kind", StepKind)
def test_every_part_of_a_step_can_be_copied(kind):
    names = [one.name for one in pieces(everything(kind))]
    assert names == ["command", "diff", "paths", "plan", "arguments", kind.replace("_", " "), "output", "json"]
    assert main_piece(everything(kind)).text == "make"


def test_the_menu_of_orders_has_every_order():
    assert sorted(SORT_KEYS.values()) == sorted(ORDERS)
