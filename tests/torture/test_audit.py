"""The audit finds what it looks for: each fault, made by hand, is reported, and nothing else is."""

import contextlib
import json
import os
import re
import sqlite3
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from factories import session, turn

from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.lifecycle.stop_family import NOW
from agentdash.sessions.service.manager import SessionManager
from scripted.registration import registered
from torture import book as world
from torture.audit_files import check_streams
from torture.book import Book
from torture.report import Report, RunnerKill, Scene, ends_of
from torture.workbench import Workbench

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the harness finds processes in /proc"),
    pytest.mark.usefixtures("scripted_agent"),
]

NASTY = Path(__file__).with_name("nasty.py")
TOKEN = "torture-00000000000a"
OTHER = "torture-00000000000b"


@pytest.fixture(scope="module")
def made(tmp_path_factory, wait_until):
    """The state folder that every test gets a copy of."""
    folder = tmp_path_factory.mktemp("made")
    patch = pytest.MonkeyPatch()
    for name in ("AGENTDASH_SESSION_ID", "AGENTDASH_RUN_ID", "AGENTDASH_RUNNER"):
        patch.delenv(name, raising=False)
    book = folder / "book.jsonl"
    (folder / "state").mkdir(mode=0o700)
    with registered(), SessionManager(home=folder / "state", config_path=folder / "none.toml") as manager:
        scripted = manager.spawn(Start(TOKEN, agent="scripted", cwd=str(folder), options={"script": "quick"}))
        manager.wait([scripted.id], timeout=60)
        argv = [sys.executable, "-c", f"import time; print('{OTHER}', flush=True); time.sleep(600)"]
        command = manager.started(manager.run(argv, cwd=str(folder)).id)
        manager.stop(command.id, NOW)
        wait_until(lambda: not world.runners(folder / "state"), what="the runners to leave")
    book.touch()
    patch.undo()
    return folder, scripted, command


@pytest.fixture
def bench(made, tmp_path):
    folder, scripted, command = made
    subprocess.run(["cp", "-a", str(folder / "state"), str(tmp_path / "copy")], check=True)
    bench = Workbench(tmp_path / "copy", Book(tmp_path / "book.jsonl"))
    bench.scripted, bench.command = scripted, command
    bench.accepted("spawn", TOKEN, scripted.id, 1)
    bench.accepted("spawn", OTHER, command.id, 1)
    yield bench
    bench.book.kill_all()


def test_a_sound_folder_has_no_findings(bench):
    report = bench.report()
    assert report.findings == []
    assert report.counts["prompts accepted"] == 2
    assert report.counts["prompts delivered"] == 1
    assert report.statuses == {"done": 1, "stopped": 1}


def started(bench, how, session):
    process = subprocess.Popen(["sleep", "600"])
    bench.book.add(process.pid, world.start_of(process.pid), "seen", session)
    record = {"kind": "process", "session": session, "run": "", "pid": process.pid}
    record |= {"start": world.start_of(process.pid), "how": how}
    with bench.book.path.open("a") as file:
        file.write(json.dumps(record) + "\n")
    return process


def test_a_process_that_is_left_is_found_and_ended_by_the_finalizer(bench, wait_until):
    process = started(bench, ["leaves-session"], bench.scripted.id)
    wait_until(lambda: "sleep" in world.command_of(process.pid), what="it to become what it sleeps as")
    (finding,) = bench.findings()
    assert finding.kind == "leftovers"
    assert f"pid {process.pid} " in finding.text
    assert "sleep 600" in finding.text
    bench.book.kill_all()
    assert process.wait() == -9
    assert bench.findings() == []


def test_only_what_no_snapshot_knew_and_nothing_can_find_is_counted_apart(bench):
    bare = ["clears-environment", "leaves-session"]
    process = started(bench, bare, bench.scripted.id)
    # No runner was killed: its runner should have found it.
    assert bench.kinds == {"leftovers"}
    bench.kills = [RunnerKill(bench.command.id, frozenset())]
    assert bench.kinds == {"leftovers"}
    bench.kills = [RunnerKill(bench.scripted.id, frozenset({(process.pid, world.start_of(process.pid))}))]
    assert bench.kinds == {"leftovers"}
    bench.kills = [RunnerKill(bench.scripted.id, frozenset())]
    assert bench.findings() == []
    assert bench.report().counts["cleared and young"] == 1


def test_a_reused_pid_is_not_a_leftover(bench):
    bench.book.add(os.getpid(), world.start_of(os.getpid()) - 1, "seen")
    assert bench.findings() == []


