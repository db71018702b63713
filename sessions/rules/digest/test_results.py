"""Recognise commands that run a project's tests, and find their outcome.

It is that of the exit code, if that of the whole line shows it, else that of the end of the output.
"""

import re
from collections.abc import Sequence
from itertools import takewhile

from msgspec import Struct

from agentdash.sessions.model.session import Step, StepStatus
from agentdash.sessions.rules.digest.shell import Program, programs
from agentdash.sessions.text.sanitize import clean, cut, one_line

_DEEPEST = 3
"""Maximum depth of nested shells that are parsed."""

_MOST_WRAPPERS = 10
_MOST_WORDS = 200

_ALWAYS = frozenset({
    "pytest", "py.test", "unittest", "tox", "nox", "nose2", "nosetests", "stestr", "trial", "behave", "jest", "vitest",
    "mocha", "ava", "jasmine", "ctest", "rspec", "cucumber", "phpunit", "pest", "paratest", "bats", "prove", "busted",
    "gotestsum", "ginkgo", "cargo-nextest", "shellspec",
})  # fmt: skip
"""Programs that do nothing but run tests."""

_VERBS = {
    "go": {"test"}, "cargo": {"test", "t", "nextest"}, "npm": {"test", "t", "tst"}, "pnpm": {"t"}, "deno": {"test"},
    "dotnet": {"test"}, "mix": {"test"}, "swift": {"test"}, "flutter": {"test"}, "dart": {"test"}, "zig": {"test"},
    "bazel": {"test"}, "bazelisk": {"test"}, "rake": {"test", "spec"}, "rails": {"test", "spec"}, "artisan": {"test"},
    "composer": {"test"}, "hatch": {"test"}, "playwright": {"test"}, "cypress": {"run"}, "lein": {"test"},
    "sbt": {"test"}, "stack": {"test"}, "cabal": {"test"}, "forge": {"test"}, "meson": {"test"}, "ng": {"test"},
    "manage.py": {"test"}, "setup.py": {"test"},
}  # fmt: skip
"""Programs that run tests if their first word is one of these."""

_TARGET = re.compile(r"(?:(?:unit|integration|e2e)?[-_]?tests?(?:[-_:./].*)?|check|e2e|pytest)")
_GRADLE_TASK = re.compile(r"\A(?:.*:)?(?:test|check|test[A-Z]\w*|integrationTest|connected\w*Test|\w+UnitTest)")
_MAVEN_GOAL = re.compile(r"\A(?:test|verify|integration-test|(?:surefire|failsafe):.*test)")
_TARGETS = {
    "make": _TARGET, "gmake": _TARGET, "just": _TARGET, "task": _TARGET, "ninja": _TARGET, "nx": _TARGET,
    "turbo": _TARGET, "gradle": _GRADLE_TASK, "gradlew": _GRADLE_TASK, "mvn": _MAVEN_GOAL, "mvnw": _MAVEN_GOAL,
}  # fmt: skip
"""Programs that run tests if any of their words matches."""

_SCRIPTS = frozenset({"npm", "yarn", "pnpm", "bun"})
"""Programs that run the scripts of a ``package.json``."""

_SCRIPT = re.compile(r"tests?(?:[-_:].*)?|.*:tests?|(?:unit|e2e|integration)(?:[-_:].*)?")

_WRAPPERS: dict[str, frozenset[str]] = {
    "sudo": frozenset({"-u", "-g", "-D", "-p"}), "doas": frozenset({"-u"}), "env": frozenset({"-u", "-C"}),
    "nice": frozenset({"-n"}), "ionice": frozenset({"-c", "-n"}), "timeout": frozenset({"-s", "-k"}),
    "gtimeout": frozenset({"-s", "-k"}), "nohup": frozenset(), "setsid": frozenset(), "command": frozenset(),
    "exec": frozenset({"-a"}), "time": frozenset({"-f", "-o"}), "stdbuf": frozenset({"-i", "-o", "-e"}),
    "xvfb-run": frozenset({"-n", "-s"}), "npx": frozenset({"-p", "--package"}), "bunx": frozenset({"-p"}),
    "uvx": frozenset({"--from", "--with", "-p", "--python"}), "node": frozenset({"-r", "--require", "--import"}),
    "php": frozenset({"-d"}), "python": frozenset({"-X", "-W"}),
}  # fmt: skip
"""Programs that run another program, with those of their options that take a value."""

_OWN_PROGRAM = {
    "python": frozenset({"-c"}), "node": frozenset({"--test", "-e", "-p"}), "php": frozenset({"-r"}),
}  # fmt: skip
"""Options with which some of them run no other program."""

_RUNNERS = {
    "uv": {"run"}, "poetry": {"run"}, "pipenv": {"run"}, "pdm": {"run"}, "hatch": {"run"}, "rye": {"run"},
    "pixi": {"run"}, "conda": {"run"}, "mamba": {"run"}, "bundle": {"exec"}, "coverage": {"run"}, "mise": {"exec", "x"},
    "npm": {"exec", "x"}, "pnpm": {"exec", "dlx"}, "yarn": {"exec", "dlx"}, "bun": {"x"},
}  # fmt: skip
"""Programs that run another program if their first word is one of these."""

