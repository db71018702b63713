"""A stop: who requested it, the processes that it ended, and those that are still running."""

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from agentdash.sessions.model.statuses import Status
from agentdash.sessions.text.units import count


class Ended(Struct, frozen=True, kw_only=True):
    """One process that a stop ended."""

    pid: int
    command: str
    signal: str | None
    """The signal that ended it; None if it exited on its own (its exit code is in ``exit_code``), or its agent ended it
    (``observed``)."""
    exit_code: int | None = None
    observed: bool = False
    """True if the runner could not reap it: ``signal`` is then the last one sent before it was gone, and None if a live
    agent ended it because its turn was interrupted."""

    @property
    def how(self) -> str:
        """The signal that ended it, ``by agent`` or ``by itself``."""
        return self.signal or ("by agent" if self.observed else "by itself")


class Left(Struct, frozen=True, kw_only=True):
    """One process that is still running, and the reason."""

    pid: int
    command: str
    reason: str
    ports: tuple[int, ...] = ()
    """TCP ports on which it listens."""


def left_text(left: Sequence[Left]) -> str | None:
    """Name the remaining processes briefly: ``python3 :8000, node, sleep x4``; None if there are none."""
    names: dict[str, int] = {}
    for process in left:
        program = process.command.split(" ", 1)[0].rstrip(":").rpartition("/")[2]
        name = " ".join([program, *(f":{port}" for port in process.ports)])
        names[name] = names.get(name, 0) + 1
    kinds = [name if number == 1 else f"{name} x{number}" for name, number in names.items()]
    more = f" +{len(kinds) - _NAMED}" if len(kinds) > _NAMED else ""
    return ", ".join(kinds[:_NAMED]) + more if kinds else None


_NAMED = 3
"""Kinds of processes that are named; the others are only counted."""


_RUNGS = ("SIGINT", "SIGTERM", "SIGKILL")


class Receipt(Struct, frozen=True, kw_only=True):
    """The processes that a stop ended, and those that it could not end."""

    session: str
    status: Status
    ended: tuple[Ended, ...] = ()
    left: tuple[Left, ...] = ()
    duration_ms: int | None = None
    note: str | None = None
    workers: tuple[str, ...] = ()
    """Ids of the linked workers that were stopped with it; their processes are in the receipt."""
    reason: str | None = None
    """The reason that was given with the request; None if none was."""

    def by_signal(self) -> dict[str, list[Ended]]:
        """Ended processes by :attr:`Ended.how`: signals, gentlest first, then those that got none."""
        groups: dict[str, list[Ended]] = {}
        for process in self.ended:
            groups.setdefault(process.how, []).append(process)
        order = sorted(groups, key=lambda how: _RUNGS.index(how) if how in _RUNGS else len(_RUNGS))
        return {how: groups[how] for how in order}

    def summary(self) -> str:
        """Summarise in one line: ``7 processes ended (SIGINT 6, SIGKILL 1), 0 left``."""
        detail = ", ".join(f"{how} {len(processes)}" for how, processes in self.by_signal().items())
        ended = count(len(self.ended), "process", "processes")
        workers = f" with {count(len(self.workers), 'worker')}" if self.workers else ""
        return f"{ended} ended{f' ({detail})' if detail else ''}{workers}, {len(self.left)} left"


class StoppedBy(StrEnum):
    """The requester of a turn's stop; the value is the beginning of the text in ``turns.stop_by``."""

    YOU = "you"
    """The user, by any front end."""
    SYSTEM = "the system"
    """A signal to the runner, such as at a shutdown."""
    LIMIT = "its limit"
    LEAD = "its lead"
    """A session or an outside agent that leads it."""
    LEADS_LIMIT = "its lead's limit"
    """A limit that ended a session above it."""
    AGENTDASH = "agentdash"
    OTHER = "another"
    """A name that another version of agentdash recorded."""

    @classmethod
    def _missing_(cls, _: object) -> "StoppedBy":
        return cls.OTHER

    @classmethod
    def recorded(cls, text: str | None) -> "StoppedBy | None":
        """Parse the requester from a recorded text; None if no stop is recorded."""
        return None if text is None else cls(text.partition(_BEFORE_REASON)[0])

    def because(self, reason: str) -> str:
        """Return the text to record if there is a reason beyond the name."""
        return f"{self}{_BEFORE_REASON}{reason}"

    @property
    def knows(self) -> bool:
        """True if the one to whom a stop would be reported requested it: the user, or the lead."""
        return self in (StoppedBy.YOU, StoppedBy.LEAD)


def given_reason(text: str | None) -> str | None:
    """Return the reason in a recorded text; None if there is none."""
    return (text or "").partition(_BEFORE_REASON)[2] or None


_BEFORE_REASON = ": "
