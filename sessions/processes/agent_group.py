"""The agent's own process group, which can outlive the process that agentdash started.

An npm package starts the program proper as a child (codex 0.169): if only the launcher is killed, the program goes on
with the turn, unsupervised, and may write the prompt into the conversation later.  The commands that an agent runs
have groups of their own.
"""

from contextlib import suppress

from . import processes
from .processes import RUN_TAG, Process


def members(run_id: str, leader: int | None) -> list[Process]:
    """Return the living processes of a turn in its agent's group; all of the turn if the leader is not known."""
    return [
        process
        for process in processes.scan().values()
        if not process.zombie
        and leader in (None, process.group)
        and processes.environment(process.pid).get(RUN_TAG) == run_id
    ]


def kill(run_id: str, leader: tuple[int, int] | None) -> bool:
    """Kill the members that live; False if none does.  ``leader``: pid and start time of the agent's first process."""
    sent = []
    for process in members(run_id, leader[0] if leader is not None else None):
        with suppress(PermissionError):  # of another user: it stays, and is shown as left
            sent.append(processes.send_kill(process))
    return any(sent)
