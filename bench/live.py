"""Live agents: how long a prompt takes to its agent, and what a runner costs: ``python bench/live.py [PART ...]``.

The parts are prompts, memory and idle; the default is all of them.  The agents are the scripted agent and, if they are
installed, the real codex and claude, which answer from the scripted model of the tests.  A prompt has arrived when the
agent prints its first line about it.
"""

import statistics
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from live_agents import PATIENCE_SECONDS, Bench, Kind, bench
from measure import memory, private_memory, table, work
from parts import chosen_parts
from real_agents import REAL
from sizes import sized

from agentdash.sessions.model.session import Session

WARM_TURNS, COLD_TURNS = sized((100, 10), (3, 2))
SETTLED_SECONDS = sized(2, 0.5)
IDLE_SECONDS = sized(30, 1)
POLL_SECONDS = 0.0005
ANSWERS = (b'"type":"message"', b'"type":"assistant"', b'"type":"agentMessage"', b'"type":"agent_message"')
"""One of them is in each line with an answer."""

UNAVOIDABLE = "import ctypes, datetime, msgspec, pathlib, sqlite3, subprocess"
"""The packages that a runner needs."""


class Way(NamedTuple):
    """Milliseconds from the call of a prompt's `inject`."""

    recorded: float
    """To its return: the prompt is in the database."""
    arrived: float
    """To the agent's first line."""
    answered: float
    """To the first line with its answer."""


def prompts(here: Bench) -> None:
    arrivals: list[list[object]] = []
    answers: list[list[object]] = []
    for kind in here.kinds:
        warm, cold = ways(here, kind, live=True), ways(here, kind, live=False)
        for name, found in (("warm", warm), ("cold", cold)):
            arrived = [way.arrived for way in found]
            recorded = statistics.median(way.recorded for way in found)
            row: list[object] = [f"{kind.name}, {name}", len(found), recorded, statistics.median(arrived)]
            arrivals.append([*row, percentile(arrived), max(arrived)])
        first, second = (statistics.median(way.answered for way in found) for found in (warm, cold))
        answers.append([kind.name, first, second, second / first])
    arrivals += [[name, "not installed", "", "", "", ""] for name in missing(here)]
    answers += [[name, "not installed", "", ""] for name in missing(here)]
    head = ["", "prompts", "recorded after", "median", "95 of 100 within", "worst"]
    table("from a prompt's inject to the agent's first line about it, ms", head, arrivals)
    table("from inject to the first line of the answer, ms (medians)", ["", "live", "turn by turn", "ratio"], answers)


def ways(here: Bench, kind: Kind, *, live: bool) -> list[Way]:
    """Measure prompt after prompt of one session, each sent when the turn before is over."""
    session = here.served(kind, live=live)
    found = []
    for number in range(WARM_TURNS if live else COLD_TURNS):
        turn, newest = number + 2, here.newest(session)
        path = here.output(session, newest.stream or newest.n if live else turn)
        found.append(way(here, session, f"{kind.quick} token-{number:04}-x".strip(), path))
        session = here.until_idle(session, live=live, turn=turn)
    here.stop(session)
    return found


def way(here: Bench, session: Session, prompt: str, path: Path) -> Way:
    """Send a prompt and follow the agent's output until its answer.

    Raises:
        TimeoutError: it gave none within `PATIENCE_SECONDS`.
    """
    offset = path.stat().st_size if path.exists() else 0
    token, arrived, rest = prompt.rsplit(maxsplit=1)[-1].encode(), 0.0, b""
    began = time.perf_counter()
    here.manager.prompts.inject(session.id, prompt)
    recorded = time.perf_counter()
    while (now := time.perf_counter()) - began < PATIENCE_SECONDS:
        with suppress(FileNotFoundError), path.open("rb") as file:
            file.seek(offset)
            data = file.read()
            now = time.perf_counter()
            if data:
                arrived = arrived or now
                offset += len(data)
                *lines, rest = (rest + data).split(b"\n")
                if any(token in line and any(kind in line for kind in ANSWERS) for line in lines):
                    return Way(*((at - began) * 1000 for at in (recorded, arrived, now)))
        time.sleep(POLL_SECONDS)
    raise TimeoutError(f"no answer to {prompt!r} in {path}")


