"""Many lines that are not events: both ends are shown, and the number of the others."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentdash.sessions.agents.codex import items
from agentdash.sessions.agents.parsing.json_lines import NOT_JSON
from agentdash.sessions.agents.parsing.line_parts import is_text, parts
from agentdash.sessions.agents.parsing.tolerant_decoder import TolerantDecoder
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.session import Prompt, Status, StepKind, Turn
from agentdash.sessions.storage.paths import SessionFolder
from agentdash.sessions.transcript.session_steps import SessionSteps

DECODER = TolerantDecoder(items.Event)
MESSAGE = json.dumps({"type": "item.completed", "item": {"id": "a", "type": "agent_message", "text": "done"}})


@pytest.fixture
def steps(tmp_path):
    """The steps of a turn with these lines of output."""

    def read(*lines):
        folder = SessionFolder(tmp_path / "sessions" / "one")
        folder.turns.mkdir(parents=True)
        folder.output(1).write_text("".join(f"{line}\n" for line in lines))
        facts = {"session": "one", "n": 1, "run_id": "r", "created_at": 0, "steps": 1}
        turns = [Turn(status=Status.DONE, **facts)]
        prompts = [Prompt(id=1, session="one", turn=1, text="task", state="sent", created_at=0)]
        return SessionSteps(folder, agent_named("codex"), lambda: (turns, prompts), tmp_path / "cache")

    return read


def test_a_long_run_shows_its_ends_and_the_number_of_the_rest(steps):
    found = steps(*(f"noise {n}" for n in range(5_000)), MESSAGE, *(f"more {n}" for n in range(102)))
    prompt, *run, message = list(found.every_step(brief=True))[:103]
    assert (prompt.kind, message.text) == (StepKind.PROMPT, "done")
    assert [step.text for step in run] == [
        *(f"noise {n}" for n in range(50)),
        "4,900 more lines that could not be read as events: add --full",
        *(f"noise {n}" for n in range(4_950, 5_000)),
    ]
    texts = [step.text for step in found.every_step(brief=True)][103:]
    assert (len(texts), texts[50]) == (101, "2 more lines that could not be read as events: add --full")


def test_a_short_run_has_every_line(steps):
    lines = [f"noise {n}" for n in range(101)]
    assert [step.text for step in steps(*lines).every_step(brief=True)][1:] == lines


def test_without_brief_nothing_is_left_out(steps):
    lines = [f"noise {n}" for n in range(1_000)]
    assert [step.text for step in steps(*lines).every_step()][1:] == lines


@given(
    st.one_of(
        st.binary(max_size=40),
        st.text(max_size=40).map(str.encode),
        st.text('nul trefasINy[]{}",:0 \t\x1b[', max_size=20).map(str.encode),
    )
)
@example(b"null")
@example(b"true\0")
@example(b"  Infinity ")
@example(b"noise 1 of [2]")
def test_a_line_that_is_certainly_text_is_read_as_text_the_long_way_too(line):
    if is_text(line):
        assert parts(line) == [line]
        reading = DECODER.read(line)
        assert (reading.event, reading.kind) == (None, NOT_JSON)
