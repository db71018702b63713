"""The budgets of days and weeks: admission in the transaction of a start, and what waits in the queue."""

import random

import pytest
from factories import request

from agentdash.sessions.model.errors import RefusalError
from agentdash.sessions.model.membership import Budget, Membership
from agentdash.sessions.model.session import Status, Usage
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.rules.limits.limits import Limits
from agentdash.sessions.rules.limits.period_budgets import PeriodBudget, Share, state_words
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.service.reader import SessionReader
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.claim import Outcome, Owner
from agentdash.sessions.storage.turns.turn_log import TurnLog

OWNER = Owner(pid=1, start=2, boot_id="boot", pid_ns="ns")
DAY = PeriodBudget(period="day", most=Budget(cost_usd=20.0))


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "agentdash.db")
    store.keep({"max_running": 8})
    yield store
    store.close()


def begin(store, name, cwd="/", limits=None, *, over_budget=False, after="", **place):
    start = Start(
        name, agent="scripted", title=name, cwd=str(cwd), session_id=name, over_budget=over_budget, after=after
    )
    launch = Launch(argv=("true",), limits=limits or Limits())
    store.create(start, launch, name, host="h", membership=Membership(**place))
    return name


def build(prompt, *_):
    return Launch(argv=("true",), stdin=prompt.text)


def work(store, name, cost=None, tokens=None, n=1, *, ends=True):
    log = TurnLog(store, name, n, OWNER)
    log.claim()
    log.running(10, 11)
    facts = Facts(end="completed", usage=Usage(total_tokens=tokens), cost_usd=cost)
    if ends:
        assert log.end(facts, Outcome(status=Status.DONE, reason=None), 1, build)
    else:
        log.progress(facts, Status.RUNNING, None, 1, None)
    return log


def waits(store, name):
    store.take_places("h")
    assert store.session(name).status is Status.QUEUED
    return store.session(name).reason


def progress(log, tokens):
    return log.progress(Facts(usage=Usage(total_tokens=tokens)), Status.RUNNING, None, 1, None)


def state(store):
    return store.period_budgets.states()[0]


def test_a_start_beyond_the_budget_of_the_day_is_refused_with_the_next_step_and_leaves_nothing(store):
    store.period_budgets.keep([DAY])
    work(store, begin(store, "a"), cost=20.0)
    with pytest.raises(RefusalError) as refused:
        begin(store, "b")
    assert str(refused.value) == (
        "over_budget: today's budget of $20 is spent. Next: wait until midnight, raise it"
        " (agentdash budget --day-usd N), or start with --over-budget."
    )
    assert store.session("b") is None


def test_a_refusal_to_an_agent_names_no_way_that_only_the_user_has(store):
    store.period_budgets.keep([DAY])
    work(store, begin(store, "lead"), cost=20.0)
    with pytest.raises(RefusalError) as refused:
        begin(store, "b", parent="lead")
    assert str(refused.value) == (
        "over_budget: today's budget of $20 is spent. Next: wait until midnight, or ask the user to raise it."
    )


def test_the_user_starts_beyond_the_budget_and_such_a_turn_crosses_none(store):
    store.period_budgets.keep([DAY])
    work(store, begin(store, "a"), cost=25.0)
    begin(store, "b", over_budget=True)
    assert store.take_places("h").taken == [("b", 1)]
    assert store.period_budgets.crossed("b", 1) == (None, None)


def test_what_runs_is_reserved_until_its_turn_ends(store):
    store.period_budgets.keep([DAY])
    for name in ("a", "b", "c", "d"):
        begin(store, name, limits=Limits(cost_usd=5.0))
    with pytest.raises(RefusalError, match=r"budget of \$20 is reserved by 4 turns\. Next: wait for what") as no:
        begin(store, "e", limits=Limits(cost_usd=5.0), parent="a")
    assert no.value.code == "over_budget"
    begin(store, "e", limits=Limits(cost_usd=5.0))
    assert waits(store, "e") == "waits: today's budget of $20 is reserved by 4 turns"
    work(store, "a", cost=1.0)
    assert (state(store).spent.cost_usd, state(store).reserved.cost_usd) == (1.0, 15.0)
    begin(store, "f", limits=Limits(cost_usd=4.0))
    words = "waits: $1.00 of today's budget of $20 is spent and $19 is reserved by 4 turns"
    assert waits(store, "e") == words
    for name in ("b", "f"):
        work(store, name, cost=1.0)
    assert store.take_places("h").taken[-1] == ("e", 1)


