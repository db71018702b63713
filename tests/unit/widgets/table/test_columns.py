from functools import partial

import factories
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from agentdash.sessions.model import Left, Status, StoppedBy, Stopping, Usage, left_text
from agentdash.sessions.text import units
from agentdash.sessions.text.sanitize import cell_width
from agentdash.widgets.drawing.glyphs import ASCII, UNICODE
from agentdash.widgets.table.columns import (
    COLUMNS,
    TOGETHER_MS,
    Choice,
    Moment,
    cells,
    columns,
    headings,
    note,
    second_line,
    steady_until,
)
from agentdash.widgets.table.row_model import RowModel
from agentdash.widgets.table.status_line import Tally, counts

NOW = 1_790_000_000_000


session = partial(
    factories.session, title="fix the login test", turn=2, created_at=NOW - 90_000, updated_at=NOW - 9_000,
    last_event_at=NOW - 4_000, usage=Usage.of(18_000, 0, 200), cost_usd=0.31,
)  # fmt: skip


def line(one, width=120, signs=UNICODE):
    return " ".join(text for text, _ in cells(one, Moment(NOW, signs), width))


def test_a_row_tells_state_age_turn_tokens_cost_agent_place_and_title():
    assert line(session(), 96).split() == [
        "●", "running", "4s", "2", "18.2k", "$0.31", "codex", "api", "fix", "the", "login", "test",
    ]  # fmt: skip


def test_unknown_is_a_question_mark_and_never_zero():
    row = line(session(usage=Usage(), cost_usd=None))
    assert row.split()[4:6] == ["?", "?"]


def test_every_state_has_a_mark_of_its_own_and_an_ascii_twin():
    for signs in (UNICODE, ASCII):
        ended = [signs.states[s] for s in (Status.DONE, Status.FAILED, Status.STOPPED, Status.LOST)]
        told = [*ended, signs.states[Status.RUNNING], signs.states[Status.WAITING], signs.states[Status.QUEUED]]
        assert len(set(told)) == len(told)
    assert all(mark.isascii() for mark in ASCII.states.values())


def test_a_new_outcome_is_told_in_words_until_somebody_looked():
    assert "done new" in line(session(status=Status.DONE))
    assert "new" not in line(session(status=Status.DONE, seen_at=NOW))


def test_a_question_is_marked_and_shown_until_the_user_opens_it():
    asking = session(status=Status.DONE, asks="Which one do you prefer?")
    assert line(asking).startswith("? asks")
    text, colour = second_line(asking, NOW, 100)
    assert (text.strip(), colour) == ("↳ Which one do you prefer?", "attention")
    answered = structs.replace(asking, seen_at=NOW)
    assert line(answered).startswith("✓ done ")
    assert second_line(answered, NOW, 100) is None


def unread(width=120, **own):
    """The cell of the unread steps, and what its colour means."""
    place = [column.heading for column in columns(width)].index("new")
    return cells(session(**own), Moment(NOW), width)[place]


def test_steps_that_nobody_has_seen_are_counted_left_of_the_text():
    assert unread(steps=12) == ("+12", "dim")
    assert unread(steps=12, seen_at=NOW, seen_steps=5) == (" +7", "dim")
    assert unread(steps=12, status=Status.DONE) == ("+12", "good")
    assert unread(steps=12, status=Status.DONE, seen_at=NOW, seen_steps=8) == (" +4", "dim")
    assert unread(steps=12, status=Status.FAILED) == ("+12", "dim")


def test_no_number_stands_where_all_was_seen_or_nobody_knows():
    assert unread(steps=0) == ("   ", "dim")
    assert unread(steps=12, seen_at=NOW, seen_steps=12) == ("   ", "dim")
    assert unread(steps=12, seen_at=NOW) == ("   ", "dim")
    assert unread(steps=9, seen_at=NOW, seen_steps=12) == ("   ", "dim")


def test_beyond_99_unread_steps_a_row_stays_as_it_is():
    assert unread(steps=99)[0] == "+99"
    assert unread(steps=100)[0] == "99+"
    assert cells(session(steps=100), Moment(NOW), 120) == cells(session(steps=100_000), Moment(NOW), 120)


