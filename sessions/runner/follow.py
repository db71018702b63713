"""The runner's reader of its turn file: new bytes in, facts and arrival times out."""

import contextlib
import math
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from agentdash.sessions.agents.parsing.line_parts import by_parts
from agentdash.sessions.agents.parsing.parser import TurnParser
from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.session import Step
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.storage.files.line_reader import LineReader, stamp

PASS_SECONDS = 0.1
"""Maximum duration of one read: an agent that floods its output must not keep the runner from a stop."""

FINISH_SECONDS = 5.0
"""Time after which the rest of what was printed is skipped, up to the tail, which is always read."""

TAIL_BYTES = 1 << 20
"""The end of the output, with the final event: of the shortest lines, it takes some ten seconds to read."""


class Follower:
    """Follows one turn file with one parser for each turn; the work is proportional to the new bytes."""

    def __init__(
        self,
        output: Path,
        times: Path,
        parser: TurnParser,
        tell: Callable[[Step], None] = lambda _: None,
        meter: Callable[[bytes], None] | None = None,
        begin: int = 0,
        *,
        shared: bool = False,
    ) -> None:
        """Begin at an offset: the beginning of the turn.

        ``tell`` is called with each new step, and again with each replacement of it; ``meter`` with each line.
        ``shared``: the file has several turns, of which one may end in the middle of a line.
        """
        self._shared = shared
        self._reader = LineReader(output, begin)
        self.position = begin
        """The offset behind the last line that the parser got."""
        self.end: int | None = None
        """The end of the turn: set it to :attr:`position`, and the parser gets no further line."""
        self._parser = parser
        self._tell = tell
        self._meter = meter
        self._times: int | None = None
        with contextlib.suppress(OSError):
            self._times = os.open(times, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._lines: Iterator[tuple[int, bytes]] | None = None
        self._stamped = True
        self.steps = 0
        """Number of steps so far."""
        self.last_event_at: int | None = None
        """Time of the agent's last output, UTC ms."""
        self.grown_at = time.monotonic()
        """The same on the monotonic clock; the time of creation if the agent has printed nothing."""

    @property
    def facts(self) -> Facts:
        """The facts of the turn so far."""
        return self._parser.facts

    def catch_up(self, seconds: float = PASS_SECONDS) -> bool:
        """Read new output for about ``seconds``; return whether there is more."""
        deadline = time.monotonic() + seconds
        lines = self._lines or self._new_lines()
        self._lines = lines
        if self.position == self.end:
            return False
        for position, line in lines:
            self.position = position
            if self._meter is not None:
                self._meter(line)
            for step in self._parser.feed(line):
                self.steps = max(self.steps, step.index + 1)
                self._tell(step)
            if self.position == self.end:
                return False
            if time.monotonic() >= deadline:  # one line can take long: that of an ask is a transaction
                return True
        self._lines = None
        return False

    def move_times(self, step_ms: int) -> None:
        """Move the time of the agent's last output with the wall clock, which has made a step."""
        if self.last_event_at is not None:
            self.last_event_at = min(self.last_event_at + step_ms, now_ms())

    def begin_turn(self, parser: TurnParser) -> None:
        """Give the next turn's parser the lines from :attr:`position` on; none is read twice."""
        self._parser, self.end, self.steps = parser, None, 0

    def take_over(self) -> None:
        """Read the output written before this runner started; its arrival times are unknown."""
        self._stamped = False
        self.read_all()
        self._stamped = True

    def finish(self) -> None:
        """Read the rest after the agent is gone, an unfinished last line included; close the files."""
        self.read_all()
        rest = self._reader.rest()
        if rest is not None:
            lines = [(self._reader.offset, rest)]
            self._lines = by_parts(lines) if self._shared else iter(lines)
            self.catch_up()
        self._parser.close()
        self._reader.close()
        if self._times is not None:
            os.close(self._times)

    def read_all(self) -> None:
        """Read up to the present end of the file, which a process that outlives the agent may go on to write."""
        self._reader.end = self._reader.size
        if self.catch_up(FINISH_SECONDS):
            if self._reader.ahead > TAIL_BYTES:
                self._reader.skip_to_tail(TAIL_BYTES)
                self._lines = None
            self.catch_up(math.inf)
        self._reader.end = None

    def _new_lines(self) -> Iterator[tuple[int, bytes]]:
        while chunk := self._reader.read():
            self.grown_at = time.monotonic()
            if self._stamped:
                self.last_event_at = now_ms()
                if self._times is not None:
                    # A full disk must not stop the reading; the steps then have no time.
                    with contextlib.suppress(OSError):
                        os.write(self._times, stamp(self._reader.offset, self.last_event_at))
            lines = self._reader.split(chunk)
            yield from by_parts(lines) if self._shared else lines