def test_a_lost_prompt_is_found(bench):
    bench.sql("DELETE FROM prompts WHERE session = ?", bench.scripted.id)
    assert "prompts lost" in bench.kinds


def test_a_prompt_that_became_another_is_found(bench):
    bench.sql("UPDATE prompts SET text = ? WHERE session = ?", "torture-ffffffffffff", bench.scripted.id)
    assert bench.kinds == {"prompts lost"}


def test_an_accepted_turn_that_is_not_there_is_found(bench):
    bench.accepted("inject", "torture-00000000000c", bench.scripted.id, 2)
    assert bench.kinds == {"prompts lost"}


def test_a_command_line_may_report_a_turn_that_came_after_the_one_it_started(bench):
    doubled_turn(bench)
    bench.journal.append({"who": "test", "n": 3, "op": "retry", "state": "try", "session": bench.scripted.id})
    bench.sql("UPDATE prompts SET text = ? WHERE session = ? AND turn = 2", "torture-00000000000d", bench.scripted.id)
    line = {"n": 2, "op": "spawn", "state": "ok", "token": TOKEN, "session": bench.scripted.id, "turn": 2}
    found = {finding.text for finding in bench.findings() if "is not the prompt of turn" in finding.text}
    bench.journal.append({"who": "harness", **line})
    assert {f.text for f in bench.findings() if "is not the prompt of turn" in f.text} == found
    bench.journal[-1] = {"who": "harness", **line, "token": "torture-ffffffffffff"}
    assert len([f for f in bench.findings() if "is not the prompt of turn" in f.text]) == len(found) + 1


def test_a_session_that_vanished_is_found_unless_somebody_deleted_it(bench):
    bench.sql("PRAGMA foreign_keys = ON")
    for table, key in (("prompts", "session"), ("turns", "session"), ("sessions", "id")):
        bench.sql(f"DELETE FROM {table} WHERE {key} = ?", bench.scripted.id)
    assert bench.kinds == {"prompts lost", "stray files"}
    bench.journal.append({"who": "test", "n": 2, "op": "delete", "state": "try", "session": bench.scripted.id})
    assert bench.findings() == []


def test_a_done_turn_whose_agent_never_got_its_prompt_is_found(bench):
    bench.output.with_name("turn_1.prompt").write_text("something else")
    assert bench.kinds == {"prompts lost"}


def test_an_agent_whose_runner_was_killed_before_it_recorded_the_agent_did_get_its_prompt(bench):
    bench.sql("UPDATE turns SET agent_pid = NULL, agent_start = NULL WHERE session = ?", bench.scripted.id)
    assert "prompts lost" not in bench.kinds
    bench.output.write_bytes(b"")
    assert "prompts lost" in bench.kinds


def test_a_doubled_prompt_is_found(bench):
    bench.sql(
        "INSERT INTO prompts (session, turn, text, state, created_at)"
        " SELECT session, turn, text, state, created_at FROM prompts WHERE session = ?",
        bench.scripted.id,
    )
    assert bench.kinds == {"prompts doubled"}


def doubled_turn(bench):
    names = (
        "status, reason, launch, created_at, started_at, ended_at, agent_pid, stop_requested_at, exit_code, signal, end"
    )
    bench.sql(
        f"INSERT INTO turns (session, n, run_id, {names})"
        f" SELECT session, 2, ?, {names} FROM turns WHERE session = ? AND n = 1",
        str(uuid.uuid4()),
        bench.command.id,
    )
    bench.sql(
        "INSERT INTO prompts (session, turn, text, state, created_at)"
        " SELECT session, 2, text, state, created_at FROM prompts WHERE session = ?",
        bench.command.id,
    )
    bench.sql("UPDATE sessions SET turn = 2 WHERE id = ?", bench.command.id)


def test_a_doubled_turn_is_found_unless_somebody_asked_for_another_try(bench):
    doubled_turn(bench)
    assert bench.kinds == {"prompts doubled"}
    bench.journal.append({"who": "test", "n": 2, "op": "retry", "state": "try", "session": bench.command.id})
    assert bench.findings() == []


def test_a_run_that_was_given_its_prompt_twice_is_found(bench):
    for _ in range(2):
        with bench.book.path.open("a") as file:
            file.write(json.dumps({"kind": "prompt", "run": "r", "session": bench.scripted.id, "token": TOKEN}) + "\n")
    assert bench.kinds == {"prompts doubled"}


def test_a_gap_in_the_turns_is_found(bench):
    bench.sql("UPDATE sessions SET turn = 2 WHERE id = ?", bench.scripted.id)
    assert bench.kinds == {"turns"}


