"""The place at which the next turn goes on: in a conversation of the agent, in a fork of it, or in one that is retold.

The agent's conversation is never cut: going back is a fork, so taking that back resumes what was there before
(claude 2.1.330 loses messages if a conversation is cut in place and the cut is taken back).

No fork reaches back over a compaction: claude 2.1.197 and 2.1.330 exit with 0 from such a fork, and send their model
the summary and the old answers without the requests (docs/protocols/claude.md, "Forks and compactions").  Such a
conversation is retold.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from agentdash.sessions.model.compaction import BY_AGENT
from agentdash.sessions.rules.conversation.history import History, Marked, Place, Root
from agentdash.sessions.rules.conversation.marks import Mark, MarkKind


class Recorded(Struct, frozen=True):
    """The records of a conversation, from which the place of the next turn follows."""

    agent_session: str | None
    """The agent's conversation of the newest turn that named one."""
    marks: tuple[Mark, ...] = ()
    """Its marks, oldest first."""
    conversations: Mapping[int, str | None] = field(default_factory=dict)
    """The agent's conversation of each turn, None if it named none; read only if there are marks."""
    unstarted: frozenset[int] = frozenset()
    """The turns whose agent was never started, or ended before it printed anything: nothing was said in them."""

    @property
    def history(self) -> History:
        """The tree of the conversation; only if there are marks."""
        return History(self.conversations, self.marks)

    @property
    def newest(self) -> str | None:
        """The agent's conversation of the newest turn: that of a process that waits for prompts."""
        return self.conversations[max(self.conversations)] if self.conversations else self.agent_session

    def continuation(self) -> "Continuation":
        """Return where the next turn goes on."""
        if not self.marks:
            return Continuation(conversation=self.agent_session)
        return continuation(self.history, self.marks, self.conversations, self.unstarted)


class Continuation(Struct, frozen=True):
    """The conversation of the next turn."""

    conversation: str | None = None
    """The agent's conversation to resume or to fork; None for a new one."""
    fork: Place | None = None
    """The place of the session's (or the origin's) steps at which it is forked; None resumes it at its end."""
    origin: str | None = None
    """The session whose turns :attr:`fork` names; None for the session itself."""
    retold: bool = False
    """True if a new conversation has to be given what is visible; also if a fork turns out to be impossible."""


def continuation(
    history: History,
    marks: Sequence[Mark],
    conversations: Mapping[int, str | None],
    unstarted: frozenset[int] = frozenset(),
) -> Continuation:
    """Return where the next turn goes on.

    Args:
        conversations: the agent's conversation of each turn; None if the turn ended before the agent named it.
        unstarted: the turns in which nothing was said, so that the next one goes on where they began.
    """
    at = history.position
    while isinstance(at, Place) and at.turn in unstarted:
        at = history.turn_follows(at.turn) or Root()
    if isinstance(at, Root):
        return Continuation(retold=bool(history.parts()))
    compacted = [mark.turn for mark in marks if _is_by_agent(mark) and mark.turn is not None]
    if isinstance(at, Marked):
        return _behind_mark(next(mark for mark in marks if mark.id == at.mark), compacted, conversations)
    return _behind_turn(at, compacted, conversations)


def _is_by_agent(mark: Mark) -> bool:
    return mark.kind == MarkKind.COMPACT and mark.data.get("by") == BY_AGENT


def _behind_mark(mark: Mark, compacted: Sequence[int], conversations: Mapping[int, str | None]) -> Continuation:
    if _is_by_agent(mark) or mark.kind == MarkKind.CLEAR:
        return _behind_turn(Place(mark.turn or 0), compacted, conversations)
    conversation = mark.data.get("conversation")
    if mark.kind == MarkKind.FORK and isinstance(conversation, str) and mark.turn is not None:
        return Continuation(conversation=conversation, fork=Place(mark.turn, mark.step), origin=mark.origin)
    return Continuation(retold=True)


def _behind_turn(place: Place, compacted: Sequence[int], conversations: Mapping[int, str | None]) -> Continuation:
    """Return the continuation behind a turn; ``compacted`` are the turns in which the agent compacted."""
    conversation = conversations.get(place.turn)
    if conversation is None or any(turn > place.turn and conversations.get(turn) == conversation for turn in compacted):
        return Continuation(retold=True)
    goes_on = any(turn > place.turn and other == conversation for turn, other in conversations.items())
    if place.step is None and not goes_on:
        return Continuation(conversation=conversation)
    return Continuation(conversation=conversation, fork=place)
