"""The decision whether a lead may start one more worker, and the sums behind it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.model.errors import RefusalError
from agentdash.sessions.model.membership import Budget
from agentdash.sessions.rules.limits.admission import (
    FamilyLimits,
    Ledger,
    Numbers,
    check_numbers,
    check_spent,
    extend,
    share_of,
)
from agentdash.sessions.rules.limits.family_account import (
    Account,
    Amount,
    Member,
    accounts,
    budget_words,
    crossed,
    reserved_beside,
)

LIMITS = FamilyLimits()
CENT = 0.01


def ledger(cost=2.0, spent=0.0, reserved=0.0, **facts):
    return Ledger(
        name="lead1234",
        budget=Budget(cost_usd=cost),
        spent=Amount(0, spent),
        reserved=Amount(0, reserved),
        **facts,
    )


@pytest.mark.parametrize(
    ("numbers", "code", "words"),
    [
        (Numbers(leads=4, workers=0, open=0), "too_deep", "4 leads are above this worker, and orchestration.max_depth"),
        (Numbers(leads=1, workers=20, open=0), "too_many", "20 of 20 workers were started"),
        (Numbers(leads=1, workers=9, open=8), "too_many", "8 of 8 workers have not ended"),
    ],
)
def test_a_lead_that_reached_a_number_is_refused_with_it_and_the_next_step(numbers, code, words):
    with pytest.raises(RefusalError) as refused:
        check_numbers(LIMITS, numbers)
    assert refused.value.code == code
    assert words in str(refused.value)
    assert "Next: " in str(refused.value)


def test_a_lead_below_every_number_is_admitted():
    check_numbers(LIMITS, Numbers(leads=3, workers=19, open=7))


def test_the_refusal_names_what_is_spent_and_reserved_and_how_to_raise_the_budget():
    with pytest.raises(RefusalError) as refused:
        share_of(Budget(cost_usd=0.2), [ledger(spent=1.9, reserved=0.05)], LIMITS, 1)
    assert str(refused.value) == (
        "over_budget: $1.90 of $2.00 is spent and $0.05 reserved by lead1234 and its workers; this needs $0.20."
        " Next: wait for what runs, or ask the user to raise it: agentdash budget lead1234 --usd N"
    )


def test_a_refusal_in_tokens_of_an_outside_lead_names_the_settings():
    full = Ledger(
        name="claude:x", outside=True, budget=Budget(tokens=1_000), spent=Amount(1_200, 0.0), reserved=Amount()
    )
    with pytest.raises(RefusalError) as refused:
        check_spent(full)
    assert str(refused.value) == (
        "over_budget: 1,200 of 1,000 tokens is spent by claude:x and its workers."
        " Next: ask the user to raise it: orchestration.budget in the settings"
    )


def test_its_own_budget_is_the_share_of_a_start():
    assert share_of(Budget(cost_usd=0.5), [ledger()], LIMITS, 0) == Budget(cost_usd=0.5)


def test_without_a_budget_of_its_own_a_start_reserves_an_equal_part_of_what_is_left():
    assert share_of(None, [ledger(cost=9.0)], LIMITS, 0) == Budget(cost_usd=1.0)
    assert share_of(None, [ledger(cost=9.0, reserved=4.0)], LIMITS, 4) == Budget(cost_usd=1.0)


def test_the_smallest_of_several_budgets_above_decides_the_share():
    assert share_of(None, [ledger(cost=90.0), ledger(cost=9.0)], LIMITS, 0) == Budget(cost_usd=1.0)


def test_a_start_above_which_no_budget_is_reserves_nothing():
    assert share_of(None, [], LIMITS, 0) is None


def test_a_part_is_never_smaller_than_that_of_the_greatest_number_of_workers():
    limits = FamilyLimits(max_workers=9, max_open=99)
    assert share_of(None, [ledger(cost=1.0, spent=0.85)], limits, 0) == Budget(cost_usd=0.1)
    with pytest.raises(RefusalError):
        share_of(None, [ledger(cost=1.0, spent=0.95)], limits, 0)


@given(
    budget=st.floats(0.01, 1_000),
    steps=st.lists(
        st.tuples(st.sampled_from(["start", "end"]), st.none() | st.floats(0.01, 500), st.floats(0, 1)), max_size=60
    ),
    max_open=st.integers(0, 10),
    max_workers=st.integers(0, 30),
)
def test_no_sequence_of_starts_and_ends_passes_a_limit_or_reserves_more_than_is_left(
    budget, steps, max_open, max_workers
):
    """Workers spend at most their share here: then the lead's budget is never crossed."""
    limits = FamilyLimits(max_open=max_open, max_workers=max_workers)
    members = [Member(id="lead", above=None)]
    for number, (act, own, part) in enumerate(steps):
        sums = accounts(members)
        lead = sums["lead"]
        if act == "end":
            members = [_ended(one, part) if one.open else one for one in members]
        else:
            try:
                check_numbers(limits, Numbers(leads=1, workers=lead.workers, open=lead.open))
                beside = reserved_beside(members, sums, ["lead"])
                above = Ledger(name="lead", budget=Budget(cost_usd=budget), spent=lead.spent, reserved=beside)
                share = share_of(Budget(cost_usd=own) if own else None, [above], limits, lead.open)
            except RefusalError:
                continue
            members = [*members, Member(id=str(number), above="lead", open=True, share=share)]
        lead = accounts(members)["lead"]
        assert lead.open <= max_open
        assert lead.workers <= max_workers
        assert lead.spent.cost_usd + lead.below.cost_usd <= budget * (1 + 1e-9) + 1e-6


