"""What a worker needs is for its lead first: by recorded facts, on a store without processes."""

import factories
import pytest
from factories import T0
from msgspec import structs

from agentdash.sessions.model.membership import Membership
from agentdash.sessions.model.session import Led, Status
from agentdash.sessions.rules.asks.model import Answer, Ask, AskKind, Verdict
from agentdash.sessions.rules.attention import AttentionKind, kind_of_need, needs_you, urgency
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.rules.notifications.events import Watcher, event_between
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.rules.urgency_levels import Urgency
from agentdash.sessions.runner.hooks import hooks
from agentdash.sessions.runner.hooks.hooks import serve_escalations
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.service.lifecycle.explain import family_facts
from agentdash.sessions.service.lifecycle.starts.launch_plan import build_launch
from agentdash.sessions.settings.config import Config
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.claim import Outcome, Owner
from agentdash.sessions.storage.turns.turn_log import TurnLog

OWNER = Owner(pid=1, start=2, boot_id="boot", pid_ns="ns")
LEAD, WORKER, OTHER = (f"{name}-0000-4000-8000-000000000000" for name in ("1ead0000", "a0000001", "b0000001"))


def kind(**facts):
    return kind_of_need(factories.session(**facts), T0)


ENDED = {"ended_at": T0}
NEEDS = [
    ({"status": Status.WAITING}, AttentionKind.WAITING),
    ({"status": Status.RUNNING, "stuck": "loops", "stuck_at": T0}, AttentionKind.STUCK),
    ({"status": Status.RUNNING, "denied": 1}, AttentionKind.DENIED),
    ({"status": Status.FAILED, **ENDED}, AttentionKind.FAILED),
    ({"status": Status.LOST, **ENDED}, AttentionKind.FAILED),
    ({"status": Status.FAILED, "queued": 1, "held": "turn 1 failed", **ENDED}, AttentionKind.FAILED),
]


@pytest.mark.parametrize(("facts", "need"), NEEDS)
def test_a_need_is_for_the_lead_that_is_at_work_and_then_for_the_user(facts, need):
    assert kind(**facts) is need  # outside a family
    assert kind(**facts, led=Led.AT_WORK) is None
    assert kind(**facts, led=Led.AT_WORK, escalated=True) is need
    assert kind(**facts, led=Led.OVER) is need
    assert kind(**facts, led=Led.WAKES) is (None if facts["status"].ended else need)
    assert kind(**facts, led=Led.WAKES, woken_turn=1) is need  # it was woken by this, and has ended again


@pytest.mark.parametrize("facts", [{}, {"asks": "Shall I?"}, {"denied": 2}])
def test_an_end_that_is_done_is_never_the_users_while_its_lead_lives(facts):
    done = {"status": Status.DONE, **ENDED, **facts}
    assert kind(**done) is not None
    for led in (Led.AT_WORK, Led.WAKES):
        for escalated in (False, True):
            assert kind(**done, led=led, escalated=escalated) is None
    assert kind(**done, led=Led.OVER) is kind(**done)


def test_prompts_of_unknown_fate_stay_the_users():
    assert kind(status=Status.FAILED, unconfirmed=1, led=Led.AT_WORK, **ENDED) is AttentionKind.UNCONFIRMED


def test_its_place_in_the_order_is_that_of_a_session_that_needs_nothing():
    waiting = factories.session(status=Status.WAITING, led=Led.AT_WORK)
    assert (urgency(waiting), needs_you(waiting)) == (Urgency.AT_WORK, False)
    assert urgency(structs.replace(waiting, escalated=True)) is Urgency.WAITING
    done = factories.session(status=Status.DONE, led=Led.WAKES, **ENDED)
    assert urgency(done) is Urgency.AT_REST


def test_notifications_ring_when_a_need_becomes_the_users_and_never_for_a_done_worker():
    running = factories.session(status=Status.RUNNING, led=Led.AT_WORK)
    waiting = structs.replace(running, status=Status.WAITING)
    assert event_between(running, waiting) is None
    assert event_between(waiting, structs.replace(waiting, escalated=True)) == "waiting"
    assert event_between(waiting, structs.replace(waiting, led=Led.OVER)) == "waiting"
    stuck = structs.replace(running, stuck="loops", stuck_at=T0)
    assert event_between(running, stuck) is None
    assert event_between(stuck, structs.replace(stuck, escalated=True)) == "stuck"
    failed = structs.replace(running, status=Status.FAILED, ended_at=T0)
    assert event_between(running, failed) is None
    assert event_between(failed, structs.replace(failed, escalated=True)) == "failed"
    done = structs.replace(failed, status=Status.DONE)
    assert event_between(running, done) is None
    assert event_between(done, structs.replace(done, led=Led.OVER)) is None
    watcher = Watcher([running], since=0)
    assert watcher.update([done]) == []


