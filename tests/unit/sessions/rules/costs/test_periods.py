"""The local days, also those without a midnight."""

import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

import pytest

from agentdash.sessions.rules.costs.usage_table import day_of, midnight
from agentdash.sessions.storage.local_days import beginning

MINUTE_MS = 60_000


@pytest.fixture
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("zone", "first"),
    [
        # Summer time begins at midnight: the day has no 00:00.
        ("Africa/Cairo", "2026-04-24T01:00:00+03:00"),
        ("America/Santiago", "2026-09-06T01:00:00-03:00"),
        ("America/Havana", "2026-03-08T01:00:00-04:00"),
        ("Asia/Beirut", "2026-03-29T01:00:00+03:00"),
        # It ends at 01:00: the day has two.
        ("America/Havana", "2026-11-01T00:00:00-04:00"),
        ("Africa/Cairo", "2026-10-30T00:00:00+02:00"),
    ],
    indirect=["zone"],
)
@pytest.mark.usefixtures("zone")
def test_a_day_begins_with_its_first_moment(first: str) -> None:
    assert midnight(date.fromisoformat(first[:10])).isoformat() == first


@pytest.mark.parametrize(
    "zone",
    [
        "Africa/Cairo", "America/Havana", "America/New_York", "America/Nuuk", "America/Santiago", "Asia/Beirut",
        "Asia/Gaza", "Asia/Kathmandu", "Australia/Lord_Howe", "Europe/Berlin", "Pacific/Chatham", "UTC",
    ],
    indirect=True,
)  # fmt: skip
@pytest.mark.usefixtures("zone")
def test_no_moment_of_a_day_is_before_its_beginning_and_none_of_the_day_before_is_after_it() -> None:
    for day in (date(2026, 1, 1) + timedelta(days=number) for number in range(3 * 365)):
        begin = round(midnight(day).timestamp() * 1000)
        assert (day_of(begin), day_of(begin - MINUTE_MS)) == (day, day - timedelta(days=1))
        assert datetime.fromtimestamp(beginning(day) * 900, UTC) == midnight(day)
