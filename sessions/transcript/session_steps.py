"""All turns of a session as one sequence of steps: its end is read first, then the rest."""

import os
import shlex
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from msgspec import Struct, field, structs

from agentdash.sessions.agents.base import Agent
from agentdash.sessions.agents.formats import TransportReader
from agentdash.sessions.agents.parsing.event_parser import MOST_STRAY, stray_words
from agentdash.sessions.agents.parsing.json_lines import NOT_JSON
from agentdash.sessions.model.clock import monotonic
from agentdash.sessions.model.errors import StoreError
from agentdash.sessions.model.session import Prompt, Status, Step, StepKind, StoppedBy, Turn
from agentdash.sessions.rules.conversation.marks import RelatedMark
from agentdash.sessions.rules.conversation.shown import Shown
from agentdash.sessions.storage.files.line_reader import FilePart
from agentdash.sessions.storage.paths import SessionFolder
from agentdash.sessions.storage.turns.turn_output import TurnOutput, outputs_of
from agentdash.sessions.text.units import size
from agentdash.sessions.transcript.additions import Diffs
from agentdash.sessions.transcript.index import index_file
from agentdash.sessions.transcript.index.block_table import BlockCache
from agentdash.sessions.transcript.index.turn_index import LINE_CAP, TurnIndex
from agentdash.sessions.transcript.mark_steps import Gap, Marking, MarkSection, Section, marking
from agentdash.sessions.transcript.snapshot import View

AT_ONCE = 1 << 20
"""The most bytes of a session that are read before its steps are shown; a longer one is shown from its end."""

TAIL_BYTES = 256 * 1024
"""Bytes that are read of that end."""

PASS_SECONDS = 0.2
"""The time of one read, after which the steps read so far can be shown."""

FIRST_SECONDS = 1.0
"""The time to read the end, without which there are no steps to show."""

_FIRST_BYTES = 16_384
_FIRST_LINES = 20
"""Lines of stderr that a failed start shows: enough to see the reason."""

Touched = dict[TurnIndex, set[int]]

Facts = Callable[[], tuple[list[Turn], list[Prompt]]]
"""The turns and prompts of the session as they are now."""


class Growth(Struct, frozen=True):
    """The result of one read."""

    view: View
    changed: frozenset[int] = frozenset()
    """Items that were there before and have changed."""
    turns: tuple[Turn, ...] = ()
    """The turns of the session, as recorded in the store."""
    ahead: int = 0
    """Bytes that are written and not read yet, without those that are held back."""
    held: tuple[int, int] | None = None
    """The turn, and the offset in its file from which on the runner has not recorded times of arrival yet."""
    trouble: str | None = None
    """The error, if a file could not be read."""
    prompt_states: Mapping[int, str] = field(default_factory=dict)
    """The :class:`..rules.prompts.delivery.PromptState` of each turn's prompt, by the turn's number."""
    shown: Shown | None = None
    """The steps that were cut; None if the conversation has no marks."""
    marks: tuple[MarkSection, ...] = ()
    """The marks in the view, with the forks that began in this session."""

    @property
    def over(self) -> bool:
        """True if all turns have ended and are fully read: a change of the session's row announces the next turn."""
        if self.ahead or self.trouble is not None:
            return False
        return bool(self.turns) and all(turn.status.ended for turn in self.turns)


