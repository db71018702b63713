"""What must be true afterwards, whatever was killed: checks over a state folder, the book and the journals.

Reads only.  Each check returns findings; none of them raises because of what it finds.
"""

import json
import sqlite3
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.manager import SessionManager
from agentdash.sessions.model import ENDED, Status
from agentdash.sessions.storage.line_reader import LineReader
from torture.book import Book, command_of, unfindable
from torture.nasty import TOKEN

NO_ROOM = ("disk is full", "disk I/O error", "No space left", "File too large")
"""How SQLite and the kernel say that a disk is full."""


@dataclass(frozen=True)
class Finding:
    """One thing that must not be."""

    kind: str
    text: str


@dataclass(frozen=True)
class RunnerKill:
    """One kill -9 of a runner, and which processes its last snapshot knew."""

    session: str
    known: frozenset


@dataclass
class Scene:
    """All that the audit looks at."""

    home: Path
    book: Book
    journal: list = field(default_factory=list)
    kills: list = field(default_factory=list)
    full_disk: bool = False
    """Runners may then have died by themselves, and agents without having been given anything."""
    ends: dict = field(default_factory=dict)
    """The offset behind the output of each turn in its file, by session and turn; None: the end of the file."""

    @property
    def killed_sessions(self):
        """Those whose runner was killed at least once."""
        return {kill.session for kill in self.kills}


@dataclass
class Report:
    """What was found, and what was counted."""

    findings: list = field(default_factory=list)
    counts: Counter = field(default_factory=Counter)
    statuses: Counter = field(default_factory=Counter)
    apart: list = field(default_factory=list)
    """Processes that nothing could have found: environment cleared after the last snapshot of a killed runner."""

    def add(self, kind, text):
        """Note a finding."""
        self.findings.append(Finding(kind, text))
        self.counts[kind] += 1


def audit(scene):
    """Every check, in one report."""
    report = Report()
    check_leftovers(scene, report)
    if not check_database(scene, report):
        return report
    with SessionManager(home=scene.home, config_path=scene.home / "no-settings.toml") as manager:
        sessions = read_all(manager, report)
        scene.ends = ends_of(sessions)
        check_ends(scene, manager, sessions, report)
        check_prompts(scene, sessions, report)
    check_files(scene, sessions, report)
    check_bytes(scene, sessions, report)
    check_streams(scene, sessions, report)
    check_front_ends(scene, report)
    return report


def check_leftovers(scene, report):
    """No process on our own list lives; those that only a dead runner could know are counted apart."""
    processes = scene.book.processes()
    report.counts["processes started"] = len(processes)
    known = defaultdict(set)
    for kill in scene.kills:
        known[kill.session] |= kill.known
    living = scene.book.living()
    for key, (session, how) in living.items():
        if session in known and unfindable(how) and key not in known[session]:
            report.apart.append(key)
        else:
            traits = ", ".join(sorted(how))
            report.add("leftovers", f"pid {key[0]} of session {session or '-'} ({traits}): {command_of(key[0])[:200]}")
    report.counts["cleared and young"] = len(report.apart)
    report.counts["found and ended"] = len(processes) - len(living)


def check_database(scene, report):
    """SQLite's own word on the file."""
    try:
        with sqlite3.connect(scene.home / "agentdash.db") as db:
            if (said := db.execute("PRAGMA integrity_check").fetchone()[0]) != "ok":
                report.add("unreadable", f"agentdash.db: {said}")
            if found := db.execute("PRAGMA foreign_key_check").fetchall():
                report.add("unreadable", f"agentdash.db: broken references {found}")
            for table in ("sessions", "turns"):
                names = {name for (name,) in db.execute(f"SELECT DISTINCT status FROM {table}")}
                if odd := names - set(Status):
                    report.add("unreadable", f"{table} hold an unknown status: {odd}")
    except sqlite3.DatabaseError as error:
        report.add("unreadable", f"agentdash.db: {error}")
        return False
    return True


def read_all(manager, report):
    """Every row decoded: ``(session, turns, prompts)`` each."""
    found = []
    with sqlite3.connect(manager.reader.home / "agentdash.db") as db:
        ids = [row[0] for row in db.execute("SELECT id FROM sessions ORDER BY rowid")]
    for session_id in ids:
        try:
            session = manager.reader.get(session_id)
            found.append((session, manager.reader.turns(session_id), manager.reader.prompts(session_id)))
        except Exception as error:
            report.add("unreadable", f"rows of session {session_id}: {type(error).__name__}: {error}")
    return found


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
    """When a stop was asked for, by session."""
    found = defaultdict(list)
    with sqlite3.connect(scene.home / "agentdash.db") as db:
        for session, at in db.execute("SELECT session, created_at FROM requests"):
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
    """Whether the agent's turn was done, and a front end stopped its process before that had ended."""
    return turn.signal is not None and turn.stop_requested_at is not None and _was_asked_for(turn, asked)


