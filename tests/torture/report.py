"""The scene that the audit checks, and its report."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from torture.book import Book


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
    agent_kills: set = field(default_factory=set)
    """The sessions whose live agent's process was killed at least once."""
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


def name(session):
    """A session in a message."""
    return f"{session.agent} session {session.id}"
