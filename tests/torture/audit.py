"""What must be true afterwards, whatever was killed: checks over a state folder, the book and the journals.

Reads only.  Each check returns findings; none of them raises because of what it finds.
"""

import sqlite3
from collections import defaultdict

from agentdash.sessions.model.session import Status
from agentdash.sessions.service.manager import SessionManager
from torture.audit_ends import check_ends
from torture.audit_files import check_bytes, check_files, check_streams
from torture.audit_live import check_live
from torture.audit_prompts import check_prompts
from torture.book import command_of, unfindable
from torture.report import Report, ends_of

NO_ROOM = ("disk is full", "disk I/O error", "No space left", "File too large")
"""How SQLite and the kernel say that a disk is full."""


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
    check_live(scene, sessions, report)
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
            prompts = [one for one in manager.reader.prompts(session_id) if one.steered is None]
            found.append((session, manager.reader.turns(session_id), prompts))
        except Exception as error:
            report.add("unreadable", f"rows of session {session_id}: {type(error).__name__}: {error}")
    return found


def check_front_ends(scene, report):
    """No front end met an error that it has no words for."""
    for line in scene.journal:
        report.counts[f"asked: {line['state']}"] += line["state"] in ("ok", "refused")
        if line["state"] == "crash" and scene.full_disk and any(word in line["error"] for word in NO_ROOM):
            report.counts["asked: no room"] += 1
        elif line["state"] == "crash":
            report.add("front ends crashed", f"{line['op']} of {line.get('session', '-')}: {line['error'][-2500:]}")
