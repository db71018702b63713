"""The questions of an agent as a text for people, with their choices and, once they are answered, the answers.

Pure.  claude calls the tool ``AskUserQuestion`` with ``questions``, each with ``question``, ``header`` and ``options``,
and gets back ``"Which colour?"="Blue"`` for each (2.1.197, 2.1.330).  All texts are untrusted.
"""

from collections.abc import Iterator, Mapping
from typing import Any

TOOL = "AskUserQuestion"
_MOST = 100
"""Most questions, and choices of one, that are shown."""


def written(arguments: Any, output: str) -> str | None:
    """Return the questions of a call and their answers as Markdown; None if it has none."""
    asked = arguments.get("questions") if isinstance(arguments, dict) else None
    shown = [one for one in asked if isinstance(one, dict)][:_MOST] if isinstance(asked, list) else []
    return "\n\n".join("\n".join(_question(one, output)) for one in shown) or None


def are_answered(arguments: Any, output: str) -> bool:
    """Return whether the output of a call is only the answers to its questions."""
    asked = arguments.get("questions") if isinstance(arguments, dict) else None
    return isinstance(asked, list) and all(isinstance(one, dict) and _answer(one, output) for one in asked)


def _question(one: Mapping[str, Any], output: str) -> Iterator[str]:
    yield _text(one, "question") or _text(one, "header")
    options = one.get("options")
    for choice in options[:_MOST] if isinstance(options, list) else []:
        if isinstance(choice, dict):
            described = _text(choice, "description")
            yield f"- {_text(choice, 'label')}{f': {described}' if described else ''}"
    if answer := _answer(one, output):
        yield f"\nAnswer: {answer}"


def _answer(one: Mapping[str, Any], output: str) -> str:
    """Return the answer to a question; empty if the output has none."""
    _, found, rest = output.partition(f'"{_text(one, "question")}"="')
    return rest.partition('"')[0] if found else ""


def _text(given: Mapping[str, Any], key: str) -> str:
    value = given.get(key)
    return value if isinstance(value, str) else ""
