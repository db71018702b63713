"""The contract of a live agent: what its runner writes to its standard input, and what its output says about that.

A live agent is one process that serves many turns.  A dialogue belongs to one process.  It does no I/O: it makes
lines to write, and concludes events from the lines of the process's output.  A runner that adopts a process makes a
new dialogue and feeds it the output from its beginning, so that it knows all that its predecessor knew; therefore no
line that a dialogue makes may depend on time or chance.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import StrEnum
from typing import ClassVar

from msgspec import Struct

from agentdash.sessions.rules.asks.model import Answer, Ask
from agentdash.sessions.rules.prompts.images import Picture


class Delivery(StrEnum):
    """The agent's statement about a prompt that it was sent."""

    ACCEPTED = "accepted"
    """It has the prompt and has not read it: its model does not know it yet."""
    SEEN = "seen"
    """The prompt is part of the conversation."""
    WITHDRAWN = "withdrawn"
    """It was taken back before it was read."""
    REFUSED = "refused"
    """The agent does not take it."""


class Ready(Struct, frozen=True):
    """The handshake is over: prompts may be written."""

    agent_session: str | None = None
    """The conversation, if the agent named it."""


class Failed(Struct, frozen=True):
    """The handshake failed, so the process cannot be used."""

    reason: str


class TurnBegan(Struct, frozen=True):
    """A turn began; ``key`` is the prompt that began it, None if that is not known yet or the agent began by itself."""

    key: str | None = None
    own: bool = False
    """True if it is known that the agent began the turn by itself."""


class TurnEnded(Struct, frozen=True):
    """The turn ended properly; the line that says so is its last.  The parser of steps knows how it ended."""


class Received(Struct, frozen=True):
    """The agent said something about a prompt."""

    key: str
    delivery: Delivery
    reason: str = ""
    """The agent's words about a refusal."""


class Asked(Struct, frozen=True):
    """The agent asks and waits."""

    ask: Ask


class Settled(Struct, frozen=True):
    """An ask is over."""

    key: str
    answered: bool
    """The agent got our answer; False if it no longer waits for one."""


class Changed(Struct, frozen=True):
    """A setting of the running process changed, or was confirmed by the answer to :meth:`Dialogue.change`."""

    what: str
    """``model`` or ``mode``."""
    value: str


class NotChanged(Struct, frozen=True):
    """The agent refused a change of a setting; the setting keeps its value."""

    what: str
    value: str
    reason: str = ""
    """The agent's words."""


Event = Ready | Failed | TurnBegan | TurnEnded | Received | Asked | Settled | Changed | NotChanged


class Dialogue(ABC):
    """The requests to one process and its answers.

    Args:
        opening: the lines of the handshake, as the launch records them (:attr:`..rules.launch.Launch.opening`).
    """

    resends: ClassVar[bool] = False
    """The agent ignores a prompt whose key it has, so a prompt may be written twice."""
    steers: ClassVar[bool] = False
    """A prompt may be written while a turn runs."""

    wakes: ClassVar[bool] = True
    """The agent may begin a turn by itself; a turn of another one without a prompt of ours is another program's."""

    def __init__(self, opening: Sequence[str] = ()) -> None:
        self._opening = tuple(opening)

    def hears_denial(self, ask: Ask) -> bool:  # noqa: ARG002
        """Return whether the agent reads the words of a denial of this ask; else the caller adds them to the queue."""
        return True

    @property
    @abstractmethod
    def ready(self) -> bool:
        """True if prompts may be written."""

    @abstractmethod
    def opening(self) -> list[bytes]:
        """Return the lines of the handshake that are to be written next, each ending in a newline.

        Called at the start, and after each line of the output until :attr:`ready`: a line that needs the answer to an
        earlier one is returned when that answer has come.  A line is returned once; a new dialogue returns it again
        unless the output that it was fed has the answer.  A runner that adopts the process decides when to call it,
        because the handshake may be under way.
        """

    @abstractmethod
    def feed(self, line: bytes) -> list[Event]:
        """Read one line of the process's output without its newline; never raises."""

    @abstractmethod
    def prompt(self, key: str, attempt: int, text: str) -> bytes:
        """Return the line that sends a prompt; ``attempt`` counts from 1 for each key."""

    def prompt_with(self, key: str, attempt: int, text: str, pictures: Sequence[Picture]) -> bytes:  # noqa: ARG002
        """Return the line that sends a prompt with images, whose marks are in the text; without them if it takes none.

        The first arguments are those of :meth:`prompt`.
        """
        return self.prompt(key, attempt, text)

    def compact(self, key: str, attempt: int) -> bytes | None:  # noqa: ARG002
        """Return the line that begins a turn that compacts the conversation; None if a prompt does.

        The arguments are those of :meth:`prompt`.
        """
        return None

    def probe(self, key: str, attempt: int) -> bytes | None:  # noqa: ARG002
        """Return a line that the agent answers after everything written before it; None if :attr:`resends`.

        It belongs to one attempt: the answer to an earlier probe says nothing about a prompt that was written after it.
        """
        return None

    def arrived(self, key: str, attempt: int) -> bool | None:  # noqa: ARG002
        """Return whether a prompt that may have been written arrived, by its answer or that of the probe behind it.

        None if the probe of this attempt is not answered yet.
        """
        return None

    def withdraw(self, key: str) -> bytes | None:  # noqa: ARG002
        """Return the line that takes back a prompt that was not read; None if the agent cannot."""
        return None

    @abstractmethod
    def interrupt(self) -> list[bytes]:
        """Return the lines that end the running turn and its commands, but not the process; none if no turn runs.

        An entry may be several lines, which are written at once.
        """

    @abstractmethod
    def answer(self, key: str, answer: Answer) -> bytes | None:
        """Return the line that answers an ask; None if it is not open.

        If the agent's own answer does not end the turn as :attr:`..rules.asks.model.Verdict.STOP` does, the lines that
        end it follow, and all are written at once.
        """

    def change(self, what: str, value: str) -> bytes | None:  # noqa: ARG002
        """Return the line that changes ``model`` or ``mode`` of the running process; None if the agent cannot."""
        return None

    def closing(self) -> bytes | None:
        """Return the line that ends the idle process in order; None if a SIGTERM does."""
        return None
