"""Families in the table: the tree, the sums on the rows of leads, the rows of outside leads."""

import factories
import pytest

from agentdash.sessions.model.session import Status, Usage
from agentdash.sessions.rules.costs.cost import Cost
from agentdash.sessions.rules.costs.family_sums import FamilySum, outside_key
from agentdash.sessions.text.sanitize import cell_width
from agentdash.widgets.drawing.glyphs import twins
from agentdash.widgets.table.columns import Moment
from agentdash.widgets.table.ordering import Arrangement, Grouping
from agentdash.widgets.table.row_canvas import PaintCache
from agentdash.widgets.table.row_cells import Form, family_cells, heading_cells, row_cells
from agentdash.widgets.table.row_model import RowModel

NOW = 10_000_000
TOTAL = FamilySum(
    workers=10, states=(("running", 6), ("done", 3), ("failed", 1)), tokens=412_000,
    cost=Cost(reported_usd=3.1),
)  # fmt: skip


def session(name, status=Status.RUNNING, created=1, **own):
    times = {"created_at": created, "updated_at": created, "started_at": created, "steps": 1, "seen_at": NOW}
    return factories.session(name, status=status, title=name, **(times | own))


def tree(*sessions, grouping=Grouping.TREE):
    rows = RowModel()
    rows.choose(None, NOW, Arrangement(sort="created", reverse=True, grouping=grouping))
    rows.update(sessions, (), NOW)
    return rows


def shown(rows, position, width=100):
    cache = PaintCache()
    cache.moment = Moment(NOW)
    first, _ = cache.paint(
        rows.row(position), rows.at(position), Form(width), marked=False, family=lambda: rows.sum(position)
    )
    return " ".join(text for text, _ in first)


def family_text(total, room=60):
    return " ".join(text for text, _ in family_cells(total, room))


def test_the_sum_names_workers_states_tokens_and_money():
    assert family_text(TOTAL) == "10 workers: 6 ● 3 ✓ 1 ✗  412k  $3.10"
    assert twins(family_text(TOTAL)) == "10 workers: 6 * 3 + 1 x  412k  $3.10"


@pytest.mark.parametrize(
    ("room", "text"),
    [
        (60, "10 workers: 6 ● 3 ✓ 1 ✗  412k  $3.10"),
        (33, "10 workers: 6 ● 3 ✓ 1 ✗  $3.10"),
        (20, "6● 3✓ 1✗  $3.10"),
        (10, "6● 3✓ 1✗"),
        (0, "6● 3✓ 1✗"),
    ],
)
def test_the_sum_gets_shorter_with_the_room(room, text):
    assert family_text(TOTAL, room) == text


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({"reported_usd": 3.1, "missing": 1}, "≥$3.10"),
        ({"computed_usd": 3.1}, "~$3.10"),
        ({"reported_usd": 3.0, "computed_usd": 0.1, "missing": 1}, "≥$3.10"),
        ({"missing": 2}, "?"),
        ({}, ""),
    ],
)
def test_an_unknown_cost_never_reads_as_no_cost(facts, text):
    total = FamilySum(workers=1, states=(("running", 1),), cost=Cost(**facts))
    assert family_text(total) == f"1 worker: 1 ●{f'  {text}' if text else ''}"
    assert twins(family_text(total)).isascii()


def test_a_lead_shows_the_sum_while_its_workers_are_folded_away():
    rows = tree(
        session("lead", usage=Usage.of(400, output=0), cost_usd=1.0),
        session("a", created=2, parent="lead", usage=Usage.of(12, output=0), cost_usd=0.25),
        session("b", Status.DONE, created=3, parent="lead", usage=Usage.of(1, output=0), cost_usd=0.25),
    )
    assert "workers" not in shown(rows, 0)
    assert rows.fold("lead", True)
    assert "▸ lead 2 workers: 1 ● 1 ✓  413  $1.50" in shown(rows, 0)
    assert len(rows) == 1
    assert rows.fold("lead", False)
    assert "workers" not in shown(rows, 0)


def test_a_lead_shows_the_sum_where_its_workers_are_not_below_it():
    rows = tree(session("lead"), session("a", created=2, parent="lead"), grouping=Grouping.FLAT)
    assert "lead 1 worker: 1 ●" in shown(rows, 0)
    assert "worker" not in shown(rows, 1)


@pytest.mark.parametrize("width", [160, 80, 50, 30])
def test_the_row_of_a_lead_has_the_width_of_the_table(width):
    one = session("Port the tests of the whole api to pytest, one folder after the other")
    cells, _ = row_cells(one, Moment(NOW), Form(width), lead="▸ ", family=TOTAL)
    text = " ".join(text for text, _ in cells)
    assert cell_width(text) == width
    assert "Po" in text
    assert f"6{' ' if width > 100 else ''}●" in text


def test_an_outside_lead_is_a_heading_above_its_workers():
    rows = tree(
        session("stranger"),
        session("a", created=2, lead="claude:0b1c2d3e-4f5a"),
        session("b", created=3, lead="claude:0b1c2d3e-4f5a", after="stranger"),
        session("c", created=4, parent="a"),
    )
    key = outside_key("claude:0b1c2d3e-4f5a")
    assert [rows.row(at).key for at in range(len(rows))] == ["stranger", key, "a", "c", "b"]
    assert [rows.row(at).lead for at in range(len(rows))] == ["", "", "├ ▾ ", "│ └ ", "└ "]
    assert shown(rows, 1).startswith("▾ claude 0b1c2d3e (outside) 3 workers: 3 ●")
    assert rows.fold(key, True)
    assert [rows.row(at).key for at in range(len(rows))] == ["stranger", key]
    assert shown(rows, 1).startswith("▸ claude 0b1c2d3e (outside) 3 workers: 3 ●")


@pytest.mark.parametrize("width", [100, 50, 30, 12])
def test_the_heading_of_an_outside_lead_has_the_width_of_the_table(width):
    rows = tree(session("a", lead="mcp:\x1b[31m" + "x" * 200))
    cells = heading_cells(rows.row(0).heading, width, rows.sum(0))
    text = " ".join(text for text, _ in cells)
    assert cell_width(text) == width
    assert "\x1b" not in text


def test_a_linked_worker_has_a_mark_before_its_title():
    for lifecycle, sign in (("linked", "⊸ w"), ("ephemeral", "⊸ w"), ("detached", "w")):
        cells, _ = row_cells(session("w", lifecycle=lifecycle), Moment(NOW), Form(60))
        assert any(text.startswith(sign) for text, _ in cells)
