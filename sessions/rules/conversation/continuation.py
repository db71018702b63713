"""The place at which the next turn goes on: in a conversation of the agent, in a fork of it, or in one that is retold.

The agent's conversation is never cut: going back is a fork, so taking that back resumes what was there before
(claude 2.1.330 loses messages if a conversation is cut in place and the cut is taken back).

No fork reaches back over a compaction: claude 2.1.197 and 2.1.330 exit with 0 from such a fork, and send their model
the summary and the old answers without the requests (docs/protocols/claude.md, "Forks and compactions").  Such a
conversation is retold.
"""

from collections.abc import Mapping

from msgspec import Struct, field

from agentdash.sessions.model.compaction import BY_AGENT
from agentdash.sessions.rules.conversation.history import History, Marked, Place, Root
from agentdash.sessions.rules.conversation.marks import Mark, MarkKind


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

    def continuation(self) -> Continuation:
        """Return where the next turn goes on."""
        if not self.marks:
            return Continuation(conversation=self.agent_session)
        history = self.history
        at = history.position
        while isinstance(at, Place) and at.turn in self.unstarted:
            at = history.turn_follows(at.turn) or Root()
        if isinstance(at, Root):
            return Continuation(retold=bool(history.parts()))
        if isinstance(at, Marked):
            return self._behind_mark(next(mark for mark in self.marks if mark.id == at.mark))
        return self._behind_turn(at)

    def _behind_mark(self, mark: Mark) -> Continuation:
        if _is_by_agent(mark) or mark.kind == MarkKind.CLEAR:
            return self._behind_turn(Place(mark.turn or 0))
        conversation = mark.data.get("conversation")
        if mark.kind == MarkKind.FORK and isinstance(conversation, str) and mark.turn is not None:
            return Continuation(conversation=conversation, fork=Place(mark.turn, mark.step), origin=mark.origin)
        return Continuation(retold=True)

    def _behind_turn(self, place: Place) -> Continuation:
        conversation = self.conversations.get(place.turn)
        later = {turn for turn, of in self.conversations.items() if turn > place.turn and of == conversation}
        if conversation is None or any(_is_by_agent(mark) and mark.turn in later for mark in self.marks):
            return Continuation(retold=True)
        return Continuation(conversation=conversation, fork=place if place.step is not None or later else None)


def _is_by_agent(mark: Mark) -> bool:
    return mark.kind == MarkKind.COMPACT and mark.data.get("by") == BY_AGENT
