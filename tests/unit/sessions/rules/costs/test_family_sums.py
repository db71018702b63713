"""The sums of families: what a lead and its workers did and used, kept as sessions change."""

import factories
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.model.session import Status, Usage
from agentdash.sessions.rules.costs.cost import Cost
from agentdash.sessions.rules.costs.family_sums import Families, FamilySum, family_of, outside_key
from agentdash.sessions.rules.costs.usage_totals import sums

OUTSIDE = "claude:0b1c2d3e"


def session(name, status=Status.DONE, created=1, **own):
    times = {"created_at": created, "started_at": created, "seen_at": created + 1, "steps": 1}
    return factories.session(name, status=status, **(times | own))


def used(tokens, cost):
    return {"usage": Usage.of(tokens, output=0), "cost_usd": cost}


def families(*sessions):
    made = Families()
    made.update(sessions)
    return made


def test_a_lead_sums_up_its_workers_and_their_workers():
    made = families(
        session("lead", Status.RUNNING, 1, **used(100, 1.0)),
        session("a", Status.RUNNING, 2, parent="lead", **used(20, 0.5)),
        session("b", Status.FAILED, 3, parent="lead", **used(3, 0.25)),
        session("c", Status.LOST, 4, parent="a", **used(7, 0.1)),
        session("stranger", Status.RUNNING, 5, **used(1000, 9.0)),
    )
    assert made.sum("lead") == FamilySum(
        workers=3, states=(("running", 1), ("failed", 2)), tokens=130, cost=Cost(reported_usd=1.85)
    )
    assert made.sum("a") == FamilySum(workers=1, states=(("failed", 1),), tokens=27, cost=Cost(reported_usd=0.6))
    assert made.sum("c") is None
    assert made.sum("stranger") is None
    assert not made.is_lead("stranger")
    assert [one.id for one in made.workers("lead")] == ["a", "b"]
    assert set(made.below("lead")) == {"a", "b", "c"}


def test_an_outside_lead_has_the_workers_that_name_it_and_theirs():
    key = outside_key(OUTSIDE)
    made = families(session("a", created=1, lead=OUTSIDE), session("b", created=2, parent="a", lead=OUTSIDE))
    assert made.sum(key).workers == 2
    assert list(made.above(session("b", created=2, parent="a"))) == ["a", key]


def test_an_unknown_cost_is_counted_as_missing_and_never_as_zero():
    made = families(
        session("lead", created=1, cost_usd=None),
        session("a", created=2, parent="lead", cost_usd=None),
    )
    assert made.sum("lead").cost == Cost(missing=2)
    made.update([session("a", created=2, parent="lead", cost_usd=0.5)])
    assert made.sum("lead").cost == Cost(reported_usd=0.5, missing=1)


def test_a_family_is_the_lead_with_all_below_it():
    listed = [session("c", created=3, parent="b"), session("b", created=2, parent="a"), session("a", created=1)]
    assert [one.id for one in family_of(listed, "b")] == ["c", "b"]
    assert family_of(listed, "nobody") == []


NAMES = [f"s{number}" for number in range(6)]
STATES = st.sampled_from(list(Status))
SESSIONS = st.builds(
    lambda name, status, created, parent, lead, tokens, cost, about: session(
        name, status, created, parent=parent, lead=lead, cost_usd=cost, cost_about_usd=about,
        usage=Usage() if tokens is None else Usage.of(tokens, output=0),
    ),
    st.sampled_from(NAMES), STATES, st.integers(0, 4), st.sampled_from([None, *NAMES, "unknown"]),
    st.sampled_from([None, OUTSIDE]), st.none() | st.integers(0, 9),
    st.none() | st.sampled_from([0.0, 0.25, 1.5]), st.none() | st.sampled_from([0.5]),
)  # fmt: skip
EVENTS = st.lists(SESSIONS | st.sampled_from(NAMES), max_size=30)


@given(EVENTS)
def test_sums_equal_a_recount_after_any_changes(events):
    """Leads come after their workers, go before them, change, and name each other."""
    kept, there = Families(), {}
    for event in events:
        if isinstance(event, str):
            kept.update((), [event])
            there.pop(event, None)
        else:
            kept.update([event])
            there[event.id] = event
    for key in [*NAMES, outside_key(OUTSIDE)]:
        below = [there[one] for one in _recounted(there, key)]
        found = kept.sum(key)
        assert (found.workers if found else 0) == len(below)
        if found is None:
            continue
        total = sums([*below, there[key]] if key in there else below)
        assert (found.tokens, found.tokens_missing, found.cost) == (total.tokens, total.tokens_missing, total.cost)
        assert sum(number for _, number in found.states) == len(below)


def _recounted(there, key):
    """Every session whose leads, one after the other, come to ``key``."""
    found = []
    for one in there.values():
        here = one
        while here is not None:
            parent = there.get(here.parent) if here.parent else None
            if here.parent is None:
                found += [one.id] if here.lead and outside_key(here.lead) == key else []
                break
            if parent is None or parent.created_at >= here.created_at:
                break
            if parent.id == key:
                found.append(one.id)
                break
            here = parent
    return found


def test_a_lead_that_goes_and_comes_back_has_the_same_sum():
    lead, root = session("lead", created=2, parent="root"), session("root", created=1)
    made = families(root, lead, session("a", created=3, parent="lead"))
    before = made.sum("lead"), made.sum("root")
    made.update((), ["lead"])
    assert (made.sum("lead"), made.sum("root")) == (None, None)
    assert not made.is_lead("lead")
    made.update([lead])
    assert (made.sum("lead"), made.sum("root")) == before
