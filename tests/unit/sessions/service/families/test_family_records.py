"""Families of sessions as they are recorded: leads and workers, their turns, prompts, marks, tokens and limits.

What real processes do at the stop of a family is shown by end-to-end tests.
"""

import json
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest
from factories import request
from leading import Leading, lead_of
from msgspec import structs
from recorded_sessions import evidence, lines, ran, record, said

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.mcp.orchestration.schemas import Delegate
from agentdash.sessions.model.compaction import BY_AGENT, BY_SUMMARY, Compaction
from agentdash.sessions.model.errors import (
    NewerStoreError,
    NotAllowedError,
    RefusalError,
    SessionBusyError,
    UnknownSessionError,
    UsageError,
)
from agentdash.sessions.model.membership import Budget, Membership
from agentdash.sessions.model.session import Status, StepKind, StepStatus, Usage
from agentdash.sessions.model.turn_mode import TurnMode
from agentdash.sessions.rules import status as rules
from agentdash.sessions.rules.asks.model import Answer, Ask, AskKind, Verdict
from agentdash.sessions.rules.asks.recorded import AskState
from agentdash.sessions.rules.compaction import judged
from agentdash.sessions.rules.conversation.history import History, Part
from agentdash.sessions.rules.conversation.marks import Mark, MarkKind
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.rules.limits.admission import FamilyLimits
from agentdash.sessions.rules.limits.limits import Limits
from agentdash.sessions.rules.turn_facts import Compacted, Facts
from agentdash.sessions.runner.caller import Caller
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.service.families.permissions import Bound, check_mode
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.storage.schema import VERSION
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.claim import Outcome, Owner
from agentdash.sessions.storage.turns.turn_log import TurnLog

OWNER = Owner(pid=1, start=2, boot_id="boot", pid_ns="ns")
TOP, LEAD, WORKER, OTHER, BELOW = (f"{n}{n}{n}{n}{n}{n}{n}{n}-family" for n in "12345")
TWO = [("first", lines(said("one"))), ("second", lines(said("two")))]


@pytest.fixture
def manager(monkeypatch):
    """A manager that sends no runner: what it starts stays queued."""
    monkeypatch.setattr("agentdash.sessions.service.manager.pump", lambda *_: None)
    with SessionManager(caller=Caller()) as manager:
        yield manager


@pytest.fixture
def store(manager):
    return manager.store


