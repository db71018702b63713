"""Attention with real runners: what is said of an agent that goes round in circles, hangs, works or is refused."""

import json
import os
import sys
from pathlib import Path

import pytest
from isolation import work_folder
from verbs import verb

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.session import Plan, Status, StepKind
from agentdash.sessions.rules.attention import AttentionKind, attention
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.runner.processes import processes

AGENT = """
import json, os, sys, time

def tell(**event):
    print(json.dumps(event), flush=True)

tell(type="thread.started", thread_id="t")
for n, line in enumerate(open(sys.argv[1])):
    event = json.loads(line)
    if "wait" in event:
        open(event["wait"]).close()
    elif "complaint" in event:
        print(event["complaint"], file=sys.stderr, flush=True)
    elif "busy" in event:
        while not os.path.exists(event["busy"]):
            pass
    else:
        tell(type="item.completed", item={"id": f"item_{n}", "type": "command_execution", **event})
tell(type="turn.completed", usage={})
"""


def printed(*words):
    done = verb(*words)
    assert done.returncode == 0
    return done.stdout


@pytest.fixture
def play(manager, tmp_path):
    """Start codex's stand-in, which prints these commands; ``wait`` names a pipe to wait for."""
    agent = tmp_path / "codex"
    agent.write_text(f"#!{sys.executable}\n{AGENT}")
    agent.chmod(0o755)

    def start(*events):
        script = tmp_path / f"script-{len(list(tmp_path.glob('script-*')))}"
        script.write_text("".join(json.dumps(event) + "\n" for event in events))
        for event in events:
            if "wait" in event:
                os.mkfifo(event["wait"])
        return start_with(str(agent), str(script))

    def start_with(agent, script):
        wrapper = Path(f"{script}.sh")
        wrapper.write_text(f"#!/bin/sh\nexec {agent} {script}\n")
        wrapper.chmod(0o755)
        return manager.spawn(Start("go", agent="codex", options={"live": False, "bin": str(wrapper)}))

    return start


def ran(command, exit_code):
    return {"command": command, "exit_code": exit_code, "aggregated_output": "", "status": "in_progress"}


def go_on(tmp_path, name):
    (tmp_path / name).write_text("")


def of(manager, session, kind):
    """The session, once it needs attention of this kind."""

    def look():
        found = manager.reader.get(session.id)
        told = attention(found, now_ms())
        return found if told is not None and told.kind is kind else None

    return look


@pytest.mark.smoke
def test_a_command_that_fails_four_times_is_told_while_it_does_and_no_longer(manager, play, tmp_path, wait_until):
    pipes = [str(tmp_path / name) for name in ("first", "second", "third")]
    fails = ran("pytest -q", 1)
    session = play(
        fails, fails, fails, {"wait": pipes[0]}, fails, {"wait": pipes[1]}, ran("pytest -q", 0), {"wait": pipes[2]}
    )
    wait_until(lambda: manager.reader.get(session.id).steps >= 4, what="three failures")
    assert manager.reader.get(session.id).stuck is None
    go_on(tmp_path, "first")
    stuck = wait_until(of(manager, session, AttentionKind.STUCK), what="the loop to be told")
    assert stuck.stuck == "`pytest -q` failed 4 times in a row"
    assert stuck.status is Status.RUNNING
    assert stuck.started_at <= stuck.stuck_at <= now_ms()
    go_on(tmp_path, "second")
    freed = wait_until(lambda: (s := manager.reader.get(session.id)).stuck is None and s, what="the success to be seen")
    assert (freed.stuck_at, freed.status) == (None, Status.RUNNING)
    go_on(tmp_path, "third")
    assert manager.wait([session.id], timeout=60)[0].status is Status.DONE


def test_ls_and_explain_say_what_is_wrong(manager, play, tmp_path, wait_until):
    session = play(*[ran("make", 2)] * 4, {"wait": str(tmp_path / "end")})
    stuck = wait_until(of(manager, session, AttentionKind.STUCK), what="the loop to be told")
    [told] = json.loads(printed("ls", "--json"))
    assert told["attention"] == {"kind": "stuck", "reason": stuck.stuck, "since": stuck.stuck_at}
    assert "`make` failed 4 times in a row" in printed("ls")
    facts = {fact["name"]: fact["value"] for fact in json.loads(printed("explain", session.id, "--json"))["facts"]}
    assert facts["needs attention"].startswith("stuck: `make` failed 4 times in a row (for ")
    assert facts["stuck after"] == "repeats=4, idle_seconds=300"
    go_on(tmp_path, "end")
    [done] = manager.wait([session.id], timeout=60)
    manager.housekeeping.mark_seen(session.id)
    facts = {fact.name: fact.value for fact in manager.reader.explain(session.id).facts}
    assert (done.status, facts["needs attention"]) == (Status.DONE, "no")


