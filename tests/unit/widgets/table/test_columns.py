import re
from functools import partial

import factories
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from agentdash.sessions.model.session import (
    Activity,
    Led,
    Left,
    Plan,
    Status,
    StepKind,
    StoppedBy,
    Stopping,
    Usage,
    left_text,
)
from agentdash.sessions.rules.attention import attention
from agentdash.sessions.text import units
from agentdash.sessions.text.sanitize import cell_width, one_line
from agentdash.widgets.drawing.glyphs import MARKED, PINNED, STATES, twins
from agentdash.widgets.table.columns import COLUMNS, OTHERS, STATE, Choice, Moment, columns, empty_columns, headings
from agentdash.widgets.table.header import Tally
from agentdash.widgets.table.row_cells import Form, cut_title, row_cells
from agentdash.widgets.table.row_detail import TOGETHER_MS, detail, in_full, remark, steady_until
from agentdash.widgets.table.status_line import counts

NOW = 1_790_000_000_000


session = partial(
    factories.session, title="fix the login test", turn=2, created_at=NOW - 90_000, updated_at=NOW - 9_000,
    last_event_at=NOW - 4_000, usage=Usage.of(18_000, 0, 200), cost_usd=0.31,
)  # fmt: skip


EVERY = Choice(tuple(column.heading for column in OTHERS))


def painted(one, width=120, lines=1, **form):
    return row_cells(one, Moment(NOW), Form(width, **form), lines=lines)


def line(one, width=120, **form):
    return " ".join(text for text, _ in painted(one, width, **form)[0])


def below(one, width=120):
    """The second line."""
    return " ".join(text for text, _ in painted(one, width, lines=2)[1])


def test_a_row_shows_mark_age_title_folder_and_agent():
    assert line(session(), 96).split() == ["●", "1m", "fix", "the", "login", "test", "api", "·", "codex"]
    assert line(session(), 96, lines=2) == line(session(), 96)
    assert below(session(), 96).split() == []
    assert {role for text, role in painted(session(), 96)[0] if "codex" in text} == {"dim"}


def test_a_narrow_table_gives_its_room_to_the_title():
    one = session(title="port the tests to the new fixture and more", agent="codex-demo", cwd="/home/ann/backend-api")
    assert line(one, 50).rstrip().endswith(" …d-api · cx")
    assert "port the tests to the new fix" in line(one, 50)
    assert line(one, 80).rstrip().endswith(" …ckend-api · codex-…")
    assert "cx" not in line(one, 38) and "port the tests to the new fix" in line(one, 38)


def test_a_reason_to_go_to_the_session_keeps_its_room_on_one_line():
    asks = session(status=Status.DONE, title="clean up the schema of the store " * 3, asks="Shall I delete the table?")
    assert "Shall I delete the table?" in line(asks, 84)
    assert "clean up the schema" in line(asks, 84)


def test_a_waiting_session_shows_for_how_long():
    waits = session(status=Status.WAITING, asking=1, waits_since=NOW - 35_000, reason="asks to run: touch asked.txt")
    assert " 35s " in line(waits)
    assert detail(waits, NOW) == ("waits for you 35s · asks to run: touch asked.txt", "attention")
    led = structs.replace(waits, led=Led.AT_WORK)
    assert detail(led, NOW)[0].startswith("waits for its lead 35s")


def test_a_process_that_waits_is_named_beside_a_title_that_is_whole():
    one = session(status=Status.DONE, warm_since=NOW)
    assert "fix the login test its process waits " in line(one)
    assert "its process waits" not in line(one, 36) and "fix the login test" in line(one, 36)


def test_columns_on_demand_show_turn_tokens_and_cost():
    assert line(session(), 90, choice=EVERY).split()[:5] == ["●", "1m", "2", "18.2k", "$0.31"]


def test_unknown_is_a_question_mark_and_never_zero():
    row = line(session(usage=Usage(), cost_usd=None), 100, choice=Choice(("tok", "cost")))
    assert row.split()[1:3] == ["?", "?"]


def test_a_column_that_shows_nothing_for_any_row_takes_no_cells():
    choice = Choice(("age", "new", "cost", "model"))
    unknown = [session(cost_usd=None), session(cost_usd=None)]
    assert empty_columns(choice, unknown, Moment(NOW)) == {"new", "cost", "model"}
    assert empty_columns(choice, [*unknown, session(steps=3)], Moment(NOW)) == {"model"}
    assert [column.heading for column in columns(100, choice, empty=frozenset({"new", "model"}))] == ["", "age", "cost"]