def _was_asked_for(turn, asked):
    # The clock has milliseconds: a request of the same one may have come first.
    return any(turn.created_at <= at <= turn.ended_at for at in asked)


def _not_done(scene, session, turn, asked):
    late = session.agent != "command" and _stopped_late(turn, asked)
    if not late and (turn.signal is not None or turn.exit_code not in (0, None)):
        return f"but ended by {turn.signal or turn.exit_code}"
    if session.agent == "command":
        return None if turn.exit_code == 0 else "but its exit code is not known"
    if not proper_end(output_of(scene, turn), session.agent):
        return "but its turn file holds no proper end"
    return None if late or turn.exit_code == 0 or turn.session in scene.killed_sessions else "by hearsay"


def was_cut(scene, turn):
    """Whether the agent itself met a full disk and wrote nothing after that: its output cannot be whole."""
    bytes_of = {kind: {r["run"]: r["bytes"] for r in scene.book.records(kind)} for kind in ("full", "wrote")}
    full = bytes_of["full"].get(turn.run_id)
    return full is not None and bytes_of["wrote"].get(turn.run_id) == full


def _not_failed(scene, session, turn, _):
    if turn.exit_code == 0 and session.agent == "command" and was_cut(scene, turn):
        return None if "output is incomplete" in (turn.reason or "") else "but for another reason than its full disk"
    if turn.exit_code == 0 and (session.agent == "command" or proper_end(output_of(scene, turn), session.agent)):
        return "but it ended well"
    if turn.agent_pid is None:
        return None if turn.reason else "without a reason"
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
    return None if turn.session in scene.killed_sessions else "but its runner was never killed"


def proper_end(data, agent):
    """Whether a turn file holds the good end of this agent's protocol, by our own reading."""
    for line in data.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if agent == "demo" and event.get("type") == "ended" and event.get("ok") is True:
            return True
        if agent == "codex" and event.get("type") == "turn.completed":
            return True
    return False


def ends_of(sessions):
    """Where the output of each turn ends, by our own reading of the rows: where the next one of its file begins, if
    it has no end of its own."""
    ends, begins = {}, {}
    for session, turns, _ in sessions:
        for turn in reversed(turns):
            file = session.id, turn.stream or turn.n
            ends[session.id, turn.n] = begins.get(file) if turn.end_byte is None else turn.end_byte
            begins[file] = turn.begin_byte
    return ends


def file_of(scene, turn):
    """The file with the output of a turn."""
    return scene.home / "sessions" / turn.session / "turns" / f"turn_{turn.stream or turn.n}.jsonl"


def output_of(scene, turn):
    """The bytes that a turn has of its file; none where it was never made."""
    try:
        return file_of(scene, turn).read_bytes()[turn.begin_byte : scene.ends[turn.session, turn.n]]
    except FileNotFoundError:
        return b""


def check_prompts(scene, sessions, report):
    """What a front end was told was accepted is there once, and no agent was given anything twice."""
    rows = {(s.id, p.turn): tokens_of(p.text) for s, _, prompts in sessions for p in prompts}
    _check_rows(sessions, report)
    with SessionManager(scene.home) as manager:
        waiting = {s.id: {t for p in manager.queue.prompts(s.id) for t in tokens_of(p.text)} for s, _, _ in sessions}
    _check_accepted(scene, waiting, rows, report)
    _check_copies(scene, rows, report)
    _check_delivered(scene, sessions, rows, report)


def tokens_of(text):
    """The tokens of a prompt, in order."""
    return TOKEN.findall(text)


def _check_rows(sessions, report):
    """Each turn has exactly one prompt."""
    for session, turns, prompts in sessions:
        if (found := sorted(prompt.turn for prompt in prompts)) != [turn.n for turn in turns]:
            report.add("prompts doubled", f"{name(session)}: prompts of turns {found}, but {len(turns)} turns")


