"""Costs computed again in a state folder: all that shows or counts them agrees, and nothing else changes."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from agentdash.sessions.model.errors import NotAllowedError, UsageError
from agentdash.sessions.model.membership import Budget, Membership
from agentdash.sessions.model.session import Status
from agentdash.sessions.model.usage import Usage
from agentdash.sessions.rules.costs.cost import Cost
from agentdash.sessions.rules.costs.prices import Price
from agentdash.sessions.rules.costs.pricing import Pricing
from agentdash.sessions.rules.costs.reports import CALL, MODELS, Report, Reported
from agentdash.sessions.rules.costs.repricing import Choice, RepricedCosts
from agentdash.sessions.rules.costs.usage_table import UsageQuery
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.rules.limits.admission import FamilyLimits
from agentdash.sessions.rules.limits.period_budgets import PeriodBudget
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.runner.caller import Caller
from agentdash.sessions.service.lifecycle.recovery.rebuild import rebuild
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.storage.prompts.new_turn import begin_turn, insert_turn
from agentdash.sessions.storage.turns.claim import Outcome, Owner
from agentdash.sessions.storage.turns.turn_log import TurnLog
from agentdash.sessions.storage.use import repriced_rows
from agentdash.sessions.storage.use.report_log import ADD_UP

OWNER = Owner(pid=1, start=2, boot_id="boot", pid_ns="ns")
A, B, C = (f"0fab5d3e-0000-4000-8000-00000000000{n}" for n in "abc")
MILLION = 1_000_000
PRICES = '[prices."local-*"]\ninput = 1.0\noutput = 2.0\n'
OTHER = Price(input=4.0, output=8.0)
TABLES = ("reports", "use_sums", "turns", "sessions", "tombstones", "shares")


@pytest.fixture
def manager() -> Iterator[SessionManager]:
    with SessionManager(caller=Caller()) as manager:
        manager.store.keep({"max_running": 8})
        yield manager


def priced(manager: SessionManager, text: str = PRICES) -> None:
    """Write the settings."""
    manager.reader.settings.path.write_text(text)


def call(millions: int, key: str = "1", model: str = "local-1", at: int | None = None) -> Report:
    return Report(source=CALL, key=key, kind="call", model=model, usage=Usage.of(millions * MILLION, 0, 0), at=at)


def turn(
    manager: SessionManager,
    session: str,
    *reports: Report,
    prices: Mapping[str, Price] | None = None,
    cost: float | None = None,
    ends: bool = True,
    without_reports: bool = False,
    model: str = "local-1",
    **place: Any,
) -> None:
    """Record one more turn of a session as its runner does, or one whose agent made no reports."""
    store, launch = manager.store, Launch(argv=("codex",))
    known = store.session(session)
    if known is None:
        folder = manager.layout.session(session)
        folder.create()
        start = Start("do it", agent="codex", title="do it", cwd="/p", session_id=session)
        store.create(start, launch, "run", host="h", membership=Membership(**place))
    else:
        with store.database.transaction() as db:
            insert_turn(db, session, known.turn + 1, "more", launch, "run", 1, None)
            begin_turn(db, session, known.turn + 1, None, 1)
    log = TurnLog(store, session, 1 if known is None else known.turn + 1, OWNER)
    assert log.claim()
    log.running(10, 11)
    total = Usage()
    for one in reports:
        total = total.plus(one.usage)
    reported = None if without_reports else Reported(Pricing(prices or {}), model)
    facts = Facts(usage=total, cost_usd=cost, reported=reported, model=model, end="completed" if ends else None)
    for one in reports if reported is not None else ():
        reported.add(one)
    if ends:
        done = Outcome(status=Status.DONE, reason=None, exit_code=0)
        assert log.end(facts, done, 3, lambda *_: Launch(argv=()))
    else:
        log.progress(facts, Status.RUNNING, None, 3, None)
    manager.housekeeping.record(manager.layout.session(session))


def reprice(
    manager: SessionManager, since: int | None = None, *, dry_run: bool = False, **choice: Any
) -> RepricedCosts:
    found = manager.prices.reprice(Choice(**choice), since, dry_run=dry_run)
    check_sums(manager)
    return found


def rows(manager: SessionManager, *tables: str) -> list[tuple[object, ...]]:
    return [tuple(row) for table in tables for row in manager.store.database.rows(f"SELECT * FROM {table}")]


def check_sums(manager: SessionManager) -> None:
    """The sums are those of the reports, and a turn's own report has the figures of the turn."""
    before = rows(manager, "use_sums")
    with manager.store.database.transaction() as db:
        turns = db.execute("SELECT DISTINCT session, turn FROM reports WHERE counted").fetchall()
        db.execute("DELETE FROM use_sums")
        for one in turns:
            db.execute(ADD_UP, tuple(one))
    assert sorted(map(repr, before)) == sorted(map(repr, rows(manager, "use_sums")))
    differing = manager.store.database.rows(
        "SELECT 1 FROM turns JOIN reports ON reports.session = turns.session AND turn = n AND source = 'record'"
        " WHERE turns.cost_about_usd IS NOT computed_usd OR turns.cost_usd IS NOT reported_usd"
    )
    assert differing == []
    for table, name in (("sessions", "id"), ("tombstones", "session")):
        lacking = f"(SELECT count(DISTINCT turn) FROM use_sums WHERE session = {table}.{name} AND missing)"
        assert not manager.store.database.rows(f"SELECT 1 FROM {table} WHERE cost_missing <> {lacking}")


