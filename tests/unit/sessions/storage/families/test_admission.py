"""The transaction that admits the starts and prompts of agents, and the sums of families in the rows."""

import pytest
from factories import request

from agentdash.sessions.model.errors import RefusalError, UnknownSessionError
from agentdash.sessions.model.membership import Budget, Membership
from agentdash.sessions.model.session import Status, Usage
from agentdash.sessions.rules.launch import Launch, Start, Terms, TurnPlan
from agentdash.sessions.rules.limits.admission import FamilyLimits
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.runner.queue.chains import serve_chains
from agentdash.sessions.service.lifecycle.recovery.rebuild import rebuild
from agentdash.sessions.storage.files import trash
from agentdash.sessions.storage.files.session_record import read_identity, restore, write_identity
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.claim import Outcome, Owner
from agentdash.sessions.storage.turns.turn_log import TurnLog

OWNER = Owner(pid=1, start=2, boot_id="boot", pid_ns="ns")
LIMITS = FamilyLimits(max_workers=4, max_open=2)
FIRST = "00000000-0000-4000-8000-000000000001"
SECOND = "00000000-0000-4000-8000-000000000002"


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "agentdash.db")
    yield store
    store.close()


def begin(store, name, parent=None, limits=LIMITS, **place):
    start = Start(name, agent="command", title=name, cwd="/", session_id=name)
    store.create(
        start, Launch(argv=("true",), family=limits), name, host="h", membership=Membership(parent=parent, **place)
    )
    return name


def build(prompt, *_):
    return Launch(argv=("true",), stdin=prompt.text)


def end(store, name, cost=0.0, tokens=0, n=1):
    log = TurnLog(store, name, n, OWNER)
    assert log.claim() is not None
    log.running(10, 11)
    facts = Facts(end="completed", usage=Usage(total_tokens=tokens), cost_usd=cost)
    assert log.end(facts, Outcome(status=Status.DONE, reason=None), 1, build)


def prompt(store, name, limits=LIMITS):
    asked = request(name, "more")
    plan = asked.plan
    return store.queue.add(request(name, "more", plan=type(plan)(settings={}, terms=Terms(family=limits))), build)


def code(refused):
    return refused.value.code


def test_a_start_records_how_many_sessions_are_above_it(store):
    begin(store, "lead")
    begin(store, "worker", "lead")
    begin(store, "below", "worker")
    assert [store.session(name).depth for name in ("lead", "worker", "below")] == [0, 1, 2]


def test_a_worker_of_too_many_leads_is_refused_and_leaves_no_row(store):
    for name, parent in (("a", None), ("b", "a"), ("c", "b"), ("d", "c")):
        begin(store, name, parent)
    with pytest.raises(RefusalError) as refused:
        begin(store, "e", "d")
    assert code(refused) == "too_deep"
    assert store.session("e") is None


def test_an_outside_lead_counts_as_a_lead(store):
    limits = FamilyLimits(max_depth=1)
    begin(store, "worker", lead="claude:x", limits=limits)
    with pytest.raises(RefusalError) as refused:
        begin(store, "below", "worker", limits=limits)
    assert code(refused) == "too_deep"


@pytest.mark.parametrize("above", [{"parent": "lead"}, {"lead": "claude:x"}])
def test_open_workers_and_all_workers_are_counted_for_each_lead(store, above):
    begin(store, "lead")
    for name in ("1", "2"):
        begin(store, name, **above)
    with pytest.raises(RefusalError, match="2 of 2 workers have not ended"):
        begin(store, "3", **above)
    begin(store, "other", "1")  # another lead has places of its own
    for name in ("1", "2"):
        end(store, name)
    for name in ("3", "4"):
        begin(store, name, **above)
        end(store, name)
    with pytest.raises(RefusalError, match="4 of 4 workers were started"):
        begin(store, "5", **above)
    store.delete("4", 1)
    with pytest.raises(RefusalError, match="4 of 4 workers were started"):
        begin(store, "5", **above)


def test_a_start_of_the_user_is_never_limited(store):
    for number in range(30):
        begin(store, str(number), limits=FamilyLimits(max_workers=0, max_open=0, budget=Budget(tokens=1)))
    assert len(store.sessions()) == 30


