"""Agents on a disk that becomes full."""

from collections import Counter

from torture import book as world
from torture.audit import audit
from torture.report import Scene
from torture.workshop import PATIENCE, Workshop, until


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
            until(self._answered, what="the answer to a request made while the disk was full")
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
