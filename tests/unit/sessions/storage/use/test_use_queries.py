"""The use of several sessions by groups: each session, agent, folder and lead has a row of its own."""

import pytest

from agentdash.sessions.model.membership import Budget, Membership
from agentdash.sessions.model.session import Status, Usage
from agentdash.sessions.rules.costs.usage_table import UsageQuery
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.rules.limits.admission import FamilyLimits
from agentdash.sessions.rules.limits.family_account import budget_words
from agentdash.sessions.rules.limits.period_budgets import PeriodBudget, state_words
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.claim import Outcome, Owner
from agentdash.sessions.storage.turns.turn_log import TurnLog
from agentdash.sessions.storage.use.use_queries import UseQueries

OWNER = Owner(pid=1, start=2, boot_id="boot", pid_ns="ns")
USES = {"a": ("claude", "/x", 5.0), "b": ("codex", "/x", 3.0), "c": ("codex", "/y", 2.0), "d": ("codex", "/y", 1.0)}


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "agentdash.db")
    store.keep({"max_running": 8})
    for name, (agent, cwd, cost) in USES.items():
        start = Start(name, agent=agent, title=f"do {name}", cwd=cwd, session_id=name)
        place = Membership(parent="c") if name == "d" else Membership()
        store.create(start, Launch(argv=("true",)), name, host="h", membership=place)
        log = TurnLog(store, name, 1, OWNER)
        log.claim()
        log.running(10, 11)
        usage = Usage(input_tokens=100, output_tokens=10, total_tokens=110)
        facts = Facts(end="completed", usage=usage, cost_usd=cost)
        log.end(facts, Outcome(status=Status.DONE, reason=None), 1, lambda prompt, *_: Launch(argv=("true",)))
    yield store
    store.close()


def table(store, by, **more):
    return UseQueries(store.database).table(UsageQuery(by=by, **more))


def costs(store, by, **more):
    return {row.group: row.cost.reported_usd for row in table(store, by, **more).rows}


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("session", {"a": 5.0, "b": 3.0, "c": 2.0, "d": 1.0}),
        ("agent", {"claude": 5.0, "codex": 6.0}),
        ("folder", {"/x": 8.0, "/y": 3.0}),
        ("lead", {"": 8.0, "c": 3.0}),
        ("model", {"": 11.0}),
    ],
)
def test_each_group_has_a_row_and_a_part_of_each_column(store, by, expected):
    assert costs(store, by) == expected
    (column,) = table(store, by, step="day").columns
    assert {row.group: row.cost.reported_usd for row in column.rows} == expected


def test_the_row_of_a_session_leads_to_this_session(store):
    queries = UseQueries(store.database)
    assert queries.sessions(UsageQuery(by="session"), "b", None) == ["b"]
    assert sorted(queries.sessions(UsageQuery(by="agent"), "codex", None)) == ["b", "c", "d"]


def test_a_budget_has_spent_what_the_table_of_its_folder_shows_also_for_deleted_sessions(store):
    store.period_budgets.keep(
        [PeriodBudget(folder=folder, most=Budget(cost_usd=99.0, tokens=10**6)) for folder in ("", "/x", "/y")]
    )
    with store.database.transaction() as db:
        db.execute("DELETE FROM sessions WHERE id = 'b'")
    shown = costs(store, "folder")
    spent = {one.budget.folder: (one.spent.cost_usd, one.spent.tokens) for one in store.period_budgets.states()}
    assert shown == {"/x": 8.0, "/y": 3.0}
    assert spent == {"": (11.0, 440), "/x": (8.0, 220), "/y": (3.0, 220)}


@pytest.mark.parametrize(
    ("reported", "computed", "words"),
    [
        (1.2, None, "$1.20 of $5.00 spent, $3.80 left"),
        (None, 1.2, "~$1.20 of $5.00 spent, $3.80 left"),
        (None, None, "? of $5.00 spent, $5.00 left; 1 session of unknown cost does not count"),
    ],
)
def test_the_words_of_a_budget_show_where_the_money_comes_from(tmp_path, reported, computed, words):
    store = Store(tmp_path / "one.db")
    store.keep({"max_running": 8})
    store.period_budgets.keep([PeriodBudget(most=Budget(cost_usd=5.0))])
    start = Start("a", agent="claude", title="a", cwd="/x", session_id="a")
    store.create(start, Launch(argv=("true",)), "a", host="h", membership=Membership(budget=Budget(cost_usd=5.0)))
    log = TurnLog(store, "a", 1, OWNER)
    log.claim()
    log.running(10, 11)
    usage = Usage(input_tokens=100, output_tokens=10, total_tokens=110)
    facts = Facts(end="completed", usage=usage, cost_usd=reported, cost_about_usd=computed)
    log.end(facts, Outcome(status=Status.DONE, reason=None), 1, lambda prompt, *_: Launch(argv=("true",)))
    assert state_words(store.period_budgets.states()[0]) == words
    family = store.family_budgets.state("a", FamilyLimits())
    assert budget_words(Budget(cost_usd=5.0), family.account) == words.partition(";")[0]
    store.close()
