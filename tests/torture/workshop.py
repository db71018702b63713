"""The folder in which the torture happens, and all that front ends and the harness do with it."""

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import waiting

from agentdash.sessions.model.session import Status
from agentdash.sessions.service.manager import SessionManager
from scripted.registration import python_path
from torture import book as world
from torture import lines
from torture.book import Book
from torture.report import RunnerKill

HERE = Path(__file__).parent
PATIENCE = 90
"""Seconds for what must come about by itself, on a machine that is busy with other things."""

FINISHERS = 3
PLAYER = "scripted.process.live_player"

CONFIG = """
default_agent = "scripted"
[queue]
max_running = 16
[stop]
interrupt_seconds = 0.3
terminate_seconds = 0.3
[live]
keep_most = 2
[asks]
timeout = "4s"
on_timeout = "deny"
[[asks.rules]]
decide = "allow"
tool = "edit"
[agents.codex]
bin = "{codex}"
live = false
"""
CODEX = """#!/bin/sh
exec {python} -I -S {nasty} --book {book} --seed {seed} --protocol codex "$@"
"""
RM = """#!/bin/sh
printf '\\n{{"kind": "ran", "session": "%s", "command": "rm %s"}}\\n' "$AGENTDASH_SESSION_ID" "$*" >> {book}
exec {rm} "$@"
"""
"""Stands in for the program that live agents ask for: it enters in the book that it ran."""


until = partial(waiting.until, timeout=PATIENCE)


class Workshop:
    """A folder with a state folder, settings, the book and the journal; and the environment that names them."""

    def __init__(self, folder, seed, disk=None):
        self.folder = Path(folder)
        self.home = (disk.path if disk else self.folder) / "state"
        self._options = disk.options() if disk else {}
        self.book = Book(self.folder / "book.jsonl")
        self.journal_path = self.folder / "journal.jsonl"
        self._journal, self._read = [], 0
        self.project = self.folder / "project"
        self.temporary = self.folder / "tmp"
        for path in (self.project, self.temporary, self.home):
            path.mkdir(parents=True, exist_ok=True)
        codex = self.folder / "codex"
        words = {"python": sys.executable, "nasty": HERE / "nasty.py", "book": self.book.path, "seed": seed}
        codex.write_text(CODEX.format(**words))
        codex.chmod(0o700)
        programs = self.folder / "bin"
        programs.mkdir(exist_ok=True)
        (programs / "rm").write_text(RM.format(book=self.book.path, rm=shutil.which("rm")))
        (programs / "rm").chmod(0o700)
        self.config = self.folder / "config.toml"
        self.config.write_text(CONFIG.format(codex=codex))
        own = {"AGENTDASH_HOME": str(self.home), "AGENTDASH_CONFIG": str(self.config), "TMPDIR": str(self.temporary)}
        base = {key: value for key, value in os.environ.items() if not key.startswith("AGENTDASH_")}
        own["PATH"] = f"{programs}:{os.environ['PATH']}"
        self.env = (
            base
            | own
            | {
                "PYTHONPATH": python_path(),
                "LC_ALL": "C.UTF-8",
                "TERM": "xterm-256color",
                "COLUMNS": "120",
                "LINES": "40",
            }
        )

    def start(self, argv, role, **options):
        """Start a process of the harness, and enter it in the book."""
        process = subprocess.Popen(argv, cwd=self.project, env=self.env, **self._options, **options)
        self.book.add(process.pid, world.start_of(process.pid), role)
        return process

    def unlimited(self):
        """Make room for the front ends that are started from this moment on."""
        self._options = {}

    def front(self, name, seed, *words):
        """Start a front end."""
        argv = [sys.executable, str(HERE / "front.py"), str(self.folder), name, str(seed), *words]
        with (self.folder / "fronts.log").open("ab") as log:
            return self.start(argv, "front end", stdout=log, stderr=log)

    def note(self, **line):
        """A line of the journal by the harness itself, for command lines."""
        lines.append(self.journal_path, {"who": "harness", "n": 0} | line)

    def journal(self):
        """All that front ends wrote down; a line that is half written comes with the next call."""
        if self.journal_path.exists():
            with self.journal_path.open("rb") as file:
                file.seek(self._read)
                found, size = lines.records(file.read())
            self._read += size
            self._journal += found
        return self._journal

    def manager(self):
        """A manager of the harness's own; for looking, settling and the end."""
        return SessionManager(home=self.home, config_path=self.config)

    def rows(self, sql):
        """Rows of the database, read as they are; none if it cannot be read at this moment."""
        with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(self.home / "agentdash.db")) as db:
            return db.execute(sql).fetchall()
        return []

    def live_agents(self):
        """The processes of live agents: ``(pid, start, session)``."""
        found = world.tagged(self.home)
        return [
            (pid, start, env["AGENTDASH_SESSION_ID"])
            for pid, start, env in found
            if "AGENTDASH_SESSION_ID" in env and "AGENTDASH_RUNNER" not in env and PLAYER in world.command_of(pid)
        ]

    def kill_runner(self, pid, start, session):
        """Kill -9 a runner; what its last snapshot knew, or None if it was gone already."""
        if not world.kill(pid, start):
            return None
        until(lambda: world.start_of(pid) != start, what=f"runner {pid} to die")
        return RunnerKill(session=session, known=self.snapshot(session))

    def snapshot(self, session):
        """The processes in ``procs.json``."""
        try:
            data = json.loads((self.home / "sessions" / session / "procs.json").read_bytes())
        except (OSError, ValueError):
            return frozenset()
        return frozenset((pid, start) for pid, start in data["processes"])

    def finish(self):
        """Stop what is at work until nothing is left in the queue, then sweep, and wait until the runners are gone."""
        with self.manager() as manager:
            self._end_all_sessions(manager)
            self._stop("stop")
        until(lambda: not world.runners(self.home), what="the runners to leave")
        self.book.add_tagged(self.home)

    def _end_all_sessions(self, manager):
        """Stop the sessions that run, until all have ended; as long as anything changes there is hope.

        A queued turn must get its runner without help, so no turn is stopped in the queue.
        """
        before, changed_at = None, time.monotonic()
        while opened := self._open_sessions(manager):
            if opened != before:
                before, changed_at = opened, time.monotonic()
            elif time.monotonic() - changed_at > PATIENCE:
                raise waiting.StuckError(f"nothing changed for {PATIENCE} s in {sorted(opened)}")
            if any(Status(status).live for _, _, status in opened):
                self._stop("end")
            time.sleep(waiting.BETWEEN_SECONDS)

    def _open_sessions(self, manager):
        """The sessions that have not ended: id, turn and status."""
        manager.housekeeping.settle()
        self.book.add_tagged(self.home)
        sessions = manager.reader.sessions()
        return {(session.id, session.turn, session.status.value) for session in sessions if not session.status.ended}

    def _stop(self, what):
        """By several front ends at once, each a process of its own."""
        fronts = [self.front(f"finisher {n}", n, what, str(n), str(FINISHERS)) for n in range(FINISHERS)]
        for front in fronts:
            front.wait(PATIENCE)