def _check_accepted(scene, waiting, rows, report):
    """An acceptance is a promise: the row stands where the front end said, or the prompt waits, or has waited."""
    deleted = {line.get("session") for line in scene.journal if line["op"] in ("delete", "rm")}
    for line in scene.journal:
        if line["state"] != "ok" or line["op"] not in ("spawn", "inject", "retry"):
            continue
        report.counts["prompts accepted"] += 1
        session, turn = line["session"], line["turn"]
        if session not in waiting:
            if session not in deleted:
                report.add("prompts lost", f"session {session} is gone, and no front end asked for that: {line}")
            continue
        # A command line prints the session as it is once the turn has started: a later turn may be the newest by then.
        if line["op"] == "inject" and line.get("token"):
            later = {token for (other, _), tokens in rows.items() if other == session for token in tokens}
            if line["token"] not in later | waiting[session]:
                report.add("prompts lost", f"it is no prompt of {session}: {line}")
            continue
        first = (1 if line.get("token") else 2) if line["who"] == "harness" else turn
        if not any(_is_kept(line, rows, session, n) for n in range(min(first, turn), turn + 1)):
            report.add("prompts lost", f"it is not the prompt of turn {turn} of {session}: {line}")


def _is_kept(line, rows, session, turn):
    """Return whether a turn has the accepted prompt; that of a retry is the prompt of the turn before."""
    wanted = line.get("token") or next(iter(rows.get((session, turn - 1), [])), None)
    return wanted is None or wanted in rows.get((session, turn), [])


def _check_copies(scene, rows, report):
    """Two turns have the same words only if a front end asked for another try."""
    retries = Counter(line["session"] for line in scene.journal if (line["op"], line["state"]) == ("retry", "try"))
    places = defaultdict(list)
    for place, tokens in rows.items():
        for token in tokens:
            places[token].append(place)
    for token, found in places.items():
        homes = {session for session, _ in found}
        if len(homes) > 1 or len(found) > 1 + sum(retries[session] for session in homes):
            report.add("prompts doubled", f"{token} stands in {sorted(found)}")


def _check_delivered(scene, sessions, rows, report):
    """By the agents' own word: each run was given one prompt at most once, and its own."""
    given = defaultdict(list)
    for record in scene.book.records("prompt"):
        given[record["run"]].append(record["token"])
    report.counts["prompts delivered"] = sum(map(len, given.values()))
    for run, tokens in given.items():
        if len(tokens) > 1:
            report.add("prompts doubled", f"run {run} was given {tokens}")
    for session, turns, prompts in sessions:
        states = {prompt.turn: prompt.state for prompt in prompts}
        for turn in turns:
            wanted = rows.get((session.id, turn.n), [])
            told = given.get(turn.run_id, [])
            if session.agent == "demo":
                told = [token for token in wanted if token.encode() in read_prompt(scene, turn)]
                report.counts["prompts delivered"] += len(told)
            if told and told != wanted[-1:]:
                report.add("prompts lost", f"{name(session)} turn {turn.n} was given {told} instead of {wanted}")
            if turn.status is Status.DONE and not told and wanted:
                report.add("prompts lost", f"{name(session)} turn {turn.n} is done, but never got {wanted}")
            if told and states.get(turn.n) == "unsent":
                report.add("prompts doubled", f"{name(session)} turn {turn.n}: delivered, but called unsent")


def read_prompt(scene, turn):
    """The text on a started agent's standard input; an agent that printed has started, even if its runner was killed
    before it recorded the agent's identity."""
    turns = scene.home / "sessions" / turn.session / "turns"
    if turn.agent_pid is None and not output_of(scene, turn):
        return b""
    try:
        return (turns / f"turn_{turn.n}.prompt").read_bytes()
    except FileNotFoundError:
        return b""


def check_files(scene, sessions, report):
    """Every file can be read, every line of it counts, and nothing lies where nothing belongs."""
    for path in sorted((scene.home / "live").iterdir()):
        report.add("stray files", f"{path} ({path.stat().st_nlink} names)")
    present = {session.id for session, _, _ in sessions}
    for folder in sorted((scene.home / "sessions").iterdir()):
        _check_folder(folder, present, scene, report)
    for session, turns, _ in sessions:
        if not (scene.home / "sessions" / session.id).is_dir():
            report.add("unreadable", f"{name(session)} has no folder")
        for turn in turns:
            _check_turn_file(scene, session, turn, report)
    for path in (scene.home / "cli.log", scene.home / "dashboard.log"):
        if path.exists():
            report.add("front ends crashed", f"{path}: {path.read_text(errors='replace')[-2000:]}")


