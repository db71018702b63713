"""Limits and the end of a turn with real processes: what is stopped, what is swept, and what the row says."""

import os
import re
import shutil
import socket
import sys

import pytest

from agentdash.sessions.model.errors import SessionBusyError
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.service.prompts.prompter import PromptOptions

pytestmark = pytest.mark.usefixtures("scripted_agent")

PRINTS_AND_SLEEPS = "echo hello; sleep 600"
SERVER = (
    "import socket, time\n"
    "server = socket.create_server(('127.0.0.1', 0))\n"
    "print(server.getsockname()[1], file=open('ready', 'w'), flush=True)\n"
    "time.sleep(600)\n"
)


def limited(manager, script, **limits):
    return manager.run(["sh", "-c", script], options={"limits": limits})


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("script", "limits", "reason"),
    [
        ("while :; do echo x; sleep 0.1; done", {"wall_seconds": 1}, "stopped by its limit: ran longer than 1s; "),
        (PRINTS_AND_SLEEPS, {"silence_seconds": 0.5}, "stopped by its limit: no output for 0.5s; "),
        (
            "head -c 100000 /dev/zero | tr '\\0' 'x\\n'; sleep 600",
            {"output_mb": 0.01},
            "stopped by its limit: printed more than 0.01 MB (",
        ),
    ],
)
def test_a_limit_that_is_crossed_stops_the_turn_and_is_the_reason(manager, leftovers, script, limits, reason):
    session = limited(manager, script, **limits)
    [ended] = manager.wait([session.id], timeout=60)
    assert ended.status is Status.STOPPED
    assert ended.reason.startswith(reason)
    assert ended.reason.endswith("0 left")
    assert manager.reader.turns(session.id)[-1].stop_by.startswith("its limit")
    assert leftovers(session.id) == []


@pytest.mark.parametrize("limit", [{"tokens": 50}, {"cost_usd": 0.001}])
def test_tokens_and_money_are_counted_over_all_turns(manager, limit):
    first = manager.spawn(Start("hello [[script:quick]]", agent="scripted", options={"limits": limit}))
    [done] = manager.wait([first.id], timeout=60)
    # What the first turn used is known only at its end, which is a proper one.
    assert done.status is Status.DONE
    assert len(manager.reader.warnings(first.id)) == 1
    raised = {"tokens": done.usage.total_tokens + 10, "cost_usd": done.cost_usd + 0.00001}
    manager.prompts.inject(
        first.id, "more [[script:quick]]", PromptOptions(limits={name: raised[name] for name in limit})
    )
    [second] = manager.wait([first.id], timeout=60)
    assert (second.status, second.turn) == (Status.DONE, 2)
    assert second.reason.startswith("over limit: ")


@pytest.mark.parametrize(
    ("limit", "told"),
    [
        ({"tokens": 50}, r"used more than 50 tokens \([\d,]+\)\. Raise .* --limit tokens=\d+"),
        ({"cost_usd": 0.001}, r"cost more than \$0\.001 \(\$0\.\d+\)\. Raise .* --limit cost=[\d.]+"),
    ],
)
def test_a_session_that_used_up_a_limit_gets_no_further_turn(manager, limit, told):
    session = manager.spawn(Start("hello [[script:quick]]", agent="scripted", options={"limits": limit}))
    manager.wait([session.id], timeout=60)
    with pytest.raises(SessionBusyError, match=told):
        manager.prompts.inject(session.id, "more")
    assert [(turn.n, turn.status) for turn in manager.reader.turns(session.id)] == [(1, Status.DONE)]
    assert len(manager.reader.prompts(session.id)) == 1
    manager.prompts.inject(session.id, "more", PromptOptions(limits={"action": "warn"}))
    [done] = manager.wait([session.id], timeout=60)
    assert (done.status, done.turn) == (Status.DONE, 2)
    # What was said with a prompt holds for the turns after it.
    manager.prompts.inject(session.id, "and more")
    [done] = manager.wait([session.id], timeout=60)
    assert (done.status, done.turn) == (Status.DONE, 3)


