"""The audit finds what it looks for in live sessions: each fault, made by hand, is reported."""

import fcntl
import json
import os
import subprocess
import sys

import pytest

from agentdash.sessions.rules.asks.model import Answer, Verdict
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.lifecycle.stop_family import NOW
from agentdash.sessions.service.prompts.prompter import PromptOptions
from scripted.registration import registered
from torture import book as world
from torture import lines
from torture.book import Book
from torture.report import RunnerKill
from torture.stream import began_by_itself, read_stream
from torture.workbench import Workbench
from torture.workshop import Workshop

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the harness finds processes in /proc"),
    pytest.mark.usefixtures("scripted_agent"),
]

ALLOWED, DENIED, STEERED = (f"torture-00000000000{digit}" for digit in "abc")
ANSWERS = {1: Verdict.ALLOW, 2: Verdict.DENY}


@pytest.fixture(scope="module")
def made(tmp_path_factory, wait_until):
    """The folder of one live session: it was allowed a command, then denied one, and got a prompt on its way."""
    folder = tmp_path_factory.mktemp("made")
    shop, patch = Workshop(folder, 1), pytest.MonkeyPatch()
    for name in ("AGENTDASH_SESSION_ID", "AGENTDASH_RUN_ID", "AGENTDASH_RUNNER"):
        patch.delenv(name, raising=False)
    patch.setenv("PATH", shop.env["PATH"])
    shop.config.write_text("")
    with registered(), shop.manager() as manager:
        start = Start(
            f"[[script:ask]] {ALLOWED}", agent="scripted", cwd=str(shop.project), options={"live": True, "speed": 50}
        )
        live = manager.spawn(start)
        asked = wait_until(manager.reader.asks, what="an ask")[0]
        manager.prompts.inject(live.id, STEERED)
        answered(manager, asked, Verdict.ALLOW)
        manager.wait([live.id], timeout=60)
        manager.prompts.inject(live.id, f"[[script:ask]] {DENIED}", PromptOptions(steer=False))
        answered(manager, wait_until(manager.reader.asks, what="an ask")[0], Verdict.DENY)
        manager.wait([live.id], timeout=60)
        manager.stop(live.id, NOW)
        wait_until(lambda: not world.runners(shop.home), what="the runner to leave")
    patch.undo()
    return shop, live


def answered(manager, asked, verdict):
    manager.asks.answer(asked.id, Answer(verdict=verdict))


@pytest.fixture
def bench(made, tmp_path):
    shop, live = made
    for name in ("state", "book.jsonl"):
        subprocess.run(["cp", "-a", str(shop.folder / name), str(tmp_path)], check=True)
    bench = Workbench(tmp_path / "state", Book(tmp_path / "book.jsonl"))
    bench.scripted = live
    bench.accepted("spawn", ALLOWED, live.id, 1)
    bench.accepted("inject", STEERED, live.id, 1)
    bench.accepted("inject", DENIED, live.id, 2)
    for ask, verdict in ANSWERS.items():
        for state in ("try", "ok"):
            bench.journal.append(answer_line(bench, ask, verdict, state))
    return bench


def answer_line(bench, ask, verdict, state):
    return {
        "who": "t",
        "op": "answer",
        "state": state,
        "session": bench.scripted.id,
        "ask": ask,
        "verdict": str(verdict),
    }


def edit(bench, change):
    """Replace the events of the output by those that a function returns for each."""
    events = [json.loads(line) for line in bench.output.read_bytes().splitlines()]
    changed = [new for event in events for new in change(event)]
    bench.output.write_bytes(b"".join(json.dumps(event).encode() + b"\n" for event in changed))


def twice(**wanted):
    return lambda event: [event] * (1 + (wanted.items() <= event.items()))


def without(**wanted):
    return lambda event: [] if wanted.items() <= event.items() else [event]