def _check_folder(folder, present, scene, report):
    tried = any(line["op"] in ("delete", "rm") and line.get("session") == folder.name for line in scene.journal)
    if folder.name not in present and not tried:
        # A front end that was killed between making the folder and recording the session leaves an empty one.
        turns = folder / "turns"  # made after the folder
        kind = "stray files" if turns.is_dir() and any(turns.iterdir()) else "empty folders"
        report.counts[kind] += 1
        if kind == "stray files":
            report.findings.append(Finding(kind, f"{folder} belongs to no session"))
    for path in (folder / "session.json", folder / "procs.json"):
        try:
            json.loads(path.read_bytes())
        except FileNotFoundError:
            pass  # it is written by a runner, and none may have come that far
        except ValueError as error:
            report.add("unreadable", f"{path}: {error}")
    report.counts["temporaries"] += len(list(folder.glob(".*")))
    log = folder / "runner.log"
    if not scene.full_disk and log.exists() and (text := log.read_text(errors="replace").strip()):
        report.counts["runner logs"] += 1
        if "Traceback" in text:
            report.add("runners crashed", f"{log}: {text[-3000:]}")


def _check_turn_file(scene, session, turn, report):
    """A fresh reading of the bytes gives the counts of the row."""
    path = file_of(scene, turn)
    parser = agent_named(session.agent).parser(turn.n, turn.transport)
    steps = lines = 0
    with LineReader(path, turn.begin_byte, end=scene.ends[session.id, turn.n]) as reader:
        for line in reader.all_lines():
            lines += bool(line.strip())
            steps = max([steps, *(step.index + 1 for step in parser.feed(line))])
    report.counts["lines"] += lines
    if parser.facts.lines != lines:
        report.add("unreadable", f"{path}: {lines} lines, {parser.facts.lines} accounted for")
    if (turn.steps, turn.unknown) != (steps, parser.facts.unknown):
        report.add(
            "unreadable",
            f"{name(session)} turn {turn.n} ({turn.status}): {turn.steps} steps ({turn.unknown} unknown) recorded,"
            f" {steps} ({parser.facts.unknown}) in the file",
        )


def check_front_ends(scene, report):
    """No front end met an error that it has no words for."""
    for line in scene.journal:
        report.counts[f"asked: {line['state']}"] += line["state"] in ("ok", "refused")
        if line["state"] == "crash" and scene.full_disk and any(word in line["error"] for word in NO_ROOM):
            report.counts["asked: no room"] += 1
        elif line["state"] == "crash":
            report.add("front ends crashed", f"{line['op']} of {line.get('session', '-')}: {line['error'][-2500:]}")


def check_bytes(scene, sessions, report):
    """Every byte that an agent could write is in its turn file, and no other."""
    wrote = {record["run"]: record["bytes"] for record in scene.book.records("wrote")}
    at_least = {record["run"]: record["bytes"] for record in scene.book.records("full")}
    for session, turns, _ in sessions:
        for turn in turns:
            size = len(output_of(scene, turn))
            if turn.run_id in wrote and size != wrote[turn.run_id]:
                report.add("bytes lost", f"{name(session)}: {wrote[turn.run_id]} written, {size} in the turn file")
            elif size < at_least.get(turn.run_id, 0):
                report.add("bytes lost", f"{name(session)}: {at_least[turn.run_id]} written, {size} in the turn file")
    report.counts["bytes compared"] = sum((at_least | wrote).values())


def check_streams(scene, sessions, report):
    """Every byte of a turn file belongs to exactly one turn: the turns of a file follow each other without a gap."""
    for session, turns, _ in sessions:
        folder = scene.home / "sessions" / session.id / "turns"
        sizes = {path: path.stat().st_size for path in folder.glob("turn_*.jsonl")}
        upto = dict.fromkeys(sizes, 0)
        for turn in turns:
            path, end = file_of(scene, turn), scene.ends[session.id, turn.n]
            if turn.begin_byte != upto.get(path, 0):
                what = f"turn {turn.n} begins at byte {turn.begin_byte}, the one before it ends at {upto.get(path, 0)}"
                report.add("bytes lost", f"{name(session)}: {path.name}: {what}")
            upto[path] = sizes.get(path, 0) if end is None else end
        for path, size in sizes.items():
            if upto[path] != size:
                report.add("bytes lost", f"{name(session)}: {path.name}: its turns end at {upto[path]} of {size} bytes")
        report.counts["bytes in turns"] += sum(upto.values())


def name(session):
    """A session in a message."""
    return f"{session.agent} session {session.id}"
