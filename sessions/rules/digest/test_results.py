"""Recognise commands that run a project's tests, and find the outcome of the tests.

The exit code of a whole line counts if it is that of the tests; else the end of the output does.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from agentdash.sessions.model.session import Step, StepStatus
from agentdash.sessions.rules.digest.shell import Program, programs
from agentdash.sessions.text.sanitize import clean, cut, one_line

_DEEPEST = 3
"""Maximum depth of nested shells that are parsed."""

_MOST_WORDS = 200

_PATH = r"(?:[^ ]*[/\\])?"
_BEFORE = (
    rf"(?:{_PATH}(?:(?:sudo|doas|env|nice|nohup|setsid|command|exec|time|stdbuf|xvfb-run|npx|bunx|uvx|node|php"
    r"|(?:python|pypy)[0-9.]*|ionice(?: [0-9])?|g?timeout(?: (?:[A-Z]+|[0-9.]+[smhd]?))+)(?:\.exe|\.cmd)?"
    r"|(?:uv|poetry|pipenv|pdm|hatch|rye|pixi|conda|mamba|coverage) run|(?:bundle|mise|npm) (?:exec|x)"
    r"|(?:yarn|pnpm|bun)(?: (?:run|exec|dlx|x))?) )*"
)
"""Programs that run another program; their options are left out before."""

_JOB = re.compile(
    rf"{_BEFORE}{_PATH}(?:"
    r"(?:py\.?test|unittest|tox|nox|nose2|nosetests|stestr|trial|behave|jest|vitest|mocha|ava|jasmine|ctest|rspec"
    r"|cucumber|phpunit|pest|paratest|bats|prove|busted|gotestsum|ginkgo|cargo-nextest|shellspec)(?:\.\w+)?"
    r"|(?:go|deno|dotnet|mix|swift|flutter|dart|zig|bazel|bazelisk|composer|hatch|playwright|lein|sbt|stack|cabal|forge"
    r"|meson|ng|artisan|manage\.py|setup\.py) test|cargo (?:test|t|nextest)|(?:rake|rails) (?:test|spec)|cypress run"
    r"|npm (?:t|tst)|pnpm t|(?:npm(?= test(?: |$)| run)|yarn|pnpm|bun)(?: run(?:-script)?)?"
    r" (?:tests?(?:[-_:]\S*)?|\S*:tests?|(?:unit|e2e|integration)(?:[-_:]\S*)?)"
    r"|(?:g?make|just|task|ninja|nx|turbo)(?: \S+)*?"
    r" (?:(?:unit|integration|e2e)?[-_]?tests?(?:[-_:./]\S*)?|check|e2e|pytest)"
    r"|gradlew?(?:\.bat)?(?: \S+)*?"
    r" (?:\S*:)?(?:test|check|test[A-Z]\w*|integrationTest|connected\w*Test|\w+UnitTest)"
    r"|mvnw?(?:\.cmd)?(?: \S+)*? (?:test|verify|integration-test|(?:surefire|failsafe):\S*test)"
    r")(?= |$)"
)
"""A program without options that runs tests, behind those that start it."""

_BEFORE_SHELL = re.compile(_BEFORE)
_VALUED = frozenset({
    "-C", "-f", "-F", "-g", "-n", "-p", "-u", "-x", "--prefix", "--cwd", "--filter", "--from", "--manifest-path",
    "--dir", "--directory", "--file", "--workspace", "--project", "--package", "--with", "--extra", "--group",
    "--python", "--env-file", "--name", "--exclude-task", "--require", "--import",
})  # fmt: skip
"""Options whose value is the next word."""

_LOOKS_ONLY = frozenset({
    "-h", "--help", "--version", "--collect-only", "--co", "--fixtures", "--markers", "--list", "--listTests",
    "--list-tests", "--no-run", "--show-only", "-DskipTests",
})  # fmt: skip
_SHELL = re.compile(r"(?:.*/)?(?:sh|bash|zsh|dash|ksh)")
_NEVER_FAIL = frozenset({"cd", "pushd", "export", "unset", "source", ".", "set", "ulimit", "echo", "mkdir", "sleep"})
"""Programs before the tests that are not considered the cause of a failure."""

_PYTHON = re.compile(r"(?:.*/)?(?:python|pypy)[0-9.]*")
_LEFT_OUT = re.compile(r"[-+]|[A-Za-z_]\w*=")
"""The beginning of an option, and of a variable with its value."""

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


class Tells(Struct, frozen=True):
    """The meaning of a line's exit code for the tests that it runs."""

    success: bool
    """0 means that the tests passed."""
    failure: bool
    """Any other code means that they did not."""


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


def exit_code_tells(line: str, depth: int = 0) -> Tells | None:
    """Return the meaning of a shell line's exit code; None if the line runs no tests."""
    started = programs(line)
    by_program = [_program_tells(program.words[:_MOST_WORDS], depth) for program in started]
    suites = [tells for tells in by_program if tells is not None]
    if not suites:
        return None
    first = next(place for place, tells in enumerate(by_program) if tells)
    chained = ("&&", "", "|") if "pipefail" in line else ("&&", "")
    ran = first == 0 or started[first - 1].then != "||"
    return Tells(
        success=ran and all(tells.success for tells in suites) and all(p.then in chained for p in started[first:]),
        failure=_failure_tells(started, by_program),
    )


def _failure_tells(started: Sequence[Program], by_program: Sequence[Tells | None]) -> bool:
    """Return whether a nonzero exit code, the last program's or after ``&&`` an earlier one's, means failed tests."""
    last = by_program[-1]
    if last is None or not last.failure or started[-1].then:
        return False
    before = zip(started[:-1], by_program[:-1], strict=True)
    return all(tells or program.then != "&&" or program.words[0] in _NEVER_FAIL for program, tells in before)


def _program_tells(words: Sequence[str], depth: int) -> Tells | None:
    shell = next((place for place, word in enumerate(words) if _SHELL.fullmatch(word)), None)
    if shell is not None and _BEFORE_SHELL.fullmatch("".join(f"{word} " for word in _plain(words[:shell]))):
        inner = _line_of_shell(words[shell + 1 :])
        return exit_code_tells(inner, depth + 1) if inner is not None and depth < _DEEPEST else None
    if not _LOOKS_ONLY.isdisjoint(words):
        return None
    plain = _plain(words)
    own = plain[:1] == ["node"] and "--test" in words
    return Tells(True, True) if own or _JOB.match(" ".join(plain)) else None


def _line_of_shell(arguments: Sequence[str]) -> str | None:
    """Return the line that a shell gets with ``-c``, also as ``-lc``."""
    for option, following in pairwise(arguments):
        if not option.startswith("-"):
            return None
        if option.endswith("c") and not option.startswith("--") and not following.startswith("-"):
            return following
    return None


def _plain(words: Sequence[str]) -> list[str]:
    """Return the words that are neither options nor their values nor variables; ``python -m x`` as ``x``."""
    module = next((n for n, word in enumerate(words) if word == "-m" and any(map(_PYTHON.fullmatch, words[:n]))), None)
    words, plain, is_value = words[module or 0 :], [], False
    for word in words:
        if not is_value and not _LEFT_OUT.match(word):
            plain.append(word)
        is_value = not is_value and word in _VALUED
    return plain
