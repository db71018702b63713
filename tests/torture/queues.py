"""Queues of prompts for real agents while runners, agents and front ends are killed; then every prompt is counted.

The count is made in the agents' own transcripts, by a reader of its own.
"""

import contextlib
import json
import os
import random
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path

import waiting

from agentdash.sessions.model.errors import AgentdashError
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.lifecycle.stop_family import NOW
from agentdash.sessions.service.manager import SessionManager
from torture import book as world
from torture import kept

HERE = Path(__file__).parent
PATIENCE = 300
SLOWEST_TURN = 3.0
"""Seconds: a longer first turn does not slow the kills down further."""

ROUND = 10
"""Prompts that are queued at once for each session."""

PAUSES = (0.05, 0.4)
"""Time between two kills, in first turns: on a busy machine everything takes longer, and a turn has to get on."""

GONE = {"unconfirmed", "cancelled", "unsent"}
"""States of a prompt that the agent's conversation does not have."""

CONFIG = '[queue]\nmax_running = 16\non_failure = "send"\n'
OPTIONS = {"codex": {"sandbox": "danger-full-access"}, "claude": {"permission_mode": "bypassPermissions"}}

until = partial(waiting.until, timeout=PATIENCE)


def _group_of(pid):
    with contextlib.suppress(OSError):
        return os.getpgid(pid)
    return None


def _listed(counts):
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))


