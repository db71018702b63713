"""A runner's record of a turn that is a part of a stream: it has the facts of its own part alone."""

import json
import os
from pathlib import Path

import live_rows
import pytest
from factories import add_turn, no_prompts

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.runner.child import AgentChild
from agentdash.sessions.runner.live.agent import LiveAgent
from agentdash.sessions.runner.live.channel import Channel, make_fifo
from agentdash.sessions.runner.live.run import LiveRun
from agentdash.sessions.runner.recorder import Recorder
from agentdash.sessions.runner.turn_end import Ending
from agentdash.sessions.service.lifecycle.recovery.reconcile import read_facts
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.claim import Outcome, Owner
from agentdash.sessions.storage.turns.turn_log import TurnLog
from agentdash.sessions.storage.turns.turn_output import output_in
from scripted.dialogue import ScriptedDialogue

SESSION = "0123456789abcdef"
FIRST = (
    b'{"type":"thread.started","thread_id":"t-1"}\n'
    b'{"type":"item.completed","item":{"id":"i0","type":"agent_message","text":"The first."}}\n'
    b'{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":0,"output_tokens":10}}\n'
)
SECOND = b'{"type":"item.completed","item":{"id":"i1","type":"agent_message","text":"The second."}}\n'
FAILED = b'{"type":"turn.failed","error":{"message":"no more tokens"}}\n'


def test_an_adopted_turn_of_a_stream_is_concluded_by_its_own_part(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "state")
    layout.create()
    folder = layout.session(SESSION)
    folder.create()
    store, launch = Store(layout.database), Launch(argv=("codex",))
    owner = Owner(pid=1, start=2, boot_id="b", pid_ns="n")
    store.create(Start("t", agent="codex", title="t", cwd="/", session_id=SESSION), launch, "r-1", host="h")
    first = TurnLog(store, SESSION, 1, owner)
    first.claim()
    first.end(Facts(end="completed"), Outcome(status=Status.DONE, reason=None), 3, no_prompts)
    add_turn(store, SESSION, 1, "more", launch)
    with store.database.transaction() as db:
        place = (len(FIRST), len(b"a warning\n"), SESSION)
        db.execute(
            "UPDATE turns SET stream = 1, begin_byte = ?, begin_error_byte = ? WHERE session = ? AND n = 2", place
        )
    folder.output(1).write_bytes(FIRST + SECOND)
    folder.errors(1).write_bytes(b"a warning\n")
    os.link(folder.output(1), layout.live_name(SESSION, 1))
    log = TurnLog(store, SESSION, 2, owner)
    log.claim()
    log.running(10, 11)

    output = output_in(folder, store.turns(SESSION, 2), 2)
    recorder = Recorder(layout, SESSION, 2, store, log, output=output)
    recorder.begin(agent_named("codex"), launch, lambda: None, now_ms(), adopted_after_s=1.0)  # type: ignore[arg-type, return-value]
    recorder.follow()
    session = store.session(SESSION)
    assert session is not None
    assert (session.status, session.last_message) == (Status.RUNNING, "The second.")
    with folder.output(1).open("ab") as file:
        file.write(FAILED)
    recorder.follow()
    child = AgentChild()
    child.adopt(None)
    recorder.conclude(Ending(child=child, stopped_by=None, lingered=False, left=()))

    turns = store.turns(SESSION)
    assert [(turn.status, turn.steps, turn.thread_usage.known) for turn in turns] == [
        (Status.DONE, 3, False),
        (Status.FAILED, 2, False),
    ]
    assert turns[1].error == "no more tokens"
    assert (turns[1].stream, turns[1].begin_byte, turns[1].end_byte) == (1, len(FIRST), None)
    assert list(layout.live.iterdir()) == []
    store.close()


@pytest.mark.parametrize("seen", [True, False], ids=["end-seen", "end-unseen"])
@pytest.mark.parametrize(
    ("end", "stopped_by", "expected"),
    [
        ("interrupted", "you", Status.STOPPED),
        ("completed", None, Status.DONE),
        ("failed", None, Status.FAILED),
    ],
)
def test_what_an_agent_prints_behind_the_end_of_its_last_turn_changes_nothing_about_that_end(
    layout: Layout, store: Store, end: str, stopped_by: str | None, expected: Status, seen: bool
) -> None:
    """It ends the turn, begins the next one, and is gone before a runner has seen that."""
    child = AgentChild()
    child.gone = False
    make_fifo(layout.session(live_rows.SESSION).stdin)
    channel = Channel(layout.session(live_rows.SESSION).stdin)
    agent = LiveAgent(child, channel, ScriptedDialogue(), launch=live_rows.LAUNCH, stream=1)
    run = LiveRun(layout, store, live_rows.SESSION, 1, agent)
    log = TurnLog(store, live_rows.SESSION, 1, live_rows.OWNER)
    claim = log.adopt()
    assert claim is not None
    recorder = Recorder(layout, live_rows.SESSION, 1, store, log)
    output = run.converse(claim, recorder)
    assert output is not None
    recorder.begin(agent_named("scripted"), claim.launch, lambda: None, now_ms())  # type: ignore[arg-type, return-value]
    ended = {"type": "turn_ended", "status": end}
    more = {"type": "message", "text": "I begin with the next one."}
    lines = [live_rows.READY, live_rows.BEGAN, ended, live_rows.BEGAN | {"key": ""}, more, more]
    output.stdout.path.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    if seen:
        recorder.follow()
        assert run.over
    child.gone = True
    run.end(recorder, output)
    recorder.conclude(Ending(child=child, stopped_by=stopped_by, lingered=False, left=(), goes_on=run.goes_on))
    turn = store.one_turn(live_rows.SESSION, 1)
    assert turn is not None
    assert (turn.status, turn.end_byte) == (expected, None)
    assert turn.steps == read_facts(layout, store, turn)[1]


def test_what_an_agent_printed_before_another_process_took_its_place_belongs_to_its_last_turn(
    layout: Layout, store: Store
) -> None:
    """The agent was interrupted before it printed anything, and was gone when the next turn began."""
    folder = layout.session(live_rows.SESSION)
    stopped = Outcome(status=Status.STOPPED, reason=None, end_byte=0, warm=True)
    TurnLog(store, live_rows.SESSION, 1, live_rows.OWNER).end(Facts(), stopped, 0, no_prompts)
    said = {"type": "message", "text": "I was not asked."}
    folder.output(1).write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in (live_rows.READY, said)))
    add_turn(store, live_rows.SESSION, 1, "more", live_rows.LAUNCH)
    log = TurnLog(store, live_rows.SESSION, 2, live_rows.OWNER)
    assert log.claim() is not None
    LiveRun(layout, store, live_rows.SESSION, 2, None).count_rest()

    first = store.one_turn(live_rows.SESSION, 1)
    assert first is not None
    assert (first.status, first.end_byte) == (Status.STOPPED, None)
    assert first.steps == read_facts(layout, store, first)[1] == 1
