"""The torture itself: front ends, command lines and dashboards at work on one state folder, and chaos among them."""

import random
import time
from collections import Counter

from repetition import repeated

from torture import book as world
from torture.audit import audit
from torture.command_line import CommandLine
from torture.dashboard import Dashboard
from torture.report import Scene
from torture.workshop import PATIENCE, Workshop, until

CYCLES_OF_A_FRONT = repeated(5, 8)
KEYS = (b"j", b"k", b"x", b"y", b"\r", b"\x1b")
VICTIMS = {"runner": 5, "live agent": 4, "runner and agent": 1, "front end": 3, "command line": 3, "dashboard": 1}
"""What is killed, and how often."""
ASKING = "SELECT session FROM asks WHERE state IN ('open', 'answered')"
WARM = "SELECT id FROM sessions WHERE warm_since IS NOT NULL"
ON_THE_WAY = "SELECT session FROM queue WHERE state IN ('sending', 'sent')"
AT_WORK = "SELECT id FROM sessions WHERE status = 'running'"
MOMENTS = {"at work": AT_WORK, "asking": ASKING, "warm": WARM, "on the way": ON_THE_WAY}
"""The moments in which the process of a live agent or its runner is killed."""


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
        self._agent_kills = set()
        self.moments = Counter()
        self.faults = Counter()
        self.started = Counter()
        self._crashes = []

    def run(self):
        """Torture, finish, look; the audit's report."""
        try:
            with self._shop.manager():
                pass  # the state folder is there before a process is killed in it
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
        """One kill -9, if there is a process to kill."""
        if victim == "runner":
            if (found := self._drawn_runner()) is None or (done := self._shop.kill_runner(*found)) is None:
                return
            self._runner_kills.append(done)
        elif "agent" in victim:
            if not self._kill_live_agent(with_runner=victim == "runner and agent"):
                return
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

    def _kill_live_agent(self, *, with_runner):
        """Kill the process of a live agent, before it its runner if so wanted; False if there is none."""
        found, moment = self._at_a_moment(self._shop.live_agents())
        if not found:
            return False
        pid, start, session = self._dice.choice(found)
        if with_runner:
            runners = [runner for runner in world.runners(self._shop.home) if runner[2] == session]
            for runner in runners:
                if (done := self._shop.kill_runner(*runner)) is not None:
                    self._runner_kills.append(done)
        # Its session may see its end before the harness has counted it.
        self._agent_kills.add(session)
        if not world.kill(pid, start):
            return False
        self.moments[moment] += 1
        return True

    def _at_a_moment(self, found):
        """Those of the processes whose sessions are at a drawn moment, and the moment; all of them if none is."""
        for moment in self._dice.sample(list(MOMENTS), len(MOMENTS)):
            sessions = {session for (session,) in self._shop.rows(MOMENTS[moment])}
            if chosen := [one for one in found if one[2] in sessions]:
                return chosen, moment
        return found, "any"

    def _drawn_runner(self):
        """Any runner; or one that is just starting, stopping or serving an ask: there the moments are short."""
        found = world.runners(self._shop.home)
        wanted = self._dice.choice(["any", "newborn", "stopping", "live"])
        if wanted == "live":
            found, moment = self._at_a_moment(found)
            self.moments[moment] += bool(found)
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
        report = audit(Scene(self._shop.home, self._shop.book, journal, self._runner_kills, self._agent_kills))
        for text in self._crashes:
            report.add("front ends crashed", text)
        if errors := (self._shop.folder / "fronts.log").read_text(errors="replace").strip():
            report.add("front ends crashed", errors[-3000:])
        report.counts["cycles"] = self._spawned()
        return report

    def _end_all(self):
        """Whatever went wrong: none of the processes started here survives."""
        for process in [*self._fronts, *(line.process for line in self._lines)]:
            process.kill()
            process.wait()
        if self._dashboard is not None:
            self._dashboard.process.kill()
            self._drop_dashboard()
        self._shop.book.add_tagged(self._shop.home)
        self._shop.book.kill_all()
