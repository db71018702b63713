"""What the command line prints about families, from sessions in memory."""

from types import SimpleNamespace

import factories
import pytest

from agentdash.sessions.model.session import Status, StepKind, Usage
from agentdash.sessions.rules.conversation.shown import none_cut
from agentdash.tui.cli.commands.reading.listing import with_sums
from agentdash.tui.cli.commands.reading.steps import steps_with_workers
from agentdash.tui.render.sessions.family_tree import tree_text, whole_families
from agentdash.tui.render.style import Style

NOW = factories.T0


def session(name, created, status=Status.RUNNING, **own):
    facts = {"title": name, "created_at": NOW + created, "updated_at": NOW + created, "started_at": NOW + created}
    return factories.session(name, status=status, steps=1, **(facts | own))


FAMILY = [
    session("outside1", 6, lead="codex:0199aaaa-bbbb", cost_usd=0.5, usage=Usage.of(500, output=0)),
    session("stranger", 5),
    session("worker02", 4, Status.FAILED, parent="worker01", exit_code=1),
    session("worker01", 3, Status.DONE, parent="lead0001", lifecycle="linked", cost_usd=0.25),
    session("lead0001", 2, cost_usd=1.0, usage=Usage.of(1000, output=0)),
]


@pytest.mark.parametrize("width", [160, 80, 50])
def test_the_tree_has_workers_below_their_leads_and_the_sums(width):
    lines = tree_text(FAMILY, Style(width=width, now=NOW + 10))
    text = "\n".join(lines)
    assert all(len(line) <= width for line in lines)
    order = [next(n for n, line in enumerate(lines) if name in line) for name in ("lead0001", "worker01", "worker02")]
    assert order == sorted(order)
    assert lines[order[0] + 1].strip() == "↳ 2 workers: 1 ✓ 1 ✗  ≥1.0k  ≥$1.25"
    assert "└ ⊸ worker01" in lines[order[1]]
    assert f"codex 0199aaaa (outside)  1 worker: 1 ●{'  500' if width > 50 else ''}  $0.50" in text
    assert "$0.00" not in text


def test_a_session_is_listed_with_its_whole_family():
    assert [one.id for one in whole_families([FAMILY[2]], FAMILY)] == ["worker02", "worker01", "lead0001"]
    assert whole_families([FAMILY[1]], FAMILY) == [FAMILY[1]]
    assert whole_families([FAMILY[0]], FAMILY) == [FAMILY[0]]


def test_the_sums_are_facts_of_the_leads():
    found = {one["id"]: one["family"] for one in with_sums(FAMILY, FAMILY)}
    assert found["stranger"] is None
    assert found["lead0001"]["states"] == {"done": 1, "failed": 1}
    assert found["lead0001"]["cost"] == {"reported_usd": 1.25, "computed_usd": None, "missing": 1}


def test_a_step_names_the_workers_that_it_started():
    steps = [
        factories.step(1, StepKind.COMMAND, command="agentdash spawn x", output="worker01"),
        factories.step(2, StepKind.COMMAND, command="ls", output="worker01"),
    ]
    reader = SimpleNamespace(descendants=lambda _: [FAMILY[3], FAMILY[2]])
    first, second = steps_with_workers(reader, FAMILY[4], steps, is_cut=none_cut)
    assert first["workers"] == ["worker01"]
    assert "workers" not in second
