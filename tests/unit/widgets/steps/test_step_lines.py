import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.model.session import Change, PlanItem, Step, StepKind, StepStatus, Usage
from agentdash.sessions.text.sanitize import cell_width
from agentdash.tui.render.steps import step_text
from agentdash.tui.render.style import Style
from agentdash.widgets.drawing.glyphs import twins
from agentdash.widgets.drawing.spans import wrap
from agentdash.widgets.lists.virtual_list import Heights
from agentdash.widgets.steps.step_lines import BRIEF, WHOLE, Manner, rule, step_rows


def text(step, width=80, **manner):
    return ["".join(part for part, _ in row).rstrip() for row in step_rows(step, width, Manner(**manner))]


def roles(step, width=80):
    return {role for row in step_rows(step, width) for _, role in row}


def test_the_first_line_of_each_kind():
    for step, first in [
        (Step(kind=StepKind.PROMPT, text="fix it"), "❯ fix it"),  # noqa: RUF001
        (Step(kind=StepKind.REASONING, text="hm"), "∴ hm"),
        (Step(kind=StepKind.MESSAGE, text="done"), "✦ done"),
        (Step(kind=StepKind.ERROR, text="boom"), "! boom"),
        (Step(kind=StepKind.NOTICE, text="retrying"), "· retrying"),
        (Step(kind=StepKind.START, model="gpt-5.5", agent_session="t-1"), "▹ gpt-5.5 t-1"),
        (Step(kind=StepKind.UNKNOWN, event="odd", text='{"a": "[red]"}'), '?? odd  {"a": "[red]"}'),
        (Step(kind=StepKind.TOOL_CALL, tool="find", arguments={"q": "x"}), '⚙ find("x")'),
        (Step(kind=StepKind.TOOL_CALL, server="s", tool="f", arguments={"a": 1, "b": 2}), '⚙ s.f({"a": 1, "b": 2})'),
        (Step(kind=StepKind.WEB_SEARCH, text="python"), "⌕ python"),
        (Step(kind=StepKind.USAGE, usage=Usage.of(1200, 200, 30), cost_usd=0.5),
         "Σ 1.2k in (200 cached) · 30 out · $0.50"),
        (Step(kind=StepKind.USAGE), "Σ no usage reported"),
        (Step(kind=StepKind.MESSAGE, text=""), "✦"),
    ]:  # fmt: skip
        assert text(step)[0] == first, step


@pytest.mark.parametrize(
    ("step", "shown"),
    [
        (Step(kind=StepKind.MESSAGE, text="  **a**\tb\x1b[31m"), ["  **a** b"]),
        (Step(kind=StepKind.MESSAGE, text="x" * 100), ["x" * 80, "x" * 20]),
        (Step(kind=StepKind.UNKNOWN, event="odd", text='{"a": "[red]"}'), ['{"a": "[red]"}']),
        (Step(kind=StepKind.PROMPT, text="sh -c 'exit 3'"), ["$ sh -c 'exit 3'"]),
    ],
)
def test_a_plain_command_is_a_log_without_marks(step, shown):
    assert text(step, plain=True) == shown


def test_a_failed_plain_command_does_not_repeat_itself():
    step = Step(kind=StepKind.ERROR, text="exit 3: boom", fatal=True, command="sh -c 'exit 3'", output="boom")
    lines = text(step, plain=True)
    assert (lines[0].split("  ")[0], lines[1].strip()) == ("! exit 3: boom", "boom")
    assert not any("sh -c" in line for line in lines)


def test_a_thought_has_its_size_at_its_end():
    step = Step(kind=StepKind.REASONING, text="First the **clock**.", about_tokens=1_200)
    assert text(step, 40) == ["∴ First the clock.          ~1.2k tokens"]
    assert text(step, 24) == ["∴ First the clock."]
    assert text(step, 40, level=BRIEF)[0].endswith("~1.2k tokens")


def test_every_kind_has_a_line_even_if_it_holds_nothing():
    for kind in StepKind:
        assert text(Step(kind=kind)), kind
        assert all(twins(line).isascii() for line in text(Step(kind=kind))), kind


