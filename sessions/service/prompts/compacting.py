"""Compactions: a turn after which a summary stands for all that was said.

A compaction is a prompt of the queue whose plan says so; it waits, is sent and is confirmed as any other.  The turn's
own end records its mark, so a compaction that fails or is stopped leaves the conversation as it was.
"""

from msgspec import Struct, structs

from agentdash.sessions.agents.planned import compaction_way, launch_of
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.compaction import BY_AGENT, BY_SUMMARY, Compaction
from agentdash.sessions.model.errors import SessionBusyError, UsageError
from agentdash.sessions.model.session import Session
from agentdash.sessions.rules.conversation.history import History
from agentdash.sessions.service.families.rights import acts
from agentdash.sessions.service.managing.housekeeping import ManagerPart, Shared
from agentdash.sessions.service.prompts.prompter import Prompter, PromptOptions, Sent


class Compacting(Struct, frozen=True, kw_only=True):
    """A compaction that was accepted."""

    sent: Sent
    """Its place in the queue, or its turn."""
    by: str
    """:data:`BY_AGENT` or :data:`BY_SUMMARY`."""

    @property
    def answer(self) -> str:
        """Its place and its way, one line."""
        agent = self.sent.session.agent
        how = f"{agent} compacts its own conversation" if self.by == BY_AGENT else f"{agent} writes a summary"
        return f"{self.sent.answer}: {how}"


class SessionCompactor(ManagerPart):
    """Asks sessions to compact their conversations."""

    def __init__(self, shared: Shared, prompter: Prompter) -> None:
        super().__init__(shared)
        self._prompter = prompter

    @acts("compact")
    def compact(
        self, ref: str, words: str = "", options: PromptOptions | None = None, *, summary: bool = False
    ) -> Compacting:
        """Compact the conversation of a session, as its next turn or from its queue.

        The agent's own command does it.  An agent without one that fits (``codex exec``, or a live codex that is given
        words) writes a summary instead, and the turn after it begins a conversation with that summary.

        Args:
            words: the user's wishes for the summary; empty for none.
            options: the key of the request and its place in the queue.
            summary: ask for a summary, although the agent has a command of its own.

        Raises:
            UsageError: the session has no conversation.
            SessionBusyError: nothing was said since the last compaction, or as for :meth:`.prompter.Prompter.inject`.
        """
        session = self._housekeeping.settled(ref)
        self._check(session)
        asked = Compaction(
            by=BY_SUMMARY if summary else "", words=self.rights.prompt(" ".join(words.split()), session.agent)
        )
        options = structs.replace(options or PromptOptions(), compacts=asked)
        sent = self._prompter.inject(session.id, asked.prompt, options)
        return Compacting(sent=sent, by=self._way(sent))

    def _check(self, session: Session) -> None:
        short = session.short_id
        if agent_named(session.agent).conversations is None:
            raise UsageError(f"Session {short} is a {session.agent}: it has no conversation to compact.")
        if not session.status.ended or self._store.queue.waiting(session.id):
            return
        if session.agent_session is None and session.last_message is None:
            raise UsageError(f"Session {short} has no conversation yet.")
        turns = {turn.n: turn for turn in self._store.turns(session.id)}
        parts = History(sorted(turns), self._store.marks.of_session(session.id)).parts()
        if all(part.turn is None or turns[part.turn].compacts for part in parts):
            raise SessionBusyError(f"Session {short} has nothing to compact: nothing was said since the last time.")

    def _way(self, sent: Sent) -> str:
        """Return the way that the compaction takes, or will take when its turn comes."""
        session, prompt = sent.session, sent.prompt
        launch = self._store.launch(session.id, prompt.turn) if prompt.turn is not None else None
        if launch is not None and launch.compacts is not None and launch.compacts.by:
            return launch.compacts.by
        agent, asked = agent_named(session.agent), prompt.plan.terms.compacts or Compaction()
        launch = launch_of(
            prompt.plan, agent, prompt=asked.prompt, cwd=session.cwd, session_id=session.id, turn=session.turn + 1,
            agent_session=session.agent_session,
        )  # fmt: skip
        return compaction_way(agent, launch, asked, resumes=True)