@pytest.fixture
def lead(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with SessionManager(caller=lead_of()) as manager:
        lead = Leading(manager)
        yield lead
        lead.close()


def begin(manager, name, parent=None, limits=None, **place):
    """Record the start of a session, as the manager does for a caller inside ``parent``."""
    manager.layout.session(name).create()
    start = Start(name, agent="command", title=name, cwd="/", session_id=name)
    launch = Launch(argv=("true",), family=limits or FamilyLimits())
    manager.store.create(start, launch, name, host=processes.host_name(), membership=Membership(parent=parent, **place))
    return name


def end(store, name, n=1, status=Status.DONE, facts=None, **outcome):
    """Play a turn from its claim to its end."""
    log = TurnLog(store, name, n, OWNER)
    assert log.claim() is not None
    log.running(10, 11)
    result = Outcome(status=status, reason=None, **outcome)
    assert log.end(facts or Facts(end="completed"), result, 1, lambda *_: Launch(argv=("true",)))


def prompt(store, name, text="more"):
    return store.queue.add(request(name, text), lambda *_: Launch(argv=("true",)))


def mark(store, session, kind, **fields):
    newest = max((one.id for one in store.marks.of_session(session.id)), default=0)
    made = Mark(id=0, session=session.id, kind=kind, after=session.turn, asked_by="you", **fields)
    return store.marks.add(made, newest=newest)


def parts(store, session_id):
    return History(range(1, store.session(session_id).turn + 1), store.marks.of_session(session_id)).parts()


def statuses(store, *names):
    return [store.session(name).status for name in names]


def test_the_database_holds_facts_and_the_messages_are_in_files(manager, store):
    """A turn is a row and a file.  There is no table of messages."""
    answer = "m" * 2_000
    session = record(manager, [("go", lines(said(answer)))])
    assert manager.reader.steps.messages(session.id)[-1].text == answer
    tables = [row["name"] for row in store.database.rows("SELECT name FROM sqlite_master WHERE type = 'table'")]
    assert {"sessions", "turns", "prompts", "marks"} <= set(tables)
    rows = [tuple(row) for name in tables for row in store.database.rows(f"SELECT * FROM {name}")]
    assert not [row for row in rows if answer in map(str, row)]
    plan = store.database.rows("EXPLAIN QUERY PLAN SELECT id FROM sessions WHERE parent = 'x'")
    assert "sessions_parent" in plan[0]["detail"]


def test_the_folders_above_a_database_are_made_and_writers_wait_for_each_other(tmp_path):
    """Each commit is synced in full, a writer waits longer, and no database is in memory alone."""
    with SessionManager(home=tmp_path / "a" / "b", caller=Caller()) as manager:
        assert manager.reader.sessions() == []
        assert manager.layout.database == tmp_path / "a" / "b" / "agentdash.db"
        with manager.store.database.transaction() as db:
            pragmas = ("journal_mode", "synchronous", "busy_timeout", "foreign_keys")
            values = [db.execute(f"PRAGMA {name}").fetchone()[0] for name in pragmas]
    assert values == ["wal", 2, 15_000, 1]


def test_a_start_has_an_id_a_depth_a_lifecycle_and_times_in_ms(manager):
    """The id is a UUID or the caller's, and only a worker ends with its lead if nothing else is said."""
    before = time.time_ns() // 1_000_000
    session = manager.spawn(Start("do it", agent="codex"))
    assert (len(session.id), session.parent, session.depth, session.lifecycle) == (36, None, 0, "detached")
    assert before <= session.created_at <= time.time_ns() // 1_000_000
    chosen = "11111111-1111-4111-8111-111111111111"
    assert manager.spawn(Start("do it", agent="codex", session_id=chosen)).id == chosen
    assert Delegate(task="x").lifecycle == "linked"


def test_a_worker_is_one_deeper_than_its_lead_and_more_than_three_leads_are_refused(manager, store):
    line = [begin(manager, name, above) for name, above in ((TOP, None), (LEAD, TOP), (WORKER, LEAD), (OTHER, WORKER))]
    assert [store.session(name).depth for name in line] == [0, 1, 2, 3]
    with pytest.raises(RefusalError) as refused:
        begin(manager, BELOW, OTHER)
    assert (refused.value.code, store.session(BELOW)) == ("too_deep", None)


def test_a_session_whose_lead_is_of_another_state_folder_is_the_users(manager, monkeypatch):
    """A tag of another state folder is not an error: the session is the user's."""
    with SessionManager(caller=Caller(session="99999999-gone", evidence="environment")) as inside:
        session = inside.spawn(Start("do it", agent="codex"))
    assert (session.parent, session.depth) == (None, 0)


def test_options_are_a_dict_and_the_tool_call_that_started_it_is_kept(manager, store):
    plain = manager.spawn(Start("do it", agent="codex"))
    full = manager.spawn(Start("do it", agent="codex", options={"sandbox": "read-only"}, call="toolu_1"))
    assert (store.recipe(plain.id).options, plain.call) == ({}, None)
    assert (store.recipe(full.id).options, full.call) == ({"sandbox": "read-only"}, "toolu_1")


def test_an_unknown_session_is_none_or_an_error_and_children_are_in_the_order_of_their_creation(manager, store):
    assert store.session("ffffffff-none") is None
    with pytest.raises(UnknownSessionError):
        manager.reader.get("ffffffff-none")
    lead = record(manager, TWO)
    children = [record(manager, TWO, parent=lead.id, created_at=at) for at in (30, 10, 20)]
    assert [one.created_at for one in manager.reader.descendants(lead.id)] == [10, 20, 30]
    manager.housekeeping.archive(children[0].id)
    archived = manager.reader.by_id(children[0].id)
    assert archived.archived_at is not None
    assert structs.replace(archived, archived_at=None) == children[0]


def test_a_stop_ends_linked_workers_with_their_own_and_leaves_detached_ones(manager, store):
    """A stop takes the place of a deletion: the workers stay as rows, and the receipt names those that were ended."""
    begin(manager, LEAD)
    begin(manager, WORKER, LEAD, lifecycle="linked")
    begin(manager, BELOW, WORKER, lifecycle="ephemeral")
    begin(manager, OTHER, LEAD, lifecycle="detached")
    receipt = manager.stop(LEAD)
    assert set(receipt.workers) == {WORKER, BELOW}
    assert statuses(store, LEAD, WORKER, BELOW, OTHER) == [Status.STOPPED] * 3 + [Status.QUEUED]


def test_a_deleted_session_leaves_no_row_and_its_folder_is_in_the_trash(manager, store):
    lead = record(manager, TWO)
    mark(store, lead, MarkKind.REWIND, turn=1)
    prompt(store, lead.id)
    manager.delete(lead.id)
    for table, column in (("sessions", "id"), ("turns", "session"), ("prompts", "session"), ("marks", "session"),
                          ("queue", "session")):  # fmt: skip
        assert store.database.rows(f"SELECT 1 FROM {table} WHERE {column} = ?", (lead.id,)) == []
    assert [one.id for one in manager.reader.deleted()] == [lead.id]


def test_a_deletion_removes_only_the_session_that_it_names(manager, store):
    """Each deletion is of one session, its workers keep what they have."""
    lead = record(manager, TWO)
    worker = record(manager, TWO, parent=lead.id, lifecycle="linked", depth=1)
    files, turns = evidence(manager, worker.id)[0], store.turns(worker.id)
    manager.delete(lead.id)
    assert [one.id for one in manager.reader.sessions()] == [worker.id]
    assert (evidence(manager, worker.id)[0], store.turns(worker.id)) == (files, turns)
    assert [one.text for one in manager.reader.steps.messages(worker.id)] == ["first", "one", "second", "two"]


def test_turns_are_numbered_from_1_and_a_prompt_changes_the_time_of_its_session(manager, store):
    """A prompt is a row, and its turn has a number."""
    session = record(manager, [("first", lines(said("one")))])
    assert prompt(store, session.id).turn == 2
    assert [turn.n for turn in store.turns(session.id)] == [1, 2]
    assert store.session(session.id).updated_at > session.updated_at
    with pytest.raises(UnknownSessionError):
        prompt(store, "ffffffff-none")


def test_a_step_has_its_turn_its_kind_and_its_fields(manager):
    """The steps of a turn are read from its file, and nothing is stored twice."""
    shown = (StepKind.PROMPT, StepKind.COMMAND, StepKind.MESSAGE)
    session = record(manager, [("go", lines(ran("make", 2, "no rule", 1), said("failed", 2)))])
    steps = [one for one in manager.reader.steps.trajectory(session.id) if one.kind in shown]
    assert [(one.turn, one.kind) for one in steps] == [
        (1, StepKind.PROMPT), (1, StepKind.COMMAND), (1, StepKind.MESSAGE),
    ]  # fmt: skip
    assert (steps[1].command, steps[1].exit_code, steps[1].output) == ("make", 2, "no rule")
    [asked] = manager.reader.prompts(session.id)
    assert (asked.turn, asked.text, asked.state) == (1, "go", "seen")


def test_the_visible_conversation_and_everything_are_both_readable(manager, store):
    """A mark says what is visible, and no step has a state."""
    session = record(manager, TWO)
    mark(store, session, MarkKind.REWIND, turn=1)
    assert parts(store, session.id) == [Part(turn=1)]
    assert [one.text for one in manager.reader.steps.messages(session.id)] == ["first", "one", "second", "two"]
    assert [
        one.text
        for one in manager.reader.steps.trajectory(session.id, 2)
        if one.kind in (StepKind.PROMPT, StepKind.MESSAGE)
    ] == ["second", "two"]


def compact(store, name, step=1, before=900, after=100):
    """Play a turn in which the agent compacts."""
    n = prompt(store, name, "/compact").turn
    asked = Compaction(by=BY_AGENT)
    facts = Facts(end="completed", compacted=Compacted(step=step, tokens_before=before, tokens_after=after))
    verdict, found = judged(rules.Verdict(Status.DONE, None, "rule"), asked, facts)
    end(store, name, n, verdict.status, facts, compaction=found)


def test_a_compaction_is_recorded_with_its_tokens_and_the_originals_stay(manager, store):
    """Audit only: the agent compacts, and agentdash records the mark."""
    begin(manager, LEAD)
    end(store, LEAD)
    before = [tuple(row) for row in store.database.rows("SELECT * FROM turns WHERE session = ? AND n = 1", (LEAD,))]
    compact(store, LEAD)
    [found] = store.marks.of_session(LEAD)
    assert (found.kind, found.turn, found.data["tokens_before"], found.data["tokens_after"]) == (
        MarkKind.COMPACT, 2, 900, 100,
    )  # fmt: skip
    assert parts(store, LEAD) == [Part(mark=found)]
    assert [
        tuple(row) for row in store.database.rows("SELECT * FROM turns WHERE session = ? AND n = 1", (LEAD,))
    ] == before
    assert store.session(LEAD).context_tokens == 100


def test_compactions_are_listed_in_their_order(manager, store):
    begin(manager, LEAD)
    end(store, LEAD)
    for before in (900, 800):
        compact(store, LEAD, before=before)
    assert [one.data["tokens_before"] for one in store.marks.of_session(LEAD)] == [900, 800]


def test_a_session_has_its_newest_turn_and_what_waits(manager, store):
    """What waits is counted from rows, and none of it is stored a second time."""
    begin(manager, LEAD)
    session = store.session(LEAD)
    assert (session.turn, session.queued, session.asking, session.held) == (1, 0, 0, None)
    prompt(store, LEAD)
    store.asks.record(LEAD, 1, 1, Ask(key="a", kind=AskKind.TOOL, tool="x", title="x"))
    store.queue.hold(LEAD, "by hand")
    session = store.session(LEAD)
    assert (session.turn, session.queued, session.asking, session.held) == (1, 1, 1, "by hand")


def test_each_turn_keeps_its_own_usage(manager, store):
    """A report of the same turn replaces the earlier one, that of another turn never does."""
    begin(manager, LEAD)
    log = TurnLog(store, LEAD, 1, OWNER)
    log.claim()
    log.running(10, 11)
    for tokens in (5, 7):
        log.progress(Facts(usage=Usage(total_tokens=tokens), model="m"), Status.RUNNING, None, 1, None)
    assert store.one_turn(LEAD, 1).usage.total_tokens == 7
    assert (store.session(LEAD).usage.total_tokens, store.session(LEAD).model) == (7, "m")


def test_one_store_serves_many_threads_and_another_reads_beside_it(manager, store):
    """A process has one connection for reading and one for writing."""
    begin(manager, LEAD)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: prompt(store, LEAD, str(n)), range(40)))
    other = Store(manager.layout.database)
    assert {one.text for one in other.queue.waiting(LEAD)} == {str(n) for n in range(40)}
    other.close()