def test_the_end_of_a_turn_ends_what_it_was_stuck_in(manager, play, tmp_path, wait_until):
    session = play(*[ran("make", 2)] * 5, {"wait": str(tmp_path / "end")})
    stuck = wait_until(of(manager, session, AttentionKind.STUCK), what="the loop to be told")
    assert stuck.stuck == "`make` failed 5 times in a row"
    go_on(tmp_path, "end")
    [done] = manager.wait([session.id], timeout=60)
    assert (done.status, done.stuck, done.stuck_at) == (Status.DONE, None, None)
    assert attention(done, now_ms()).kind is AttentionKind.DONE


def test_how_often_comes_from_the_settings(manager, play, tmp_path, wait_until):
    (tmp_path / "config.toml").write_text("[attention]\nrepeats = 2\n")
    session = play(ran("make", 2), ran("make", 2), {"wait": str(tmp_path / "end")})
    stuck = wait_until(of(manager, session, AttentionKind.STUCK), what="the loop to be told")
    assert stuck.stuck == "`make` failed 2 times in a row"
    go_on(tmp_path, "end")


def test_a_loop_is_still_known_when_another_runner_takes_over(manager, play, tmp_path, wait_until):

    session = play(
        *[ran("make", 2)] * 4, {"wait": str(tmp_path / "one")}, ran("make", 2), {"wait": str(tmp_path / "two")}
    )
    wait_until(of(manager, session, AttentionKind.STUCK), what="the loop to be told")
    runner = manager.reader.turns(session.id)[-1].runner_pid
    processes.send_kill(processes.by_pid(runner))
    wait_until(
        lambda: processes.by_pid(runner) is None or processes.by_pid(runner).zombie, what="the runner to be gone"
    )
    manager.housekeeping.settle()
    wait_until(lambda: manager.reader.turns(session.id)[-1].runner_pid != runner, what="another runner")
    go_on(tmp_path, "one")
    wait_until(
        lambda: manager.reader.get(session.id).stuck == "`make` failed 5 times in a row", what="the fifth failure"
    )
    go_on(tmp_path, "two")


def test_an_agent_that_hangs_is_stuck_until_it_prints_again(manager, play, tmp_path, wait_until):
    (tmp_path / "config.toml").write_text("[attention]\nidle_seconds = 1\n")
    session = play({"wait": str(tmp_path / "one")}, ran("ls", 0), {"wait": str(tmp_path / "two")})
    stuck = wait_until(of(manager, session, AttentionKind.STUCK), what="the hang to be told")
    assert stuck.stuck.startswith("no output for ")
    assert stuck.stuck.endswith("s, CPU idle")
    seq = manager.reader.changes(0).seq
    go_on(tmp_path, "one")
    wait_until(lambda: manager.reader.get(session.id).stuck is None, what="the event to be seen")
    again = wait_until(of(manager, session, AttentionKind.STUCK), what="the second hang to be told")
    assert again.stuck_at > stuck.stuck_at
    assert manager.reader.changes(seq).updated != ()
    go_on(tmp_path, "two")


def test_a_hang_that_goes_on_writes_nothing(manager, play, tmp_path, wait_until):
    (tmp_path / "config.toml").write_text("[attention]\nidle_seconds = 1\n")
    hangs = play({"wait": str(tmp_path / "one")})
    wait_until(of(manager, hangs, AttentionKind.STUCK), what="the hang to be told")
    before = manager.reader.changes(0).seq
    looks = manager.started(manager.run(["sh", "-c", "sleep 4"]).id)
    manager.wait([looks.id], timeout=60)
    assert [session.id for session in manager.reader.changes(before).updated] == [looks.id]
    go_on(tmp_path, "one")


def test_a_command_may_wait_in_silence(manager, play, tmp_path, wait_until):
    (tmp_path / "config.toml").write_text("[attention]\nidle_seconds = 1\n")
    server = manager.started(manager.run(["sleep", "600"]).id)
    hangs = play({"wait": str(tmp_path / "one")})
    wait_until(of(manager, hangs, AttentionKind.STUCK), what="an agent that began later to be stuck")
    assert manager.reader.get(server.id).stuck is None
    go_on(tmp_path, "one")


