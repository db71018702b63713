"""Follow sessions as plain lines: the output of `tail` and a `watch` without a terminal."""

import asyncio
import select
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from agentdash.sessions.model.errors import UnknownSessionError, UsageError
from agentdash.sessions.model.session import Session, Status
from agentdash.sessions.service.watch import Change, changes, rechecked
from agentdash.sessions.text.sanitize import cut, one_line, pad
from agentdash.sessions.transcript.tail import ARRIVAL_SECONDS, StepTail, TailedStep
from agentdash.tui.render.sessions.table import session_lines
from agentdash.tui.render.steps import step_text, turn_heading
from agentdash.tui.render.style import Style

if TYPE_CHECKING:
    from agentdash.sessions.service.manager import SessionManager
    from agentdash.sessions.service.reader import SessionReader

_NAME_CELLS = 24
"""Width of the name before each line, if several sessions are followed."""

_LOOKS = (0.02, 0.1, 0.3, ARRIVAL_SECONDS + 0.1)
"""Seconds after an event at which to check again: a line's arrival time is recorded after the line, in a file that is
not watched."""


class Printer:
    """Prints steps and states as lines; with JSON, one object per line.

    Args:
        style: the reader's width, colours and characters.
        write_json: prints one value; None to print text.
        named: begin each line with the name of its session.
    """

    def __init__(
        self,
        style: Style,
        write: Callable[[Iterable[str]], None],
        write_json: Callable[[Any], None] | None = None,
        *,
        named: bool = False,
    ) -> None:
        self._style = style
        self._write, self._write_json = write, write_json
        self._named = named
        self._turns: dict[str, int] = {}

    def steps(self, session: Session, new_steps: Sequence[TailedStep]) -> None:
        """Print steps of a session."""
        if self._write_json is not None:
            from agentdash.sessions.rules.json_schema import step_json

            for one in new_steps:
                self._write_json({"session": session.id} | step_json(one.step))
            return
        lines = [line for one in new_steps for line in self._lines(session, one)]
        if lines:
            self._write(self._prefixed(session, lines))

    def state(self, session: Session) -> None:
        """Print the state of a session."""
        if self._write_json is None:
            self._write(self._prefixed(session, session_lines(session, self._style)))

    def _lines(self, session: Session, tailed: TailedStep) -> list[str]:
        step = tailed.step
        heading = [turn_heading(step.turn, self._style)] if self._turns.get(session.id) != step.turn else []
        self._turns[session.id] = step.turn
        lines = step_text(step, self._style)
        indent = "    " if step.parent else ""
        return heading + [indent + line for line in (lines[:1] if tailed.begun and not step.items else lines)]

    def _prefixed(self, session: Session, lines: Iterable[str]) -> Iterable[str]:
        if not self._named:
            return lines
        name = f"{session.short_id} {one_line(session.label)}"
        before = self._style.paint(pad(cut(name, _NAME_CELLS), _NAME_CELLS), "dim") + " | "
        return [before + line for line in lines]


class Followed:
    """A session that is followed."""

    def __init__(self, reader: "SessionReader", session: Session, turn: int | None, *, full: bool) -> None:
        self.session = session
        self.outcome: Status | None = None
        """Final status of the session, or of the followed turn; None until it ends."""
        self._reader = reader
        self._turn = turn
        self._tail = StepTail(reader.steps.open_trajectory(session.id), turn, whole=full, timed=True)

    def begin(self, last: int | None, printer: Printer) -> None:
        """Print the steps that exist already: the last ``last`` of them, or all if it is None."""
        self._refresh()
        printer.steps(self.session, self._tail.begin(last))
        self._read(printer)

    def go_on(self, printer: Printer) -> None:
        """Print the steps since the last call.

        Raises:
            UnknownSessionError: the session was deleted.
        """
        self._refresh()
        self._read(printer)

    @property
    def waits(self) -> bool:
        """True while lines are held back because their arrival times are not known yet."""
        return self._tail.waits

    def grew(self, change: Change) -> bool:
        """Return whether a change on disk may concern this session."""
        return change.database or change.sweep or any(n.startswith(self.session.id + ".") for n in change.turn_files)

    def close(self) -> None:
        """Close the session's files."""
        self._tail.close()

    def _refresh(self) -> None:
        # The state is read before the steps: if the turn has ended by then, all its steps are there.
        self.session = self._reader.get(self.session.id)
        if self._turn is None:
            status = self.session.status
        else:
            turns = self._reader.turns(self.session.id)
            status = next((turn.status for turn in turns if turn.n == self._turn), Status.QUEUED)
        self.outcome = status if status.ended else None

    def _read(self, printer: Printer) -> None:
        while True:
            printer.steps(self.session, self._tail.more())
            if not self._tail.behind:
                return


