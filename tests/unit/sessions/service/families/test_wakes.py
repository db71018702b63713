"""The ends of workers become one prompt of their lead: on a store without processes."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from factories import add_turn, request

from agentdash.sessions.model.membership import Membership
from agentdash.sessions.model.session import Status, StoppedBy
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.runner.queue import wakes
from agentdash.sessions.runner.queue.wakes import serve_wakes
from agentdash.sessions.service.lifecycle.explain import family_facts
from agentdash.sessions.service.lifecycle.starts.launch_plan import build_launch
from agentdash.sessions.settings.config import Config
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.prompts.prompt_history import past_prompts
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.claim import Outcome, Owner
from agentdash.sessions.storage.turns.turn_log import TurnLog
from agentdash.sessions.storage.wakes import GATHER_MS

OWNER = Owner(pid=1, start=2, boot_id="boot", pid_ns="ns")
LEAD = "1ead0000-0000-4000-8000-000000000000"


def worker(number):
    return f"a{number:07}-0000-4000-8000-000000000000"


@pytest.fixture
def layout(tmp_path):
    layout = Layout(tmp_path / "home")
    layout.create()
    return layout


@pytest.fixture
def waiters(monkeypatch):
    """The leads for which a process that waits was started."""
    started = []
    monkeypatch.setattr(wakes, "send_waiter", lambda _, lead, due_at: started.append((lead, due_at)))
    return started


@pytest.fixture
def store(layout, waiters):
    store = Store(layout.database)
    yield store
    store.close()


def create(layout, store, name, *, lifecycle="linked", parent=LEAD):
    layout.session(name).create()
    start = Start(
        "do it", agent="codex", title=f"title {name[:8]}", cwd="/usr", session_id=name, options={"live": False}
    )
    place = Membership(parent=parent, lifecycle=lifecycle) if parent else None
    launch = build_launch(Config(), start)
    store.create(start, launch, f"run {name}", host=processes.host_name(), membership=place)


def begin(store, name, n=1):
    log = TurnLog(store, name, n, OWNER)
    assert log.claim() is not None
    log.running(10, 11)
    return log


def end(store, name, n=1, *, status=Status.DONE, stop_by=None, said="All done."):
    log = begin(store, name, n)
    facts = Facts(end="completed", last_message=said)
    outcome = Outcome(status=status, reason=None, stop_by=stop_by)
    assert log.end(facts, outcome, steps=2, build=lambda *_: store.launch(name, 1))


@pytest.fixture
def family(layout, store):
    """A lead that is done, with four linked workers that are queued."""
    create(layout, store, LEAD, parent=None)
    for number in range(4):
        create(layout, store, worker(number))
    end(store, LEAD)
    return [worker(number) for number in range(4)]


def fall_due(store):
    """Let the time of the gathering pass."""
    with store.database.transaction() as db:
        db.execute("UPDATE wakes SET due_at = due_at - ?", (GATHER_MS,))


def wake_prompts(store):
    rows = store.database.rows("SELECT text, state, turn, asked_by FROM queue WHERE session = ? ORDER BY id", (LEAD,))
    return [tuple(row) for row in rows]


def read_by_lead(store, name):
    store.families.report([store.session(name)])


def by_hand(store, name, n):
    """Let a turn be one that the user had in the agent's own interface, which has no prompt."""
    with store.database.transaction() as db:
        db.execute("UPDATE turns SET asked_by = 'hand' WHERE session = ? AND n = ?", (name, n))
        db.execute("DELETE FROM queue WHERE session = ?", (name,))


def why(store, name=LEAD):
    return {fact.name: fact.value for fact in family_facts(store, store.session(name))}


