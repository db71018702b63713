"""The effect of a turn on its conversation, compacted or cleared, and the advice to compact one.  Pure."""

from msgspec import Struct, structs

from agentdash.sessions.model.compaction import BY_AGENT, BY_SUMMARY, Compaction
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.status import Verdict
from agentdash.sessions.rules.turn_facts import Facts

COMPACT_FROM = 0.8
"""The share of the model's context from which a compaction is advised; agentdash begins none by itself."""

_FIRST = 1
"""The number of a turn's first step: its prompt is 0, and a parser counts the others from 0."""


class CompactionMark(Struct, frozen=True, kw_only=True):
    """A compaction that a turn brought to a good end: what its mark records."""

    by: str
    """:data:`..model.compaction.BY_AGENT` or :data:`..model.compaction.BY_SUMMARY`."""
    step: int | None
    """The number of the step with the summary in its turn; None if the agent does not show its summary."""
    tokens_before: int | None = None
    tokens_after: int | None = None
    words: str = ""


def judged(verdict: Verdict, compacts: Compaction | None, facts: Facts) -> tuple[Verdict, CompactionMark | None]:
    """Return the verdict on a turn that was to compact, and the compaction; None if there is none.

    A turn that ended well without evidence of a compaction failed: claude 2.1.197 calls a turn a success in which it
    found nothing to compact.  An ordinary turn compacted if its prompt was the agent's own command for it.

    Args:
        compacts: the request of its launch; None for an ordinary turn.
    """
    found = facts.compacted
    if compacts is None and found is not None and found.requested and facts.local:
        compacts = Compaction(by=BY_AGENT)
    if compacts is None or verdict.status is not Status.DONE:
        return verdict, None
    mark = CompactionMark(by=compacts.by, step=None, tokens_before=compacts.tokens_before, words=compacts.words)
    if compacts.by == BY_AGENT and found is not None:
        return verdict, structs.replace(
            mark,
            step=found.step + _FIRST if found.step is not None else None,
            tokens_before=found.tokens_before if found.tokens_before is not None else mark.tokens_before,
            tokens_after=found.tokens_after if found.tokens_after is not None else facts.context_tokens,
        )
    has_summary = facts.message_step is not None and (facts.last_message or "").strip()
    if compacts.by == BY_SUMMARY and has_summary:
        return verdict, structs.replace(mark, step=(facts.message_step or 0) + _FIRST)
    why = facts.last_message if facts.local else None
    missing = "the agent wrote no summary" if compacts.by == BY_SUMMARY else why or "the agent did not compact"
    return Verdict(Status.FAILED, missing, "the turn ended well, and shows no compaction"), None


def cleared(status: Status, facts: Facts, resumed: str | None, *, asked: bool = False) -> bool:
    """Return whether the prompt of a turn was the agent's own command that begins a new conversation.

    claude 2.1.197 does not report its ``/clear``: it answers with nothing and is in another conversation, as it is
    also in a turn that forks or begins one.

    Args:
        resumed: the agent's conversation that the turn went on with; None if it began one, or forked one.
        asked: the prompt was such a command.
    """
    if status is not Status.DONE or facts.agent_session is None or not facts.local:
        return False
    if facts.cleared or resumed not in (None, facts.agent_session):
        return True
    return asked and resumed is None and not (facts.last_message or "").strip()


def should_compact(tokens: int | None, window: int | None) -> bool:
    """Return whether a conversation fills the share of the model's context from which a compaction is advised.

    Args:
        tokens: the tokens of the newest request to the model; None if they are not known.
        window: the most that the model takes; None if it is not known.
    """
    return tokens is not None and bool(window) and tokens >= (window or 0) * COMPACT_FROM