def _ended(member, part):
    share = member.share.cost_usd if member.share else 0.0
    return Member(id=member.id, above=member.above, spent=Amount(0, share * part))


def test_a_session_below_a_worker_is_covered_by_the_share_of_that_worker():
    worker = Member(id="w", above="lead", open=True, share=Budget(cost_usd=1.0), spent=Amount(10, 0.2))
    child = Member(id="c", above="w", open=True, share=Budget(cost_usd=0.5), spent=Amount(5, 0.1))
    sums = accounts([Member(id="lead", above=None), worker, child])
    assert sums["lead"].spent.tokens == 15
    assert sums["lead"].below.cost_usd == pytest.approx(0.7)
    assert sums["w"].below.cost_usd == pytest.approx(0.4)


def test_a_worker_that_ended_reserves_only_what_runs_below_it():
    worker = Member(id="w", above="lead", share=Budget(cost_usd=1.0))
    child = Member(id="c", above="w", open=True, share=Budget(cost_usd=0.5))
    sums = accounts([Member(id="lead", above=None), worker, child])
    assert sums["lead"].below.cost_usd == pytest.approx(0.5)
    assert (sums["lead"].workers, sums["lead"].open) == (1, 0)


@pytest.mark.parametrize(
    ("budget", "spent", "words"),
    [
        (Budget(cost_usd=2.0), Amount(0, 2.03), "$2.03 of $2.00"),
        (Budget(cost_usd=2.0), Amount(0, 2.0), None),
        (Budget(tokens=1_000), Amount(1_001, 9.0), "1,001 of 1,000 tokens"),
        (Budget(), Amount(10**9, 10.0**9), None),
    ],
)
def test_a_crossed_budget_is_named_with_both_numbers(budget, spent, words):
    assert crossed(budget, spent) == words


def test_the_state_of_a_budget_is_one_line():
    worker = Member(id="w", above="lead", open=True, share=Budget(cost_usd=0.6, tokens=100))
    lead = Member(id="lead", above=None, spent=Amount(50, 1.2))
    account = accounts([lead, worker])["lead"]
    assert budget_words(Budget(cost_usd=5.0), account) == "$1.20 of $5.00 spent, $0.60 reserved, $3.20 left"
    assert budget_words(Budget(tokens=1_000), account) == "50 of 1,000 tokens spent, 100 reserved, 850 left"


def test_the_words_of_a_budget_mark_a_computed_part_and_a_missing_cost():
    budget = Budget(cost_usd=2.0)
    computed = Amount(10, 1.2, computed_usd=0.2)
    assert budget_words(budget, Account(spent=computed)) == "~$1.20 of $2.00 spent, $0.80 left"
    assert budget_words(budget, Account(spent=Amount(10, missing=1))) == "? of $2.00 spent, $2.00 left"
    tokens = Budget(tokens=2_000)
    assert budget_words(tokens, Account(spent=Amount(tokens_missing=1))) == "? of 2,000 tokens spent, 2,000 left"
    assert crossed(tokens, Amount(2_001, tokens_missing=1)) == "≥2,001 of 2,000 tokens"
    assert crossed(budget, computed.plus(Amount(5, 1.0, missing=1))) == "≥$2.20 of $2.00"


def extended(own, *ledgers, share=1.0, spent=1.0):
    return extend(Budget(cost_usd=share), own, Amount(cost_usd=spent), ledgers, Budget(cost_usd=0.2))


def test_a_worker_reserves_what_its_raised_budget_leaves_or_what_is_left_above_it():
    above = ledger(9.0, spent=1.0)
    assert extended(Budget(), above) == (Budget(cost_usd=1.2), None)
    assert extended(Budget(cost_usd=3.0), above) == (Budget(cost_usd=3.0), None)
    assert extended(Budget(cost_usd=3.0), ledger(9.0, spent=1.0, reserved=7.0)) == (Budget(cost_usd=2.0), None)
    kept, lacking = extended(Budget(cost_usd=3.0), ledger(9.0, spent=1.0, reserved=8.0))
    assert kept == Budget(cost_usd=1.0)
    assert lacking is not None


def test_a_worker_whose_own_budget_is_used_up_keeps_its_share():
    assert extended(Budget(cost_usd=1.0), ledger(9.0, spent=9.0)) == (Budget(cost_usd=1.0), None)


def test_a_worker_below_no_budget_of_a_kind_has_no_share_of_it():
    assert extended(Budget(cost_usd=1.0)) == (Budget(), None)
    assert extended(Budget(), Ledger(name="a", budget=Budget(tokens=5), spent=Amount(), reserved=Amount())) == (
        Budget(),
        None,
    )
