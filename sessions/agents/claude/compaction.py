"""A compaction in claude's stream (2.1.197 and 2.1.330).

``status`` has the outcome, ``compact_boundary`` the tokens, and a line in the user's name after it the summary.  The
``result`` of a turn that only compacts is a success without a model call, also if the compaction failed: its
``stop_reason`` is null, so the outcome decides (docs/protocols/claude.md, "Forks and compactions").
"""

from msgspec import Struct

from ...rules.turn_facts import Compacted
from . import events

NOTHING_TO_DO = "Not enough messages to compact."
"""The outcome ``failed`` of a command that had nothing to do (2.1.197 to 2.1.332): an answer, not a failure."""


class CompactionNotes(Struct):
    """The parser's memory of a compaction in the turn."""

    outcome: str | None = None
    """``success`` or ``failed``."""
    error: str = ""
    due: bool = False
    """The summary is the next line in the user's name."""

    def note(self, event: events.System) -> Compacted | None:
        """Read a ``system`` event; return the compaction if the event reports one."""
        if event.compact_result is not None:
            self.outcome, self.error = event.compact_result, event.compact_error or ""
        if event.subtype != "compact_boundary":
            return None
        self.due = True
        known = event.compact_metadata or events.CompactMetadata()
        return Compacted(
            tokens_before=known.pre_tokens, tokens_after=known.post_tokens, requested=known.trigger == "manual"
        )

    def verdict(self, event: events.Result, why: str | None) -> str | None:
        """Return why the turn of a result failed; None if it is good.

        Args:
            event: the result.
            why: the reason that the result itself gives.
        """
        outcome, error = self.outcome, self.error
        self.outcome, self.error, self.due = None, "", False
        if outcome is None or event.num_turns != 0 or event.is_error:
            return why
        if outcome == "success" or error == NOTHING_TO_DO:
            return None
        return error or event.result or "claude did not compact the conversation"


def compaction_text(event: events.System) -> str | None:
    """Return an event about a compaction as one line for people; None for another event."""
    if event.compact_result is not None:
        error = f": {event.compact_error}" if event.compact_error else ""
        return f"compaction: {event.compact_result}{error}"
    known = event.compact_metadata
    if event.subtype != "compact_boundary" or known is None:
        return None
    counts = ((known.pre_tokens, "tokens before"), (known.post_tokens, "after"))
    more = [known.trigger or "", *(f"{count:,} {what}" for count, what in counts if count is not None)]
    return f"context compacted ({', '.join(filter(None, more))})" if any(more) else "context compacted"
