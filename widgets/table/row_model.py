"""The rows of the session table: sessions in order, with their lines, one or two for each.  Needs no screen."""

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import islice
from operator import lt

from msgspec import Struct

from agentdash.sessions.model.session import Load, Session
from agentdash.sessions.rules.attention import asks_you, is_to_visit, needs_you, urgency
from agentdash.sessions.rules.costs.family_sums import Families, FamilySum
from agentdash.sessions.rules.urgency_levels import Urgency
from agentdash.widgets.drawing.short_forms import place
from agentdash.widgets.table.ordering import (
    MEASURED,
    Arrangement,
    Grouping,
    Key,
    Row,
    Section,
    TwoLines,
    heading_key,
    membership,
    rows_of,
    section,
    sort_key,
)

_HOLDING = frozenset({Grouping.SECTIONS, Grouping.FLAT})
"""Groupings in which a row can be held; in the others no fact of a running session moves it."""

LOOK_AGAIN_MS = 10_000
"""Milliseconds between two checks of a filter that depends on the time."""


class Chooser(Struct, frozen=True):
    """A filter of sessions."""

    meant: Callable[[Session, int], bool]
    """Returns whether a session passes, at a time in UTC ms."""
    timed: bool = False
    """True if time alone can change the result."""


class RowModel:
    """Sessions in a chosen order; a heading has one line, and each session one or two."""

    def __init__(self) -> None:
        self.arrangement = Arrangement()
        self.folded: set[str] = set()
        self._chooser: Chooser | None = None
        self._looked_at = 0
        self._sessions: dict[str, Session] = {}
        self._keys: dict[str, Key] = {}
        """The sort keys of the chosen sessions."""
        self._rows: list[Row] = []
        self._sections: dict[str, Section] = {}
        """The sections of the chosen sessions, if the rows have sections."""
        self._strays: set[str] = set()
        """Rows that may be out of order because the user's cursor is, or was just now, on them."""
        self._measured: Mapping[str, Load] = {}
        self._loads: Mapping[str, Load] = {}
        """The measurement that the rows are sorted by; while a row is in hand, it may not be the newest."""
        self._ordered = False
        """True if a measurement has sorted the rows since the order was chosen."""
        self._kept: str | None = None
        """The row that stays shown although the filter excludes it."""
        self._tops: list[int] = []
        self._positions: dict[str, int] = {}
        self.level = TwoLines.NONE
        """The sessions that have two lines; see :meth:`set_level`."""
        self._working: set[str] = set()
        """The sessions that are at work, and need no user."""
        self._lines: dict[str, int] = {}
        """The lines of each row, by its key."""
        self._headed: list[int] = []
        """The positions of the headings."""
        self._needing: set[str] = set()
        """The sessions that need the user, as the filter ``is:needs_you`` has it."""
        self._new: set[str] = set()
        """The sessions that ended and were not opened since."""
        self._asking: set[str] = set()
        """The sessions whose agents ask something."""
        self.families = Families()
        """The sums of leads and their workers, shown or not."""
        self.height = 0
        """The number of lines of all rows."""

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Session]:
        return iter(self._sessions.values())

    @property
    def total(self) -> int:
        """The number of sessions, shown or not."""
        return len(self._sessions)

    @property
    def filters(self) -> bool:
        """True if a filter can hide sessions."""
        return self._chooser is not None

    @property
    def chosen(self) -> int:
        """The number of chosen sessions, folded away or not."""
        return len(self._keys)

    @property
    def new(self) -> int:
        """The number of chosen sessions that ended and were not opened since."""
        return len(self._keys.keys() & self._new)

    @property
    def asking(self) -> list[Session]:
        """The sessions whose agents wait for an answer or ended with an open question, shown or not, in any order."""
        return [self._sessions[key] for key in self._asking]

    @property
    def shown(self) -> list[str]:
        """The ids of the chosen sessions, folded away or not, in order."""
        return sorted(self._keys, key=self._keys.__getitem__)

    @property
    def displayed(self) -> list[str]:
        """The ids of the sessions that have a row, from the top."""
        return [row.session for row in self._rows if row.session is not None]

    def chooses(self, session_id: str) -> bool:
        """Return whether a session is chosen, folded away or not."""
        return session_id in self._keys

    def get(self, session_id: str | None) -> Session | None:
        """The session with this id, or None."""
        return self._sessions.get(session_id) if session_id is not None else None

    def update(
        self,
        updated: Iterable[Session],
        removed: Iterable[str],
        now: int,
        hold: str | None = None,
        keep: str | None = None,
        *,
        settle: bool = False,
    ) -> bool:
        """Apply changes; return whether a row came, went, or changed its place or its heading.

        Args:
            now: UTC ms.
            hold: the row that stays in place; the others are sorted around it.
            keep: the row that stays shown even if the filter excludes it.
            settle: True if rows that were left, but not moved, go to their places now.
        """
        moved, restless, regrouped = False, set[str](), False
        updated, removed = tuple(updated), tuple(removed)
        self.families.update(updated, removed)
        for session in updated:
            earlier, there = self._sessions.get(session.id), session.id in self._keys
            self._sessions[session.id] = session
            if self._choose(session, now, keep):
                restless.add(session.id)
            regrouped |= self._regrouped(earlier, session)
            moved |= there is not (session.id in self._keys)
            moved |= self._lines.get(session.id, 0) not in (0, self._lines_of(session.id))
        for session_id in removed:
            moved |= self._keys.pop(session_id, None) is not None
            self._sessions.pop(session_id, None)
            self._needing.discard(session_id)
            self._working.discard(session_id)
            self._new.discard(session_id)
            self._asking.discard(session_id)
            self._sections.pop(session_id, None)
            self._strays.discard(session_id)
            self._kept = None if self._kept == session_id else self._kept
        held = hold in self._keys and hold in self._positions and self.arrangement.grouped in _HOLDING
        hold = hold if held else None
        settle = settle or hold is None
        moved = moved or self._out_of_place(restless, regrouped, hold, settle)
        if moved:
            self._arrange(hold)
        else:
            self._strays = (set() if settle else self._strays) | ({hold} if hold is not None else set())
        return moved

    def let_go(self, now: int, hold: str | None, keep: str | None) -> bool:
        """Move the rows that are no longer in hand to their places; return whether anything moved."""
        over = [self._sessions[self._kept]] if self._kept is not None and self._kept != keep else []
        if not over and not self._strays - {hold}:
            return False
        return self.update(over, (), now, hold, keep, settle=True)

    def set_level(self, level: TwoLines) -> bool:
        """Give these sessions' rows two lines, and the others one; return whether that changed anything."""
        if level == self.level:
            return False
        self.level = level
        self._stack()
        return True

    def lines(self, position: int) -> int:
        """The number of lines of a row."""
        return self._lines[self._rows[position].key]

    def counted(self, displayed: Collection[str]) -> tuple[int, int]:
        """The number of these sessions that need the user, and of those that are at work."""
        return len(self._needing.intersection(displayed)), len(self._working.intersection(displayed))

    def _lines_of(self, session_id: str) -> int:
        needs, works = session_id in self._needing, session_id in self._working
        least = TwoLines.NEEDS if needs else TwoLines.WORKS if works else TwoLines.ALL
        return 2 if self.level >= least else 1

    @property
    def headings(self) -> int:
        """The number of headings."""
        return len(self._headed)

    def choose(self, chooser: Chooser | None, now: int, arrangement: Arrangement | None = None) -> None:
        """Show only the sessions that pass the filter (None shows all), in another order if one is given."""
        self._chooser, self._looked_at, self._loads = chooser, now, self._measured
        self._ordered = self._ordered and arrangement in (None, self.arrangement)
        self.arrangement = arrangement or self.arrangement
        for session in self._sessions.values():
            self._choose(session, now)
        self._arrange()

    def fold(self, key: str, closed: bool) -> bool:
        """Fold or unfold the rows below a row; return whether that changed anything."""
        position = self._positions.get(key)
        if position is None or not self._rows[position].folds or (key in self.folded) is closed:
            return False
        (self.folded.add if closed else self.folded.discard)(key)
        self._arrange()
        return True

    def unfold_to(self, session_id: str) -> bool:
        """Unfold the rows that hide a chosen session; return whether that changed anything."""
        session = self._sessions.get(session_id)
        if session is None or session_id not in self._keys or session_id in self._positions:
            return False
        groups = (self._sections.get(session_id, ""), session.agent, place(session.cwd))
        self.folded -= {*self.families.above(session), *self._followed(session), *map(heading_key, groups)}
        self._arrange()
        return True

    def _followed(self, session: Session) -> Iterator[str]:
        """The sessions below which a chain of sessions is in the tree, the nearest first."""
        met = set[str]()
        while (key := session.parent or session.predecessor) and key not in met and key in self._sessions:
            met.add(key)
            yield key
            session = self._sessions[key]

    def chosen_anew(self, now: int, hold: str | None = None, keep: str | None = None) -> bool:
        """Apply a timed filter again, at most every ``LOOK_AGAIN_MS``; return whether a row came or went."""
        chooser = self._chooser
        # The clock may go back.
        if chooser is None or not chooser.timed or 0 <= now - self._looked_at < LOOK_AGAIN_MS:
            return False
        self._looked_at = now
        sessions = self._sessions.values()
        other = [session for session in sessions if chooser.meant(session, now) is not (session.id in self._keys)]
        return bool(other) and self.update(other, (), now, hold, keep)

    def measured(self, loads: Mapping[str, Load], now: int, hold: str | None = None, keep: str | None = None) -> bool:
        """Apply a measurement; return whether a row moved.

        While a row is in hand no row moves, except that a newly chosen order is applied once.
        """
        self._measured = loads
        value = MEASURED.get(self.arrangement.sort)
        if value is None or (hold is not None and self._ordered):
            return False
        self._ordered = self._ordered or any(value(load) is not None for load in loads.values())
        hold = None
        before, self._loads = self._loads, loads
        changed = [key for key in {*before, *loads} if before.get(key) != loads.get(key)]
        return self.update([self._sessions[key] for key in changed if key in self._sessions], (), now, hold, keep)

    @property
    def first(self) -> int:
        """The first row of a session; 0 if there is none, or all are folded away."""
        return next((position for position, row in enumerate(self._rows) if row.session is not None), 0)

    def row(self, position: int) -> Row:
        """The row at a position."""
        return self._rows[position]

    def sum(self, position: int) -> FamilySum | None:
        """The sum of the family of a row; None if it has no workers, or they are in the rows below it."""
        row = self._rows[position]
        below = self.arrangement.grouped is Grouping.TREE and row.heading is None and row.key not in self.folded
        return None if below else self.families.sum(row.key)

    def at(self, position: int) -> Session | None:
        """The session of a row; None for a heading."""
        return self.get(self._rows[position].session)

    def is_passed(self, position: int) -> bool:
        """Return whether the cursor passes over a row: the heading of a section that is not folded."""
        heading = self._rows[position].heading
        return heading is not None and heading.section and not heading.folded

    def position(self, key: str | None) -> int | None:
        """The position of the row with a key; the key of a session's row is its id."""
        return self._positions.get(key) if key is not None else None

    def top(self, position: int) -> int:
        """The first line of a row."""
        return self._tops[position]

    def place(self, position: int) -> tuple[int, int]:
        """Return the number of a session's row among those of sessions, and how many there are."""
        return position + 1 - bisect_left(self._headed, position), len(self._rows) - len(self._headed)

    def find(self, line: int) -> tuple[int, int] | None:
        """The row on a line, and the line's number within the row; None below the last row."""
        if not 0 <= line < self.height:
            return None
        position = bisect_left(self._tops, line + 1) - 1
        return position, line - self._tops[position]

    def _regrouped(self, earlier: Session | None, session: Session) -> bool:
        """Note whether the session needs the user; return whether a heading, its count or the parent may change."""
        grouping, needs = self.arrangement.grouped, needs_you(session)
        works = not needs and urgency(session) is Urgency.AT_WORK
        (self._working.add if works else self._working.discard)(session.id)
        other = needs is not (session.id in self._needing)
        if other:
            (self._needing.add if needs else self._needing.discard)(session.id)
        (self._new.add if session.status.ended and is_to_visit(session) else self._new.discard)(session.id)
        (self._asking.add if asks_you(session) else self._asking.discard)(session.id)
        if earlier is None or grouping is Grouping.FLAT:
            return False
        if grouping is Grouping.SECTIONS:
            return section(earlier) is not section(session)
        return (other and grouping is not Grouping.TREE) or membership(earlier) != membership(session)

    def _out_of_place(self, restless: set[str], regrouped: bool, hold: str | None, settle: bool) -> bool:
        """Return whether rows are out of place after the keys of the ``restless`` ones changed."""
        if regrouped or (restless and self.arrangement.grouped is Grouping.TREE):
            return self._made(hold) != self._rows
        loose = restless | self._strays if settle else restless
        staying = {hold} if settle else {hold, *self._strays}
        return any(not self._in_order(key, staying) for key in loose if key in self._positions and key not in staying)

    def _in_order(self, key: str, staying: Collection[str | None]) -> bool:
        """Return whether a row is in order in its list or group, apart from the rows in ``staying``."""
        at = self._positions[key]
        parent = self._rows[at].parent
        if self.arrangement.grouped is Grouping.SECTIONS and parent != heading_key(self._sections[key]):
            return False
        near = self._rows[max(0, at - 2 - len(staying)) : at + 3 + len(staying)]
        keys = [self._keys[row.key] for row in near if row.session and row.parent == parent and row.key not in staying]
        return all(map(lt, keys, keys[1:]))

    def _made(self, hold: str | None = None) -> list[Row]:
        """The rows in order, except that ``hold`` keeps its place in its list or section."""
        ordered, kept = self.shown, None
        at = self._positions.get(hold) if hold is not None else None
        if hold is not None and at is not None:
            ordered.remove(hold)
            parent = self._positions.get(self._rows[at].parent or "")
            heading = self._rows[parent].heading if parent is not None else None
            # The section in which the row is shown now; None without sections.
            kept = Section(heading.name) if heading is not None and heading.section else None
            ordered.insert(self._kept_place(ordered, at, kept), hold)
        return list(
            rows_of(
                [self._sessions[key] for key in ordered],
                self.arrangement.grouped,
                self.folded,
                lambda session: self._sections[session.id],
                home=place,
                needing=self._needing,
                held=(hold, kept) if hold is not None and kept is not None else None,
            )
        )

    def _kept_place(self, ordered: Sequence[str], at: int, kept: Section | None) -> int:
        """The place in ``ordered`` at which a row stays where it is in its list or section."""
        if kept is None:
            return at
        above = at - self._positions[heading_key(kept)] - 1
        members = (number for number, key in enumerate(ordered) if self._sections[key] is kept)
        return next(islice(members, above, None), len(ordered))

    def _arrange(self, hold: str | None = None) -> None:
        self._rows, self._strays = self._made(hold), {hold} if hold is not None else set()
        self._positions = {row.key: position for position, row in enumerate(self._rows)}
        self._headed = [position for position, row in enumerate(self._rows) if row.session is None]
        self._stack()

    def _stack(self) -> None:
        """Give each row its lines."""
        self._tops, self._lines = [], {}
        self.height = 0
        for row in self._rows:
            self._tops.append(self.height)
            self._lines[row.key] = lines = 1 if row.session is None else self._lines_of(row.session)
            self.height += lines

    def _choose(self, session: Session, now: int, keep: str | None = None) -> bool:
        """Note whether the session is shown, and its sort key; return whether that changed."""
        there = self._chooser is None or self._chooser.meant(session, now)
        kept = not there and session.id == keep and session.id in self._keys
        if kept or self._kept == session.id:
            self._kept = session.id if kept else None
        key = sort_key(session, self.arrangement, self._loads) if there or kept else None
        earlier = self._keys.pop(session.id, None)
        if key is not None:
            self._keys[session.id] = key
            if self.arrangement.grouped is Grouping.SECTIONS:
                self._sections[session.id] = section(session)
        return earlier != key


class Density(StrEnum):
    """The user's choice of lines for each session."""

    MIXED = "mixed"
    """Two lines for sessions that need the user or are at work, as long as these fit; one for the others."""
    ONE = "one"
    TWO = "two"

    @classmethod
    def _missing_(cls, value: object) -> "Density | None":
        return cls.MIXED if value == "auto" else None  # its name until version 16 of the state folder


def level_for(density: Density, rows: RowModel, room: int) -> TwoLines:
    """Return which sessions have two lines in a table with ``room`` lines.

    Rows that have two lines keep them as long as the sessions fit: a heading that comes or goes changes no row.
    """
    if density is not Density.MIXED:
        return TwoLines.ALL if density is Density.TWO else TwoLines.NONE
    needing, working = rows.counted(rows.displayed)
    for level, sessions in ((TwoLines.WORKS, needing + working), (TwoLines.NEEDS, needing)):
        headings = 0 if rows.level >= level else min(rows.headings, level)
        if headings + 2 * sessions <= room:
            return level
    return TwoLines.NONE