def test_a_session_can_use_the_last_of_a_budget(store):
    store.period_budgets.keep([DAY])
    work(store, begin(store, "a"), cost=19.99)
    begin(store, "b", limits=Limits(cost_usd=0.01))
    assert state(store).reserved.cost_usd == pytest.approx(0.01)


def test_a_start_that_would_usually_use_more_than_is_left_is_refused_with_both_amounts(store):
    store.period_budgets.keep([DAY])
    for name in ("a", "b"):
        work(store, begin(store, name), cost=9.0)
    with pytest.raises(RefusalError) as refused:
        begin(store, "c")
    assert str(refused.value).startswith(
        "over_budget: $18.00 of today's budget of $20 is spent; a turn of scripted usually uses $9. Next: wait until"
    )


def test_of_ten_starts_without_a_limit_one_shows_what_they_use_and_only_those_that_fit_follow(store):
    store.period_budgets.keep([PeriodBudget(most=Budget(tokens=30_000))])
    for n in range(10):
        begin(store, f"s{n}")
    assert store.take_places("h").taken == [("s0", 1)]
    assert waits(store, "s9") == "waits: today's budget of 30,000 tokens is reserved by 1 turn"
    work(store, "s0", tokens=8_000)
    assert store.take_places("h").taken == [("s1", 1), ("s2", 1)]
    words = "waits: 8,000 of today's budget of 30,000 tokens is spent and 16,000 is reserved by 2 turns"
    assert waits(store, "s9") == f"{words}; a turn of scripted usually uses 8,000 tokens"
    for name in ("s1", "s2"):
        work(store, name, tokens=8_000)
    assert store.take_places("h").taken == []
    words = "24,000 of today's budget of 30,000 tokens is spent; a turn of scripted usually uses 8,000 tokens"
    assert waits(store, "s9") == f"waits: {words}"
    store.period_budgets.raise_to("", "day", Budget(tokens=32_000))
    assert store.take_places("h").taken == [("s3", 1)]


def test_a_budget_below_the_use_of_one_turn_lets_one_start_each_day(store):
    store.period_budgets.keep([PeriodBudget(most=Budget(tokens=100))])
    work(store, begin(store, "a"), tokens=5_000)
    with pytest.raises(RefusalError, match="is spent"):
        begin(store, "b")
    with store.database.transaction() as db:
        db.execute("UPDATE use_sums SET quarter = quarter - 96")
    begin(store, "c")
    assert state(store).reserved.tokens == 100
    begin(store, "d")
    assert [name for name, _ in store.take_places("h").taken] == ["c"]


def test_a_turn_that_used_up_its_share_reserves_more_until_nothing_is_left(store):
    store.period_budgets.keep([PeriodBudget(most=Budget(tokens=100))])
    work(store, begin(store, "a"), tokens=30)
    begin(store, "b")
    begin(store, "c")
    log = work(store, "b", tokens=29, ends=False)
    assert (state(store).spent.tokens, state(store).reserved.tokens) == (59, 31)
    assert progress(log, 31).lacking is None  # 9 are left beside the 30 of the other turn
    assert (state(store).spent.tokens, state(store).reserved.tokens) == (61, 39)
    words = "71 of today's budget of 100 tokens is spent and 30 is reserved by 1 turn"
    assert progress(log, 41).lacking == words
    other = work(store, "c", tokens=5, ends=False)
    assert progress(other, 6).lacking is None
    log.end(Facts(end="completed", usage=Usage(total_tokens=41)), Outcome(status=Status.DONE, reason=None), 1, build)
    assert progress(other, 29).lacking is None


def test_a_turn_whose_own_budget_was_raised_reserves_what_that_leaves(store):
    store.period_budgets.keep([PeriodBudget(most=Budget(tokens=1_000))])
    begin(store, "a", budget=Budget(tokens=100))
    log = work(store, "a", tokens=99, ends=False)
    assert progress(log, 100).used_up(100, None)
    assert state(store).reserved.tokens == 0
    store.set_budget("a", Budget(tokens=500))
    assert not progress(log, 110).used_up(110, None)
    assert (state(store).spent.tokens, state(store).reserved.tokens) == (110, 390)


