"""The line of counts above the steps."""

from agentdash.sessions.model.session import StepKind
from agentdash.sessions.transcript.index.kind_codes import table
from agentdash.widgets.steps.filter_line import Found, Shown, filter_line
from agentdash.widgets.steps.filtered_steps import GROUPS, LOG_LINES

NUMBERS = {"1": 2, "2": 41, "4": 40, "7": 2, "8": 9}
COUNTS = {group.marked: NUMBERS.get(group.key, 0) for group in GROUPS} | {LOG_LINES: 200_000}


def line(width=80, **shown):
    return filter_line(COUNTS.__getitem__, Shown(**shown), width)


def test_counts_are_words_without_keys():
    assert line().plain == "2 prompts · 41 messages · 40 commands · 2 failed"


def test_the_most_important_counts_stay_if_there_is_little_room():
    assert line(44).plain == "41 messages · 40 commands · 2 failed"
    assert line(26).plain == "41 messages · 2 failed"
    assert line(9).plain == "2 failed"


def test_a_filter_shows_the_keys():
    assert line(groups={"4"}).plain == "1 prompts 2  2 messages 41  4 commands 40  7 failures 2  8 other 9"


def test_the_search_is_at_the_end():
    assert line(60, found=Found("x", 3, 1, 1.0)).plain.endswith("2 failed  /x  1 of 3")


def test_a_plain_command_has_lines():
    assert line(plain=True).plain == "200,000 lines"
    assert filter_line(lambda _: 0, Shown(plain=True), 80).plain == ""


def test_a_log_line_is_a_message_or_an_event():
    assert table([StepKind.MESSAGE, StepKind.UNKNOWN]) == LOG_LINES
