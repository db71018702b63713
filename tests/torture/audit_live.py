"""The audit of live agents: asks and their answers, what was allowed and done, and what a dead agent may not hold."""

import contextlib
import fcntl
import json
import os
import sqlite3
from collections import Counter, defaultdict
from pathlib import Path

from agentdash.sessions.storage.files.line_reader import ArrivalTimes
from torture import book as world
from torture.report import name
from torture.stream import read_stream

ASKED_FOR = ("rm -rf build",)
"""The commands for which the scripts of the scripted agent need a permission."""
OVER = ("settled", "withdrawn", "expired", "lost")
"""The states of an ask that waits for nothing."""


def check_live(scene, sessions, report):
    """Every check of live agents."""
    rows = _rows(scene, "SELECT * FROM asks ORDER BY id")
    report.counts["live turns"] = sum(bool(turn.transport) for _, turns, _ in sessions for turn in turns)
    report.counts["agents closed for room"] = len(_rows(scene, "SELECT id FROM requests WHERE kind = 'close'"))
    streams = {}
    for session, turns, _ in sessions:
        streams |= _streams(scene, session, turns)
    check_asks(scene, rows, streams, report)
    check_recorded(scene, sessions, rows, streams, report)
    check_answers(scene, rows, report)
    check_actions(scene, sessions, streams, report)
    check_rest(scene, sessions, report)
    check_held(scene, report)


def check_asks(scene, rows, streams, report):
    """No ask waits, each was answered at most once, and agent and record agree about its answer."""
    report.counts["asks"] = len(rows)
    for row in rows:
        report.counts[f"ask {row['state']}"] += 1
        what, place = f"ask {row['id']} of session {row['session']}", (row["session"], row["stream"])
        if row["state"] not in OVER or row["settled_at"] is None:
            report.add("asks open", f"{what} is {row['state']}, and its agent is gone")
        if place not in streams:
            report.add("asks lost", f"{what} was asked by no process: stream {row['stream']}")
            continue
        heard = streams[place].answered.get(row["key"], [])
        given = json.loads(row["answer"])["verdict"] if row["answer"] else None
        if row["key"] not in streams[place].asked:
            report.add("asks lost", f"{what} is not in the output of its agent")
        if len(heard) > 1:
            report.add("asks answered twice", f"{what} was answered with {heard}")
        if given == "always" and not json.loads(row["ask"]).get("always"):
            given = "allow"  # agentdash remembers it, and the agent is allowed each time
        if heard and heard[0] != given:
            report.add("wrong answers", f"{what}: the agent was answered {heard[0]!r}, {given!r} is recorded")
        if row["state"] == "settled" and not heard:
            report.add("wrong answers", f"{what} is settled, and the agent got no answer")


def check_recorded(scene, sessions, rows, streams, report):
    """Each ask of a process is recorded, but for those that it printed while it was being ended."""
    recorded = {(row["session"], row["stream"], row["key"]) for row in rows}
    turns = {session.id: turns for session, turns, _ in sessions}
    for (session, number), stream in streams.items():
        if scene.full_disk or session in scene.killed_sessions:
            continue  # the runner was killed before it read them, or could not write
        own = [turn for turn in turns[session] if (turn.stream or turn.n) == number]
        for key in stream.asked:
            if (session, number, key) in recorded:
                continue
            if key in stream.answered or not _came_too_late(scene, session, own, stream.ends[key]):
                report.add("asks lost", f"{key!r} of session {session}, stream {number}, is not recorded")


def _came_too_late(scene, session, turns, end):
    """Whether this part of the output arrived when its process was being ended, or was dead."""
    last = max(turns, key=lambda turn: turn.n)
    times = ArrivalTimes(scene.home / "sessions" / session / "turns" / f"turn_{last.stream or last.n}.times")
    arrived, ending = times.at(end), last.stop_requested_at or last.ended_at
    return session in scene.agent_kills or arrived is None or (ending is not None and arrived >= ending)


