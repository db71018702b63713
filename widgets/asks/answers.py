"""The values that answer a question: read from what the user typed and marked.  Pure."""

import math
import re

from ...sessions.asks.model import Question

_WHOLE = re.compile(r"[+-]?[0-9]{1,300}", re.ASCII)
_TYPES = {"number": "number", "integer": "whole number", "boolean": "yes or no"}

YES, NO, UNSET = "yes", "no", "not set"
"""The words for the values of a boolean."""

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
    if question.type == "integer" and not all(map(_WHOLE.fullmatch, values)):
        return "This must be a whole number."
    if question.type == "number" and not all(map(_is_number, values)):
        return "This must be a number."
    return ""


def kind(question: Question) -> str:
    """Return the words behind a question: the type of its value, and if it must be answered."""
    several = "several" if question.several else ""
    required = "" if question.required else "optional"
    return ", ".join(filter(None, (_TYPES.get(question.type, ""), several, required)))


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text)) and "_" not in text
    except ValueError:
        return False
