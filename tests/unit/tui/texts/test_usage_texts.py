"""The table of usage gives names the cells that its columns leave."""

import pytest

from agentdash.sessions.rules.costs.cost import Cost
from agentdash.sessions.rules.costs.usage_table import UsageQuery, UsageRow, UsageTable
from agentdash.tui.texts.usage_texts import heading, name, sums, widened

ROWS = [UsageRow(group=one, label=one, sessions=1) for one in ("gpt-5.5", "claude-opus-4-8", "claude-opus-4-8[1m]")]


@pytest.mark.parametrize(
    ("width", "spare", "cells"),
    [(12, 0, 12), (12, 4, 16), (12, 30, 19), (20, 30, 20), (12, -3, 12)],
)
def test_a_name_takes_free_cells_as_far_as_it_needs_them(width, spare, cells):
    assert widened(width, spare, ROWS, "model") == cells
    assert {len(name(row, "model", cells)) for row in ROWS} == {cells}
    assert len(heading("model", (), cells)) == cells


def test_a_long_name_takes_no_more_than_its_most():
    long = UsageRow(group="x", label="x" * 90, sessions=1)
    assert widened(12, 90, [long], "session") == 40


@pytest.mark.parametrize(
    ("dates", "own", "words"),
    [
        ((), False, ""),
        (("2026-11-22",), False, " (prices of 2026-11-22)"),
        (("2026-10-01", "2026-11-01", "2026-11-22"), False, " (prices of 2026-10-01 to 2026-11-22)"),
        (("2026-11-22",), True, " (prices of 2026-11-22 and of the settings)"),
        ((), True, " (prices of the settings)"),
    ],
)
def test_the_sums_name_the_prices_of_computed_costs(dates, own, words):
    total = UsageRow(group="", label="", sessions=1, cost=Cost(computed_usd=0.5))
    found = UsageTable(
        query=UsageQuery(by="day"), rows=(), columns=(), total=total, prices_as_of=dates, prices_of_settings=own
    )
    assert sums(found)[1] == f"of it ~$0.50 computed{words}"
