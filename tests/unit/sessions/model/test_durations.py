"""Durations as people write them."""

import pytest

from agentdash.sessions.model.durations import seconds
from agentdash.sessions.model.errors import UsageError


@pytest.mark.parametrize(
    ("text", "value"),
    [("90", 90), ("1.5s", 1.5), (".5", 0.5), ("10m", 600), ("2H", 7200), (" 7 d ", 604_800), ("1w", 604_800), ("0", 0)],
)
def test_what_a_text_means(text: str, value: float) -> None:
    assert seconds(text) == value


def test_what_is_no_duration() -> None:
    for text in ["", "s", "-1", "nan", "inf", "1e400", "1h30m", "10 ms", "²", "1" * 400]:
        with pytest.raises(UsageError, match="is not a valid duration"):
            seconds(text)