@pytest.mark.parametrize("now", [[], [PeriodBudget(most=Budget(tokens=100), action="warn")]])
@pytest.mark.parametrize("own", [None, Budget(tokens=60)])
def test_a_turn_that_no_budget_stops_any_more_has_no_share(store, now, own):
    store.period_budgets.keep([PeriodBudget(most=Budget(tokens=100))])
    begin(store, "a", budget=own)
    log = work(store, "a", tokens=10, ends=False)
    store.period_budgets.keep(now)
    assert progress(log, 120) == Share()
    assert [one.reserved.tokens for one in store.period_budgets.states()] == [0] * len(now)


def test_a_budget_of_0_lets_nothing_start(store):
    store.period_budgets.keep([PeriodBudget(most=Budget(cost_usd=0.0))])
    with pytest.raises(RefusalError, match=r"over_budget: today's budget of \$0 lets nothing start\. Next: wait"):
        begin(store, "a")
    start = Start("make", agent="command", title="make", cwd="/", session_id="c")
    store.create(start, Launch(argv=("true",)), "c", host="h")
    assert store.take_places("h").taken == [("c", 1)]


def test_a_turn_of_unknown_cost_reserves_until_it_ends_and_then_counts_nothing(store):
    store.period_budgets.keep([PeriodBudget(most=Budget(cost_usd=0.5))])
    for n in range(4):
        begin(store, f"s{n}")
        assert store.take_places("h").taken == [(f"s{n}", 1)]
        work(store, f"s{n}", tokens=500)
    assert (state(store).spent.missing, state(store).spent.cost_usd) == (4, 0.0)


def test_tokens_of_a_day_are_a_lower_bound_if_a_session_did_not_report_its_own(store):
    store.period_budgets.keep([PeriodBudget(most=Budget(tokens=1_000))])
    for name, tokens in (("a", 200), ("b", None)):
        begin(store, name)
        work(store, name, cost=1.0, tokens=tokens)
    assert state_words(state(store)) == "≥200 of 1,000 tokens spent, 800 left"


def test_a_session_that_waits_for_another_one_waits_for_the_budget_too_and_says_so(store):
    store.period_budgets.keep([DAY])
    work(store, begin(store, "a"), cost=20.0)
    begin(store, "b", over_budget=True)
    with store.database.transaction() as db:  # as a chain or a queue of prompts makes a turn
        db.execute("DELETE FROM shares")
    places = store.take_places("h")
    assert places.taken == []
    assert places.waits is not None and places.waits[0] == "b"
    assert store.session("b").reason == "waits: today's budget of $20 is spent"
    assert store.take_places("h").waits is None  # a process waits already


def test_a_turn_that_a_budget_holds_holds_up_no_other(store, tmp_path):
    folder = tmp_path / "api"
    folder.mkdir()
    store.period_budgets.keep([PeriodBudget(folder=str(folder), most=Budget(tokens=100))])
    work(store, begin(store, "a", folder), tokens=100)
    begin(store, "b", folder, over_budget=True)
    begin(store, "c", tmp_path)
    with store.database.transaction() as db:
        db.execute("DELETE FROM shares")
    assert store.take_places("h").taken == [("c", 1)]
    assert store.session("b").reason == f"waits: today's budget of 100 tokens in {folder} is spent"


def test_explain_names_what_a_queued_turn_waits_for(store, tmp_path):
    def rule(name):
        return SessionReader(Layout(tmp_path), store).explain(name).rule

    held, later = (f"00000000-0000-4000-8000-{n:012}" for n in range(2))
    store.keep({"max_running": 1})
    store.period_budgets.keep([PeriodBudget(folder=str(tmp_path), period="week", most=Budget(tokens=100))])
    work(store, begin(store, "a", tmp_path), tokens=100)
    begin(store, held, tmp_path, over_budget=True)
    with store.database.transaction() as db:
        db.execute("DELETE FROM shares")
    assert waits(store, held).startswith("waits: this week's budget")
    assert rule(held) == (
        f"queued: this week's budget of {tmp_path} has no room for it; it starts when there is room and a free slot"
    )
    store.period_budgets.raise_to(str(tmp_path), "week", Budget(tokens=10_000_000))
    begin(store, later)
    assert store.take_places("h").taken == [(held, 1)]
    assert waits(store, later) == "queued: 1 of 1 slots in use"
    assert rule(later) == "queued: all `queue.max_running` slots are in use"


