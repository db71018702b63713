"""Find the outcome of a command that ran tests: by its exit code if conclusive, else by the end of its output."""

import re

from msgspec import Struct

from agentdash.sessions.model.session import Step, StepStatus
from agentdash.sessions.rules.digest.test_commands import Tells, exit_code_tells
from agentdash.sessions.text.sanitize import clean, cut, one_line

_TAIL_CHARACTERS = 8_000
_TAIL_LINES = 60
"""Lines at the end of the output to search, because a summary is there."""

_MOST_LINES = 4
"""Maximum number of a summary's last lines that are kept."""

_SUMMARY_CELLS = 120
_COMMAND_CELLS = 120

_SUMMARY = re.compile(
    r"\b[0-9]+ (?:passed|failed|errors?|errored|skipped|xfailed|xpassed|deselected|passing|failing|pending|pass|fail)\b"
    r"|(?<!running )\b[0-9]+ (?:tests?|examples?|specs?|scenarios?)\b|\b[0-9]+ expect\(\) calls|\b[0-9]+% tests passed"
    r"|^no tests ran\b|^Ran [0-9]+ tests?\b|^(?:OK|FAILED)(?: \(.*\))?$|^test result: |^# (?:pass|fail) [0-9]+$"
    r"|^Tests?(?: Suites)?:? +[0-9]|\bTests run: [0-9]|\b(?:Passed|Failed): +[0-9]|^(?:ok|FAIL)(?:[ \t]|$)"
)
"""Lines in which pytest, unittest, jest, vitest, mocha, go, cargo, ctest, maven, dotnet and others sum up."""

_BAD = re.compile(
    r"\b[1-9][0-9]* (?:tests? )?(?:failed|failing|fail|failures?|errors?|errored)\b|^# fail [1-9]|(?-i:\bFAIL(?:ED)?\b)"
    r"|\b(?:failures|errors|failed)(?:=|: +)[1-9]",
    re.MULTILINE | re.IGNORECASE,
)
_GOOD = re.compile(
    r"\b[1-9][0-9]* (?:passed|passing|pass)\b|^# pass [1-9]|\bok\b|100% tests passed"
    r"|\b0 (?:tests? )?(?:failed|failing|failures)\b|\b(?:failures|failed)(?:=|: +)0\b",
    re.MULTILINE | re.IGNORECASE,
)
_SOME = re.compile(r"[1-9]")
_FRAME = "=-_ \t"


class SuiteRun(Struct, frozen=True, kw_only=True):
    """One command that ran tests."""

    command: str
    """On one line, cut."""
    passed: bool | None = None
    """None if not known: it is still running, or its exit code is that of another program (``pytest | tail``)."""
    exit_code: int | None = None
    """The exit code of the whole command line."""
    summary: str | None = None
    """The summary at the end of the output, such as ``41 passed, 2 failed in 3.2s``."""


def suite_run(step: Step) -> SuiteRun | None:
    """Return the test run of a command step; None if it ran no tests."""
    command = step.command or step.text
    tells = exit_code_tells(command) if step.status is not StepStatus.DECLINED else None
    if tells is None:
        return None
    lines = _summary_lines(step.output or "")
    return SuiteRun(
        command=one_line(command, _COMMAND_CELLS),
        passed=_passed(step, tells, "\n".join(lines)),
        exit_code=step.exit_code,
        summary=cut(", ".join(lines), _SUMMARY_CELLS) or None,
    )


def _passed(step: Step, tells: Tells, summary: str) -> bool | None:
    failed = step.exit_code != 0 if step.exit_code is not None else step.status is StepStatus.FAILED
    if step.exit_code == 0 and tells.success:
        return True
    if failed and tells.failure:
        return False
    if _BAD.search(summary):
        return False
    return True if _GOOD.search(summary) else None


def _summary_lines(output: str) -> list[str]:
    """Return the last group of adjacent summary lines, preferably one with a count above zero."""
    groups: list[list[str]] = [[]]
    for line in clean(output[-_TAIL_CHARACTERS:]).split("\n")[-_TAIL_LINES:]:
        text = one_line(line.strip(_FRAME))
        if _SUMMARY.search(text):
            groups[-1].append(text)
        elif text and groups[-1]:
            groups.append([])
    known = [group[-_MOST_LINES:] for group in groups if group]
    counting = [group for group in known if any(map(_SOME.search, group))]
    return (counting or known or [[]])[-1]