def test_the_second_line_shows_what_a_running_agent_does_now():
    doing = session(activity=Activity(StepKind.COMMAND, "pytest -q tests/orders", NOW - 12_000, True))
    assert below(doing).split() == ["$", "pytest", "-q", "tests/orders", "10s"]
    planned = structs.replace(doing, plan=Plan(1, 5, "Freeze the clock"))
    assert "2/5 Freeze the clock · $ pytest -q tests/orders  10s" in below(planned)
    thinks = session(activity=Activity(StepKind.REASONING, "Which clock?", NOW - 12_000, False))
    assert below(thinks).strip().startswith("∴ Which clock?")
    edits = Activity(StepKind.FILE_CHANGE, "/home/ann/code/api/src/clock.py", NOW, True)
    assert detail(session(activity=edits), NOW) == ("± src/clock.py", "dim")
    assert "5/5" in below(session(plan=Plan(5, 5, "")))


@pytest.mark.parametrize("lines", [1, 2])
def test_the_duration_of_a_long_command_stays_on_the_row(lines):
    command = "cd /home/ann/code/api && timeout 600 pytest -q tests/orders tests/users  3s"
    doing = session(title="fix", activity=Activity(StepKind.COMMAND, one_line(command) * 3, NOW - 12_000, True))
    row = " ".join(text for part in painted(doing, 80, lines=lines) for text, _ in part)
    assert re.search(r"\$ cd /home/ann.*…  10s(\s|$)", row)


def test_the_second_line_of_an_ended_session_shows_its_answer_or_its_reason():
    answered = session(status=Status.DONE, last_message="## Done\n\nAll 19 tests pass. The index is concurrent.")
    assert below(answered).strip().startswith("Done All 19 tests pass.")
    marked_up = session(status=Status.DONE, last_message="The **clock** is in `src/clock.py`; 2**3 stays, so does *.")
    assert detail(marked_up, NOW)[0] == "The clock is in src/clock.py; 2**3 stays, so does *."
    failed = session(status=Status.FAILED, reason="401 invalid api key", last_message="I begin")
    assert detail(failed, NOW) == ("401 invalid api key", "failure")
    assert "401 invalid api key" in below(failed)


def test_on_one_line_the_detail_is_behind_the_title_if_there_is_room():
    failed = session(status=Status.FAILED, reason="401 invalid api key")
    assert "fix the login test · 401 invalid api key" in line(failed, 100)
    assert "401" not in line(failed, 50)


@pytest.mark.parametrize("lines", [1, 2])
def test_a_line_of_its_own_names_what_failed_and_what_is_asked(lines):
    failed = session(status=Status.FAILED, reason="401 invalid api key", last_message="I begin.")
    assert in_full(failed, NOW, lines=lines) == "401 invalid api key · I begin."
    asks = session(status=Status.DONE, asks="Shall I delete it?", last_message="Both are old.\n\nShall I delete it?")
    assert in_full(asks, NOW, lines=lines) == "Shall I delete it?"
    answered = session(status=Status.DONE, last_message="All 19 tests pass.")
    assert in_full(answered, NOW, lines=lines) == "All 19 tests pass."
    assert in_full(session(), NOW, lines=lines) == ""


def test_a_line_of_its_own_names_a_denial_unless_the_row_has_a_line_for_it():
    denied = session(status=Status.DONE, reason="1 permission denied: Write", last_message="I changed nothing.")
    assert in_full(denied, NOW) == "1 permission denied: Write · I changed nothing."
    assert in_full(denied, NOW, lines=2) == "I changed nothing."
    assert in_full(structs.replace(denied, last_message=None), NOW, lines=2) == "1 permission denied: Write"


def test_copies_show_their_number_if_the_title_is_cut():
    title = "Fix the flaky login test and add a regression test (9/12)"
    assert cut_title(title, 30) == "Fix the flaky login te… (9/12)"
    assert cut_title(title, 80) == title
    assert cell_width(cut_title(title, 9)) == 9


def test_every_state_has_a_mark_of_its_own_and_an_ascii_twin():
    for marks in (set(STATES.values()), set(map(twins, STATES.values()))):
        assert len(marks) == len(Status)
    assert all(twins(mark).isascii() for mark in STATES.values())


def test_an_outcome_is_bright_until_the_user_opened_it_and_bold_only_if_it_needs_the_user():
    new, seen = session(status=Status.DONE), session(status=Status.DONE, seen_at=NOW)
    assert {role for _, role in painted(seen)[0]} == {"dim"}
    assert painted(new)[0][0][1] == "good"
    assert "strong" not in {role for _, role in painted(new)[0]}
    assert "strong" in {role for _, role in painted(session(status=Status.FAILED))[0]}


