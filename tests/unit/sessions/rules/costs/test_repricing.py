"""Costs of a turn computed again: which reports change, with which price, and what stays unknown."""

import pytest
from msgspec import structs

from agentdash.sessions.model.usage import Usage
from agentdash.sessions.rules.costs.cost import Cost
from agentdash.sessions.rules.costs.prices import Price
from agentdash.sessions.rules.costs.pricing import Pricing
from agentdash.sessions.rules.costs.reports import CALL, MESSAGE, MODELS, RECORD, THREAD, Kind, Report
from agentdash.sessions.rules.costs.repricing import Choice, KeptReport, Repricing, Tally, TurnCost

LOCAL = Price(input=1.0, output=2.0, as_of="2026-11-01")
DEARER = Price(input=10.0, output=20.0, as_of="2026-12-01")
LONG = Price(input=1.0, output=2.0, long_prompt_tokens=1_000_000, long_input_factor=2.0)
PRICES = {"local-*": LOCAL, "long": LONG}
MILLION = 1_000_000


def report(
    source: str = CALL, key: str = "1", model: str | None = "local-1", millions: int = 1, **more: object
) -> Report:
    kind: Kind = "call" if source in (CALL, MESSAGE) else "thread" if source == THREAD else "turn"
    usage = Usage.of(millions * MILLION, 0, 0)
    return structs.replace(Report(source=source, key=key, kind=kind, model=model, usage=usage), **more)


def own_sum(model: str | None = "local-1", millions: int = 1, **more: object) -> Report:
    return report(RECORD, "", model, millions, **more)


def turn(
    *counted: Report, beside: tuple[Report, ...] = (), prices: dict[str, Price] | None = None, **choice: object
) -> TurnCost:
    kept = [KeptReport(report=one, counted=True) for one in counted]
    kept += [KeptReport(report=one, counted=False) for one in beside]
    return Repricing(Pricing(PRICES if prices is None else prices), Choice(**choice)).turn(kept)  # type: ignore[arg-type]


def priced(one: Report, prices: dict[str, Price]) -> Report:
    return Pricing(prices).priced(one)


def test_an_unknown_cost_gets_the_price_in_force_with_its_entry_and_date() -> None:
    found = turn(report(key="1"), report(key="2", model="local-2"), beside=(own_sum(millions=2),))
    assert (found.before, found.after, found.about_usd) == (Cost(missing=1), Cost(computed_usd=2.0), 2.0)
    first, second, own = found.reports
    assert (first.computed_usd, second.computed_usd, own.computed_usd) == (1.0, 1.0, 2.0)
    assert (first.price_as_of, own.price_as_of, own.price) == ("2026-11-01", "2026-11-01", None)
    assert first.price is not None
    assert '"input":1.0' in first.price


def test_a_model_without_a_price_is_named_and_the_turn_has_no_sum() -> None:
    found = turn(report(key="1"), report(key="2", model="odd"), beside=(own_sum(millions=2),))
    assert [one.key for one in found.reports] == ["1"]
    assert (found.about_usd, found.unpriced, found.uncertain) == (None, {"odd"}, False)
    assert (found.before, found.after) == (Cost(missing=1), Cost(computed_usd=1.0, missing=1))


@pytest.mark.parametrize("every", [False, True])
def test_a_reported_cost_is_never_replaced(every: bool) -> None:
    reported = [report(MODELS, "local-1", reported_usd=7.0), report(MODELS, "local-2", "local-2", reported_usd=1.0)]
    assert turn(*reported, beside=(own_sum(reported_usd=8.0),), every=every) == TurnCost(
        before=Cost(reported_usd=8.0), after=Cost(reported_usd=8.0)
    )
    assert turn(own_sum(reported_usd=7.0), beside=(report(MESSAGE, "m"),), every=every).reports == ()


def test_the_rest_of_a_turn_that_reported_a_part_is_an_estimate_beyond_it() -> None:
    models = (report(MODELS, "local-1", reported_usd=7.0), report(MODELS, "local-2", "local-2", millions=3))
    found = turn(*models, beside=(own_sum(reported_usd=7.0),))
    assert found.about_usd == 3.0
    assert found.after == Cost(reported_usd=7.0, computed_usd=3.0)
    assert {one.source: (one.reported_usd, one.computed_usd) for one in found.reports} == {
        MODELS: (None, 3.0), RECORD: (7.0, 3.0),
    }  # fmt: skip


