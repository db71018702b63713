"""The file of the sums of days answers as the rows themselves do, whatever happened to either."""

import os
import sqlite3
import stat
import time
from datetime import UTC, date, datetime, timedelta
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentdash.sessions.rules.costs.pricing import OWN
from agentdash.sessions.rules.costs.usage_table import GROUPS, STEPS, UsageQuery
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.use.day_sums import DaySums
from agentdash.sessions.storage.use.use_queries import OTHERS, UseQueries

NOW = datetime(2026, 11, 3, 12, 0, tzinfo=UTC)
QUARTER = int(NOW.timestamp()) // 900
USE = "INSERT INTO use_sums VALUES (?, ?, ?, ?, ?, ?, 0, NULL, ?, NULL, ?, ?, ?, ?)"
SESSION = (
    "INSERT INTO sessions (id, agent, title, task, cwd, status, turn, host, created_at, updated_at, parent)"
    " VALUES (?, ?, ?, 'do it', ?, 'done', 1, 'h', 1, 1, ?)"
)


class Use:
    """A database with use, and the same questions asked of it with and without the file."""

    def __init__(self, folder):
        self.folder = folder
        self.path = folder / "cache" / "use.days"
        self.open()

    def open(self):
        self.store = Store(self.folder / "agentdash.db")
        self.days = DaySums(self.store.database, self.path)
        self.queries = UseQueries(self.store.database, self.days)
        self.plain = UseQueries(self.store.database)

    def close(self):
        self.queries.close()
        self.store.close()

    def session(self, name, agent="claude", cwd="/p", parent=None):
        with self.store.database.transaction() as db:
            db.execute(SESSION, (name, agent, f"title of {name}", cwd, parent))

    def use(self, name, quarter=QUARTER, *, turn=1, model="m", as_of="", tokens=100, reported=None, computed=None):
        """Record a use as a runner does: with a change of the session."""
        missing = reported is None and computed is None
        with self.store.database.transaction() as db:
            values = (name, turn, quarter, model, as_of, tokens, tokens, tokens, reported, computed, missing)
            db.execute(USE, values)
            db.execute("UPDATE sessions SET updated_at = updated_at + 1 WHERE id = ?", (name,))

    def same(self, query):
        """The answer, which is the same with the file and without it."""
        answer = self.queries.table(query)
        assert answer == self.plain.table(query)
        return answer


@pytest.fixture
def use(tmp_path):
    made = Use(tmp_path)
    for name, agent, cwd, parent in [
        ("a", "claude", "/x", None), ("b", "codex", "/x", "a"), ("c", "codex", "/y", None),
        ("d", "scripted", "/y", None),
    ]:  # fmt: skip
        made.session(name, agent, cwd, parent)
    made.use("a", reported=1.5, model="opus")
    made.use("a", QUARTER - 96, computed=0.5, as_of="2026-11-01", model="haiku")
    made.use("b", QUARTER - 40 * 96, computed=0.25, as_of="2026-10-01", model="sol")
    made.use("c", QUARTER + 30)
    made.use("c", QUARTER - 5, turn=2, reported=3.0)
    yield made
    made.close()


@pytest.fixture(params=["UTC", "Asia/Kathmandu", "America/New_York"])
def zone(request, monkeypatch):
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def total(use):
    return use.same(UsageQuery(by="model")).total


def test_each_grouping_has_the_same_rows_and_columns(use, zone):
    for by, step in product(GROUPS, (None, *STEPS)):
        answer = use.same(UsageQuery(by=by, step=step))
        assert answer.total.usage.total_tokens == 500, (by, step)
        assert answer.total.cost.reported_usd == 4.5, (by, step)
        assert answer.total.cost.computed_usd == 0.75, (by, step)
        assert answer.total.cost.missing == 1, (by, step)  # the session c
        assert answer.prices_as_of == ("2026-10-01", "2026-11-01"), (by, step)


@pytest.mark.parametrize("by", STEPS)
def test_of_periods_the_newest_are_kept_in_their_order(use, by):
    use.use("c", QUARTER - 2 * 96, reported=0.001)
    every = use.same(UsageQuery(by=by)).rows
    answer = use.same(UsageQuery(by=by, most=2))
    assert (answer.rows, answer.more) == (every[-2:], len(every) - 2)


