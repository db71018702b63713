"""The values that answer a question: read from what the user typed and marked.  Pure."""

from agentdash.sessions.rules.asks.answers import constraints, fault
from agentdash.sessions.rules.asks.model import Question

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
    """Return why the values do not answer a question, as a sentence; empty if they do."""
    reason = fault(question, values)
    return f"This must {reason}." if values and reason else "An answer is required." if reason else ""


def kind(question: Question) -> str:
    """Return the words behind a question: what its value must be, and if it must be answered."""
    what = "yes or no" if question.type == "boolean" else constraints(question)  # as its field offers it
    return ", ".join(filter(None, (what, "" if question.required else "optional")))