def test_the_ends_are_gathered_and_become_one_turn_of_the_lead(layout, store, family, waiters):
    end(store, family[0])
    serve_wakes(layout, store)
    end(store, family[1], status=Status.FAILED)
    serve_wakes(layout, store)
    assert [lead for lead, _ in waiters] == [LEAD]  # one process waits
    assert wake_prompts(store) == []
    assert why(store)["wakes"].endswith("s: 2 workers ended: prompt 1 of 20")
    fall_due(store)
    serve_wakes(layout, store)
    serve_wakes(layout, store)
    ((text, state, turn, asked_by),) = wake_prompts(store)
    assert (state, turn, asked_by) == ("taken", 2, "agentdash")
    assert text.startswith("The ends of 2 workers: 1 done, 1 failed.")
    assert [past.text for past in past_prompts(store.database, ())] == ["do it"]  # no prompt of the user
    lead = store.session(LEAD)
    assert (lead.status, lead.turn) == (Status.QUEUED, 2)
    assert store.newest_turn(LEAD).asked_by == "agentdash"
    assert [store.session(name).reported_turn for name in family] == [1, 1, 0, 0]
    assert why(store)["woken"] == "1 time of 20"


def test_an_end_while_the_lead_works_wakes_it_after_its_turn_unless_it_reads_it(layout, store):
    create(layout, store, LEAD, parent=None)
    create(layout, store, worker(0))
    create(layout, store, worker(1))
    log = begin(store, LEAD)
    end(store, worker(0))
    end(store, worker(1))
    assert not store.wakes.exist()
    read_by_lead(store, worker(0))
    log.end(Facts(end="completed"), Outcome(status=Status.DONE, reason=None), steps=1, build=lambda *_: None)
    fall_due(store)
    serve_wakes(layout, store)
    ((text, *_),) = wake_prompts(store)
    assert worker(1)[:8] in text
    assert worker(0)[:8] not in text


def test_a_lead_that_has_read_everything_is_not_woken(layout, store, family):
    end(store, family[0])
    read_by_lead(store, family[0])
    fall_due(store)
    serve_wakes(layout, store)
    assert wake_prompts(store) == []
    assert not store.wakes.exist()
    assert (
        why(store)["wakes"] == "no: no end of a worker is new to it: those so far were read, or a prompt reports them"
    )


def test_ten_processes_write_one_prompt_for_ten_workers(layout, store):
    create(layout, store, LEAD, parent=None)
    end(store, LEAD)
    names = [worker(number) for number in range(10)]
    for name in names:
        create(layout, store, name)
        end(store, name)
    fall_due(store)

    def serve(_):
        own = Store(layout.database)
        serve_wakes(layout, own)
        own.close()

    with ThreadPoolExecutor(10) as pool:
        list(pool.map(serve, range(10)))
    ((text, *_),) = wake_prompts(store)
    assert all(name[:8] in text for name in names)


def test_an_end_between_the_reading_and_the_writing_is_in_the_prompt(layout, store, family, monkeypatch):
    end(store, family[0])
    fall_due(store)
    late = [family[1]]

    def facts(*_):
        if late:
            end(store, late.pop())
        return ()

    monkeypatch.setattr(wakes, "facts", facts)
    serve_wakes(layout, store)
    ((text, *_),) = wake_prompts(store)
    assert family[0][:8] in text
    assert family[1][:8] in text


@pytest.mark.parametrize("setting", [0, 1])
def test_the_greatest_number_of_wakes(layout, store, family, setting, waiters):
    store.keep({"wakes": setting})
    end(store, family[0])
    fall_due(store)
    serve_wakes(layout, store)
    assert len(wake_prompts(store)) == setting
    if setting:
        end(store, LEAD, 2)
    end(store, family[1])
    serve_wakes(layout, store)
    assert (len(wake_prompts(store)), waiters, store.wakes.exist()) == (setting, [], False)
    assert "orchestration.wakes" in why(store)["wakes"]


def test_a_lead_that_is_stopped_is_not_woken_by_its_workers(layout, store, family):
    end(store, family[0])
    store.wakes.waive(LEAD)  # the lead is stopped although its turn is done
    for name in family[1:]:
        end(store, name, status=Status.STOPPED, stop_by="you")
        serve_wakes(layout, store)
    assert not store.wakes.exist()
    assert wake_prompts(store) == []