def check_answers(scene, rows, report):
    """Each ask has the answer of the one front end that was told so, and no answer that no front end gave."""
    told, tried = defaultdict(list), defaultdict(set)
    for line in scene.journal:
        if line["op"] == "answer" and line["state"] == "try":
            tried[line.get("ask"), line["session"]].add(line["verdict"])
        elif line["op"] == "answer" and line["state"] == "ok":
            told[line["ask"]].append(line["verdict"])
    for ask, verdicts in told.items():
        if len(verdicts) > 1:
            report.add("asks answered twice", f"several front ends were told that they answered ask {ask}: {verdicts}")
    report.counts["answers accepted"] = sum(map(len, told.values()))
    for row in rows:
        what, given = f"ask {row['id']} of session {row['session']}", row["answer"]
        verdict = json.loads(given)["verdict"] if given else None
        if row["id"] in told and verdict not in told[row["id"]]:
            report.add("wrong answers", f"{what} has {verdict!r}, a front end answered {told[row['id']]}")
        if (given is None) is not (row["answered_at"] is None):
            report.add("wrong answers", f"{what} has the answer {given} since {row['answered_at']}")
        # A command line does not know the number of the ask before it has answered.
        known = tried[row["id"], row["session"]] | tried[None, row["session"]]
        if row["answered_by"] == "you" and verdict not in known:
            report.add("wrong answers", f"{what} has {verdict!r}, which no front end tried")


def check_actions(scene, sessions, streams, report):
    """What was allowed happened once, what was denied never: by the agents' output, and by the commands themselves."""
    ran = Counter((record["session"], record["command"]) for record in scene.book.records("ran"))
    for (session, number), stream in streams.items():
        where = f"session {session}, stream {number}"
        for key, times in stream.acted.items():
            verdicts = stream.answered.get(key, [])
            if not verdicts or verdicts[0] not in ("allow", "always", "answer"):
                report.add("denied and done", f"{where}: {key!r} was answered with {verdicts}")
            if times > 1:
                report.add("done twice", f"{where}: {key!r} was carried out {times} times")
        for command in stream.forbidden:
            report.add("denied and done", f"{where}: {command!r} was started without permission")
        for key in stream.unused:
            report.add("allowed and not done", f"{where}: {key!r}")
    for session, _, _ in sessions:
        own = [stream for (owner, _), stream in streams.items() if owner == session.id]
        for command in ASKED_FOR if own else ():
            started = sum(stream.started[command] for stream in own)
            over = sum(stream.over[command] for stream in own)
            times = ran[session.id, command]
            report.counts["allowed commands run"] += times
            if times > started:
                report.add("done twice", f"{name(session)}: {command!r} ran {times} times, {started} were started")
            if times < over:
                report.add("allowed and not done", f"{name(session)}: {command!r} ran {times} times, {over} are over")


def check_rest(scene, sessions, report):
    """No prompt is on its way, and no session waits for or with an agent that is dead."""
    for row in _rows(scene, "SELECT session, id, state FROM queue WHERE state IN ('sending', 'sent')"):
        report.add("prompts lost", f"prompt {row['id']} of session {row['session']} is still {row['state']}")
    waiting = Counter(row["session"] for row in _rows(scene, "SELECT session FROM asks WHERE state = 'open'"))
    for session, turns, _ in sessions:
        if session.warm_since is not None and not any(_lives(turn) for turn in turns):
            report.add("warm and dead", f"{name(session)} is warm since {session.warm_since}, its agent is dead")
        if session.asking != waiting[session.id]:
            report.add("asks open", f"{name(session)} counts {session.asking}, {waiting[session.id]} are open")


def check_held(scene, report):
    """No process has a FIFO of a session open, and no runner's lock is held."""
    below = f"{scene.home}/sessions/"
    for pid in world.pids():
        for path in _open_files(pid):
            if path.startswith(below) and Path(path.removesuffix(" (deleted)")).name in ("stdin", "poke"):
                report.add("held", f"{path} by pid {pid}: {world.command_of(pid)[:200]}")
    for lock in sorted((scene.home / "sessions").glob("*/runner.lock")):
        with lock.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                report.add("held", f"{lock} is locked")


def _streams(scene, session, turns):
    """The output of each process that was started live, by session and stream."""
    folder = scene.home / "sessions" / session.id / "turns"
    found = {}
    for number in sorted({turn.stream or turn.n for turn in turns if turn.transport}):
        data = b""
        with contextlib.suppress(FileNotFoundError):
            data = (folder / f"turn_{number}.jsonl").read_bytes()
        found[session.id, number] = read_stream(data, ASKED_FOR)
    return found


def _rows(scene, sql):
    with contextlib.closing(sqlite3.connect(scene.home / "agentdash.db")) as db:
        db.row_factory = sqlite3.Row
        return db.execute(sql).fetchall()


def _lives(turn):
    return turn.agent_pid is not None and world.start_of(turn.agent_pid) == turn.agent_start


def _open_files(pid):
    folder = f"/proc/{pid}/fd"
    with contextlib.suppress(OSError):
        for entry in os.listdir(folder):
            with contextlib.suppress(OSError):
                yield str(Path(folder, entry).readlink())
