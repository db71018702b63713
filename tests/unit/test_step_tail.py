"""Steps for output that is never redrawn: each is told once, in its order, whatever was read first."""

import json

import pytest

from agentdash.sessions.agents.table import agent_named
from agentdash.sessions.layout import SessionFolder
from agentdash.sessions.model import Prompt, Status, StepStatus, Turn
from agentdash.sessions.steps import session_steps
from agentdash.sessions.steps.session_steps import SessionSteps
from agentdash.sessions.steps.tail import StepTail


def message(text):
    return {"type": "item.completed", "item": {"id": text, "type": "agent_message", "text": text}}


def command(state, text, **more):
    item = {"id": text, "type": "command_execution", "command": text, "status": "in_progress", **more}
    return {"type": f"item.{state}", "item": item}


def plan(state, *done):
    items = [{"text": str(n), "completed": value} for n, value in enumerate(done)]
    return {"type": f"item.{state}", "item": {"id": "plan", "type": "todo_list", "items": items}}


class Written:
    """A session that is written while it is followed."""

    def __init__(self, path):
        self._folder = SessionFolder(path / "sessions" / "one")
        self._cache = path / "cache"
        self.turns, self.prompts = [], []

    def turn(self, *events):
        n = len(self.turns) + 1
        facts = {"session": "one", "n": n, "run_id": "r", "created_at": 0, "steps": 1}
        self.turns.append(Turn(status=Status.RUNNING, **facts))
        self.prompts.append(Prompt(id=n, session="one", turn=n, text=f"task {n}", state="sent", created_at=0))
        self.write(*events)

    def write(self, *events):
        path = self._folder.output(len(self.turns))
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.writelines(json.dumps(event).encode() + b"\n" for event in events)

    def end(self, status=Status.DONE):
        ended = self.turns[-1]
        self.turns[-1] = Turn(**{name: getattr(ended, name) for name in ended.__struct_fields__} | {"status": status})

    def tail(self, turn=None):
        facts = lambda: (list(self.turns), list(self.prompts))  # noqa: E731
        return StepTail(SessionSteps(self._folder, agent_named("codex"), facts, self._cache), turn)


@pytest.fixture
def written(tmp_path):
    return Written(tmp_path)


def shown(told):
    return [f"{one.step.text}{'…' if one.begun else ''}" for one in told]


def all_of(tail):
    told = tail.more()
    while tail.behind:
        told += tail.more()
    return shown(told)


def test_each_step_is_told_once_and_a_long_one_when_it_begins_and_ends(written):
    written.turn(message("a"), command("started", "make"))
    tail = written.tail()
    assert shown(tail.begin(10)) == ["task 1", "a", "make…"]
    assert all_of(tail) == []
    written.write(message("b"))
    assert all_of(tail) == ["b"]
    written.write(command("completed", "make", status="completed", exit_code=0), message("c"))
    assert all_of(tail) == ["make", "c"]
    assert all_of(tail) == []


def test_a_step_that_begins_and_ends_between_two_looks_is_told_once(written):
    written.turn()
    tail = written.tail()
    tail.begin(0)
    written.write(command("started", "ls"), command("completed", "ls", status="completed", exit_code=0))
    assert all_of(tail) == ["ls"]


def test_a_plan_is_told_when_it_changes(written):
    written.turn(plan("started", False, False))
    tail = written.tail()
    assert shown(tail.begin(1)) == ["0 of 2 done…"]
    written.write(plan("updated", True, False))
    assert all_of(tail) == ["1 of 2 done…"]
    written.write(plan("completed", True, False))
    assert all_of(tail) == []


def test_what_an_end_interrupts_is_told(written):
    written.turn(command("started", "sleep"))
    tail = written.tail()
    tail.begin(None)
    written.end(Status.STOPPED)
    (told,) = tail.more()
    assert (told.step.text, told.step.status) == ("sleep", StepStatus.INTERRUPTED)


@pytest.mark.parametrize(("last", "expected"), [(0, []), (2, ["b", "c"]), (None, ["task 1", "a", "b", "c"])])
def test_it_begins_with_the_last_steps(written, last, expected):
    written.turn(message("a"), message("b"), message("c"))
    assert shown(written.tail().begin(last)) == expected


def test_one_turn_alone(written):
    written.turn(message("a"))
    written.end()
    written.turn(message("b"))
    tail = written.tail(1)
    assert shown(tail.begin(10)) == ["task 1", "a"]
    written.write(message("c"))
    assert all_of(tail) == []


def test_the_next_turn_follows(written):
    written.turn(message("a"))
    tail = written.tail()
    tail.begin(0)
    written.end()
    written.turn(message("b"))
    assert all_of(tail) == ["task 2", "b"]


def test_of_a_long_session_only_the_end_is_read_first_and_nothing_is_lost_or_told_twice(written, monkeypatch):
    monkeypatch.setattr(session_steps, "AT_ONCE", 2_000)
    monkeypatch.setattr(session_steps, "TAIL_BYTES", 1_000)
    monkeypatch.setattr(session_steps, "PASS_SECONDS", 0.0)
    written.turn(*[message(f"old {n}") for n in range(500)], command("started", "make"))
    tail = written.tail()
    assert shown(tail.begin(3)) == ["old 498", "old 499", "make…"]
    assert tail.behind
    written.write(message("new"), command("completed", "make", status="completed", exit_code=0))
    written.write(*[message(f"more {n}") for n in range(5)])
    assert sorted(all_of(tail)) == ["make", "more 0", "more 1", "more 2", "more 3", "more 4", "new"]
    assert all_of(tail) == []