def test_a_limit_of_one_turn_keeps_no_session_from_the_next(manager):
    session = limited(manager, "sleep 600", wall_seconds=0.5)
    manager.wait([session.id], timeout=60)
    manager.prompts.retry(session.id, PromptOptions(limits={"wall_seconds": 0.7}))
    [stopped] = manager.wait([session.id], timeout=60)
    assert (stopped.status, stopped.turn) == (Status.STOPPED, 2)
    assert stopped.reason.startswith("stopped by its limit: ran longer than 0.7s; ")


def agent_script(tmp_path, body):
    """An agent CLI that is a shell script: what is to be seen depends on no model's speed."""
    path = tmp_path / "agent.sh"
    path.write_text(f"#!/bin/sh\ncat > /dev/null\n{body}\n")
    path.chmod(0o755)
    return str(path)


def test_claude_is_stopped_by_its_cost_while_it_works(manager, tmp_path, leftovers):
    (tmp_path / "config.toml").write_text('[prices."my-*"]\ninput = 10.0\noutput = 100.0\n')
    says = (
        '{"type":"assistant","message":{"id":"%s","model":"my-model","content":[],'
        '"usage":{"input_tokens":1000,"output_tokens":1}}}'
    )
    script = agent_script(tmp_path, f"echo '{says % 'a'}'; echo '{says % 'a'}'; echo '{says % 'b'}'; exec sleep 600")
    options = {"live": False, "bin": script, "limits": {"cost_usd": 0.015}}
    session = manager.spawn(Start("go", agent="claude", options=options))
    [stopped] = manager.wait([session.id], timeout=60)
    assert stopped.reason.startswith("stopped by its limit: cost more than $0.015 (~$0.02); ")
    assert stopped.cost_usd is None  # claude named no figure of its own
    assert leftovers(session.id) == []
    with pytest.raises(SessionBusyError, match=r"cost more than \$0\.015 \(~\$0\.02\)"):
        manager.prompts.inject(session.id, "more")


CALL = (
    '{"timestamp":"%sZ","type":"token_usage_record",'
    '"payload":{"usage":{"input_tokens":400,"output_tokens":20,"reasoning_output_tokens":0}}}'
)
"""What codex writes down after each call of the model."""


def test_codex_is_stopped_by_what_its_transcript_says_while_it_prints_nothing(manager, tmp_path, monkeypatch):
    thread = "01a1fb63-d45a-7f82-8a8f-c9f1972ee698"
    folder = tmp_path / "codex" / "sessions" / "2026" / "11" / "20"
    folder.mkdir(parents=True)
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    transcript = folder / f"rollout-2026-11-20T23-56-26-{thread}.jsonl"
    transcript.write_text(f"{CALL % '2026-11-20T23:56:26'}\n" * 50)
    (tmp_path / "call").write_text(f"{CALL}\n")
    says = f'{{"type":"thread.started","thread_id":"{thread}"}}'
    call = f'printf "$(cat {tmp_path}/call)\\n" "$(date -u +%FT%T.%3N)" >> {transcript}'
    script = agent_script(tmp_path, f"echo '{says}'; for i in 1 2 3; do {call}; sleep 0.3; done; exec sleep 600")
    session = manager.spawn(
        Start("go", agent="codex", options={"live": False, "bin": script, "limits": {"tokens": 1000}})
    )
    [stopped] = manager.wait([session.id], timeout=60)
    assert stopped.reason.startswith("stopped by its limit: used more than 1,000 tokens (1,260); ")
    assert stopped.usage.total_tokens == 1260


def test_a_cost_limit_that_turned_out_to_be_blind_says_so(manager, tmp_path, monkeypatch):
    (tmp_path / "config.toml").write_text("[limits]\ncost_usd = 0.001\n")
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    says = '{"type":"assistant","message":{"id":"a","model":"new","content":[],"usage":{"input_tokens":10}}}'
    script = agent_script(
        tmp_path, f'echo \'{says}\'; echo \'{{"type":"result","subtype":"success","stop_reason":"end_turn"}}\''
    )
    session = manager.spawn(Start("go", agent="claude", options={"live": False, "bin": script}))
    [done] = manager.wait([session.id], timeout=60)
    assert (done.status, done.reason) == (Status.DONE, "its cost limit ignores new, which has no price")


