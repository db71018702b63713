"""What the dashboard remembers, in a file of its own."""

import stat

import pytest

from agentdash.tui.state.table_views import BUILT_IN, View
from agentdash.tui.state.ui_state import FILE, Remembered, UiState
from agentdash.widgets.table.columns import USUAL


def test_what_was_chosen_holds_the_next_time(tmp_path):
    memory = UiState(tmp_path)
    view = View(filter="state:failed", sort="cost", reverse=True)
    memory.set(view=view, columns=("age", "cost"), widths={"age": 6}, views={"dear": view}, shares={"wide": 40})
    memory.save()
    again = UiState(tmp_path)
    assert again.now == memory.now
    assert again.now.choice.names == ("age", "cost")
    assert again.now.choice.widths == (("age", 6),)
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["view = 3", "columns = [", 'widths = {age = "wide"}', "\x00", "view = {sort = 1}"])
def test_a_file_that_cannot_be_used_is_told_and_left_alone(tmp_path, text):
    (tmp_path / FILE).write_text(text)
    memory = UiState(tmp_path)
    assert FILE in memory.problem
    assert memory.now.choice == USUAL
    assert (tmp_path / FILE).read_text() == text


def test_columns_and_orders_of_another_version_are_left_out(tmp_path):
    (tmp_path / FILE).write_text('columns = ["age", "mood"]\n[widths]\nage = 900\n[view]\nsort = "mood"\n')
    now = UiState(tmp_path).now
    assert now.choice.names == ("age",)
    assert now.choice.widths == ()
    assert now.view.arrangement.sort == "attention"


@pytest.mark.parametrize("view", BUILT_IN.values(), ids=list(BUILT_IN))
def test_built_in_views_can_be_shown(view):
    assert view.arrangement
    assert (view.chooser() is None) is not view.chooses


def test_a_value_of_another_version_costs_nothing_but_itself(tmp_path):
    path = tmp_path / FILE
    path.write_text(
        'columns = 3\nmood = "high"\n[view]\nsort = "cost"\ngrouping = "by mood"\n'
        '[views.mine]\nfilter = "login"\n[views.odd]\ngrouping = "by mood"\nsort = "tok"\n[shares]\nwide = 40\n'
        "[views]\nnone = 3\n"
    )
    memory = UiState(tmp_path)
    assert memory.now == Remembered(
        view=View(sort="cost"), views={"mine": View(filter="login"), "odd": View(sort="tok")}, shares={"wide": 40}
    )
    assert "columns, views.none, views.odd.grouping, view.grouping ignored: not valid" in memory.problem
    memory.set(shares={"wide": 50})
    memory.save()
    text = path.read_text()
    assert 'mood = "high"' in text
    assert text.count('grouping = "by mood"') == 2
    assert UiState(tmp_path).now.shares == {"wide": 50}


def test_a_file_that_is_none_is_kept_before_another_is_written(tmp_path):
    (tmp_path / FILE).write_text("columns = [")
    memory = UiState(tmp_path)
    memory.set(columns=("age",))
    memory.save()
    assert (tmp_path / f"{FILE}.bad").read_text() == "columns = ["
    assert UiState(tmp_path).now.columns == ("age",)


def test_two_dashboards_keep_the_views_of_each_other(tmp_path):
    first = UiState(tmp_path)
    first.set(views={"old": View(sort="age")}, columns=("age",))
    first.save()
    second = UiState(tmp_path)
    first.set(views=first.now.views | {"mine": View(sort="cost")})
    first.save()
    second.set(views={"yours": View(sort="tok")}, columns=("cost",), shares={"wide": 30})
    second.save()
    first.set(view=View(sort="new"))
    first.save()
    now = UiState(tmp_path).now
    assert now.views == {"mine": View(sort="cost"), "yours": View(sort="tok")}
    assert (now.columns, now.shares, now.view.sort) == (("cost",), {"wide": 30}, "new")


def test_what_is_usual_again_is_so_the_next_time_too(tmp_path):
    memory = UiState(tmp_path)
    memory.set(view=View(sort="cost"), columns=("age",))
    memory.save()
    memory.set(view=View(), columns=USUAL.names)
    memory.save()
    assert UiState(tmp_path).now == Remembered()


def test_names_and_sizes_that_are_read_can_be_shown(tmp_path):
    path = tmp_path / FILE
    path.write_text('[views."a\\u001b[31m\\nb"]\nsort = "age"\n[shares]\nwide = 1\ntall = 900\n')
    memory = UiState(tmp_path)
    assert memory.now.views == {"a b": View(sort="age")}
    assert memory.now.shares == {"wide": 15, "tall": 85}
    memory.set(views={})
    memory.save()
    assert UiState(tmp_path).now.views == {}


def test_what_could_not_be_written_is_written_with_the_next_choice(tmp_path, monkeypatch):
    memory = UiState(tmp_path)
    memory.save()

    def full(*_):
        raise OSError(28, "No space left on device")

    memory.set(columns=("age",), views={"mine": View(sort="cost")})
    with monkeypatch.context() as patch:
        patch.setattr("agentdash.tui.state.ui_state.write_atomic", full)
        with pytest.raises(OSError, match="No space"):
            memory.save()
    memory.set(shares={"wide": 30})
    memory.save()
    now = UiState(tmp_path).now
    assert (now.columns, now.views, now.shares) == (("age",), {"mine": View(sort="cost")}, {"wide": 30})
