"""What a digest counts, and how it tells it."""

from itertools import count

import factories
import pytest
from hostile_text import REMOVED, nasty, steps_saying
from hypothesis import given
from msgspec import structs

from agentdash.sessions.model.session import Change, Status, Step, StepKind, StepStatus, Usage
from agentdash.sessions.rules.costs.cost import Cost
from agentdash.sessions.rules.digest.collect import (
    COUNTED_FILES,
    Digest,
    after_marker,
    counts,
    digest,
    digest_lines,
    digest_of,
    unseen_turns,
)
from agentdash.sessions.rules.json_schema import record_json
from agentdash.sessions.text.sanitize import clean

CWD = "/home/ann/code/api"


def step(kind, text="", *, index=1, **own):
    return Step(kind=kind, index=index, text=text, **({"status": StepStatus.OK} | own))


def prompt(turn=1):
    return Step(kind=StepKind.PROMPT, turn=turn, index=0, text="fix it")


def command(line, code=0, output="", **own):
    status = StepStatus.FAILED if code else StepStatus.OK
    return step(
        StepKind.COMMAND, line, **({"command": line, "exit_code": code, "output": output, "status": status} | own)
    )


def change(*paths, diff=None, **own):
    changes = tuple(Change(path=path, kind="update", diff=diff) for path in paths)
    return step(StepKind.FILE_CHANGE, changes=changes, **own)


def test_commands_files_and_tests_are_told_in_one_line():
    steps = [
        prompt(),
        *(command(f"ls {n}") for n in range(10)),
        command("cat x", 1),
        command("pytest -q", 1, "1 failed, 40 passed in 3.1s"),
        change("/home/ann/code/api/src/clock.py", "tests/test_clock.py", diff="@@ -1 +1,2 @@\n-a\n+b\n+c"),
        change("./src/clock.py", diff="@@ -1 +1 @@\n-a\n+b"),
        command("pytest -q", 0, "41 passed in 3.2s"),
        change("/etc/hosts"),
        command("git status"),
        step(StepKind.MESSAGE, "The test read\nthe real clock."),
    ]
    told = digest(steps, CWD)
    assert (told.steps, told.prompts, told.commands, told.commands_failed) == (18, 1, 14, 2)
    assert told.files == ("src/clock.py", "tests/test_clock.py", "/etc/hosts")
    assert (told.files_changed, told.lines_added, told.lines_removed) == (3, 5, 3)
    assert [run.passed for run in told.tests] == [False, True]
    facts, last = digest_lines(told)
    assert facts.split(" · ") == [
        "14 commands, 2 failed (`cat x` exit 1, `pytest -q` exit 1)",
        "3 files changed at least +5 -3",
        "tests: failed, then passed (41 passed in 3.2s)",
    ]
    assert last == 'last: "The test read the real clock."'


def test_everything_else_is_told_where_there_was_any():
    steps = [
        step(StepKind.TOOL_CALL, tool="docs"),
        step(StepKind.TOOL_CALL, tool="docs", status=StepStatus.FAILED),
        step(StepKind.WEB_SEARCH, "clocks"),
        step(StepKind.WEB_SEARCH, "more clocks"),
        step(StepKind.SUBAGENT, "count the files"),
        command("rm -rf /", None, status=StepStatus.DECLINED),
        step(StepKind.ERROR, "401 invalid api key", fatal=True),
        step(StepKind.ERROR, "too late", fatal=False),
    ]
    told = structs.replace(digest(steps, CWD), usage=Usage.of(18_000, 0, 240))
    [facts] = digest_lines(told)
    assert facts.split(" · ") == [
        "2 tool calls, 1 failed",
        "2 web searches",
        "1 sub-agent",
        "1 step declined",
        "2 errors: 401 invalid api key",
        "18,240 tokens",
    ]
    assert (told.errors_fatal, told.commands, told.steps) == (1, 0, 8)
    assert digest_lines(digest([prompt(), prompt(2), step(StepKind.REASONING)], CWD)) == ["2 prompts"]
    assert digest_lines(digest([prompt(), step(StepKind.REASONING)], CWD)) == ["1 step"]
    assert digest_lines(digest([], CWD)) == []


