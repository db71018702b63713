"""One turn as a list of steps, for a file of any size: kinds are kept in memory, texts stay on disk.

The file is read once, in blocks.  The index keeps the offset of each block and the state of the parser there.  For
each step it keeps one byte for its kind, and the number of the block with its last line.  To show a step, that block
is parsed again from the kept state, which gives the same steps as parsing from the beginning.
"""

from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import RLock
from time import sleep

from msgspec import structs

from agentdash.sessions.agents.formats import Reader
from agentdash.sessions.model.clock import monotonic
from agentdash.sessions.model.session import Step, StepKind, Turn
from agentdash.sessions.rules.truncate import trimmed
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.storage.files.line_reader import ArrivalTimes, LineReader
from agentdash.sessions.transcript.additions import Additions, Diffs
from agentdash.sessions.transcript.index.block_table import (
    BEGINNING,
    Block,
    BlockCache,
    BlockTable,
    Placed,
    latest,
    parsed_again,
    steps_of,
)
from agentdash.sessions.transcript.index.index_file import SavedIndex
from agentdash.sessions.transcript.index.kind_codes import FATAL, encoded, middles, remark, table

BLOCK_BYTES = 256 * 1024
"""The size of a block, which is parsed again to show one of its steps: some milliseconds."""

BLOCK_LINES = 1_000
"""The limit of a block with short lines: each line makes a step that takes memory."""

STATE_SHARE = 64
"""The least ratio of a block's size to that of its state, so that the index stays a small part of the file."""

LINE_CAP = 16 << 20
"""The longest line in bytes; a longer one is a step of its own that shows only its beginning."""

_GIVE_WAY = 0.001
"""Seconds between two blocks, in which other threads can draw."""

_USAGE = encoded(Step(kind=StepKind.USAGE))
_NOTHING = encoded(Step(kind=StepKind.UNKNOWN))
_GONE = "This part of the turn file is no longer readable."
_FATAL = table(having=FATAL)


