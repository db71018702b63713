"""The shares of workers in the budget of their lead: what they reserve, and what happens when they used it up."""

import pytest

from agentdash.sessions.model.errors import RefusalError
from agentdash.sessions.model.membership import Budget, Membership
from agentdash.sessions.model.session import Status, Usage
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.rules.limits.admission import FamilyLimits
from agentdash.sessions.rules.limits.period_budgets import Share
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.claim import Outcome, Owner
from agentdash.sessions.storage.turns.turn_log import TurnLog

LIMITS = FamilyLimits(max_workers=99, max_open=99)
OWNER = Owner(pid=1, start=2, boot_id="boot", pid_ns="ns")


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "agentdash.db")
    yield store
    store.close()


def begin(store, name, parent=None, agent="scripted", **place):
    start = Start(name, agent=agent, title=name, cwd="/", session_id=name)
    store.create(
        start, Launch(argv=("true",), family=LIMITS), name, host="h", membership=Membership(parent=parent, **place)
    )
    return name


def running(store, name):
    log = TurnLog(store, name, 1, OWNER)
    assert log.claim() is not None
    log.running(10, 11)
    return log


def use(log, tokens):
    return log.progress(Facts(usage=Usage(total_tokens=tokens)), Status.RUNNING, None, 1, None)


def end(log, tokens=None, cost=None):
    facts = Facts(end="completed", usage=Usage(total_tokens=tokens), cost_usd=cost)
    assert log.end(facts, Outcome(status=Status.DONE, reason=None), 1, lambda *_: Launch(argv=("true",)))


@pytest.fixture
def lead(store):
    """A lead with a budget of 300 tokens in a folder in which turns of its agent use 100."""
    end(running(store, begin(store, "before")), tokens=100)
    begin(store, "lead")
    store.set_budget("lead", Budget(tokens=300))
    return "lead"


def account(store):
    return store.family_budgets.state("lead", LIMITS).account


def test_of_ten_workers_only_those_start_whose_usual_use_the_budget_pays_for(store, lead):
    answers = []
    for n in range(10):
        try:
            answers.append(begin(store, f"w{n}", lead))
        except RefusalError as refused:
            answers.append(refused.code)
    assert answers == ["w0", "w1", "w2", *["over_budget"] * 7]
    for n in range(3):
        end(running(store, f"w{n}"), tokens=100)
    assert (account(store).spent.tokens, account(store).below.tokens) == (300, 0)


def test_workers_of_an_agent_that_never_worked_reserve_half_of_the_budget_at_most(store, lead):
    assert [begin(store, name, lead, "tiny") for name in ("a", "b")] == ["a", "b"]
    with pytest.raises(RefusalError, match=r"nothing of 300 tokens is spent and 300 reserved by lead"):
        begin(store, "c", lead, "tiny")
    begin(store, "command", None, "command")


def test_a_worker_that_used_up_its_share_reserves_more_until_nothing_is_left(store, lead):
    for name in ("a", "b"):
        begin(store, name, lead)
    log = running(store, "a")
    assert use(log, 99).lacking is None
    assert account(store).below.tokens == 101
    assert use(log, 120).lacking is None
    assert (account(store).spent.tokens, account(store).below.tokens) == (120, 180)
    lacking = "budget of lead lead: 210 of 300 tokens is spent and 100 reserved for its other workers"
    assert use(log, 210).lacking == lacking
    assert use(running(store, "b"), 90).lacking is None


def test_a_worker_counts_what_is_below_it(store, lead):
    begin(store, "a", lead)
    begin(store, "below", "a")
    end(running(store, "below"), tokens=150)
    assert use(running(store, "a"), 10).lacking is None
    assert (account(store).spent.tokens, account(store).below.tokens) == (160, 140)  # all that is left


def test_a_worker_with_a_budget_of_its_own_is_ended_by_that(store, lead):
    begin(store, "a", lead, budget=Budget(tokens=50))
    assert use(running(store, "a"), 60).lacking is None
    assert account(store).below.tokens == 0


def test_a_worker_whose_own_budget_was_raised_reserves_what_that_leaves(store, lead):
    begin(store, "a", lead, budget=Budget(tokens=50))
    log = running(store, "a")
    assert use(log, 50).used_up(50, None)
    store.set_budget("a", Budget(tokens=120))
    assert not use(log, 60).used_up(60, None)
    assert (account(store).spent.tokens, account(store).below.tokens) == (60, 60)


def test_a_worker_whose_lead_has_no_budget_any_more_has_no_share(store, lead):
    begin(store, "a", lead, budget=Budget(tokens=50))
    log = running(store, "a")
    store.set_budget("lead", Budget())
    assert use(log, 60) == Share()


@pytest.mark.parametrize("deleted", [False, True])
def test_a_member_without_any_figure_counts_as_missing_also_when_it_is_deleted(store, deleted):
    begin(store, "lead")
    begin(store, "a", "lead")
    begin(store, "command", "lead", "command")
    begin(store, "b", "lead")
    end(running(store, "a"))
    end(running(store, "command"))
    end(running(store, "b"), tokens=5, cost=1.0)
    if deleted:
        for name in ("a", "b", "command"):
            assert store.delete(name, 1)
    spent = account(store).spent
    assert (spent.missing, spent.dollars()) == (1, "≥$1.00")