def test_a_sound_live_session_has_no_findings(bench):
    report = bench.report()
    assert report.findings == []
    assert report.counts["live turns"] >= 2
    assert (report.counts["asks"], report.counts["ask settled"]) == (2, 2)
    assert report.counts["answers accepted"] == 2
    assert report.counts["allowed commands run"] == 1
    assert report.counts["prompts delivered"] == 3


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ("UPDATE asks SET state = 'open' WHERE id = 1", "asks open"),
        ("UPDATE asks SET state = 'answered' WHERE id = 1", "asks open"),
        ("UPDATE asks SET state = 'sent' WHERE id = 1", "asks open"),
        ("UPDATE asks SET settled_at = NULL WHERE id = 1", "asks open"),
        ("UPDATE sessions SET asking = 1", "asks open"),
        ("DELETE FROM asks WHERE id = 1", "asks lost"),
        ("UPDATE asks SET stream = 7 WHERE id = 1", "asks lost"),
        ("UPDATE asks SET key = 'ask_7' WHERE id = 1", "asks lost"),
        ("UPDATE asks SET answer = json_set(answer, '$.verdict', 'deny') WHERE id = 1", "wrong answers"),
        ("UPDATE asks SET answer = NULL, answered_at = NULL WHERE id = 1", "wrong answers"),
        ("UPDATE asks SET answered_at = NULL WHERE id = 1", "wrong answers"),
        ("UPDATE sessions SET warm_since = 1", "warm and dead"),
        ("UPDATE queue SET state = 'sending' WHERE state = 'seen' OR id = 1", "prompts lost"),
        ("UPDATE queue SET state = 'sent' WHERE state = 'seen' OR id = 1", "prompts lost"),
        ("UPDATE prompts SET state = 'unsent' WHERE turn = 1", "prompts doubled"),
        ("UPDATE turns SET status = 'failed', signal = 'SIGKILL', end = NULL WHERE n = 1", "unjustified"),
        ("UPDATE turns SET status = 'stopped' WHERE n = 1", "unjustified"),
    ],
)
def test_a_row_of_a_live_session_that_may_not_be_is_found(bench, change, kind):
    bench.sql(change)
    assert kind in bench.kinds


def test_an_agent_that_the_harness_killed_may_have_failed_by_a_signal(bench):
    edit(bench, without(type="turn_ended"))
    bench.sql("UPDATE turns SET status = 'failed', signal = 'SIGKILL', end = NULL WHERE n = 1")
    assert "no one killed its agent" in " ".join(finding.text for finding in bench.findings())
    bench.agent_kills = {bench.scripted.id}
    assert "no one killed its agent" not in " ".join(finding.text for finding in bench.findings())


def test_a_request_to_close_an_idle_agent_is_not_one_to_stop_a_turn(bench):
    bench.sql("UPDATE turns SET status = 'stopped', stop_requested_at = ended_at WHERE n = 1")
    insert = (
        "INSERT INTO requests (session, turn, kind, asked_by, created_at)"
        " SELECT session, n, ?, 'agentdash', ended_at FROM turns WHERE n = 1"
    )
    bench.sql(insert, "close")
    assert "no front end asked for it" in " ".join(finding.text for finding in bench.findings())
    bench.sql(insert, "stop")
    assert "no front end asked for it" not in " ".join(finding.text for finding in bench.findings())


def test_an_answer_may_stop_its_turn(bench):
    bench.sql("UPDATE turns SET status = 'stopped', stop_requested_at = ended_at WHERE n = 1")
    assert "no front end asked for it" in " ".join(finding.text for finding in bench.findings())
    bench.sql("UPDATE asks SET answer = json_set(answer, '$.verdict', 'stop') WHERE turn = 1")
    assert "no front end asked for it" not in " ".join(finding.text for finding in bench.findings())


def test_an_ask_that_a_killed_runner_did_not_record_is_not_lost(bench):
    bench.sql("DELETE FROM asks WHERE id = 1")
    assert "asks lost" in bench.kinds
    bench.kills = [RunnerKill(bench.scripted.id, frozenset())]
    assert "asks lost" not in bench.kinds


def test_an_ask_of_an_agent_that_was_being_ended_need_not_be_recorded(bench):
    """A flood of them would hold up the end."""
    edit(bench, without(type="answered", key="ask_2"))
    bench.sql("DELETE FROM asks WHERE key = 'ask_2'")
    assert "is not recorded" in " ".join(finding.text for finding in bench.findings())
    bench.sql("UPDATE turns SET stop_requested_at = created_at WHERE n = 2")
    assert "is not recorded" not in " ".join(finding.text for finding in bench.findings())
    bench.sql("UPDATE turns SET stop_requested_at = ended_at + 1000 WHERE n = 2")
    assert "is not recorded" in " ".join(finding.text for finding in bench.findings())


def test_an_ask_that_two_front_ends_answered_is_found(bench):
    bench.journal.append(answer_line(bench, 1, Verdict.ALLOW, "ok"))
    assert bench.kinds == {"asks answered twice"}


