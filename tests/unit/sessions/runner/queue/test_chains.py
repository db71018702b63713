"""Sessions that wait for others, on a store without processes: each is started once, whatever happens meanwhile."""

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from factories import no_prompts, request

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.errors import SessionBusyError, UnknownSessionError, UsageError
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.runner.queue import chains
from agentdash.sessions.runner.queue.chains import release, serve_chains
from agentdash.sessions.service.lifecycle.recovery.rebuild import rebuild
from agentdash.sessions.service.lifecycle.starts.launch_plan import build_launch
from agentdash.sessions.settings.config import Config
from agentdash.sessions.storage.files.session_record import write_identity
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.prompts.prompt_history import past_prompts
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.claim import Outcome, Owner
from agentdash.sessions.storage.turns.turn_log import TurnLog

OWNER = Owner(pid=1, start=2, boot_id="boot", pid_ns="ns")
A, B, C = ("a1b2c3d4-0000-4000-8000-00000000000" + n for n in "123")
ANSWER = "the answer " + "of A " * 20_000 + "in full " * 20_000
LINES = [
    {"type": "thread.started", "thread_id": "t"},
    {"type": "item.completed", "item": {"id": "0", "type": "agent_message", "text": "first words"}},
    {"type": "item.completed", "item": {"id": "1", "type": "agent_message", "text": ANSWER}},
    {"type": "turn.completed", "usage": {"input_tokens": 1, "cached_input_tokens": 0, "output_tokens": 1}},
]


@pytest.fixture
def layout(tmp_path):
    layout = Layout(tmp_path / "home")
    layout.create()
    return layout


@pytest.fixture
def store(layout):
    store = Store(layout.database)
    yield store
    store.close()


def create(layout, store, name, prompt="go on", *, after="", **options):
    layout.session(name).create()
    start = Start(
        prompt, agent="codex", title=f"title {name[-1]}", cwd="/usr", session_id=name, after=after,
        options={"live": False, **options},
    )  # fmt: skip
    launch = build_launch(Config(), start)
    store.create(start, launch, f"run {name}", host="h")


def end(layout, store, status=Status.DONE, *, name=A, n=1, lines=LINES):
    log = TurnLog(store, name, n, OWNER)
    assert log.claim() is not None
    log.running(10, 11)
    layout.session(name).output(n).write_text("".join(json.dumps(line) + "\n" for line in lines))
    facts = Facts(end="completed", last_message=ANSWER)
    assert log.end(facts, Outcome(status=status, reason=None), steps=2, build=lambda *_: store.launch(name, 1))


def places(store):
    return [name for name, _ in store.take_places("h").taken]


def test_a_session_that_waits_is_queued_and_takes_no_place(layout, store):
    store.keep({"max_running": 1})
    create(layout, store, A)
    create(layout, store, B, after=A)
    serve_chains(layout, store)
    assert places(store) == [A]
    session = store.session(B)
    assert (session.status, session.after, session.blocked) == (Status.QUEUED, A, False)
    assert session.reason == "after a1b2c3d4 (title 1)"
    create(layout, store, C)
    assert places(store) == []
    end(layout, store)
    assert places(store) == [C]  # a session that waits is not in front of it


def test_the_good_end_starts_it_with_the_whole_answer_and_the_settings_of_its_request(layout, store):
    create(layout, store, A)
    create(layout, store, B, "Fix it", after=A, sandbox="read-only")
    before = store.launch(B, 1)
    end(layout, store)
    serve_chains(layout, store)
    session, launch = store.session(B), store.launch(B, 1)
    assert (session.after, session.followed, session.reason, session.task) == (None, A, None, "Fix it")
    assert len(store.session(A).last_message) < len(ANSWER)
    assert ANSWER in launch.stdin
    assert [(one.text, one.state) for one in store.prompts(B)] == [(launch.stdin, "queued")]
    assert launch.argv == before.argv
    assert "read-only" in str(launch.argv)
    assert launch.mode == before.mode
    assert places(store) == [B]


def test_prompts_that_are_left_to_send_come_first(layout, store):
    create(layout, store, A)
    create(layout, store, B, after=A)
    store.queue.add(request(A, "one more thing"), no_prompts)
    end(layout, store)
    serve_chains(layout, store)
    assert store.session(B).after == A
    end(layout, store, n=2)
    serve_chains(layout, store)
    assert store.session(B).followed == A


@pytest.mark.parametrize("status", [Status.FAILED, Status.STOPPED, Status.LOST])
def test_another_end_blocks_it_until_the_other_one_is_done(layout, store, status):
    create(layout, store, A)
    create(layout, store, B, after=A)
    create(layout, store, C, after=B)
    end(layout, store, status)
    serve_chains(layout, store)
    blocked = store.session(B)
    assert (blocked.status, blocked.blocked, blocked.after) == (Status.QUEUED, True, A)
    assert "agentdash start a1b2c3d4" in blocked.reason
    assert not store.session(C).blocked  # what it waits for can still begin
    assert places(store) == []
    store.queue.add(request(A, "again"), lambda *_: store.launch(A, 1))
    serve_chains(layout, store)
    assert (store.session(B).blocked, store.session(B).reason) == (False, "after a1b2c3d4 (title 1)")
    end(layout, store, n=2)
    serve_chains(layout, store)
    assert store.session(B).followed == A


def test_a_deleted_one_blocks_it_and_no_place_is_lost(layout, store):
    create(layout, store, A)
    create(layout, store, B, after=A)
    end(layout, store, Status.FAILED)
    assert store.delete(A, 1)
    serve_chains(layout, store)
    assert store.session(B).reason == "a1b2c3d4 was deleted: waits; restore it, or: agentdash start a1b2c3d4"
    waiting = store.chains.one(B)
    assert release(layout, store, waiting, None)
    assert store.launch(B, 1).stdin == "go on"


