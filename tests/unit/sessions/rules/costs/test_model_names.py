"""The names of a model: which parts are left out, and which similar names stay names of their own."""

from agentdash.sessions.rules.costs.price_table import TABLE
from agentdash.sessions.rules.costs.prices import Price
from agentdash.sessions.rules.costs.pricing import plain_name, price_of

OPUS = "claude-opus-4-8"

SAME = {
    "claude-opus-4-8": OPUS,
    "CLAUDE-OPUS-4-8": OPUS,
    "claude-opus-4-8[1m]": OPUS,
    "claude-opus-4-8-20260401": OPUS,
    "claude-opus-4-8-latest": OPUS,
    "claude-opus-4-8@20260101": OPUS,
    "claude-opus-4-8@default": OPUS,
    "anthropic/claude-opus-4-8": OPUS,
    "openrouter/anthropic/claude-opus-4-8": OPUS,
    "vertex_ai/claude-opus-4-8@20260101": OPUS,
    "anthropic.claude-opus-4-8-v1": OPUS,
    "anthropic.claude-opus-4-8-v1:0": OPUS,
    "us.anthropic.claude-opus-4-8-v1:0": OPUS,
    "us.anthropic.claude-opus-4-8-20260401-v1:0[1m]": OPUS,
    "global.anthropic.claude-opus-4-8": OPUS,
    "bedrock/eu.anthropic.claude-opus-4-8-20260401-v1:0": OPUS,
    "arn:aws:bedrock:us-east-1:1234:inference-profile/us.anthropic.claude-opus-4-8-v1:0": OPUS,
    "openai/gpt-5.5": "gpt-5.5",
    "azure/gpt-5.5-2026-04-01": "gpt-5.5",
}

OTHERS = (
    "claude-opus-4-88", "claude-opus-4.8", "claude-opus-4-8-fast", "claude-opus-4-8-v2", "claude-opus-4-8@fast",
    "my-proxy/claude-opus-4-8", "us.other.claude-opus-4-8-v1:0", "xx.anthropic.claude-opus-4-8", "gpt-5.5-pro",
    "openai/gpt-5.5:free", "anthropic/", "anthropic", "/", "us.anthropic.", "-20260401", "@20260101", "[1m]", "",
)  # fmt: skip


def test_a_provider_s_name_is_that_of_the_model_and_has_its_price() -> None:
    for name, plain in SAME.items():
        assert plain_name(name) == plain, name
        assert price_of(name, {}) == TABLE[plain], name


def test_a_similar_name_is_no_name_of_a_priced_model() -> None:
    for name in OTHERS:
        assert plain_name(name) not in TABLE, name
        assert price_of(name, {}) is None, name


def test_the_user_s_prices_are_found_by_each_name() -> None:
    own = {"claude-opus-*": Price(input=9.0), "my-proxy/claude-opus-4-8": Price(input=1.0, output=2.0)}
    for name, model in SAME.items():
        price = price_of(name, own)
        assert price is not None
        assert price.input == (9.0 if model == OPUS else 5.0)
    assert price_of("my-proxy/claude-opus-4-8", own) == Price(input=1.0, output=2.0)


def test_the_price_of_a_snapshot_wins_over_that_of_its_model() -> None:
    own = {OPUS: Price(input=9.0), "claude-opus-4-8-20260401": Price(input=8.0)}
    assert [price_of(name, own).input for name in (OPUS, "claude-opus-4-8-20260401")] == [9.0, 8.0]  # type: ignore[union-attr]