SLOW = "[[fake:slow_steps]] go"
"""Three calls of the model, of 1200, 1600 and 2000 tokens of input; a command of five seconds follows on each."""


@pytest.mark.real
def test_the_real_codex_is_stopped_within_one_call_of_its_tokens(manager, codex_env, leftovers):
    session = manager.spawn(Start(SLOW, agent="codex", options={"limits": {"tokens": 2000}}))
    [stopped] = manager.wait([session.id], timeout=120)
    assert stopped.status is Status.STOPPED
    assert re.match(r"stopped by its limit: used more than 2,000 tokens \(2,8\d\d\); ", stopped.reason)
    used = stopped.usage.total_tokens
    assert 2800 < used < 2900
    assert leftovers(session.id) == []
    with pytest.raises(SessionBusyError, match=r"used more than 2,000 tokens \(2,8\d\d\)"):
        manager.prompts.inject(session.id, "more")
    manager.prompts.inject(session.id, "[[fake:plain]] more", PromptOptions(limits={"tokens": 100_000}))
    [done] = manager.wait([session.id], timeout=120)
    assert done.status is Status.DONE
    assert used + 1200 < done.usage.total_tokens < used + 1300  # one call more, and nothing twice


@pytest.mark.real
def test_forty_quick_calls_of_the_real_codex_are_not_made_to_the_end(manager, codex_env):
    session = manager.spawn(Start("[[fake:long]] go", agent="codex", options={"limits": {"tokens": 5000}}))
    [stopped] = manager.wait([session.id], timeout=120)
    assert stopped.status is Status.STOPPED
    assert stopped.reason.startswith("stopped by its limit: used more than 5,000 tokens (")
    assert stopped.usage.total_tokens < 100_000  # of 360,000


@pytest.mark.real
def test_the_real_codex_is_stopped_by_its_cost_at_the_user_s_prices(manager, codex_env, tmp_path):
    (tmp_path / "config.toml").write_text('[prices."gpt-5.5"]\ninput = 50.0\ncached_input = 50.0\noutput = 0.0\n')
    session = manager.spawn(Start(SLOW, agent="codex", options={"limits": {"cost_usd": 0.1}}))
    assert manager.reader.warnings(session.id) == ()
    [stopped] = manager.wait([session.id], timeout=120)
    assert stopped.status is Status.STOPPED
    # 50 dollars for a million: the second call makes it 0.14.
    assert stopped.reason.startswith("stopped by its limit: cost more than $0.10 (~$0.14); ")
    assert stopped.cost_usd is None  # an estimate is no figure of the agent's


@pytest.mark.real
def test_the_real_claude_is_stopped_by_its_cost(manager, claude_env, leftovers):
    options = {"permission_mode": "bypassPermissions", "limits": {"cost_usd": 0.008}}
    session = manager.spawn(Start(SLOW, agent="claude", model="claude-opus-4-8", options=options))
    assert manager.reader.warnings(session.id) == ()
    [stopped] = manager.wait([session.id], timeout=120)
    assert stopped.status is Status.STOPPED
    assert re.match(r"stopped by its limit: cost more than \$0\.008 \(~\$0\.01\d*\); ", stopped.reason)
    assert leftovers(session.id) == []
    with pytest.raises(SessionBusyError, match=r"cost more than \$0\.008 "):
        manager.prompts.inject(session.id, "more")


def test_a_limit_may_only_warn(manager, tmp_path, wait_until):
    os.mkfifo(tmp_path / "go")
    session = limited(manager, "echo hello; read line < go; echo bye", silence_seconds=0.3, action="warn")
    warned = wait_until(lambda: (s := manager.reader.get(session.id)).reason and s, what="a warning")
    assert (warned.status, warned.reason) == (Status.RUNNING, "over limit: no output for 0.3s")
    (tmp_path / "go").write_text("\n")
    [done] = manager.wait([session.id], timeout=60)
    assert (done.status, done.reason) == (Status.DONE, "over limit: no output for 0.3s")


def test_a_warning_is_still_shown_when_the_turn_went_well(manager):
    session = limited(manager, "sleep 1; echo hello", wall_seconds=0.2, action="warn")
    [done] = manager.wait([session.id], timeout=60)
    assert (done.status, done.reason) == (Status.DONE, "over limit: ran longer than 0.2s")