def test_marks_and_pins_are_in_the_gutter_and_move_no_title():
    plain, pinned = session(), session(pinned_at=1)
    starts = {line(plain).index("fix"), line(pinned).index("fix")}
    marked = row_cells(plain, Moment(NOW), Form(120), marked=True)[0]
    starts.add(" ".join(text for text, _ in marked).index("fix"))
    assert len(starts) == 1
    assert (line(pinned)[0], marked[0][0][0]) == (PINNED, MARKED)


def test_a_question_is_marked_and_shown_until_the_user_dealt_with_it():
    asking = session(status=Status.DONE, asks="Which one do you prefer?")
    assert line(asking).startswith(" ?")
    assert detail(asking, NOW) == ("Which one do you prefer?", "attention")
    assert line(structs.replace(asking, seen_at=NOW)).startswith(" ?")
    answered = structs.replace(asking, seen_at=NOW, handled_at=NOW)
    assert line(answered).startswith(" ✓")
    assert detail(answered, NOW) == ("", "dim")


def unread(width=120, **own):
    """The cell of the unread steps, and what its colour means."""
    place = [column.heading for column in columns(width)].index("new")
    return painted(session(**own), width)[0][place]


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
    assert painted(session(steps=100)) == painted(session(steps=100_000))


def test_age_counts_from_the_wait_the_start_of_the_turn_or_its_end():
    assert " 1m " in line(session(last_event_at=NOW - 4_000))
    assert " 2m " in line(session(status=Status.DONE, ended_at=NOW - 121_000))
    assert " 35s " in line(session(status=Status.WAITING, asking=1, waits_since=NOW - 35_000, last_event_at=NOW))
    assert " 3m " in line(session(stuck="a loop", stuck_at=NOW - 190_000))
    assert " 0s " in line(session(started_at=NOW + 5_000))


def test_a_row_is_exactly_as_wide_as_the_table():
    for title in ["fix the login test" * 9, "修复登录测试" * 9, "👩‍💻 é" * 30, "x"]:
        for said in [None, "All done. " * 20, "修复" * 40]:
            one = session(title=title, reason=title, cwd="/x/" + "very-long-folder-name" * 3, last_message=said)
            for width in range(10, 260):
                assert cell_width(line(one, width)) == width, (title, said)
                assert cell_width(line(one, width, lines=2)) == width, (title, said)
                assert cell_width(below(one, width)) == width, (title, said)
                assert cell_width(headings(columns(width), width)) <= width, (title, said)


def test_columns_go_by_rank_until_the_title_has_room():
    named = lambda width: [column.heading for column in columns(width, EVERY)]  # noqa: E731
    everything = ["", "age", "new", "time", "turn", "tok", "cost", "id", "agent", "model", "where"]
    assert named(160) == everything
    assert named(105) == [name for name in everything if name not in ("model",)]
    assert named(86) == ["", "age", "new", "turn", "tok", "cost", "agent", "where"]
    assert named(60) == ["", "age", "turn", "tok", "agent", "where"]
    assert named(36) == ["", "age", "agent"]
    assert named(28) == ["", "age"]
    assert named(20) == [""]


def test_a_remark_is_there_only_if_there_is_a_reason():
    assert remark(session(), NOW) == ""
    assert remark(session(reason="exit 3"), NOW) == "exit 3"
    left = session(status=Status.DONE, left=2, left_note="python3 :8000, node")
    assert "2 processes left running: python3 :8000, node" in below(left)
    assert "2 processes left running" in below(session(status=Status.DONE, left=2))


def test_a_turn_that_gets_nowhere_says_so_on_its_second_line():
    stuck = session(stuck="`make` failed 4 times in a row", stuck_at=NOW, reason="Reconnecting... 1/2")
    assert detail(stuck, NOW) == ("`make` failed 4 times in a row", "attention")
    hostile = structs.replace(stuck, stuck="a\x1b[2J\nb")
    assert detail(hostile, NOW)[0] == "a b"
    assert remark(structs.replace(stuck, status=Status.DONE, reason=None), NOW) == ""


def test_a_running_session_without_output_for_long_is_called_silent():
    quiet = session(last_event_at=NOW - 4 * 60_000)
    assert detail(quiet, NOW) == ("no output for 4m", "attention")
    assert remark(session(status=Status.DONE, ended_at=NOW - 240_000), NOW) == ""


def test_a_silence_has_one_text_which_rarely_changes():
    quiet = session(last_event_at=NOW - 60 * 60_000)
    shown = {remark(quiet, NOW + minute * 60_000) for minute in range(60)}
    needs = {attention(quiet, NOW + minute * 60_000).reason for minute in range(60)}
    assert shown == needs == {"no output for 1h"}