def test_an_ephemeral_worker_is_archived_when_it_is_done_and_its_lead_has_read_its_end(manager, store):
    """It is archived and not deleted."""
    lead = record(manager, TWO)
    workers = {
        kind: record(manager, TWO, parent=lead.id, lifecycle=kind) for kind in ("ephemeral", "linked", "detached")
    }
    manager.housekeeping.settle()
    assert manager.reader.sessions(archived=True) == []
    store.families.report(workers.values())
    manager.housekeeping.settle()
    assert [one.id for one in manager.reader.sessions(archived=True)] == [workers["ephemeral"].id]


def test_a_second_prompt_waits_for_the_end_of_the_turn(manager, store):
    """A prompt to a session at work is queued, whichever process sends it."""
    begin(manager, LEAD)
    other = Store(manager.layout.database)
    assert [prompt(one, LEAD).turn for one in (store, other)] == [None, None]
    assert [turn.n for turn in store.open_turns()] == [1]
    end(store, LEAD)
    assert [turn.n for turn in store.open_turns()] == [2]
    assert store.session(LEAD).queued == 1
    other.close()


def test_an_ask_waits_for_one_answer_and_ends_with_its_process(manager, store):
    """What is pending are asks of a live agent.  A prompt waits behind them, and an open ask ends as lost."""
    begin(manager, LEAD)
    first, second = (
        store.asks.record(LEAD, 1, 1, Ask(key=key, kind=AskKind.TOOL, tool=key, title=key)) for key in ("make", "rm")
    )
    assert [one.ask.tool for one in store.asks.open(LEAD)] == ["make", "rm"]
    assert prompt(store, LEAD).state == "queued"
    assert store.asks.answer(first.id, Answer(verdict=Verdict.ALLOW), "you")
    assert not store.asks.answer(first.id, Answer(verdict=Verdict.DENY), "you")
    assert store.asks.lose(LEAD, 1) == 2
    assert store.asks.one(second.id).state is AskState.LOST
    assert store.asks.open(LEAD) == []


