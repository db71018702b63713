"""Read the last of 1,000 turns that are one file of 1 GB, and a turn of noise: ``python bench/streams.py``.

One process of an agent can write the output of many turns into one file.  The last turn of such a stream is compared
with the same turn in a file of its own beside the other turns, and with the same turn alone in a session.  The turn of
noise has 300,000 lines that are not events.
"""

import os
import shutil
import statistics
import tempfile
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path

from measure import once, table
from msgspec import Struct
from sample import DONE, THREAD, message, steps
from sizes import sized

from agentdash.sessions.model.session import Prompt, Session, Status, Turn
from agentdash.sessions.rules.launch import Launch
from agentdash.sessions.service.lifecycle.recovery.reconcile import read_facts
from agentdash.sessions.service.reader import SessionReader
from agentdash.sessions.storage.files.session_record import Identity, restore
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.queries import Recipe
from agentdash.sessions.storage.store import Store
from agentdash.sessions.transcript.export.formats import format_named

TURNS, STEPS = sized((1_000, 1_000), (5, 20))
"""Turns of the stream, and steps of a turn, about 1 kB each."""

NOISE = sized(300_000, 500)
RUNS = sized(11, 1)
SCREEN = 45
"""Steps that are taken of the end: no screen shows more."""

SESSION = "11111111-1111-4111-8111-111111111111"


class Place(Struct, frozen=True):
    """A turn's place in a file."""

    stream: int | None
    begin: int
    end: int | None


class Home:
    """A state folder with one session that has ended."""

    def __init__(self, path: Path, places: list[Place]) -> None:
        self.layout = Layout(path)
        self.layout.create()
        self.layout.session(SESSION).create()
        self.store = Store(self.layout.database)
        restore(self.store, _record(places))
        self.reader = SessionReader(self.layout, self.store)
        self.last = len(places)

    def first_screen(self) -> None:
        """Open the session, and take the steps at its end."""
        opened = self.reader.steps.open_trajectory(SESSION)
        view = opened.refresh().view
        shown = [view.step(item) for item in range(max(0, len(view) - SCREEN), len(view))]
        opened.close()
        assert any(step.text == _end(TURNS) for step in shown)

    def export(self) -> None:
        """Write the last turn as Markdown."""
        pieces = format_named("md").write(self.reader.get(SESSION), self.reader.steps.each_step(SESSION, self.last))
        assert _end(TURNS) in "".join(pieces)

    def facts(self) -> None:
        """Read the last turn as for a session whose runner is gone."""
        found, _ = read_facts(self.layout, self.store, self.store.newest_turn(SESSION))
        assert (found.end, found.last_message) == ("completed", _end(TURNS))

    def output(self) -> None:
        """Read the raw output of the last turn."""
        assert self.reader.outputs.part(SESSION).read().endswith(DONE)


def _end(turn: int) -> str:
    return f"The end of turn {turn}."


def _record(places: list[Place]) -> Identity:
    """Return the record of a session with these turns."""
    facts = {"session": SESSION, "status": Status.DONE, "created_at": 1, "ended_at": 2}
    turns = tuple(
        Turn(n=n, run_id=f"r{n}", steps=STEPS, stream=p.stream, begin_byte=p.begin, end_byte=p.end, **facts)
        for n, p in enumerate(places, 1)
    )
    prompts = tuple(Prompt(id=t.n, session=SESSION, turn=t.n, text="More.", state="seen", created_at=1) for t in turns)
    session = Session(
        id=SESSION, agent="codex", title="t", task="More.", status=Status.DONE, cwd="/", turn=len(turns), created_at=1,
        updated_at=2, ended_at=2, agent_session="t",
    )  # fmt: skip
    recipe = Recipe(options={}, command=(), env={})
    return Identity(
        session=session, recipe=recipe, turns=turns, launches=(Launch(argv=("codex",)),) * len(turns), prompts=prompts
    )


def _written(path: Path) -> list[int]:
    """Write the stream; return the offset at which each turn begins, and that of its end."""
    body, offsets = THREAD + b"".join(steps(range(STEPS))), [0]
    with path.open("wb") as out:
        for turn in range(1, TURNS + 1):
            out.write(body + message(STEPS, _end(turn)) + DONE)
            offsets.append(out.tell())
    return offsets


def homes(scratch: Path) -> list[Home]:
    """Return the same last turn in the stream, in a file of its own, and alone in a session."""
    stream = scratch / "stream"
    offsets = _written(stream)
    slices = [Place(1 if n else None, begin, end) for n, (begin, end) in enumerate(pairwise(offsets))]
    own = [*slices[:-1], Place(None, 0, None)]
    made = [Home(scratch / "one", slices), Home(scratch / "own", own), Home(scratch / "alone", own[-1:])]
    with stream.open("rb") as file:
        file.seek(offsets[-2])
        last = file.read()
    for home in made[1:]:
        home.layout.session(SESSION).output(home.last).write_bytes(last)
    for home in made[:2]:
        os.link(stream, home.layout.session(SESSION).output(1))
    return made


def medians(actions: list[Callable[[], None]]) -> list[float]:
    """Return the median milliseconds of each action, in turns, so that the noise of the machine is the same for all."""
    for action in actions:
        action()
    taken = [[once(action) for action in actions] for _ in range(RUNS)]
    return [statistics.median(times) for times in zip(*taken, strict=True)]


def noise(scratch: Path) -> None:
    """Print the seconds of reading the steps of a turn of noise: both ends of it, and all of it."""
    home = Home(scratch, [Place(None, 0, None)])
    lines = b"".join(b"noise line %d of the build\n" % n for n in range(NOISE))
    home.layout.session(SESSION).output(1).write_bytes(THREAD + lines + DONE)

    def read(*, brief: bool) -> None:
        assert sum(1 for _ in home.reader.steps.each_step(SESSION, brief=brief)) > 1

    rows: list[list[object]] = []
    for name, brief in (("both ends", True), ("all", False)):
        shutil.rmtree(home.layout.indexes, ignore_errors=True)
        rows.append([name, *(once(partial(read, brief=brief)) / 1000 for _ in range(2))])
    table(f"a turn with {NOISE:,} lines that are not events", ["steps", "first reading, s", "repeated, s"], rows)
    home.store.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        made = homes(Path(folder))
        size = made[0].layout.session(SESSION).output(1).stat().st_size / 1e6
        rows: list[list[object]] = []
        for name, action in (
            ("first screen", Home.first_screen), ("export", Home.export), ("facts", Home.facts), ("raw", Home.output),
        ):  # fmt: skip
            in_stream, own, alone = medians([partial(action, home) for home in made])
            rows.append([name, in_stream, own, alone, in_stream / own, "<= 1.2"])
        head = ["the last turn", "in the stream, ms", "a file of its own, ms", "alone, ms", "stream/own", "rule"]
        table(f"the last of {TURNS:,} turns in a stream of {size:,.0f} MB", head, rows)
        for home in made:
            home.store.close()
        noise(Path(folder) / "noise")


if __name__ == "__main__":
    main()