def test_a_repeated_key_is_left_to_the_index_that_finds_the_first(store):
    begin(store, "lead")
    full = FamilyLimits(max_workers=1)
    begin(store, "worker", "lead", full, key="tests")
    with pytest.raises(Exception, match="UNIQUE constraint failed"):
        begin(store, "again", "lead", full, key="tests")


def test_shares_of_workers_at_work_are_reserved(store):
    begin(store, "lead", budget=Budget(cost_usd=1.0))
    begin(store, "1", "lead", budget=Budget(cost_usd=0.6))
    with pytest.raises(RefusalError, match=r"nothing of \$1\.00 is spent and \$0\.60 reserved .* needs \$0\.50"):
        begin(store, "2", "lead", budget=Budget(cost_usd=0.5))
    end(store, "1", cost=0.1)
    begin(store, "2", "lead", budget=Budget(cost_usd=0.5))


@pytest.mark.parametrize("away", ["deleted", "archived", "kept"])
def test_what_a_worker_spent_counts_also_when_it_is_gone(store, away):
    begin(store, "lead", budget=Budget(cost_usd=1.0))
    begin(store, "1", "lead")
    end(store, "1", cost=0.9, tokens=70)
    if away == "deleted":
        assert store.delete("1", 1)
    elif away == "archived":
        assert store.archive("1", 5)
    with pytest.raises(RefusalError, match=r"\$0\.90 of \$1\.00 is spent"):
        begin(store, "2", "lead", budget=Budget(cost_usd=0.2))
    state = store.family_budgets.state("lead", LIMITS)
    assert (state.account.spent.tokens, state.account.workers) == (70, 1)


def test_a_restored_worker_counts_once_and_keeps_its_budget(store, tmp_path):
    layout = Layout(tmp_path / "home")
    layout.create()
    begin(store, "lead")
    name = "0" * 8 + "-0000-4000-8000-" + "0" * 12
    begin(store, name, "lead", budget=Budget(cost_usd=0.5))
    end(store, name, cost=0.4)
    folder = layout.session(name)
    folder.create()
    write_identity(store, folder)
    assert store.delete(name, 1)
    assert restore(store, read_identity(folder.identity))
    assert store.session(name).budget == Budget(cost_usd=0.5)
    assert store.family_budgets.state("lead", LIMITS).account.spent.cost_usd == pytest.approx(0.4)


def test_deleted_workers_count_after_a_rebuild_and_once_when_they_are_restored(tmp_path):
    layout = Layout(tmp_path / "home")
    layout.create()
    names = [f"00000000-0000-4000-8000-00000000000{number}" for number in range(4)]
    lead, middle, below, outside = names
    store = Store(layout.database)
    begin(store, lead, budget=Budget(cost_usd=9.0))
    begin(store, middle, lead)
    begin(store, below, middle)
    begin(store, outside, lead="claude:x")
    for number, name in enumerate(names):
        end(store, name, cost=10.0**-number, tokens=10**number)
        layout.session(name).create()
        write_identity(store, layout.session(name))
    for name in (middle, outside):
        assert store.delete(name, 1)
        trash.put(layout, layout.session(name))
    store.close()
    for path in layout.database.parent.glob(f"{layout.database.name}*"):
        path.unlink()

    for _ in range(2):
        rebuild(layout)
    store = Store(layout.database)
    sums = store.family_budgets.state(lead, LIMITS).account
    assert (sums.spent.tokens, sums.spent.cost_usd) == (111, pytest.approx(1.11))
    assert store.family_budgets.state("claude:x", LIMITS).account.spent.tokens == 1000
    assert store.was_deleted(middle)
    trash.take_back(layout, store, middle)
    assert store.family_budgets.state(lead, LIMITS).account.spent.tokens == 111
    store.close()


def test_workers_below_a_deleted_one_stay_in_the_family(store):
    begin(store, "lead", budget=Budget(cost_usd=1.0))
    begin(store, "middle", "lead")
    begin(store, "below", "middle")
    end(store, "below", cost=0.3)
    end(store, "middle", cost=0.2)
    assert store.delete("middle", 1)
    assert store.family_budgets.state("lead", LIMITS).account.spent.cost_usd == pytest.approx(0.5)
    assert store.family_budgets.above("below") == ["lead"]


