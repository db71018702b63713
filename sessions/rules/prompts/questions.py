"""Find the question that the last message of a turn asks the user: a plain rule over its text, pure.

A headless agent cannot wait for an answer: it asks in prose and ends its turn, which then looks like any other that is
done.  Only the end of a message counts: its last paragraph, and the one before a final list of choices.
"""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from agentdash.sessions.text.sanitize import one_line

_FENCE = re.compile(r"^\s*(```|~~~)")
_TICKS = re.compile("(`+)")
_LINK = re.compile(r"\[([^\[\]]*+)\]\([^()]*+\)")
"""Neither part can reach over the beginning of the next link, so no part of a text is read again and again."""

_EMPHASIS = re.compile(r"\*{1,3}|(?<!\w)_{1,3}|_{1,3}(?!\w)|^\s{0,3}#{1,6}\s+")
_ITEM = re.compile(r"^\s*(?:[-*+•]|\(?[0-9a-zA-Z]{1,2}[.)])\s+")
_ASIDE = re.compile(r"^\s*(?:>|\||-{3,}\s*$|\*{3,}\s*$)")
"""A quotation, a row of a table, a rule: not the agent's words to the user."""

_LOOKALIKES = str.maketrans({"\u2019": "'", "\uff1f": "? ", "\u061f": "? "})
"""The typographic apostrophe, and the question marks of Chinese, Japanese and Arabic."""

_SENTENCE_END = re.compile(r"(?<=[.!?])[)\]]*\s+|(?<=\u3002)")
_ASKS = re.compile(r"[?][)\]\s!]*$")
"""The end of a question; a question in quotation marks is a quotation."""

_COURTESY = re.compile(
    r"\b(anything|something|what) else\b|\b(any|more|further) (other |more |further )?questions\b"
    r"|\bhow (else )?(can|may) i (help|assist)\b|\b(do|work on|tackle) next\b|^what(?:'s| is) next\b"
    r"|\b(does|did) (that|this|it) (help|make sense)\b|^(sounds|looks) good\b|^(right|okay|ok|ready)\W*$",
    re.IGNORECASE,
)
"""Questions that close a conversation and need no answer."""

_DECISION = re.compile(
    r"\bplease (?:also )?(?:confirm|choose|pick|select|decide|clarify|specify|provide|approve|advise|answer|tell me)\b"
    r"|\b(?:let me know|tell me) (?:which|whether|what|how|where|when|who)\b"
    r"|\blet me know if (?:i|we) should\b|\blet me know your (?:choice|decision|preference|answer)\b"
    r"|\b(?:i|we) (?:still )?(?:need|require) (?:your|an?) (?:\w+ )?"
    r"(?:decision|approval|permission|confirmation|input|answer|guidance|go-ahead|choice)\b"
    r"|\b(?:i|we) need (?:you to|to know)\b"
    r"|\b(?:wait(?:ing)? for|await(?:ing)?) your\b"
    r"|\bit(?:'s| is) (?:up to you|your (?:call|choice|decision))\b|^your (?:call|choice|decision)\b",
    re.IGNORECASE,
)
"""Requests for a decision in words."""

_CLOSING = re.compile(
    r"^(?:let me know|please|otherwise|until then|in the meantime|for now|if |i(?:'ll| will| can| left| have not"
    r"|'ve not) |either way|happy to|thanks|thank you|once )",
    re.IGNORECASE,
)
"""The beginnings of sentences that may follow a question without being its answer."""

_QUESTION_CHARACTERS = 200


def question(message: str) -> str | None:
    """Return the sentence with which ``message`` asks the user something, as one clean line; None if it asks nothing.

    An offer in words (``Let me know if you want …``) and a courtesy (``Anything else?``) ask nothing.
    """
    for passage in _passages(message.translate(_LOOKALIKES)):
        sentences = map(str.strip, _SENTENCE_END.split(passage.text))
        asked, goes_on = _asked(list(filter(None, sentences)))
        if asked is not None:
            return one_line(asked, _QUESTION_CHARACTERS)
        if not goes_on and not passage.item:
            return None
    return None


class _Passage(Struct, frozen=True):
    """A paragraph, or one item of a list."""

    text: str
    item: bool


def _passages(message: str) -> Iterator[_Passage]:
    """Yield the passages of a message, the last one first."""
    for lines in reversed(_paragraphs(message)):
        first = next((number for number, line in enumerate(lines) if _ITEM.match(line)), len(lines))
        for line in reversed(lines[first:]):
            yield _Passage(_ITEM.sub("", line), item=True)
        if lines[:first]:
            yield _Passage(" ".join(lines[:first]), item=False)


def _paragraphs(message: str) -> list[list[str]]:
    """Split a message into the lines of its paragraphs, without code, quotations, tables and Markdown's marks."""
    paragraphs: list[list[str]] = [[]]
    fence = ""
    for line in message.splitlines():
        mark = _FENCE.match(line)
        if mark is not None and fence in ("", mark[1]):
            fence = "" if fence else mark[1]
            paragraphs.append([])
        elif not fence and line.strip() and not _ASIDE.match(line):
            item = _ITEM.match(line)
            start = item.end() if item is not None else 0
            paragraphs[-1].append(line[:start] + _EMPHASIS.sub("", _LINK.sub(r"\1", _without_code(line[start:]))))
        else:
            paragraphs.append([])
    return [lines for lines in paragraphs if lines]


def _without_code(line: str) -> str:
    """Replace code, which is between two runs of as many backticks, by ``…``."""
    parts = _TICKS.split(line)
    closing: dict[int, int] = {}
    later: dict[str, int] = {}
    for place in range(len(parts) - 2, 0, -2):
        ticks = parts[place]
        if ticks in later:
            closing[place] = later[ticks]
        later[ticks] = place
    kept, place = [], 0
    while place < len(parts):
        end = closing.get(place)
        kept.append(parts[place] if end is None else "…")
        place = (place if end is None else end) + 1
    return "".join(kept)


def _asked(sentences: Sequence[str]) -> tuple[str | None, bool]:
    """Return the last question or request for a decision, and whether nothing but closing words follows it.

    Without such a sentence: None, and whether all sentences are closing words.
    """
    for sentence in reversed(sentences):
        if _ASKS.search(sentence):
            return (None, True) if _COURTESY.search(sentence) else (sentence, True)
        if _DECISION.search(sentence):
            return sentence, True
        if not _CLOSING.match(sentence):
            return None, False
    return None, True
