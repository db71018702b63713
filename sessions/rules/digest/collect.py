"""Collect the facts of a part of a session: counted while its steps are read, without any language model.

Memory does not grow with the session: it holds counts, and a few examples of each counted kind.  What the rows of its
turns record about that part is added.  In words, a digest has at most two lines: the actions with their results, and
the agent's last message."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from itertools import chain, groupby
from typing import Any

from msgspec import Struct, field, structs

from agentdash.sessions.model.session import MESSAGE_CHARACTERS, Session, Step, StepKind, StepStatus, Turn, Usage
from agentdash.sessions.rules.conversation.shown import IsCut, none_cut
from agentdash.sessions.rules.costs.cost import AT_LEAST, Cost, cost_words, total_of
from agentdash.sessions.rules.costs.usage_totals import turn_cost
from agentdash.sessions.rules.digest.test_results import SuiteRun, suite_run
from agentdash.sessions.rules.step_outcome import changed_files, failed
from agentdash.sessions.text.relative_paths import Place
from agentdash.sessions.text.sanitize import clean, one_line, shorten
from agentdash.sessions.text.units import count, line_change

NAMED_FAILURES, NAMED_FILES, NAMED_RUNS = 3, 20, 20
"""Number of failed commands, changed files and test runs that are listed; all are counted."""

COUNTED_FILES = 10_000
"""Upper bound of the count of different files, because each of them has to be remembered."""

_CELLS = 200
"""Maximum width, in cells, of a listed command, path or error."""


class FailedCommand(Struct, frozen=True, kw_only=True):
    """One command that failed."""

    command: str
    exit_code: int | None = None


class Digest(Struct, frozen=True, kw_only=True):
    """The facts.  Each count of failures is included in the count of its kind."""

    steps: int = 0
    """All but the prompts."""
    steps_cut: int = 0
    """The steps that were cut by going back.  They count as all others, because what they did was not undone."""
    prompts: int = 0
    commands: int = 0
    commands_failed: int = 0
    failures: tuple[FailedCommand, ...] = ()
    """The first commands that failed."""
    files_changed: int = 0
    """Different files, up to ``COUNTED_FILES``."""
    files: tuple[str, ...] = ()
    """The first of them, relative to the session's folder."""
    lines_added: int | None = None
    """Of the changes whose diff is known; None if no diff is known."""
    lines_removed: int | None = None
    lines_partial: bool = False
    """True if a change has no known diff: the counts of lines are then a minimum."""
    edits_failed: int = 0
    """Steps that failed to change files."""
    test_runs: int = 0
    test_runs_failed: int = 0
    tests: tuple[SuiteRun, ...] = ()
    """The last commands that ran tests, in their order."""
    tool_calls: int = 0
    tool_calls_failed: int = 0
    web_searches: int = 0
    subagents: int = 0
    declined: int = 0
    """Steps that were not done, because the agent had no permission; they count as nothing else."""
    errors: int = 0
    errors_fatal: int = 0
    error: str | None = None
    """The last fatal error, or the last error if none is fatal; of the steps that were not cut."""
    usage: Usage = field(default_factory=Usage)
    """Token usage of exactly this part, if known; steps do not carry it."""
    tokens_missing: int = 0
    """Turns of this part of whose tokens a part is not known."""
    cost: Cost = Cost()
    last_message: str | None = None
    """The beginning of the last message of the agent itself that was not cut."""


def digest(steps: Iterable[Step], cwd: str, is_cut: IsCut = none_cut) -> Digest:
    """Summarise the steps; paths are relative to ``cwd``, and ``is_cut`` names the steps that were cut."""
    count = _Count(cwd, is_cut)
    for step in steps:
        count.add(step)
    return count.digest()


def is_prompt(step: Step) -> bool:
    """Return whether it is the prompt of its turn: the one kind of step that no runner counts."""
    return step.kind is StepKind.PROMPT and step.index == 0 and step.parent is None


def after_marker(steps: Iterable[Step], seen_steps: int, seen_at: int | None = None) -> Iterator[Step]:
    """Yield the steps after the first ``seen_steps``, prompts included.

    Prompts are not counted, because runners do not count them.  With ``seen_at`` (UTC ms), also yield the seen steps
    that ended later: commands that were still running then.
    """
    for step in steps:
        if seen_steps <= 0:
            yield step
        elif not is_prompt(step):
            seen_steps -= 1
            if seen_at is not None and step.ended_at is not None and step.ended_at > seen_at:
                yield step