def test_a_computed_cost_is_replaced_only_if_all_are_and_the_entry_differs() -> None:
    known = priced(report(), {"local-*": DEARER})
    assert turn(known).reports == ()
    (again,) = turn(known, every=True).reports
    assert (known.computed_usd, again.computed_usd) == (10.0, 1.0)
    assert turn(again, every=True).reports == ()
    assert turn(known, every=True, prices={}).reports == (), "its price is gone: the cost stays"


def test_a_pattern_chooses_models_as_in_the_settings() -> None:
    both = (report(key="1"), report(key="2", model="long"))
    assert [one.key for one in turn(*both, model="LOCAL-*").reports] == ["1"]
    assert [one.key for one in turn(*both, model="long").reports] == ["2"]
    assert turn(*both, model="lon").reports == ()
    assert turn(own_sum(None), model="local-*") == TurnCost(before=Cost(missing=1), after=Cost(missing=1))


def test_the_sum_of_a_model_with_long_prompts_is_priced_only_if_no_call_can_be_long() -> None:
    assert turn(own_sum("long")).about_usd == 1.0
    found = turn(own_sum("long", millions=2))
    assert (found.reports, found.uncertain, found.unpriced) == ((), True, frozenset())
    assert turn(report(model="long", millions=2)).about_usd == 4.0, "a call shows its own length"


@pytest.mark.parametrize("own", [own_sum(None), own_sum(usage=Usage()), own_sum("<synthetic>")])
def test_without_a_model_or_tokens_a_cost_is_not_certain(own: Report) -> None:
    found = turn(own)
    assert (found.reports, found.uncertain, found.unpriced) == ((), True, frozenset())


def test_the_own_sum_has_the_cost_of_the_messages_as_the_runner_computes_it() -> None:
    messages = (report(MESSAGE, "m1"), report(MESSAGE, "m2", "local-2", 3))
    found = turn(own_sum(millions=5), beside=messages)
    assert found.about_usd == 4.0
    assert {one.key: one.computed_usd for one in found.reports} == {"m1": 1.0, "m2": 3.0, "": 4.0}
    odd = (report(MESSAGE, "m1"), report(MESSAGE, "m2", "odd"))
    found = turn(own_sum(millions=5), beside=odd)
    assert (found.reports, found.unpriced) == ((), {"odd"}), "a part of the sum has another price"


def test_the_messages_behind_an_own_sum_are_replaced_with_it() -> None:
    messages = tuple(priced(report(MESSAGE, key), {"local-*": DEARER}) for key in ("m1", "m2"))
    found = turn(own_sum(millions=2, computed_usd=20.0), beside=messages, every=True)
    assert (found.before.computed_usd, found.after.computed_usd, found.about_usd) == (20.0, 2.0, 2.0)
    now = tuple(one for one in found.reports if one.source == MESSAGE)
    assert turn(own_sum(millions=2, computed_usd=2.0), beside=now, every=True).reports == ()


def test_other_reports_of_the_same_model_do_not_make_the_own_sum_uncertain() -> None:
    fewer = (report(CALL, "1", "local-1[1m]"), report(THREAD, "", "odd", 9))
    assert turn(own_sum(millions=2), beside=fewer).about_usd == 2.0
    assert turn(own_sum(millions=2), beside=(report(CALL, "1", "local-2"),)).uncertain


def test_the_own_sum_of_an_earlier_version_has_a_cost_but_no_entry() -> None:
    known = own_sum(millions=2, computed_usd=5.0)
    assert turn(known).reports == ()
    assert turn(known, every=True).about_usd == 2.0
    assert turn(structs.replace(known, price_as_of="2026-11-01"), every=True).reports == (), (
        "its date is the present one"
    )


def test_results_are_added_up_and_each_session_counts_once() -> None:
    tally = Tally()
    changed, odd = turn(report()), turn(report(model="odd"))
    for session, cost, ended in [("a", changed, True), ("a", changed, True), ("b", odd, True), ("c", changed, False)]:
        tally.add(session, cost, ended=ended)
    tally.add("c", TurnCost(), ended=False)
    found = tally.result()
    assert (found.turns, found.sessions, found.not_ended, found.unpriced) == (2, 1, 1, ("odd",))
    assert (found.before, found.after) == (Cost(missing=2), Cost(computed_usd=2.0))
