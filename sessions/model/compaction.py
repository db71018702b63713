"""A compaction: a turn after which a summary stands for all that was said.  Values and texts only, without I/O.

The launch of the turn records that it compacts (:attr:`..rules.launch.Launch.compacts`), so no other record can
disagree.
"""

from msgspec import Struct

BY_AGENT = "agent"
"""The agent's own command compacts its conversation, which goes on behind the summary."""

SUMMARY_EVENT = "compact_summary"
"""The event of the step with the summary that claude writes, also if it compacts by itself."""

BY_SUMMARY = "summary"
"""The agent writes a summary as an answer, and the next turn begins a conversation that is given it."""


class Compaction(Struct, frozen=True, kw_only=True):
    """The request for a compaction, and in a launch the way that it takes."""

    by: str = ""
    """``agent`` or ``summary``; in a plan, empty for the agent's own command if it has one."""
    words: str = ""
    """The user's wishes for the summary, one line."""
    tokens_before: int | None = None
    """The tokens of the model's context before it, if they are known."""

    @property
    def prompt(self) -> str:
        """The prompt as the user sees it."""
        return f"/compact {self.words}".strip()


class RecordedCompaction(Struct, frozen=True, kw_only=True):
    """A compaction that an agent reported, also one that it began by itself."""

    turn: int
    step: int | None = None
    """The number of the step that reports it; None if it is not in the agent's output."""
    at: int = 0
    """UTC ms."""
    trigger: str | None = None
    """``manual`` or ``auto``, in the agent's words; None if it does not name one."""
    tokens_before: int | None = None
    """Tokens of the model's context before it."""
    tokens_after: int | None = None


_REQUEST = """\
Write a summary of this conversation.  It will take the place of the whole conversation: the agent that goes on has \
nothing else of it but the user's requests in the user's own words.  Use no tools and change no files; answer with the \
summary alone.

Write these sections:

1. Requests: every request of the user, in the user's own wording and in order, and what became of it.
2. Completed work: what was done, with the paths of all files that were read, made or changed, and the commands that \
matter.
3. Current state: what works, what does not, what is under way, with exact error messages.
4. Decisions: each decision, and why it was made; what was tried and given up, and why.
5. Next steps: only those that the user asked for or agreed to.

Be specific: names, paths, numbers and identifiers as they are.  Add no suggestions of your own."""


def summary_request(compaction: Compaction) -> str:
    """Return the prompt that asks an agent for a summary."""
    if not compaction.words:
        return _REQUEST
    return f"{_REQUEST}\n\nThe user asks for this in the summary: {compaction.words}"