def test_raising_the_budget_lets_go_what_waits(store):
    store.period_budgets.keep([DAY])
    work(store, begin(store, "a"), cost=20.0)
    begin(store, "b", over_budget=True)
    with store.database.transaction() as db:
        db.execute("DELETE FROM shares")
    assert store.take_places("h").taken == []
    assert store.period_budgets.raise_to("", "day", Budget(cost_usd=40.0))
    assert store.take_places("h").taken == [("b", 1)]
    assert state(store).raised
    assert not store.period_budgets.raise_to("", "week", Budget(cost_usd=30.0))


def test_the_next_day_begins_with_nothing_spent_and_without_what_was_raised(store):
    store.period_budgets.keep([DAY])
    store.period_budgets.raise_to("", "day", Budget(cost_usd=30.0))
    work(store, begin(store, "a"), cost=30.0)
    with store.database.transaction() as db:
        db.execute("UPDATE use_sums SET quarter = quarter - 96")
        db.execute("UPDATE budget_raises SET begins = date(begins, '-1 day')")
    now = state(store)
    assert (now.spent.cost_usd, now.budget.most.cost_usd, now.raised) == (0.0, 20.0, False)


def test_a_prompt_to_an_idle_session_is_refused_and_one_to_a_session_at_work_waits(store):
    store.period_budgets.keep([DAY])
    work(store, begin(store, "a"), cost=20.0)
    with pytest.raises(RefusalError, match="over_budget: today's budget"):
        store.queue.add(request("a", "more"), build)
    assert store.queue.waiting("a") == []
    begin(store, "b", over_budget=True)
    log = work(store, "b", cost=1.0, ends=False)
    store.queue.add(request("b", "more"), build)
    log.end(Facts(end="completed", cost_usd=1.0), Outcome(status=Status.DONE, reason=None), 1, build)
    assert store.take_places("h").taken == []
    assert store.session("b").reason == "waits: today's budget of $20 is spent"


def test_a_prompt_to_an_idle_session_waits_while_turns_that_run_reserve_its_room(store):
    store.period_budgets.keep([DAY])
    work(store, begin(store, "a"), cost=8.0)
    begin(store, "b", limits=Limits(cost_usd=12.0))
    store.queue.add(request("a", "more"), build)
    words = "waits: $8.00 of today's budget of $20 is spent and $12 is reserved by 1 turn"
    assert waits(store, "a") == words
    work(store, "b", cost=4.0)
    assert store.take_places("h").taken == [("a", 2)]
    with pytest.raises(RefusalError, match="over_budget"):  # an agent does not wait for itself
        store.queue.add(request("b", "more", asked_by="a"), build)


def test_a_deleted_session_stays_spent(store):
    store.period_budgets.keep([DAY])
    work(store, begin(store, "a"), cost=12.0)
    assert store.delete("a", 1)
    assert state(store).spent.cost_usd == 12.0


def test_a_budget_that_warns_starts_and_says_so(store):
    store.period_budgets.keep([PeriodBudget(most=Budget(tokens=10), action="warn")])
    work(store, begin(store, "a"), tokens=10)
    begin(store, "b")
    assert store.launch("b", 1).warnings == (
        "today's budget of 10 tokens is spent; the session starts, because the budget only warns.",
    )
    work(store, "b", tokens=5, ends=False)
    assert store.period_budgets.crossed("b", 1) == (None, "today's budget: 15 of 10 tokens")


def test_a_command_uses_no_model_and_is_never_held(store):
    store.period_budgets.keep([DAY])
    work(store, begin(store, "a"), cost=20.0)
    start = Start("make", agent="command", title="make", cwd="/", session_id="c")
    store.create(start, Launch(argv=("true",)), "c", host="h")
    assert store.take_places("h").taken == [("c", 1)]


def test_sessions_of_unknown_cost_are_counted_apart(store):
    store.period_budgets.keep([DAY])
    work(store, begin(store, "a"), tokens=500)
    work(store, begin(store, "b"), cost=1.0)
    assert (state(store).spent.missing, state(store).spent.cost_usd) == (1, 1.0)


def wait_in_own_folders(store, tmp_path, number):
    """Queue turns without a share, each in a folder and with a limit of its own."""
    for n in range(number):
        folder = tmp_path / f"f{n}"
        folder.mkdir()
        begin(store, f"w{n}", folder, Limits(tokens=n + 1), over_budget=True)
    with store.database.transaction() as db:  # as a chain or a queue of prompts makes a turn
        db.execute("DELETE FROM shares WHERE session LIKE 'w%'")


