"""Every kind of step through the six renderers, in one file: list, pane, command line, Markdown, HTML, and for a lead.

After a wanted change: ``pytest tests/unit/test_step_renderers.py --snapshot-update``, and read the difference.
"""

import re
import time

import pytest
from every_kind import ODD, STEPS, session
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from agentdash.sessions.mcp.orchestration.viewing import step_texts
from agentdash.sessions.model.session import Change, PlanItem, Step, StepKind, StepStatus, Usage
from agentdash.sessions.transcript.export.html import html
from agentdash.sessions.transcript.export.markdown import markdown
from agentdash.sessions.transcript.search import holds
from agentdash.tui.render.steps import step_text
from agentdash.tui.render.style import Style
from agentdash.widgets.steps.step_document import step_document
from agentdash.widgets.steps.step_lines import BRIEF, USUAL, WHOLE, Manner, step_rows

CWD = "/home/ann/code/api"
WIDTH = 100


class OneFile(SingleFileSnapshotExtension):
    """One text file per test."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"


class Marked(Style, frozen=True):
    """A command line whose colours are read as words."""

    def paint(self, text, role):
        return f"<{role}>{text}" if role else text


@pytest.fixture(autouse=True)
def fixed_place_and_time(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ann")
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def row(spans):
    """A row of the screen, and behind it the roles of its colours."""
    text = "".join(part for part, _ in spans).rstrip()
    roles = list(dict.fromkeys(role for part, role in spans if part.strip() and role not in ("", "text")))
    return f"{text}    <{' '.join(roles)}>" if roles else text


def listed(step, level):
    return "\n".join(map(row, step_rows(step, WIDTH, Manner(level=level, cwd=CWD))))


def paned(step, *, source=False):
    document = step_document(step, cwd=CWD, source=source)
    return "\n".join(row(spans) for item in range(len(document)) for spans in document.rows(item, WIDTH))


def printed(step, *, full=False):
    return "\n".join(step_text(step, Marked(full=full)))


def in_markdown(step):
    return "".join(markdown(session(), [step])).partition(f"## Turn {step.turn}\n")[2].strip("\n")


def in_html(step):
    page = "".join(html(session(), [step]))
    return page[page.index("<article") : page.index("</article>")].replace("><", ">\n<").strip()


def for_a_lead(step, *, full=False):
    return "".join(step_texts([step], full=full)).rstrip("\n")


def everywhere(step):
    """What each renderer makes of a step; what a wider view repeats is left out."""
    usual, short, set_out, read = listed(step, USUAL), printed(step), paned(step), for_a_lead(step)
    wholes = {
        "list, whole": (listed(step, WHOLE), usual),
        "pane, source": (paned(step, source=True), set_out),
        "command line, full": (printed(step, full=True), short),
        "lead, full": (for_a_lead(step, full=True), read),
    }
    return {
        "list": usual, "list, brief": listed(step, BRIEF), "pane": set_out, "command line": short,
        "Markdown": in_markdown(step), "HTML": in_html(step), "lead": read,
    } | {name: whole for name, (whole, cut) in wholes.items() if whole != cut}  # fmt: skip


def section(step):
    drawings = [f"--- {name}\n{text}" for name, text in everywhere(step).items()]
    return "\n".join([f"=== {step.kind}: turn {step.turn}, step {step.index}", *drawings, ""])


def test_every_kind_of_step_through_every_renderer(snapshot):
    text = "\n".join(map(section, [*STEPS, *ODD]))
    assert "\n".join(line.rstrip() for line in text.split("\n")) == snapshot.use_extension(OneFile)


RENDERERS = {
    "list": lambda step: listed(step, USUAL),
    "pane": paned,
    "command line": printed,
    "Markdown": in_markdown,
    "HTML": in_html,
    "lead": for_a_lead,
}


@pytest.mark.parametrize("renderer", RENDERERS)
def test_a_failed_start_shows_its_command_and_its_stderr(renderer):
    step = Step(kind=StepKind.ERROR, text="exit 127", fatal=True, command="codex exec -", exit_code=127,
                output="codex: not found")  # fmt: skip
    shown = RENDERERS[renderer](step)
    assert "codex exec -" in shown
    assert "codex: not found" in shown


def test_a_step_that_failed_says_why():
    for renderer, drawn in RENDERERS.items():
        for kind in [StepKind.COMMAND, StepKind.TOOL_CALL, StepKind.FILE_CHANGE, StepKind.PLAN]:
            for status in [StepStatus.FAILED, StepStatus.DECLINED]:
                step = Step(kind=kind, text="what it was about", status=status, output="it is not allowed")
                assert "it is not allowed" in drawn(step), (renderer, kind, status)


def test_a_call_without_arguments_shows_its_purpose():
    for renderer, drawn in RENDERERS.items():
        for kind in [StepKind.TOOL_CALL, StepKind.WEB_SEARCH, StepKind.SUBAGENT]:
            step = Step(kind=kind, tool="spawn_agent", text="Review the auth module", status=StepStatus.OK)
            assert "Review the auth module" in drawn(step), (renderer, kind)


ENDINGS = {StepStatus.FAILED: ("✗", "failed"), StepStatus.DECLINED: ("⊘", "declined")}


def test_a_plan_that_was_not_taken_is_seen_to_be_none():
    items = (PlanItem(text="Ship it", status="pending"),)
    for renderer, drawn in RENDERERS.items():
        for status, words in ENDINGS.items():
            taken = drawn(Step(kind=StepKind.PLAN, items=items, status=StepStatus.OK))
            shown = drawn(Step(kind=StepKind.PLAN, items=items, status=status))
            assert any(word in shown and word not in taken for word in words), (renderer, status)


@pytest.mark.parametrize("renderer", RENDERERS)
def test_the_exit_code_of_a_failed_start_is_shown_once(renderer):
    step = Step(kind=StepKind.ERROR, text="it did not start", fatal=True, command="codex exec -", exit_code=127)
    assert len(re.findall(r"exit +127", RENDERERS[renderer](step))) == 1


def test_a_missing_diff_has_the_same_reason_everywhere():
    whole = {"command line": lambda one: printed(one, full=True), "lead": lambda one: for_a_lead(one, full=True)}
    cut = {"diff": "@@ -0,0 +1 @@\n+a\n", "added": 90, "removed": 0, "cut": True}
    for own, why in [
        ({"added": 9_000, "removed": 0}, "too long to store"),
        ({"added": 9_000, "removed": 0, "cut": True}, "too long to store"),
        (cut, "the rest of this diff was not stored"),
        ({"no_diff": "the transcript was not found"}, "no diff: the transcript was not found"),
    ]:
        changes = (Change(path="a.py", kind="update", **own),)
        step = Step(kind=StepKind.FILE_CHANGE, changes=changes, status=StepStatus.OK)
        for renderer, drawn in (RENDERERS | whole).items():
            assert renderer == "list" or why in drawn(step).lower(), (renderer, own)


@pytest.mark.parametrize("renderer", RENDERERS)
def test_a_thought_without_words_shows_its_size(renderer):
    assert "~1.2k tokens" in RENDERERS[renderer](Step(kind=StepKind.REASONING, about_tokens=1_200))


@pytest.mark.parametrize("renderer", RENDERERS)
def test_the_tokens_of_a_turn_show_what_is_known_of_them(renderer):
    def shown(**own):
        return RENDERERS[renderer](Step(kind=StepKind.USAGE, **own))

    if renderer != "lead":  # other tools report them
        assert re.search(r"12(\.0k|,000)", shown(usage=Usage(input_tokens=0, output_tokens=0, total_tokens=12_000)))
        assert "no usage reported" not in shown(cost_usd=0.5)
        assert "as of the last call" in shown(usage=Usage(input_tokens=5, output_tokens=1), text="as of the last call")


@pytest.mark.parametrize("renderer", RENDERERS)
def test_a_plan_without_a_list_is_its_text(renderer):
    assert "a plan in words" in RENDERERS[renderer](Step(kind=StepKind.PLAN, text="a plan in words"))


def test_a_lead_reads_that_a_call_has_no_known_result():
    step = Step(kind=StepKind.COMMAND, command="make release", status=StepStatus.INTERRUPTED)
    assert "[command] $ make release -> interrupted: its result is not known" in for_a_lead(step)


def test_a_lead_reads_how_many_files_are_left_out():
    changes = tuple(Change(path=f"{n}.py", kind="update") for n in range(25))
    step = Step(kind=StepKind.FILE_CHANGE, changes=changes, status=StepStatus.OK)
    assert for_a_lead(step).endswith("update 19.py; 5 more files (full=true)")
    assert for_a_lead(step, full=True).endswith("update 24.py")


@pytest.mark.parametrize(
    ("step", "shown"),
    [
        (Step(kind=StepKind.TOOL_CALL, tool="t", arguments={"path": "x", "n": 1}), '"path": "x"'),
        (Step(kind=StepKind.TOOL_CALL, server="docs", tool="search", arguments={"n": 1}), "docs.search("),
        (Step(kind=StepKind.PROMPT, text="hi", sender="agentdash"), "agentdash: hi"),
        (Step(kind=StepKind.FILE_CHANGE, changes=(Change(path="a", kind="update", moved_to="b/c.py"),)), "b/c.py"),
        (Step(kind=StepKind.START, model="opus", agent_session="thread-77"), "thread-77"),
    ],
)
def test_a_search_finds_what_the_list_shows(step, shown):
    assert shown in listed(step, USUAL)
    assert holds(step, shown.rstrip("("))