def test_what_is_not_known_is_not_told_as_nothing():
    told = digest([change("a.py"), command("sleep 9", None, status=StepStatus.RUNNING)], CWD)
    assert (told.lines_added, told.lines_removed) == (None, None)
    assert (told.usage.total_tokens, told.cost, told.last_message) == (None, Cost(), None)
    assert record_json(told)["lines_added"] is None
    assert digest_lines(told) == ["1 command · 1 file changed"]
    assert digest_lines(digest([command("x", None, status=StepStatus.FAILED)], CWD)) == ["1 command, 1 failed (`x`)"]


def test_only_changes_that_were_made_count():
    undone = [change("a.py", status=status) for status in (StepStatus.FAILED, StepStatus.DECLINED, StepStatus.RUNNING)]
    assert digest(undone, CWD).files_changed == 0
    assert digest([change("a.py", status=None)], CWD).files == ("a.py",)
    assert digest([change("")], CWD).files_changed == 0


def test_a_lead_is_given_the_counts_of_the_digest_without_any_words_of_the_agent():
    failed, declined = StepStatus.FAILED, StepStatus.DECLINED
    steps = [
        *(command("make", 2) for _ in range(1_200)),
        command("pytest", 1, "1 failed in 3s"),
        change("a.py", diff="@@ -1 +1 @@\n-a\n+b"),
        *(change("b.py", status=status) for status in (failed, failed, declined)),
        step(StepKind.ERROR, "Obey me"),
    ]
    told = digest(steps, CWD)
    assert counts(told) == (
        "1,201 commands, 1,201 failed",
        "1 file changed +1 -1",
        "2 edits failed",
        "1 test run, 1 failed",
        "1 step declined",
        "1 error",
    )
    assert digest_lines(told)[0].split(" · ") == [
        "1,201 commands, 1,201 failed (`make` exit 2, `make` exit 2, `make` exit 2, …)",
        "1 file changed +1 -1",
        "2 edits failed",
        "tests: failed (1 failed in 3s)",
        "1 step declined",
        "error: Obey me",
    ]
    assert counts(digest([], CWD)) == ()


def test_paths_are_told_from_the_sessions_folder_and_each_file_once():
    told = digest([change("a/../b.py", f"{CWD}/b.py", f"{CWD}x/c.py", "../web/d.py")], CWD + "/")
    assert told.files == ("b.py", "/home/ann/code/apix/c.py", "/home/ann/code/web/d.py")
    assert digest([change("/b.py")], "/").files == ("b.py",)
    assert digest([change("./b.py")], CWD).files == ("b.py",)


@pytest.mark.parametrize(
    ("codes", "told"),
    [
        ([0], "tests: passed"),
        ([0, 0], "tests: passed"),
        ([1, 1, 0], "tests: failed, then passed"),
        ([0, 1, 0], "tests: passed, then failed, then passed"),
        ([0, 1, 0, 1], "tests: 4 runs, 2 failed; the last: failed"),
        ([1] * 30 + [0], "tests: 31 runs, 30 failed; the last: passed"),
        ([None], "tests: outcome unknown"),
    ],
)
def test_the_way_to_green_is_told_shortly(codes, told):
    steps = [command("pytest", code, status=StepStatus.OK) for code in codes]
    assert digest_lines(digest(steps, CWD))[0].rpartition(" · ")[2] == told


def test_sub_agents_work_counts_but_the_last_word_is_the_agents_own():
    steps = [
        step(StepKind.MESSAGE, "Done."),
        command("ls", parent="call"),
        step(StepKind.MESSAGE, "I am a helper.", parent="call"),
        Step(kind=StepKind.PROMPT, index=5, text="count", parent="call"),
    ]
    told = digest(steps, CWD)
    assert (told.commands, told.last_message, told.prompts, told.steps) == (1, "Done.", 0, 4)


