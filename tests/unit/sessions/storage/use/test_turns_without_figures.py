"""A turn at work of which nothing is known yet: its sums are lower bounds until its first report."""

import pytest
from factories import request

from agentdash.sessions.model.membership import Budget, Membership
from agentdash.sessions.model.session import Status, Usage
from agentdash.sessions.rules.costs.cost import Cost, cost_words
from agentdash.sessions.rules.costs.usage_table import UsageQuery
from agentdash.sessions.rules.costs.usage_totals import session_cost, session_tokens, sums
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.rules.limits.admission import FamilyLimits
from agentdash.sessions.rules.limits.family_account import Amount
from agentdash.sessions.rules.limits.period_budgets import PeriodBudget
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.claim import Outcome, Owner
from agentdash.sessions.storage.turns.turn_log import TurnLog
from agentdash.sessions.storage.use.use_queries import UseQueries

OWNER = Owner(pid=1, start=2, boot_id="boot", pid_ns="ns")
FAMILY = FamilyLimits(max_workers=9, max_open=9)


def build(prompt, *_):
    return Launch(argv=("true",), stdin=prompt.text)


class Family:
    """A lead, and its worker whose first turn is done: 200 tokens, one dollar."""

    def __init__(self, store, agent):
        self.store = store
        for name, parent in (("lead", None), ("worker", "lead")):
            start = Start(name, agent=agent, title=name, cwd="/", session_id=name)
            store.create(
                start, Launch(argv=("true",), family=FAMILY), name, host="h", membership=Membership(parent=parent)
            )
            self.work(name, 1, used=True, ends=True)

    def work(self, name, turn, *, used, ends):
        log = TurnLog(self.store, name, turn, OWNER)
        assert log.claim() is not None
        log.running(10, 11)
        facts = Facts(usage=Usage(total_tokens=200), cost_usd=1.0) if used else Facts()
        if ends:
            assert log.end(facts, Outcome(status=Status.DONE, reason=None), 1, build)
        else:
            log.progress(facts, Status.RUNNING, None, 1, None)
        return log

    def second_turn(self, *, used):
        self.store.queue.add(request("worker", "more"), build)
        assert self.store.take_places("h").taken == [("worker", 2)]
        return self.work("worker", 2, used=used, ends=False)

    def everywhere(self):
        """The unknown parts of the cost in each place that adds it up."""
        worker = self.store.session("worker")
        usage = UseQueries(self.store.database).table(UsageQuery(by="agent")).total
        return {
            "row": (session_cost(worker).missing, worker.tokens_missing),
            "first line": (sums([worker]).cost.missing, sums([worker]).tokens_missing),
            "usage": (usage.cost.missing, usage.tokens_missing),
            "family": unknown(self.store.family_budgets.state("lead", FAMILY).account.spent),
            "day": unknown(self.store.period_budgets.states()[0].spent),
        }


def unknown(amount: Amount):
    return amount.missing, amount.tokens_missing


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "agentdash.db")
    store.keep({"max_running": 8})
    store.period_budgets.keep([PeriodBudget(most=Budget(cost_usd=50.0))])
    yield store
    store.close()


def test_all_sums_are_lower_bounds_until_the_first_report(store):
    family = Family(store, "scripted")
    assert set(family.everywhere().values()) == {(0, 0)}
    log = family.second_turn(used=False)
    assert set(family.everywhere().values()) == {(1, 1)}
    worker = store.session("worker")
    assert (cost_words(session_cost(worker)), session_tokens(worker)) == ("≥$1.00", "≥200")
    log.progress(Facts(usage=Usage(total_tokens=300), cost_usd=0.5), Status.RUNNING, None, 1, None)
    assert set(family.everywhere().values()) == {(0, 0)}
    assert cost_words(session_cost(store.session("worker"))) == "$1.50"


def test_a_turn_with_figures_from_its_beginning_never_makes_them_so(store):
    family = Family(store, "scripted")
    family.second_turn(used=True)
    assert set(family.everywhere().values()) == {(0, 0)}


def test_a_plain_command_at_work_uses_nothing(store):
    start = Start("make", agent="command", title="make", cwd="/", session_id="c")
    store.create(start, Launch(argv=("true",)), "c", host="h")
    TurnLog(store, "c", 1, OWNER).claim()
    assert session_cost(store.session("c")) == Cost()