@pytest.fixture
def layout(tmp_path):
    layout = Layout(tmp_path / "home")
    layout.create()
    return layout


@pytest.fixture
def store(layout):
    store = Store(layout.database)
    yield store
    store.close()


def create(layout, store, name, *, parent=None, lifecycle="linked"):
    layout.session(name).create()
    start = Start("do it", agent="codex", cwd="/usr", session_id=name, options={"live": False})
    place = Membership(parent=parent, lifecycle=lifecycle) if parent else None
    launch = build_launch(Config(), start)
    store.create(start, launch, f"run {name}", host=processes.host_name(), membership=place)


def begin(store, name, n=1):
    log = TurnLog(store, name, n, OWNER)
    assert log.claim() is not None
    log.running(10, 11)
    return log


def show(log, status, reason=None):
    log.progress(Facts(), status, reason, 1, None)


def finish(log, status=Status.DONE, stop_by=None):
    outcome = Outcome(status=status, reason=None, stop_by=stop_by)
    assert log.end(Facts(end="completed"), outcome, steps=1, build=lambda *_: None)


def in_order(store):
    """The stored urgency of each session: what the first screen is read by."""
    rows = store.database.rows(
        "SELECT id, urgency, urgency_seq IS seq AS valid FROM sessions WHERE archived_at IS NULL"
    )
    assert all(row["valid"] for row in rows)
    return {row["id"]: Urgency(row["urgency"]) for row in rows}


@pytest.fixture
def family(layout, store):
    """The log of a lead at work, and that of its worker."""
    create(layout, store, LEAD)
    create(layout, store, WORKER, parent=LEAD)
    return begin(store, LEAD), begin(store, WORKER)


def pass_time(store):
    with store.database.transaction() as db:
        db.execute("UPDATE sessions SET escalates_at = escalates_at - 120000 WHERE escalates_at IS NOT NULL")


def test_a_question_that_the_lead_does_not_answer_in_time_is_recorded_as_the_users(layout, store, family):
    _, worker = family
    show(worker, Status.WAITING, "may I?")
    assert in_order(store)[WORKER] is Urgency.AT_WORK
    assert store.escalate() == []
    pass_time(store)
    since = store.changes(0).seq
    assert store.escalate() == [WORKER]
    assert store.escalate() == []
    assert [session.id for session in store.changes(since).updated] == [WORKER]
    assert in_order(store)[WORKER] is Urgency.WAITING
    assert store.session(WORKER).escalated
    show(worker, Status.RUNNING)
    assert not store.session(WORKER).escalated
    show(worker, Status.WAITING, "and this?")
    assert in_order(store)[WORKER] is Urgency.AT_WORK  # a new question has its own time


def asks(store, key, **facts):
    usual = {"kind": AskKind.COMMAND, "tool": "Bash", "title": f"run: {key}", "body": key, "cwd": "/"}
    return store.asks.record(WORKER, 1, 1, Ask(key=key, **usual | facts))


def test_what_only_the_user_can_allow_is_the_users_at_once(layout, store, family, monkeypatch):
    ran = []
    monkeypatch.setattr(hooks, "send", lambda *facts, spare: ran.append(facts[2].id))
    with store.database.transaction() as db:
        db.execute("""UPDATE turns SET launch = json_set(launch, '$.hook', json('{"argv": ["notify"]}'))""")
    before = store.session(WORKER)
    asks(store, "ls *.py", for_user="it is not a list of simple commands")
    show(family[1], Status.WAITING, "asks to run: ls *.py")
    hooks.run_end_hook(layout, store, WORKER, 1, Status.WAITING, "may I?")
    row = store.session(WORKER)
    assert (row.escalated, in_order(store)[WORKER], row.led) == (True, Urgency.WAITING, Led.AT_WORK)
    assert kind_of_need(row, T0) is AttentionKind.WAITING
    assert event_between(before, row) == "waiting"
    assert ran == [WORKER]
    facts = {fact.name: fact.value for fact in family_facts(store, row)}
    assert facts["its lead"].endswith("is at work; only you can allow what it asks")
    store.asks.answer(1, Answer(verdict=Verdict.DENY), "you")
    show(family[1], Status.RUNNING)
    assert not store.session(WORKER).escalated


def test_an_ask_for_the_user_beside_one_for_the_lead_is_the_users(layout, store, family):
    asks(store, "make")
    show(family[1], Status.WAITING, "asks to run: make")
    assert store.escalate() == []
    asks(store, "ls *.py", for_user="it is not a list of simple commands")
    assert store.escalate() == [WORKER]
    assert in_order(store)[WORKER] is Urgency.WAITING


