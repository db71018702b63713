"""A state folder in which the tests of the audit make faults."""

import contextlib
import sqlite3

from torture.audit import audit
from torture.report import Scene


class Workbench:
    """A state folder after some sessions; faults are made in it."""

    def __init__(self, home, book):
        self.home, self.book = home, book
        self.journal = []
        self.kills = []
        self.agent_kills = set()
        self.scripted = self.command = None

    def sql(self, statement, *values):
        """Change the rows behind agentdash's back."""
        with contextlib.closing(sqlite3.connect(self.home / "agentdash.db")) as db, db:
            db.execute(statement, values)

    def findings(self):
        """What the audit says, by kind."""
        return self.report().findings

    def report(self):
        """The audit's report."""
        return audit(Scene(self.home, self.book, self.journal, self.kills, self.agent_kills))

    @property
    def kinds(self):
        """The kinds of all findings."""
        return {finding.kind for finding in self.findings()}

    def accepted(self, op, token, session, turn):
        """A front end was told so."""
        self.journal.append(
            {"who": "test", "n": 1, "op": op, "state": "ok", "token": token, "session": session, "turn": turn}
        )

    @property
    def output(self):
        """The scripted session's turn file."""
        return self.home / "sessions" / self.scripted.id / "turns" / "turn_1.jsonl"
