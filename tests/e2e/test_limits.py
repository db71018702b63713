"""Limits and the end of a turn with real processes: what is stopped, what is swept, and what the row says."""

import os
import shutil
import socket
import sys

import pytest

from agentdash.sessions.agents.base import Launch
from agentdash.sessions.model import Status
from agentdash.sessions.supervision import procs

pytestmark = pytest.mark.usefixtures("demo_agent")

PRINTS_AND_SLEEPS = "echo hello; sleep 600"
SERVER = (
    "import socket, time\n"
    "server = socket.create_server(('127.0.0.1', 0))\n"
    "print(server.getsockname()[1], file=open('ready', 'w'), flush=True)\n"
    "time.sleep(600)\n"
)


def limited(manager, script, **limits):
    return manager.run(["sh", "-c", script], options={"limits": limits})


@pytest.mark.parametrize(
    ("script", "limits", "reason"),
    [
        ("while :; do echo x; sleep 0.1; done", {"wall_seconds": 1}, "stopped by its limit: ran longer than 1s; "),
        (PRINTS_AND_SLEEPS, {"silence_seconds": 0.5}, "stopped by its limit: printed nothing for 0.5s; "),
        (
            "head -c 100000 /dev/zero | tr '\\0' 'x\\n'; sleep 600",
            {"output_mb": 0.01},
            "stopped by its limit: printed more than 0.01 MB; ",
        ),
    ],
)
def test_K8_a_limit_that_is_crossed_stops_the_turn_and_is_the_reason(manager, leftovers, script, limits, reason):
    session = limited(manager, script, **limits)
    [ended] = manager.wait([session.id], timeout=30)
    assert ended.status is Status.STOPPED
    assert ended.reason.startswith(reason)
    assert ended.reason.endswith("0 left")
    assert manager.turns(session.id)[-1].stop_by.startswith("its limit")
    assert leftovers(session.id) == []


@pytest.mark.parametrize("limit", [{"tokens": 50}, {"cost_usd": 0.001}])
def test_K8_tokens_and_money_are_counted_over_all_turns(manager, limit):
    first = manager.spawn("hello [[demo:quick]]", agent="demo", options={"limits": limit})
    [done] = manager.wait([first.id], timeout=30)
    # What the first turn used is known only at its end, which is a proper one.
    assert done.status is Status.DONE
    manager.inject(first.id, "more [[demo:long]]")
    [stopped] = manager.wait([first.id], timeout=30)
    assert stopped.status is Status.STOPPED
    assert stopped.reason.startswith("stopped by its limit: ")


def test_K8_a_limit_may_only_warn(manager, tmp_path, wait_until):
    os.mkfifo(tmp_path / "go")
    session = limited(manager, "echo hello; read line < go; echo bye", silence_seconds=0.3, action="warn")
    warned = wait_until(lambda: (s := manager.get(session.id)).reason and s, what="a warning")
    assert (warned.status, warned.reason) == (Status.RUNNING, "over its limit: printed nothing for 0.3s")
    (tmp_path / "go").write_text("\n")
    [done] = manager.wait([session.id], timeout=30)
    assert (done.status, done.reason) == (Status.DONE, "over its limit: printed nothing for 0.3s")


def test_K8_a_warning_is_still_told_when_the_turn_went_well(manager):
    session = limited(manager, "sleep 1; echo hello", wall_seconds=0.2, action="warn")
    [done] = manager.wait([session.id], timeout=30)
    assert (done.status, done.reason) == (Status.DONE, "over its limit: ran longer than 0.2s")


def test_limits_come_from_the_settings_and_the_spawn_has_the_last_word(manager, tmp_path):
    (tmp_path / "config.toml").write_text(
        "[limits]\nwall_seconds = 600\ntokens = 7\n[agents.demo.limits]\ntokens = 8\ncost_usd = 3.5\n"
    )
    launch = manager.plan("x", agent="demo", options={"limits": {"cost_usd": 9}})
    assert (launch.limits.wall_seconds, launch.limits.tokens, launch.limits.cost_usd) == (600, 8, 9)


def test_a_stop_by_a_limit_goes_on_when_its_runner_is_killed(manager, leftovers, wait_until):
    script = "trap '' INT TERM; echo ready; sleep 600 & wait; sleep 600"
    session = limited(manager, script, wall_seconds=0.5)
    stopping = wait_until(lambda: (s := manager.get(session.id)).stopping and s, what="the stop to begin")
    assert stopping.stopping.next in ("SIGTERM", "SIGKILL")
    turn = manager.turns(session.id)[-1]
    procs.send_kill(procs.look(turn.runner_pid))
    [ended] = manager.wait([session.id], timeout=60)
    assert ended.status is Status.STOPPED
    assert ended.reason.startswith("stopped by its limit: ran longer than 0.5s")
    assert leftovers(session.id) == []


def test_what_is_left_is_named_with_its_ports_and_kept(manager, tmp_path, wait_until):
    session = manager.run(["sh", "-c", f'{sys.executable} -c "{SERVER}" & until [ -s ready ]; do sleep 0.05; done'])
    [done] = manager.wait([session.id], timeout=30)
    assert (done.status, done.left) == (Status.DONE, 1)
    port = int((tmp_path / "ready").read_text())
    assert manager.turns(session.id)[-1].left[0].ports == (port,)
    assert done.left_note.endswith(f":{port}")
    with socket.create_connection(("127.0.0.1", port)):
        pass
    receipt = manager.stop(session.id)
    assert [ended.signal for ended in receipt.ended] == ["SIGTERM"]
    wait_until(lambda: manager.get(session.id).left == 0, what="the row to know")
    assert manager.get(session.id).status is Status.DONE


def test_after_turn_sweep_ends_what_the_turn_left_and_it_stays_green(manager, leftovers):
    session = manager.run(["sh", "-c", "sleep 600 & exit 0"], options={"stop": {"after_turn": "sweep"}})
    [done] = manager.wait([session.id], timeout=30)
    assert (done.status, done.left) == (Status.DONE, 0)
    assert done.reason == "swept: 1 process ended (SIGTERM 1), 0 left"
    assert leftovers(session.id) == []
    assert manager.turns(session.id)[-1].stop_requested_at is None


def test_a_session_whose_folder_is_removed_is_stopped(manager, leftovers, process_book, wait_until):
    session = manager.started(manager.run(["sh", "-c", "sleep 600 & sleep 601"]).id)
    wait_until(lambda: len(manager.processes(session.id)) == 3, what="three processes")
    process_book.add(manager.processes(session.id))
    shutil.rmtree(manager.home / "sessions" / session.id)
    [ended] = manager.wait([session.id], timeout=30)
    assert ended.status is Status.STOPPED
    assert ended.reason.startswith("stopped by agentdash: its folder was removed; 3 processes ended")
    assert process_book.alive() == []


def test_nothing_lives_on_when_the_whole_state_folder_is_removed(manager, process_book, wait_until):
    session = manager.started(manager.run(["sh", "-c", "setsid sleep 600 & sleep 601"]).id)
    wait_until(lambda: len(manager.processes(session.id)) == 3, what="three processes")
    process_book.add(manager.processes(session.id))
    shutil.rmtree(manager.home)
    manager.home.mkdir()
    wait_until(lambda: process_book.alive() == [], what="the runner to notice")
    assert manager.sessions() == []


def test_a_record_of_an_older_version_has_no_limits():
    import msgspec

    assert msgspec.json.decode(b'{"argv": ["true"]}', type=Launch).limits.wall_seconds is None
