"""A value of JSON as text."""

from typing import Any

import pytest

from agentdash.sessions.text.json_text import json_text

DEEP: list[Any] = []
for _ in range(5_000):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""), ("", ""), ("as it came", "as it came"), ({"path": "é", "n": 1}, '{"path": "é", "n": 1}'),
        ([], "[]"), (0, "0"), (False, "false"), (DEEP, "…"), pytest.param(10**5_000, "…", id="huge"),
    ],
)  # fmt: skip
def test_a_value_on_one_line(value: Any, text: str) -> None:
    assert json_text(value) == text


def test_a_value_on_several_lines() -> None:
    assert json_text({"a": [1]}, indent=2) == '{\n  "a": [\n    1\n  ]\n}'
