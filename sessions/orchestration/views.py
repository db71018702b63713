"""Workers as results, made to fit: the more there are, the less of each."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec import Struct

from ..asks.model import Verdict
from ..model import Session
from ..text.units import dollars
from .facts import TurnFacts, did, facts_of, shared, touched
from .family import Family, need
from .quoting import words
from .results import Asked, Did, Shared, WorkerResult

if TYPE_CHECKING:
    from ..asks.model import Ask
    from ..asks.recorded import RecordedAsk
    from .calls import Calls

MOST_CHARACTERS = 24_000
"""The most characters of a result in JSON, whatever the workers say."""

_SLACK = 800
"""Room for the overview and the next step."""

MOST_AT_ONCE = 20
"""The most ends that one call names."""


class Detail(Struct, frozen=True, kw_only=True):
    """The room that a result has for each worker."""

    answer: int = 4_000
    names: int = 20
    text: int = 300
    """Characters of a title, a reason, a question."""
    brief: int = 200
    """The most workers without facts that are listed."""


LEVELS = (
    Detail(),
    Detail(answer=2_000, names=10, text=200),
    Detail(answer=1_000, names=6, text=120, brief=80),
    Detail(answer=500, names=3, text=80, brief=40),
    Detail(answer=200, names=1, text=50, brief=25),
    Detail(answer=0, names=0, text=30, brief=20),
)
"""From the most to the least; the last fits for :data:`MOST_AT_ONCE` workers."""

R = TypeVar("R", bound=Struct)


def fitted(make: Callable[[Detail], R]) -> R:
    """Return the first result that is short enough, from the most detail to the least."""
    for detail in LEVELS:
        result = make(detail)
        if len(msgspec.json.encode(result).decode()) <= MOST_CHARACTERS - _SLACK:
            break
    return result


class Views:
    """Makes results of workers.

    Args:
        calls: the call.
        family: the caller's workers.
    """

    def __init__(self, calls: "Calls", family: Family) -> None:
        self._reader = calls.manager.reader
        self._family = family
        self._facts: dict[str, TurnFacts | None] = {}
        self._touched: dict[str, set[str]] = {}

    def brief(self, session: Session, detail: Detail, *, message: bool = False) -> WorkerResult:
        """Return a worker as its row records it; no file is read."""
        return self._made(session, detail, message=message)

    def whole(self, session: Session, detail: Detail) -> WorkerResult:
        """Return a worker with what it did in its newest turn, what it asks, and its answer."""
        facts = self._facts_of(session) if session.steps or session.status.ended else None
        if facts is None:
            return self._made(session, detail)
        answer = words_of_answer(facts.answer, detail.answer)
        work = did(facts, detail.names)
        if facts.touched and detail.names:
            work = msgspec.structs.replace(work, also_changed=self._also_changed(session, detail))
        left_out = ""
        if session.status.ended and facts.answer_size > detail.answer:
            name, missing = self._family.name(session.id), facts.answer_size - len(answer)
            left_out = f'{missing:,} of {facts.answer_size:,} characters: read(session="{name}")'
        return self._made(
            session,
            detail,
            did=work if work != Did() else None,
            answer=answer if session.status.ended else "",
            answer_left_out=left_out,
        )

    def _also_changed(self, session: Session, detail: Detail) -> tuple[Shared, ...]:
        facts = self._facts_of(session)
        others = [one for one in self._family.sessions if one.id != session.id and one.steps]
        paths = {self._family.name(one.id): self._touched_by(one) for one in others}
        return shared(facts, paths, detail.names) if facts is not None else ()

    def _facts_of(self, session: Session) -> TurnFacts | None:
        """Return what a worker did in its newest turn; read once for all results of a call."""
        if session.id not in self._facts:
            self._facts[session.id] = facts_of(self._reader, session)
        return self._facts[session.id]

    def _touched_by(self, session: Session) -> set[str]:
        """Return the files that a worker changed; read once for all results of a call."""
        if session.id not in self._touched:
            self._touched[session.id] = touched(self._reader, session)
        return self._touched[session.id]

    def _made(
        self,
        session: Session,
        detail: Detail,
        *,
        message: bool = False,
        did: Did | None = None,
        answer: str = "",
        answer_left_out: str = "",
    ) -> WorkerResult:
        return WorkerResult(
            session=self._family.name(session.id),
            title=words(session.label, min(80, detail.text)),
            agent=session.agent,
            status=str(session.status),
            turn=session.turn,
            lead="" if self._family.is_own(session) or session.parent is None else self._family.name(session.parent),
            key=words(session.key or "", min(80, detail.text)),
            model=words(session.model or "", 40),
            steps=session.steps,
            tokens=session.usage.total_tokens or 0,
            tokens_missing=session.tokens_missing,
            cost_usd=dollars(session.cost_usd),
            cost_about_usd=dollars(session.cost_about_usd),
            cost_missing=session.cost_missing,
            reason=words(session.reason or "", detail.text),
            needs=need(session),
            asks=self._asks(session, detail),
            unread=session.status.ended and session.reported_turn < session.turn,
            archived=session.put_away,
            queued=session.queued,
            did=did,
            message=words(session.last_message or "", min(100, detail.text)) if message else "",
            answer=answer,
            answer_left_out=answer_left_out,
        )

    def _asks(self, session: Session, detail: Detail) -> tuple[Asked, ...]:
        if not session.asking:
            return ()
        return tuple(asked(one, detail, session.cwd) for one in self._reader.asks(session.id)[: max(1, detail.names)])


def asked(recorded: "RecordedAsk", detail: Detail, folder: str) -> Asked:
    """Return what a worker asks, and the decisions that its lead can make; ``folder`` is the worker's."""
    from ..asks.dangerous import only_the_user
    from ..asks.lead_answers import decisions

    ask, reason = recorded.ask, only_the_user(recorded.ask, folder)
    wants = " ".join(question.text for question in ask.questions) or ask.title
    labels = [choice.label for question in ask.questions for choice in question.choices]
    choices: Sequence[str] = labels
    if reason or not ask.questions:
        choices = [str(verdict) for verdict in decisions(ask, folder) if verdict is not Verdict.ANSWER]
    return Asked(
        decides=words(f"the user: {reason}", detail.text) if reason else "",
        ask=recorded.id,
        kind=str(ask.kind),
        wants=words(wants, 2 * detail.text),
        text=text_for_lead(ask, detail.answer),
        why=words(ask.why, detail.text),
        choices=tuple(words(choice, 60) for choice in choices[: max(3, detail.names)]),
    )


MOST_FOR_LEAD = 4_000
"""Most characters of an ask that a lead can allow: no result shows it more."""


def text_for_lead(ask: "Ask", most: int = MOST_FOR_LEAD) -> str:
    """Return what a lead would allow, cleaned and cut to ``most`` characters; empty if the title has all of it."""
    from ..asks.sentence import title_is_whole
    from ..text.sanitize import clean, shorten
    from ..text.unhidden import unhidden

    return "" if title_is_whole(ask) else shorten(clean(unhidden(ask.body)), most) if most else "…"


def words_of_answer(answer: str, most: int) -> str:
    """Return the beginning of an answer, cleaned; its lines stay."""
    from ..text.sanitize import clean

    return clean(answer[: most * 2]).strip()[:most]
