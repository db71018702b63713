"""The asks of a turn as steps: one notice for each, with the user's decision behind it."""

from msgspec import Struct, field, structs

from ....asks.answers import sentence
from ....asks.model import AskKind
from ....model import Step
from ...parsing.json_lines import NULL, value_of
from ..control_events import Decision, Request, Response
from .asks import MOST_OPEN_ASKS, ask_of

_WORDS = 400
"""Characters of a denial that are shown."""


class AskNotices(Struct, kw_only=True):
    """The open asks of a turn; part of a parser's state."""

    cwd: str = ""
    open: dict[str, Step] = field(default_factory=dict)
    """The notices of the open asks, by the ids of the requests."""
    calls: dict[str, str] = field(default_factory=dict)
    """The tool calls of the open asks."""
    questions: set[str] = field(default_factory=set)
    """The open asks that are questions."""
    denied: list[str] = field(default_factory=list)
    """The tool calls that the user denied and whose results are still to come."""

    @property
    def waiting(self) -> str | None:
        """The oldest open ask as one line; None if there is none."""
        return next((step.text for step in self.open.values()), None)

    def begun(self, key: str, request: Request) -> str | None:
        """Return the line of a request; None if it is not an ask, or is open already."""
        ask = ask_of(key, request, self.cwd)
        if ask is None or key in self.open:
            return None
        self.calls[key] = request.tool_use_id
        if ask.kind is AskKind.QUESTION:
            self.questions.add(key)
        return sentence(ask)

    def keep(self, key: str, step: Step) -> Step:
        """Remember the step of an open ask, and return it; the oldest is dropped if too many are open."""
        self.open[key] = step
        if len(self.open) > MOST_OPEN_ASKS:
            oldest = next(iter(self.open))
            del self.open[oldest]
            self._forget(oldest)
        return step

    def answered(self, response: Response, at: int | None) -> list[Step]:
        """Return the step of an ask that has its answer; none if the response belongs to another request."""
        decision = response.response or Decision()
        call = self.calls.get(response.request_id)
        if call and decision.behavior == "deny":
            self.denied = [*self.denied, call][-MOST_OPEN_ASKS:]
        asks = response.request_id in self.questions and decision.behavior == "allow"
        return self.ended(response.request_id, _answers(decision) if asks else _words(decision), at)

    def ended(self, key: str, how: str, at: int | None) -> list[Step]:
        """Return the step of an ask that is over."""
        self._forget(key)
        step = self.open.pop(key, None)
        return [structs.replace(step, text=f"{step.text} ({how})", ended_at=at)] if step is not None else []

    def _forget(self, key: str) -> None:
        self.calls.pop(key, None)
        self.questions.discard(key)

    def was_denied(self, call: str) -> bool:
        """Return whether the user denied a tool call; the answer is True once for each."""
        if not call or call not in self.denied:
            return False
        self.denied.remove(call)
        return True


def _words(decision: Decision) -> str:
    if decision.behavior == "deny":
        return f"denied{_shown(decision.message)}"
    if decision.behavior == "allow":
        return "allowed" if decision.updated_permissions == NULL else "allowed, also later"
    return {"accept": "answered", "decline": "declined", "cancel": "declined"}.get(decision.action or "", "answered")


def _answers(decision: Decision) -> str:
    """Return the user's answers to questions."""
    given = value_of(decision.updated_input)
    answers = given.get("answers") if isinstance(given, dict) else None
    words = [value for value in answers.values() if isinstance(value, str)] if isinstance(answers, dict) else []
    return f"answered{_shown('; '.join(words))}"


def _shown(text: str) -> str:
    words = " ".join(text[:_WORDS].split())
    return f": {words}" if words else ""
