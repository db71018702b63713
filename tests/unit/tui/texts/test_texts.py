"""What the screens say about a session."""

import re
from functools import partial

import factories
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.model.session import Status, TurnMode, Usage
from agentdash.sessions.service.lifecycle.process_list import ProcessInfo
from agentdash.sessions.text.sanitize import cell_width
from agentdash.tui.texts.headline_texts import headline, headline_facts
from agentdash.tui.texts.screen_texts import listing, process_lines, stop_effect, trash

NOW = 1_790_000_000_000


@pytest.fixture(autouse=True)
def home(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ann")


session = partial(
    factories.session, agent="demo", model="demo-large", title="fix the flaky login test and write down why", turn=2
)


def told(width, *, following=True, **own):
    return headline(session(**own), width, following=following).plain


def parts(width, **own):
    return re.split(" {2,}| · ", told(width, **own))


TITLE = "fix the flaky login test and write down why"


def test_the_headline_says_title_state_agent_model_folder_and_whether_steps_are_followed():
    assert parts(120) == [TITLE, "● running", "demo demo-large", "~/code/api", "turn 2", "s1", "following"]
    assert len(told(120)) == 120


def test_the_title_has_the_room_first_then_the_state_then_the_facts():
    assert parts(100) == [TITLE, "● running", "demo demo-large", "~/code/api", "following"]
    assert parts(88) == [TITLE, "● running", "demo demo-large", "following"]
    assert parts(77) == [TITLE, "● running", "demo", "following"]
    assert parts(68) == [TITLE, "● running", "following"]
    assert parts(34) == ["fix the fl…", "● running", "following"]


def test_no_fact_is_torn():
    facts = {"·", "demo", "demo-large", "~/code/api", "turn", "2", "s1", "following"}
    for width in range(20, 200):
        words = told(width).partition("running")[2].split()
        assert set(words) <= facts, width


def below(width, **own):
    return headline_facts(session(**own), width).plain


def test_the_facts_have_a_line_of_their_own_if_there_is_room():
    known = {"usage": Usage.of(15_200, 3_000, 4_000), "cost_usd": 0.31}
    assert below(90, **known) == "● running · demo demo-large · ~/code/api · turn 2 · 19.2k tokens · $0.31 · s1"
    assert below(60, **known) == "● running · demo demo-large · ~/code/api · turn 2 · $0.31"
    assert below(20, **known) == "● running · demo"
    assert headline(session(**known), 80, following=True, facts=False).plain.split("  ")[0] == TITLE


def test_the_facts_have_the_permissions_of_the_newest_turn_and_their_danger():
    held, free = (TurnMode(permissions=word, dangerous=word == "no-sandbox") for word in ("read-only", "no-sandbox"))
    shown = headline_facts(session(), 90, held)
    assert shown.plain == "● running · demo demo-large · ~/code/api · read-only · turn 2 · s1"
    shown = headline_facts(session(), 90, free)
    [alarming] = [shown.plain[span.start : span.end] for span in shown.spans if span.style == "$text-error"]
    assert alarming == " · no-sandbox"
    text = headline(session(), 130, following=True, mode=free).plain
    assert "~/code/api · no-sandbox · turn 2" in text
    assert headline_facts(session(), 90, TurnMode()).plain == headline_facts(session(), 90).plain


def test_a_mode_that_codex_uses_from_the_next_turn_on_is_not_that_of_the_running_turn():
    free = TurnMode(permissions="danger-full-access", dangerous=True)
    shown = headline_facts(session(agent="codex", mode="read-only"), 90, free)
    [alarming] = [shown.plain[span.start : span.end] for span in shown.spans if span.style == "$text-error"]
    assert alarming == " · danger-full-access"
    ended = headline_facts(session(agent="codex", mode="read-only", status=Status.DONE), 90, free).plain
    assert "read-only" in ended
    assert "plan" in headline_facts(session(agent="claude", mode="plan"), 90, free).plain


def test_the_facts_of_a_session_whose_agent_this_version_does_not_have_are_shown():
    shown = headline_facts(session(agent="other", mode="plan"), 90, TurnMode(permissions="ask")).plain
    assert "other demo-large" in shown


def test_a_state_has_its_colour():
    shown = headline_facts(session(status=Status.FAILED), 80)
    state = shown.spans[0]
    assert (state.style, shown.plain[state.start : state.end]) == ("$text-error", "✗ failed")


def test_what_is_stuck_is_called_so_as_in_the_table():
    assert "   ! stuck · " in told(120, stuck="`make` failed 4 times in a row", stuck_at=NOW)
    assert "   ✓ done · " in told(120, status=Status.DONE, stuck="`make` failed 4 times in a row")


@given(st.text(), st.sampled_from(Status), st.integers(9, 200), st.booleans())
def test_the_state_always_stands(title, status, width, following):
    line = told(width, following=following, title=title, status=status)
    assert str(status) in line
    assert cell_width(line) <= width


def test_the_folders_of_several_sessions_stand_below_each_other():
    sessions = [session(title=title) for title in ("x", "修复登录测试", "a long title " * 9)]
    for width in (60, 80, 200):
        lines = [line.fitted(width) for line in listing(sessions)]
        assert len({cell_width(line.partition("~/code")[0]) for line in lines}) == 1
        assert max(map(cell_width, lines)) <= width


def test_a_title_in_a_list_is_cut_only_without_room():
    long = "Find out why the build of the second branch fails on Tuesdays"
    (line,) = listing([session(title=long)])
    assert long in line.fitted(118)
    assert "~/code/api" in line.fitted(60)
    assert "…" in line.fitted(60)


def listed(one):
    return listing([one])[0].fitted(118)


def test_an_ended_session_in_a_list_says_what_is_left_of_it():
    left = listed(session(status=Status.DONE, left=2))
    assert "  2 processes left  ~/code/api" in left
    assert "1 process left" in listed(session(status=Status.DONE, left=1))
    assert "left" not in listed(session(left=2))


def test_a_session_whose_process_waits_says_so_where_it_is_shown():
    waits = session(status=Status.DONE, warm_since=NOW)
    assert "warm: its process waits for prompts" in told(160, status=Status.DONE, warm_since=NOW)
    assert "warm" in parts(120, status=Status.DONE, warm_since=NOW)
    assert "warm" not in told(140, status=Status.DONE)
    assert "its process waits" in listed(waits)


def test_the_stop_of_a_waiting_process_says_that_the_turn_is_over():
    waits, works = session(status=Status.DONE, warm_since=NOW), session(status=Status.RUNNING)
    assert stop_effect([waits], "SIGINT now.") == (
        "Its turn is over: ends its process, which waits for prompts. The next prompt starts it again.\nSIGINT now."
    )
    assert stop_effect([waits, waits], "SIGINT now.").startswith("Their turns are over: ends their processes")
    assert stop_effect([waits, works], "SIGINT now.") == "SIGINT now."


def test_a_waiting_process_is_not_named_a_leftover():
    process = ProcessInfo(pid=4, parent=1, command="codex app-server", age_s=None)
    heads = [process_lines(session(status=Status.DONE, warm_since=since), [process])[0] for since in (None, NOW)]
    assert heads == ["demo (turn 2) left these processes running:", "demo (turn 2) waits for prompts:"]


def test_the_deletion_of_a_waiting_process_says_that_it_ends():
    waits = session(status=Status.DONE, warm_since=NOW)
    assert trash([waits]) == "Its process, which waits for prompts, is ended. Moved to the trash."
    assert trash([waits, session(status=Status.RUNNING)]) == (
        "Running sessions are stopped first. Processes that wait for prompts are ended. Moved to the trash."
    )