def test_age_counts_from_the_last_sign_of_life():
    assert " 4s " in line(session())
    assert " 2m " in line(session(status=Status.DONE, ended_at=NOW - 121_000))
    assert " 1m " in line(session(last_event_at=None))
    assert " 0s " in line(session(last_event_at=NOW + 5_000))


@pytest.mark.parametrize("title", ["fix the login test" * 9, "修复登录测试" * 9, "👩‍💻 é" * 30, "x"])
@pytest.mark.parametrize("said", [None, "All done. " * 20, "修复" * 40])
def test_a_row_is_exactly_as_wide_as_the_table(title, said):
    one = session(title=title, reason=title, cwd="/x/" + "very-long-folder-name" * 3, last_message=said)
    for width in range(10, 260):
        assert cell_width(line(one, width)) == width
        assert cell_width(second_line(one, NOW, width)[0]) == width
        assert cell_width(headings(columns(width), width)) <= width


def test_columns_go_by_rank_until_the_title_has_room():
    named = lambda width: [column.heading for column in columns(width)]  # noqa: E731
    everything = ["state", "age", "new", "time", "turn", "tok", "cost", "id", "agent", "model", "where"]
    assert named(160) == everything
    assert named(115) == [name for name in everything if name not in ("model",)]
    assert named(96) == ["state", "age", "new", "turn", "tok", "cost", "agent", "where"]
    assert named(82) == ["state", "age", "turn", "tok", "cost", "agent", "where"]
    assert named(70) == ["state", "age", "turn", "tok", "agent", "where"]
    assert named(40) == ["", "age", "agent"]
    assert named(28) == ["", "age"]
    assert named(20) == [""]


def test_the_second_line_stands_only_where_there_is_a_reason():
    assert second_line(session(), NOW, 100) is None
    assert second_line(session(reason="exit 3"), NOW, 100)[0].strip() == "↳ exit 3"
    left = session(status=Status.DONE, left=2, left_note="python3 :8000, node")
    assert "2 processes left running: python3 :8000, node" in second_line(left, NOW, 100)[0]
    assert "2 processes left running" in second_line(session(status=Status.DONE, left=2), NOW, 100)[0]


def test_a_turn_that_gets_nowhere_says_so_on_its_second_line():
    stuck = session(stuck="`make` failed 4 times in a row", stuck_at=NOW, reason="Reconnecting... 1/2")
    assert note(stuck, NOW) == "`make` failed 4 times in a row"
    text, colour = second_line(stuck, NOW, 120)
    assert ("`make` failed 4 times in a row" in text, colour) == (True, "attention")
    hostile = structs.replace(stuck, stuck="a\x1b[2J\nb")
    assert note(hostile, NOW) == "a b"
    assert note(structs.replace(stuck, status=Status.DONE, reason=None), NOW) == ""


def test_t2_a_running_session_that_says_nothing_for_long_is_called_silent():
    quiet = session(last_event_at=NOW - 4 * 60_000)
    assert second_line(quiet, NOW, 100)[0].strip() == "↳ no output for 4m"
    assert second_line(session(status=Status.DONE, ended_at=NOW - 240_000), NOW, 100) is None
    rows = RowModel()
    assert rows.update([session()], (), NOW)
    assert rows.height == 1
    assert not rows.fell_silent(NOW + 60_000)
    assert rows.fell_silent(NOW + 120_000)
    assert rows.height == 2
    assert rows.update([session(last_event_at=NOW + 120_000)], (), NOW + 121_000)
    assert rows.height == 1


def test_t1_the_last_message_stands_behind_the_title_where_there_is_room():
    one = session(last_message="All tests pass\nnow.")
    assert line(one, 160).rstrip().endswith("fix the login test · All tests pass now.")
    assert line(one, 160, ASCII).rstrip().endswith("fix the login test - All tests pass now.")
    assert line(one, 80).rstrip().endswith("fix the login test")


