"""Does a value fit a question: its type, its choices, and the limits of a form's field (MCP 2025-11-25)?  Pure."""

import math
import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime

from ..text.unhidden import unhidden_line
from .model import Question
from .pattern import matches

_EMAIL = re.compile(r"[^@\s]+@[^@\s.]+(?:\.[^@\s.]+)*")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]+")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_TIME = re.compile(r"(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:)(\d{2})(?:\.\d+)?([Zz]|[+-]\d{2}:\d{2})", re.ASCII)

_TYPES = {"number": "a number", "integer": "a whole number", "boolean": "true or false"}
FORMATS = {
    "email": "an email address",
    "uri": "a URI, such as https://example.org",
    "date": "a date, such as 2026-01-31",
    "date-time": "a time, such as 2026-01-31T09:30:00Z",
}
"""The formats of a text that are checked, and what each must be."""


def fault(question: Question, values: Sequence[str]) -> str:
    """Return what the values of a question must be and are not, as the end of ``It must``; empty if they fit.

    A question that is not required takes no values too.
    """
    if not values:
        return "have an answer" if question.required else ""
    if len(values) > 1 and not question.several:
        return f"be one answer, not {len(values)}"
    if question.several:
        least, most = question.min_items, question.max_items
        if (least is not None and len(values) < least) or (most is not None and len(values) > most):
            return f"be {_range(least, most)} choices, not {len(values)}"
    return next((reason for value in values if (reason := _fault_of(question, value))), "")


def constraints(question: Question) -> str:
    """Return what an answer must be, for a person: ``whole number, 1 to 9``; empty if it may be anything."""
    return ", ".join(_constraints(question))


def is_a(kind: str, value: str) -> bool:
    """Return whether a text is a value of a JSON type; a type that is not known takes any text."""
    if kind == "boolean":
        return value in ("true", "false")
    if kind == "integer":
        return re.fullmatch(r"-?[0-9]{1,300}", value) is not None
    if kind == "number":
        plain = re.fullmatch(r"-?[0-9]{1,300}(\.[0-9]{1,300})?([eE][+-]?[0-9]{1,4})?", value)
        return plain is not None and math.isfinite(float(value))
    return True


def _constraints(question: Question) -> Iterator[str]:
    if question.type != "string" and not question.choices:
        yield _TYPES.get(question.type, question.type).removeprefix("a ")
    if question.several:
        few = question.min_items is not None or question.max_items is not None
        yield f"{_range(question.min_items, question.max_items)} choices" if few else "several"
    if question.minimum is not None or question.maximum is not None:
        yield _range(question.minimum, question.maximum)
    if question.min_length is not None or question.max_length is not None:
        yield f"{_range(question.min_length, question.max_length)} characters"
    if question.format in FORMATS:
        yield FORMATS[question.format].removeprefix("a ").removeprefix("an ").partition(",")[0]
    if question.pattern:
        yield f"matches {unhidden_line(question.pattern, 60)}"


def _fault_of(question: Question, value: str) -> str:
    labels = [choice.label for choice in question.choices]
    if value in labels:
        return ""
    if labels and not question.free:
        return f"be one of: {', '.join(unhidden_line(label, 60) for label in labels)}"
    if not is_a(question.type, value):
        return f"be {_TYPES[question.type]}"
    low, high = question.minimum, question.maximum
    if question.type in ("number", "integer"):
        number = int(value) if question.type == "integer" else float(value)
        outside = (low is not None and number < low) or (high is not None and number > high)
        return f"be {_range(low, high)}" if outside else ""
    return _fault_of_text(question, value) if question.type == "string" else ""


def _fault_of_text(question: Question, value: str) -> str:
    least, most = question.min_length, question.max_length
    if (least is not None and len(value) < least) or (most is not None and len(value) > most):
        return f"have {_range(least, most)} characters, not {len(value):,}"
    if not _has_format(question.format, value):
        return f"be {FORMATS[question.format]}"
    if question.pattern and matches(question.pattern, value) is False:
        return f"match {unhidden_line(question.pattern, 60)}"
    return ""


def _has_format(form: str, value: str) -> bool:
    """Return whether a text has a format; one that is not known takes any text."""
    if form == "email":
        return _EMAIL.fullmatch(value) is not None
    if form == "uri":
        return _URI.fullmatch(value) is not None
    if form == "date":
        return _DATE.fullmatch(value) is not None and _exists(value)
    if form == "date-time":
        found = _TIME.fullmatch(value)
        zone = found[4].upper().replace("Z", "+00:00") if found else ""
        seconds = min(found[3], "59") if found and found[3] == "60" else found[3] if found else ""
        return found is not None and _exists(f"{found[1]}T{found[2]}{seconds}{zone}")
    return True


def _exists(moment: str) -> bool:
    try:
        return bool(datetime.fromisoformat(moment) if "T" in moment else date.fromisoformat(moment))
    except ValueError:
        return False


def _range(least: float | None, most: float | None) -> str:
    if least is None:
        return f"at most {most:,}"
    if most is None:
        return f"at least {least:,}"
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"