@pytest.mark.parametrize("spent", [10_000, 5_000])
@pytest.mark.parametrize("waiting", [5, 40])
def test_what_is_spent_is_read_once_for_all_turns_that_wait_in_folders_of_their_own(store, tmp_path, spent, waiting):
    most = Budget(tokens=10_000)
    warns = PeriodBudget(folder="/", most=Budget(tokens=1), action="warn")
    store.period_budgets.keep([PeriodBudget(most=most), PeriodBudget(period="week", most=most), warns])
    work(store, begin(store, "a"), tokens=spent)
    wait_in_own_folders(store, tmp_path, waiting)
    asked = []
    with store.database.transaction() as db:
        db.set_trace_callback(asked.append)
    taken = store.take_places("h").taken
    assert len(taken) == (min(waiting, 8) if spent < 10_000 else 0)
    reads = [sql for sql in asked if "FROM use_sums AS used" in sql]
    assert len({*reads}) == len(reads) <= 2  # the day's and the week's, which are one on a Monday
    assert len([sql for sql in asked if "FROM turns CROSS JOIN shares" in sql]) == 1
    assert len([sql for sql in asked if "FROM budgets" in sql]) == 1


def test_turns_with_limits_of_their_own_that_start_together_do_not_pass_the_budget(store, tmp_path):
    store.keep({"max_running": 99})
    inner = tmp_path / "f2"
    store.period_budgets.keep(
        [PeriodBudget(most=Budget(tokens=26)), PeriodBudget(folder=str(inner), most=Budget(tokens=2))]
    )
    wait_in_own_folders(store, tmp_path, 9)
    taken = [name for name, _ in store.take_places("h").taken]
    assert taken == ["w0", "w1", "w2", "w3", "w4", "w5"]  # 1, 2, the 2 of the inner folder, 4, 5 and 6 tokens
    assert [(one.reserved.tokens, one.turns) for one in store.period_budgets.states()] == [(2, 1), (20, 6)]
    words = "waits: 20 of today's budget of 26 tokens is reserved by 6 turns; this turn may use 9 tokens"
    assert store.session("w8").reason == words


@pytest.mark.parametrize("seed", range(20))
def test_admitted_shares_and_spending_never_pass_any_of_several_budgets(store, tmp_path, seed):
    chance = random.Random(seed)
    folders = [tmp_path, tmp_path / "a", tmp_path / "a" / "b", tmp_path / "c"]
    for folder in folders:
        folder.mkdir(exist_ok=True)
    store.period_budgets.keep(
        [
            PeriodBudget(
                folder=str(folder) if folder else "",
                period=period,
                most=chance.choice([Budget(cost_usd=4.0), Budget(tokens=1000), Budget(cost_usd=3.0, tokens=700)]),
            )
            for folder in ("", *chance.sample(folders, 2))
            for period in ("day", "week")
        ]
    )
    running, admitted = [], 0
    for n in range(40):
        limits = Limits(cost_usd=chance.choice([None, 0.5, 1.0]), tokens=chance.choice([None, 100, 300]))
        try:
            running.append((begin(store, f"s{n}", chance.choice(folders), limits), limits))
            admitted += 1
        except RefusalError:
            pass
        if running and chance.random() < 0.4:
            name, limits = running.pop(chance.randrange(len(running)))
            with store.database.transaction() as db:
                share = db.execute("SELECT tokens, cost_usd FROM shares WHERE session = ?", (name,)).fetchone()
            if share is None:
                continue  # it waits
            part = chance.random()
            work(store, name, cost=part * (share["cost_usd"] or 0), tokens=int(part * (share["tokens"] or 0)))
        for one in store.period_budgets.states():
            most = one.budget.most
            if most.cost_usd is not None:
                assert one.spent.cost_usd + one.reserved.cost_usd <= most.cost_usd + 1e-6
            if most.tokens is not None:
                assert one.spent.tokens + one.reserved.tokens <= most.tokens
    assert admitted


@pytest.mark.parametrize("tokens", [-5, 0, 1 << 62, (1 << 63) - 1])
@pytest.mark.parametrize("cost", [-3.0, 0.0, 1e300, float("inf"), float("nan")])
def test_figures_of_any_size_are_recorded_and_read(store, tokens, cost):
    store.period_budgets.keep([DAY, PeriodBudget(period="week", most=Budget(tokens=5))])
    work(store, begin(store, "a"), cost=cost, tokens=tokens, ends=False)
    work(store, "a", cost=1.0, tokens=7)
    for one in store.period_budgets.states():
        assert one.spent.tokens >= 0
        assert one.spent.cost_usd >= 0