def test_a_compaction_that_failed_leaves_the_conversation(manager, store):
    """Agents compact themselves.  A summary that is missing is a failed turn and no mark."""
    begin(manager, LEAD)
    end(store, LEAD)
    done, asked = rules.Verdict(Status.DONE, None, "rule"), Compaction(by=BY_SUMMARY)
    verdict, found = judged(done, asked, Facts(end="completed"))
    assert (verdict.status, found) == (Status.FAILED, None)
    end(store, LEAD, prompt(store, LEAD, "/compact").turn, verdict.status, compaction=found)
    assert parts(store, LEAD)[0] == Part(turn=1)
    assert store.marks.of_session(LEAD) == []


@pytest.mark.parametrize("status", [Status.FAILED, Status.STOPPED, Status.LOST])
def test_an_ephemeral_worker_that_did_not_end_well_stays(manager, store, status):
    worker = record(manager, TWO, last=status, parent=record(manager, TWO).id, lifecycle="ephemeral")
    assert store.families.report([worker]) == {worker.id}
    manager.housekeeping.settle()
    assert worker.id in [one.id for one in manager.reader.sessions()]


def test_observers_change_nothing_and_see_each_request(manager, store):
    """The change feed shows what happened, and a request is a row that the runner carries out."""
    session = record(manager, TWO)
    before, seen = evidence(manager, session.id), store.changes(0)
    assert store.changes(0) == seen
    assert evidence(manager, session.id) == before
    assert store.changes(seen.seq).updated == ()
    manager.queue.hold(session.id)
    assert [one.held is not None for one in store.changes(seen.seq).updated] == [True]


