"""The times of usage: which moments they mean, and which texts are refused."""

import time
from datetime import datetime

import pytest

from agentdash.sessions.model.errors import UsageError
from agentdash.tui.cli.commands.usage.times import span, words


@pytest.fixture
def now(monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield datetime.fromisoformat("2028-02-29T15:07:31+01:00").astimezone()
    monkeypatch.undo()
    time.tzset()


def test_a_time_has_a_beginning_and_an_end(now):
    for text, begin, end in [
        ("2026-11-03", "2026-11-03T00:00+01:00", "2026-11-04T00:00+01:00"),
        ("2026-10-25", "2026-10-25T00:00+02:00", "2026-10-26T00:00+01:00"),
        ("2026-11", "2026-11-01T00:00+01:00", "2026-12-01T00:00+01:00"),
        ("2026-12", "2026-12-01T00:00+01:00", "2027-01-01T00:00+01:00"),
        ("today", "2028-02-29T00:00+01:00", "2028-03-01T00:00+01:00"),
        (" Yesterday ", "2028-02-28T00:00+01:00", "2028-02-29T00:00+01:00"),
        ("7d", "2028-02-22T00:00+01:00", "2028-02-23T00:00+01:00"),
        ("1w", "2028-02-22T00:00+01:00", "2028-02-23T00:00+01:00"),
        ("1y", "2027-02-28T00:00+01:00", "2027-03-01T00:00+01:00"),
        ("4y", "2024-02-29T00:00+01:00", "2024-03-01T00:00+01:00"),
        ("1h", "2028-02-29T14:00+01:00", "2028-02-29T14:00+01:00"),
        ("20m", "2028-02-29T14:45+01:00", "2028-02-29T14:45+01:00"),
    ]:
        assert span(text, now) == (datetime.fromisoformat(begin), datetime.fromisoformat(end)), text
        assert all(moment.tzinfo is not None for moment in span(text, now)), text


def test_another_text_is_refused(now):
    for text, why in [
        ("", "is not a valid time. Use a date"), ("x", "is not a valid time"), ("2026", "is not a valid time"),
        ("90", "is not a valid time"), ("tomorrow", "is not a valid time"), ("-1d", "is not a valid time"),
        ("2026-W05-1", "is not a valid time"), ("²d", "is not a valid time"), ("1.5y", "is not a valid time"),
        ("2026-02-30", "is not a day of the calendar"), ("2026-13", "is not a day of the calendar"),
        ("9999-12-31", "is out of range"), ("9999-12", "is out of range"), ("0001-01-01", "is out of range"),
        ("9999y", "is out of range"), ("99999999999d", "is out of range"), ("9" * 400 + "d", "is not a valid time"),
    ]:  # fmt: skip
        with pytest.raises(UsageError, match=why):
            span(text, now)


def test_each_completed_time_is_valid(now):
    for text in words(now):
        span(text, now)
