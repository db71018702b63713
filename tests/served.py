"""The tokens that the scripted model server reported, from its own log, and those that the command line prints.

The reader of the log shares no code with agentdash.
"""

import json
import urllib.request
from collections import Counter
from typing import Any

from verbs import verb

Tokens = tuple[int, int, int, int]
"""Input (all of it), cached input, input written to the cache, and output."""

NOTHING: Tokens = (0, 0, 0, 0)
UNKNOWN = (None,) * 4
"""The tokens of a row that has only turns of unknown use."""


class Served:
    """The answers of a model server since this was made.

    A claude that changes its model first asks the new one a short question without tools and without a stream.  It
    counts that call nowhere (2.1.330), so :attr:`answers` leaves it out.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._first = len(self._log())

    def _log(self) -> list[dict[str, Any]]:
        with urllib.request.urlopen(f"{self._url}/_fake/requests") as answer:
            return json.load(answer)  # type: ignore[no-any-return]

    @property
    def answers(self) -> list[dict[str, Any]]:
        """The log's entries of answers that reported tokens."""
        found = [entry for entry in self._log()[self._first :] if entry.get("usage")]
        return [entry for entry in found if entry["stream"] or entry["dialect"] != "messages"]

    def tokens(self, **wanted: Any) -> Tokens:
        """The sum over the answers whose entries have these values."""
        return added(tokens_of(one["usage"]) for one in self.answers if all(one[key] == wanted[key] for key in wanted))

    def by(self, key: str) -> dict[str, Tokens]:
        """The sums by the values of a field of the log."""
        return {name: self.tokens(**{key: name}) for name in Counter(one[key] for one in self.answers)}


def added(tokens: Any) -> Tokens:
    """Add up."""
    return tuple(sum(column) for column in zip(NOTHING, *tokens, strict=True))


def printed(by: str, *words: str) -> tuple[dict[str, Tokens], Tokens]:
    """The groups of the verb ``usage`` with their tokens, and its total."""
    done = verb("usage", "--by", by, "--json", *words)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return {one["group"]: _printed(one) for one in found["rows"]}, _printed(found["total"])


def listed(session: Any) -> Tokens:
    """The tokens of a session in the verb ``ls``."""
    (found,) = (row for row in json.loads(verb("ls", "--all", "--json").stdout) if row["id"] == session.id)
    return _printed(found["usage"])


def _printed(row: dict[str, Any]) -> Tokens:
    return row["input_tokens"], row["cached_input_tokens"], row["cache_write_tokens"], row["output_tokens"]


def tokens_of(usage: dict[str, Any]) -> Tokens:
    """The tokens of one answer, from the words of its dialect."""
    if "cache_read_input_tokens" in usage:  # Anthropic's words: the three kinds of input exclude each other
        cached, written = usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"]
        return usage["input_tokens"] + cached + written, cached, written, usage["output_tokens"]
    details = usage["input_tokens_details"]  # OpenAI's words: the input includes both
    return usage["input_tokens"], details["cached_tokens"], details["cache_write_tokens"], usage["output_tokens"]
