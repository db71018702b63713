"""The prices that doctor checks: their age, models without one, and the agents' own figures."""

from datetime import date
from pathlib import Path

import pytest

from agentdash.sessions.doctor.agents.prices import prices, stale
from agentdash.sessions.doctor.model import Subject
from agentdash.sessions.settings.imported_prices import Imported
from agentdash.sessions.storage.database import Database
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store

REPORT = """INSERT INTO reports (session, turn, source, key, kind, at, model, input_tokens, cache_write_tokens,
    output_tokens, total_tokens, reported_usd, counted) VALUES ('s', 1, 'models', ?, 'turn',
    CAST(strftime('%s', 'now') AS INTEGER) * 1000, ?, 1000000, ?, 0, 1000000, ?, 1)"""


@pytest.fixture
def subject(tmp_path: Path) -> Subject:
    layout = Layout(tmp_path / "home")
    layout.create()
    store = Store(layout.database)
    with store.database.transaction():
        pass
    store.close()
    return Subject(layout=layout, config_path=tmp_path / "config.toml", env={}, user="u")


def report(subject: Subject, model: str, usd: float | None, written: int = 0) -> None:
    database = Database(subject.layout.database)
    with database.transaction() as db:
        db.execute(REPORT, (model, model, written, usd))
    database.close()


def found(subject: Subject) -> list[tuple[str, str]]:
    return [(one.state, one.found) for one in prices(subject)]


def test_figures_that_agree_are_no_fault(subject):
    report(subject, "claude-opus-5", 5.05)
    report(subject, "claude-opus-4-8", 10.0, written=1_000_000)  # all of it written to the cache for an hour
    ((state, words),) = found(subject)
    assert (state, "no difference" in words) == ("ok", True)


def test_a_difference_names_the_model_and_both_figures(subject):
    report(subject, "claude-opus-5", 5.2)
    assert found(subject) == [
        ("warn", "claude-opus-5: the agent reported $5.20, the prices make $5.00 of the same use")
    ]
    assert "agentdash prices --import" in (next(iter(prices(subject))).remedy or "")


def test_a_model_in_use_without_a_price_is_named(subject):
    report(subject, "gpt-99", None)
    report(subject, "gpt-5", None)
    assert found(subject) == [("warn", "no price for gpt-99")]


def test_prices_older_than_sixty_days_are_stale_until_newer_ones_are_imported():
    later = date(2027, 2, 1)
    assert [one.state for one in stale(Imported(), later)] == ["warn"]
    assert not list(stale(Imported(as_of="2027-01-20"), later))
