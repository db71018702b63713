"""The time from the end of a turn to the process of the next queued prompt: ``python bench/next_turn.py``.

The stand-in for codex notes when it starts and when it ends.  The real agents answer from the scripted model of the
tests; their turns by the queue are compared with the bare command that resumes the same conversation.
"""

import os
import statistics
import subprocess
import tempfile
import time
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from measure import once, table
from real_agents import OPTIONS, REAL, environment, scripted_model
from sizes import TINY, sized

from agentdash.sessions.model.session import Session
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.manager import SessionManager

TURNS = sized(20, 3)
REAL_TURNS = 6
PATIENCE_SECONDS = 120
STAND_IN = """#!/bin/sh
date +%s%6N >> {notes}
cat > /dev/null
echo '{{"type":"thread.started","thread_id":"0190f7a2-0000-7000-8000-000000000001"}}'
echo '{{"type":"turn.started"}}'
echo '{{"type":"turn.completed","usage":{{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}}}'
date +%s%6N >> {notes}
"""


def queued_turns(manager: SessionManager, start: Start, count: int) -> Session:
    """Queue prompts behind a held queue, release it, and return the session when all turns have ended."""
    session = manager.wait([manager.spawn(start).id], timeout=PATIENCE_SECONDS)[0]
    manager.queue.hold(session.id)
    for number in range(count):
        manager.prompts.inject(session.id, f"prompt {number}")
    manager.queue.release(session.id)
    while (session := manager.reader.get(session.id)).turn <= count or not session.status.ended:
        time.sleep(0.05)
    return session


def gaps(folder: Path) -> tuple[list[float], float]:
    """Return the milliseconds between the turns of the stand-in, and those of the stand-in itself."""
    notes, stand_in, project = folder / "notes", folder / "codex", folder / "project"
    project.mkdir()
    stand_in.write_text(STAND_IN.format(notes=notes))
    stand_in.chmod(0o700)
    options = {"live": False, "bin": str(stand_in)}
    with SessionManager(folder / "state", folder / "none.toml") as manager:
        queued_turns(manager, Start("go", agent="codex", cwd=str(project), options=options), TURNS)
    times = [int(line) / 1000 for line in notes.read_text().split()]
    begins, ends = times[::2], times[1::2]
    between = [begin - end for end, begin in zip(ends, begins[1:], strict=False)][1:]  # the first waits for the hold
    bare = [once(lambda: subprocess.run([stand_in], input=b"", capture_output=True, check=True)) for _ in range(TURNS)]
    return between, statistics.median(bare)


def real(folder: Path, agent: str, binary: Path) -> list[object]:
    """Return the row of a real agent: its turns by the queue, its bare resume, and the ratio."""
    options = {**OPTIONS[agent], "live": False, "bin": str(binary)}
    with SessionManager(folder / f"state-{agent}", folder / "none.toml") as manager:
        session = queued_turns(manager, Start("go", agent=agent, cwd=str(folder), options=options), REAL_TURNS)
        turns = manager.reader.turns(session.id)
    ends = [turn.ended_at or 0 for turn in turns]
    between = [(later.started_at or 0) - (turn.ended_at or 0) for turn, later in pairwise(turns)][1:]
    by_queue = statistics.median(later - end for end, later in pairwise(ends[1:]))
    resume = list(turns[-1].argv)
    bare = statistics.median(
        once(lambda: subprocess.run(resume, input=b"go on", capture_output=True, check=True, cwd=folder))
        for _ in range(REAL_TURNS)
    )
    return [agent, float(statistics.median(between)), by_queue, bare, by_queue / bare]


def main() -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        between, bare = gaps(folder)
        median = statistics.median(between)
        table(
            "from the end of an agent's process to the start of the next queued one",
            ["", "median", "worst"],
            [
                ["with a stand-in for codex, ms", median, max(between)],
                ["the stand-in itself, ms", bare, ""],
            ],
        )
        rows: list[list[object]] = []
        if not TINY:
            with scripted_model(folder) as url:
                os.environ |= environment(folder, url)
                for agent, binary in REAL.items():
                    if binary.exists():
                        rows.append(real(folder, agent, binary))
        rows += [[agent, "not installed"] + [""] * 3 for agent in REAL if agent not in {row[0] for row in rows}]
        table("a queued turn of a real agent beside its bare resume (medians)",
              ["", "between turns, ms", "turn, ms", "bare resume, ms", "ratio"], rows)  # fmt: skip


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