def test_an_answer_that_cannot_be_read_blocks_it_with_the_reason(layout, store, monkeypatch):
    create(layout, store, A)
    create(layout, store, B, after=A)
    create(layout, store, C, after=A)
    end(layout, store)

    def torn(*_):
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(chains, "last_message", torn)
        serve_chains(layout, store)
    assert all(store.session(name).blocked for name in (B, C))
    assert "Input/output error" in store.session(B).reason
    serve_chains(layout, store)
    assert all(store.session(name).followed == A for name in (B, C))


def test_an_agent_that_said_nothing_is_named_so(layout, store):
    create(layout, store, A)
    create(layout, store, B, "Fix {answer}.", after=A)
    create(layout, store, C, "Fix it.", after=A)
    end(layout, store, lines=[LINES[0], LINES[3]])
    serve_chains(layout, store)
    assert store.launch(B, 1).stdin == "Fix (no answer)."
    assert store.launch(C, 1).stdin.endswith("````text\n(no answer)\n````")


def test_a_cancelled_one_is_never_started_and_keeps_its_prompt_for_a_retry(layout, store):
    create(layout, store, A)
    create(layout, store, B, "Fix {answer}.", after=A)
    create(layout, store, C, after=B)
    assert store.cancel_queued(B, 1, Status.STOPPED, "stopped by you", "rule", by="you")
    end(layout, store)
    serve_chains(layout, store)
    session = store.session(B)
    assert (session.status, session.after, session.reason) == (Status.STOPPED, None, "stopped by you")
    assert [(one.text, one.state) for one in store.prompts(B)] == [("Fix (no answer).", "unsent")]
    assert "a1b2c3d4 was stopped" in store.session(C).reason


def test_no_circle_can_be_made(layout, store):
    create(layout, store, A)
    create(layout, store, B, after=A)
    create(layout, store, C, after=B)
    with pytest.raises(UsageError, match="itself"):
        store.chains.wait_for(B, B)
    with pytest.raises(UsageError, match="waits for it"):
        store.chains.wait_for(B, C)
    with pytest.raises(UnknownSessionError):
        store.chains.wait_for(B, "gone")
    other = "c1b2c3d4-0000-4000-8000-000000000000"
    create(layout, store, other)
    with pytest.raises(SessionBusyError):
        store.chains.wait_for(A, other)
    store.chains.wait_for(C, A)
    assert store.session(C).after == A


def test_what_was_read_before_a_change_starts_nothing(layout, store):
    create(layout, store, A)
    create(layout, store, B, after=A)
    end(layout, store)
    waiting = store.chains.one(B)
    store.queue.add(request(A, "wait, one more"), lambda *_: store.launch(A, 1))
    assert not release(layout, store, waiting, "the old answer")
    assert store.session(B).after == A
    assert store.prompts(B) == []


def test_of_many_that_serve_at_once_one_starts_it(layout, store):
    names = [f"{n:08}-0000-4000-8000-000000000000" for n in range(12)]
    create(layout, store, A)
    for name in names:
        create(layout, store, name, after=A)
    end(layout, store)
    stores = [Store(layout.database) for _ in range(6)]
    with ThreadPoolExecutor(len(stores)) as pool:
        list(pool.map(lambda one: serve_chains(layout, one), stores))
    assert [len(store.prompts(name)) for name in names] == [1] * len(names)
    assert sorted(places(store)) == names
    assert places(store) == []
    for one in stores:
        one.close()


KILLED = """
import os, signal, sys
from pathlib import Path
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store
from agentdash.sessions.runner.queue import chains
layout = Layout(Path(sys.argv[1]))
store = Store(layout.database)
def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[2] == "before":
    store.chains.start = die
else:
    chains.write_identity = die
chains.serve_chains(layout, store)
"""


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_process_that_is_killed_on_the_way_loses_and_doubles_nothing(layout, store, moment):
    create(layout, store, A)
    create(layout, store, B, after=A)
    end(layout, store)
    killed = subprocess.run([sys.executable, "-c", KILLED, str(layout.home), moment], check=False, env=os.environ)
    assert killed.returncode == -signal.SIGKILL
    assert (store.session(B).after is None) == (moment == "after")
    serve_chains(layout, store)
    assert len(store.prompts(B)) == 1
    assert places(store) == [B]


def test_it_still_waits_after_the_database_was_lost(layout, store):
    create(layout, store, A)
    create(layout, store, B, "Fix it", after=A)
    end(layout, store, Status.FAILED)
    serve_chains(layout, store)
    for name in (A, B):
        write_identity(store, layout.session(name))
    store.close()
    for path in layout.home.glob("agentdash.db*"):
        path.unlink()
    assert set(rebuild(layout).restored) == {A, B}
    session = store.session(B)
    assert (session.status, session.after, session.blocked) == (Status.QUEUED, A, True)
    assert store.prompts(B) == []
    assert places(store) == []


def test_the_history_of_prompts_has_the_users_words_and_not_the_answer(layout, store):
    create(layout, store, A, "Review it")
    create(layout, store, B, "Fix it", after=A)
    end(layout, store)
    serve_chains(layout, store)
    assert [prompt.text for prompt in past_prompts(store.database, ["command"])] == ["Fix it", "Review it"]


def test_a_live_agent_gets_the_answer_too(layout, store):
    create(layout, store, A)
    create(layout, store, B, "Fix it", after=A, live=True)
    end(layout, store)
    serve_chains(layout, store)
    launch = store.launch(B, 1)
    assert launch.transport
    assert launch.plain_argv
    assert agent_named("codex").dialogue(launch.transport, launch.opening) is not None
    assert ANSWER in store.prompts(B)[0].text