def test_limits_come_from_the_settings_and_the_spawn_has_the_last_word(manager, tmp_path):
    (tmp_path / "config.toml").write_text(
        "[limits]\nwall_seconds = 600\ntokens = 7\n[agents.scripted.limits]\ntokens = 8\ncost_usd = 3.5\n"
    )
    launch = manager.reader.plan(Start("x", agent="scripted", options={"limits": {"cost_usd": 9}}))
    assert (launch.limits.wall_seconds, launch.limits.tokens, launch.limits.cost_usd) == (600, 8, 9)


def test_a_stop_by_a_limit_goes_on_when_its_runner_is_killed(manager, leftovers, wait_until):
    script = "trap '' INT TERM; echo ready; sleep 600 & wait; sleep 600"
    session = limited(manager, script, wall_seconds=0.5)
    stopping = wait_until(lambda: (s := manager.reader.get(session.id)).stopping and s, what="the stop to begin")
    assert stopping.stopping.next in ("SIGTERM", "SIGKILL")
    turn = manager.reader.turns(session.id)[-1]
    processes.send_kill(processes.by_pid(turn.runner_pid))
    [ended] = manager.wait([session.id], timeout=60)
    assert ended.status is Status.STOPPED
    assert ended.reason.startswith("stopped by its limit: ran longer than 0.5s")
    assert leftovers(session.id) == []


def test_what_is_left_is_named_with_its_ports_and_kept(manager, tmp_path, wait_until):
    session = manager.run(["sh", "-c", f'{sys.executable} -c "{SERVER}" & until [ -s ready ]; do sleep 0.05; done'])
    [done] = manager.wait([session.id], timeout=60)
    assert (done.status, done.left) == (Status.DONE, 1)
    port = int((tmp_path / "ready").read_text())
    assert manager.reader.turns(session.id)[-1].left[0].ports == (port,)
    assert done.left_note.endswith(f":{port}")
    with socket.create_connection(("127.0.0.1", port)):
        pass
    receipt = manager.stop(session.id)
    assert [ended.signal for ended in receipt.ended] == ["SIGTERM"]
    wait_until(lambda: manager.reader.get(session.id).left == 0, what="the row to know")
    assert manager.reader.get(session.id).status is Status.DONE


def test_after_turn_sweep_ends_what_the_turn_left_and_it_stays_green(manager, leftovers):
    session = manager.run(["sh", "-c", "sleep 600 & exit 0"], options={"stop": {"after_turn": "sweep"}})
    [done] = manager.wait([session.id], timeout=60)
    assert (done.status, done.left) == (Status.DONE, 0)
    assert done.reason == "swept: 1 process ended (SIGTERM 1), 0 left"
    assert leftovers(session.id) == []
    assert manager.reader.turns(session.id)[-1].stop_requested_at is None


def test_a_session_whose_folder_is_removed_is_stopped(manager, leftovers, process_book, wait_until):
    session = manager.started(manager.run(["sh", "-c", "sleep 600 & sleep 601"]).id)
    wait_until(lambda: len(manager.reader.processes(session.id)) == 3, what="three processes")
    process_book.add(manager.reader.processes(session.id))
    shutil.rmtree(manager.reader.home / "sessions" / session.id)
    [ended] = manager.wait([session.id], timeout=60)
    assert ended.status is Status.STOPPED
    assert ended.reason.startswith("stopped by agentdash: its folder was removed; 3 processes ended")
    assert process_book.alive() == []


def test_nothing_lives_on_when_the_whole_state_folder_is_removed(manager, process_book, wait_until):
    session = manager.started(manager.run(["sh", "-c", "setsid sleep 600 & sleep 601"]).id)
    wait_until(lambda: len(manager.reader.processes(session.id)) == 3, what="three processes")
    process_book.add(manager.reader.processes(session.id))
    shutil.rmtree(manager.reader.home)
    manager.reader.home.mkdir()
    wait_until(lambda: process_book.alive() == [], what="the runner to notice")
    assert manager.reader.sessions() == []


def test_a_record_of_an_older_version_has_no_limits():
    import msgspec

    assert msgspec.json.decode(b'{"argv": ["true"]}', type=Launch).limits.wall_seconds is None