@pytest.mark.parametrize(
    ("statement", "which"),
    [
        ("UPDATE turns SET launch = 'no json' WHERE session = ?", "rows"),
        ("UPDATE turns SET left = '[1]' WHERE session = ?", "rows"),
        ("UPDATE sessions SET status = 'dancing' WHERE id = ?", "unknown status"),
        ("UPDATE turns SET steps = steps + 1 WHERE session = ?", "steps"),
    ],
)
def test_a_row_that_cannot_be_read_or_does_not_fit_its_file_is_found(bench, statement, which):
    bench.sql(statement, bench.scripted.id)
    found = [finding for finding in bench.findings() if finding.kind == "unreadable"]
    assert found
    assert which in found[0].text


def test_a_damaged_database_is_found(bench):
    for extra in bench.home.glob("agentdash.db-*"):
        extra.unlink()
    path = bench.home / "agentdash.db"
    data = bytearray(path.read_bytes())
    data[4096 : 4096 * 4] = b"\xff" * (4096 * 3)
    path.write_bytes(data)
    assert bench.kinds == {"unreadable"}


@pytest.mark.parametrize("name", ["session.json", "procs.json"])
def test_a_torn_file_is_found(bench, name):
    path = bench.home / "sessions" / bench.scripted.id / name
    path.write_bytes(b'{"format": 1, "ses')
    (finding,) = bench.findings()
    assert (finding.kind, name in finding.text) == ("unreadable", True)


def test_a_lost_line_of_a_turn_file_is_found(bench):
    bench.output.write_bytes(b"".join(bench.output.read_bytes().splitlines(keepends=True)[1:]))
    assert bench.kinds == {"unreadable"}


def test_a_lost_byte_of_a_turn_file_is_found(bench, made):
    run = sqlite3.connect(bench.home / "agentdash.db").execute(
        "SELECT run_id FROM turns WHERE session = ?", (bench.scripted.id,)
    )
    run_id = run.fetchone()[0]
    wrote = {"kind": "wrote", "run": run_id, "session": bench.scripted.id, "bytes": bench.output.stat().st_size}
    bench.book.path.write_text(json.dumps(wrote) + "\n")
    assert bench.findings() == []
    bench.book.path.write_text(json.dumps(wrote | {"bytes": wrote["bytes"] + 1}) + "\n")
    assert bench.kinds == {"bytes lost"}


def test_a_stray_file_is_found(bench):
    (bench.home / "live" / f"{bench.scripted.id}.1.jsonl").touch()
    assert bench.kinds == {"stray files"}


def test_a_green_without_the_proper_end_is_found(bench):
    bench.output.write_bytes(re.sub(rb'.*"type":"ended".*\n', b"", bench.output.read_bytes()))
    texts = [finding.text for finding in bench.findings() if finding.kind == "unjustified"]
    assert len(texts) == 1
    assert "no proper end" in texts[0]


@pytest.mark.parametrize(
    ("which", "change", "why"),
    [
        ("scripted", "exit_code = 3", "ended by 3"),
        ("scripted", "exit_code = NULL, signal = 'SIGKILL'", "ended by SIGKILL"),
        ("scripted", "exit_code = NULL", "by hearsay"),
        ("scripted", "status = 'failed'", "it ended well"),
        ("scripted", "status = 'lost'", "its end is known"),
        ("scripted", "status = 'stopped'", "no stop was recorded"),
        ("scripted", "status = 'running'", "although all was stopped"),
        ("scripted", "ended_at = NULL", "no time of its end"),
        ("command", "status = 'done'", "ended by SIGKILL"),
        ("command", "status = 'done', signal = NULL", "exit code is not known"),
        ("command", "stop_requested_at = NULL", "no stop was recorded"),
        ("command", "created_at = ended_at + 1000, ended_at = ended_at + 2000", "no front end asked"),
        ("command", "status = 'failed', signal = NULL", "nothing is known"),
        ("command", "status = 'lost', signal = NULL", "never killed"),
    ],
)
def test_a_status_that_the_facts_do_not_allow_is_found(bench, which, change, why):
    session = getattr(bench, which)
    bench.sql(f"UPDATE turns SET {change} WHERE session = ?", session.id)
    bench.sql(
        "UPDATE sessions SET status = (SELECT status FROM turns WHERE session = id) WHERE id = ?",
        session.id,
    )
    (finding,) = [finding for finding in bench.findings() if finding.kind == "unjustified"]
    assert why in finding.text


