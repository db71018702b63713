"""The list prices that agentdash ships: those of a release of genai-prices, which the product never loads."""

import tomllib

import pytest
from genai_prices.types import ModelPrice, TieredPrices
from places import ROOT
from tools import prices

from agentdash.sessions.rules.costs.price_table import AS_OF, TABLE
from agentdash.sessions.rules.costs.prices import Price


def test_the_shipped_prices_are_what_make_prices_writes() -> None:
    assert prices.FILE.read_text(encoding="utf-8") == prices.made(), "run: make prices"
    assert prices.RELEASED.date().isoformat() == AS_OF


def test_a_developer_installs_the_release_of_the_shipped_prices() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"genai-prices=={prices.RELEASE}" in project["optional-dependencies"]["dev"]


def test_other_releases_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prices, "RELEASE", "0.0.1")
    with pytest.raises(ValueError, match=r"genai-prices .* is installed: set RELEASE and RELEASED"):
        prices.made()


def test_a_supplement_that_the_library_has_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(prices.LACKING, "gpt-5.5", Price(input=1.0, output=2.0))
    with pytest.raises(ValueError, match=r"the library has gpt-5\.5 now"):
        prices.made()


@pytest.mark.parametrize("field", ["cache_read_mtok", "output_mtok"])
def test_a_price_that_a_table_cannot_express_is_refused(field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another factor for a part of the input, and a part without a price of long prompts."""
    model = next(one for one in prices.models() if one.id == "gpt-5.5")
    usual = model.get_prices(prices.RELEASED)
    amount = getattr(usual, field)
    assert isinstance(amount, TieredPrices)
    other = TieredPrices(base=2 * amount.base, tiers=amount.tiers) if field == "cache_read_mtok" else amount.base
    monkeypatch.setattr(model, "prices", ModelPrice(**{**vars(usual), field: other}))
    with pytest.raises(ValueError, match=r"^gpt-5\.5: "):
        prices.made()


def test_models_that_the_library_lacks_have_a_price() -> None:
    assert TABLE["claude-mythos-5"] == TABLE["claude-fable-5"]
    assert TABLE["claude-mythos-5-1"] == TABLE["claude-fable-5-1"]
    assert TABLE["gpt-6.2-sol"].long_prompt_tokens == 272_000


def test_a_price_of_long_prompts_is_left_out_if_no_prompt_is_that_long() -> None:
    assert TABLE["claude-sonnet-4-5"].long_prompt_tokens is None
    assert TABLE["claude-haiku-5-5"].long_prompt_tokens == 100_000


@pytest.mark.parametrize("room", ["sessions", "tui", "widgets"])
def test_the_product_never_loads_the_library(room: str) -> None:
    assert not [path for path in (ROOT / room).rglob("*.py") if "genai_prices" in path.read_text(encoding="utf-8")]
