"""Prices from a file in the form of models.dev: what is taken, what is refused, and what wins."""

import json

import pytest
from msgspec import structs

from agentdash.sessions.model.errors import ConfigError, UsageError
from agentdash.sessions.rules.costs.models_dev import MOST_BYTES, prices_in
from agentdash.sessions.rules.costs.price_table import AS_OF, TABLE
from agentdash.sessions.rules.costs.prices import Price
from agentdash.sessions.rules.costs.pricing import price_of
from agentdash.sessions.settings.prices import (
    Imported,
    entry_of,
    import_prices,
    imported,
    outdated,
    prices_path,
    with_imported,
)

OPUS = {"cost": {"input": 7, "output": 35, "cache_read": 0.7, "cache_write": 8.75}}
LONG = {"cost": {"input": 1, "output": 4, "context_over_200k": {"input": 2, "output": 6}}}
FILE = {
    "anthropic": {"id": "anthropic", "models": {"claude-opus-5": OPUS, "claude-free": {"cost": {"input": 0}}}},
    "openai": {"models": {"gpt-9": LONG, "gpt-unpriced": {}}},
    "other": {"models": {"llama": {"cost": {"input": "?"}}}},
}


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTDASH_CONFIG", str(tmp_path / "own" / "config.toml"))
    return tmp_path


def saved(place, data):
    path = place / "models.json"
    path.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
    return path


def test_models_of_the_two_providers_are_imported_with_their_tiers_and_the_date(place):
    found = import_prices(saved(place, FILE))
    assert found == imported()
    assert sorted(found.prices) == ["claude-opus-5", "gpt-9"]
    opus, long = found.prices["claude-opus-5"], found.prices["gpt-9"]
    assert (opus.input, opus.cached_input, opus.cache_write, opus.cache_write_1h, opus.output) == (7, 0.7, 8.75, 14, 35)
    assert (long.long_prompt_tokens, long.long_input_factor, long.long_output_factor) == (200_000, 2, 1.5)
    assert opus.as_of == found.as_of
    assert prices_path().stat().st_mode & 0o777 == 0o600


def test_settings_win_over_imported_prices_and_these_over_the_list(place):
    found = import_prices(saved(place, FILE))
    force = with_imported({"claude-opus-*": Price(output=99.0)}, found)
    price = price_of("claude-opus-5", force)
    assert (price.input, price.output, price.as_of) == (7, 99.0, None)
    assert price_of("claude-opus-4-8", force).output == 99.0
    assert price_of("gpt-9", force).input == 1
    assert price_of("claude-haiku-4-5", force) == price_of("claude-haiku-4-5", {})
    origins = [
        entry_of(name, {"gpt-9": Price(input=3.0)}, found) for name in ("claude-opus-5", "gpt-9", "gpt-5", "gpt-none")
    ]
    assert [one and one.origin for one in origins] == ["imported", "settings", "built-in", None]
    assert (origins[1].price.input, origins[1].price.output) == (3.0, 4)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "not a valid list"),
        (b"[]", "not a valid list"),
        (b"{", "not a valid list"),
        (b"\xff\xfe", "not a valid list"),
        (b'{"anthropic":' * 100_000, "not a valid list"),
        (b'{"openai": {"models": {"x": {"cost": {"input": NaN, "output": 1}}}}}', "not a valid list"),
        (b'{"openai": {"models": {"x": {"cost": {"input": 1e999, "output": 1}}}}}', "not a valid list"),
        (b'{"openai": {"models": {"x": {"cost": {"input": -1, "output": 1}}}}}', "not a valid list"),
        (b'{"openai": {"models": {"x": {"cost": {"input": "1", "output": 1}}}}}', "not a valid list"),
        (b'{"openai": {"models": {"x": {"cost": {"input": 0.000005, "output": 0.000025}}}}}', "per million tokens"),
        (b'{"openai": {"models": {"x": {"cost": {"input": 5e6, "output": 1}}}}}', "per million tokens"),
        (b'{"openai": {"models": {"": {"cost": {"input": 5, "output": 1}}}}}', "the name of a model"),
        (b"{}", "no priced model"),
        (b" " * (MOST_BYTES + 1), "larger than"),
    ],
)  # fmt: skip
def test_a_file_that_is_not_valid_changes_nothing(place, data, why):
    before = import_prices(saved(place, FILE))
    with pytest.raises(UsageError, match=why) as error:
        import_prices(saved(place, data))
    assert "No price was changed" in str(error.value)
    assert imported() == before


def test_no_file_and_a_folder_are_errors_and_no_import_is_no_price(place):
    assert imported() == Imported()
    for path in (place / "none.json", place):
        with pytest.raises(UsageError, match="No price was changed"):
            import_prices(path)


def test_a_damaged_import_is_an_error_that_names_its_file(place):
    prices_path().parent.mkdir()
    prices_path().write_bytes(b"{oops")
    with pytest.raises(ConfigError, match=r"prices\.json.*agentdash usage prices --import"):
        imported()


def test_a_start_records_only_prices_that_differ_from_the_list():
    same = {"claude-opus-5": Price(as_of="2026-11-23").over(TABLE["claude-opus-5"])}
    assert with_imported({}, Imported(prices=same)) == {}


def test_a_list_in_memory_is_read_as_a_file_is():
    assert prices_in(json.dumps(FILE).encode(), "2026-11-01")["gpt-9"].as_of == "2026-11-01"


def test_an_old_import_that_replaces_built_in_prices_is_outdated():
    old = Price(input=7.0, output=30.0, as_of="2025-01-01")
    found = Imported(as_of="2025-01-01", prices={"gpt-5.5": old, "gpt-99": old})
    assert outdated(found) == (
        f"the imported prices are those of 2025-01-01, older than the built-in ones of {AS_OF}, and replace them for"
        " gpt-5.5"
    )
    assert outdated(structs.replace(found, as_of=AS_OF)) is None
    assert outdated(Imported()) is None


def test_an_old_import_that_equals_the_list_makes_a_price_no_older():
    same = {"gpt-5.5": structs.replace(TABLE["gpt-5.5"], as_of="2025-01-01")}
    entry = entry_of("openai/gpt-5.5", {}, Imported(as_of="2025-01-01", prices=same))
    assert (entry.origin, entry.as_of) == ("built-in", AS_OF)
    entry = entry_of("gpt-5.5", {}, Imported(as_of="2099-01-01", prices=same))
    assert (entry.origin, entry.as_of) == ("imported", "2099-01-01")