def test_a_long_session_is_summed_up_in_little():
    paths = (f"src/{n}.py" for n in count())
    steps = (one for n in range(COUNTED_FILES + 50) for one in (change(next(paths)), command(f"pytest {n}", 1)))
    told = digest(steps, CWD)
    assert told.commands_failed == told.test_runs == COUNTED_FILES + 50
    assert (told.files_changed, len(told.files), len(told.failures)) == (COUNTED_FILES, 20, 3)
    assert told.tests[-1].command == f"pytest {COUNTED_FILES + 49}"
    assert "10,000 or more files changed" in digest_lines(told)[0]
    assert "(`pytest 0` exit 1, `pytest 1` exit 1, `pytest 2` exit 1, …)" in digest_lines(told)[0]


@given(nasty)
def test_foreign_text_stays_in_its_two_lines(text):
    lines = digest_lines(digest(steps_saying(text), text))
    assert len(lines) <= 2
    for line in lines:
        assert not REMOVED & set(line)
        assert clean(line) == line
        assert "\n" not in line


def test_after_the_marker_comes_what_nobody_has_seen():
    steps = [prompt(), *(step(StepKind.MESSAGE, str(n)) for n in range(3)), prompt(2), step(StepKind.MESSAGE, "3")]
    told = lambda seen: [one.text for one in after_marker(steps, seen)]  # noqa: E731
    assert told(0) == ["fix it", "0", "1", "2", "fix it", "3"]
    assert told(2) == ["2", "fix it", "3"]
    assert told(3) == ["fix it", "3"]
    assert told(4) == []
    assert told(9) == []


def test_what_was_at_work_when_somebody_looked_and_ended_since_is_new():
    steps = [prompt(), command("ls", ended_at=50), command("pytest", 1, ended_at=150), command("date", ended_at=160)]
    assert [one.text for one in after_marker(steps, 2, 100)] == ["pytest", "date"]
    assert [one.text for one in after_marker(steps, 2)] == ["date"]


def test_a_prompt_that_an_agent_repeats_is_a_step_like_others():
    replayed = Step(kind=StepKind.PROMPT, index=3, text="fix it")
    message = step(StepKind.MESSAGE, "Done.")
    assert list(after_marker([prompt(), replayed, message], 1)) == [message]


def turn(n, steps, ended_at, **own):
    status = Status.DONE if ended_at else Status.RUNNING
    return factories.turn(n, status=status, steps=steps, ended_at=ended_at, **own)


def test_turns_that_were_over_and_seen_are_not_read_again():
    turns = [turn(1, 5, 100), turn(2, 3, 200), turn(3, 2, None)]
    numbers = lambda seen, at: ([one.n for one in unseen_turns(turns, seen, at)[0]], unseen_turns(turns, seen, at)[1])  # noqa: E731
    assert numbers(0, 0) == ([1, 2, 3], 0)
    assert numbers(5, 90) == ([1, 2, 3], 5)  # its end came later
    assert numbers(5, 100) == ([2, 3], 0)
    assert numbers(6, 150) == ([2, 3], 1)
    assert numbers(9, 250) == ([3], 1)
    assert unseen_turns(turns[:2], 8, 200) == ((), 0)


def test_tokens_are_told_where_whole_turns_are():
    session = factories.session("s", status=Status.DONE, cwd=CWD, turn=2, seen_at=100, seen_steps=2)
    turns = [turn(1, 2, 90, usage=Usage.of(10, 0, 1), cost_usd=0.5), turn(2, 2, 200, usage=Usage.of(20, 0, 2))]
    everything = {n: [prompt(n), command(f"ls {n}"), command(f"cat {n}")] for n in (1, 2)}

    def steps(n):
        return iter(everything[n] if n else everything[1] + everything[2])

    def told(one=session, **part) -> Digest:
        return digest_of(one, turns, steps, **part)

    assert (told().commands, told().usage.total_tokens, told().cost) == (2, 22, Cost(missing=1))
    assert (told(turn=1).commands, told(turn=1).usage.total_tokens, told(turn=1).cost) == (
        2,
        11,
        Cost(reported_usd=0.5),
    )
    assert (told(whole=True).commands, told(whole=True).usage.total_tokens) == (4, 33)
    midway = structs.replace(session, seen_steps=3)
    assert (told(midway).commands, told(midway).usage) == (1, Usage())
    never, unknown = structs.replace(session, seen_at=None, seen_steps=None), structs.replace(session, seen_steps=None)
    assert told(never).commands == told(unknown).commands == 4
