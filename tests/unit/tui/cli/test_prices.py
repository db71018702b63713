"""The verb prices: the table in force, one model, an import, and its refusals."""

import json
import os

import pytest

from agentdash.sessions.rules.costs.cost import Cost
from agentdash.sessions.rules.costs.price_table import AS_OF
from agentdash.sessions.rules.costs.repricing import RepricedCosts
from agentdash.tui.cli.main import run as run_words
from agentdash.tui.render.setup.prices import repriced_lines


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTDASH_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("AGENTDASH_HOME", str(tmp_path / "home"))
    return tmp_path


def run(*words):
    return run_words(list(words))


def test_an_import_changes_the_printed_price_and_its_origin(place, capsys):
    file = place / "m.json"
    file.write_text('{"openai": {"models": {"gpt-9": {"cost": {"input": 1, "output": 4}}}}}')
    assert run("usage", "prices", "gpt-9") == 1
    assert "has no price" in capsys.readouterr().err
    assert run("usage", "prices", "--import", str(file), "--json") == 0
    assert json.loads(capsys.readouterr().out)["models"] == 1
    assert run("usage", "prices", "gpt-9", "--json") == 0
    ((one),) = json.loads(capsys.readouterr().out)
    assert (one["origin"], one["price"]["output"]) == ("imported", 4)
    assert run("usage", "prices") == 0
    out = capsys.readouterr().out
    assert "gpt-9" in out
    assert "built-in" in out


def test_a_file_that_is_not_valid_is_a_request_that_is_not(place, capsys):
    (place / "m.json").write_text("{")
    assert run("usage", "prices", "--import", str(place / "m.json")) == 2
    assert "No price was changed" in capsys.readouterr().err
    assert run("usage", "prices", "x", "--import", "y") == 2


def test_the_lines_of_costs_that_were_computed_again():
    found = RepricedCosts(
        turns=3, sessions=1, before=Cost(computed_usd=0.5, missing=2), after=Cost(computed_usd=2.0), not_ended=1,
        uncertain=2, unpriced=tuple(f"m{n}\n" for n in range(9)),
    )  # fmt: skip
    remedy = 'Import prices, or set [prices."MODEL"] in the settings.'
    assert list(repriced_lines(found, dry_run=False)) == [
        "3 turns of 1 session repriced: ≥$0.50 → ~$2.00",
        f"Without a price: m0, m1, m2, m3, m4, m5, m6, m7 and others. {remedy}",
        "2 turns without a certain cost: model, tokens or longest prompt not known.",
        "1 turn skipped: not ended.",
    ]


def test_without_sessions_no_cost_changes(capsys):
    assert run("usage", "reprice", "--all") == 0
    assert capsys.readouterr().out == "No cost changed.\n"
    assert run("usage", "reprice", "--model", "x") == 2
    assert "No report names a model" in capsys.readouterr().err


def test_an_import_that_is_older_than_the_built_in_prices_warns(place, capsys):
    file = place / "m.json"
    file.write_text('{"openai": {"models": {"gpt-5.5": {"cost": {"input": 7, "output": 30}}}}}')
    os.utime(file, (1_735_732_800, 1_735_732_800))  # noon of 2025-01-01, UTC
    assert run("usage", "prices", "--import", str(file), "--json") == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["as_of"] == "2025-01-01"
    assert "warning: the imported prices are those of 2025-01-01" in printed.err
    assert "gpt-5.5" in printed.err


def test_long_prompts_and_writes_for_an_hour_have_their_prices(place, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert run("usage", "prices", "claude-haiku-5-5") == 0
    heading, usual, long = capsys.readouterr().out.splitlines()
    assert "".join(heading.split()) == "USDper1Minputcachedwrite1hwriteoutputasoforigin"
    assert usual.split() == ["claude-haiku-5-5", "0.1", "0.01", "0.125", "0.2", "0.5", AS_OF, "built-in"]
    assert long.split() == ["above", "100k", "in", "0.5", "0.05", "0.625", "1", "2.5"]
    assert run("usage", "prices", "claude-opus-5") == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert run("usage", "prices") == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80
