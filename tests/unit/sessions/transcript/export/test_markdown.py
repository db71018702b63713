"""The Markdown of a session: nothing dropped, and no text that leaves its place."""

import re
from collections.abc import Iterator

import factories
from every_kind import ANSWER, DIFF, STEPS, session
from hostile_text import REMOVED, nasty, steps_saying
from hypothesis import given
from markdown_it import MarkdownIt

from agentdash.sessions.model.session import Change, PlanItem, Status, Step, StepKind, StepStatus, TurnMode, Usage
from agentdash.sessions.transcript.export.markdown import SHORT, markdown
from agentdash.sessions.transcript.export.quoting import code, fence, message, plain

OURS = re.compile(r"</?details>|<summary>[\w ,]+</summary>|<!-- -->")
"""The tags that a document has of its own."""


def written(steps: list[Step], **facts: object) -> str:
    return "".join(markdown(session(**facts), steps))


def block(step: Step) -> str:
    """What is written for one step, without what stands above it."""
    return written([step]).partition(f"## Turn {step.turn}\n")[2].strip("\n")


def test_the_title_and_the_facts_stand_above_the_turns() -> None:
    lines = written(STEPS).split("\n")
    assert lines[0] == "# fix the flaky login test"
    assert "| Agent | claude |" in lines
    assert "| Folder | `/home/ann/code/api` |" in lines
    assert "| Status | done |" in lines
    assert "| Cost | $0.31 |" in lines
    assert "| Tokens | 19,151 (18,240 in, 12,000 cached, 911 out, 207 reasoning) |" in lines
    assert [line for line in lines if line.startswith("## ")] == ["## Turn 1", "## Turn 2"]


def test_changed_settings_are_below_the_heading_of_their_turn() -> None:
    mode = TurnMode(setting="sandbox", permissions="read-only", default="workspace-write", args=("*a*",))
    turns = [factories.turn(n, mode=mode if n == 2 else None) for n in (1, 2)]
    whole = "".join(markdown(session(), STEPS, turns))
    before, _, second = whole.partition("## Turn 2\n")
    assert r"*sandbox: read-only · arguments: \*a\**" in second
    assert "sandbox: " not in before


def test_what_is_not_known_is_not_zero() -> None:
    lines = written([], model=None, cost_usd=None, usage=Usage(), status=Status.LOST, reason="the runner | died")
    assert "| Model | unknown |" in lines
    assert "| Cost | unknown |" in lines
    assert "| Tokens | unknown |" in lines
    assert "| Status | lost: the runner \\| died |" in lines


def test_everything_that_was_said_and_done_is_there() -> None:
    whole = written(STEPS)
    for step in STEPS:
        for said in (step.command, step.output, *(item.text for item in step.items)):
            assert (said or "").strip() in whole
    assert ANSWER.strip() in whole
    assert DIFF.rstrip("\n") in whole


def test_a_command_has_its_exit_mark_its_duration_and_its_output() -> None:
    step = Step(
        kind=StepKind.COMMAND, command="make", status=StepStatus.FAILED, exit_code=2, at=0, ended_at=900, output="no\n"
    )
    assert block(step).partition("\n\n")[2] == "```console\n$ make\n```\n\n✗ exit 2, 0.9s\n\n```text\nno\n```"


def test_a_long_output_is_folded_whole() -> None:
    output = "".join(f"line {n}\n" for n in range(SHORT + 1))
    told = block(Step(kind=StepKind.COMMAND, command="seq", output=output))
    assert f"<summary>Output, {SHORT + 1} lines</summary>" in told
    assert output in told


def test_each_kind_of_step() -> None:
    for step, expected in [
        (Step(kind=StepKind.PROMPT, text="one\n\ntwo"), "> one\n>\n> two"),
        (Step(kind=StepKind.MESSAGE, text="All **green**."), "All **green**."),
        (
            Step(kind=StepKind.REASONING, text="Look."),
            "<details>\n<summary>Reasoning</summary>\n\nLook.\n\n</details>",
        ),
        (Step(kind=StepKind.START, model="opus", agent_session="t"), "**Start** model opus, conversation `t`"),
        (
            Step(
                kind=StepKind.PLAN,
                text="1 of 3 done",
                items=(
                    PlanItem(text="a", status="completed"),
                    PlanItem(text="b", status="in_progress"),
                    PlanItem(text="c*", status="pending"),
                ),
            ),
            "**Plan** 1 of 3 done\n\n- [x] a\n- [ ] b *(in progress)*\n- [ ] c\\*",
        ),
        (
            Step(kind=StepKind.TOOL_CALL, server="docs", tool="find", text="docs.find", arguments={"q": 1}, output="x"),
            '**Tool call** `docs.find`\n\n```json\n{\n  "q": 1\n}\n```\n\n```text\nx\n```',
        ),
        (Step(kind=StepKind.WEB_SEARCH, text="a b", tool="search"), "**Web search** `search` a b"),
        (Step(kind=StepKind.SUBAGENT, text="look", status=StepStatus.OK), "**Sub-agent** `look` ✓"),
        (Step(kind=StepKind.ERROR, text="gone", fatal=True), "**Error** (fatal): gone"),
        (Step(kind=StepKind.ERROR, text="a\nb", fatal=False), "**Error** (not fatal)\n\n```text\na\nb\n```"),
        (Step(kind=StepKind.NOTICE, text="again", event="retry"), "**Notice** `retry`: again"),
        (
            Step(kind=StepKind.USAGE, usage=Usage.of(10, 4, 2), cost_usd=0.5),
            "**Tokens** 12 (10 in, 4 cached, 2 out) · $0.50",
        ),
        (Step(kind=StepKind.UNKNOWN, text='{"a":1}', event="odd"), '**Unknown event** `odd`\n\n```json\n{"a":1}\n```'),
        (
            Step(
                kind=StepKind.FILE_CHANGE,
                status=StepStatus.OK,
                changes=(
                    Change(path="/home/ann/code/api/a.py", kind="update", diff="-x\n+y"),
                    Change(path="/b", kind="add"),
                ),
            ),
            "**Update** `a.py` +1 -1 ✓\n\n```diff\n-x\n+y\n```\n\n**Add** `/b` ✓",
        ),
    ]:  # fmt: skip
        assert block(step) == expected, step