def test_a_worker_has_at_most_the_permissions_of_its_lead():
    """A mode takes the place of a set of tools."""
    bound = Bound(rank=0, agent="claude", permissions="plan")
    check_mode(bound, agent_named("codex"), TurnMode(setting="x", permissions="read-only"))
    with pytest.raises(NotAllowedError):
        check_mode(bound, agent_named("codex"), TurnMode(setting="x", permissions="workspace-write"))
    with pytest.raises(NotAllowedError, match="allowed_tools"):
        check_mode(bound, agent_named("claude"), TurnMode(setting="x", permissions="plan"), ["allowed_tools"])


def test_a_worker_has_limits_of_its_own(manager, store):
    """A budget counts the worker and all below it; ``orchestration.max_rounds`` limits the prompts of agents to it."""
    begin(manager, LEAD)
    begin(manager, WORKER, LEAD, budget=Budget(tokens=100))
    end(store, WORKER, facts=Facts(end="completed", usage=Usage(total_tokens=101)))
    assert store.family_budgets.crossed(WORKER, FamilyLimits()) == "its budget: 101 of 100 tokens"
    with pytest.raises(RefusalError) as refused:
        prompt(store, WORKER)
    assert refused.value.code == "over_budget"


@pytest.mark.parametrize("unknown", ["tools", "max_rounds", "budget"])
def test_an_unknown_field_of_a_worker_is_refused_by_its_name(lead, unknown):
    with pytest.raises(msgspec.ValidationError, match=unknown):
        lead.call("delegate", task="x", **{unknown: 1})
    for kind in (Budget, Limits):
        with pytest.raises(msgspec.ValidationError, match="max_rounds"):
            msgspec.convert({"max_rounds": 1}, kind)
    assert lead.manager.reader.sessions() == []


