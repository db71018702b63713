"""What turns reserve of the budgets of days and weeks: the rule, by examples and by random ones."""

import random

import pytest

from agentdash.sessions.model.membership import Budget
from agentdash.sessions.rules.limits.family_account import Amount
from agentdash.sessions.rules.limits.period_budgets import (
    FIRST,
    Asking,
    Lacking,
    PeriodBudget,
    PeriodState,
    extend,
    grant,
    lacking_words,
    refusal_words,
    state_words,
    used_words,
    usual_of,
)

NOTHING = Amount()


def state(tokens=None, cost=None, spent=NOTHING, reserved=NOTHING, turns=0):
    budget = PeriodBudget(most=Budget(tokens=tokens, cost_usd=cost))
    return PeriodState(budget=budget, spent=spent, reserved=reserved, turns=turns)


def known(tokens):
    return Asking(usual=Budget(tokens=tokens), agent="codex")


def test_the_usual_use_is_what_nine_of_ten_turns_used_at_most_and_the_greatest_of_few():
    assert usual_of([]) == Budget()
    assert usual_of([Budget(tokens=5), Budget(tokens=90)]) == Budget(tokens=90)
    assert usual_of([Budget(tokens=n) for n in range(1, 21)]) == Budget(tokens=18)
    assert usual_of([Budget(tokens=5), Budget(cost_usd=0.5)]) == Budget(tokens=5, cost_usd=0.5)


def test_without_earlier_turns_a_turn_reserves_a_guess_or_alone_what_is_left():
    assert grant(Asking(), [state(cost=20.0)]) == Budget(cost_usd=FIRST.cost_usd)
    assert grant(Asking(), [state(tokens=100, spent=Amount(tokens=90))]) == Budget(tokens=10)
    waits = grant(Asking(agent="codex"), [state(tokens=100, reserved=Amount(tokens=90), turns=1)])
    assert isinstance(waits, Lacking)
    assert waits.for_turns
    assert lacking_words(waits).endswith("is reserved by 1 turn; the use of a turn of codex is unknown")


def test_a_budget_below_the_usual_use_is_used_by_one_turn():
    assert grant(known(500), [state(tokens=100)]) == Budget(tokens=100)
    refused = grant(known(500), [state(tokens=100, spent=Amount(tokens=1))])
    assert isinstance(refused, Lacking)
    assert not refused.for_turns


def test_a_turn_reserves_its_own_limit_and_no_more_than_the_budget():
    assert grant(Asking(own=Budget(tokens=30), usual=Budget(tokens=5)), [state(tokens=100)]) == Budget(tokens=30)
    assert grant(Asking(own=Budget(tokens=300)), [state(tokens=100)]) == Budget(tokens=100)
    refused = grant(Asking(own=Budget(tokens=30), agent="codex"), [state(tokens=100, spent=Amount(tokens=80))])
    assert isinstance(refused, Lacking)
    assert lacking_words(refused).endswith("of 100 tokens is spent; this turn may use 30 tokens")


def test_a_start_beyond_the_budgets_reserves_what_there_is():
    assert grant(known(50), [state(tokens=100, spent=Amount(tokens=80))], free=True) == Budget(tokens=20)


def test_of_several_budgets_the_one_that_cannot_be_waited_for_decides():
    runs = state(tokens=100, reserved=Amount(tokens=100), turns=1)
    gone = state(tokens=100, spent=Amount(tokens=100))
    refused = grant(known(50), [runs, gone])
    assert isinstance(refused, Lacking)
    assert refused.state is gone


def test_a_turn_that_used_its_share_reserves_as_much_again_or_what_is_left():
    share, used = Budget(tokens=50), Budget(tokens=55)
    assert extend(known(50), [state(tokens=200, spent=Amount(tokens=55))], share, used) == Budget(tokens=105)
    assert extend(known(50), [state(tokens=60, spent=Amount(tokens=55))], share, used) == Budget(tokens=60)
    ends = extend(known(50), [state(tokens=60, spent=Amount(tokens=55), reserved=Amount(tokens=5))], share, used)
    assert isinstance(ends, Lacking)
    assert extend(known(50), [state(tokens=60, spent=Amount(tokens=9))], share, Budget(tokens=9)) == share
    ended = Asking(own=Budget(tokens=0))
    assert extend(ended, [state(tokens=60, spent=Amount(tokens=60))], share, used) == share


def test_a_turn_whose_own_limit_was_raised_reserves_what_the_limit_leaves_or_what_is_left():
    share, used, raised = Budget(tokens=50), Budget(tokens=50), Asking(own=Budget(tokens=40), usual=Budget(tokens=5))
    assert extend(raised, [state(tokens=200, spent=Amount(tokens=50))], share, used) == Budget(tokens=90)
    assert extend(raised, [state(tokens=60, spent=Amount(tokens=50))], share, used) == Budget(tokens=60)
    gone = extend(raised, [state(tokens=50, spent=Amount(tokens=50))], share, used)
    assert isinstance(gone, Lacking)
    costs = Asking(own=Budget(cost_usd=2.0))
    kept = extend(costs, [state(cost=9.0, spent=Amount(cost_usd=1.0))], Budget(cost_usd=1.0), Budget(cost_usd=1.0))
    assert kept == Budget(cost_usd=3.0)


