"""A session with a step of every kind, each with all that its kind can hold."""

from functools import partial

import factories
from factories import T0, step

from agentdash.sessions.model.session import Change, PlanItem, Status, Step, StepKind, StepStatus, Usage

DIFF = """@@ -12,6 +12,7 @@ def token():
 import time
-    return make(time.time())
+    now = clock()
+    return make(now)
 
"""  # noqa: W293 - a line of context that is empty

ANSWER = """The test read the **real clock** twice, in two different seconds.

1. `src/clock.py` takes the clock as an argument now.
2. A regression test holds it at the edge of a second.

| suite | before | after |
| :--- | ---: | ---: |
| `tests/login` | 17 of 18 | 19 of 19 |

```python
def test_expiry():
    assert now(lambda: 60.9) == 60
```

> All tests pass; see [the fixture](https://docs.example.org/clock).
"""


session = partial(
    factories.session, "a1b2c3d4-7f00-4a5b-9c6d-0123456789ab", agent="claude", title="fix the flaky login test",
    task="fix the flaky login test in tests/login", status=Status.DONE, model="opus", turn=2,
    usage=Usage.of(18_240, 12_000, 911, 207), cost_usd=0.31, exit_code=0, updated_at=T0 + 200_000,
    ended_at=T0 + 200_000, agent_session="thread-77",
)  # fmt: skip
"""Makes the session that did it."""


STEPS = [
    step(0, StepKind.PROMPT, text="fix the flaky login test in tests/login\n\nIt fails once in twenty runs."),
    step(1, StepKind.START, model="opus", agent_session="thread-77"),
    step(2, StepKind.REASONING, text="**Looking at the failure**\n\nIt depends on the clock; the fixture comes first."),
    step(3, StepKind.PLAN, text="1 of 3 done", items=(
          PlanItem(text="Reproduce the failure", status="completed"),
          PlanItem(text="Freeze the clock", status="in_progress"),
          PlanItem(text="Add a regression test", status="pending"))),
    step(4, StepKind.COMMAND, 2_900, command="pytest -q tests/login", status=StepStatus.FAILED, exit_code=1,
         output="....F.............\nFAILED tests/login/test_token.py::test_expiry - assert 59 == 60\n"
                "1 failed, 17 passed in 0.92s\n"),
    step(5, StepKind.TOOL_CALL, 400, server="docs", tool="search_docs", text="docs.search_docs", status=StepStatus.OK,
         arguments={"query": "freeze time", "limit": 3}, output="fixtures.md: use the `clock` fixture."),
    step(6, StepKind.WEB_SEARCH, text="pytest freeze clock", tool="search", status=StepStatus.OK,
         arguments={"query": "pytest freeze clock"}, output="4 results"),
    step(7, StepKind.SUBAGENT, 21_000, text="look for other uses of the clock", tool="Agent", call_id="call_7",
         arguments={"prompt": "look for other uses of the clock"}, output="There are none.", status=StepStatus.OK),
    step(8, StepKind.PROMPT, text="look for other uses of the clock", parent="call_7"),
    step(9, StepKind.COMMAND, 60, command="grep -rn 'time.time()' src", status=StepStatus.OK, exit_code=0,
         output="src/clock.py:14:    return make(time.time())\n", parent="call_7"),
    step(10, StepKind.FILE_CHANGE, 30, text="src/clock.py", status=StepStatus.OK, tool="Edit", changes=(
          Change(path="/home/ann/code/api/src/clock.py", kind="update", diff=DIFF),
          Change(path="/home/ann/code/api/tests/login/conftest.py", kind="delete"))),
    step(11, StepKind.NOTICE, text="Reconnecting... 1/2", event="retry"),
    step(12, StepKind.ERROR, text="stream disconnected", fatal=False),
    step(13, StepKind.COMMAND, 4_400, command="for n in $(seq 20); do\n  pytest -q tests/login\ndone",
         status=StepStatus.OK, exit_code=0, output="".join(f"run {n}: 19 passed in 0.88s\n" for n in range(1, 31))),
    step(14, StepKind.MESSAGE, text=ANSWER),
    step(15, StepKind.USAGE, usage=Usage.of(18_240, 12_000, 911, 207), cost_usd=0.31),
    Step(turn=2, index=0, kind=StepKind.PROMPT, text="also bump the version", at=T0 + 180_000),
    Step(turn=2, index=1, kind=StepKind.UNKNOWN, event="item.odd", text='{"type":"item.odd","x":[1,2]}'),
    Step(turn=2, index=2, kind=StepKind.COMMAND, command="git push --force", status=StepStatus.DECLINED,
         output="Permission to use Bash has been denied."),
    Step(turn=2, index=3, kind=StepKind.COMMAND, command="make release", status=StepStatus.INTERRUPTED,
         at=T0 + 181_000, ended_at=T0 + 199_000),
    Step(turn=2, index=4, kind=StepKind.ERROR, text="401 invalid API key:\nthe key was revoked", fatal=True,
         at=T0 + 200_000),
]  # fmt: skip
"""In the order of turn and index."""