@pytest.mark.parametrize("status", [Status.STOPPED, Status.FAILED, Status.LOST])
def test_a_lead_whose_turn_did_not_end_well_is_not_woken(layout, store, status):
    create(layout, store, LEAD, parent=None)
    create(layout, store, worker(0))
    end(store, LEAD, status=status, stop_by="you" if status is Status.STOPPED else None)
    end(store, worker(0))
    serve_wakes(layout, store)
    assert (store.wakes.exist(), wake_prompts(store)) == (False, [])


def test_detached_workers_and_those_of_others_wake_nobody(layout, store, family):
    create(layout, store, worker(8), lifecycle="detached")
    create(layout, store, worker(9), parent=None)
    for name in (worker(8), worker(9)):
        end(store, name)
    assert not store.wakes.exist()


def test_a_cancelled_prompt_is_not_written_again_for_the_same_ends(layout, store, family):
    store.queue.hold(LEAD)
    end(store, family[0])
    fall_due(store)
    serve_wakes(layout, store)
    (prompt,) = store.queue.waiting(LEAD)
    assert store.queue.cancel(prompt.id)
    end(store, family[1])
    fall_due(store)
    serve_wakes(layout, store)
    (prompt,) = store.queue.waiting(LEAD)
    assert family[1][:8] in prompt.text
    assert family[0][:8] not in prompt.text
    store.queue.release(LEAD, lambda *_: store.launch(LEAD, 1))
    assert [store.session(name).reported_turn for name in family[:2]] == [0, 1]
    assert why(store)["woken"] == "1 time of 20"


def test_a_prompt_that_waits_is_cancelled_if_the_lead_reads_all_its_ends(layout, store, family):
    store.queue.hold(LEAD)
    for name in family[:2]:
        end(store, name)
    fall_due(store)
    serve_wakes(layout, store)
    read_by_lead(store, family[0])
    assert len(store.queue.waiting(LEAD)) == 1
    read_by_lead(store, family[1])
    assert (store.queue.waiting(LEAD), store.session(LEAD).queued) == ([], 0)


def test_a_prompt_that_waits_reports_the_later_ends_too_unless_the_user_changed_it(layout, store, family):
    store.queue.hold(LEAD)
    for name in family[:2]:
        end(store, name)
        fall_due(store)
        serve_wakes(layout, store)
    (prompt,) = store.queue.waiting(LEAD)
    assert prompt.text.startswith("The ends of 2 workers: 2 done.")
    assert why(store)["woken"] == "1 time of 20"
    with store.database.transaction() as db:  # a change in the millisecond of the request
        db.execute("UPDATE queue SET created_at = created_at - 1")
    store.queue.edit(prompt.id, "my own words")
    end(store, family[2])
    fall_due(store)
    serve_wakes(layout, store)
    mine, later = store.queue.waiting(LEAD)
    assert mine.text == "my own words"
    assert later.text.startswith("The ends of 1 worker: 1 done.")
    store.queue.release(LEAD, lambda *_: store.launch(LEAD, 1))
    assert [store.session(name).reported_turn for name in family] == [1, 1, 0, 0]


def test_a_stop_cancels_a_prompt_that_waits(layout, store, family):
    store.queue.hold(LEAD)
    end(store, family[0])
    fall_due(store)
    serve_wakes(layout, store)
    store.wakes.waive(LEAD)
    assert store.queue.waiting(LEAD) == []


def test_a_lead_without_the_row_of_its_turn_holds_up_no_process(layout, store, family, monkeypatch):
    end(store, family[0])
    fall_due(store)
    with store.database.transaction() as db:
        db.execute("DELETE FROM turns WHERE session = ?", (LEAD,))
    read, reads = store.wakes.family, []

    def counted(lead):
        reads.append(lead)
        assert len(reads) < 10, "it is served for ever"
        return read(lead)

    monkeypatch.setattr(store.wakes, "family", counted)
    serve_wakes(layout, store)
    assert not store.wakes.exist()


