"""The time of a prompt in the words of the user."""

import time
from datetime import datetime

import pytest

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.rules.prompts.due import clock_words, due_at, late_words, until

HOUR = 3_600_000


@pytest.fixture(autouse=True)
def berlin(monkeypatch):
    """The zone of the machine, by its rules: summer time from the last Sunday of March to that of October."""
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def at(text):
    """A time of the zone, UTC ms."""
    return round(datetime.fromisoformat(text).timestamp() * 1000)


NOW = "2026-11-27T15:30:00"  # a Friday


def test_the_words_name_a_time():
    for words, meant in {
        "18:00": "2026-11-27T18:00", "15:31": "2026-11-27T15:31", "9:05": "2026-11-28T09:05",
        "15:30": "2026-11-28T15:30", "00:00": "2026-11-28T00:00", "+2h": "2026-11-27T17:30",
        "+90m": "2026-11-27T17:00", "+1d12h": "2026-11-29T03:30", " +45s ": "2026-11-27T15:30:45",
        "2026-11-28T09:00": "2026-11-28T09:00", "2026-11-28 09:00": "2026-11-28T09:00",
        "2026-11-28T09:00Z": "2026-11-28T10:00", "2026-11-28T09:00+05:30": "2026-11-28T04:30",
    }.items():  # fmt: skip
        assert due_at(words, at(NOW)) == at(meant), words


def test_other_words_are_refused_with_examples():
    for words in (
        "",
        "soon",
        "24:00",
        "18",
        "18:60",
        "+",
        "+2",
        "2h",
        "-2h",
        "+2w",
        "2026-11-28",
        "9999-99-99T1",
        "²:00",
    ):
        with pytest.raises(UsageError, match=r"is not a valid time\. Examples: 18:00, \+2h"):
            due_at(words, at(NOW))
    with pytest.raises(UsageError, match="has passed: it is 15:30"):
        due_at("2026-11-27T09:00", at(NOW))
    with pytest.raises(UsageError, match="has passed"):
        due_at("+0m", at(NOW))
    for words in ("+367d", "2028-01-01T00:00", "+9999d99999h"):
        with pytest.raises(UsageError, match="more than 366 days away"):
            due_at(words, at(NOW))


def test_a_day_with_another_length_keeps_the_time_of_the_clock_and_a_duration_its_length():
    evening = at("2026-03-28T20:00")  # the night has an hour less
    assert due_at("8:00", evening) - evening == 11 * HOUR
    assert due_at("+12h", evening) - evening == 12 * HOUR
    assert clock_words(due_at("2:30", evening), evening) == "Sun 03:30"  # there is no 2:30 in that night
    autumn = at("2026-10-24T20:00")
    assert due_at("8:00", autumn) - autumn == 13 * HOUR
    assert due_at("2:30", autumn) - autumn == round(6.5 * HOUR)  # the first of two


def test_a_time_is_said_back_with_its_day():
    now = at(NOW)
    assert until(at("2026-11-27T18:00"), now) == "until Fri 18:00"
    assert until(at("2026-11-28T18:00"), now) == "until Sat 18:00"
    assert until(at("2026-12-05T18:00"), now) == "until Sat 5 Dec 18:00"
    assert clock_words(at("2026-11-27T18:00"), now) == "18:00"
    assert clock_words(at("2026-11-26T18:00"), now) == "Thu 26 Nov 18:00"
    assert clock_words(at("2026-11-27T18:00")) == "Fri 27 Nov 18:00"


def test_a_prompt_that_was_found_late_is_named():
    due = at("2026-11-27T18:00")
    assert late_words("Triage", due, due + 60_000) == ""
    words = late_words("Tri\x1b[31mage\n", due, due + 5 * HOUR)
    assert words.startswith('The prompt for "Tri')
    assert "was due 18:00, 5h ago" in words
    assert "\x1b" not in words