def test_an_agent_that_computes_in_silence_is_not_stuck(manager, play, tmp_path, wait_until):
    (tmp_path / "config.toml").write_text("[attention]\nidle_seconds = 1\n")
    works = play({"busy": str(tmp_path / "done")})
    hangs = play({"wait": str(tmp_path / "one")})
    wait_until(lambda: manager.reader.get(works.id).steps >= 1, what="the first to work")
    wait_until(of(manager, hangs, AttentionKind.STUCK), what="the other one to be stuck")
    assert manager.reader.get(works.id).stuck is None
    go_on(tmp_path, "done")
    go_on(tmp_path, "one")
    assert manager.wait([works.id], timeout=60)[0].status is Status.DONE


def test_a_command_that_the_sandbox_stopped_is_reported_during_the_turn_and_at_its_end(
    manager, play, tmp_path, wait_until
):
    blocked = ran("touch a", 1) | {"aggregated_output": "touch: cannot touch 'a': Read-only file system"}
    complaint = "ERROR codex_core::tools::router: error=patch rejected: writing is blocked by read-only sandbox"
    session = play(blocked, {"wait": str(tmp_path / "one")}, {"complaint": complaint})
    denied = wait_until(of(manager, session, AttentionKind.DENIED), what="the refusal to be told")
    assert (denied.status, denied.denied, denied.reason) == (Status.RUNNING, 1, "1 permission denied: touch")
    go_on(tmp_path, "one")
    [done] = manager.wait([session.id], timeout=60)
    assert (done.status, done.denied, done.reason) == (Status.DONE, 2, "2 permissions denied: touch, apply_patch")
    told = attention(done, now_ms())
    assert (told.kind, told.reason) == (AttentionKind.DENIED, done.reason)
    manager.housekeeping.mark_seen(session.id)
    assert attention(manager.reader.get(session.id), now_ms()) is None
    manager.prompts.inject(session.id, "once more")
    wait_until(lambda: manager.reader.get(session.id).denied == 1, what="the next turn to be counted by itself")
    go_on(tmp_path, "one")


@pytest.mark.real
def test_a_question_in_the_last_message_of_a_real_agent_is_found(manager, agent, tmp_path):
    asking = manager.spawn(Start("Shall I delete the old table?", agent=agent, cwd=work_folder(tmp_path)))
    telling = manager.spawn(Start("Delete the old table.", agent=agent, cwd=work_folder(tmp_path)))
    manager.wait([asking.id, telling.id], timeout=60)
    asks, tells = manager.reader.get(asking.id), manager.reader.get(telling.id)
    assert (asks.status, asks.asks) == (Status.DONE, "You said: Shall I delete the old table?")
    assert (tells.status, tells.asks) == (Status.DONE, None)
    assert attention(asks, now_ms()).kind is AttentionKind.ASKS
    assert [s.id for s in manager.reader.first_sessions(1)[0]] == [asking.id]
    manager.prompts.inject(asking.id, "Delete the old table.")
    [answered] = manager.wait([asking.id], timeout=60)
    assert (answered.turn, answered.asks) == (2, None)


FREE = {"codex": {"sandbox": "danger-full-access"}, "claude": {"permission_mode": "bypassPermissions"}}
"""By agent: the options with which it runs any command."""


@pytest.mark.real
def test_what_a_real_agent_does_now_is_recorded_until_it_ends(manager, agent, tmp_path, wait_until):
    start = Start("[[fake:sleep600]] go", agent=agent, cwd=work_folder(tmp_path), options=FREE[agent])
    session = manager.spawn(start)
    wait_until(lambda: "sleep 600" in str(manager.reader.get(session.id).activity), what="the command in the row")
    activity = manager.reader.get(session.id).activity
    assert (activity.kind, activity.running) == (StepKind.COMMAND, True)
    assert session.created_at <= activity.since <= now_ms()
    manager.stop(session.id)
    assert manager.reader.get(session.id).activity is None


@pytest.mark.real
def test_the_plan_of_the_real_codex_is_recorded(manager, codex_env, tmp_path):
    start = Start("[[fake:plan]] go", agent="codex", cwd=work_folder(tmp_path))
    [done] = manager.wait([manager.spawn(start).id], timeout=60)
    assert done.plan == Plan(3, 3, "")
