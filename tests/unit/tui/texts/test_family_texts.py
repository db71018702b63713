"""The words about leads and workers."""

import factories
import pytest

from agentdash.sessions.model.session import Budget, Status
from agentdash.sessions.rules.family_facts import family_words
from agentdash.sessions.service.lifecycle.stop_family import StopPreview, ends_too
from agentdash.tui.texts.family_texts import stop_effect


def worker(name, created, parent="lead", lifecycle="linked", status=Status.RUNNING):
    facts = {"parent": parent, "created_at": factories.T0 + created, "lifecycle": lifecycle, "status": status}
    return factories.session(name, **facts)


LEAD = factories.session("lead")


def test_a_stop_ends_the_linked_workers_down_to_the_first_detached_one():
    family = [
        worker("c", 3, parent="b"),
        worker("e", 5, parent="d"),
        worker("a", 1),
        worker("b", 2, lifecycle="ephemeral"),
        worker("d", 4, lifecycle="detached"),
        worker("f", 6, status=Status.DONE),
    ]
    ending, going_on = ends_too(family, LEAD)
    assert {one.id for one in ending} == {"a", "b", "c"}
    assert {one.id for one in going_on} == {"d", "e"}
    assert stop_effect(StopPreview(ending=ending, going_on=going_on)).splitlines() == [
        "Also ends 3 workers (2 linked, 1 ephemeral).",
        "2 sessions started by it keep running.",
    ]
    assert stop_effect(StopPreview()) == ""
    assert stop_effect(StopPreview(ending=[worker("a", 1)])) == "Also ends 1 linked worker."


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({}, []),
        ({"parent": "1a2b3c4d-5e6f", "depth": 2}, ["worker of 1a2b3c4d, detached, depth 2"]),
        ({"lead": "mcp:0b1c2d3e-4f", "lifecycle": "linked"}, ["worker of mcp 0b1c2d3e, linked"]),
        ({"budget": Budget(cost_usd=2.0, tokens=412_000)}, ["budget $2.00, 412k tok"]),
        ({"budget": Budget()}, []),
    ],
)
def test_the_place_of_a_session_in_its_family(facts, words):
    assert family_words(factories.session("s", **facts)) == words
