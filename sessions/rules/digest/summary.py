"""Format a digest in at most two lines: the actions with their results, and the agent's last message."""

from itertools import groupby

from agentdash.sessions.rules.costs.cost import AT_LEAST, cost_words
from agentdash.sessions.rules.digest.collect import COUNTED_FILES, Digest
from agentdash.sessions.rules.digest.test_results import SuiteRun
from agentdash.sessions.text.sanitize import one_line
from agentdash.sessions.text.units import count, line_change

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