def test_the_budget_of_the_settings_is_that_of_the_highest_lead(store):
    limits = FamilyLimits(budget=Budget(tokens=1_000))
    begin(store, "lead", limits=limits)
    begin(store, "worker", "lead", limits)
    begin(store, "below", "worker", limits)
    end(store, "below", tokens=1_001)
    with pytest.raises(RefusalError, match=r"1,001 of 1,000 tokens is spent by lead"):
        begin(store, "2", "worker", limits)
    assert store.family_budgets.crossed("worker", limits) == "budget of its lead: 1,001 of 1,000 tokens"
    assert store.family_budgets.crossed("below", limits) == "budget of lead lead: 1,001 of 1,000 tokens"
    assert store.family_budgets.crossed("lead", limits) == "its budget: 1,001 of 1,000 tokens"


def test_the_budget_of_the_settings_does_not_limit_a_session_that_leads_none(store):
    limits = FamilyLimits(budget=Budget(tokens=1_000))
    begin(store, "alone", limits=limits)
    end(store, "alone", tokens=5_000)
    assert store.family_budgets.crossed("alone", limits) is None
    assert prompt(store, "alone", limits).turn == 2


def test_a_budget_of_its_own_replaces_that_of_the_settings(store):
    limits = FamilyLimits(budget=Budget(tokens=10))
    begin(store, "lead", budget=Budget(tokens=1_000), limits=limits)
    begin(store, "worker", "lead", limits)
    end(store, "worker", tokens=500)
    assert store.family_budgets.crossed("worker", limits) is None


def test_the_outside_lead_has_the_budget_of_the_settings(store):
    limits = FamilyLimits(budget=Budget(cost_usd=1.0))
    for name in ("1", "2"):
        begin(store, name, lead="codex:t", limits=limits)
        end(store, name, cost=0.6)
    with pytest.raises(RefusalError, match=r"\$1\.20 of \$1\.00 .* codex:t .* orchestration\.budget in the settings"):
        begin(store, "3", lead="codex:t", limits=limits)
    assert store.family_budgets.state("codex:t", limits).account.workers == 2
    with pytest.raises(UnknownSessionError):
        store.family_budgets.state("codex:other", limits)


def test_a_prompt_to_a_worker_is_refused_if_the_budget_is_used_up(store):
    begin(store, "lead", budget=Budget(cost_usd=1.0))
    begin(store, "worker", "lead")
    end(store, "worker", cost=1.2)
    for name in ("worker", "lead"):
        with pytest.raises(RefusalError) as refused:
            prompt(store, name)
        assert code(refused) == "over_budget"
    assert store.set_budget("lead", Budget(cost_usd=5.0))
    assert prompt(store, "worker").turn == 2


def test_a_prompt_to_a_worker_reserves_a_share_again(store):
    begin(store, "lead", budget=Budget(cost_usd=1.0))
    begin(store, "worker", "lead", budget=Budget(cost_usd=0.5))
    end(store, "worker", cost=0.2)
    assert store.family_budgets.state("lead", LIMITS).account.below.cost_usd == 0
    prompt(store, "worker")
    reserved = store.family_budgets.state("lead", LIMITS).account.below.cost_usd
    assert reserved == pytest.approx(0.8 / 3)


def test_a_queue_is_held_with_the_reason_if_the_budget_is_used_up_when_its_turn_comes(store):
    begin(store, "lead", budget=Budget(cost_usd=1.0))
    begin(store, "worker", "lead")
    assert prompt(store, "worker").turn is None
    end(store, "worker", cost=1.2)
    session = store.session("worker")
    assert (session.status, session.queued) == (Status.DONE, 1)
    assert session.held.startswith("over_budget: $1.20 of $1.00 is spent")


def test_a_lead_at_work_takes_prompts_while_all_its_budget_is_reserved(store):
    begin(store, "lead", budget=Budget(cost_usd=1.0))
    begin(store, "worker", "lead", budget=Budget(cost_usd=1.0))
    assert prompt(store, "lead").state == "queued"


