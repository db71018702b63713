"""Use by local days, weeks and months, in columns, by leads and families, and from a column to its sessions."""

import json
import time
from collections.abc import Callable, Iterator
from datetime import date, datetime
from pathlib import Path

import pytest
from recorded_use import ID, Recorded

from agentdash.sessions.rules.costs.usage_table import UsageTable

Zone = Callable[[str], None]


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Zone]:
    """Set the local time zone."""

    def to(name: str) -> None:
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield to
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def recorded(tmp_path: Path) -> Recorded:
    return Recorded(tmp_path)


def used(recorded: Recorded, at: str, tokens: int, number: int = 1, model: str = "claude-opus-5-5") -> None:
    """Record a turn of claude that used this number of input tokens at a moment (ISO, with its offset)."""
    figures = {"inputTokens": tokens, "outputTokens": 0, "costUSD": tokens / 1000}
    result = {
        "type": "result", "subtype": "success", "is_error": False, "stop_reason": "end_turn",
        "modelUsage": {model: figures}, "usage": {"input_tokens": tokens, "output_tokens": 0},
        "total_cost_usd": tokens / 1000,
    }  # fmt: skip
    moment = round(datetime.fromisoformat(at).timestamp() * 1000)
    recorded.turn(json.dumps(result).encode(), "claude", session=ID.format(number), at=moment, cwd=f"/p/{number}")


def put_below(recorded: Recorded, worker: int, *, parent: int | None = None, lead: str | None = None) -> None:
    with recorded.store.database.transaction() as db:
        parent_id = None if parent is None else ID.format(parent)
        db.execute("UPDATE sessions SET parent = ?, lead = ? WHERE id = ?", (parent_id, lead, ID.format(worker)))


def tokens(table: UsageTable) -> dict[str, int | None]:
    return {row.group: row.usage.total_tokens for row in table.rows}


@pytest.mark.parametrize(
    ("name", "last", "first"),
    [
        # In Berlin, 2026-03-29 has 23 hours and 2026-10-25 has 25.
        ("Europe/Berlin", "2026-03-29T23:59:00+02:00", "2026-03-29T00:00:00+01:00"),
        ("Europe/Berlin", "2026-10-25T23:59:00+01:00", "2026-10-25T00:00:00+02:00"),
        ("Asia/Kathmandu", "2026-05-05T23:59:00+05:45", "2026-05-05T00:00:00+05:45"),
        ("Asia/Kolkata", "2026-05-05T23:59:00+05:30", "2026-05-05T00:00:00+05:30"),
        # In Cairo, the hour behind the midnight of 2026-04-24 does not exist.
        ("Africa/Cairo", "2026-04-24T23:59:00+03:00", "2026-04-24T01:00:00+03:00"),
        # On Lord Howe the clocks change by half an hour.
        ("Australia/Lord_Howe", "2026-10-04T23:59:00+11:00", "2026-10-04T00:00:00+10:30"),
    ],
)
def test_a_day_is_a_local_day(recorded: Recorded, zone: Zone, name: str, last: str, first: str) -> None:
    zone(name)
    minute = 60
    for number, (moment, seconds) in enumerate([(first, -minute), (first, 0), (last, 0), (last, minute)], 1):
        at = datetime.fromisoformat(moment)
        used(recorded, datetime.fromtimestamp(at.timestamp() + seconds, at.tzinfo).isoformat(), 10**number, number)
    day = date.fromisoformat(first[:10])
    assert [value for _, value in sorted(tokens(recorded.table("day")).items())] == [10, 1100, 10000]
    assert tokens(recorded.table("day"))[day.isoformat()] == 1100
    (_, column, _) = recorded.table("agent", step="day").columns
    assert (column.start, column.rows[0].usage.total_tokens, column.rows[0].sessions) == (day, 1100, 2)
    since = datetime(day.year, day.month, day.day)  # noqa: DTZ001 - local time is meant
    assert recorded.table("model", since=since).total.usage.total_tokens == 11100
    assert recorded.table("model", until=since).total.usage.total_tokens == 10


def test_a_week_begins_on_monday_and_a_month_on_its_first_day(recorded: Recorded, zone: Zone) -> None:
    zone("America/New_York")
    for number, at in enumerate(
        [
            "2026-02-01T23:59:00-05:00",  # a Sunday
            "2026-02-02T00:00:00-05:00",
            "2026-02-28T23:59:00-05:00",
            "2026-03-01T00:00:00-05:00",  # a Sunday
            "2026-12-31T23:59:00-05:00",
        ],
        1,
    ):
        used(recorded, at, 10**number, number)
    assert tokens(recorded.table("week")) == {
        "2026-01-26": 10, "2026-02-02": 100, "2026-02-23": 11000, "2026-12-28": 100000,
    }  # fmt: skip
    assert tokens(recorded.table("month")) == {"2026-02-01": 1110, "2026-03-01": 10000, "2026-12-01": 100000}
    assert [one.start for one in recorded.table("agent", step="month").columns] == [
        date(2026, 2, 1), date(2026, 3, 1), date(2026, 12, 1),
    ]  # fmt: skip