def test_a_kind_that_no_budget_limits_any_more_has_no_share():
    share, used = Budget(tokens=50, cost_usd=1.0), Budget(tokens=50, cost_usd=0.5)
    assert extend(known(50), [], share, used) == Budget()
    assert extend(Asking(own=Budget(tokens=0)), [state(cost=9.0)], share, used) == Budget(cost_usd=1.0)


def test_a_turn_whose_own_limit_leaves_nothing_reserves_the_least():
    assert grant(Asking(own=Budget(tokens=0, cost_usd=0.0)), [state(tokens=9)]) == Budget(tokens=1, cost_usd=0.000001)


@pytest.mark.parametrize("left", [0.000001, 0.004])
def test_the_last_of_a_budget_is_never_shown_as_nothing(left):
    words = state_words(state(cost=1.0, spent=Amount(cost_usd=1.0 - left)))
    assert "$0.00 left" not in words
    assert words.endswith("<$0.0001 left" if left < 0.0001 else "$0.004 left")


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (state(cost=20.0, spent=Amount(cost_usd=20.5)), "today's budget of $20 is spent"),
        (state(cost=0.0), "today's budget of $0 lets nothing start"),
        (state(tokens=0), "today's budget of 0 tokens lets nothing start"),
        (
            state(cost=20.0, reserved=Amount(cost_usd=20.0), turns=3),
            "today's budget of $20 is reserved by 3 turns",
        ),
        (
            state(cost=20.0, spent=Amount(cost_usd=12.0), reserved=Amount(cost_usd=8.0), turns=1),
            "$12.00 of today's budget of $20 is spent and $8 is reserved by 1 turn",
        ),
    ],
)
def test_the_words_name_what_is_spent_and_the_turns_that_reserve(found, words):
    assert used_words(found) == words
    kind = "tokens" if found.budget.most.cost_usd is None else "cost_usd"
    assert refusal_words(Lacking(state=found, kind=kind)).startswith(f"{words}. Next: wait ")


class Turn:
    """A turn that uses a number of tokens in reports."""

    def __init__(self, share, reports):
        self.share, self.reports, self.used = share, reports, 0

    @property
    def rest(self):
        return max(0, self.share.tokens - self.used)


def check_what_is_spent(seed):
    """Spent, beyond the budget, is at most the part of one report of each turn that was not reserved."""
    chance = random.Random(seed)
    most, mean = chance.choice([100, 1_000, 10_000]), chance.choice([5, 90, 400])
    running, recent, spent, beyond = [], [], 0, 0

    def now(asks=None):
        reserved = sum(one.rest for one in running if one is not asks)
        rest = asks.rest if asks is not None else 0
        turns = sum(1 for one in running if one.rest)
        return state(tokens=most, spent=Amount(tokens=spent), reserved=Amount(tokens=reserved + rest), turns=turns)

    for _ in range(400):
        asking = Asking(usual=usual_of(recent[-20:]), agent="x")
        if chance.random() < 0.4:
            share = grant(asking, [now()])
            if not isinstance(share, Lacking):
                assert now().left.tokens >= share.tokens, seed
                reports = [max(1, int(chance.expovariate(1 / mean))) for _ in range(chance.randint(1, 4))]
                running.append(Turn(share, reports))
        elif running:
            turn = chance.choice(running)
            report = turn.reports.pop()
            unreserved = max(0, report - turn.rest)
            turn.used, spent = turn.used + report, spent + report
            kept = extend(asking, [now(turn)], turn.share, Budget(tokens=turn.used))
            if isinstance(kept, Lacking):
                beyond += unreserved
            else:
                turn.share = kept
            if isinstance(kept, Lacking) or not turn.reports:
                running.remove(turn)
                recent.append(Budget(tokens=turn.used))
        assert spent + sum(one.rest for one in running) <= most + beyond, seed


def test_what_is_spent_passes_a_budget_by_one_report_of_each_turn_at_most():
    for seed in range(50):
        check_what_is_spent(seed)


def test_of_turns_that_report_only_at_their_end_only_those_start_that_the_budget_pays_for():
    """The turns use at most what the agent usually uses: then nothing passes the budget."""
    for seed in range(20):
        chance = random.Random(seed)
        most = chance.randint(50, 2_000)
        each = chance.randint(1, 300)
        admitted = 0
        while isinstance(share := grant(known(each), [state(tokens=most, reserved=Amount(tokens=admitted))]), Budget):
            admitted += share.tokens or 0
        assert admitted <= most, seed
        assert most - admitted < max(each, 1), seed