class _Count:
    """The sums so far."""

    def __init__(self, cwd: str, is_cut: IsCut) -> None:
        self._cwd = cwd
        self._is_cut = is_cut
        self._sums: dict[str, Any] = {}  # whole numbers
        self._failures: list[FailedCommand] = []
        self._files: set[int] = set()
        self._named: list[str] = []
        self._lines: tuple[int, int] | None = None
        self._partial = False
        self._runs: deque[SuiteRun] = deque(maxlen=NAMED_RUNS)
        self._error: str | None = None
        self._fatal = False
        self._said: str | None = None

    def add(self, step: Step) -> None:
        """Count one step."""
        if is_prompt(step):
            self._more("prompts")
            return
        self._more("steps")
        cut = self._is_cut(step)
        self._more("steps_cut", cut)
        if step.status is StepStatus.DECLINED:
            self._more("declined")
            return
        match step.kind:
            case StepKind.COMMAND:
                self._command(step)
            case StepKind.FILE_CHANGE:
                self._changed(step)
            case StepKind.TOOL_CALL:
                self._more("tool_calls")
                self._more("tool_calls_failed", failed(step))
            case StepKind.WEB_SEARCH:
                self._more("web_searches")
            case StepKind.SUBAGENT:
                self._more("subagents")
            case StepKind.ERROR:
                self._went_wrong(step, cut=cut)
            case StepKind.MESSAGE if not cut and step.parent is None and step.text.strip():
                self._said = shorten(clean(step.text).strip(), MESSAGE_CHARACTERS)

    def digest(self) -> Digest:
        """Return the totals."""
        added, removed = self._lines or (None, None)
        return Digest(
            failures=tuple(self._failures),
            files_changed=len(self._files),
            files=tuple(self._named),
            lines_added=added,
            lines_removed=removed,
            lines_partial=self._partial,
            tests=tuple(self._runs),
            error=self._error,
            last_message=self._said,
            **self._sums,
        )

    def _more(self, name: str, more: int = 1) -> None:
        self._sums[name] = self._sums.get(name, 0) + more

    def _command(self, step: Step) -> None:
        self._more("commands")
        run = suite_run(step)
        if run is not None:
            self._more("test_runs")
            self._more("test_runs_failed", run.passed is False)
            self._runs.append(run)
        if failed(step):
            self._more("commands_failed")
            if len(self._failures) < NAMED_FAILURES:
                command = one_line(step.command or step.text, _CELLS)
                self._failures.append(FailedCommand(command=command, exit_code=step.exit_code))

    def _changed(self, step: Step) -> None:
        self._more("edits_failed", failed(step))
        for place, lines in changed_files(step, self._cwd):
            self._touched(place)
            if lines is None:
                self._partial = True
            else:
                before = self._lines or (0, 0)
                self._lines = before[0] + lines[0], before[1] + lines[1]

    def _touched(self, place: Place) -> None:
        key = hash(place.absolute)
        if key in self._files or len(self._files) == COUNTED_FILES:
            return
        self._files.add(key)
        if len(self._named) < NAMED_FILES:
            self._named.append(one_line(place.shown, _CELLS))

    def _went_wrong(self, step: Step, *, cut: bool) -> None:
        fatal = bool(step.fatal)
        if not cut and (fatal or not self._fatal):
            self._fatal = fatal
            self._error = one_line(step.text[:MESSAGE_CHARACTERS], _CELLS) or None
        self._more("errors")
        self._more("errors_fatal", fatal)


Steps = Callable[[int | None], Iterator[Step]]
"""The steps of one turn, or of all."""


def digest_of(
    session: Session,
    turns: Sequence[Turn],
    steps: Steps,
    *,
    turn: int | None = None,
    whole: bool = False,
    is_cut: IsCut = none_cut,
) -> Digest:
    """Digest one turn, the whole session, or everything since the user last opened it.

    ``is_cut`` names the steps that were cut by going back.
    """
    seen_steps, seen_at = session.seen_steps, session.seen_at
    if turn is not None:
        chosen = [one for one in turns if one.n == turn]
        return _with_usage(digest(steps(turn), session.cwd, is_cut), chosen)
    if whole or seen_steps is None or seen_at is None:
        return _with_usage(digest(steps(None), session.cwd, is_cut), turns)
    unseen, seen = unseen_turns(turns, seen_steps, seen_at)
    new = after_marker(chain.from_iterable(steps(one.n) for one in unseen), seen, seen_at)
    return _with_usage(digest(new, session.cwd, is_cut), unseen if seen == 0 else ())


def unseen_turns(turns: Sequence[Turn], seen_steps: int, seen_at: int) -> tuple[Sequence[Turn], int]:
    """Return the turns that may hold something new, and the number of steps seen of the first of them.

    A turn that had ended by then (UTC ms), and whose steps were all seen, holds nothing new.  Turns are separated
    by their rows, because readers add a step to a failed turn, its reason, that no runner counts.
    """
    for place, turn in enumerate(turns):
        if turn.ended_at is None or turn.ended_at > seen_at or turn.steps > seen_steps:
            return turns[place:], seen_steps
        seen_steps -= turn.steps
    return (), 0