def test_a_failed_command_shows_its_end_at_the_right_and_folds_its_output():
    output = "\n".join(f"line {n}" for n in range(1, 48))
    step = Step(kind=StepKind.COMMAND, command="pytest -q", exit_code=1, status=StepStatus.FAILED, at=0, ended_at=3200,
                output=output)  # fmt: skip
    lines = text(step, 60)
    assert lines[0].startswith("$ pytest -q  ")
    assert lines[0].endswith("✗ exit 1  3.2s")
    assert len(lines[0]) == 60
    assert lines[1:] == ["  line 1", "  line 2", "  line 3", "  … 41 more lines", "  line 45", "  line 46", "  line 47"]
    assert "failure" in roles(step)


def test_short_output_is_shown_whole():
    step = Step(kind=StepKind.COMMAND, command="ls", status=StepStatus.OK, output="a\nb\n")
    assert text(step, 40)[1:] == ["  a", "  b"]


def test_a_huge_output_costs_no_more_than_its_ends():
    step = Step(kind=StepKind.COMMAND, command="yes", output="y\n" * 5_000_000)
    assert "  … 4,999,994 more lines" in text(step)
    step = Step(kind=StepKind.COMMAND, command="cat min.js", output="x" * 5_000_000)
    assert len(text(step)) < 200


def test_changes_and_plan():
    changes = (Change(path="a.py", kind="update", diff="--- a\n+++ a\n+x\n+y\n-z"), Change(path="b.py", kind="add"))
    step = Step(kind=StepKind.FILE_CHANGE, changes=changes)
    assert text(step) == ["± a.py  +2 -1", "  b.py  add"]
    states = {"one": "completed", "two": "in_progress", "three": "pending"}
    items = [PlanItem(text=name, status=status) for name, status in states.items()]
    assert text(Step(kind=StepKind.PLAN, items=tuple(items))) == ["☑ one", "◐ two", "☐ three"]


def test_one_change_shows_its_first_lines_coloured():
    diff = "@@ -1,2 +1,2 @@\n-old\n+new\n" + "".join(f" {n}\n" for n in range(20))
    step = Step(kind=StepKind.FILE_CHANGE, changes=(Change(path="/code/api/a.py", kind="update", diff=diff),))
    assert text(step, cwd="/code/api")[:4] == ["± a.py  +1 -1", "  @@ -1,2 +1,2 @@", "  -old", "  +new"]
    assert text(step)[-1] == "  … 15 more lines"
    assert {"added", "removed", "hunk"} <= roles(step)
    assert len(text(step, level=WHOLE)) == 24


def test_briefly_every_step_is_one_line():
    step = Step(kind=StepKind.COMMAND, command="make\ntest " + "x" * 200, exit_code=2, status=StepStatus.FAILED,
                output="a\nb\nc\n")  # fmt: skip
    (line,) = text(step, 40, level=BRIEF)
    assert line == "$ make" + " " * 24 + "  ✗ exit 2"
    (line,) = text(Step(kind=StepKind.MESSAGE, text="word " * 50), 40, level=BRIEF)
    assert line.endswith("…")
    assert len(line) == 40


def test_a_plan_and_several_files_are_summed_up_in_brief():
    items = tuple(PlanItem(text=name, status="completed" if name == "one" else "pending") for name in ("one", "two"))
    assert text(Step(kind=StepKind.PLAN, items=items), level=BRIEF)[0].endswith(" 1 of 2 tasks done")
    changes = (Change(path="a.py", kind="update"), Change(path="b.py", kind="add"), Change(path="c.py", kind="add"))
    assert text(Step(kind=StepKind.FILE_CHANGE, changes=changes), level=BRIEF) == ["± a.py and 2 more files"]


def test_whole_steps_show_every_line():
    output = "\n".join(f"line {n}" for n in range(300))
    assert len(text(Step(kind=StepKind.COMMAND, command="ls", output=output), level=WHOLE)) == 301


def test_what_runs_shows_its_age():
    step = Step(kind=StepKind.COMMAND, command="sleep 60", status=StepStatus.RUNNING, at=1_000)
    assert text(step, 40, now=13_400)[0].endswith("● running  10s")
    assert text(step, 40)[0].endswith("● running")