def test_an_ephemeral_worker_is_archived_only_after_its_own_workers(layout, store, family):
    create(layout, store, "e0000000-0000-4000-8000-000000000000", lifecycle="ephemeral")
    create(layout, store, "e0000001-0000-4000-8000-000000000000", parent="e0000000-0000-4000-8000-000000000000")
    middle, below = (f"e000000{n}-0000-4000-8000-000000000000" for n in range(2))
    end(store, middle)
    read_by_lead(store, middle)
    assert store.families.reported() == []  # its worker is queued
    end(store, below)
    assert store.wakes.gather(middle) is not None
    assert store.families.reported() == []  # the end is about to wake it
    read_by_lead(store, below)
    with store.database.transaction() as db:
        db.execute("DELETE FROM wakes")
    assert store.families.reported() == [middle]


def test_a_worker_that_goes_on_with_its_own_queue_has_not_ended(layout, store, family):
    log = begin(store, family[0])
    store.queue.add(request(family[0]), lambda *_: store.launch(family[0], 1))
    log.end(
        Facts(end="completed"), Outcome(status=Status.DONE, reason=None), steps=1,
        build=lambda *_: store.launch(family[0], 1),
    )  # fmt: skip
    assert not store.wakes.exist()


def test_a_stop_by_its_limit_is_an_end_that_wakes(layout, store, family):
    end(store, family[0], status=Status.STOPPED, stop_by=StoppedBy.LIMIT.because("2.00 of 2.00"))
    fall_due(store)
    serve_wakes(layout, store)
    assert len(wake_prompts(store)) == 1


def test_the_lead_is_told_to_which_workers_the_user_spoke(layout, store, family):
    for name in family:
        end(store, name)
    launch = store.launch(family[0], 1)
    workers = store.families
    assert workers.spoken_to(LEAD, None) == []
    add_turn(store, family[0], 1, "and the docs", launch)
    add_turn(store, family[1], 1, "go on", launch, asked_by=LEAD)
    add_turn(store, family[3], 1, "and so on", launch)
    by_hand(store, family[3], 2)
    assert workers.spoken_to(LEAD, None) == [family[0], family[3]]
    fall_due(store)
    serve_wakes(layout, store)
    ((text, *_),) = wake_prompts(store)
    assert f"The user spoke to {family[0][:8]}, {family[3][:8]}." in text
    end(store, family[0], 2)
    read_by_lead(store, family[0])
    assert workers.spoken_to(LEAD, None) == [family[3]]


def test_what_a_worker_did_is_read_from_its_own_steps(layout, store, family):
    log = begin(store, family[0])
    command = {"id": "0", "type": "command_execution", "command": "make", "exit_code": 2, "status": "failed"}
    lines = [
        {"type": "thread.started", "thread_id": "t"},
        {"type": "item.completed", "item": command},
        {"type": "item.completed", "item": {"id": "1", "type": "agent_message", "text": "All is well."}},
        {"type": "turn.completed", "usage": {"input_tokens": 1, "cached_input_tokens": 0, "output_tokens": 1}},
    ]
    layout.session(family[0]).output(1).write_text("".join(json.dumps(line) + "\n" for line in lines))
    facts = Facts(end="completed", last_message="All is well.")
    log.end(facts, Outcome(status=Status.DONE, reason=None), steps=2, build=lambda *_: None)
    fall_due(store)
    serve_wakes(layout, store)
    ((text, *_),) = wake_prompts(store)
    assert "facts: 1 command, 1 failed\n| All is well." in text


PATCH_FAILED = (
    "\x1b[31mERROR\x1b[0m codex_core::tools::router: \x1b[3merror\x1b[0m=apply_patch verification failed: Failed\n"
)


def test_the_prompt_names_edits_that_failed(layout, store, family):
    change = {"id": "item_1", "type": "file_change", "changes": [{"path": "/a", "kind": "update"}], "status": "failed"}
    turns = layout.session(family[0]).turns
    (turns / "turn_1.jsonl").write_text(json.dumps({"type": "item.completed", "item": change}) + "\n")
    (turns / "turn_1.err").write_text(PATCH_FAILED * 2)
    end(store, family[0])
    fall_due(store)
    serve_wakes(layout, store)
    ((text, *_),) = wake_prompts(store)
    assert "3 edits failed" in text
