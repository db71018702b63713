"""The document of a step says everything about it, whatever kind it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import CAPTURES
from transcript_files import read

from agentdash.sessions.model.session import Change, PlanItem, Step, StepKind, StepStatus, Usage
from agentdash.sessions.text.sanitize import cell_width
from agentdash.widgets.drawing.glyphs import twins
from agentdash.widgets.drawing.roles import ROLES
from agentdash.widgets.steps.step_document import step_document


def rows(document, width=80):
    return [row for item in range(len(document)) for row in document.rows(item, width)]


def text(step, width=80, **options):
    found = rows(step_document(step, **options), width)
    return ["".join(part for part, _ in row).rstrip() for row in found]


def roles(step, **options):
    """The role of each text."""
    return {part.strip(): role for row in rows(step_document(step, **options)) for part, role in row}


@pytest.fixture
def utc(monkeypatch):
    import time

    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("utc")
def test_the_title_says_where_a_step_stands_and_how_it_ended():
    step = Step(kind=StepKind.COMMAND, turn=2, index=14, command="make", status=StepStatus.FAILED, exit_code=2,
                at=1_790_000_000_000, ended_at=1_790_000_003_200)  # fmt: skip
    assert text(step)[0] == "$ command · turn 2 · step 14 · ✗ exit 2 · 3.2s · 2026-09-21 14:13:20"
    assert text(step, 50)[:2] == ["$ command · turn 2 · step 14 · ✗ exit 2 · 3.2s", "2026-09-21 14:13:20"]
    assert roles(step)["✗ exit 2"] == "failure"


@pytest.mark.parametrize(
    ("step", "title"),
    [
        (Step(kind=StepKind.PROMPT, turn=3), "❯ prompt · turn 3"),  # noqa: RUF001
        (Step(kind=StepKind.TOOL_CALL, server="s", tool="f", index=1, status=StepStatus.OK),
         "⚙ tool call · s.f · turn 1 · step 1 · ✓ ok"),
        (Step(kind=StepKind.COMMAND, index=1, status=StepStatus.OK, exit_code=0),
         "$ command · turn 1 · step 1 · ✓ exit 0"),
        (Step(kind=StepKind.COMMAND, index=1, status=StepStatus.RUNNING), "$ command · turn 1 · step 1 · ● running"),
        (Step(kind=StepKind.MESSAGE, index=1, parent="c"), "✦ message · turn 1 · step 1 · by a sub-agent"),
        (Step(kind=StepKind.ERROR, index=1, fatal=False), "! error · turn 1 · step 1 · not fatal"),
        (Step(kind=StepKind.UNKNOWN, index=1, event="odd\x1b[1m one"), "?? unknown event · odd one · turn 1 · step 1"),
        (Step(kind=StepKind.NOTICE, index=1, event="api_retry"), "· notice · api_retry · turn 1 · step 1"),
    ],
)  # fmt: skip
def test_the_title_of_each_kind(step, title):
    assert text(step)[0] == title


def test_every_kind_has_a_document_even_if_it_holds_nothing():
    for kind in StepKind:
        assert len(text(Step(kind=kind))) > 1, kind
        assert all(line.isascii() for line in map(twins, text(Step(kind=kind)))), kind


def test_messages_are_markdown_unless_their_source_is_wanted():
    for kind in (StepKind.PROMPT, StepKind.MESSAGE, StepKind.REASONING):
        step = Step(kind=kind, text="**Plan**\n\n- one\n- two")
        assert text(step)[1:] == ["", "Plan", "", "• one", "• two"]
        assert text(step, source=True)[2:] == ["**Plan**", "", "- one", "- two"]


def test_a_command_is_shown_whole_with_its_folder_and_its_output():
    output = "".join(f"line {number}\n" for number in range(1, 2_001))
    step = Step(kind=StepKind.COMMAND, command="for f in *; do\n  echo $f  # all\ndone", output=output)
    found = text(step, cwd="/home/ann/code/api")
    assert found[2:5] == [" for f in *; do", "   echo $f  # all", " done"]
    assert found[6] == "folder  /home/ann/code/api"
    assert found[8].startswith("── output · 2,000 lines · 18.9 kB ───")
    assert found[9:11] == ["line 1", "line 2"]
    assert found[-1] == "line 2000"
    assert roles(step)["# all"] == "comment"


def test_a_command_without_output_says_so_once_it_has_ended():
    assert text(Step(kind=StepKind.COMMAND, command="true", status=StepStatus.OK))[-1] == "no output"
    assert "no output" not in text(Step(kind=StepKind.COMMAND, command="true", status=StepStatus.RUNNING))


def test_an_output_that_is_a_diff_or_json_is_shown_as_one():
    diff = "diff --git a/x b/x\n@@ -1 +1 @@\n-old\n+new"
    assert roles(Step(kind=StepKind.COMMAND, command="git diff", output=diff))["old"] == "removed"
    step = Step(kind=StepKind.TOOL_CALL, tool="t", output='{"b":1,"a":[]}')
    assert text(step)[2:] == ["── result · 14 B " + "─" * 63, " {", '   "b": 1,', '   "a": []', " }"]


def test_a_tool_call_shows_its_arguments_in_their_order_and_texts_as_texts():
    arguments = {"path": "a.py", "n": 1, "code": "def f():\n    pass\n", "last": "é"}
    found = text(Step(kind=StepKind.TOOL_CALL, tool="t", arguments=arguments, output="one\ntwo"))
    assert found[2].startswith("── arguments ─")
    assert found[3:8] == [" {", '   "path": "a.py",', '   "n": 1,', '   "last": "é"', " }"]
    assert found[9].startswith("── code · 2 lines · 18 B ─")
    assert found[10:12] == [" def f():", "     pass"]
    assert roles(Step(kind=StepKind.TOOL_CALL, tool="t", arguments=arguments))["def"] == "keyword"
    assert found[-2:] == ["one", "two"]
    assert "as it came" in text(Step(kind=StepKind.TOOL_CALL, tool="t", arguments="as it came"))


def test_a_search_does_not_repeat_its_query():
    step = Step(
        kind=StepKind.WEB_SEARCH, text="retries", arguments={"query": "retries", "action": None}, output="3 found"
    )
    assert text(step)[2:] == ["retries", "", "── result · 1 line · 7 B " + "─" * 55, "3 found"]


def test_a_sub_agent_shows_its_task_and_its_result_as_markdown():
    arguments = {"description": "Count", "prompt": "Count **all** files.", "subagent_type": "general"}
    step = Step(kind=StepKind.SUBAGENT, tool="Agent", text="Count", arguments=arguments, output="- 8\n- 4")
    found = text(step)
    assert found[2] == "Count"
    assert found[4:6] == ["── task " + "─" * 72, "Count all files."]
    assert '   "subagent_type": "general"' in found
    assert "description" not in "".join(found)
    assert found[-2:] == ["• 8", "• 4"]


def test_file_changes_show_each_file_by_its_diff_or_say_that_there_is_none():
    changes = (
        Change(path="/code/api/src/a.py", kind="update", diff="@@ -1,2 +1 @@\n-one\n two"),
        Change(path="/code/api/new.py", kind="add", diff="@@ -0,0 +1,2 @@\n+import os\n+x = 1"),
        Change(path="/etc/hosts", kind="delete"),
    )
    step = Step(kind=StepKind.FILE_CHANGE, changes=changes, output="written", status=StepStatus.OK)
    found = text(step, cwd="/code/api")
    assert found[2].startswith("── src/a.py  -1 ─")
    assert found[3:6] == ["@@ -1,2 +1 @@", "1   - one", "2 1   two"]
    assert found[7].startswith("── new.py  new file  +2 ─")
    assert found[8:10] == ["1  import os", "2  x = 1"]
    assert roles(step)["import"] == "keyword"
    assert found[11].startswith("── /etc/hosts  deleted ─")
    assert found[12:] == ["no diff from the agent"]


def test_a_change_that_failed_shows_why():
    step = Step(kind=StepKind.FILE_CHANGE, changes=(Change(path="a", kind="update"),), status=StepStatus.FAILED,
                output="no such file")  # fmt: skip
    assert text(step)[-1] == "no such file"


def test_a_plan_is_a_list_with_boxes_and_a_count():
    states = {"one": "completed", "two": "in_progress", "three": "pending"}
    items = tuple(PlanItem(text=name, status=status) for name, status in states.items())
    step = Step(kind=StepKind.PLAN, items=items)
    assert text(step)[2:] == ["── 1 of 3 done " + "─" * 65, "☑ one", "◐ two", "☐ three"]
    assert roles(step)["two"] == "running"


def test_usage_is_a_table_of_what_is_known():
    step = Step(kind=StepKind.USAGE, usage=Usage.of(13_200, 5_000, 165), cost_usd=0.31, text="whole thread")
    expected = ["input     13,200", "  cached   5,000", "output       165", "total     13,365", "cost       $0.31"]
    assert text(step)[2:] == [*expected, "", "whole thread"]
    assert text(Step(kind=StepKind.USAGE))[-1] == "no usage reported"


def test_the_tokens_of_a_whole_thread_are_told_from_those_of_the_turn():
    thread, own = Usage(input_tokens=1_000), Usage(input_tokens=300)
    step = Step(kind=StepKind.USAGE, usage=thread, whole_thread=True, turn_usage=own)
    assert text(step)[2:] == ["input  300", "", "── whole thread " + "─" * 64, "input  1,000"]
    assert text(Step(kind=StepKind.USAGE, usage=thread, whole_thread=True))[2].startswith("── whole thread ")


def test_a_failed_start_shows_its_command_and_what_it_said():
    step = Step(
        kind=StepKind.ERROR,
        text="exit 127",
        fatal=True,
        command="codex exec -",
        exit_code=127,
        output="not found\nlook",
    )
    shown = text(step, cwd="/code")
    assert shown[2] == "exit 127"
    assert shown[4].startswith("── command ")
    assert shown[5:9] == [" codex exec -", "", "exit    127", "folder  /code"]
    assert shown[-2:] == ["not found", "look"]


def test_a_file_without_a_diff_says_why_if_that_is_known():
    change = Change(path="a.py", kind="update", no_diff="the agent's transcript was not found")
    shown = text(Step(kind=StepKind.FILE_CHANGE, changes=(change,)))
    assert shown[-1] == "no diff: the agent's transcript was not found"
    moved = Change(path="a.py", kind="update", added=0, removed=0, diff="", moved_to="/code/b.py")
    shown = text(Step(kind=StepKind.FILE_CHANGE, changes=(moved,)), cwd="/code")
    assert "moved to b.py" in shown[2]
    assert shown[-1] == "empty diff"
    cut = Change(path="a.py", kind="update", added=9, removed=0, diff="+a", cut=True)
    assert text(Step(kind=StepKind.FILE_CHANGE, changes=(cut,)))[-1] == "the rest of this diff was not stored"


def test_errors_start_and_unknown_events():
    assert text(Step(kind=StepKind.ERROR, text="boom\nat x"))[2:] == ["boom", "at x"]
    assert roles(Step(kind=StepKind.ERROR, text="boom", fatal=True))["boom"] == "failure"
    assert text(Step(kind=StepKind.ERROR, text='{"error":{}}'))[2:] == [" {", '   "error": {}', " }"]
    assert text(Step(kind=StepKind.START, model="gpt-5.5", agent_session="t-1"))[2:] == [
        "model         gpt-5.5",
        "conversation  t-1",
    ]
    assert text(Step(kind=StepKind.UNKNOWN, text="Segmentation fault"))[-1] == "Segmentation fault"
    assert '   "type": "odd"' in text(Step(kind=StepKind.UNKNOWN, text='{"type":"odd"}'))


def test_a_step_that_is_not_whole_says_so():
    assert text(Step(kind=StepKind.MESSAGE, text="begin … end", cut=9_000))[-1] == "9,000 characters not shown"


def test_a_document_knows_where_its_blocks_begin_and_where_it_ends():
    document = step_document(Step(kind=StepKind.COMMAND, command="ls", output="a\nb"), cwd="/code")
    assert document.starts == (1, 3, 5)
    assert len(document) == 8
    for item in (-1, 8):
        with pytest.raises(IndexError):
            document.rows(item, 80)


def test_a_caption_that_is_too_wide_is_wrapped():
    path = "/".join(f"folder-{number}" for number in range(6))
    found = text(Step(kind=StepKind.FILE_CHANGE, changes=(Change(path=path, kind="update"),)), 30)
    assert path in "".join(line.removeprefix("── ") for line in found)


def test_real_output_has_documents_that_fit():
    for path in sorted(CAPTURES.glob("*.jsonl")):
        for step in read(path):
            document = step_document(step, cwd="/home/dev/project")
            items = [*range(min(40, len(document))), len(document) - 1]
            found = ["".join(part for part, _ in row) for item in items for row in document.rows(item, 72)]
            assert all(cell_width(line) <= 72 for line in found), path


HOSTILE = st.text(st.one_of(st.characters(), st.sampled_from('\x1b[]\r\n\t字é#*`|-+>@{}"\u202e\u2028')), max_size=200)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | HOSTILE, lambda inner: st.dictionaries(HOSTILE, inner)
)
CHANGES = st.builds(Change, path=HOSTILE, kind=st.sampled_from(["add", "update", "x"]), diff=st.none() | HOSTILE)
ITEMS = st.builds(PlanItem, text=HOSTILE, status=st.sampled_from(["pending", "completed", "odd"]))
STEPS = st.builds(
    Step,
    kind=st.sampled_from(StepKind),
    text=HOSTILE,
    status=st.none() | st.sampled_from(StepStatus),
    command=HOSTILE,
    output=HOSTILE,
    tool=HOSTILE,
    event=HOSTILE,
    model=HOSTILE,
    arguments=VALUES,
    changes=st.lists(CHANGES).map(tuple),
    items=st.lists(ITEMS).map(tuple),
    fatal=st.none() | st.booleans(),
)  # fmt: skip


@given(STEPS, st.integers(20, 200), st.booleans())
def test_every_row_fits_is_clean_and_has_a_role_of_the_theme(step, width, source):
    document = step_document(step, cwd="/code/api", source=source)
    for item in range(len(document)):
        found = document.rows(item, width)
        assert found
        for row in found:
            line = "".join(part for part, _ in row)
            assert cell_width(line) <= width
            assert not any(ord(char) < 32 or 127 <= ord(char) < 160 or char in "\u202e\u2028" for char in line)
            assert {role for _, role in row if role} <= ROLES.keys()