class TurnIndex:
    """The steps of one turn: its prompt, the steps of its file, and those added at its end.

    One thread reads on while other threads ask for steps.

    Args:
        output: the turn file; it need not exist yet.
        times: its ``.times`` file.
        agent: the reader of the file's format.
        prompt: the step before all others.
        begin: the offset (bytes) from which to read.
        end: the offset at which the turn ends in the file; None for the end of the file.
        is_tail: True if the turn begins before ``begin``; the end of a step that began there is a step by itself.
        diffs: finds the diffs that the file lacks.
    """

    def __init__(
        self,
        output: Path,
        times: Path,
        agent: Reader,
        turn: int,
        cache: BlockCache,
        *,
        prompt: Step | None = None,
        begin: int = 0,
        end: int | None = None,
        is_tail: bool = False,
        diffs: Diffs | None = None,
    ) -> None:
        self.turn = turn
        self.output = output
        self.begin = begin
        self.is_tail = is_tail
        self.kinds = bytearray()
        """The byte of each step, see ``kind_codes``."""
        self.finished = False
        """True once no further step can come."""
        self.held: int | None = None
        """The offset at which reading stopped because no arrival after it is recorded yet; None if it did not stop."""
        self.position = begin
        """The offset from which reading goes on, in bytes."""
        self.kept = 0
        """The offset up to which the saved index covers the file."""
        self._times_path = times
        self._agent, self._cache = agent, cache
        self._lock = RLock()
        self._parser = agent.parser(turn)
        self._blocks = array("I")
        """The number of the block with the last line of each step."""
        self._table = BlockTable([begin], [self._parser.checkpoint() or b""], set())
        self._newest: Block = {}
        self._lines = 0
        """Lines read of the current block."""
        self._later = Additions(None if is_tail else diffs)  # a step's rank among equal edits needs the whole turn
        self.beginnings = self._later.beginnings
        self._extra: dict[int, Step] = {}
        """Steps that come from no line: the prompt, interrupted steps, the reason of a failed turn."""
        self.lead = 0
        """Steps before those of the agent: its prompt."""
        self.added = 0
        """Steps after those of the agent."""
        self._reader = LineReader(output, begin, end=end, cap=LINE_CAP, kept=BEGINNING)
        self._times = ArrivalTimes(times, begin)
        if prompt is not None:
            self._add_extra(prompt)
            self.lead = 1

    def __len__(self) -> int:
        return len(self.kinds)

    @property
    def ahead(self) -> int:
        """Bytes that are written and not read yet; 0 if that is not known (then reading raises the error)."""
        try:
            return 0 if self.finished else self._reader.ahead
        except OSError:
            return 0

    @property
    def facts(self) -> Facts:
        """The parser's facts so far."""
        return self._parser.facts

    @property
    def failed(self) -> bool:
        """True if the stream itself reports that the turn failed."""
        return any(_FATAL[value] for value in set(self.kinds))

    def ends_at(self, end: int | None) -> bool:
        """Take over the offset at which the turn ends; return False if the index has to be made again.

        An index that was read before the end was known can hold steps of the next turn.
        """
        with self._lock:
            if end == self._reader.end:
                return True  # also if the children of an ended turn go on printing
            self._reader.end = end
            too_far = end is not None and self._reader.offset > end
            return not too_far and not (self.finished and self._reader.ahead)

    def read_on(self, seconds: float, *, timed: bool = False) -> set[int]:
        """Read on, for about ``seconds``, and return the places of new and changed steps.

        ``timed`` leaves lines without a recorded time of arrival to a later call, see :attr:`held`.

        Raises:
            OSError: the file cannot be read.
        """
        touched: set[int] = set()
        deadline = monotonic() + seconds
        recorded = self._times.upto() if timed else None
        self.held = None
        self._times.refresh()
        while not self.finished:
            with self._lock:
                room = BLOCK_BYTES if recorded is None else min(BLOCK_BYTES, recorded - self._reader.offset)
                if room <= 0:
                    self.held = self._reader.offset if self.ahead else None
                    break
                chunk = self._reader.read(room)
                for end, line in self._reader.split(chunk):
                    self._line(line, end, touched)
            if not chunk or monotonic() >= deadline:
                break
            sleep(_GIVE_WAY)  # a lock that is taken again at once never goes to a waiting thread
        return touched

    def finish(self, at: int | None, last: Callable[[], Step | None] | None = None) -> set[int]:
        """End the turn: take an unfinished last line as it is, and interrupt open steps; return the changed places.

        ``at`` is the end of the turn, UTC ms; ``last`` makes a last step, once all others are there.
        """
        touched: set[int] = set()
        with self._lock:
            rest = self._reader.rest()
            if rest is not None:
                self._line(rest, self._reader.offset, touched)
            self._end_block(self.position)
            # The last form of these steps is on no line of the file: it is kept beside the blocks.
            for step in self._parser.close(at):
                place = step.index + self.lead
                self._make_room(place)
                self._extra[place] = structs.replace(trimmed(step), index=self._number(step.index))
                self.kinds[place] = encoded(step)
                self._later.note(place, step)
                touched.add(place)
            more = last() if last is not None else None
            if more is not None:
                touched.add(len(self))
                self.added += 1
                self._add_extra(structs.replace(more, index=self._number(self._parser.state.next)))
            self.finished = True
            self._reader.close()
        return touched

    def close(self) -> None:
        """Close the file."""
        self._reader.close()

    def step(self, place: int) -> Step:
        """Return a step; very long texts lack their middle."""
        with self._lock:
            step = self._extra.get(place)
        if step is None:
            placed = self._placed(place)
            step = placed.step if placed else Step(turn=self.turn, index=place, kind=StepKind.UNKNOWN, text=_GONE)
        return self._added(place, step)

    def _added(self, place: int, step: Step) -> Step:
        """Return a step with what is not in the file."""
        if step.kind is StepKind.USAGE:
            return self._later.added(place, step, sums=bytes(self.kinds).count(_USAGE) == 1)
        return self._later.added(place, step) if step.changes else step

    def fill(self, place: int) -> bool:
        """Search for the diffs of a step that lacks them; return True if they were found.  Reads files."""
        step = self.step(place)
        return step.lacks_diffs and not self._later.sought(place, step).lacks_diffs

    def know_share(self, turn: Turn) -> set[int]:
        """Take over the turn's share of its conversation's tokens; return the places of steps that changed."""
        if not self._later.know_share(turn):
            return set()
        place = bytes(self.kinds).rfind(_USAGE)
        return {place} if place >= 0 else set()

    def where(self, place: int) -> tuple[int, int]:
        """Return offset and size in bytes of the line that gave a step its last form; (0, 0) if no line did."""
        placed = self._placed(place)
        return (placed.offset, placed.size) if placed else (0, 0)

    def whole(self, place: int) -> Step:
        """Return a step with its whole texts, parsed again.

        Raises:
            OSError: the file can no longer be read.
        """
        step = self.step(place)
        placed = self._parse(self._blocks[place], whole=True).get(place) if step.cut else None
        step = step if placed is None else self._added(place, latest(placed.step, step))
        return self._later.sought(place, step)

    def places_at(self, offset: int) -> list[int]:
        """Return the places of the steps that got their last form from the line at an offset."""
        with self._lock:
            block = self._block(self._table.at(offset))
        return sorted(place for place, placed in block.items() if placed.offset == offset)

    @property
    def block_count(self) -> int:
        """The number of blocks, which are searched one by one."""
        return len(self._table)

    def block(self, number: int) -> dict[int, Step]:
        """Return the steps that got their last form in a block, with whole texts; missing diffs are searched for.

        Raises:
            OSError: the file can no longer be read.
        """
        parsed = {place: placed.step for place, placed in self._parse(number, whole=True).items()}
        with self._lock:
            extra = {place: step for place, step in self._extra.items() if self._blocks[place] == number}
            steps = {place: step for place, step in parsed.items() if self._blocks[place] == number}
        # A step that the end of the turn changed has its texts in the block and its status in `extra`.
        whole = sorted((steps | {place: latest(steps.get(place), step) for place, step in extra.items()}).items())
        return {place: self._later.sought(place, self._added(place, step)) for place, step in whole}

    def every(self, first: int = 0, *, brief: bool = False) -> Iterator[Step]:
        """Yield all steps from a place on, with their whole texts; a block with long steps is parsed only once.

        With ``brief``, of many lines in a row that are not events only both ends are parsed: a notice has the number of
        the others.

        Raises:
            OSError: the file can no longer be read.
        """
        number, block = -1, dict[int, Step]()
        left_out = dict(middles(self.kinds)) if brief else {}
        behind = first
        # A remark stands for many places: the loop passes over them until it is behind the last.
        for place in range(first, len(self)):
            if place < behind:
                continue
            if place in left_out:
                behind = left_out[place]
                yield remark(self.turn, place, behind - place)
                continue
            step = self.step(place)
            if step.cut:
                if self._blocks[place] != number:
                    number = self._blocks[place]
                    block = self.block(number)
                step = block.get(place, step)
            yield step

    def block_of(self, place: int) -> int:
        """Return the number of the block with the last line of a step."""
        return self._blocks[place]

    def saved(self) -> SavedIndex | None:
        """Return the index, which saves the next reader the first reading; None if it cannot be saved."""
        with self._lock:
            self._end_block(self.position)
            if self._newest or self.is_tail:
                return None
            return SavedIndex(
                covered=self._table.newest_start,
                starts=self._table.starts,
                states=self._table.states,
                giants=sorted(self._table.giants),
                kinds=bytes(self.kinds[self.lead : len(self) - self.added]),
                blocks=self._blocks[self.lead : len(self) - self.added].tobytes(),
                additions=self._later.saved(self.lead),
            )

    def take_up(self, saved: SavedIndex) -> None:
        """Continue from the saved index of an earlier reading of the same file."""
        with self._lock:
            self.kept = saved.covered
            self._table = BlockTable(array("Q", saved.starts), list(saved.states), set(saved.giants))
            self.kinds[self.lead :] = saved.kinds
            self._blocks[self.lead :] = array("I", saved.blocks)
            self._later.take_up(saved.additions, self.lead)
            self._parser.resume(self._table.states[-1])
            self.position = saved.covered
            self._reader.offset = saved.covered
            self._times = ArrivalTimes(self._times_path, saved.covered)

    def _add_extra(self, step: Step) -> None:
        self._extra[len(self)] = step
        self.kinds.append(encoded(step))
        self._blocks.append(self._table.newest)

    def _line(self, line: bytes, end: int, touched: set[int]) -> None:
        """Add the steps of the line that ends at ``end``."""
        begin, self.position = self.position, end
        self._lines += 1
        giant = end - begin > LINE_CAP + 1
        if giant:
            self._end_block(begin)
        for step in steps_of(self._parser, line, end - begin, self._times.at(end), cap=LINE_CAP):
            place = step.index + self.lead
            self._make_room(place)
            self.kinds[place], self._blocks[place] = encoded(step), self._table.newest
            self._newest[place] = self._at(step, begin, end)
            if step.changes or step.agent_session:
                self._later.note(place, step)
            touched.add(place)
        if giant and self._table.newest_start == begin:
            self._table.giants.add(self._table.newest)
            self._end_block(end)
            return
        size = end - self._table.newest_start
        # The block is worth a state of its own.
        if (size >= BLOCK_BYTES or self._lines >= BLOCK_LINES) and size >= STATE_SHARE * len(self._table.states[-1]):
            self._end_block(end)

    def _make_room(self, place: int) -> None:
        missing = place + 1 - len(self.kinds)
        if missing > 0:
            self.kinds.extend(bytes([_NOTHING]) * missing)
            self._blocks.extend([self._table.newest] * missing)

    def _end_block(self, end: int) -> None:
        """Begin a new block, unless the parser's state cannot be saved: then the current block goes on."""
        state = self._parser.checkpoint() if end > self._table.newest_start else None
        if state is None:
            return
        self._cache.keep(self, self._table.newest, self._newest)
        self._newest, self._lines = {}, 0
        self._table.end(end, state)

    def _placed(self, place: int) -> Placed | None:
        with self._lock:
            return self._block(self._blocks[place]).get(place)

    def _block(self, number: int) -> Block:
        """Return a block with trimmed texts; empty if it can no longer be read."""
        if number == self._table.newest and not self.finished:
            return self._newest
        block = self._cache.get(self, number)
        if block is None:
            try:
                block = self._parse(number)
            except OSError:
                return {}
            self._cache.keep(self, number, block)
        return block

    def _parse(self, number: int, *, whole: bool = False) -> Block:
        with self._lock:
            stretch = self._table.stretch(number, self.position)
        again = parsed_again(
            stretch, self._agent.parser(self.turn), self.output, self._times_path, cap=LINE_CAP, chunk_bytes=BLOCK_BYTES
        )
        return {step.index + self.lead: self._at(step, begin, end, whole=whole) for step, begin, end in again}

    def _at(self, step: Step, begin: int, end: int, *, whole: bool = False) -> Placed:
        step = structs.replace(step if whole else trimmed(step), index=self._number(step.index))
        return Placed(step, begin, end - begin)

    def _number(self, index: int) -> int:
        """Return the number of a step: the prompt is 0; negative if the part before the step is not read yet."""
        return -index - 1 if self.is_tail else index + 1
