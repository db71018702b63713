"""Workers as results: their facts, counted from their own steps, beside their words.

The more workers there are, the less of each is in a result, so that it fits.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec import Struct, structs

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.mcp.orchestration.calls import Calls, Family, need
from agentdash.sessions.mcp.orchestration.quoting import words
from agentdash.sessions.mcp.orchestration.schemas import Asked, Did, Shared, WorkerResult
from agentdash.sessions.model.errors import AgentdashError
from agentdash.sessions.model.session import Session, Step, StepKind
from agentdash.sessions.rules.asks.model import Ask, Verdict
from agentdash.sessions.rules.digest.collect import Digest, changed_lines, digest
from agentdash.sessions.rules.step_outcome import changed_files
from agentdash.sessions.text.sanitize import clean, shorten
from agentdash.sessions.text.unhidden import unhidden
from agentdash.sessions.text.units import dollars

if TYPE_CHECKING:
    from agentdash.sessions.rules.asks.recorded import RecordedAsk
    from agentdash.sessions.service.reader import SessionReader


KEPT_ANSWER = 8_000
"""Characters of an answer that are kept with its facts; ``read`` has all of it."""

_MOST_PATHS = 1_000
"""The most changed files of one turn that are compared with those of other workers."""

_TURNS = 20
"""The newest turns of a worker whose files are compared."""

_REMEMBERED = 400
"""Turns whose facts are kept, so that a repeated call does not read their files again."""

_STDERR_BYTES = 64 * 1024
"""The end of a turn's stderr, which names edits that some agents have no event for."""

_PATH, _TEST, _COMMAND = 160, 200, 160


class TurnFacts(Struct, frozen=True, kw_only=True):
    """The facts of one turn."""

    digest: Digest
    touched: Mapping[str, str]
    """Changed files: the absolute path, and the path that is shown."""
    answer: str
    """The beginning of the agent's own last message; empty without one."""
    answer_size: int


_known: dict[tuple[str, int, int], TurnFacts] = {}


def facts_of(reader: "SessionReader", session: Session, turn: int | None = None) -> TurnFacts | None:
    """Return the facts of a turn (default: the newest), or None if its output cannot be read."""
    number = turn or session.turn
    key = (session.id, number, session.updated_at if number == session.turn else 0)
    found = _known.get(key)
    if found is None:
        try:
            found = collected(reader.steps.each_step(session.id, number), session.cwd)
            complaints = agent_named(session.agent).complaints
            stderr = reader.outputs.stderr_tail(session.id, number, _STDERR_BYTES)[0] if complaints is not None else ""
            unnamed = complaints.failed_edits(stderr) if complaints is not None else 0
            counted = structs.replace(found.digest, edits_failed=found.digest.edits_failed + unnamed)
            found = structs.replace(found, digest=counted)
        except (AgentdashError, OSError):
            return None
        while len(_known) >= _REMEMBERED:
            _known.pop(next(iter(_known)), None)
        _known[key] = found
    return found


def collected(steps: Iterable[Step], cwd: str) -> TurnFacts:
    """Return the facts of the steps of one turn."""
    answer, touched = "", dict[str, str]()

    def noted() -> Iterator[Step]:
        """Yield the steps, and note what a digest does not keep: the last message in full, absolute paths."""
        nonlocal answer
        for step in steps:
            if step.kind is StepKind.MESSAGE and step.parent is None and step.text.strip():
                answer = step.text
            for place, _ in changed_files(step, cwd):
                if len(touched) < _MOST_PATHS:
                    touched[place.absolute] = place.shown
            yield step

    counted = digest(noted(), cwd)
    return TurnFacts(digest=counted, touched=touched, answer=answer[:KEPT_ANSWER], answer_size=len(answer))


