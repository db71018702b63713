"""The verb prices: the table in force, one model, an import, and its refusals."""

import json

import pytest

from agentdash.tui.cli.main import run as run_words


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
    assert run("prices", "gpt-9") == 1
    assert "has no price" in capsys.readouterr().err
    assert run("prices", "--import", str(file), "--json") == 0
    assert json.loads(capsys.readouterr().out)["models"] == 1
    assert run("prices", "gpt-9", "--json") == 0
    ((one),) = json.loads(capsys.readouterr().out)
    assert (one["origin"], one["price"]["output"]) == ("imported", 4)
    assert run("prices") == 0
    out = capsys.readouterr().out
    assert "gpt-9" in out
    assert "built-in" in out


def test_a_file_that_is_not_valid_is_a_request_that_is_not(place, capsys):
    (place / "m.json").write_text("{")
    assert run("prices", "--import", str(place / "m.json")) == 2
    assert "No price was changed" in capsys.readouterr().err
    assert run("prices", "x", "--import", "y") == 2
