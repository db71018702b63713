"""Whatever an agent prints, what is written down about it is harmless: exports, JSON, digests, copied pieces."""

import json

import pytest
from every_kind import session

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.rules.digest.collect import digest, digest_lines
from agentdash.sessions.rules.json_schema import dump, step_json
from agentdash.sessions.service.changes.from_steps import collect
from agentdash.sessions.transcript.export.formats import FORMATS
from agentdash.tui.panes.steps.step_actions import pieces
from hostile import big, make, streams
from hostile.checks import forbidden, parsed
from hostile.matrix import BIG_FILES, EVERY
from hostile.texts import TEXTS

pytestmark = pytest.mark.usefixtures("scripted_agent")


def check_documents(steps):
    """All documents about some steps."""
    for found in FORMATS:
        text = "".join(found.write(session(), steps))
        if found.name == "json":
            assert len(json.loads(text)["steps"]) == len(steps)
            assert not [char for char in set(text) - {"\n"} if ord(char) < 32 or 127 <= ord(char) < 160]
        else:
            assert forbidden(text, allowed="\n\t") == set(), found.name
    assert forbidden("".join(digest_lines(digest(steps, "/home/ann/code/api")))) == set()
    assert collect(steps, "/home/ann/code/api")
    assert all(piece.key.isalpha() for step in steps for piece in pieces(step))


def test_documents_about_a_hostile_file_are_harmless():
    for path, agent in EVERY:
        check_documents(parsed(path, agent_named(agent)))


@pytest.mark.parametrize("agent", streams.EVENTS)
def test_documents_hold_values_of_every_type(agent, tmp_path):
    path = tmp_path / "turn_1.jsonl"
    path.write_bytes(streams.misshapen(agent))
    check_documents(parsed(path, agent_named(agent)))


@pytest.mark.torture
@pytest.mark.parametrize("big_file", BIG_FILES)
def test_documents_about_a_big_file_are_harmless(big_file, tmp_path):
    path = big.write(tmp_path / "turn_1.jsonl", big.FILES[big_file]())
    check_documents(parsed(path, agent_named("codex"))[:8])


def test_json_says_the_same_with_its_controls_escaped():
    for text, held in TEXTS.items():
        step = parsed(make.FILES / f"scripted-{text}.jsonl", agent_named("scripted"))[2]
        data = dump(step_json(step))
        assert json.loads(data) == step_json(step), text
        assert json.loads(data)["text"] == held, text
        assert data.count(b"\n") == 1, text
