"""Prompts for live agents while runners and agents are killed; then every prompt is counted.

Half of the prompts are for the running turn, half for the next one.
"""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from waiting import StuckError, until

from agentdash.sessions.model.errors import AgentdashError
from agentdash.sessions.rules.launch import Start
from torture import book as world
from torture import kept
from torture.queues import OPTIONS, Queues

AIM_SECONDS = 3.0
"""Longest wait for a prompt on its way, whose runner is then killed."""

LIVE = OPTIONS | {"scripted": {"speed": 60}}
SEVERAL_STEPS = {"scripted": "[[script:steer]]", "claude": "[[fake:short_steps]]", "codex": "[[fake:short_steps]]"}
"""A prompt whose turn has several steps, so that it takes prompts on its way."""

BOTH = "runner and agent"
"""Both are killed at once."""

ON_THE_WAY = (
    "SELECT session, state FROM prompts WHERE state IN ('sending', 'sent')"
    " UNION ALL SELECT session, state FROM queue WHERE state IN ('sending', 'sent')"
)
AIMS = ON_THE_WAY + (
    " UNION ALL SELECT p.session, 'handshake' FROM prompts AS p JOIN turns AS t ON t.session = p.session AND n = p.turn"
    " WHERE p.state = 'queued' AND t.status = 'running'"
)
"""The moments in which runners are killed: between the record and the line, before the receipt, before both."""
ACTS = ("interrupt", "interrupt and say", "release")
"""What a user does beside the kills; an act may be cut by the next kill."""

STATES = ("seen", "unconfirmed", "cancelled", "unsent", "resent")
"""The states in which a prompt stays."""


