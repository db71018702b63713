"""The facts of a worker's turn, counted from its own steps, to be shown beside its words."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from ..agents.registry import agent_named
from ..digest.collect import Digest, digest
from ..digest.summary import changed_lines
from ..errors import AgentdashError
from ..model import Session, Step, StepKind
from ..rules.changed_files import changed_files
from .quoting import words
from .results import Did, Shared

if TYPE_CHECKING:
    from ..reader import SessionReader

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
    seen = _Seen(cwd)
    counted = digest(seen.watch(steps), cwd)
    return TurnFacts(
        digest=counted,
        touched=seen.touched,
        answer=seen.answer[:KEPT_ANSWER],
        answer_size=len(seen.answer),
    )


class _Seen:
    """The facts that a digest does not keep: the last message in full, absolute paths."""

    def __init__(self, cwd: str) -> None:
        self._cwd = cwd
        self.answer = ""
        self.touched: dict[str, str] = {}

    def watch(self, steps: Iterable[Step]) -> Iterator[Step]:
        """Yield the steps while they are noted."""
        for step in steps:
            if step.kind is StepKind.MESSAGE and step.parent is None and step.text.strip():
                self.answer = step.text
            for place, _ in changed_files(step, self._cwd):
                if len(self.touched) < _MOST_PATHS:
                    self.touched[place.absolute] = place.shown
            yield step


def did(facts: TurnFacts, names: int) -> Did:
    """Return the facts as a result, with at most this many names of each kind."""
    counted = facts.digest
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
        last_test=_last_test(counted),
        tools_failed=counted.tool_calls_failed,
        declined=counted.declined,
        errors=counted.errors,
        error=words(counted.error or "", _COMMAND),
    )


def _last_test(counted: Digest) -> str:
    if not counted.tests:
        return ""
    run = counted.tests[-1]
    outcome = {True: "passed", False: "failed", None: "outcome not known"}[run.passed]
    return words(f"{outcome}: {run.summary or run.command}", _TEST)


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
        facts: the turn.
        others: the other workers' names, and the absolute paths of the files that they changed.
        names: the most files to name.
    """
    found = []
    for absolute, shown in facts.touched.items():
        by = tuple(name for name, paths in others.items() if absolute in paths)
        if by:
            found.append(Shared(file=words(shown, _PATH), by=by[:names]))
    return tuple(found[:names])
