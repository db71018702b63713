"""The conversation of a turn, of those that its output names.

A process that can write into the output could name any conversation, and the next prompt would go there.  So another
one is taken only where a start or a prompt of ours begins one, and never that of another session: a fork and a
continuation get a conversation of their own.
"""

from agentdash.sessions.agents.base import Agent
from agentdash.sessions.model.session import short_id
from agentdash.sessions.rules.launch import Launch
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.live_log import LiveLog


class OwnConversation:
    """Judges the conversation that the output of a turn names."""

    def __init__(self, store: Store, agent: Agent, session_id: str, turn: int, launch: Launch | None) -> None:
        self._store = store
        self._agent = agent
        self._session = session_id
        self._turn = turn
        self._launch = launch
        self._judged: dict[str, str | None] = {}
        """The reason against each conversation that was judged; None if it is the turn's."""

    def check(self, facts: Facts) -> None:
        """Drop a conversation from the facts that is not the turn's, and keep the reason.

        Raises:
            StoreError: the records cannot be read.
        """
        name = facts.agent_session
        if name is None:
            return
        if name not in self._judged:
            self._judged = {name: self._why_not(name)}
        if self._judged[name] is not None:
            facts.agent_session, facts.strange = None, self._judged[name]

    def _why_not(self, name: str) -> str | None:
        other = self._store.session_of_conversation(name, but=self._session)
        if other is not None:
            return f"its output names the conversation of session {short_id(other)}, which is not taken"
        if self._launch is None or not self._launch.how:
            resumed = self._store.conversation_before(self._session, self._turn)
        else:  # it begins one, or forks one
            resumed = self._launch.conversation if self._launch.fork is None else None
        prompts = [one.text for one in self._store.prompts(self._session) if one.turn == self._turn]
        prompts += [one.text for one in LiveLog(self._store.database, self._session).steered_into(self._turn)]
        if resumed in (None, name) or any(map(self._agent.begins_conversation, prompts)):
            return None
        return f"its output names another conversation than it resumed, {name}, which is not taken"