def _with_usage(digest: Digest, turns: Sequence[Turn]) -> Digest:
    """Add the usage of whole turns from their rows; the usage of a part of a turn is not known."""
    usage = reduce(Usage.plus, (turn.usage for turn in turns), Usage())
    missing = sum(turn.tokens_missing for turn in turns)
    return structs.replace(digest, usage=usage, tokens_missing=missing, cost=total_of(map(turn_cost, turns)))


COMMAND_CELLS, ERROR_CELLS, MESSAGE_CELLS, SUMMARY_CELLS = 40, 80, 100, 60

_FEW_CHANGES = 3
"""Maximum number of alternating outcomes, passed or failed, that are listed one by one."""


def digest_lines(d: Digest) -> list[str]:
    """Return one line of facts, and one of the last message if there is one; none if nothing happened."""
    facts = [
        count(d.prompts, "prompt") if d.prompts > 1 else "",
        _commands(d),
        _files(d),
        _failed_edits(d),
        _tests(d),
        _of(d.tool_calls, "tool call", d.tool_calls_failed),
        _of(d.web_searches, "web search", 0, "web searches"),
        _of(d.subagents, "sub-agent", 0),
        _declined(d),
        f"{count(d.steps_cut, 'step')} cut by going back" if d.steps_cut else "",
        _errors(d),
        _tokens(d),
        cost_words(d.cost),
    ]
    work = " · ".join(filter(None, facts)) or (count(d.steps, "step") if d.steps else "")
    last = f'last: "{one_line(d.last_message, MESSAGE_CELLS)}"' if d.last_message else ""
    return [line for line in (work, last) if line]


def _tokens(d: Digest) -> str:
    if d.usage.total_tokens is None:
        return ""
    return f"{AT_LEAST if d.tokens_missing else ''}{count(d.usage.total_tokens, 'token')}"


def counts(d: Digest) -> tuple[str, ...]:
    """Return the counts that are not zero, without any words of the agent."""
    facts = (
        _of(d.commands, "command", d.commands_failed),
        _files(d),
        _failed_edits(d),
        _of(d.test_runs, "test run", d.test_runs_failed),
        _declined(d),
        _of(d.errors, "error", 0),
    )
    return tuple(filter(None, facts))


def _of(number: int, one: str, failed: int, many: str | None = None) -> str:
    total = count(number, one, many) if number else ""
    return f"{total}, {failed:,} failed" if failed else total


def _commands(d: Digest) -> str:
    named = [f"`{one_line(failure.command, COMMAND_CELLS)}`{_exit(failure.exit_code)}" for failure in d.failures]
    more = ["…"] if d.commands_failed > len(named) else []
    why = f" ({', '.join(named + more)})" if named else ""
    return _of(d.commands, "command", d.commands_failed) + why


def _exit(code: int | None) -> str:
    return "" if code is None else f" exit {code}"


def _files(d: Digest) -> str:
    if not d.files_changed:
        return ""
    number = f"{COUNTED_FILES:,} or more files" if d.files_changed == COUNTED_FILES else count(d.files_changed, "file")
    return " ".join(filter(None, (f"{number} changed", changed_lines(d))))


def changed_lines(d: Digest) -> str:
    """Return the changed lines: ``at least +1 -1`` if a diff is missing; "" if no diff is known."""
    if d.lines_added is None or d.lines_removed is None:
        return ""
    return line_change(d.lines_added, d.lines_removed, least=d.lines_partial)


def _failed_edits(d: Digest) -> str:
    return f"{count(d.edits_failed, 'edit')} failed" if d.edits_failed else ""


def _declined(d: Digest) -> str:
    return f"{count(d.declined, 'step')} declined" if d.declined else ""


def _tests(d: Digest) -> str:
    """``tests: failed, then passed (41 passed in 3.2s)``; the summary is the last run's."""
    if not d.tests:
        return ""
    last = d.tests[-1]
    changes = [outcome for outcome, _ in groupby(map(_outcome, d.tests))]
    if d.test_runs == len(d.tests) and len(changes) <= _FEW_CHANGES:
        how = ", then ".join(changes)
    else:
        how = f"{d.test_runs:,} runs, {d.test_runs_failed:,} failed; the last: {_outcome(last)}"
    return f"tests: {how}" + (f" ({one_line(last.summary, SUMMARY_CELLS)})" if last.summary else "")


def _outcome(run: SuiteRun) -> str:
    return {True: "passed", False: "failed", None: "outcome unknown"}[run.passed]


def _errors(d: Digest) -> str:
    if not d.errors:
        return ""
    kind = "fatal error" if d.errors_fatal else "error"
    number = count(d.errors, "error") if d.errors > 1 else kind
    return f"{number}: {one_line(d.error, ERROR_CELLS)}" if d.error else number
