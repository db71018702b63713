"""The audit of statuses: every turn has ended, in a state that the facts allow."""

import json
import sqlite3
from collections import defaultdict

from agentdash.sessions.model.session import ENDED, Status
from torture.report import name, output_of


def check_ends(scene, manager, sessions, report):
    """Every turn has ended, in a state that the facts allow and ``explain`` has a rule for."""
    ends = {record["run"]: record for record in scene.book.records("end")}
    signed = {record["run"] for record in scene.book.records("process") if "agent" in record["how"]}
    asked = requests(scene)
    for session, turns, _ in sessions:
        report.statuses[str(session.status)] += 1
        if [turn.n for turn in turns] != list(range(1, session.turn + 1)):
            report.add("turns", f"{name(session)}: turns {[turn.n for turn in turns]}, newest {session.turn}")
            continue
        if session.status is not turns[-1].status:
            report.add("turns", f"{name(session)} is {session.status}, its turn {turns[-1].status}")
        for turn in turns:
            wrong = unjustified(scene, session, turn, ends.get(turn.run_id), asked[session.id])
            if not wrong and not scene.full_disk and turn.run_id in signed and turn.run_id not in ends:
                wrong = _not_by_itself(turn, asked[session.id])
            if wrong:
                report.add("unjustified", f"{name(session)} turn {turn.n} is {turn.status} ({turn.reason}), {wrong}")
        try:
            told = manager.reader.explain(session.id)
        except Exception as error:
            report.add("unjustified", f"{name(session)}: explain raises {type(error).__name__}: {error}")
            continue
        if told.status is not session.status or not told.rule or not told.facts:
            report.add("unjustified", f"{name(session)}: explain says {told}")


def requests(scene):
    """When a stop, an interruption, or the end of a turn by an answer was asked for, by session.

    To close an idle agent is none of these.
    """
    found = defaultdict(list)
    with sqlite3.connect(scene.home / "agentdash.db") as db:
        for session, at in db.execute(
            "SELECT session, created_at FROM requests WHERE kind <> 'close' UNION ALL"
            " SELECT session, answered_at FROM asks WHERE json_extract(answer, '$.verdict') = 'stop'"
        ):
            found[session].append(at)
    return found


def unjustified(scene, session, turn, end, asked):
    """What speaks against the status of a turn; None where nothing does.

    ``end`` is what the agent itself wrote down before it ended.
    """
    if turn.status not in ENDED:
        return "although all was stopped"
    if turn.ended_at is None:
        return "but has no time of its end"
    if end is not None and turn.exit_code is not None and turn.exit_code != end["exit"]:
        return f"with exit code {turn.exit_code}, but the agent ended with {end['exit'] or end['signal']}"
    checks = {Status.DONE: _not_done, Status.FAILED: _not_failed, Status.STOPPED: _not_stopped, Status.LOST: _not_lost}
    return checks[turn.status](scene, session, turn, asked)


def _not_by_itself(turn, asked):
    """An agent that did not end itself was ended by agentdash, and then it is a stop of this very session."""
    if turn.status is Status.STOPPED or (turn.status is Status.DONE and _stopped_late(turn, asked)):
        return None
    return "but the agent did not end by itself: who ended it?"


def _stopped_late(turn, asked):
    """Whether the agent's turn was over, and a front end stopped its process before that had ended."""
    return turn.signal is not None and turn.stop_requested_at is not None and _was_asked_for(turn, asked)


def _was_asked_for(turn, asked):
    # The clock has milliseconds: a request of the same one may have come first.
    return any(turn.created_at <= at <= turn.ended_at for at in asked)


def _not_done(scene, session, turn, asked):
    killed = bool(turn.transport) and turn.session in scene.agent_kills
    late = (session.agent != "command" and _stopped_late(turn, asked)) or killed
    if not late and (turn.signal is not None or turn.exit_code not in (0, None)):
        return f"but ended by {turn.signal or turn.exit_code}"
    if session.agent == "command":
        return None if turn.exit_code == 0 else "but its exit code is not known"
    if not proper_end(output_of(scene, turn), session.agent):
        return "but its turn file holds no proper end"
    goes_on = bool(turn.transport) and turn.exit_code is None
    return None if late or goes_on or turn.exit_code == 0 or turn.session in scene.killed_sessions else "by hearsay"


def was_cut(scene, turn):
    """Whether the agent itself met a full disk and wrote nothing after that: its output cannot be whole."""
    bytes_of = {kind: {r["run"]: r["bytes"] for r in scene.book.records(kind)} for kind in ("full", "wrote")}
    full = bytes_of["full"].get(turn.run_id)
    return full is not None and bytes_of["wrote"].get(turn.run_id) == full


def _not_failed(scene, session, turn, asked):
    if turn.exit_code == 0 and session.agent == "command" and was_cut(scene, turn):
        return None if "output is incomplete" in (turn.reason or "") else "but for another reason than its full disk"
    if turn.exit_code == 0 and (session.agent == "command" or proper_end(output_of(scene, turn), session.agent)):
        return "but it ended well"
    if turn.agent_pid is None:
        return None if turn.reason else "without a reason"
    late = turn.end == "failed" and _stopped_late(turn, asked)
    if turn.transport and turn.signal is not None and turn.session not in scene.agent_kills and not late:
        return f"but no one killed its agent with {turn.signal}"
    known = turn.exit_code is not None or turn.signal is not None or turn.end is not None
    return None if known else "but nothing is known of its end"


def _not_stopped(scene, _, turn, asked):
    tried = {line.get("session") for line in scene.journal if line["op"] in ("stop", "kill", "delete")}
    if scene.full_disk and turn.session in tried:
        return None  # where no request could be written, a signal to the runner had to do
    if turn.started_at is None:
        return None if turn.reason == "stopped by you" else "but it never started"
    if turn.stop_requested_at is None:
        return "but no stop was recorded"
    if not _was_asked_for(turn, asked):
        return "but no front end asked for it while it was there"
    return None


def _not_lost(scene, _, turn, __):
    if turn.exit_code is not None or turn.signal is not None or turn.end is not None:
        return "but its end is known"
    if turn.session in scene.killed_sessions:
        return None
    return f"but its runner was never killed; its log: {_log_of(scene, turn.session)!r}"


def _log_of(scene, session):
    path = scene.home / "sessions" / session / "runner.log"
    return path.read_text()[-2_000:] if path.exists() else None


def proper_end(data, agent):
    """Whether a turn file holds the good end of this agent's protocol, by our own reading."""
    for line in data.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if agent == "scripted" and event.get("type") == "ended" and event.get("ok") is True:
            return True
        if agent == "scripted" and event.get("type") == "turn_ended" and event.get("status") == "completed":
            return True
        if agent == "codex" and event.get("type") == "turn.completed":
            return True
    return False