def test_a_price_of_the_settings_without_a_date_is_no_date(use):
    use.use("d", computed=1.0, model="own", as_of=OWN)
    answer = use.same(UsageQuery(by="model"))
    assert (answer.prices_as_of, answer.prices_of_settings) == (("2026-10-01", "2026-11-01"), True)
    assert not use.same(UsageQuery(by="model", family="a")).prices_of_settings


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(since=st.none() | st.integers(-500, 300), until=st.none() | st.integers(-500, 300))
def test_any_part_of_the_time_has_the_same_sums(use, since, until):
    begin, end = (None if one is None else NOW + timedelta(minutes=15 * one) for one in (since, until))
    answer = use.same(UsageQuery(by="session", step="day", since=begin, until=end))
    quarters = {"a": [0, -96], "b": [-40 * 96], "c": [30, -5]}
    inside = [
        one
        for many in quarters.values()
        for one in many
        if (since is None or one >= since) and (until is None or one < until)
    ]
    assert (answer.total.usage.total_tokens or 0) == 100 * len(inside)


def test_the_file_follows_each_change(use):
    assert total(use).usage.total_tokens == 500
    use.use("d", reported=1.0)
    assert total(use).usage.total_tokens == 600
    with use.store.database.transaction() as db:
        db.execute("DELETE FROM use_sums WHERE session = 'c' AND turn = 2")
        db.execute("UPDATE sessions SET updated_at = 9 WHERE id = 'c'")
    assert total(use).usage.total_tokens == 500
    with use.store.database.transaction() as db:
        db.execute("DELETE FROM sessions WHERE id = 'a'")
    assert use.same(UsageQuery(by="folder")).total.usage.total_tokens == 500
    assert [row.label for row in use.same(UsageQuery(by="session")).rows].count("title of a") == 1


def test_without_changes_nothing_is_written(use):
    assert total(use).usage.total_tokens == 500
    before = use.path.stat().st_mtime_ns, use.path.read_bytes()
    assert total(use).usage.total_tokens == 500
    assert (use.path.stat().st_mtime_ns, use.path.read_bytes()) == before


def test_the_file_is_for_the_user_alone(use):
    total(use)
    assert stat.S_IMODE(use.path.stat().st_mode) == 0o600


def test_another_process_finds_the_file_as_it_is(use):
    total(use)
    written = use.path.stat().st_mtime_ns
    use.close()
    use.open()
    assert total(use).usage.total_tokens == 500
    assert use.path.stat().st_mtime_ns == written


def test_another_time_zone_makes_it_again(use, monkeypatch):
    days = {}
    for name in ("UTC", "Pacific/Kiritimati", "UTC"):
        monkeypatch.setenv("TZ", name)
        time.tzset()
        days.setdefault(name, []).append([row.group for row in use.same(UsageQuery(by="day")).rows])
    monkeypatch.undo()
    time.tzset()
    assert days["UTC"][0] == days["UTC"][1] != days["Pacific/Kiritimati"][0]


@pytest.mark.parametrize("damage", [b"", b"no database", b"SQLite format 3\0" + b"\1" * 5000])
def test_a_damaged_file_is_made_again(use, damage):
    total(use)
    use.close()
    use.path.write_bytes(damage)
    use.open()
    assert total(use).usage.total_tokens == 500
    assert total(use).usage.total_tokens == 500
    assert sqlite3.connect(use.path).execute("SELECT count(*) FROM days").fetchone() == (4,)


def test_a_file_that_is_deleted_under_it_is_made_again(use):
    total(use)
    use.path.unlink()
    use.use("d", reported=1.0)
    assert total(use).usage.total_tokens == 600
    assert use.path.exists()


def test_a_database_that_is_replaced_makes_it_again(use):
    total(use)
    use.close()
    (use.folder / "agentdash.db").rename(use.folder / "old.db")
    use.open()
    use.session("z")
    use.use("z", tokens=7)
    assert total(use).usage.total_tokens == 7


def test_use_is_added_up_without_the_file_if_it_cannot_be_written(use):
    (use.folder / "cache").write_text("in the way")
    assert total(use).usage.total_tokens == 500