def shown(manager: SessionManager) -> Cost:
    return manager.reader.usage(UsageQuery(by="day")).total.cost


def test_what_a_missing_price_left_unknown_is_filled_in_everywhere(manager: SessionManager) -> None:
    manager.store.period_budgets.keep([PeriodBudget(most=Budget(cost_usd=100.0))])
    turn(manager, A, call(1), call(2, "2"), budget=Budget(cost_usd=50.0))
    turn(manager, A, call(3))
    turn(manager, B, call(4), parent=A, depth=1)
    assert shown(manager) == Cost(missing=2), "two sessions"
    priced(manager)
    found = reprice(manager)
    assert (found.turns, found.sessions) == (3, 2)
    assert (found.before, found.after) == (Cost(missing=3), Cost(computed_usd=10.0))
    assert shown(manager) == Cost(computed_usd=10.0)
    assert [one.cost_about_usd for one in manager.reader.turns(A)] == [3.0, 3.0]
    assert (manager.reader.get(A).cost_about_usd, manager.reader.get(B).cost_about_usd) == (6.0, 4.0)
    assert manager.store.period_budgets.states()[0].spent.cost_usd == 10.0
    assert manager.store.family_budgets.state(A, FamilyLimits()).account.spent.cost_usd == 10.0
    assert reprice(manager) == reprice(manager, every=True) == RepricedCosts()


def test_imported_prices_are_in_force_too_and_a_session_is_shown_again(manager: SessionManager) -> None:
    turn(manager, A, call(1, model="gpt-99"), model="gpt-99")
    assert reprice(manager).unpriced == ("gpt-99",)
    prices = {"source": "x", "as_of": "2026-11-30", "prices": {"gpt-99": {"input": 3.0, "output": 4.0}}}
    (manager.reader.settings.path.parent / "prices.json").write_text(json.dumps(prices))
    seq = manager.reader.changes(0).seq
    assert reprice(manager).after == Cost(computed_usd=3.0)
    assert [one.cost_about_usd for one in manager.reader.changes(seq).updated] == [3.0]


def test_the_new_cost_outlives_the_database(manager: SessionManager) -> None:
    turn(manager, A, call(1))
    turn(manager, B, call(2))
    manager.delete(B)
    priced(manager)
    reprice(manager)
    manager.close()
    manager.layout.database.unlink()
    rebuild(manager.layout)
    with SessionManager(caller=Caller()) as later:
        assert (later.reader.get(A).cost_about_usd, later.reader.turns(A)[0].cost_about_usd) == (1.0, 1.0)
        assert later.store.database.rows("SELECT cost_about_usd FROM tombstones")[0][0] == 2.0
        assert reprice(later).turns == 0


def test_a_reported_cost_stays_also_beside_a_price(manager: SessionManager) -> None:
    turn(manager, A, structs.replace(call(1), source=MODELS, kind="turn", reported_usd=7.0), cost=7.0)
    turn(manager, B, call(1), without_reports=True, cost=9.0)
    priced(manager)
    before = rows(manager, *TABLES)
    assert reprice(manager) == reprice(manager, every=True) == RepricedCosts()
    assert rows(manager, *TABLES) == before


