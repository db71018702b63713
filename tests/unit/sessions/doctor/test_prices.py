"""The prices that doctor checks: their age, models without one, and the agents' own figures."""

import os
from datetime import date, timedelta
from pathlib import Path

import pytest

from agentdash.sessions.doctor.agents import dates_in_force, prices, stale
from agentdash.sessions.doctor.model import Subject
from agentdash.sessions.rules.costs.price_table import AS_OF
from agentdash.sessions.rules.costs.prices import Price
from agentdash.sessions.settings.prices import Imported, import_prices
from agentdash.sessions.storage.database import Database
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store

LATER = date.fromisoformat(AS_OF) + timedelta(days=71)
NEWER = (LATER - timedelta(days=12)).isoformat()

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
    assert "agentdash usage prices --import" in (next(iter(prices(subject))).remedy or "")


def test_a_model_in_use_without_a_price_is_named(subject):
    report(subject, "gpt-99", None)
    report(subject, "gpt-5", None)
    assert found(subject) == [("warn", "no price for gpt-99")]


def test_a_date_older_than_sixty_days_is_stale():
    (finding,) = stale(dates_in_force([], {}, Imported()), LATER)
    assert (finding.state, f"are those of {AS_OF}, 71 days ago" in finding.found) == ("warn", True)
    assert not list(stale(dates_in_force([], {}, Imported(as_of=NEWER)), LATER))


def test_a_newer_import_without_the_model_in_use_makes_its_price_no_newer():
    newer = Imported(as_of=NEWER, prices={"gpt-9": Price(input=1.0, output=2.0, as_of=NEWER)})
    (finding,) = stale(dates_in_force(["gpt-9", "openai/gpt-5.5"], {}, newer), LATER)
    assert finding.found == f"the built-in prices of openai/gpt-5.5 are those of {AS_OF}, 71 days ago"


def test_the_date_that_the_settings_give_counts():
    own = {"gpt-5.5": Price(input=7.0, as_of="2025-03-01"), "gpt-5": Price(input=2.0)}
    (finding,) = stale(dates_in_force(["gpt-5.5", "gpt-5"], own, Imported()), date.fromisoformat(AS_OF))
    assert finding.found.startswith("the settings' prices of gpt-5.5 are those of 2025-03-01")


def test_an_old_import_in_force_is_named(subject, monkeypatch):
    monkeypatch.setenv("AGENTDASH_CONFIG", str(subject.config_path))
    file = subject.config_path.with_name("f.json")
    file.write_text('{"openai": {"models": {"gpt-5.5": {"cost": {"input": 7, "output": 30}}}}}')
    os.utime(file, (1_735_732_800, 1_735_732_800))  # noon of 2025-01-01, UTC
    import_prices(file)
    report(subject, "gpt-5.5", None)
    old, stale_too = prices(subject)
    assert old.state == stale_too.state == "warn"
    assert f"older than the built-in ones of {AS_OF}, and replace them for gpt-5.5" in old.found
    assert str(subject.config_path.with_name("prices.json")) in (old.remedy or "")
    assert stale_too.found.startswith("the imported prices of gpt-5.5 are those of 2025-01-01, ")
