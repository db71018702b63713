"""claude's questions, and the answers in claude's shape.  Pure.

Seen in 2.1.197 and 2.1.330: the answers of ``AskUserQuestion`` have the question's text as their key, and several
choices are joined by commas (``sdk-tools.d.ts``).
"""

from collections.abc import Mapping
from typing import Any

from ....asks.model import Answer, Choice, Question
from ..tools import text_in


def questions_of(given: Mapping[str, Any]) -> tuple[Question, ...]:
    """Return the questions of an ``AskUserQuestion``; each accepts an answer in words."""
    return tuple(
        Question(
            key=text_in(entry.get("question")),
            text=text_in(entry.get("question")),
            header=text_in(entry.get("header")),
            choices=tuple(
                Choice(label=text_in(option.get("label")), description=text_in(option.get("description")))
                for option in _objects(entry.get("options"))
            ),
            several=entry.get("multiSelect") is True,
        )
        for entry in _objects(given.get("questions"))
    )


def answers_of(answer: Answer) -> dict[str, str]:
    """Return the answers as ``updatedInput.answers`` has them."""
    return {key: ", ".join(values) for key, values in answer.values.items() if values}


def _objects(values: Any) -> list[dict[str, Any]]:
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []
