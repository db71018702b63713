"""The asks of the fake manager, in memory, by the interface of the real ones."""

from factories import T0
from msgspec import structs

from agentdash.sessions.model.errors import SessionBusyError
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.asks.answers import check_answer
from agentdash.sessions.rules.asks.model import Verdict
from agentdash.sessions.rules.asks.recorded import AskState, RecordedAsk


class FakeAsks:
    """Asks that wait, and those that have an answer."""

    def __init__(self, manager):
        self._manager = manager
        self._asks = {}

    def asked(self, ref, ask, *, age=12, due_in=None, overdue=Verdict.DENY):
        """Record an ask, as a runner does; its session waits."""
        number = len(self._asks) + 1
        due = None if due_in is None else T0 + 1000 * due_in
        self._asks[number] = RecordedAsk(
            id=number, session=ref, turn=1, stream=1, ask=ask, state=AskState.OPEN, asked_at=T0 - 1000 * age,
            due_at=due, overdue=None if due is None else overdue,
        )  # fmt: skip
        self._count(ref)
        return number

    def ended(self, ask_id, state, answer=None, by=None):
        """End an ask, as another front end, a rule or the runner does."""
        one = structs.replace(self._asks[ask_id], state=state, answer=answer, answered_by=by, answered_at=T0)
        self._asks[ask_id] = one
        self._count(one.session)
        return one

    def __call__(self, ref=None):
        """Return the asks that wait, as the reader's method of this name does."""
        waiting = [one for one in self._asks.values() if one.state is AskState.OPEN]
        return [one for one in waiting if ref in (None, one.session)]

    def one(self, ask_id):
        return self._asks[ask_id]

    def answer(self, ask_id, answer, by="you"):
        self._manager.asked("answer", ask_id, answer)
        one = self._asks[ask_id]
        if one.state is not AskState.OPEN:
            raise SessionBusyError(f"It was answered by {one.answered_by} 12 s ago.")
        check_answer(one.ask, answer)
        return self.ended(ask_id, AskState.ANSWERED, answer, by)

    def _count(self, ref):
        waiting = [one for one in self._asks.values() if one.session == ref and one.state is AskState.OPEN]
        session = self._manager.get(ref)
        status = Status.WAITING if waiting else Status.RUNNING
        reason = f"asks to {waiting[0].ask.title}" if waiting else None
        self._manager.put(structs.replace(session, asking=len(waiting), status=status, reason=reason))