LONG_DIFF = "@@ -1,2 +1,22 @@\n-old\n+new\n" + "".join(f"+line {n}\n" for n in range(21)) + " end\n"
THREAD = Usage.of(4_800, 2_000, 92)

ODD = [
    step(30, StepKind.ERROR, text="exit 127", fatal=True, command="codex exec -", exit_code=127,
       output="sh: codex: not found\nInstall it first.\n"),
    step(31, StepKind.ERROR, text="exit 1", fatal=True, command="codex exec -"),
    step(32, StepKind.ERROR, text='{"error":{"type":"overloaded","retry":3}}'),
    step(33, StepKind.ERROR, text="\n".join(f"frame {n}" for n in range(12)), event="turn.failed"),
    step(34, StepKind.COMMAND, command="true", status=StepStatus.OK, exit_code=0),
    step(35, StepKind.COMMAND, command="sleep 60", status=StepStatus.RUNNING),
    step(36, StepKind.COMMAND, text="only a text", output='{"answer":[1,2]}'),
    step(37, StepKind.COMMAND, command="git diff", output=f"diff --git a/x b/x\n{DIFF}", exit_code=0),
    step(38, StepKind.FILE_CHANGE, 30, text="new.py", status=StepStatus.OK, changes=(
        Change(path="/home/ann/code/api/new.py", kind="add", diff="@@ -0,0 +1,2 @@\n+import os\n+x = 1\n"),)),
    step(39, StepKind.FILE_CHANGE, 30, status=StepStatus.OK, output="written", changes=(
        Change(path="/home/ann/code/api/a.py", kind="update", diff=LONG_DIFF, moved_to="/home/ann/code/api/b.py"),)),
    step(40, StepKind.FILE_CHANGE, status=StepStatus.FAILED, output="no such file", changes=(
        Change(path="/etc/hosts", kind="update", no_diff="the agent's transcript was not found"),)),
    step(41, StepKind.FILE_CHANGE, status=StepStatus.OK, changes=(
        Change(path="cut.py", kind="update", diff="+a", added=90, removed=1, cut=True),
        Change(path="long.py", kind="update", added=9_000, removed=0),
        Change(path="same.py", kind="update", diff="", added=0, removed=0))),
    step(42, StepKind.FILE_CHANGE, text="what it was about", status=StepStatus.DECLINED, output="not allowed"),
    step(43, StepKind.TOOL_CALL, tool="write", text="write", output='{"b":1,"a":[]}',
       arguments={"path": "a.py", "n": 1, "code": "def f():\n    pass\n"}),
    step(44, StepKind.TOOL_CALL, tool="t", arguments="as it came", status=StepStatus.FAILED,
       output="\n".join("abcdefghij")),
    step(45, StepKind.TOOL_CALL, server="s", arguments=["x", 1], text="about something else"),
    step(46, StepKind.TOOL_CALL, tool="t", text="more than its name", status=StepStatus.RUNNING),
    step(47, StepKind.WEB_SEARCH, text="retries", arguments={"query": "retries", "action": None}, output="3 found"),
    step(48, StepKind.SUBAGENT, tool="Agent", text="Count", output="- 8\n- 4",
       arguments={"description": "Count", "prompt": "Count **all** files.", "subagent_type": "general"}),
    step(49, StepKind.SUBAGENT, tool="Agent", text="Agent", arguments={"prompt": "x"}, output='{"found":8}'),
    step(50, StepKind.PLAN, text="a plan in words"),
    step(51, StepKind.PLAN, tool="TodoWrite", text="0 of 1 done", status=StepStatus.FAILED, output="no such task",
       items=(PlanItem(text="Ship it", status="odd_state"),)),
    step(52, StepKind.START, model="opus", agent_session="thread-77", text="resumed"),
    step(53, StepKind.START, text="only a text"),
    step(54, StepKind.NOTICE, text="a reminder\nof two lines", event="harness"),
    step(55, StepKind.USAGE, usage=THREAD, whole_thread=True, turn_usage=Usage.of(1_200, 200, 30), text="of all turns"),
    step(56, StepKind.USAGE, usage=THREAD, whole_thread=True),
    step(57, StepKind.USAGE, text="a remark"),
    step(58, StepKind.UNKNOWN, text="Segmentation fault\ncore dumped"),
    step(59, StepKind.REASONING, text="\n\n".join(f"Thought {n}." for n in range(20))),
    step(60, StepKind.PROMPT, text="\n".join(f"line {n}" for n in range(30))),
    step(61, StepKind.MESSAGE, text="begin … end", cut=9_000),
    *(Step(index=70 + number, kind=kind) for number, kind in enumerate(StepKind)),
]  # fmt: skip
"""Steps that say more than usual, or less: at last one of each kind that holds nothing."""
