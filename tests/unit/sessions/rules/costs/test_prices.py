"""Prices: which one a model has, and what a model call costs."""

import pytest

from agentdash.sessions.rules.costs.price_table import TABLE
from agentdash.sessions.rules.costs.prices import Call, Price
from agentdash.sessions.rules.costs.pricing import list_price, price_of

MILLION = 1_000_000


def test_each_kind_of_token_has_its_own_price() -> None:
    price = Price(input=5.0, cached_input=0.5, cache_write=6.25, cache_write_1h=10.0, output=25.0)
    parts = ("input_tokens", "cached_input_tokens", "cache_write_tokens", "cache_write_1h_tokens", "output_tokens")
    assert [price.cost(Call(**{part: MILLION})) for part in parts] == [5.0, 0.5, 6.25, 10.0, 25.0]


def test_what_has_no_price_of_its_own_costs_what_is_next_to_it() -> None:
    price = Price(input=4.0, output=8.0)
    whole = Call(
        input_tokens=MILLION, cached_input_tokens=MILLION, cache_write_tokens=MILLION, cache_write_1h_tokens=MILLION
    )
    assert price.cost(whole) == 16.0


def test_a_long_prompt_makes_the_whole_call_dearer() -> None:
    price = price_of("gpt-5.5", {})
    assert price is not None
    assert price.cost(Call(input_tokens=72_000, cached_input_tokens=200_000)) == pytest.approx(0.36 + 0.1)
    long = Call(input_tokens=72_001, cached_input_tokens=200_000, output_tokens=1000)
    assert price.cost(long) == pytest.approx(2 * (0.360005 + 0.1) + 1.5 * 0.03)


@pytest.mark.parametrize(
    "model", ["claude-opus-4-8", "claude-opus-4-8[1m]", "claude-opus-4-8-20260401", "CLAUDE-OPUS-4-8"]
)
def test_a_model_is_found_by_its_names(model: str) -> None:
    assert price_of(model, {}) == TABLE["claude-opus-4-8"]


@pytest.mark.parametrize("model", ["claude-opus-4-88", "claude-opus-9", "gpt-5.5-pro", "fake-model", "", "opus"])
def test_a_model_that_is_not_in_the_list_has_no_price(model: str) -> None:
    assert list_price(model) is None
    assert price_of(model, {}) is None


def test_every_price_of_the_list_can_be_used() -> None:
    for model, price in TABLE.items():
        assert price.known, model
        assert model == model.lower()
        assert price.cached_input is not None
        assert price.input is not None
        assert price.output is not None
        assert 0 < price.cached_input < price.input < price.output, model


def test_claude_s_own_figure_for_a_captured_turn_comes_out(captured_cost: tuple[Call, float]) -> None:
    call, cost = captured_cost
    price = price_of("claude-opus-4-8[1m]", {})
    assert price is not None
    assert price.cost(call) == pytest.approx(cost)


@pytest.fixture(params=[(8200, 5000, 165, 0.047625), (1200, 0, 80020, 2.0065), (1800, 1000, 46, 0.01065)])
def captured_cost(request: pytest.FixtureRequest) -> tuple[Call, float]:
    """Tokens and ``total_cost_usd`` of results that claude 2.1.197 printed."""
    fresh, cached, output, cost = request.param
    return Call(input_tokens=fresh, cached_input_tokens=cached, output_tokens=output), cost


def test_the_user_s_prices_win_the_most_exact_one_first() -> None:
    own = {
        "claude-opus-*": Price(input=9.0, cached_input=3.0),
        "claude-opus-4-8": Price(input=7.0),
        "my-model": Price(input=1.0, output=2.0),
        "half": Price(input=1.0),
    }
    assert price_of("claude-opus-4-8", own) == Price(
        input=7.0, cached_input=3.0, cache_write=6.25, cache_write_1h=10.0, output=25.0
    )
    assert price_of("my-model", own) == Price(input=1.0, output=2.0)
    assert price_of("half", own) is None
    assert price_of("gpt-5.5", own) == TABLE["gpt-5.5"]


def test_a_price_may_be_nothing() -> None:
    price = price_of("local", {"local": Price(input=0.0, output=0.0)})
    assert price is not None
    assert price.cost(Call(input_tokens=MILLION)) == 0.0
