"""Limits: which are crossed, when time alone will cross one, and how people write them."""

import pytest

from agentdash.sessions.errors import UsageError
from agentdash.sessions.limits import Limits, Measured, crossed, parsed, seconds_left

ALL = Limits(wall_seconds=600, silence_seconds=90, output_mb=1.5, tokens=1000, cost_usd=2.5)


def measured(**changed: object) -> Measured:
    calm: dict[str, object] = {"wall_s": 1.0, "silence_s": 0.5, "output_bytes": 10, "tokens": 5, "cost_usd": 0.01}
    return Measured(**calm | changed)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({}, ()),
        ({"wall_s": 600.0}, ("ran longer than 10m",)),
        ({"silence_s": 90.0}, ("printed nothing for 90s",)),
        ({"silence_s": None}, ()),
        ({"output_bytes": 1_500_000}, ()),
        ({"output_bytes": 1_500_001}, ("printed more than 1.5 MB",)),
        ({"tokens": 1001}, ("used more than 1,000 tokens",)),
        ({"cost_usd": 2.51}, ("cost more than $2.50",)),
        ({"tokens": None, "cost_usd": None}, ()),
        ({"wall_s": 601.0, "tokens": 5000}, ("ran longer than 10m", "used more than 1,000 tokens")),
    ],
)
def test_what_was_crossed_in_words(changed: dict[str, object], told: tuple[str, ...]) -> None:
    assert crossed(ALL, measured(**changed)) == told
    assert crossed(Limits(), measured(**changed)) == ()


def test_how_long_until_time_alone_crosses_one() -> None:
    assert seconds_left(ALL, measured()) == 89.5
    assert seconds_left(ALL, measured(silence_s=None)) == 599.0
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


@pytest.mark.parametrize(
    ("pair", "told"),
    [
        ("wall", "--limit takes wall=…"),
        ("speed=3", "--limit takes wall=…"),
        ("wall=soon", "'soon' is no duration"),
        ("tokens=many", "'many' is no amount"),
        ("cost=-1", "'-1' is no amount"),
    ],
)
def test_a_limit_that_cannot_be_read(pair: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        parsed([pair])
