"""What was said, kept to be read again."""

from datetime import UTC, datetime, timedelta

from agentdash.tui.state.message_log import MOST, TAIL_BYTES, TAIL_LINES, MessageLog, crash_lines, record


def test_the_last_entry_comes_first():
    times = iter((1, 2))
    log = MessageLog(lambda: next(times))
    log.add("one")
    log.add("two \x1b[31mred", "error")
    assert [(entry.at, entry.severity) for entry in log.newest_first()] == [(2, "error"), (1, "information")]
    assert "\x1b" not in log.newest_first()[0].text


def test_only_so_many_are_kept():
    log = MessageLog(lambda: 0)
    for number in range(MOST + 7):
        log.add(str(number))
    assert len(log.newest_first()) == MOST
    assert log.newest_first()[-1].text == "7"


def test_the_end_of_the_log_file(tmp_path):
    assert crash_lines(tmp_path) == []
    (tmp_path / "dashboard.log").write_text("one\ntwo \x1b[31m\n")
    assert crash_lines(tmp_path)[0] == "one"
    assert "\x1b" not in crash_lines(tmp_path)[1]


def test_of_a_long_log_file_only_the_end_is_read(tmp_path):
    (tmp_path / "dashboard.log").write_text("".join(f"line {number}\n" for number in range(100_000)))
    lines = crash_lines(tmp_path)
    assert lines[-1] == "line 99999"
    assert len(lines) == TAIL_LINES
    (tmp_path / "dashboard.log").write_text("ä" * TAIL_BYTES + "\nlast")
    assert crash_lines(tmp_path) == ["last"]


def test_an_old_crash_is_not_told_again(tmp_path):
    path = tmp_path / "dashboard.log"
    began = datetime.now(UTC).replace(microsecond=0)
    path.write_text(f"{(began - timedelta(days=1)).isoformat()}\nTraceback of yesterday\n\n")
    assert crash_lines(tmp_path, began) == []
    record(tmp_path, "Traceback of today\n  line 1")
    assert crash_lines(tmp_path, began)[1:] == ["Traceback of today", "  line 1"]
    assert crash_lines(tmp_path, began + timedelta(hours=1)) == []