def test_use_is_added_up_without_the_file_while_another_process_writes_it(use, monkeypatch):
    total(use)
    monkeypatch.setattr("agentdash.sessions.storage.use.day_sums._WAIT_SECONDS", 0.0)
    use.close()
    use.open()
    other = sqlite3.connect(use.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    assert total(use).usage.total_tokens == 500
    other.close()
    assert total(use).usage.total_tokens == 500


def test_the_groups_beyond_the_most_are_one_group_in_columns_and_in_the_total(use):
    answer = use.same(UsageQuery(by="session", step="month", most=1))
    assert [row.group for row in answer.rows] == ["c"]
    assert answer.more == 2
    assert answer.total.usage.total_tokens == 500
    columns = {column.start: {row.group: row.usage.total_tokens for row in column.rows} for column in answer.columns}
    assert columns == {date(2026, 9, 1): {OTHERS: 100}, date(2026, 11, 1): {"c": 200, OTHERS: 200}}


def test_many_processes_can_ask_at_once(use):
    """Each has a connection of its own; one of them makes the file, and all have the same answer."""
    children = []
    for _ in range(6):
        if (pid := os.fork()) == 0:
            other = Use(use.folder)
            os._exit(0 if other.queries.table(UsageQuery(by="model")).total.usage.total_tokens == 500 else 1)
        children.append(pid)
    assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children] == [0] * 6


def test_a_turn_at_work_without_figures_makes_its_sums_a_lower_bound(use):
    with use.store.database.transaction() as db:
        db.execute("UPDATE sessions SET status = 'running', started_at = 1 WHERE id = 'd'")
        db.execute(
            "INSERT INTO turns (session, n, status, run_id, launch, created_at, started_at)"
            " VALUES ('d', 1, 'running', 'run', '{}', 1, ?)",
            (QUARTER * 900_000,),
        )
    rows = {row.group: row for row in use.same(UsageQuery(by="agent")).rows}
    assert (rows["scripted"].cost.missing, rows["scripted"].tokens_missing, rows["scripted"].usage.known) == (
        1,
        1,
        False,
    )
    assert use.same(UsageQuery(by="day", until=NOW - timedelta(days=1))).total.tokens_missing == 0
    use.use("d", reported=1.0)
    rows = {row.group: row for row in use.same(UsageQuery(by="agent")).rows}
    assert (rows["scripted"].cost.missing, rows["scripted"].tokens_missing, rows["scripted"].cost.reported_usd) == (
        0,
        0,
        1.0,
    )


def test_a_session_counts_its_turns_without_a_cost_or_tokens(use):
    def lacking(name):
        session = use.store.session(name)
        return session.cost_missing, session.tokens_missing

    assert lacking("c") == (1, 0)
    assert lacking("a") == (0, 0)
    use.use("a", turn=2, tokens=None)
    use.use("a", QUARTER + 1, turn=2, tokens=None)
    assert lacking("a") == (1, 1)
    with use.store.database.transaction() as db:
        db.execute("DELETE FROM use_sums WHERE session = 'a' AND turn = 2")
    assert lacking("a") == (0, 0)


def test_use_between_two_questions_counts_also_if_its_session_is_deleted_before_the_second(use):
    assert total(use).usage.total_tokens == 500
    use.use("a", turn=2, reported=1.0)
    use.session("z")
    use.use("z", reported=1.0)
    with use.store.database.transaction() as db:
        db.execute("DELETE FROM sessions WHERE id IN ('a', 'z')")
    assert total(use).usage.total_tokens == 700


def test_a_page_that_is_damaged_behind_the_first_is_noticed_by_the_answer(use):
    for number in range(200):
        use.use("d", QUARTER + 96 * number, turn=number + 1, reported=1.0)
    assert total(use).usage.total_tokens == 20_500
    use.close()
    size = use.path.stat().st_size
    with use.path.open("r+b") as file:
        file.seek(2 * 4096)
        file.write(b"\1" * (size - 3 * 4096))
    use.open()
    assert total(use).usage.total_tokens == 20_500
    assert total(use).usage.total_tokens == 20_500


def test_a_file_that_another_process_made_again_is_opened_again(use):
    total(use)
    use.path.unlink()
    other = Use(use.folder)
    total(other)
    with use.store.database.transaction() as db:
        db.execute("UPDATE use_sums SET total_tokens = 1000 WHERE session = 'b'")
        db.execute("UPDATE sessions SET updated_at = 99 WHERE id = 'b'")
    assert total(other).usage.total_tokens == total(use).usage.total_tokens == 1_400
    other.close()