class SessionSteps:
    """The steps of one session.

    Only one thread at a time may call :meth:`refresh` and :meth:`close`; any thread can use the views.

    Args:
        agent: the agent that wrote its turn files.
        facts: reads its turns and prompts from the store.
        index_folder: the folder for the indexes of long files.
        diffs: finds the diffs that the turn files lack; None searches for none.
        marks: reads the marks of the conversation, and those with which forks of it begin.
    """

    def __init__(
        self,
        folder: SessionFolder,
        agent: Agent,
        facts: Facts,
        index_folder: Path,
        diffs: Diffs | None = None,
        marks: Callable[[], Sequence[RelatedMark]] = tuple,
    ) -> None:
        self._folder = folder
        self._agent = agent
        self._facts = facts
        self._index_folder = index_folder
        self._diffs = diffs
        self._marks = marks
        self._related: tuple[tuple[int, ...], Sequence[RelatedMark]] = ((), ())
        """The turns and the marks from which the marking was concluded."""
        self._marking = Marking()
        self._cache = BlockCache()
        self._turns: list[TurnIndex] = []
        self._parts: list[tuple[int | None, int, int | None, int]] = []
        """The place of each turn's output in the files, as it is recorded, in the order of the turns."""
        self._outputs: dict[int, TurnOutput] = {}
        """The same by the numbers of the turns."""
        self._tail: TurnIndex | None = None
        self._read_from: int | None = None
        """The place in the list of the first turn that is read before the others."""
        self._view = View()
        self._timed = False

    def refresh(self, seconds: float = PASS_SECONDS, *, timed: bool = False) -> Growth:
        """Read new bytes, for about ``seconds``.

        Args:
            timed: hold back lines of a running turn that have no time of arrival yet; it is written after the line.

        Raises:
            StoreError: the store cannot be read.
        """
        # Turns first: if a turn has ended here, all its bytes are on disk.
        turns, prompts = self._facts()
        self._meet(turns, prompts)
        if self._diffs is not None:
            self._diffs.know(turns)
        touched: Touched = {}
        trouble = None
        self._timed = timed
        try:
            if self._read_from is None:
                self._read_from = self._choose_end()
                self._read_end(turns, FIRST_SECONDS, touched)
            else:
                self._read_end(turns, seconds / 2, touched)
                self._read_rest(turns, seconds / 2, touched)
        except OSError as error:
            trouble = f"{error.filename or self._folder.path}: {error.strerror or error}"
        states = {prompt.turn: prompt.state for prompt in prompts}
        related = tuple(self._marks())
        known = tuple(turn.n for turn in turns) if related else (), related
        if known != self._related:
            self._related, self._marking = known, marking(self._folder.id, *known)
        growth = self._grown(turns, touched, trouble)
        marks = tuple(self._marking.sections.values())
        return structs.replace(growth, prompt_states=states, shown=self._marking.shown, marks=marks)

    def every_step(self, turns: Container[int] | None = None, *, brief: bool = False) -> Iterator[Step]:
        """Yield all steps in their order, with their whole texts, as they are now; one at a time is in memory.

        ``turns`` are the turns whose steps are wanted; None for all.  ``brief`` leaves out the middle of many lines in
        a row that are not events.

        Raises:
            OSError: a file cannot be read.
        """
        for index in self._read_whole(turns):
            yield from index.every(brief=brief)

    def _read_whole(self, turns: Container[int] | None) -> Iterator[TurnIndex]:
        """Yield the indexes of the turns, each read to the end of its turn."""
        recorded, prompts = self._facts()
        self._meet(recorded, prompts)
        self._read_from = 0
        for index, facts in zip(self._turns, recorded, strict=True):
            if turns is None or facts.n in turns:
                index.read_on(float("inf"))
                self._finish(index, facts)
                index.know_share(facts)
                yield index

    def steps_from(self, turn: int, first: int) -> Iterator[Step]:
        """Yield the steps of a turn from a place on, with whole texts and diffs, and close the files after the last.

        What is before the place is not parsed again if the index of the turn is saved.

        Raises:
            StoreError: a file cannot be read.
        """
        with self._closing():
            index = next(iter(self._read_whole((turn,))))
            for place, step in enumerate(index.every(first), first):
                yield index.whole(place) if step.lacks_diffs and index.fill(place) else step

    def every_step_once(self, turns: Container[int] | None = None, *, brief: bool = False) -> Iterator[Step]:
        """Yield the steps of :meth:`every_step`, and close the files after the last one.

        Raises:
            StoreError: a file cannot be read.
        """
        with self._closing():
            yield from self.every_step(turns, brief=brief)

    @contextmanager
    def _closing(self) -> Iterator[None]:
        """Close the files at the end, also after an error of one, which becomes one of the store."""
        try:
            yield
        except OSError as error:
            raise StoreError(f"{error.filename}: {error.strerror or error}.") from None
        finally:
            self.close()

    def close(self) -> None:
        """Close the files, and save the indexes of long ones."""
        for index in self._turns:
            if not index.finished:
                self._keep(index)
            index.close()
        if self._tail is not None:
            self._tail.close()

    def _meet(self, turns: list[Turn], prompts: list[Prompt]) -> None:
        """Make an index for each new turn, and again for each whose place is another one than it was.

        It was read beyond its end before that was known, or while it waited: the output of a turn is in the files of
        an earlier one if a live agent serves it.
        """
        parts = [(turn.stream, turn.begin_byte, turn.end_byte, turn.begin_error_byte) for turn in turns]
        if parts == self._parts:
            return
        outputs = outputs_of(self._folder, turns)
        moved = {n for n, (before, now) in enumerate(zip(self._parts, parts, strict=False)) if before[:2] != now[:2]}
        self._parts, self._outputs = parts, {turn.n: output for turn, output in zip(turns, outputs, strict=True)}
        first = {prompt.turn: prompt for prompt in reversed(prompts)}
        for place, (turn, output) in enumerate(zip(turns, outputs, strict=True)):
            if place == len(self._turns):
                self._turns.append(self._taken_up(turn, output, first.get(turn.n)))
            elif place in moved or not self._turns[place].ends_at(output.stdout.end):
                self._turns[place].close()
                self._turns[place] = self._taken_up(turn, output, first.get(turn.n))
            tail = self._tail
            if tail is not None and tail.turn == turn.n and not tail.ends_at(output.stdout.end):
                tail.close()
                self._tail = self._index(turn.n, output, tail_from=tail.begin)

    def _taken_up(self, turn: Turn, output: TurnOutput, prompt: Prompt | None) -> TurnIndex:
        """Return the index of a turn; it continues from the saved one, if there is one that fits."""
        by = turn.asked_by if turn.asked_by == StoppedBy.AGENTDASH else None
        index, part = self._index(turn.n, output, prompt, sender=by), output.stdout
        saved = index_file.load(self._index_path(turn.n), part.path, self._agent.name, part.begin, part.end)
        if saved is not None:
            index.take_up(saved)
        return index

    def _index(
        self,
        turn: int,
        output: TurnOutput,
        prompt: Prompt | None = None,
        tail_from: int | None = None,
        sender: str | None = None,
    ) -> TurnIndex:
        asked, part = None, output.stdout
        if prompt is not None:
            asked = Step(turn=turn, kind=StepKind.PROMPT, text=prompt.text, at=prompt.created_at, sender=sender)
        reader, is_tail = TransportReader(self._agent, output.transport), tail_from is not None
        begin = part.begin if tail_from is None else tail_from
        return TurnIndex(
            part.path, output.times, reader, turn, self._cache, prompt=asked, begin=begin, end=part.end,
            is_tail=is_tail, diffs=self._diffs,
        )  # fmt: skip

    def _choose_end(self) -> int:
        """Return the place in the list of the first turn that is read first; 0 if all turns are read at once."""
        if sum(index.ahead for index in self._turns) <= AT_ONCE:
            return 0
        room = TAIL_BYTES
        for place in reversed(range(len(self._turns))):
            ahead = self._turns[place].ahead
            if ahead > room:
                output = self._outputs[self._turns[place].turn]
                # The turns after this one may take the whole room.
                begin = _line_start(output.stdout, room) if room else None
                if begin is not None:
                    self._tail = self._index(self._turns[place].turn, output, tail_from=begin)
                return place + 1
            room -= ahead
        return 0

    def _read_end(self, turns: list[Turn], seconds: float, touched: Touched) -> None:
        """Read the turns that are shown first, and the tail of the turn before them."""
        start = self._read_from or 0
        if self._tail is not None:
            self._read_one(self._tail, turns[start - 1], seconds, touched)
        for index, turn in zip(self._turns[start:], turns[start:], strict=False):
            self._read_one(index, turn, seconds, touched)

    def _read_rest(self, turns: list[Turn], seconds: float, touched: Touched) -> None:
        """Read the turns before those, in their order."""
        deadline = monotonic() + seconds
        start = self._read_from or 0
        for index, turn in zip(self._turns[:start], turns[:start], strict=False):
            self._read_one(index, turn, deadline - monotonic(), touched)
            if index.ahead and index.held is None:
                return
        if self._tail is not None:
            self._tail.close()
        self._read_from, self._tail = 0, None

    def _read_one(self, index: TurnIndex, turn: Turn, seconds: float, touched: Touched) -> None:
        if index.finished:
            return
        places = touched.setdefault(index, set())
        places |= index.read_on(seconds, timed=self._timed and not turn.status.ended)
        places |= index.know_share(turn)
        if turn.status.ended and not index.ahead:
            places |= self._finish(index, turn)

    def _finish(self, index: TurnIndex, turn: Turn) -> set[int]:
        """Finish the index of an ended turn; return the changed places."""
        if index.finished or not turn.status.ended:
            return set()
        touched = index.finish(turn.ended_at, partial(self._failure, turn, index))
        self._keep(index)
        return touched

    def _grown(self, turns: list[Turn], touched: Touched, trouble: str | None) -> Growth:
        earlier, view = self._view, View(self._sections())
        if not any(touched.values()) and view.sections == earlier.sections:
            view = earlier  # keeps its cached counts
        self._view = view
        changed: set[int] = set()
        for index, places in touched.items():
            before = earlier.shown(index)
            items = (view.item(index, place) for place in places if place < before)
            changed.update(item for item in items if item is not None)
        ahead = sum(index.ahead for index in self._turns if index.held is None)
        held = next(((index.turn, index.held) for index in self._turns if index.held is not None), None)
        return Growth(view, frozenset(changed), tuple(turns), ahead, held, trouble)

    def _sections(self) -> list[Section]:
        start = self._read_from or 0
        done = next((n for n, index in enumerate(self._turns[:start]) if index.ahead), start)
        if done == start:
            return self._marking.among(self._turns) if self._marking.sections else list(self._turns)
        missing = sum(index.ahead for index in self._turns[done:start])
        if self._tail is not None:
            missing -= self._tail.position - self._tail.begin
        gap = Gap(self._turns[done].turn, f"… loading {size(max(0, missing))} in between")
        tail = [self._tail] if self._tail is not None else []
        return self._marking.among([*self._turns[: done + 1], gap, *tail, *self._turns[start:]])

    def _failure(self, turn: Turn, index: TurnIndex) -> Step | None:
        """Return a step with the reason of a failed turn, if its stream has none; else None.

        If the turn has no known step, it also gets the command and the beginning of stderr.  Lines on stdout are steps
        already, and are not repeated.
        """
        if turn.status is not Status.FAILED or not turn.reason or index.failed:
            return None
        reason = _without_what_is_shown(turn.reason, index)
        failure = Step(turn=index.turn, kind=StepKind.ERROR, text=reason, fatal=True, at=turn.ended_at)
        if turn.steps > turn.unknown:
            return failure
        return structs.replace(
            failure,
            command=shlex.join(turn.argv),
            exit_code=turn.exit_code,
            output=_first_lines(self._outputs[turn.n].stderr),
        )

    def _index_path(self, turn: int) -> Path:
        return index_file.path_of(self._index_folder, self._folder.id, turn)

    def _keep(self, index: TurnIndex) -> None:
        """Save the index of a long file."""
        worth = index.position - index.begin >= index_file.WORTH_KEEPING and index.position > index.kept
        saved = index.saved() if worth else None
        if saved is not None:
            index_file.save(self._index_path(index.turn), index.output, self._agent.name, saved, index.begin)