def test_what_waits_in_the_queue_says_so_and_does_not_stand_out():
    waits = session(status=Status.QUEUED, reason="queued: 8 of 8 slots in use", last_message="All tests pass.")
    assert detail(waits, NOW) == ("queued: 8 of 8 slots in use", "dim")
    stopping = structs.replace(waits, stopping=Stopping(rung="SIGKILL"))
    assert "stopping" in detail(stopping, NOW)[0]


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
    assert counts(tally, "~/x", 120).plain.endswith("≥18.2k tok  ≥$0.31")
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
    assert remark(stopped, NOW) == ""
    assert detail(stopped, NOW) == (reason, "dim")
    told = "stopped by its limit: ran longer than 10m; 1 process ended"
    limit = session(status=Status.STOPPED, stopped_by=StoppedBy.LIMIT, reason=told)
    assert "ran longer than 10m" in remark(limit, NOW)
    misled = session(status=Status.STOPPED, stopped_by=StoppedBy.SYSTEM, reason="stopped by your system")
    assert "stopped by your system" in remark(misled, NOW)


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
    assert detail(session(stopping=stopping, reason="Reconnecting"), NOW) == (told, "attention")


def test_the_source_says_who_started_it():
    source = lambda text: COLUMNS["source"].text(session(source=text), Moment(NOW))  # noqa: E731
    assert source("user") == "you"
    assert source("orchestrator:1a2b3c4d") == "orch:1a2b"
    assert source("something-else") == "somethin"


def test_columns_that_were_chosen_stand_in_their_order_and_width():
    choice = Choice(("cost", "age", "folder"), (("cost", 9),))
    assert [(c.heading, c.width) for c in columns(120, choice)] == [
        ("", 2),
        ("cost", 9),
        ("age", 4),
        ("folder", 20),
    ]
    assert headings(columns(120, choice), 120, "cost", "▾").split() == ["cost▾", "age", "what", "folder"]


def test_running_time_is_shown_in_seconds_minutes_and_tenths_of_hours():
    told = [units.runtime(1000 * seconds) for seconds in (0, 45, 59, 60, 3_599, 3_600, 5_400, 360_000)]
    assert told == ["0s", "45s", "55s", "1m", "59m", "1.0h", "1.5h", "100.0h"]


MS = st.integers(0, 3 * 86_400_000)


@given(silent=MS, ran=MS, ended=st.booleans(), later=st.floats(0, 1, exclude_max=True))
def test_a_row_reads_the_same_until_the_time_at_which_it_is_drawn_again(silent, ran, ended, later):
    began, sign = NOW - silent - ran, NOW - silent
    doing = Activity(StepKind.COMMAND, "make", sign, running=True)
    one = session(
        created_at=began, started_at=began, last_event_at=sign, ended_at=sign if ended else None, activity=doing
    )
    until = steady_until(one, NOW)
    assert until > NOW
    at = NOW + int(later * (until - NOW))
    form = Form(300, Choice(("age", "time", "created")))
    then, now = (row_cells(one, Moment(time), form, lines=2) for time in (at, NOW))
    if silent + ran < TOGETHER_MS:
        assert then == now
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


@pytest.mark.parametrize("lines", [1, 2])
@pytest.mark.parametrize("width", [50, 80, 160])
def test_the_marks_of_a_queue_are_behind_the_title_and_cost_nothing_without_one(lines, width):
    def first(**facts):
        return row_cells(session(**facts), Moment(NOW), Form(width), lines=lines)[0]

    def shown(cells):
        return " ".join(text for text, _ in cells)

    assert "fix the login test +2 " in shown(first(queued=2))
    assert " !1 +2 held " in shown(first(queued=2, held="turn 2 failed", unconfirmed=1))
    assert " ?1 !1 +2 " in shown(first(queued=2, unconfirmed=1, asking=1))
    assert len(first()) < len(first(queued=2))
    assert {cell_width(shown(first(**facts))) for facts in ({}, {"queued": 2}, {"unconfirmed": 1})} == {width}
    roles = {text.strip(): role for text, role in first(queued=2, held="turn 2 failed", unconfirmed=1)}
    assert (roles["!1"], roles["+2 held"]) == ("failure", "attention")
    assert {text.strip(): role for text, role in first(queued=2)}["+2"] == "dim"


@pytest.mark.parametrize(
    ("by", "word"), [(StoppedBy.LIMIT, "■ stop new"), (StoppedBy.SYSTEM, "■ stop new"), (StoppedBy.YOU, "■ stopped")]
)
def test_the_state_of_a_stop_that_the_user_does_not_know_of_is_new(by, word):
    stopped = session("s", status=Status.STOPPED, stopped_by=by, ended_at=NOW)
    state = STATE
    text = state.text(stopped, Moment(NOW))
    assert text == word
    assert cell_width(text) <= state.width
