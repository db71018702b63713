"""The advice to compact: in the headline, in ``explain``, and nowhere below the threshold."""

from contextlib import closing

import pytest
from factories import session

from agentdash.sessions.rules.limits.admission import FamilyLimits
from agentdash.sessions.service.lifecycle.explain import explain
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store
from agentdash.tui.texts.context_texts import context_forms

ID = "5e0f1f3c-6a3e-4d0e-9d47-1f0a7f2d9c11"


@pytest.mark.parametrize(
    ("used", "window", "forms"),
    [
        (159_000, 200_000, ("context 80% of 200k", "context 80%")),
        (160_000, 200_000, ("context 80% of 200k: agentdash compact 5e0f1f3c", "context 80%: compact", "context 80%")),
        (160_000, None, ("",)),
        (None, 200_000, ("",)),
    ],
)
def test_a_full_context_names_the_verb_in_the_headline_and_in_explain(tmp_path, used, window, forms):
    one = session(ID, context_tokens=used, context_window=window)
    assert context_forms(one) == forms
    layout = Layout(tmp_path)
    layout.create()
    with closing(Store(layout.database)) as store:
        facts = explain(layout, store, one, [], lambda _: FamilyLimits()).facts
    stated = [fact.value for fact in facts if fact.name == "context"]
    advised = any("agentdash compact 5e0f1f3c" in value for value in stated)
    assert (bool(stated), advised) == (used is not None, used == 160_000 and window is not None)