def test_a_turn_that_was_done_may_have_a_process_that_a_front_end_stopped(bench):
    bench.sql(
        "UPDATE turns SET exit_code = NULL, signal = 'SIGKILL', stop_requested_at = ended_at WHERE session = ?",
        bench.scripted.id,
    )
    (finding,) = bench.findings()
    assert "ended by SIGKILL" in finding.text
    bench.sql(
        "INSERT INTO requests (session, turn, kind, asked_by, created_at) SELECT session, n, 'stop', 'you', ended_at"
        " FROM turns WHERE session = ?",
        bench.scripted.id,
    )
    assert bench.findings() == []


def test_a_session_that_says_something_else_than_its_turn_is_found(bench):
    bench.sql("UPDATE sessions SET status = 'failed' WHERE id = ?", bench.scripted.id)
    assert bench.kinds == {"turns"}


def test_an_exit_code_that_the_agent_did_not_end_with_is_found(bench):
    run_id = sqlite3.connect(bench.home / "agentdash.db").execute("SELECT run_id FROM turns WHERE exit_code = 0")
    end = {"kind": "end", "run": run_id.fetchone()[0], "session": bench.scripted.id, "exit": 7, "signal": None}
    bench.book.path.write_text(json.dumps(end) + "\n")
    (finding,) = bench.findings()
    assert "the agent ended with 7" in finding.text


def test_an_agent_that_was_ended_for_another_session_is_found(bench):
    bench.sql("UPDATE turns SET status = 'failed' WHERE session = ?", bench.command.id)
    bench.sql("UPDATE sessions SET status = 'failed' WHERE id = ?", bench.command.id)
    assert bench.findings() == []
    run_id = sqlite3.connect(bench.home / "agentdash.db").execute("SELECT run_id FROM turns WHERE exit_code IS NULL")
    signed = {"kind": "process", "run": run_id.fetchone()[0], "session": bench.command.id, "pid": 1, "start": 0}
    bench.book.path.write_text(json.dumps(signed | {"how": ["agent"]}) + "\n")
    (finding,) = bench.findings()
    assert "who ended it" in finding.text


def test_a_front_end_without_words_and_a_runner_with_a_traceback_are_found(bench):
    bench.journal.append({"who": "t", "n": 3, "op": "stop", "state": "crash", "error": "IndexError: out of range"})
    (bench.home / "sessions" / bench.scripted.id / "runner.log").write_text("Traceback (most recent call last):\n")
    (bench.home / "cli.log").write_text("Traceback")
    assert bench.kinds == {"front ends crashed", "runners crashed"}
    assert len(bench.findings()) == 3


def test_the_hostile_agent_shows_every_behaviour_it_names(tmp_path, wait_until):
    """Each by what the kernel says of a process that claims to have it."""
    from torture.nasty import BEHAVIOURS

    book = Book(tmp_path / "book.jsonl")
    book.path.touch()
    try:
        for behaviour in BEHAVIOURS:
            script = (
                f"import sys, random; sys.path.insert(0, {str(NASTY.parent)!r})\n"
                "import nasty\n"
                f"nasty.__file__ = {str(NASTY)!r}\n"
                f"nasty.drawn = lambda dice: {{{behaviour!r}}}\n"
                f"nasty.start_child(nasty.Book({str(book.path)!r}, {behaviour!r}, 'r'), random.Random(1), 1)\n"
            )
            subprocess.run([sys.executable, "-c", script], check=True, env={"PATH": os.environ["PATH"], "MARK": "here"})
        for behaviour, shows in SIGNS.items():
            wait_until(lambda b=behaviour, s=shows: s(members(book, b)), what=behaviour)
        assert set(SIGNS) == set(BEHAVIOURS)
    finally:
        book.kill_all()
    assert book.living() == {}


def members(book, behaviour):
    return [pid for (pid, _), (session, _) in book.processes().items() if session == behaviour]


def status_of(pid):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines() if Path(f"/proc/{pid}").exists() else []
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def ignores(pid, number):
    return bool(int(status_of(pid).get("SigIgn", "0"), 16) >> (number - 1) & 1)


def alone_in(pid, call):
    with contextlib.suppress(ProcessLookupError):
        return call(pid) == pid
    return False


def descriptors(pid):
    with contextlib.suppress(OSError):
        return os.listdir(f"/proc/{pid}/fd")
    return ["?"]


