"""A session of which a part is not known shows a lower bound, in each place that shows its use."""

import pytest
from factories import session

from agentdash.sessions.model.session import Status, Usage
from agentdash.sessions.rules.costs.cost import cost_words, marks_explained
from agentdash.sessions.rules.costs.usage_totals import lacks_tokens, session_cost, session_tokens, sums
from agentdash.widgets.table.columns import COLUMNS, Moment


def used(tokens=None, reported=None, computed=None, *, missing=0, without_tokens=0):
    return session(
        agent="codex",
        status=Status.DONE,
        started_at=1,
        usage=Usage(total_tokens=tokens),
        cost_usd=reported,
        cost_about_usd=computed,
        cost_missing=missing,
        tokens_missing=without_tokens,
    )


@pytest.mark.parametrize(
    ("one", "cost", "tokens"),
    [
        (used(412_000, 0.31), "$0.31", "412k"),
        (used(412_000, computed=0.31), "~$0.31", "412k"),
        (used(412_000, 0.31, missing=1), "≥$0.31", "412k"),
        (used(412_000, 0.3, 0.01, missing=2, without_tokens=1), "≥$0.31", "≥412k"),
        (used(None, None, missing=1, without_tokens=1), "?", "?"),
        (used(), "?", "?"),
    ],
)
def test_the_marks_of_a_session(one, cost, tokens):
    assert cost_words(session_cost(one)) == cost
    assert session_tokens(one) == tokens
    assert lacks_tokens(one) == ("≥" in tokens or tokens == "?")
    assert sums([one]).cost.missing == ("≥" in cost or cost == "?")


@pytest.mark.parametrize(
    ("one", "cells"),
    [
        (used(12_345, 0.31, missing=1), ("12.3k", "≥$0.31")),
        (used(12_345, 112.9, 0.01, missing=1, without_tokens=1), ("≥12k", "≥$112")),
        (used(1_227, computed=0.00681), ("1.2k", "~$0.007")),
        (used(1_227, computed=0.00681, missing=1), ("1.2k", "≥$0.007")),
        (used(4, computed=0.00004), ("4", "~<$0.01")),
        (used(4_000_000, computed=123.95), ("4.0M", "~$124")),
        (used(1_234_567, computed=123.45), ("1.2M", "~$123")),
    ],
)
def test_a_cell_drops_the_decimals_before_it_drops_a_mark(one, cells):
    assert tuple(COLUMNS[name].text(one, Moment(now=0)) for name in ("tok", "cost")) == cells


def test_marks_are_explained_once_and_only_those_that_are_shown():
    assert marks_explained(["today ~$3.00", "this week ~$4.00"], 80) == "~ computed at list prices"
    assert marks_explained(["$3.00", "412k"], 80) == ""
    every = marks_explained(["≥$3.00   1 session unknown", "?", "~<$0.01"], 80)
    assert every == "~ computed at list prices   ≥ at least, a part is not known   ? not known"
    assert marks_explained(["≥412k ~$1", " ? "], 48) == "~ computed   ≥ at least   ? not known"
    assert marks_explained(["is it ready? ~/code > 3"], 80) == ""