def test_all_replaces_only_costs_of_another_price(manager: SessionManager) -> None:
    turn(manager, A, call(1), prices={"local-*": OTHER})
    turn(manager, B, call(1), prices={"local-*": Price(input=1.0, output=2.0)})
    priced(manager)
    assert reprice(manager).turns == 0
    before = reprice(manager, every=True, dry_run=True)
    found = reprice(manager, every=True)
    assert found == before
    assert (found.turns, found.before, found.after) == (1, Cost(computed_usd=4.0), Cost(computed_usd=1.0))
    assert manager.reader.get(A).cost_about_usd == 1.0


def test_a_dry_run_changes_nothing(manager: SessionManager) -> None:
    turn(manager, A, call(1))
    turn(manager, B, call(2))
    manager.delete(B)
    priced(manager)
    files = {path: path.stat().st_mtime_ns for path in manager.layout.home.rglob("session.json")}
    before = rows(manager, *TABLES)
    found = manager.prices.reprice(Choice(), dry_run=True)
    assert (found.turns, found.after) == (2, Cost(computed_usd=3.0))
    assert rows(manager, *TABLES) == before
    assert {path: path.stat().st_mtime_ns for path in manager.layout.home.rglob("session.json")} == files


def test_a_turn_at_work_is_left_out_and_keeps_its_reservation(manager: SessionManager) -> None:
    manager.store.period_budgets.keep([PeriodBudget(most=Budget(cost_usd=80.0))])
    turn(manager, A, call(5))
    turn(manager, A, call(1), ends=False)
    with manager.store.database.transaction() as db:
        db.execute("INSERT INTO shares VALUES (?, 2, NULL, 10.0, 0, 0.0, 0)", (A,))
    reserved = manager.store.period_budgets.states()[0].reserved
    priced(manager)
    found = reprice(manager)
    assert (found.turns, found.not_ended) == (1, 1)
    assert [one.cost_about_usd for one in manager.reader.turns(A)] == [5.0, None]
    assert (manager.reader.get(A).cost_about_usd, manager.reader.get(A).cost_missing) == (5.0, 1)
    assert manager.store.period_budgets.states()[0].reserved == reserved
    with manager.store.database.transaction() as db:
        db.execute("UPDATE turns SET cost_about_usd = 2.0 WHERE n = 2")
        db.execute("UPDATE sessions SET cost_about_usd = 7.0")
    assert manager.store.period_budgets.states()[0].reserved.cost_usd == 8.0


def test_a_deleted_session_counts_with_its_new_cost_and_comes_back_with_it(manager: SessionManager) -> None:
    turn(manager, A, call(1))
    turn(manager, B, call(2), parent=A, depth=1)
    turn(manager, B, call(3), without_reports=True)
    manager.delete(B)
    deleted_at = manager.reader.deleted()[0].deleted_at
    priced(manager)
    assert shown(manager) == Cost(missing=2)
    assert reprice(manager).after == Cost(computed_usd=6.0)
    assert shown(manager) == Cost(computed_usd=6.0)
    assert manager.store.family_budgets.state(A, FamilyLimits()).account.spent.cost_usd == 6.0
    assert manager.reader.deleted()[0].deleted_at == deleted_at
    manager.housekeeping.restore(B)
    check_sums(manager)
    assert (manager.reader.get(B).cost_about_usd, manager.reader.get(B).cost_missing) == (5.0, 0)
    assert [one.cost_about_usd for one in manager.reader.turns(B)] == [2.0, 3.0]
    assert shown(manager) == Cost(computed_usd=6.0)


def test_a_session_that_was_deleted_for_good_still_counts(manager: SessionManager) -> None:
    turn(manager, A, call(1))
    manager.delete(A)
    manager.housekeeping.clean(-1)
    priced(manager)
    assert reprice(manager).turns == 1
    assert shown(manager) == Cost(computed_usd=1.0)


def test_turns_of_without_reportss_count_if_their_cost_is_certain(manager: SessionManager) -> None:
    for session, millions in ((A, 1), (B, 2)):
        turn(manager, session, call(millions, model="long"), without_reports=True, model="long")
    priced(manager, "[prices.long]\ninput = 1.0\noutput = 2.0\nlong_prompt_tokens = 1000000\nlong_input_factor = 2.0\n")
    found = reprice(manager)
    assert (found.turns, found.uncertain, found.after) == (1, 1, Cost(computed_usd=1.0))
    assert (manager.reader.get(A).cost_about_usd, manager.reader.get(B).cost_about_usd) == (1.0, None)


