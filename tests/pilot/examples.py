"""Five sessions of different fates, steps of every common kind, a talk of three turns, and what an agent asks."""

import factories
from factories import T0

from agentdash.sessions.model.session import Change, PlanItem, Status, Step, StepKind, StepStatus, Usage
from agentdash.sessions.rules.asks.model import Ask, AskKind, Verdict

AGES = {"waiting1": 4, "failed01": 3, "done0001": 540, "running1": 1, "stopped1": 3600}


def session(sid, status, title, *, created, **own):
    facts = {
        "title": title, "task": title, "status": status, "created_at": T0 - created, "updated_at": T0 - created,
        "last_event_at": T0 - 1000 * AGES.get(sid, 5), "usage": Usage.of(15_200, 3_000, 3_000, 100), "cost_usd": 0.31,
    }  # fmt: skip
    return factories.session(sid, **(facts | own))


SESSIONS = [
    session("waiting1", Status.WAITING, "fix the flaky login test", created=1, turn=2,
            reason="wants to run: rm -rf build/"),
    session("failed01", Status.FAILED, "add dark mode", created=2, agent="claude", cwd="/home/ann/code/web",
            reason="401 invalid api key", cost_usd=None),
    session("done0001", Status.DONE, "write the migration", created=3, agent="claude", turn=3, steps=37),
    session("running1", Status.RUNNING, "split [/red] the monolith into services", created=4, steps=140,
            seen_at=T0, seen_steps=20),
    session("stopped1", Status.STOPPED, "rename the store", created=5),
]  # fmt: skip

STEPS = [
    Step(turn=1, index=0, kind=StepKind.PROMPT, text="fix the flaky login test in tests/login"),
    Step(turn=1, index=1, kind=StepKind.REASONING, text="The failure depends on the clock; look at the fixture first."),
    Step(turn=1, index=2, kind=StepKind.COMMAND, command="pytest -q tests/login", exit_code=1,
         at=T0, ended_at=T0 + 3200, status=StepStatus.FAILED,
         output="\n".join(f"line {n} \x1b[31mof\x1b[0m the output" for n in range(47))),
    Step(turn=1, index=3, kind=StepKind.FILE_CHANGE, status=StepStatus.OK, changes=(
        Change(path="src/clock.py", kind="update", diff="+a\n+b\n-c"),
        Change(path="tests/login/conftest.py", kind="add"))),
    Step(turn=1, index=4, kind=StepKind.TOOL_CALL, tool="search_docs", arguments={"query": "freezegun tick"},
         status=StepStatus.OK, at=T0, ended_at=T0 + 400),
    Step(turn=1, index=5, kind=StepKind.PLAN, items=(
        PlanItem(text="read the fixture", status="completed"), PlanItem(text="freeze the clock", status="in_progress"),
        PlanItem(text="run the tests", status="pending"))),
    Step(turn=1, index=6, kind=StepKind.MESSAGE,
         text="The test read the real clock. It now uses the frozen one, and a regression test covers the last "
              "second of an hour.\n\nNothing else depends on it."),
    Step(turn=1, index=7, kind=StepKind.ERROR, text="stream disconnected: retrying"),
    Step(turn=1, index=8, kind=StepKind.USAGE, usage=Usage.of(15_200, 3_000, 3_000), cost_usd=0.31),
    Step(turn=2, index=0, kind=StepKind.PROMPT, text="also add a regression test"),
    Step(turn=2, index=1, kind=StepKind.UNKNOWN, event="item.odd", text='{"type":"item.odd","x":"[red]"}'),
    Step(turn=2, index=2, kind=StepKind.COMMAND, command="rm -rf build/", status=StepStatus.RUNNING),
]  # fmt: skip

TALK = [
    Step(turn=1, index=0, kind=StepKind.PROMPT, text="write the migration"),
    Step(turn=1, index=1, kind=StepKind.COMMAND, command="ls migrations"),
    Step(turn=1, index=2, kind=StepKind.MESSAGE, text="I would add a column."),
    Step(turn=1, index=3, kind=StepKind.USAGE, text="used"),
    Step(turn=2, index=0, kind=StepKind.PROMPT, text="use a table instead"),
    Step(turn=2, index=1, kind=StepKind.MESSAGE, text="The table is made."),
    Step(turn=3, index=0, kind=StepKind.PROMPT, text="and an index"),
    Step(turn=3, index=1, kind=StepKind.COMMAND, command="psql -f index.sql"),
    Step(turn=3, index=2, kind=StepKind.MESSAGE, text="The index is made."),
]
"""Three turns of a session."""


def command(text="rm -rf build", **facts):
    return Ask(
        key=text, kind=AskKind.COMMAND, tool="Bash", body=text,
        **{"title": f"run: {text}", "cwd": "/home/ann/code/api", "why": "The build folder is stale."} | facts,
    )  # fmt: skip


EVERY = (Verdict.ALLOW, Verdict.ALWAYS, Verdict.DENY, Verdict.STOP)
