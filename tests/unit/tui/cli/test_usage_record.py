"""What usage prints for programs: money without the noise of sums."""

import json

import factories

from agentdash.sessions.model.session import Budget
from agentdash.sessions.rules.costs.cost import Cost
from agentdash.sessions.rules.costs.usage_table import UsageQuery, UsageRow, UsageTable
from agentdash.sessions.rules.json_schema import dump, rounded, session_json
from agentdash.sessions.text.units import dollars
from agentdash.tui.cli.schemas.usage_record import usage_record

NOISY = 0.1 + 0.7 + 0.12


def test_a_sum_of_dollars_is_rounded_to_a_millionth():
    assert repr(NOISY) == "0.9199999999999999"
    assert [dollars(one) for one in (NOISY, 0.0, None, 4e-7, 1234567.0000004)] == [0.92, 0.0, None, 4e-7, 1234567.0]
    assert rounded({"cost_usd": NOISY, "cost": {"computed_usd": NOISY}, "ratio": NOISY}) == {
        "cost_usd": 0.92, "cost": {"computed_usd": 0.92}, "ratio": NOISY,
    }  # fmt: skip


def test_usage_has_rounded_money():
    row = UsageRow(group="m", label="m", sessions=1, cost=Cost(reported_usd=NOISY, computed_usd=NOISY))
    found = UsageTable(query=UsageQuery(by="model"), rows=(row,), columns=(), total=row)
    printed = json.loads(dump(usage_record(found)))
    for one in (*printed["rows"], printed["total"]):
        assert (one["reported_usd"], one["computed_usd"]) == (0.92, 0.92)


def test_a_session_has_rounded_money():
    found = factories.session(cost_usd=NOISY, cost_about_usd=NOISY, budget=Budget(cost_usd=NOISY))
    printed = json.loads(dump(session_json(found)))
    assert (printed["cost_usd"], printed["cost_about_usd"], printed["budget"]["cost_usd"]) == (0.92, 0.92, 0.92)
    assert printed == rounded(printed)
    assert json.loads(dump(session_json(factories.session())))["budget"] is None