def test_a_writer_that_dies_in_a_transaction_leaves_nothing_and_wedges_nobody(manager, store):
    begin(manager, LEAD)
    killed = sqlite3.connect(manager.layout.database, isolation_level=None)
    killed.execute("BEGIN IMMEDIATE")
    killed.execute("UPDATE sessions SET turn = 2, title = 'half'")
    killed.close()  # without a commit, as by kill -9
    session = store.session(LEAD)
    assert (session.turn, session.title) == (1, LEAD)
    assert prompt(store, LEAD).state == "queued"


def test_two_writers_of_one_session_lose_nothing_and_nothing_raises(manager, store):
    begin(manager, LEAD)
    stores = [Store(manager.layout.database) for _ in "ab"]
    together = threading.Barrier(2)

    def write(who):
        together.wait()
        return [prompt(stores[who], LEAD, f"{who}/{n}").id for n in range(25)]

    with ThreadPoolExecutor(2) as pool:
        numbers = [number for found in pool.map(write, range(2)) for number in found]
    assert len(set(numbers)) == len(store.queue.waiting(LEAD)) == 50
    for one in stores:
        one.close()


def test_summaries_keep_their_places_after_a_restart_and_a_second_one_includes_the_first(manager, store):
    begin(manager, LEAD)
    end(store, LEAD)
    compact(store, LEAD)
    end(store, LEAD, prompt(store, LEAD).turn)
    first = store.marks.of_session(LEAD)[0]
    assert parts(store, LEAD) == [Part(mark=first), Part(turn=3)]
    compact(store, LEAD)
    end(store, LEAD, prompt(store, LEAD).turn)
    before = parts(store, LEAD)
    assert before == [Part(mark=store.marks.of_session(LEAD)[1]), Part(turn=5)]
    again = Store(manager.layout.database)
    assert parts(again, LEAD) == before
    again.close()


def test_the_tokens_of_a_session_are_the_sum_of_its_turns(manager, store):
    begin(manager, LEAD)
    end(store, LEAD, facts=Facts(end="completed", usage=Usage(total_tokens=600)))
    end(store, LEAD, prompt(store, LEAD).turn, facts=Facts(end="completed", usage=Usage(total_tokens=400)))
    assert [turn.usage.total_tokens for turn in store.turns(LEAD)] == [600, 400]
    assert store.session(LEAD).usage.total_tokens == 1_000


def test_running_totals_of_a_conversation_are_counted_once(manager, store):
    begin(manager, LEAD)
    for n, tokens in ((1, 600), (2, 1_000)):
        facts = Facts(end="completed", agent_session="talk", thread_usage=Usage(total_tokens=tokens))
        end(store, LEAD, n if n == 1 else prompt(store, LEAD).turn, facts=facts)
    assert [turn.usage.total_tokens for turn in store.turns(LEAD)] == [600, 400]


def test_what_is_pending_after_an_answer_is_derived_and_named(manager, store):
    begin(manager, LEAD)
    asks = [store.asks.record(LEAD, 1, 1, Ask(key=key, kind=AskKind.TOOL, tool=key, title=key)) for key in "abc"]
    store.asks.answer(asks[0].id, Answer(verdict=Verdict.ALLOW), "you")
    again = Store(manager.layout.database)
    assert [one.ask.tool for one in again.asks.open(LEAD)] == ["b", "c"]
    assert [one.ask.tool for one in again.asks.answered(LEAD)] == ["a"]
    assert again.session(LEAD).asking == 2
    again.close()


def test_a_call_without_a_result_is_interrupted_and_never_repeated(manager, store):
    began = json.dumps(ran("make", None)).encode() + b"\n"
    session = record(manager, [("go", began)], last=Status.LOST)
    manager.housekeeping.settle()
    [command] = [step for step in manager.reader.steps.trajectory(session.id) if step.kind is StepKind.COMMAND]
    assert command.status is StepStatus.INTERRUPTED
    assert ([turn.n for turn in store.turns(session.id)], store.queue.waiting(session.id)) == ([1], [])


