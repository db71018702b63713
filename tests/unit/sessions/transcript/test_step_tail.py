"""Steps for output that is never redrawn: each is told once, in its order, whatever was read first."""

import json

import pytest

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.session import Prompt, Status, StepStatus, Turn
from agentdash.sessions.storage.files.line_reader import stamp
from agentdash.sessions.storage.paths import SessionFolder
from agentdash.sessions.transcript import session_steps
from agentdash.sessions.transcript import tail as step_tail
from agentdash.sessions.transcript.session_steps import SessionSteps
from agentdash.sessions.transcript.tail import StepTail


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

    def arrived(self, at):
        """Record when all that is written came, as a runner does it."""
        n = len(self.turns)
        with self._folder.times(n).open("ab") as file:
            file.write(stamp(self._folder.output(n).stat().st_size, at))

    def end(self, status=Status.DONE):
        ended = self.turns[-1]
        self.turns[-1] = Turn(**{name: getattr(ended, name) for name in ended.__struct_fields__} | {"status": status})

    def steps(self):
        facts = lambda: (list(self.turns), list(self.prompts))  # noqa: E731
        return SessionSteps(self._folder, agent_named("codex"), facts, self._cache)

    def tail(self, turn=None, **how):
        return StepTail(self.steps(), turn, **how)


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


DONE = {"status": "completed", "exit_code": 0}


def times(told):
    return [(one.step.text, one.step.at, one.step.ended_at) for one in told]


@pytest.fixture
def clock(monkeypatch):
    """The seconds of the monotonic clock."""
    now = [0.0]
    monkeypatch.setattr(step_tail, "monotonic", lambda: now[0])
    return now


def test_a_line_waits_until_its_time_of_arrival_is_recorded(written, clock):
    written.turn(command("started", "make"))
    written.arrived(1_000)
    tail = written.tail(timed=True)
    assert shown(tail.begin(None)) == ["task 1", "make…"]
    assert not tail.waits
    written.write(command("completed", "make", **DONE))
    assert (tail.more(), tail.waits, tail.behind) == ([], True, False)
    written.arrived(4_200)
    assert times(tail.more()) == [("make", 1_000, 4_200)]
    assert (tail.more(), tail.waits) == ([], False)


def test_the_beginning_of_a_step_waits_for_its_time_too(written, clock):
    written.turn(message("a"))
    written.arrived(500)
    written.write(command("started", "make"))
    tail = written.tail(timed=True)
    assert shown(tail.begin(None)) == ["task 1", "a"]
    assert tail.waits
    written.arrived(1_000)
    assert times(tail.more()) == [("make", 1_000, None)]


def test_a_time_that_never_comes_is_waited_for_a_while(written, clock):
    written.turn(command("started", "make"))
    written.arrived(1_000)
    tail = written.tail(timed=True)
    tail.begin(None)
    written.write(command("completed", "make", **DONE))
    clock[0] = 100.0
    assert tail.more() == []
    clock[0] += step_tail.ARRIVAL_SECONDS - 0.1
    assert tail.more() == []
    clock[0] += 0.1
    assert times(tail.more()) == [("make", 1_000, None)]
    assert not tail.waits


def test_each_line_has_the_whole_while_to_get_its_time(written, clock):
    """A stream that is always a little ahead of its times loses none of them."""
    written.turn(message("0"))
    written.arrived(0)
    tail = written.tail(timed=True)
    tail.begin(0)
    for n in range(1, 6):
        written.write(message(str(n)))
        assert tail.more() == []
        clock[0] += 0.6 * step_tail.ARRIVAL_SECONDS
        written.arrived(n)
        written.write(message(f"{n} goes on"))
        assert times(tail.more()) == [(str(n), n, None)]
        clock[0] += 0.6 * step_tail.ARRIVAL_SECONDS
        written.arrived(n)
        assert times(tail.more()) == [(f"{n} goes on", n, None)]


def test_what_an_ended_turn_printed_waits_for_nothing(written, clock):
    written.turn(message("a"))
    tail = written.tail(timed=True)
    assert shown(tail.begin(None)) == ["task 1"]
    written.end()
    assert shown(tail.more()) == ["a"]


def test_of_a_long_session_nothing_is_lost_while_its_end_waits(written, clock, monkeypatch):
    monkeypatch.setattr(session_steps, "AT_ONCE", 2_000)
    monkeypatch.setattr(session_steps, "TAIL_BYTES", 1_000)
    monkeypatch.setattr(session_steps, "PASS_SECONDS", 0.0)
    written.turn(*[message(f"old {n}") for n in range(500)])
    written.arrived(1)
    written.write(message("new"))
    tail = written.tail(timed=True)
    found = shown(tail.begin(None)) + all_of(tail)
    assert found == ["task 1", *[f"old {n}" for n in range(500)]]
    assert tail.waits
    written.arrived(2)
    assert all_of(tail) == ["new"]