def _without_what_is_shown(reason: str, index: TurnIndex) -> str:
    """Return a failure's reason without the stdout line that it quotes, which is a step of its own."""
    count = len(index)
    for place in sorted({*range(min(count, MOST_STRAY)), *range(max(0, count - MOST_STRAY), count)}):
        step = index.step(place)
        if step.kind is StepKind.UNKNOWN and step.event == NOT_JSON:
            shown = f": {stray_words(step.text).strip()}"
            before, separator, after = reason.rpartition(shown)
            # A note in brackets may follow.
            if separator and (not after or after.startswith(" (")):
                return before + after
    return reason


def _first_lines(part: FilePart) -> str | None:
    """Return the first non-blank lines of a part of a file; None if it has none, or cannot be read."""
    try:
        lines = next(part.pieces(), b"")[:_FIRST_BYTES].decode("utf-8", "replace").split("\n")
    except OSError:
        return None
    return "\n".join([line for line in lines if line.strip()][:_FIRST_LINES]) or None


def _line_start(part: FilePart, room: int) -> int | None:
    """Return the offset of the first whole line in the last ``room`` bytes, or in more if a line is longer."""
    with part.path.open("rb") as file:
        end = part.upto(os.fstat(file.fileno()).st_size)
        while room <= LINE_CAP:
            begin = max(part.begin, end - room)
            file.seek(begin)
            newline = file.read(end - begin).find(b"\n")
            if 0 <= newline < end - begin - 1:
                return begin + newline + 1
            room *= 4
    return None
