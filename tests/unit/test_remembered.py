"""What the dashboard remembers, in a file of its own."""

import stat

import pytest

from agentdash.tui.remembered import FILE, Memory
from agentdash.tui.views import BUILT_IN, View
from agentdash.widgets.columns import USUAL


def test_what_was_chosen_holds_the_next_time(tmp_path):
    memory = Memory(tmp_path)
    view = View(filter="state:failed", sort="cost", reverse=True)
    memory.set(view=view, columns=("age", "cost"), widths={"age": 6}, views={"dear": view}, shares={"wide": 40})
    memory.save()
    again = Memory(tmp_path)
    assert again.now == memory.now
    assert again.now.choice.names == ("age", "cost")
    assert again.now.choice.widths == (("age", 6),)
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["view = 3", "columns = [", 'widths = {age = "wide"}', "\x00", "view = {sort = 1}"])
def test_a_file_that_cannot_be_used_is_told_and_left_alone(tmp_path, text):
    (tmp_path / FILE).write_text(text)
    memory = Memory(tmp_path)
    assert FILE in memory.problem
    assert memory.now.choice == USUAL
    assert (tmp_path / FILE).read_text() == text


def test_columns_and_orders_of_another_version_are_left_out(tmp_path):
    (tmp_path / FILE).write_text('columns = ["age", "mood"]\n[widths]\nage = 900\n[view]\nsort = "mood"\n')
    now = Memory(tmp_path).now
    assert now.choice.names == ("age",)
    assert now.choice.widths == ()
    assert now.view.arrangement.sort == "attention"


@pytest.mark.parametrize("view", BUILT_IN.values(), ids=list(BUILT_IN))
def test_built_in_views_can_be_shown(view):
    assert view.arrangement
    assert (view.chooser() is None) is not view.chooses