def test_a_circle_of_parents_ends(store):
    begin(store, "a")
    begin(store, "b", "a")
    with store.database.transaction() as db:
        db.execute("UPDATE sessions SET parent = 'b' WHERE id = 'a'")
    with pytest.raises(RefusalError):
        begin(store, "c", "b", FamilyLimits(max_depth=1))
    assert store.family_budgets.crossed("a", FamilyLimits(budget=Budget(tokens=1))) is None


@pytest.fixture
def chained(store, tmp_path):
    """A worker that waits for another one, which is done, below a lead with a budget."""
    begin(store, "lead", budget=Budget(tokens=100))
    begin(store, FIRST, "lead", budget=Budget(tokens=50))
    start = Start("go on", agent="command", title="x", cwd="/", session_id=SECOND, after=FIRST)
    place = Membership(parent="lead", budget=Budget(tokens=40))
    store.create(start, Launch(argv=("true",), family=LIMITS), SECOND, host="h", membership=place)
    end(store, FIRST, tokens=50)
    layout = Layout(tmp_path)
    (layout.session(FIRST).path / "turns").mkdir(parents=True)
    return layout


def limit_lead(store, tokens):
    with store.database.transaction() as db:
        db.execute("UPDATE sessions SET budget = ? WHERE id = 'lead'", (f'{{"tokens": {tokens}}}',))


def test_a_worker_that_waited_is_admitted_when_it_starts_and_waits_with_the_reason_until_then(store, chained):
    limit_lead(store, 80)
    serve_chains(chained, store)
    row = store.session(SECOND)
    assert (row.status, row.after, row.blocked) == (Status.QUEUED, FIRST, True)
    assert row.reason.startswith("waits: over_budget: 50 of 80 tokens is spent")
    assert "Next: ask the user to raise it: agentdash budget lead" in row.reason
    assert store.prompts(SECOND) == []
    limit_lead(store, 90)
    serve_chains(chained, store)
    row = store.session(SECOND)
    assert (row.after, row.followed, row.blocked, row.reason) == (None, FIRST, False, None)
    assert [one.text for one in store.prompts(SECOND)] == ["go on"]


def test_a_worker_that_waited_does_not_count_itself_when_it_starts(store, chained):
    begin(store, "third", "lead", budget=Budget(tokens=10))  # with it, two of two are open
    serve_chains(chained, store)
    assert store.session(SECOND).followed == FIRST


def test_a_turn_of_another_program_counts_among_the_prompts_of_agents(store):
    limits = FamilyLimits(max_rounds=1)
    begin(store, "lead")
    begin(store, "worker", "lead")
    end(store, "worker")
    with store.database.transaction() as db:
        db.execute("UPDATE turns SET asked_by = 'another program' WHERE session = 'worker'")
    plan = TurnPlan(settings={}, terms=Terms(family=limits))
    with pytest.raises(RefusalError, match="1 of 1 prompts were sent to this worker"):
        store.queue.add(request("worker", "more", plan=plan, asked_by="lead"), build)


def test_a_worker_takes_a_number_of_prompts_from_agents_and_any_from_the_user(store):
    limits = FamilyLimits(max_rounds=2)
    begin(store, "lead")
    begin(store, "worker", "lead")
    end(store, "worker")

    def send(**facts):
        plan = TurnPlan(settings={}, terms=Terms(family=limits))
        return store.queue.add(request("worker", "more", plan=plan, **facts), build)

    for _ in range(3):
        send()
    send(asked_by="lead")
    again = send(asked_by="lead", key="again")
    with pytest.raises(RefusalError, match=r"2 of 2 prompts were sent to this worker .*max_rounds.* Next: ") as refused:
        send(asked_by="lead")
    assert code(refused) == "too_many_rounds"
    with pytest.raises(RefusalError):
        send(key="lead:1")
    assert send(asked_by="lead", key="again").id == again.id  # the same request is recorded once
    send()
    send(asked_by="worker")
    store.queue.cancel(again.id)
    send(key="lead:1")
