"""The record of the user who works with a session in the agent's own interface.  Pure."""

from msgspec import Struct

from agentdash.sessions.text.units import age

BY_HAND = "by-hand"
"""The transport of a turn that the user had in the agent's own interface: its output is a part of the transcript."""

HAND = "hand"
"""``turns.asked_by`` of such a turn."""


class Talk(Struct, frozen=True, kw_only=True):
    """A conversation in the interface, and where it begins in the agent's own transcript."""

    conversation: str
    """The agent's id of it."""
    path: str | None = None
    """The transcript; None if it was not found."""
    begin: int = 0
    """The size of the transcript when the interface began to show the conversation, in bytes."""


class TakenBy(Struct, frozen=True, kw_only=True):
    """The holder of a session, and what is needed to record afterwards what the user said there."""

    host: str
    user: str
    """The name of the user who opened the interface."""
    tty: str | None = None
    """The terminal, such as ``pts/3``; None if there was none."""
    since: int
    """The time at which it was opened, UTC ms."""
    pid: int
    """The front end, which holds the session's lock."""
    start: int
    """The start time of the front end, in ticks of the kernel since the boot."""
    boot_id: str
    pid_ns: str
    interface_pid: int | None = None
    """The agent's process; None until it is started."""
    interface_start: int | None = None
    run_id: str
    """The tag in the environment of the interface and all that it starts."""
    turn: int
    """The newest turn at that time."""
    argv: tuple[str, ...]
    """The command of the interface."""
    talks: tuple[Talk, ...]
    """The conversations that the interface has shown, in order: the first one is the session's."""

    @property
    def place(self) -> str:
        """The terminal or, if there is none, the process."""
        return self.tty or f"process {self.pid}"

    @property
    def holder(self) -> str:
        """The user and the terminal: ``ann (pts/3)``."""
        return f"{self.user} ({self.place})"

    def by_hand(self, now: int) -> str:
        """Return the text of a row: ``by hand (pts/3, 4m)``; ``now`` is UTC ms."""
        return f"by hand ({self.place}, {age(now - self.since)})"