def test_an_earlier_turn_keeps_its_model(manager: SessionManager) -> None:
    turn(manager, A, call(1, model="local-1"))
    turn(manager, A, call(1, model="odd"), model="odd")
    priced(manager)
    assert reprice(manager).unpriced == ("odd",)
    models = manager.store.database.rows("SELECT DISTINCT turn, model FROM reports ORDER BY turn")
    assert [tuple(row) for row in models] == [(1, "local-1"), (2, "odd")]
    assert (manager.reader.get(A).cost_about_usd, manager.reader.get(A).cost_missing) == (1.0, 1)


def test_a_model_and_a_time_choose(manager: SessionManager) -> None:
    turn(manager, A, call(1, model="local-1", at=1_000))
    turn(manager, B, call(2, model="local-2", at=2_000))
    priced(manager)
    assert reprice(manager, 2_001).turns == 0
    assert reprice(manager, 2_000).after == Cost(computed_usd=2.0)
    assert reprice(manager, model="local-2").turns == 0
    assert reprice(manager, model="LOCAL-1").after == Cost(computed_usd=1.0)


def test_a_pattern_without_a_model_is_refused(manager: SessionManager) -> None:
    with pytest.raises(UsageError, match=r"matches 'x'\. No report names a model"):
        reprice(manager, model="x")
    turn(manager, A, call(1))
    with pytest.raises(UsageError, match=r"No model in the recorded use matches 'gpt-\*'\. Models: local-1\."):
        reprice(manager, model="gpt-*")


@pytest.mark.parametrize("caller", [Caller(session=B, evidence="environment"), Caller(lead="mcp:x", evidence="client")])
@pytest.mark.parametrize("reach", ["own", "all"])
def test_an_agent_cannot_change_what_budgets_count(manager: SessionManager, caller: Caller, reach: str) -> None:
    turn(manager, A, call(1))
    turn(manager, B, call(1), parent=A, depth=1)
    priced(manager, f'[orchestration]\nreach = "{reach}"\n{PRICES}')
    before = rows(manager, *TABLES)
    with SessionManager(caller=caller) as agent:
        with pytest.raises(NotAllowedError, match="is for the user only"):
            agent.prices.reprice(Choice())
        assert agent.prices.reprice(Choice(), dry_run=True).turns == 2
    assert rows(manager, *TABLES) == before


def test_a_failure_between_batches_leaves_whole_turns(manager: SessionManager, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repriced_rows, "MOST_TURNS", 2)
    for _ in range(5):
        turn(manager, A, call(1), call(1, "2"))
    priced(manager)
    write, written = repriced_rows._write_turn, 0

    def failing(*arguments: Any) -> None:
        nonlocal written
        written += 1
        write(*arguments)
        if written == 4:
            raise OSError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(repriced_rows, "_write_turn", failing)
        with pytest.raises(OSError, match="killed"):
            manager.prices.reprice(Choice())
    check_sums(manager)
    assert [one.cost_about_usd for one in manager.reader.turns(A)] == [2.0, 2.0, None, None, None]
    assert reprice(manager).turns == 3
    assert manager.reader.get(A).cost_about_usd == 10.0


def test_a_batch_is_bounded_by_its_reports(manager: SessionManager, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repriced_rows, "MOST_REPORTS", 5)
    for calls in (9, 1, 1, 1):
        turn(manager, A, *(call(1, str(n)) for n in range(calls)))
    batches = list(repriced_rows.RepricedRows(manager.store.database).batches(0, every=False))
    assert [[one.n for one in batch] for batch in batches] == [[1], [2, 3], [4]]


def test_a_damaged_record_in_the_trash_stops_nothing(manager: SessionManager) -> None:
    turn(manager, A, call(1))
    turn(manager, B, call(1))
    manager.delete(A)
    (Path(manager.layout.trash) / A / "session.json").write_text("{")
    os.utime(manager.layout.trash / A, (1, 1))
    priced(manager)
    assert reprice(manager).turns == 2
    assert manager.reader.get(B).cost_about_usd == 1.0