class LivePrompts(Queues):
    """A run: live sessions with prompts, so many kills of each kind, then the count."""

    def __init__(self, *args, patience=120, acts=False, **options):
        super().__init__(*args, **options)
        self.hits = Counter()
        self._acts, self._running = acts, []
        self._said = {}
        """The acts with a prompt: the process of each, by its token."""
        self._patience = patience
        self._killed_at, self._stuck_at = None, 0.0

    def _first(self, project):
        return Start(
            f"{SEVERAL_STEPS[self.kind]} begin", agent=self.kind, cwd=project, options=LIVE[self.kind] | {"live": True}
        )

    def _request(self, number, token):
        if number % 2:
            return f"please note {token}", True
        return f"{self._steps()} please note {token}", False

    def _steps(self):
        """A prompt whose turn has several steps; its calls have ids of their own."""
        marker = SEVERAL_STEPS[self.kind]
        return marker if self.kind == "scripted" else f"{marker[:-2]}-{self._dice.getrandbits(24)}]]"

    def _chaos(self, manager):
        try:
            super()._chaos(manager)
        except StuckError as error:
            self._check(False, "hangs", f"{error}: {self._scene(manager)}")

    def _act(self):
        """One act of a user, as a process of its own: the kill that follows may come at any moment of it."""
        act, session = self._dice.choice(ACTS), self._dice.choice(list(self._asked))
        said: tuple[str, ...] = ()
        if act == "interrupt and say":
            token = f"said-{self._dice.getrandbits(48):012x}"
            said = ("--say", f"{self._steps()} please note {token}")
        words = ("queue", session, "release") if act == "release" else ("interrupt", session, *said)
        with (self.folder / "acts.log").open("ab") as log:
            command = [Path(sys.executable).parent / "agentdash", *words]
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self._running.append(process)
        if said:
            self._said[token] = process
        self.counts[f"act: {act}"] += 1
        time.sleep(self._dice.uniform(0, 0.5))

    def _kill(self, victim):
        if self._acts:
            self._act()
        if self._killed_at != self.faults:
            self._killed_at, self._stuck_at = self.faults.copy(), time.monotonic() + self._patience
        elif time.monotonic() > self._stuck_at:
            raise StuckError(f"waited {self._patience} s for a process to kill")
        if victim == BOTH:
            self.faults[BOTH] += self._kill_agent(with_runner=True)
        elif victim == "runner" and self._dice.random() < 0.6:
            self._kill_aimed()
        else:
            super()._kill(victim)

    def _kill_aimed(self):
        """Kill the runner of a session that has a prompt on its way."""
        wanted = self._dice.choice(["sending", "sent", "handshake"] if "agent" in self.wanted else ["sending", "sent"])
        runners = {session: (pid, start) for pid, start, session in world.runners(self._home)}
        deadline = time.monotonic() + AIM_SECONDS
        with contextlib.closing(sqlite3.connect(self._home / "agentdash.db")) as db:
            while time.monotonic() < deadline:
                for session, state in db.execute(AIMS).fetchall():
                    if state == wanted and session in runners and world.kill(*runners[session]):
                        self.faults["runner"] += 1
                        self._note_hit(session)
                        return
        self.hits["missed"] += 1

    def _note_hit(self, session):
        """The state in which the prompt of a killed runner was left."""
        for owner, state in self._rows(AIMS):
            if owner == session:
                self.hits[state] += 1
                return
        self.hits["too late"] += 1

    def _kill_agent(self, *, with_runner=False):
        """The whole process group of an agent; before it its runner, so that only a front end can conclude."""
        runners = {session: (pid, start) for pid, start, session in world.runners(self._home)}
        agents = [(pid, env["AGENTDASH_SESSION_ID"]) for pid, _, env in self._agents() if self._is_leader(pid)]
        agents = [one for one in agents if not with_runner or one[1] in runners]
        if not agents:
            return False
        pid, session = self._dice.choice(agents)
        if with_runner and not world.kill(*runners[session]):
            return False
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)
            return True
        return False

    def _is_leader(self, pid):
        with contextlib.suppress(OSError):
            return os.getpgid(pid) == pid and "shell-snapshots" not in world.command_of(pid)
        return False

    def _idle(self, manager):
        return super()._idle(manager) and not self._rows(ON_THE_WAY)

    def _calm(self, manager):
        try:
            until(lambda: self._released(manager), timeout=self._patience, what="the prompts to be delivered")
        except StuckError as error:
            self._check(False, "hangs", f"{error}: {self._rows(ON_THE_WAY)} {self._scene(manager)}")
        if self._acts:
            self._say_the_last_words(manager)
        (self.folder / "enough").touch()
        if self._front is not None:
            self._front.wait(self._patience)

    def _say_the_last_words(self, manager):
        """Give the model one more turn, in which it is sent all that the conversation has."""
        for process in self._running:
            process.wait(self._patience)
        try:
            until(lambda: self._released(manager), timeout=self._patience, what="the acts to be over")
            for session in self._asked:
                manager.prompts.inject(session, "the last words")
            until(lambda: self._released(manager), timeout=self._patience, what="the last words")
        except StuckError as error:
            self._check(False, "hangs", f"{error}: {self._scene(manager)}")

    def _released(self, manager):
        if self._front is None or self._front.poll() is not None:
            self._front = self._started_front()
        for session in manager.reader.sessions():
            if session.held and session.status.ended:
                self.counts["queues that were held"] += 1
                with contextlib.suppress(AgentdashError):
                    manager.queue.release(session.id)
        return self._idle(manager)

    def _scene(self, manager):
        """What a hang is made of."""
        turns = "SELECT n, status, reason, stream, begin_byte, end_byte, agent_pid FROM turns ORDER BY n DESC LIMIT 3"
        return [
            *((s.id, s.turn, s.status, s.reason, s.held, s.queued) for s in manager.reader.sessions()),
            *self._rows(turns),
            *self._rows("SELECT turn, text, state FROM prompts ORDER BY turn DESC LIMIT 3"),
            *self._rows("SELECT id, turn, text, state, attempt FROM queue ORDER BY id DESC LIMIT 6"),
        ]

    def _count(self):
        super()._count()
        found, known = self._states(), kept.said(self.kind, self._kept_at)
        for token, process in self._said.items():
            times = sum(text.count(token) for texts in known.values() for text in texts)
            states = found.get(token, [])
            if states or times or process.returncode == 0:  # else nothing was running, and nothing was recorded
                self._judge(token, times, states)
        for token, states in found.items():
            if (
                states[-1] == "seen"
                and token.startswith(("token-", "said-"))
                and self._acts
                and self.kind != "scripted"
            ):
                self._check(self._was_shown(token), "seen, and never sent to the model", f"{token}: {states}")
        for token, states in found.items():
            if token.startswith("token-"):
                self._check(states[-1] in STATES, "states that are wrong", f"{token} stays {states[-1]}")
        self._count_slices()
        self._count_places()
        self._check(not self._rows("SELECT id FROM asks WHERE state = 'open'"), "open asks", "asks are open")
        for log in self._home.glob("sessions/*/runner.log"):
            text = log.read_text(errors="replace")
            self._check("Traceback" not in text, "runners that crashed", text[-3000:])

    def _check_order(self, texts, places):
        """Prompts for running turns overtake those for the next turn; each kind keeps its order."""
        for kind in (True, False):
            super()._check_order([text for text in texts if text[2] is kind], places)

    def _count_slices(self):
        """The parts of each stream follow each other without a gap."""
        sql = "SELECT session, COALESCE(stream, n), n, begin_byte, end_byte FROM turns ORDER BY session, n"
        ends = {}
        for session, stream, n, begin, end in self._rows(sql):
            before = ends.get((session, stream), 0)
            self._check(before is None or begin == before, "gaps", f"turn {n}: {before} is followed by {begin}")
            self.counts["turns"] += 1
            ends[session, stream] = end
        self.counts["processes of agents"] = len(ends)

    def _count_places(self):
        """Each prompt that was read is in its turn's part of the output; a killed agent may not have printed it."""
        sql = (
            "SELECT turns.session, COALESCE(stream, n), n, begin_byte, end_byte, text FROM ({}) AS said"
            " JOIN turns ON turns.session = said.session AND turns.n = said.turn"
            " WHERE state = 'seen' AND status = 'done' AND json_extract(launch, '$.transport') <> ''"
        )
        rows = self._rows(sql.format("SELECT session, turn, text, state FROM prompts"))
        rows += self._rows(sql.format("SELECT session, turn, text, state FROM queue"))
        for session, stream, n, begin, end, text in rows:
            output = (self._home / "sessions" / session / "turns" / f"turn_{stream}.jsonl").read_bytes()
            token = text.rpartition(" ")[2]
            self._check(token.encode() in output[begin:end], "wrong turns", f"{token} is not in turn {n}")

    def _end(self, manager):
        super()._end(manager)
        left = [world.command_of(pid) for pid, _, env in world.tagged(self._home) if "AGENTDASH_SESSION_ID" in env]
        self._check(not left, "leftovers", f"{left}")

    def _rows(self, sql):
        with contextlib.closing(sqlite3.connect(self._home / "agentdash.db")) as db:
            return db.execute(sql).fetchall()

    def table(self):
        """The counts, for people."""
        acts = ", ".join(f"{name[5:]} {n}" for name, n in sorted(self.counts.items()) if name[:5] == "act: ")
        names = ("seen, and never sent to the model", "turns", "processes of agents", "gaps", "leftovers", "open asks",
                 "wrong turns", "runners that crashed", "hangs")  # fmt: skip
        hits = ", ".join(f"{name} {count}" for name, count in sorted(self.hits.items()))
        rows = [*((name, self.counts[name]) for name in names), ("prompts on their way", hits), ("acts", acts)]
        return super().table() + "\n" + "\n".join(f"{name:>27}  {value}" for name, value in rows)