def test_children_of_a_deleted_session_have_the_session_above_as_parent_and_count_from_there(manager, store):
    begin(manager, TOP)
    begin(manager, LEAD, TOP)
    begin(manager, WORKER, LEAD, lifecycle="detached")
    end(store, LEAD)
    assert store.delete(LEAD, 1)
    assert store.session(WORKER).parent == TOP
    begin(manager, BELOW, WORKER)
    assert store.session(BELOW).depth == 2
    with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"), store.database.transaction() as db:
        db.execute("INSERT INTO prompts (session, turn, text, state, created_at) VALUES (?, 1, '', '', 0)", (LEAD,))


def test_sessions_are_listed_by_status_and_folder_newest_first(manager, store, tmp_path):
    old = record(manager, TWO, created_at=1)
    failed = record(manager, TWO, last=Status.FAILED, created_at=2, cwd=str(tmp_path))
    begin(manager, LEAD)
    assert [one.id for one in manager.reader.sessions()] == [LEAD, failed.id, old.id]
    assert [one.id for one in manager.reader.sessions(statuses=[Status.FAILED])] == [failed.id]
    assert [one.id for one in manager.reader.sessions(cwd=str(tmp_path))] == [failed.id]
    page, number = manager.reader.first_sessions(limit=2)
    assert (len(page), number) == (2, 3)


def test_a_file_has_a_version_and_a_newer_one_is_refused(manager, store):
    begin(manager, LEAD)
    with store.database.transaction() as db:
        assert db.execute("PRAGMA user_version").fetchone()[0] == VERSION > 1
    store.close()
    with sqlite3.connect(manager.layout.database) as db:
        db.execute(f"PRAGMA user_version = {VERSION + 1}")
    with pytest.raises(NewerStoreError, match=f"schema {VERSION + 1}"):
        store.sessions()


def test_a_reader_and_a_writer_do_not_wait_for_each_other(manager, store):
    begin(manager, LEAD)
    reading = Store(manager.layout.database)
    with store.database.transaction() as db:
        db.execute("UPDATE sessions SET title = 'new'")
        assert reading.session(LEAD).title == LEAD
    with reading.database.snapshot():
        assert reading.session(LEAD).title == "new"
        assert store.rename(LEAD, "newer")
        assert reading.session(LEAD).title == "new"
    assert reading.session(LEAD).title == "newer"
    reading.close()


def test_half_a_surrogate_pair_is_refused_from_the_user_and_replaced_from_an_agent(manager):
    with pytest.raises(UsageError, match="not UTF-8"):
        manager.spawn(Start("half \udcff", agent="codex"))
    assert manager.reader.sessions() == []
    session = record(manager, [("go", lines(said("half \ud800 end")))])
    text = manager.reader.steps.messages(session.id)[-1].text
    assert text.encode()
    assert (text.startswith("half "), text.endswith(" end")) == (True, True)


def test_of_two_leads_calls_for_the_last_place_one_is_refused_in_its_transaction(manager, store):
    begin(manager, LEAD)
    limits, together = FamilyLimits(max_open=1), threading.Barrier(2)

    def ask(name):
        own = Store(manager.layout.database)
        together.wait()
        start = Start(name, agent="command", title=name, cwd="/", session_id=name)
        try:
            own.create(start, Launch(argv=("true",), family=limits), name, host="h", membership=Membership(parent=LEAD))
        except RefusalError as refused:
            return refused.code
        finally:
            own.close()
        return None

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(ask, (WORKER, OTHER)))
    assert sorted(map(str, results)) == ["None", "too_many"]
    assert len(manager.reader.descendants(LEAD)) == 1


def test_a_mark_names_a_turn_and_is_refused_if_the_session_has_changed(manager, store):
    session = record(manager, TWO)
    prompt(store, session.id)
    with pytest.raises(SessionBusyError):
        mark(store, session, MarkKind.COMPACT, turn=2)
    assert store.marks.of_session(session.id) == []