def has_children(pid):
    with contextlib.suppress(OSError):
        return bool(Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    return False


def some(shows):
    """A sign that one process of several shows."""
    return lambda pids: any(shows(pid) for pid in pids)


SIGNS = {
    "ignores-int": some(lambda pid: ignores(pid, 2)),
    "ignores-term": some(lambda pid: ignores(pid, 15)),
    "double-forks": lambda pids: [world.start_of(pid) is None for pid in pids] == [True, False],
    "leaves-session": some(lambda pid: alone_in(pid, os.getsid)),
    "leaves-group": some(lambda pid: alone_in(pid, os.getpgid)),
    "closes-descriptors": some(lambda pid: descriptors(pid) == []),
    "clears-environment": some(lambda pid: world.start_of(pid) is not None and world.environment_of(pid) == {}),
    "respawns": lambda pids: len(pids) > 1 and any(map(has_children, pids)),
    "has-children": some(has_children),
    "stops-itself": some(lambda pid: status_of(pid).get("State", "").startswith("T")),
    "ends-soon": some(lambda pid: world.start_of(pid) is None),
}
"""How the kernel shows each behaviour."""


@pytest.mark.parametrize(
    ("reason", "written_later", "justified"),
    [
        ("its output is incomplete: the disk was full (exit 0)", 0, True),
        ("its output is incomplete: the disk was full (exit 0)", 1, False),
        ("exit 1", 0, False),
    ],
)
def test_a_command_is_failed_for_a_full_disk_only_if_it_met_one_and_wrote_nothing_more(
    bench, reason, written_later, justified
):
    """An agent that waited for room and went on has printed all that it wanted to."""
    bench.sql(
        "UPDATE turns SET status = 'failed', reason = ?, exit_code = 0 WHERE session = ?", reason, bench.command.id
    )
    bench.sql("UPDATE sessions SET status = 'failed' WHERE id = ?", bench.command.id)
    [(run,)] = sqlite3.connect(bench.home / "agentdash.db").execute(
        "SELECT run_id FROM turns WHERE session = ?", (bench.command.id,)
    )
    size = (bench.home / "sessions" / bench.command.id / "turns" / "turn_1.jsonl").stat().st_size
    with bench.book.path.open("a") as book:
        for kind, written in (("full", size - written_later), ("wrote", size)):
            book.write(json.dumps({"kind": kind, "run": run, "session": bench.command.id, "bytes": written}) + "\n")
    unjustified = [finding.text for finding in bench.findings() if finding.kind == "unjustified"]
    assert (unjustified == []) is justified, unjustified


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("begin_byte = 3", "turn 1 begins at byte 3, the one before it ends at 0"),
        ("end_byte = 3", "its turns end at 3 of {size} bytes"),
        ("stream = 7", "its turns end at 0 of {size} bytes"),
    ],
)
def test_bytes_that_belong_to_no_turn_are_lost(bench, change, told):
    """The rows give the turn a part of its file, or another file."""
    bench.sql(f"UPDATE turns SET {change} WHERE session = ?", bench.scripted.id)
    told = told.format(size=bench.output.stat().st_size)
    assert f"turn_1.jsonl: {told}" in " ".join(finding.text for finding in bench.findings())


@pytest.mark.parametrize(
    ("places", "lost"),
    [
        ([(None, 0, 10), (1, 10, 20), (1, 20, None)], []),
        ([(None, 0, None), (1, 10, None), (1, 20, None)], []),
        ([(None, 0, 10), (1, 10, 30), (None, 0, None)], []),
        ([(None, 0, 10), (1, 12, None)], ["turn 2 begins at byte 12, the one before it ends at 10"]),
        ([(None, 0, 10), (1, 8, None)], ["turn 2 begins at byte 8, the one before it ends at 10"]),
        ([(None, 0, 10), (1, 10, 29)], ["its turns end at 29 of 30 bytes"]),
    ],
    ids=["three turns", "open ends", "two files", "gap", "overlap", "rest"],
)
def test_the_turns_of_a_file_follow_each_other_without_a_gap(tmp_path, places, lost):
    folder = tmp_path / "sessions" / "s1" / "turns"
    folder.mkdir(parents=True)
    (folder / "turn_1.jsonl").write_bytes(b"x" * 30)
    turns = [turn(n, stream=stream, begin_byte=begin, end_byte=end) for n, (stream, begin, end) in enumerate(places, 1)]
    sessions, report = [(session("s1"), turns, [])], Report()
    check_streams(Scene(tmp_path, None, ends=ends_of(sessions)), sessions, report)
    assert [finding.text for finding in report.findings] == [f"codex session s1: turn_1.jsonl: {text}" for text in lost]