def test_an_answer_that_differs_from_that_of_the_front_end_is_found(bench):
    bench.journal = [line for line in bench.journal if line.get("ask") != 1]
    assert bench.kinds == {"wrong answers"}  # no front end tried it
    bench.journal.append(answer_line(bench, 1, Verdict.ALLOW, "try") | {"ask": None})
    assert bench.kinds == set()  # a killed command line
    bench.journal.append(answer_line(bench, 1, Verdict.DENY, "ok"))
    assert bench.kinds == {"wrong answers"}


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (twice(type="answered", key="ask_1"), "asks answered twice"),
        (without(type="answered", key="ask_1"), "wrong answers"),
        (lambda event: [event | {"verdict": "deny"} if event["type"] == "answered" else event], "denied and done"),
        (twice(type="command.started", ask="ask_1"), "done twice"),
        (without(type="command.started", ask="ask_1"), "allowed and not done"),
    ],
)
def test_an_output_that_does_not_fit_its_asks_is_found(bench, change, kind):
    edit(bench, change)
    assert kind in bench.kinds


def test_a_denied_command_that_ran_is_found(bench):
    """The agent names no ask for it."""
    started = {"type": "command.started", "id": "command_9", "command": "rm -rf build"}
    edit(bench, lambda event: [event, started] if event.get("key") == "ask_2" and "verdict" in event else [event])
    assert "'rm -rf build' was started without permission" in " ".join(finding.text for finding in bench.findings())


def test_the_book_proves_that_an_allowed_command_ran_once(bench):
    (record,) = bench.book.records("ran")
    lines.append(bench.book.path, record)
    assert bench.kinds == {"done twice"}
    bench.book.path.write_bytes(b"")
    assert bench.kinds == {"allowed and not done"}


def test_a_conversation_that_does_not_fit_the_states_of_its_prompts_is_found(bench):
    path = bench.home / "scripted" / f"{bench.scripted.id}.json"
    said = json.loads(path.read_bytes())
    path.write_text(json.dumps([*said, said[0]]))
    assert bench.kinds == {"prompts doubled"}
    path.write_text(json.dumps([one for one in said if STEERED not in one["text"]]))
    assert bench.kinds == {"prompts lost"}
    path.unlink()
    assert bench.kinds == {"prompts lost"}


def test_a_fifo_or_a_lock_that_is_held_is_found(bench):
    folder = bench.home / "sessions" / bench.scripted.id
    holder = subprocess.Popen(["sleep", "600"], stdin=os.open(folder / "stdin", os.O_RDWR))
    try:
        (finding,) = {finding.text for finding in bench.findings()}
        assert finding.startswith(f"{folder / 'stdin'} by pid {holder.pid}: ")
    finally:
        holder.kill()
        holder.wait()
    with (folder / "runner.lock").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert [finding.text for finding in bench.findings()] == [f"{folder / 'runner.lock'} is locked"]
    assert bench.findings() == []


def test_a_turn_has_no_prompt_only_if_the_agent_began_it(bench):
    bench.sql("DELETE FROM prompts WHERE turn = 2")
    bench.journal = [line for line in bench.journal if line.get("token") != DENIED]
    assert "prompts doubled" in bench.kinds
    edit(bench, lambda event: [event | {"key": None} if event["type"] == "turn_began" else event])
    assert "prompts of turns" not in " ".join(finding.text for finding in bench.findings())


def output(*events):
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def test_a_turn_without_a_prompt_is_one_that_the_agent_began():
    own, ours = {"type": "turn_began", "key": None}, {"type": "turn_began", "key": "k"}
    assert began_by_itself(output(own))
    assert not began_by_itself(output(ours))
    assert not began_by_itself(output(own, ours))
    assert not began_by_itself(b"{torn\n[1]\n")


def test_always_allows_the_same_command_again():
    ask = {"type": "ask", "kind": "command", "body": "rm -rf build"}
    run = {"type": "command.started", "id": "c", "command": "rm -rf build"}
    for verdict, forbidden in (("always", []), ("allow", ["rm -rf build"])):
        answer = {"type": "answered", "key": "a", "verdict": verdict}
        stream = read_stream(output(ask | {"key": "a"}, answer, run | {"ask": "a"}, run), ["rm -rf build"])
        assert stream.forbidden == forbidden
