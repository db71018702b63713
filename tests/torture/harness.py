"""The torture itself: front ends, command lines and dashboards at work on one state folder, and chaos among them."""

import contextlib
import fcntl
import json
import os
import pty
import random
import struct
import subprocess
import sys
import termios
import time
from collections import Counter
from functools import partial
from pathlib import Path

import waiting

from agentdash.sessions.agents.demo.place import mark_demo
from agentdash.sessions.manager import SessionManager
from agentdash.sessions.model import Status
from torture import book as world
from torture import lines
from torture.audit import RunnerKill, Scene, audit
from torture.book import Book

HERE = Path(__file__).parent
AGENTDASH = [sys.executable, "-P", "-m", "agentdash"]
PATIENCE = 90
"""Seconds for what must come about by itself, on a machine that is busy with other things."""

CYCLES_OF_A_FRONT = 8
FINISHERS = 3
KEYS = (b"j", b"k", b"x", b"y", b"\r", b"\x1b")
VICTIMS = {"runner": 5, "front end": 3, "command line": 3, "dashboard": 1}
"""What is killed, and how often."""

CONFIG = """
default_agent = "demo"
[queue]
max_running = 16
[stop]
interrupt_seconds = 0.3
terminate_seconds = 0.3
[agents.codex]
live = false
bin = "{codex}"
"""
CODEX = """#!/bin/sh
exec {python} -I -S {nasty} --book {book} --seed {seed} --protocol codex "$@"
"""


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
        mark_demo(self.home, self.folder)
        codex = self.folder / "codex"
        words = {"python": sys.executable, "nasty": HERE / "nasty.py", "book": self.book.path, "seed": seed}
        codex.write_text(CODEX.format(**words))
        codex.chmod(0o700)
        self.config = self.folder / "config.toml"
        self.config.write_text(CONFIG.format(codex=codex))
        own = {"AGENTDASH_HOME": str(self.home), "AGENTDASH_CONFIG": str(self.config), "TMPDIR": str(self.temporary)}
        base = {key: value for key, value in os.environ.items() if not key.startswith("AGENTDASH_")}
        self.env = base | own | {"LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "COLUMNS": "120", "LINES": "40"}

    def start(self, argv, role, **options):
        """Start a process of the harness, and enter it in the book."""
        process = subprocess.Popen(argv, cwd=self.project, env=self.env, **self._options, **options)
        self.book.add(process.pid, world.start_of(process.pid), role)
        return process

    def unlimited(self):
        """Whoever is started from now on finds room."""
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


class Dashboard:
    """The real dashboard in a pseudo terminal that somebody reads."""

    def __init__(self, workshop):
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        os.set_blocking(self._master, False)
        try:
            self.process = workshop.start(
                AGENTDASH, "dashboard", stdin=slave, stdout=slave, stderr=slave, start_new_session=True
            )
        finally:
            os.close(slave)
        self.painted = 0

    def read(self):
        """Take what it has painted, as a terminal does."""
        with contextlib.suppress(BlockingIOError, OSError):
            while data := os.read(self._master, 65536):
                self.painted += len(data)

    def press(self, key):
        """Press a key."""
        with contextlib.suppress(OSError):
            os.write(self._master, key)

    def close(self):
        """Close the terminal; whoever is still in it gets a hangup."""
        os.close(self._master)


class Torture:
    """A run with a seed: so many cycles, so many kills, then the audit."""

    def __init__(self, folder, *, seed, cycles, kills, fronts=3):
        self.seed, self.cycles, self.kills = seed, cycles, kills
        self._width = fronts
        self._dice = random.Random(seed)
        self._shop = Workshop(folder, seed)
        self._fronts = []
        self._lines = []
        self._dashboard = None
        self._runner_kills = []
        self.faults = Counter()
        self.started = Counter()
        self._crashes = []

    def run(self):
        """Torture, finish, look; the audit's report."""
        try:
            with self._shop.manager():
                pass  # the state folder is there before anybody is killed in it
            self._chaos()
            self._calm()
            self._shop.finish()
            return self._audited()
        finally:
            self._end_all()

    def _chaos(self):
        next_kill = 0.0
        while self._spawned() < self.cycles or sum(self.faults.values()) < self.kills:
            self._keep_busy()
            self._shop.book.add_tagged(self._shop.home)
            now = time.monotonic()
            if now >= next_kill and sum(self.faults.values()) < self.kills:
                self._kill(*self._dice.choices(list(VICTIMS), VICTIMS.values()))
                next_kill = now + self._dice.uniform(0.05, 0.6)
            time.sleep(0.02)

    def _spawned(self):
        return sum((line["op"], line["state"]) == ("spawn", "ok") for line in self._shop.journal())

    def _keep_busy(self):
        """There are always some front ends, one or two command lines and a dashboard."""
        self._fronts = [front for front in self._fronts if front.poll() is None]
        while len(self._fronts) < self._width:
            self.started["front end"] += 1
            name = f"front {self.started['front end']}"
            seed = self._dice.getrandbits(32)
            self._fronts.append(self._shop.front(name, seed, "cycles", str(CYCLES_OF_A_FRONT)))
        self._lines = [line for line in self._lines if not line.over()]
        if len(self._lines) < 2:
            self.started["command line"] += 1
            self._lines.append(CommandLine(self._shop, self._dice, self.started["command line"]))
        if self._dashboard is None:
            self.started["dashboard"] += 1
            self._dashboard = Dashboard(self._shop)
        self._dashboard.read()
        if self._dashboard.process.poll() is not None:
            self._crashes.append(f"the dashboard ended by itself with {self._dashboard.process.returncode}")
            self._drop_dashboard()
        elif self._dashboard.painted and self._dice.random() < 0.1:
            self._dashboard.press(self._dice.choice(KEYS))

    def _kill(self, victim):
        """One kill -9, if there is somebody to be killed."""
        if victim == "runner":
            if (found := self._drawn_runner()) is None or (done := self._shop.kill_runner(*found)) is None:
                return
            self._runner_kills.append(done)
        elif victim == "front end":
            front = self._dice.choice(self._fronts)
            front.kill()
            front.wait()
        elif victim == "command line":
            if not self._lines:
                return
            self._dice.choice(self._lines).kill()
        elif self._dashboard is None or not self._dashboard.painted:
            return
        else:
            self._dashboard.process.kill()
            self._drop_dashboard()
        self.faults[victim] += 1

    def _drawn_runner(self):
        """Any runner; or one that is just starting, or just stopping something: there the moments are short."""
        found = world.runners(self._shop.home)
        wanted = self._dice.choice(["any", "newborn", "stopping"])
        if wanted == "newborn":
            return max(found, key=lambda runner: runner[1], default=None)
        asked = {line["session"] for line in self._shop.journal()[-20:] if line["op"] in ("stop", "kill", "delete")}
        stopping = [runner for runner in found if runner[2] in asked]
        if wanted == "stopping" and stopping:
            return self._dice.choice(stopping)
        return self._dice.choice(found) if found else None

    def _drop_dashboard(self):
        self._dashboard.process.wait()
        self._dashboard.close()
        self._dashboard = None

    def _calm(self):
        """No more kills: who is at work may finish."""
        if self._dashboard is not None:
            self._dashboard.process.kill()
            self._drop_dashboard()
        for front in self._fronts:
            front.wait(PATIENCE)
        for line in self._lines:
            until(line.over, what=f"agentdash {' '.join(line.words)}")

    def _audited(self):
        journal = self._shop.journal()
        report = audit(Scene(self._shop.home, self._shop.book, journal, self._runner_kills))
        for text in self._crashes:
            report.add("front ends crashed", text)
        if errors := (self._shop.folder / "fronts.log").read_text(errors="replace").strip():
            report.add("front ends crashed", errors[-3000:])
        report.counts["cycles"] = self._spawned()
        return report

    def _end_all(self):
        """Whatever went wrong: nobody whom we started survives."""
        for process in [*self._fronts, *(line.process for line in self._lines)]:
            process.kill()
            process.wait()
        if self._dashboard is not None:
            self._dashboard.process.kill()
            self._drop_dashboard()
        self._shop.book.add_tagged(self._shop.home)
        self._shop.book.kill_all()


class FullDisk:
    """Agents that print until the disk is full; kills meanwhile; then room again, and the audit."""

    def __init__(self, folder, disk, *, seed, floods=2):
        self.seed, self.disk = seed, disk
        self._floods = floods
        self._shop = Workshop(folder, seed, disk)
        self._kills = []
        self.counts = Counter()

    def run(self):
        """Fill, kill, free, finish, look; the audit's report."""
        try:
            self._shop.front("flood", self.seed, "flood", str(self._floods)).wait(PATIENCE)
            self._wait_for("prompt", 2 * self._floods)
            (self._shop.folder / "begin").touch()
            runs = self._wait_for("full", 2 * self._floods)
            self.disk.fill(self._shop.home)
            self._wait_for("end", self._floods)
            self._shop.book.add_tagged(self._shop.home)
            self.counts["agents that met a full disk"] = len(runs)
            # What front ends ask for now may fail, but nothing that was accepted may be lost.
            front = self._shop.front("in need", self.seed + 1, "cycles", "2")
            until(self._answered, what="an answer to somebody who asked while the disk was full")
            self._kill_some({record["session"] for record in runs})
            (self._shop.folder / "go").touch()
            self._shop.unlimited()
            self.disk.free(self._shop.home)
            # Some were stopped meanwhile by a front end; the others go on where they had to wait.
            until(lambda: not self._flooding({record["run"] for record in runs}), what="the agents to write the rest")
            front.wait(PATIENCE)
            self._shop.finish()
            return audit(Scene(self._shop.home, self._shop.book, self._shop.journal(), self._kills, full_disk=True))
        finally:
            self._shop.book.add_tagged(self._shop.home)
            self._shop.book.kill_all()

    def _wait_for(self, kind, count):
        return until(
            lambda: found if len(found := self._shop.book.records(kind)) >= count else None,
            what=f"{count} agents to write {kind!r} into the book",
        )

    def _answered(self):
        return any(line["who"] == "in need" and line["state"] != "try" for line in self._shop.journal())

    def _flooding(self, runs):
        signed = self._shop.book.records("process")
        agents = {(record["pid"], record["start"]) for record in signed if record["run"] in runs}
        return [pid for pid, start in agents if world.start_of(pid) == start]

    def _kill_some(self, flooding):
        """Half of the runners: of agents that wait for room, and of those whose end could not be recorded yet."""
        runners = sorted(found for found in world.runners(self._shop.home) if found[2] in flooding)
        for runner in runners[::2]:
            if (done := self._shop.kill_runner(*runner)) is not None:
                self._kills.append(done)
                self.counts["runners killed meanwhile"] += 1


class CommandLine:
    """One ``agentdash VERB`` with a random verb on a random session."""

    def __init__(self, workshop, dice, number):
        self._shop = workshop
        self.token = f"torture-{dice.getrandbits(48):012x}"
        self._op, self.words, self._session = self._drawn(dice)
        self._out = workshop.folder / "lines" / f"{number}.json"
        self._out.parent.mkdir(exist_ok=True)
        self._killed = False
        self._note("try")
        with self._out.open("wb") as out, self._out.with_suffix(".err").open("wb") as err:
            self.process = workshop.start(
                [*AGENTDASH, *self.words], "command line", stdin=subprocess.DEVNULL, stdout=out, stderr=err
            )

    def kill(self):
        """Kill -9."""
        self._killed = True
        self.process.kill()
        self.process.wait()

    def over(self):
        """Whether it has ended; what it was told is then in the journal."""
        if self.process.poll() is None:
            return False
        self._judge()
        return True

    def _drawn(self, dice):
        with self._shop.manager() as manager:
            sessions = manager.reader.sessions()[:8]
        verb = dice.choice(["run", "spawn", "inject", "stop", "rm", "retry", "ls", "explain", "wait", "trajectory"])
        session = dice.choice(sessions).id if sessions else None
        if session is None or verb in ("run", "spawn"):
            nasty = [sys.executable, "-I", "-S", str(HERE / "nasty.py"), "--book", str(self._shop.book.path)]
            argv = ["run", "--json", "--", *nasty, "--seed", str(dice.getrandbits(32)), "--token", self.token]
            if verb == "spawn":
                argv = ["spawn", "--json", "--agent", "codex", self.token]
            return "spawn", argv, None
        own = {"inject": [session, self.token], "rm": ["--yes", session], "wait": ["--timeout", "3", session]}
        words = [verb, "--json", *([] if verb == "ls" else own.get(verb, [session]))]
        return verb, words, session

    def _note(self, state, **facts):
        line = {"op": self._op, "state": state, "session": self._session}
        if self._op in ("spawn", "inject"):
            line["token"] = self.token
        self._shop.note(**line | facts)

    def _judge(self):
        """Exit code and JSON say what became of it; a traceback or an unexpected error is a crash."""
        text = self._out.with_suffix(".err").read_text(errors="replace")
        if "Traceback" in text or "Unexpected" in text:
            self._note("crash", error=f"agentdash {' '.join(self.words)}: {text}")
            return
        try:
            told = json.loads(self._out.read_bytes())
        except ValueError:
            told = None
        if self._op in ("spawn", "inject", "retry") and isinstance(told, dict) and "id" in told:
            self._note("ok", session=told["id"], turn=told["turn"])
        elif not self._killed:
            self._note("refused" if self.process.returncode else "ok", error=text)


def table(torture, report):
    """The counts, for people."""
    faults = ", ".join(f"{name} {count}" for name, count in sorted(torture.faults.items()))
    ends = ", ".join(f"{name} {count}" for name, count in sorted(report.statuses.items()))
    counts = report.counts
    rows = [
        ("seed", torture.seed),
        ("cycles", counts["cycles"]),
        ("kill -9", f"{sum(torture.faults.values())} ({faults})"),
        ("front ends", ", ".join(f"{name}s {count}" for name, count in sorted(torture.started.items()))),
        ("requests", f"{counts['asked: ok']} carried out, {counts['asked: refused']} refused in words"),
        ("processes started", counts["processes started"]),
        ("found and ended", counts["found and ended"]),
        ("leftovers", counts["leftovers"]),
        ("cleared and young", f"{counts['cleared and young']} (environment cleared after a killed runner's snapshot)"),
        ("prompts accepted", counts["prompts accepted"]),
        ("prompts delivered", counts["prompts delivered"]),
        ("prompts lost", counts["prompts lost"]),
        ("prompts doubled", counts["prompts doubled"]),
        ("lines in turn files", counts["lines"]),
        ("sessions", ends or "none"),
        ("empty folders", f"{counts['empty folders']} (front end killed before it recorded the session)"),
        ("temporaries", f"{counts['temporaries']} (writer killed before the rename)"),
        ("findings", len(report.findings)),
    ]
    return _aligned(rows)


def disk_table(torture, report):
    """The counts of a full disk, for people."""
    counts = report.counts
    rows = [
        ("seed", torture.seed),
        ("disk", torture.disk.name),
        *torture.counts.items(),
        ("requests", f"{counts['asked: ok']} carried out, {counts['asked: refused'] + counts['asked: no room']} not"),
        ("bytes compared", counts["bytes compared"]),
        ("bytes lost", counts["bytes lost"]),
        ("prompts lost", counts["prompts lost"]),
        ("leftovers", counts["leftovers"]),
        ("cleared and young", counts["cleared and young"]),
        ("sessions", ", ".join(f"{name} {count}" for name, count in sorted(report.statuses.items()))),
        ("findings", len(report.findings)),
    ]
    return _aligned(rows)


def _aligned(rows):
    return "\n".join(f"{name:>27}  {value}" for name, value in rows)
