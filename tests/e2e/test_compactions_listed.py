"""The compactions that an agent reported, also those that it began by itself, in marks and show."""

import json

import jsonschema
import pytest
from places import ROOT
from verbs import verb

from agentdash.sessions.rules.launch import Start

ROW = "INSERT INTO compactions VALUES (?, 1, ?, ?, ?, ?, ?, ?)"


@pytest.fixture
def session(manager, scripted_agent):
    """A session whose only turn has two compactions, as a runner records them."""
    started = manager.spawn(Start("go", agent="scripted", options={"script": "done", "speed": 1000}))
    (ended,) = manager.wait([started.id], timeout=60)
    with manager.store.database.transaction() as db:
        db.execute(ROW, (ended.id, 1, ended.created_at, "auto", 2, 182_000, 24_000))
        db.execute(ROW, (ended.id, 2, ended.created_at, None, None, 90_000, None))
    return ended


def test_an_automatic_compaction_is_in_marks_and_show(session):
    first, second = verb("rewind", "--list", session.id).stdout.splitlines()
    assert first.startswith("turn 1: context compacted, at step 1.3, automatic, 182k → 24.0k tokens, at ")
    assert second.startswith("turn 1: context compacted, 90.0k tokens before it, at ")
    listed = json.loads(verb("rewind", "--list", session.id, "--json").stdout)
    schema = json.loads((ROOT / "docs" / "schema" / "marks.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(listed)
    one, other = listed["compactions"]
    assert listed["marks"] == []
    assert (one["turn"], one["step"], one["trigger"]) == (1, 3, "auto")
    assert (one["tokens_before"], one["tokens_after"], one["at"]) == (182_000, 24_000, session.created_at)
    assert (other["step"], other["trigger"], other["tokens_after"]) == (None, None, None)

    assert f"          {first.partition(': ')[2]}" in verb("show", session.id).stdout.splitlines()
    assert json.loads(verb("show", session.id, "--json").stdout)["compactions"] == listed["compactions"]


def test_the_lines_are_plain_in_an_ascii_terminal(session, monkeypatch):
    monkeypatch.setenv("AGENTDASH_ASCII", "1")
    assert "182k > 24.0k tokens" in verb("rewind", "--list", session.id).stdout.replace("->", ">")