OPUS, HAIKU = "claude-opus-5-5", "claude-haiku-5-5"
GROUPS = {
    "agent": {"claude": 1110},
    "model": {OPUS: 1100, HAIKU: 10},
    "folder": {"/p/1": 1100, "/p/2": 10},
    "lead": {ID.format(1): 1110},
    "session": {ID.format(1): 1100, ID.format(2): 10},
    "day": {"2026-05-04": 100, "2026-05-06": 1010},
    "week": {"2026-05-04": 1110},
    "month": {"2026-05-01": 1110},
}


@pytest.mark.parametrize(("by", "expected"), GROUPS.items())
def test_columns_add_up_to_the_rows_and_count_each_session_once(
    recorded: Recorded, zone: Zone, by: str, expected: dict[str, int]
) -> None:
    zone("Europe/Berlin")
    used(recorded, "2026-05-04T10:00:00+02:00", 100)
    used(recorded, "2026-05-06T10:00:00+02:00", 1000)
    used(recorded, "2026-05-06T11:00:00+02:00", 10, 2, "claude-haiku-5-5")
    put_below(recorded, 2, parent=1)
    table, plain = recorded.table(by, step="day"), recorded.table(by)
    assert [one.start for one in table.columns] == [date(2026, 5, 4), date(2026, 5, 6)]
    assert table.total.usage.total_tokens == 1110
    assert table.total.sessions == 2
    assert table.total.cost.reported_usd == pytest.approx(1.11)
    assert tokens(table) == tokens(plain) == expected
    assert [(row.group, row.sessions, row.label) for row in table.rows] == [
        (row.group, row.sessions, row.label) for row in plain.rows
    ]
    in_columns = [row for column in table.columns for row in column.rows]
    assert sum(row.usage.total_tokens or 0 for row in in_columns) == 1110


def test_a_lead_has_the_use_of_all_below_it_also_if_they_are_deleted(recorded: Recorded, zone: Zone) -> None:
    zone("UTC")
    at = "2026-05-04T10:00:00+00:00"
    for number in range(1, 6):
        used(recorded, at, 10**number, number)
    put_below(recorded, 2, parent=1)
    put_below(recorded, 3, parent=2)
    put_below(recorded, 4, lead="mcp:abc")
    before = recorded.table("lead")
    assert tokens(before) == {"": 100000, "mcp:abc": 10000, ID.format(1): 1110}
    assert {row.group: (row.sessions, row.session) for row in before.rows}[ID.format(1)] == (3, ID.format(1))
    assert tokens(recorded.table("session", family=ID.format(2))) == {ID.format(2): 100, ID.format(3): 1000}
    assert recorded.table("model", family="mcp:abc").total.usage.total_tokens == 10000
    with recorded.store.database.transaction() as db:
        db.execute("DELETE FROM sessions WHERE id = ?", (ID.format(2),))
    assert tokens(recorded.table("lead")) == tokens(before)
    assert recorded.table("day", family=ID.format(1)).total.usage.total_tokens == 1110


def test_a_column_leads_to_its_sessions(recorded: Recorded, zone: Zone) -> None:
    zone("Europe/Berlin")
    used(recorded, "2026-10-25T00:10:00+02:00", 100, 1)
    used(recorded, "2026-10-25T23:50:00+01:00", 1000, 2, "claude-haiku-5-5")
    used(recorded, "2026-10-26T00:10:00+01:00", 10, 3)
    day = date(2026, 10, 25)
    assert recorded.sessions("model", None, None) == [2, 1, 3]
    assert recorded.sessions("model", "claude-opus-5-5", None) == [1, 3]
    assert recorded.sessions("model", None, day, step="day") == [2, 1]
    assert recorded.sessions("model", "claude-opus-5-5", day, step="day") == [1]
    assert recorded.sessions("folder", "/p/3", None) == [3]
    assert recorded.sessions("lead", "", day, step="week") == [2, 1, 3]
    assert recorded.sessions("day", "2026-10-26", None) == [3]
    assert recorded.sessions("week", "2026-10-19", None) == [2, 1]
    assert recorded.sessions("month", "2026-10-01", day, step="day") == [2, 1]
    assert recorded.sessions("day", "not a day", None) == []
