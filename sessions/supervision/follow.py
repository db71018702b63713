"""The runner's own reading of its turn file: new bytes in, facts and arrival times out."""

import os
from pathlib import Path

from ..agents.base import Facts, TurnParser
from ..clock import now_ms
from ..journal import LineReader, stamp


class Follower:
    """Follows one turn file with one parser; its work is in proportion to the new bytes."""

    def __init__(self, output: Path, times: Path, parser: TurnParser) -> None:
        self._reader = LineReader(output)
        self._parser = parser
        self._times = os.open(times, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self.steps = 0
        """Steps so far."""
        self.last_event_at: int | None = None
        """When the agent last printed something, UTC ms."""

    @property
    def facts(self) -> Facts:
        """What the stream says so far."""
        return self._parser.facts

    def catch_up(self, *, stamped: bool = True) -> bool:
        """Read everything that is there; whether there was anything.

        ``stamped`` is False for what was written before this runner came: nobody knows when it arrived.
        """
        found = False
        while chunk := self._reader.read():
            found = True
            now = now_ms()
            if stamped:
                self.last_event_at = now
                self._record(now)
            for _, line in self._reader.split(chunk):
                self._feed(line)
        return found

    def finish(self) -> None:
        """Nothing more can come: read the rest, and take an unfinished last line for what it is."""
        self.catch_up()
        rest = self._reader.rest()
        if rest is not None:
            self._feed(rest)
        self._parser.close()
        self._reader.close()
        os.close(self._times)

    def _feed(self, line: bytes) -> None:
        for step in self._parser.feed(line):
            self.steps = max(self.steps, step.index + 1)

    def _record(self, now: int) -> None:
        try:
            os.write(self._times, stamp(self._reader.offset, now))
        except OSError:
            pass  # a full disk must not stop the reading; the step is then shown without a time