def percentile(values: list[float]) -> float:
    """Return the value that 95 of 100 do not exceed."""
    return sorted(values)[max(0, -(-len(values) * 95 // 100) - 1)]


def missing(here: Bench) -> list[str]:
    """Return the real agents that are not installed."""
    return [name for name in REAL if name not in {kind.name for kind in here.kinds}]


def memory_of_runners(here: Bench) -> None:
    rows = [["python3 that waits", *interpreter("pass")], ["  with the packages it needs", *interpreter(UNAVOIDABLE)]]
    command = here.manager.started(here.manager.run(["sleep", "600"]).id)
    rows.append(["runner of a command", *measured(here, command)])
    here.stop(command)
    for kind in here.kinds:
        running = here.manager.started(here.spawn(kind, f"{kind.slow} go", live=False).id)
        rows.append([f"{kind.name} turn by turn, while it runs", *measured(here, running)])
        here.stop(running)
        session = here.served(kind, live=True)
        rows.append([f"{kind.name} live, after 1 turn", *measured(here, session)])
        for number in range(COLD_TURNS):
            here.manager.prompts.inject(session.id, f"{kind.quick} again {number}".strip())
            session = here.until_idle(session, live=True, turn=number + 2)
        rows.append([f"{kind.name} live, after {COLD_TURNS + 1} turns", *measured(here, session)])
        here.stop(session)
    bare = rows[0][1]
    head = ["", "resident", "proportional", "private", "resident/python3"]
    table("memory of a runner, MB", head, [[*row, float(row[1]) / float(bare)] for row in rows])


def interpreter(code: str) -> list[float]:
    """Return the memory of a Python process that runs some code and then waits."""
    argv = [sys.executable, "-P", "-c", f"{code}\nprint(flush=True)\ninput()"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        found = sizes(process.pid)
        process.communicate("\n")
    return found


def measured(here: Bench, session: Session) -> list[float]:
    """Return the memory of a session's runner, a while after the last event."""
    time.sleep(SETTLED_SECONDS)
    return sizes(here.newest(session).runner_pid or 0)


def sizes(pid: int) -> list[float]:
    return [*memory(pid), private_memory(pid)]


def idle(here: Bench) -> None:
    sessions = {"scripted turn by turn, prints nothing": here.spawn(here.kinds[0], "[[script:silent]] go", live=False)}
    here.manager.started(next(iter(sessions.values())).id)
    sessions |= {f"{kind.name} live, waits for a prompt": here.served(kind, live=True) for kind in here.kinds}
    turns = {name: here.newest(session) for name, session in sessions.items()}
    pids = {name: (turn.runner_pid or 0, turn.agent_pid or 0) for name, turn in turns.items()}
    time.sleep(SETTLED_SECONDS)
    before = {pid: work(pid) for pair in pids.values() for pid in pair}
    time.sleep(IDLE_SECONDS)
    done = {pid: work(pid) - earlier for pid, earlier in before.items()}
    for session in sessions.values():
        here.stop(session)
    head = ["", "runner, CPU ms", "CPU %", "wakeups", "agent, CPU ms", "wakeups"]
    rows = [
        [name, done[runner].cpu_ms, done[runner].cpu_ms / IDLE_SECONDS / 10, done[runner].wakeups, *done[agent]]
        for name, (runner, agent) in pids.items()
    ]
    table(f"{IDLE_SECONDS} s in which nothing happens", head, rows)


PARTS = {"prompts": prompts, "memory": memory_of_runners, "idle": idle}


def main() -> None:
    chosen = chosen_parts(__doc__ or "", list(PARTS))
    with bench() as here:
        for name in chosen:
            PARTS[name](here)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
