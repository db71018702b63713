"""Limits: which are crossed, when time alone will cross one, and how people write them."""

import pytest

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.rules.limits.limits import (
    Limits,
    Measured,
    crossed,
    parsed,
    roomier,
    seconds_left,
    typed,
    used_up,
)

ALL = Limits(wall_seconds=600, silence_seconds=90, output_mb=1.5, tokens=1000, cost_usd=2.5)


def measured(**changed: object) -> Measured:
    calm: dict[str, object] = {"wall_s": 1.0, "silence_s": 0.5, "output_bytes": 10, "tokens": 5, "cost_usd": 0.01}
    return Measured(**calm | changed)  # type: ignore[arg-type]


def test_what_was_crossed_in_words() -> None:
    for changed, told in [
        ({}, ()),
        ({"wall_s": 600.0}, ("ran longer than 10m",)),
        ({"silence_s": 90.0}, ("no output for 90s",)),
        ({"silence_s": None}, ()),
        ({"output_bytes": 1_500_000}, ()),
        ({"output_bytes": 1_500_001}, ("printed more than 1.5 MB (1,500,001 bytes)",)),
        ({"tokens": 1001}, ("used more than 1,000 tokens (1,001)",)),
        ({"cost_usd": 2.51}, ("cost more than $2.50 ($2.51)",)),
        ({"cost_usd": 2.502, "estimated": True}, ("cost more than $2.50 (~$2.502)",)),
        ({"tokens": None, "cost_usd": None}, ()),
        ({"wall_s": 601.0, "tokens": 5000}, ("ran longer than 10m", "used more than 1,000 tokens (5,000)")),
    ]:
        assert tuple(crossed(ALL, measured(**changed)).values()) == told, changed
        assert crossed(Limits(), measured(**changed)) == {}, changed


def test_only_what_a_whole_session_used_is_used_up() -> None:
    assert used_up(ALL, 1000, 2.5) == {}
    assert used_up(ALL, None, None) == {}
    assert list(used_up(ALL, 1001, 2.6)) == ["tokens", "cost"]


@pytest.mark.parametrize(
    ("name", "tokens", "cost", "told"),
    [
        ("tokens", 7296, None, "tokens=20k"),
        ("tokens", 60, None, "tokens=200"),
        ("tokens", 1_000_000, None, "tokens=2M"),
        ("cost", None, 0.0103, "cost=0.03"),
        ("cost", None, 2.0, "cost=4"),
    ],
)
def test_a_limit_to_go_on_with_is_one_that_parses_and_leaves_room(
    name: str, tokens: int | None, cost: float | None, told: str
) -> None:
    assert roomier(name, tokens, cost) == told
    assert used_up(Limits(**parsed([told])), tokens, cost) == {}  # type: ignore[arg-type]


def test_how_long_until_time_alone_crosses_one() -> None:
    assert seconds_left(ALL, measured()) == 89.5
    assert seconds_left(ALL, measured(silence_s=None)) is None  # it waits for an answer
    assert seconds_left(ALL, measured(silence_s=100.0)) == 599.0
    assert seconds_left(Limits(tokens=1), measured()) is None


def test_the_nearer_limits_win_one_by_one() -> None:
    near = Limits(tokens=5, action="warn").over(ALL)
    assert near == Limits(wall_seconds=600, silence_seconds=90, output_mb=1.5, tokens=5, cost_usd=2.5, action="warn")
    assert not near.stops
    assert Limits().stops


def test_limits_as_one_types_them() -> None:
    pairs = ("wall=10m", "silence = 90", "output=1.5GB", "tokens=500k", "cost=$2.50", "action=warn")
    assert parsed(pairs) == {
        "wall_seconds": 600.0,
        "silence_seconds": 90.0,
        "output_mb": 1500.0,
        "tokens": 500_000,
        "cost_usd": 2.5,
        "action": "warn",
    }


def test_limits_are_written_as_one_types_them() -> None:
    text = "wall=10m silence=90s output=1.5MB tokens=500000 cost=2.5 action=warn"
    limits = parsed(text.split())
    assert typed(limits) == text
    assert parsed(typed(limits).split()) == limits
    assert typed({}) == ""
    with pytest.raises(UsageError, match="The field expects wall=…"):
        parsed(["time=3"], name_of_field="The field")


def test_a_number_of_tokens_is_never_rounded() -> None:
    assert parsed(["tokens=1.5k"]) == {"tokens": 1500}
    assert parsed(["tokens=0.0015M"]) == {"tokens": 1500}
    assert parsed(["tokens=2.0"]) == {"tokens": 2}


def test_a_limit_that_cannot_be_read() -> None:
    for pair, told in [
        ("wall", "--limit expects wall=…"),
        ("speed=3", "--limit expects wall=…"),
        ("wall=soon", "'soon' is not a valid duration"),
        ("tokens=many", "'many' is not a valid amount"),
        ("cost=-1", "'-1' is not a valid amount"),
        ("cost=2MB", "'2MB' is not a valid amount"),
        ("tokens=$5", "'\\$5' is not a valid amount"),
        ("tokens=500kB", "'500kB' is not a valid amount"),
        ("tokens=1.5", "'1.5' is not a whole number of tokens"),
        ("tokens=0.0005k", "'0.0005k' is not a whole number of tokens"),
    ]:
        with pytest.raises(UsageError, match=told):
            parsed([pair])