def test_a_start_failure_is_a_card_with_what_can_be_done():
    step = Step(kind=StepKind.ERROR, text="exit 127", fatal=True, command="codex exec -", exit_code=127,
                output="codex: not found")  # fmt: skip
    lines = text(step, 80, start_keys="F9 retry")
    assert lines[0].split() == ["!", "exit", "127", "fatal"]
    assert lines[1].startswith("$ codex exec -  ")
    assert lines[1].endswith("  exit 127")
    assert lines[2] == "  codex: not found"
    assert lines[3] == "  F9 retry"
    assert len(text(step, 80)) == 3


THREAD = Usage.of(4_800, 2_000, 92)


@pytest.mark.parametrize(
    ("own", "first"),
    [
        (None, "Σ thread: 4.8k in (2.0k cached) · 92 out"),
        (Usage.of(1_200, 200, 30), "Σ 1.2k in (200 cached) · 30 out · thread: 4.8k in (2.0k cached) · 92 out"),
        (THREAD, "Σ 4.8k in (2.0k cached) · 92 out"),
    ],
)
def test_a_sum_says_whose_it_is(own, first):
    step = Step(kind=StepKind.USAGE, usage=THREAD, whole_thread=True, turn_usage=own, text="tokens of the whole thread")
    assert text(step, 120) == [first]
    assert step_text(step, Style()) == [first]


@pytest.mark.parametrize("usage", [None, Usage()])
def test_an_empty_usage_is_no_lone_sum(usage):
    step = Step(kind=StepKind.USAGE, usage=usage, whole_thread=True, text="tokens of the whole thread")
    assert text(step) == step_text(step, Style()) == ["Σ no usage reported"]


def test_what_is_not_fatal_says_so():
    assert text(Step(kind=StepKind.ERROR, text="retrying", fatal=False), 40)[0].endswith("not fatal")


def test_a_rule_names_the_turn_and_how_it_ended():
    ((line, role),) = rule("turn 2", 40, note="done  3m12s")
    assert line == "── turn 2 " + "─" * 15 + " done  3m12s ──"
    assert role == "rule"
    assert rule("turn 2", 16, note="done  3m12s")[0][0] == "── turn 2 ──────"


def test_a_sub_agents_step_is_indented():
    assert text(Step(kind=StepKind.MESSAGE, text="hi", parent="call_1"))[0] == "  ┆ ✦ hi"


def test_long_text_hangs_below_its_beginning():
    lines = text(Step(kind=StepKind.MESSAGE, text="one two three four five six"), 16)
    assert lines == ["✦ one two three", "  four five six"]


def test_control_sequences_and_tabs_are_gone():
    lines = text(Step(kind=StepKind.COMMAND, command="a\x1b]52;c;eA==\x07b", output="\x1b[31mred\x1b[0m\tx\rover"))
    assert "\x1b" not in "".join(lines)
    assert "\t" not in "".join(lines)
    assert lines[0] == "$ ab"


@given(st.text(max_size=300), st.integers(12, 60))
def test_no_row_is_wider_than_the_screen(words, width):
    for kind in (StepKind.MESSAGE, StepKind.COMMAND, StepKind.UNKNOWN, StepKind.TOOL_CALL):
        step = Step(kind=kind, text=words, output=words, status=StepStatus.FAILED, exit_code=3, at=0, ended_at=9_000)
        assert all(cell_width(line) <= width for line in text(step, width))


@given(st.text(alphabet="ab 字é", max_size=200), st.integers(4, 40))
def test_wrapping_loses_nothing_but_blanks(paragraph, width):
    rows = wrap(paragraph, width)
    assert "".join(rows).replace(" ", "") == paragraph.replace(" ", "")
    assert all(cell_width(row) <= width for row in rows)


@given(st.integers(1, 2_000), st.dictionaries(st.integers(0, 1_999), st.integers(1, 30)), st.data())
def test_heights_find_what_they_add_up_to(count, measured, data):
    kept = Heights(count, estimate=3)
    for item, height in measured.items():
        if item < count:
            kept.measure(item, height)
    heights = [measured.get(item, 3) for item in range(count)]
    item = data.draw(st.integers(0, count - 1))
    assert kept.total == sum(heights)
    assert kept.top(item) == sum(heights[:item])
    assert kept.find(kept.top(item) + heights[item] - 1) == (item, heights[item] - 1)
    assert kept.find(kept.total) == (count, 0)
    kept.forget(item)
    assert kept[item] == 3