def test_what_waits_in_the_queue_says_so_behind_its_title_and_takes_one_line():
    waits = session(status=Status.QUEUED, reason="queued: 8 of 8 slots in use", last_message="All tests pass.")
    assert cells(waits, Moment(NOW), 160)[-1][0].rstrip() == "· queued: 8 of 8 slots in use"
    assert cells(waits, Moment(NOW), 160)[-1][1] == "dim"
    assert second_line(waits, NOW, 160) is None
    rows = RowModel()
    rows.update([structs.replace(waits, id=str(number)) for number in range(8)], (), NOW)
    assert rows.height == 8
    stopping = structs.replace(waits, stopping=Stopping(rung="SIGKILL"))
    assert "stopping" in second_line(stopping, NOW, 160)[0]


def test_what_an_agent_wrote_cannot_reach_the_terminal_as_control_sequence():
    row = line(session(title="a\x1b[2Jb\nc\x07", cwd="/tmp/\x1b[31mred", agent="co\x1bdex"))
    assert "\x1b" not in row
    assert "\n" not in row


def test_words():
    assert [units.age(ms) for ms in (-5, 59_999, 60_000, 3_600_000, 172_800_000)] == ["0s", "55s", "1m", "1h", "2d"]
    assert [units.duration(ms) for ms in (400, 59_900, 59_960, 192_000, 7_500_000)] == [
        "0.4s", "59.9s", "1m00s", "3m12s", "2h05m",
    ]  # fmt: skip
    assert [units.tokens(n) for n in (None, 0, 999, 18_240, 99_949, 99_950, 999_499, 999_500, 3_100_000)] == [
        "?", "0", "999", "18.2k", "99.9k", "100k", "999k", "1.0M", "3.1M",
    ]  # fmt: skip
    assert [units.money(d) for d in (None, 0, 0.31, 0.042, 0.0042, 12.5)] == [
        "?", "$0.00", "$0.31", "$0.04", "$0.0042", "$12.50",
    ]  # fmt: skip


def test_the_tally_follows_what_changes():
    tally = Tally()
    tally.update([session(id="a"), session(id="b", status=Status.WAITING)], [])
    tally.update([session(id="a", status=Status.DONE), session(id="c", status=Status.LOST)], ["b"])
    told = counts(tally, "~/x", 120).plain
    assert "✗ 1 failed new" in told
    assert "✓ 1 done new" in told
    assert "waiting" not in told
    assert "running" not in told
    assert told.endswith("36.4k tok  $0.62")
    assert len(told) == 120


def test_sums_of_the_first_line_are_gone_with_the_sessions():
    tally = Tally()
    tally.update([session(id="a", cost_usd=0.1), session(id="b", cost_usd=0.2)], [])
    tally.update([], ["a", "b"])
    assert "$" not in counts(tally, "~/x", 120).plain


def test_sums_of_the_first_line_say_when_they_are_not_the_whole():
    tally = Tally()
    unknown = session(id="b", usage=Usage(), cost_usd=None, started_at=1, steps=1)
    tally.update([session(id="a"), unknown], [])
    assert counts(tally, "~/x", 120).plain.endswith("18.2k+ tok  $0.31+")
    tally.update([], ["b"])
    assert counts(tally, "~/x", 120).plain.endswith("18.2k tok  $0.31")


def test_what_is_left_is_named_once_for_each_kind():
    def left(*commands):
        return [Left(pid=1, command=c, reason="", ports=(8000,) if "http" in c else ()) for c in commands]

    assert left_text([]) is None
    assert left_text(left("/usr/bin/python3 -m http.server", "node x")) == "python3 :8000, node"
    assert left_text(left("sleep 1", "sleep 2", "a", "b", "c", "[kworker: 1]")) == "sleep x2, a, b +2"


