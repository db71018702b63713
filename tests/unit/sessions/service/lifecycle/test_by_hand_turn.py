"""A turn by hand: what a transcript gained while the agent's own interface was open."""

import json

import pytest
from recorded_sessions import lines, record, said

from agentdash.sessions.model.session import StepKind, TakenBy
from agentdash.sessions.model.taken_by import Talk
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.service.lifecycle.by_hand_turn import record_by_hand
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.storage.turns.takeovers import Takeovers

CONVERSATION = "11111111-2222-4333-8444-555555555555"


@pytest.fixture
def manager():
    with SessionManager() as made:
        yield made


def line(number, kind, content, **more):
    """A line of claude's transcript with an id of its own."""
    message = {"role": kind, "id": f"m{number}", "model": "claude-opus-4-8", "content": content}
    uuid = f"00000000-0000-4000-8000-{number:012}"
    return {"type": kind, "uuid": uuid, "sessionId": CONVERSATION, "message": message, **more}


def written(*events):
    return "".join(json.dumps(event) + "\n" for event in events)


def take(manager, session, transcript):
    """Record that the user opened claude's own interface."""
    taken = TakenBy(
        host="here", user="user", since=5, pid=1, start=1, boot_id=processes.boot_id(),
        pid_ns=processes.pid_namespace(), run_id="by-hand", turn=session.turn, argv=("claude", "--resume"),
        talks=(Talk(conversation=CONVERSATION, path=str(transcript), begin=transcript.stat().st_size),),
    )  # fmt: skip
    assert Takeovers(manager.store).take(session.id, taken)
    return taken


@pytest.mark.parametrize("more", [{}, {"version": "2.1.332", "gitBranch": "work"}])
def test_an_old_prompt_that_is_written_again_is_not_said_again(manager, tmp_path, more):
    session = record(manager, [("one", lines(said("one")))], agent="claude", agent_session=CONVERSATION)
    old = [line(1, "user", "one"), line(2, "assistant", "said one")]
    transcript = tmp_path / "transcript.jsonl"
    transcript.write_text(written(*old))
    taken = take(manager, session, transcript)
    again = [event | more for event in old]
    with transcript.open("a") as file:
        file.write(written(*again, line(3, "user", "two"), line(4, "assistant", "said two"), *again))
    done = record_by_hand(manager.layout, manager.store, session, taken, 0)
    assert (done.turn, done.prompts) == (2, 1)
    messages = [(str(step.kind), step.text) for step in manager.reader.steps.messages(session.id) if step.turn == 2]
    assert messages == [(str(StepKind.PROMPT), "two"), (str(StepKind.MESSAGE), "said two")]


def test_an_interface_that_only_writes_again_has_no_turn(manager, tmp_path):
    session = record(manager, [("one", lines(said("one")))], agent="claude", agent_session=CONVERSATION)
    old = [line(1, "user", "one"), line(2, "assistant", "said one")]
    transcript = tmp_path / "transcript.jsonl"
    transcript.write_text(written(*old))
    taken = take(manager, session, transcript)
    with transcript.open("a") as file:
        file.write(written(*old))
    done = record_by_hand(manager.layout, manager.store, session, taken, 0)
    assert (done.turn, done.prompts, done.reason) == (None, 0, None)
    assert manager.reader.get(session.id).turn == 1