def test_what_a_sub_agent_did_is_quoted() -> None:
    told = block(Step(kind=StepKind.COMMAND, command="ls", parent="call"))
    assert told == "> *Sub-agent*\n>\n> ```console\n> $ ls\n> ```"


def test_a_message_stays_as_it_is_where_it_stays_within_itself() -> None:
    for text, expected in [
        ("Use `Vec<T>` and **go**.\n\n```sh\nls\n```", "Use `Vec<T>` and **go**.\n\n```sh\nls\n```"),
        ("put <your-key> here, not `<it>`", r"put \<your-key> here, not `<it>`"),
        ("<details>\nhidden", "\\<details>\nhidden"),
        ("a <!-- b --> c", r"a \<!-- b --> c"),
        ("<!-- and the rest", r"\<!-- and the rest"),
        ("```py\nprint()", "```py\nprint()\n```"),
        ("~~~~\nopen", "~~~~\nopen\n~~~~"),
        ("&#x202e;gnp.exe", "```markdown\n&#x202e;gnp.exe\n```"),
        ("> " * 60 + "deep", "```markdown\n" + "> " * 60 + "deep\n```"),
        ("red \x1b[31mtext\x1b[0m\u202e", "red text"),
    ]:  # fmt: skip
        assert message(text) == expected, text


def test_a_fence_is_longer_than_any_run_of_backticks_inside() -> None:
    assert fence("a ```` b") == "`````\na ```` b\n`````"
    assert code("a `b` c") == "`` a `b` c ``"
    assert code("") == ""
    assert plain("*a* <b>\n[c]") == r"\*a\* \<b\> \[c\]"


def test_lists_of_two_messages_stay_two() -> None:
    said = [Step(index=n, kind=StepKind.MESSAGE, text="- one\n- two") for n in range(2)]
    assert MarkdownIt("commonmark").render(written(said)).count("<ul>") == 2


@given(nasty)
def test_no_text_of_an_agent_leaves_its_place(text: str) -> None:
    whole = written(steps_saying(text), title=text, reason=text, model=text, cwd=text)
    tokens = MarkdownIt("commonmark", {"maxNesting": 100}).enable("table").parse(whole)
    tags = [token.content for token in tokens if token.type == "html_block"]
    tags += [inner.content for token in tokens for inner in token.children or () if inner.type == "html_inline"]
    assert OURS.sub("", "".join(tags)).strip() == ""
    assert "".join(tags).count("<details>") == "".join(tags).count("</details>")
    [last] = [token for token in tokens if token.type == "fence" and token.content == "$ the last command\n"]
    assert last.level == 0
    assert not set(whole) & REMOVED


def test_steps_are_read_one_by_one() -> None:
    drawn: list[int] = []

    def steps() -> Iterator[Step]:
        for number in range(5):
            drawn.append(number)
            yield Step(index=number, kind=StepKind.COMMAND, command=f"echo {number}")

    pieces = markdown(session(), steps())
    assert next(piece for piece in pieces if "echo 0" in piece)
    assert drawn == [0]
    assert "echo 4" in "".join(pieces)


FAILED_START = Step(
    kind=StepKind.ERROR, text="exit 127", fatal=True, command="codex exec -", exit_code=127, output="codex: not found"
)


def test_a_failed_start_has_its_command_and_what_it_said() -> None:
    assert block(FAILED_START) == (
        "**Error** (fatal): exit 127\n\n```console\n$ codex exec -\n```\n\nexit 127\n\n```text\ncodex: not found\n```"
    )


def test_the_tokens_of_a_thread_are_told_from_those_of_the_turn() -> None:
    thread, own = Usage(input_tokens=1_000), Usage(input_tokens=300)
    step = Step(kind=StepKind.USAGE, usage=thread, whole_thread=True, turn_usage=own, text="tokens of the whole thread")
    assert block(step) == "**Tokens** 300 in · whole thread: 1,000 in"
    assert block(Step(kind=StepKind.USAGE, usage=Usage(), whole_thread=True)) == "**Tokens** no usage reported"


def test_a_change_says_where_its_file_went_and_why_it_has_no_diff() -> None:
    moved = Change(path="/home/ann/code/api/a", kind="update", diff="+x", moved_to="/home/ann/code/api/b", cut=True)
    lacking = Change(path="/c", kind="update", no_diff="the agent's transcript was not found")
    assert block(Step(kind=StepKind.FILE_CHANGE, changes=(moved, lacking))) == (
        "**Update** `a` moved to `b` +1 -0\n\n```diff\n+x\n```\n\n*The rest of this diff was not stored.*\n\n"
        "**Update** `/c`\n\n*No diff: the agent's transcript was not found.*"
    )
