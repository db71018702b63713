"""The questions of live agents: read them, and record the user's answers."""

from agentdash.sessions.rules.asks.answers import NO_LONGER, decision_line, fate
from agentdash.sessions.rules.asks.model import Answer
from agentdash.sessions.rules.asks.recorded import RecordedAsk
from agentdash.tui.services.desk import Actions, Desk
from agentdash.tui.state.answer_drafts import AnswerDrafts
from agentdash.tui.texts.act_texts import decided

_TITLE_CELLS = 200
"""Most cells of a message about an answer."""


class AskActions(Actions):
    """Reads and answers asks in threads; a read-only dashboard reads them alone."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.drafts = AnswerDrafts()
        """The unfinished answers."""

    @property
    def read_only(self) -> bool:
        """True if every answer is refused."""
        return self._access.read_only

    async def waiting(self, session_id: str) -> list[RecordedAsk] | None:
        """Return the asks of a session that wait, the oldest first; None after an error, which is shown."""
        return await self._requests.ask(lambda: self._reader.asks(session_id))

    async def fate(self, ask_id: int) -> str:
        """Return the end of an ask that no longer waits, as a clause."""
        recorded = await self._requests.outcome_of(lambda: self._reader.ask(ask_id))
        return (fate(recorded) if recorded is not None else "") or NO_LONGER

    async def answer(self, ask_id: int, answer: Answer, note: str = "") -> str | None:
        """Record the user's answer, and show a message that ends with a note; return the reason if it was refused."""
        recorded, reason = await self._requests.outcome(
            lambda: self._access.manager("answer").asks.answer(ask_id, answer)
        )
        if recorded is not None:
            session = await self._requests.outcome_of(self._reader.by_id, recorded.session)
            line = decision_line(recorded, _TITLE_CELLS)
            self._requests.show_message(decided(session, line, note) if session is not None else line + note)
        return reason

    def show_error(self, reason: str) -> None:
        """Show on the screen on top why an answer was refused."""
        self._requests.show_error(reason)
