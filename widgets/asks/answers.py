"""The values that answer a question: read from what the user typed and marked.  Pure."""

from ...sessions.asks.answers import is_a
from ...sessions.asks.model import Question

_TYPES = {"number": "number", "integer": "whole number", "boolean": "yes or no"}

YES, NO, UNSET = "yes", "no", "not set"
"""The words for the values of a boolean."""

_NOT_A = {
    "number": "This must be a number.",
    "integer": "This must be a whole number.",
    "boolean": "This must be true or false.",
}

_BOOLEANS = {YES: "true", NO: "false"}


def boolean(word: str) -> tuple[str, ...]:
    """Return the value of a word for a boolean; empty if it is not set."""
    return (_BOOLEANS[word],) if word in _BOOLEANS else ()


def combined(question: Question, marked: tuple[str, ...], words: str) -> tuple[str, ...]:
    """Return the answer of marked choices and words; in an answer that takes one value, words replace the choice."""
    typed = () if not words.strip() else (words if question.secret else words.strip(),)
    if question.several:
        return (*marked, *typed)
    return typed or marked[:1]


def problem(question: Question, values: tuple[str, ...]) -> str:
    """Return why the values do not answer a question; empty if they do."""
    if not values:
        return "An answer is required." if question.required else ""
    offered = {choice.label for choice in question.choices}
    fits = all(value in offered or is_a(question.type, value) for value in values)
    return "" if fits else _NOT_A.get(question.type, "")


def kind(question: Question) -> str:
    """Return the words behind a question: the type of its value, and if it must be answered."""
    several = "several" if question.several else ""
    required = "" if question.required else "optional"
    return ", ".join(filter(None, (_TYPES.get(question.type, ""), several, required)))