def follow(
    manager: "SessionManager",
    sessions: Sequence[Session],
    printer: Printer,
    complain: Callable[[str], None],
    *,
    last: int | None = 10,
    turn: int | None = None,
    full: bool = False,
    next_turns: bool = False,
) -> bool:
    """Print the steps of sessions as they come, until all have ended; return whether all are done.

    Args:
        printer: prints the steps.
        complain: prints a remark of one line.
        last: number of existing steps to print first; None prints all.
        turn: follow only this turn, and stop at its end.
        next_turns: keep following ended sessions until the user interrupts.

    Raises:
        UsageError: a session has no such turn.
        BrokenPipeError: the reader of the output is gone.
    """
    if turn is not None:
        for session in sessions:
            if turn > session.turn:
                raise UsageError(f"Session {session.short_id} has no turn {turn}: its newest is {session.turn}.")
    followed = [Followed(manager.reader, session, turn, full=full) for session in sessions]
    try:
        return asyncio.run(_follow(manager, followed, printer, complain, last, next_turns=next_turns))
    finally:
        for one in followed:
            one.close()


async def _follow(
    manager: "SessionManager",
    followed: list[Followed],
    printer: Printer,
    complain: Callable[[str], None],
    last: int | None,
    *,
    next_turns: bool,
) -> bool:
    for one in followed:
        one.begin(last, printer)
        if one.session.status is Status.QUEUED:
            complain(f"{one.session.short_id} is queued: not started yet.")
    open_ones, good = list(followed), True
    reported: dict[str, tuple[int, Status]] = {}

    def is_news(change: Change) -> bool:
        return not change.sweep or bool(change.turn_files) or any(one.waits for one in open_ones)

    looks = rechecked(changes(manager.reader.home, manager.reader.live_dir), is_news, _LOOKS)
    async with aclosing(looks):
        async for change in looks:
            check_reader()
            if change is not None and change.sweep:
                manager.housekeeping.settle()
            for one in [one for one in open_ones if one.waits or (change is not None and one.grew(change))]:
                try:
                    one.go_on(printer)
                except UnknownSessionError:
                    complain(f"Session {one.session.short_id} was deleted.")
                    open_ones.remove(one)
                    good = False
                    continue
                end = (one.session.turn, one.outcome) if one.outcome else None
                if end is None or reported.get(one.session.id) == end:
                    continue
                reported[one.session.id] = end
                printer.state(one.session)
                if not next_turns:
                    open_ones.remove(one)
                    good = good and one.outcome is Status.DONE
            if not open_ones:
                return good
    return good  # the stream of changes never ends


def check_reader() -> None:
    """Check that the output still has a reader; without this check only the next line would notice.

    Raises:
        BrokenPipeError: the output has no reader.
    """
    if _reader_is_gone():
        raise BrokenPipeError


def _reader_is_gone() -> bool:
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)
        return any(events & select.POLLERR for _, events in poll.poll(0))
    except (OSError, ValueError, AttributeError):  # the output is not a file, or the platform has no poll
        return False