class Queues:
    """A run: sessions with queues, so many kills of each kind, then the count.

    ``was_shown`` returns whether the model was sent a text.
    """

    def __init__(self, folder, kind, kept_at, *, was_shown, seed, sessions, kills, prompts=ROUND):
        self.folder, self.kind, self.seed = Path(folder), kind, seed
        self.wanted = Counter(kills)
        self.faults, self.counts, self.findings = Counter(), Counter(), []
        self._kept_at, self._width, self._prompts = kept_at, sessions, prompts
        self._was_shown = was_shown
        self._dice = random.Random(seed)
        self._home = Path(os.environ["AGENTDASH_HOME"])
        self._front = None
        self._asked = {}
        self._turn_seconds = 1.0
        (self.folder / "accepted").mkdir()
        Path(os.environ["AGENTDASH_CONFIG"]).write_text(CONFIG)

    def run(self):
        """Queue, kill, settle, count."""
        with SessionManager() as manager:
            try:
                self._begin(manager)
                self._chaos(manager)
                self._calm(manager)
                self._count()
            finally:
                self._end(manager)

    def _begin(self, manager):
        """Sessions whose first turn is over: their conversations have names."""
        project = self.folder / "project"
        project.mkdir()
        start = self._first(str(project))
        began = time.monotonic()
        ids = [manager.spawn(start).id for _ in range(self._width)]
        manager.wait(ids, timeout=PATIENCE)
        self._turn_seconds = min(time.monotonic() - began, SLOWEST_TURN)
        self._asked = {session: [] for session in ids}
        self._ask_more()

    def _first(self, project):
        """The start of each session."""
        return Start("begin", agent=self.kind, cwd=project, options=OPTIONS[self.kind])

    def _ask_more(self):
        for texts in self._asked.values():
            for _ in range(self._prompts):
                token = f"token-{self._dice.getrandbits(48):012x}"
                texts.append((token, *self._request(len(texts), token)))
        path = self.folder / "asked.json"
        path.with_suffix(".new").write_text(json.dumps(self._asked))
        path.with_suffix(".new").replace(path)

    def _request(self, number, token):
        """A prompt that ends with its token, and whether it may be written into a running turn."""
        return f"please note {token}", True

    def _chaos(self, manager):
        next_kill = 0.0
        while self.faults != self.wanted:
            if self._front is None or self._front.poll() is not None:
                self._front = self._started_front()
            if time.monotonic() >= next_kill:
                left = self.wanted - self.faults
                self._kill(*self._dice.choices(list(left), left.values()))
                next_kill = time.monotonic() + self._turn_seconds * self._dice.uniform(*PAUSES)
            if self._idle(manager):
                self._ask_more()
            time.sleep(0.02)

    def _started_front(self):
        self.counts["front ends"] += 1
        with (self.folder / "fronts.log").open("ab") as log:
            return subprocess.Popen([sys.executable, str(HERE / "queue_front.py"), str(self.folder)], stderr=log)

    def _kill(self, victim):
        """One kill -9, if there is a victim."""
        if victim == "front end":
            self._front.kill()
            self._front.wait()
            self._front = None
        elif victim == "runner":
            found = world.runners(self._home)
            newest = max(found, key=lambda runner: runner[1], default=None)
            drawn = newest if not found or self._dice.random() < 0.2 else self._dice.choice(found)
            if drawn is None or not world.kill(*drawn[:2]):
                return
        elif not self._kill_agent():
            return
        self.faults[victim] += 1

    def _kill_agent(self):
        """The agent's own process; or with all that it started."""
        agents = [(pid, start) for pid, start, _ in self._agents() if _group_of(pid) == pid]
        if not agents:
            return False
        pid, start = self._dice.choice(agents)
        others = [found[:2] for found in self._agents() if _group_of(found[0]) == pid]
        if not world.kill(pid, start):
            return False
        if self._dice.random() < 0.5:
            for other in others:
                world.kill(*other)
        return True

    def _agents(self):
        found = world.tagged(self._home)
        return [one for one in found if "AGENTDASH_SESSION_ID" in one[2] and "AGENTDASH_RUNNER" not in one[2]]

    def _all_accepted(self):
        paths = sorted((self.folder / "accepted").iterdir(), key=lambda path: int(path.name))
        for path in paths[:-2]:
            path.unlink(missing_ok=True)
        for path in reversed(paths):
            with contextlib.suppress(OSError, ValueError):
                accepted = json.loads(path.read_text())
                return all(accepted.get(session) == len(texts) for session, texts in self._asked.items())
        return False

    def _idle(self, manager):
        sessions = manager.reader.sessions()
        return self._all_accepted() and all(s.status.ended and not s.queued for s in sessions)

    def _calm(self, manager):
        """No more kills: every queue comes to its end, as a user would bring it there."""
        if self._front is None or self._front.poll() is not None:
            self._front = self._started_front()

        def over():
            for session in manager.reader.sessions():
                if session.status.ended and (session.held or session.left):
                    self.counts["queues that were held"] += bool(session.held)
                    with contextlib.suppress(AgentdashError):
                        manager.stop(session.id, NOW)
                        manager.queue.release(session.id)
            return self._idle(manager)

        until(over, what="the queues to be empty")
        (self.folder / "enough").touch()
        self._front.wait(PATIENCE)

    def _count(self):
        """Compare what was asked with what the agents keep, and with the states that agentdash shows."""
        states = self._states()
        found = kept.said(self.kind, self._kept_at)
        messages = {path: "\0".join(texts) for path, texts in found.items()}
        for texts in self._asked.values():
            places = {}
            for token, *_ in texts:
                at = [(path, text.find(token)) for path, text in messages.items() if token in text]
                times = sum(text.count(token) for text in messages.values())
                self._judge(token, times, states.get(token, []))
                if at:
                    places[token] = at[0]
            found_in = {path for path, _ in places.values()}
            self._check(len(found_in) <= 1, "conversations", f"{places} are several conversations")
            self._check_order(texts, places)
        log = (self.folder / "fronts.log").read_text()
        self._check("Traceback" not in log, "front ends that crashed", log[-3000:])

    def _check_order(self, texts, places):
        """The prompts are in the transcript in the order of the requests."""
        ordered = [places[token] for token, *_ in texts if token in places]
        self._check(ordered == sorted(ordered), "out of order", f"{[token for token, *_ in texts]}: {places}")

    def _judge(self, token, times, rows):
        self.counts["prompts"] += 1
        self.counts["prompts delivered"] += bool(times)
        state = rows[-1] if rows else "nowhere"
        for name in rows:
            self.counts[f"state: {name}"] += 1
        self.counts["sent again after a crash"] += max(0, len(rows) - 1)
        told = f"{token}: {times} times in the transcript, its states are {rows}"
        self._check(times <= 1, "prompts doubled", told)
        # claude writes its transcript up to 30 ms after its answer: an agent killed in between answered and forgot.
        forgotten = not times and state == "seen" and self._was_shown(token)
        self.counts["answered, but not kept"] += forgotten
        self._check(times or state in GONE or forgotten, "prompts lost", told)
        self._check(not times or state not in GONE, "states that are wrong", told)

    def _states(self):
        """The states of the turns that each prompt became, in order; ``queued`` if it still waits."""
        with contextlib.closing(sqlite3.connect(self._home / "agentdash.db")) as db:
            rows = [
                *db.execute("SELECT text, state FROM prompts ORDER BY session, turn"),
                *db.execute("SELECT text, state FROM queue WHERE state <> 'taken' ORDER BY id"),
            ]
        found = {}
        for text, state in rows:
            found.setdefault(text.rpartition(" ")[2], []).append(state)
        return found

    def _check(self, right, kind, told):
        if not right:
            self.counts[kind] += 1
            self.findings.append(f"{kind}: {told}")

    def _end(self, manager):
        """No process that this run started survives."""
        if self._front is not None:
            self._front.kill()
            self._front.wait()
        for session in manager.reader.sessions():
            with contextlib.suppress(AgentdashError):
                manager.stop(session.id, NOW)

    def table(self):
        """The counts, for people."""
        names = ("prompts", "prompts delivered", "prompts lost", "prompts doubled", "out of order",
                 "states that are wrong", "sent again after a crash", "queues that were held")  # fmt: skip
        rows = [
            ("seed", self.seed),
            (
                "kill -9",
                f"{self.faults.total()} ({', '.join(f'{name} {n}' for name, n in sorted(self.faults.items()))})",
            ),
            *((name, self.counts[name]) for name in names),
            (
                "states",
                ", ".join(f"{name[7:]} {n}" for name, n in sorted(self.counts.items()) if name[:7] == "state: "),
            ),
        ]
        return "\n".join(f"{name:>27}  {value}" for name, value in rows)