def did(facts: TurnFacts, names: int) -> Did:
    """Return the facts as a result, with at most this many names of each kind."""
    counted = facts.digest
    run = counted.tests[-1] if counted.tests else None
    outcome = {True: "passed", False: "failed", None: "outcome not known"}[run.passed if run else None]
    return Did(
        commands=counted.commands,
        commands_failed=counted.commands_failed,
        failed=tuple(
            f"{words(one.command, _COMMAND)}{'' if one.exit_code is None else f' -> exit {one.exit_code}'}"
            for one in counted.failures[:names]
        ),
        files_changed=tuple(words(path, _PATH) for path in counted.files[:names]),
        more_files=max(0, counted.files_changed - len(counted.files[:names])),
        lines=changed_lines(counted),
        edits_failed=counted.edits_failed,
        test_runs=counted.test_runs,
        test_runs_failed=counted.test_runs_failed,
        last_test=words(f"{outcome}: {run.summary or run.command}", _TEST) if run else "",
        tools_failed=counted.tool_calls_failed,
        declined=counted.declined,
        errors=counted.errors,
        error=words(counted.error or "", _COMMAND),
    )


def touched(reader: "SessionReader", session: Session) -> set[str]:
    """Return the files that a worker changed in its newest turns, as absolute paths."""
    found: set[str] = set()
    for turn in range(max(1, session.turn - _TURNS + 1), session.turn + 1):
        facts = facts_of(reader, session, turn)
        found.update(facts.touched if facts is not None else ())
    return found


def shared(facts: TurnFacts, others: Mapping[str, set[str]], names: int) -> tuple[Shared, ...]:
    """Return the files of a turn that others changed too.

    Args:
        others: the other workers' names, and the absolute paths of the files that they changed.
        names: the most files to name.
    """
    found = []
    for absolute, shown in facts.touched.items():
        by = tuple(name for name, paths in others.items() if absolute in paths)
        if by:
            found.append(Shared(file=words(shown, _PATH), by=by[:names]))
    return tuple(found[:names])


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
    """Makes results of workers."""

    def __init__(self, calls: Calls, family: Family) -> None:
        self._reader = calls.manager.reader
        self._family = family
        self._facts: dict[str, TurnFacts | None] = {}
        self._touched: dict[str, set[str]] = {}

    def whole(self, session: Session, detail: Detail) -> WorkerResult:
        """Return a worker with what it did in its newest turn, what it asks, and its answer."""
        made = self.brief(session, detail)
        facts = self._facts_of(session) if session.steps or session.status.ended else None
        if facts is None:
            return made
        work = did(facts, detail.names)
        if facts.touched and detail.names:
            others = [one for one in self._family.sessions if one.id != session.id and one.steps]
            paths = {self._family.name(one.id): self._touched_by(one) for one in others}
            work = structs.replace(work, also_changed=shared(facts, paths, detail.names))
        made = structs.replace(made, did=work if work != Did() else None)
        if not session.status.ended:
            return made
        answer, left_out = clean(facts.answer[: detail.answer * 2]).strip()[: detail.answer], ""
        if facts.answer_size > detail.answer:
            missing = facts.answer_size - len(answer)
            left_out = f'{missing:,} of {facts.answer_size:,} characters: read(session="{made.session}")'
        return structs.replace(made, answer=answer, answer_left_out=left_out)

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

    def brief(self, session: Session, detail: Detail, *, message: bool = False) -> WorkerResult:
        """Return a worker as its row records it; no file is read."""
        asks = self._reader.asks(session.id) if session.asking else []
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
            asks=tuple(asked(one, detail, session.cwd) for one in asks[: max(1, detail.names)]),
            unread=session.status.ended and session.reported_turn < session.turn,
            archived=session.put_away,
            queued=session.queued,
            message=words(session.last_message or "", min(100, detail.text)) if message else "",
        )


def asked(recorded: "RecordedAsk", detail: Detail, folder: str) -> Asked:
    """Return what a worker asks, and the decisions that its lead can make; ``folder`` is the worker's."""
    from agentdash.sessions.rules.asks.answers import decisions
    from agentdash.sessions.rules.asks.dangerous import only_the_user

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


def text_for_lead(ask: Ask, most: int = MOST_FOR_LEAD) -> str:
    """Return what a lead would allow, cleaned and cut to ``most`` characters; empty if the title has all of it."""
    from agentdash.sessions.rules.asks.answers import title_is_whole

    return "" if title_is_whole(ask) else shorten(clean(unhidden(ask.body)), most) if most else "…"