def test_the_time_runs_on_while_the_worker_prints(layout, store, family):
    _, worker = family
    show(worker, Status.WAITING, "may I?")
    (row,) = store.database.rows("SELECT escalates_at FROM sessions WHERE id = ?", (WORKER,))
    show(worker, Status.WAITING, "may I still?")
    assert store.database.rows("SELECT escalates_at FROM sessions WHERE id = ?", (WORKER,)) == [row]


def test_with_0_seconds_it_counts_for_the_user_at_once(layout, store, family):
    store.keep({"escalate_ms": 0})
    show(family[1], Status.WAITING, "may I?")
    assert in_order(store)[WORKER] is Urgency.WAITING


def test_the_end_of_the_lead_changes_the_place_of_its_workers(layout, store, family):
    lead, worker = family
    show(worker, Status.WAITING, "may I?")
    since = store.changes(0).seq
    finish(lead)
    assert {session.id for session in store.changes(since).updated} == {LEAD, WORKER}
    assert store.session(WORKER).led is Led.WAKES
    assert in_order(store)[WORKER] is Urgency.WAITING


@pytest.mark.parametrize(
    ("status", "stop_by", "led"),
    [
        (Status.DONE, None, Led.WAKES),
        (Status.DONE, "you", Led.OVER),
        (Status.STOPPED, "you", Led.OVER),
        (Status.FAILED, None, Led.OVER),
    ],
)
def test_a_done_worker_is_the_users_only_if_nothing_wakes_its_lead(layout, store, family, status, stop_by, led):
    lead, worker = family
    finish(worker)
    assert (in_order(store)[WORKER], store.session(WORKER).attention) == (Urgency.AT_REST, False)
    finish(lead, status, stop_by)
    assert store.session(WORKER).led is led
    assert (in_order(store)[WORKER] is Urgency.DONE) is (led is Led.OVER)
    facts = {fact.name: fact.value for fact in family_facts(store, store.session(WORKER))}
    assert facts["its lead"].startswith(LEAD[:8])


def test_archiving_or_deleting_the_lead_gives_its_workers_to_the_user(layout, store, family):
    lead, worker = family
    finish(worker)
    finish(lead)
    store.archive(LEAD, 1)
    assert (store.session(WORKER).led, in_order(store)[WORKER]) == (Led.OVER, Urgency.DONE)
    store.archive(LEAD, None)
    assert in_order(store)[WORKER] is Urgency.AT_REST
    assert store.delete(LEAD, 1)
    assert in_order(store)[WORKER] is Urgency.DONE


def test_without_wakes_a_done_worker_of_an_ended_lead_is_the_users(layout, store, family):
    store.keep({"wakes": 0})
    finish(family[1])
    assert not store.session(WORKER).attention
    finish(family[0])
    assert store.session(WORKER).attention
    store.keep({"wakes": 1})
    assert in_order(store)[WORKER] is Urgency.AT_REST


def test_a_detached_session_is_as_one_outside_any_family(layout, store, family):
    create(layout, store, OTHER, parent=LEAD, lifecycle="detached")
    show(begin(store, OTHER), Status.WAITING, "may I?")
    assert (store.session(OTHER).led, in_order(store)[OTHER]) == (None, Urgency.WAITING)
    assert store.database.rows("SELECT 1 FROM sessions WHERE escalates_at IS NOT NULL") == []


def test_the_hook_runs_when_it_becomes_the_users(layout, store, family, monkeypatch):
    ran = []
    monkeypatch.setattr(hooks, "send", lambda *facts, spare: ran.append((facts[2].id, facts[4])))
    with store.database.transaction() as db:
        db.execute("""UPDATE turns SET launch = json_set(launch, '$.hook', json('{"argv": ["notify"]}'))""")
    _, worker = family
    show(worker, Status.WAITING, "may I?")
    hooks.run_end_hook(layout, store, WORKER, 1, Status.WAITING, "may I?")
    serve_escalations(layout, store)
    assert ran == []
    pass_time(store)
    serve_escalations(layout, store)
    serve_escalations(layout, store)
    assert ran == [(WORKER, Status.WAITING)]


def test_a_clock_that_goes_back_does_not_hold_it_for_ever(layout, store, family):
    store.keep({"escalate_ms": 120_000})
    show(family[1], Status.WAITING, "may I?")
    with store.database.transaction() as db:
        db.execute("UPDATE sessions SET escalates_at = escalates_at + 900000 WHERE escalates_at IS NOT NULL")
    assert store.escalate() == [WORKER]