_VALUED = frozenset({
    "-C", "-f", "-F", "-n", "-p", "-x", "--prefix", "--cwd", "--filter", "--manifest-path", "--dir", "--directory",
    "--file", "--workspace", "--project", "--package", "--with", "--extra", "--group", "--python", "--env-file",
    "--name", "--exclude-task",
})  # fmt: skip
_LOOKS_ONLY = frozenset({
    "-h", "--help", "--version", "--collect-only", "--co", "--fixtures", "--markers", "--list", "--listTests",
    "--list-tests", "--no-run", "--show-only", "-DskipTests",
})  # fmt: skip
_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh"})
_NEVER_FAIL = frozenset({"cd", "pushd", "export", "unset", "source", ".", "set", "ulimit", "echo", "mkdir", "sleep"})
"""Programs before the tests that are not considered the cause of a failure."""

_PYTHON = re.compile(r"(?:python|pypy)[0-9.]*")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


class Tells(Struct, frozen=True):
    """The meaning of a line's exit code for the tests that it runs."""

    success: bool
    """0 means that the tests passed."""
    failure: bool
    """Any other code means that they did not."""


def exit_code_tells(line: str, depth: int = 0) -> Tells | None:
    """Return the meaning of a shell line's exit code; None if the line runs no tests.

    ``depth`` is the number of shells around it.
    """
    started = programs(line)
    by_program = [_program_tells(program.words, depth) for program in started]
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
    words = _unwrapped(words[:_MOST_WORDS])
    if not words:
        return None
    name, arguments = _name(words[0]), words[1:]
    if name in _SHELLS:
        options = _options(arguments)  # the line follows -c, also as -lc
        given = any(option.endswith("c") and not option.startswith("--") for option in options)
        inner = arguments[len(options)] if given and len(arguments) > len(options) else None
        return exit_code_tells(inner, depth + 1) if inner is not None and depth < _DEEPEST else None
    return Tells(True, True) if _runs_tests(name, arguments) else None


def _options(arguments: Sequence[str]) -> list[str]:
    return list(takewhile(lambda word: word.startswith("-"), arguments))


def _runs_tests(name: str, arguments: Sequence[str]) -> bool:
    if not _LOOKS_ONLY.isdisjoint(arguments):
        return False
    if name in _ALWAYS or (name == "node" and "--test" in arguments):
        return True
    plain = _plain(arguments)
    if name in _TARGETS:
        return any(_TARGETS[name].fullmatch(word) for word in plain)
    if plain and plain[0] in _VERBS.get(name, ()):
        return True
    return name in _SCRIPTS and _is_test_script(name, plain)


def _is_test_script(name: str, plain: Sequence[str]) -> bool:
    """``npm run test:unit``; the other runners also take it without ``run``, and then also a program in its place."""
    if plain and plain[0] in ("run", "run-script"):
        plain = plain[1:]
    elif name == "npm":
        return False
    if not plain:
        return False
    inner = _name(plain[0])
    return _SCRIPT.fullmatch(plain[0]) is not None or (inner not in _SCRIPTS and _runs_tests(inner, plain[1:]))


def _unwrapped(words: Sequence[str]) -> Sequence[str]:
    """Return the program that finally runs: without variables, ``sudo``, ``timeout 60``, ``uv run`` and the like."""
    for _ in range(_MOST_WRAPPERS):
        words = words[sum(1 for _ in takewhile(_ASSIGNMENT.match, words)) :]
        name = _name(words[0]) if words else ""
        if name in _RUNNERS and (behind := _behind_options(words[1:], _VALUED)) and behind[0] in _RUNNERS[name]:
            words = _behind_options(behind[1:], _VALUED)
        elif name in _WRAPPERS and _OWN_PROGRAM.get(name, frozenset()).isdisjoint(_options(words[1:])):
            words = _behind_options(words[1:], _WRAPPERS[name])
            words = words[1:] if name.endswith("timeout") else words
        else:
            return words
    return ()


def _behind_options(words: Sequence[str], valued: frozenset[str]) -> Sequence[str]:
    place = 0
    while place < len(words) and words[place].startswith(("-", "+")):
        place += 2 if words[place] in valued else 1
    return words[place:]


def _plain(arguments: Sequence[str]) -> list[str]:
    """Return the arguments that are neither options nor their values nor variables."""
    plain: list[str] = []
    while arguments := _behind_options(arguments, _VALUED):
        if not _ASSIGNMENT.match(arguments[0]):
            plain.append(arguments[0])
        arguments = arguments[1:]
    return plain


def _name(word: str) -> str:
    """Return the name of a program without its folder and the suffix that some systems add."""
    name = word.replace("\\", "/").rpartition("/")[2]
    for ending in (".exe", ".cmd", ".bat", ".js", ".mjs"):
        name = name.removesuffix(ending)
    return "python" if _PYTHON.fullmatch(name) else name


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
