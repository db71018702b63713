"""What the screens say about a session."""

import re
from functools import partial

import factories
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.model import Status
from agentdash.sessions.text.sanitize import cell_width
from agentdash.tui.texts import headline, listed
from agentdash.widgets.drawing.glyphs import UNICODE

NOW = 1_790_000_000_000


@pytest.fixture(autouse=True)
def home(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ann")


session = partial(
    factories.session, agent="demo", model="demo-large", title="fix the flaky login test and write down why", turn=2
)


def told(width, *, following=True, **own):
    return headline(session(**own), width, following=following).plain


def parts(width):
    return re.split(" {2,}", told(width))


def test_the_headline_says_title_state_agent_model_folder_and_whether_steps_are_followed():
    whole = ["fix the flaky login test and write down why", "running", "demo demo-large", "~/code/api", "following"]
    assert parts(120) == whole
    assert len(told(120)) == 120


def test_model_and_agent_go_before_the_folder_and_the_title_is_cut_last():
    assert parts(80)[1:] == ["running", "demo", "~/code/api", "following"]
    assert parts(68)[1:] == ["running", "~/code/api", "following"]
    assert parts(30) == ["fix the …", "running", "following"]


def test_no_fact_is_torn():
    for width in range(20, 200):
        words = told(width).partition("running")[2].split()
        assert set(words) <= {"demo", "demo-large", "~/code/api", "following"}, width


def test_what_is_stuck_is_called_so_as_in_the_table():
    assert "   stuck   " in told(120, stuck="`make` failed 4 times in a row", stuck_at=NOW)
    assert "   done   " in told(120, status=Status.DONE, stuck="`make` failed 4 times in a row")


@given(st.text(), st.sampled_from(Status), st.integers(9, 200), st.booleans())
def test_the_state_always_stands(title, status, width, following):
    line = told(width, following=following, title=title, status=status)
    assert str(status) in line
    assert cell_width(line) <= width


def test_the_folders_of_several_sessions_stand_below_each_other():
    lines = [listed(session(title=title), UNICODE) for title in ("x", "修复登录测试", "a long title " * 9)]
    assert len({cell_width(line.partition("~/code")[0]) for line in lines}) == 1


def test_an_ended_session_in_a_list_says_what_is_left_of_it():
    left = listed(session(status=Status.DONE, left=2), UNICODE)
    assert "  2 processes left  ~/code/api" in left
    assert left.index("~/code") == listed(session(), UNICODE).index("~/code")
    assert "1 process left" in listed(session(status=Status.DONE, left=1), UNICODE)
    assert "left" not in listed(session(left=2), UNICODE)