def test_what_somebody_stopped_here_needs_no_second_line_but_says_what_was_ended():
    reason = "stopped by you; 7 processes ended (SIGINT 7), 0 left"
    stopped = session(
        status=Status.STOPPED, stopped_by=StoppedBy.YOU, reason=reason, title="short", last_message="hello"
    )
    assert second_line(stopped, NOW, 160) is None
    assert reason[:30] in line(stopped, 160)
    told = "stopped by its limit: ran longer than 10m; 1 process ended"
    limit = session(status=Status.STOPPED, stopped_by=StoppedBy.LIMIT, reason=told)
    assert "ran longer than 10m" in second_line(limit, NOW, 160)[0]
    misled = session(status=Status.STOPPED, stopped_by=StoppedBy.SYSTEM, reason="stopped by your system")
    assert "stopped by your system" in second_line(misled, NOW, 160)[0]


@pytest.mark.parametrize(
    ("stopping", "told"),
    [
        (Stopping(rung="SIGINT", next="SIGTERM", due_at=NOW + 2001), "stopping: SIGINT sent, SIGTERM in 3s"),
        (Stopping(rung="SIGTERM", next="SIGKILL", due_at=NOW - 5000), "stopping: SIGTERM sent, SIGKILL in 0s"),
        (Stopping(rung="SIGKILL"), "stopping: SIGKILL sent"),
        (Stopping(rung="sweep, SIGTERM", next="SIGKILL", due_at=NOW + 900), "stopping: sweep, SIGTERM, SIGKILL in 1s"),
    ],
)
def test_a_stop_is_counted_down_in_its_row(stopping, told):
    text, role = second_line(session(stopping=stopping, reason="Reconnecting"), NOW, 120)
    assert told in text
    assert role == "attention"


def test_z8_the_source_says_who_started_it():
    source = lambda text: COLUMNS["source"].text(session(source=text), Moment(NOW))  # noqa: E731
    assert source("user") == "you"
    assert source("orchestrator:1a2b3c4d") == "orch:1a2b"
    assert source("something-else") == "somethin"


def test_columns_that_were_chosen_stand_in_their_order_and_width():
    choice = Choice(("cost", "age", "folder"), (("cost", 9),))
    assert [(c.heading, c.width) for c in columns(120, choice)] == [
        ("state", 12),
        ("cost", 9),
        ("age", 4),
        ("folder", 20),
    ]
    assert headings(columns(120, choice), 120, "cost", "▾").split()[:2] == ["state", "cost▾"]


def test_z9_runtime_is_told_in_seconds_minutes_and_tenths_of_hours():
    told = [units.runtime(1000 * seconds) for seconds in (0, 45, 59, 60, 3_599, 3_600, 5_400, 360_000)]
    assert told == ["0s", "45s", "55s", "1m", "59m", "1.0h", "1.5h", "100.0h"]


MS = st.integers(0, 3 * 86_400_000)


@given(silent=MS, ran=MS, ended=st.booleans(), later=st.floats(0, 1, exclude_max=True))
def test_a_row_reads_the_same_until_the_time_at_which_it_is_drawn_again(silent, ran, ended, later):
    began, sign = NOW - silent - ran, NOW - silent
    one = session(created_at=began, started_at=began, last_event_at=sign, ended_at=sign if ended else None)
    until = steady_until(one, NOW)
    assert until > NOW
    at = NOW + int(later * (until - NOW))
    then, now = (cells(one, Moment(time), 300, Choice(("age", "time", "created"))) for time in (at, NOW))
    if silent + ran < TOGETHER_MS:
        assert then == now
        assert second_line(one, at, 200) == second_line(one, NOW, 200)
    else:
        assert at - NOW < 2 * 60_000, "a minute late at worst"


def test_old_rows_change_together_on_the_minute():
    minutes = {steady_until(session(created_at=NOW - age, last_event_at=NOW - age), NOW) for age in OLD}
    assert len(minutes) <= 2
    assert all(at % 60_000 == 0 for at in minutes)


OLD = range(TOGETHER_MS, TOGETHER_MS + 3_600_000, 17_113)


def test_a_countdown_is_drawn_each_time():
    one = session(stopping=Stopping(rung="SIGINT", next="SIGTERM", due_at=NOW + 2_000))
    assert steady_until(one, NOW) == NOW
