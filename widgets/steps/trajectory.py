"""The steps of one session: a list with a cursor, folds, filters and jumps."""

from collections.abc import Callable, Collection, Mapping
from typing import ClassVar

from msgspec import structs
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from ...sessions.model import Step, StepStatus
from ..drawing.glyphs import UNICODE, Signs
from ..drawing.spans import Row
from ..lists.virtual_list import VirtualList
from .filtered_steps import ShownSteps
from .protocol import Steps
from .step_decorations import Unread, edged, marked
from .step_groups import FAILURES, GROUPS, PROMPTS
from .step_lines import BRIEF, USUAL, WHOLE, Manner, rule, step_rows

BACK = 50
"""Places that are remembered to go back to."""


class Trajectory(VirtualList):
    """Follows the newest step until somebody goes up; the step under the cursor is marked at its left edge."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "step(1)", "the next step; one line, if it is long", show=False, id="steps.down"),
        Binding("k,up", "step(-1)", "the step before it", show=False, id="steps.up"),
        Binding("g,home", "first", "the beginning", show=False, id="steps.first"),
        Binding("G,end", "last", "the end, and follow", show=False, id="steps.last"),
        Binding("enter", "open", "the step in a pane of its own", show=False, id="steps.open"),
        Binding("l,right", "unfold(1)", "more of the step", show=False, id="steps.more"),
        Binding("h,left", "unfold(-1)", "less of the step", show=False, id="steps.less"),
        Binding("z", "fold_all", "all steps: one line, usual, whole", show=False, id="steps.fold"),
        Binding("right_square_bracket", "turn(1)", "the next turn", show=False, id="steps.next_turn"),
        Binding("left_square_bracket", "turn(-1)", "the turn's beginning; the one before", id="steps.previous_turn"),
        Binding("e", "failure(1)", "the next failure", show=False, id="steps.next_failure"),
        Binding("E", "failure(-1)", "the failure before", show=False, id="steps.previous_failure"),
        Binding("right_curly_bracket", "prompt(1)", "the next prompt", show=False, id="steps.next_prompt"),
        Binding("left_curly_bracket", "prompt(-1)", "the prompt before", show=False, id="steps.previous_prompt"),
        Binding("full_stop", "unread", "the first step that is new since you looked", show=False, id="steps.unread"),
        Binding("backspace", "back", "back to where you were before a jump", show=False, id="steps.jump_back"),
        *(Binding(group.key, f"group('{group.key}')", "", show=False) for group in GROUPS),
        Binding("0", "all", "steps of all kinds", show=False, id="steps.all"),
    ]

    class Moved(Message):
        """The cursor is on another step, or that step looks otherwise."""

    class Opened(Message):
        """Somebody wants to see the step under the cursor."""

    class Lacking(Message):
        """A step was drawn that changed files and has no diff: see :meth:`lacking`."""

    class Filtered(Message):
        """Other kinds of steps are shown."""

    class Lost(Message):
        """There is nothing in that direction."""

        def __init__(self, what: str) -> None:
            super().__init__()
            self.what = what

    def __init__(self, *, signs: Signs = UNICODE, id: str | None = None) -> None:  # noqa: A002
        super().__init__(signs=signs, id=id)
        self.set_reactive(VirtualList.following, True)
        self._list = ShownSteps()
        self._cursor = 0
        self._level = USUAL
        self._levels: dict[tuple[int, int], int] = {}
        self._behind: list[int] = []
        self._turn_notes: Mapping[int, str] = {}
        self._manner = Manner(signs=signs)
        self._needle = ""
        self._unread: Unread | None = None
        self._lacking: set[int] = set()
        """The numbers of the steps that were drawn and lack their diffs."""

    @property
    def steps(self) -> Steps | None:
        """What is shown."""
        return self._list.steps

    @property
    def cursor(self) -> int:
        """The number of the step under the cursor."""
        return self._cursor

    @property
    def groups(self) -> frozenset[str]:
        """The keys of the groups that are shown; none means all."""
        return self._list.groups

    @property
    def current(self) -> Step | None:
        """The step under the cursor."""
        return self.steps.step(self._cursor) if self.steps is not None and len(self._list) else None

    def clear(self, note: str = "") -> None:
        """Show another session, or none; ``note`` stands there until its steps come."""
        self.note = note
        self._list, self._cursor = ShownSteps(), 0
        self._levels, self._behind, self._turn_notes, self._unread = {}, [], {}, None
        self._level, self._needle = USUAL, ""
        self.forget_all()
        self.following = True
        self.place((0, 0))
        self.post_message(self.Filtered())

    def show(self, steps: Steps, changed: Collection[int] = (), *, turn_notes: Mapping[int, str] | None = None) -> None:
        """Show a newer sequence of the same session.

        Args:
            steps: the sequence.
            changed: items that were there before and look otherwise now.
            turn_notes: what stands at the end of the heading of each turn.
        """
        earlier, at_end, before = self.steps, self.following, self._cursor
        top = self._list.item(self._top[0]), self._top[1]
        former, self._list = self._list, ShownSteps(steps, self.groups)
        if earlier is not None and steps.extends(earlier) and self._list.continues(former):
            self.grow()
            self.forget(self._list.position(item) for item in changed if self._list.shows(item))
        else:
            top = steps.moved(earlier, top[0]) if earlier else 0, top[1]
            self._cursor = steps.moved(earlier, self._cursor) if earlier else 0
            self._behind = [steps.moved(earlier, item) for item in self._behind] if earlier else []
            self.forget_all()
        self._say_turns(turn_notes or {})
        if len(self._list):
            self._cursor = self._list.item(len(self._list) - 1 if at_end else self._list.position(self._cursor))
        self.place(self.end() if at_end else (self._list.position(top[0]), top[1]))
        if earlier is None or self._cursor != before or self._cursor in changed:
            self.post_message(self.Moved())

    def lacking(self) -> set[int]:
        """The numbers of the steps on the screen that lack their diffs."""
        return self._lacking and self._lacking & {self._list.item(position) for position in self.shown()}

    def renew(self, items: Collection[int]) -> None:
        """Draw steps again about which more is known now; the step under the cursor keeps its line of the screen."""
        self._lacking.difference_update(items)
        if len(self._list):
            self._hold(lambda: self.forget(self._list.position(item) for item in items if self._list.shows(item)))

    def forget_all(self) -> None:
        """All steps became others; which of them lack something shows when they are drawn."""
        self._lacking.clear()
        super().forget_all()

    def tick(self, now: int) -> None:
        """The time has gone on: what runs and is on the screen is older."""
        self.look_like(structs.replace(self._manner, now=now))

    def look_like(self, manner: Manner) -> None:
        """Show steps in another manner: the time has gone on, or the session lies in another folder."""
        if manner == structs.replace(self._manner, now=manner.now):
            running = [p for p in self.shown() if self._list.step(p).status is StepStatus.RUNNING]
            self._manner = manner
            if running:
                self.forget(running)
                self.redraw()
        else:
            self._manner = manner
            self._again()

    def highlight(self, needle: str) -> None:
        """Mark this text wherever it is shown; an empty one marks nothing."""
        if needle != self._needle:
            self._needle = needle
            self._again()

    def reveal_match(self) -> None:
        """Show the text that was searched for in the step under the cursor, whole if it is folded away."""
        position = self._list.position(self._cursor)
        step = self.current
        if step is None or not self._needle:
            return
        if not self._matches(position):
            self._levels[step.turn, step.index] = WHOLE
            self.forget([position])
        lines = self._matches(position)
        self.reveal(position)
        if lines and self._lines_between(self._top, (position, lines[0])) not in range(self.page_lines):
            self.place((position, max(0, lines[0] - self.page_lines // 2)))
        self.redraw()

    def _matches(self, position: int) -> list[int]:
        """The lines of a step that hold what was searched for."""
        rows = self.rows(position, self.columns)
        return [number for number, row in enumerate(rows) if any(role == "match" for _, role in row)]

    def mark_unread(self, unread: Unread | None) -> None:
        """Put words above the first step that nobody has seen."""
        if unread != self._unread:
            self._unread = unread
            self._again()

    def action_unread(self) -> None:
        """Go to the first step that nobody has seen."""
        if self._unread is None:
            self.post_message(self.Lost("nothing is marked as new since you looked"))
        else:
            self._jump(self._unread.item, "new step", 1)

    def go(self, item: int, *, remember: bool = True) -> None:
        """Put the cursor on a step and show it; a step that is filtered out shows all steps again."""
        if self.steps is None or not len(self.steps):
            return
        if remember:
            self._behind = [*self._behind, self._cursor][-BACK:]
        item = max(0, min(item, len(self.steps) - 1))
        if not self._list.shows(item):
            self.show_groups(frozenset())
        self._put(self._list.position(item))

    def show_groups(self, groups: frozenset[str]) -> None:
        """Show the steps of some groups, or all."""
        line = self._list.position(self._cursor) - self._top[0]
        self._list = ShownSteps(self.steps, groups)
        self.forget_all()
        if len(self._list):
            position = len(self._list) - 1 if self.following else self._list.position(self._cursor)
            self._cursor = self._list.item(position)
            self.place(self.end() if self.following else (max(0, position - line), 0))
            self.reveal(position)
        else:
            self.note = "nothing of this kind: 0 shows all steps"
            self.place((0, 0))
        self.post_message(self.Filtered())
        self.post_message(self.Moved())

    def remembered(self) -> tuple[int, int, int]:
        """Where the cursor is, and what stands at the top of the screen: step and line."""
        return self._cursor, self._list.item(self._top[0]), self._top[1]

    def recall(self, place: tuple[int, int, int]) -> None:
        """Go back to a remembered place, and do not follow."""
        self.following = False
        self._cursor = min(place[0], max(0, len(self.steps or ()) - 1))
        self.place((self._list.position(place[1]), place[2]))
        self.post_message(self.Moved())

    def count(self) -> int:
        """How many steps are shown."""
        return len(self._list)

    def rows(self, item: int, width: int) -> list[Row]:
        """A step with what stands above it."""
        number, step = self._list.item(item), self._list.step(item)
        if step.changes and step.lacks_diffs and number not in self._lacking:
            self._lacking.add(number)
            self.post_message(self.Lacking())
        rows: list[Row] = []
        if self._list.begins_turn(item):
            rows.append(rule(f"turn {step.turn}", width, self.signs, note=self._turn_notes.get(step.turn, "")))
        if self._unread is not None and self._unread.item == number:
            rows += self._unread.rows(width, self.signs)
        level = self._levels.get((step.turn, step.index), self._level)
        manner = structs.replace(self._manner, level=level)
        steps = step_rows(step, width - 1, manner)
        return [*rows, *(edged(marked(row, self._needle)) for row in steps)]

    def strips(self, item: int) -> list[Strip]:
        """The lines of a step; the edge of the one under the cursor is marked."""
        strips = super().strips(item)
        if self._list.item(item) != self._cursor:
            return strips
        edge = self._painter.strip([(self.signs.cursor, "running" if self.has_focus else "dim")], 1)
        above = self._lines_above(item)
        return [strip if n < above else Strip.join([edge, strip.crop(1)]) for n, strip in enumerate(strips)]

    def on_focus(self) -> None:
        """The cursor shows where the keys go."""
        self.redraw()

    def on_blur(self) -> None:
        """The cursor shows where the keys go."""
        self.redraw()

    def on_resize(self) -> None:
        """What stood at the top stays there, and the cursor on the screen."""
        super().on_resize()
        if not self.following:
            self.reveal(self._list.position(self._cursor))

    def roll(self, lines: int) -> None:
        """The cursor stays on the screen."""
        super().roll(lines)
        shown = self.shown()
        position = self._list.position(self._cursor)
        if self.following:
            position = self.count() - 1
        elif position not in shown and len(shown):
            first = shown[1] if self._top[1] and len(shown) > 1 else shown[0]
            position = first if position < shown[0] else shown[-1]
        self._cursor = self._list.item(position)
        self.redraw()
        self.post_message(self.Moved())

    def action_step(self, direction: int) -> None:
        """The next step, or the one before; of one that is higher than the screen, its next line."""
        if not self.count():
            return
        position = self._list.position(self._cursor)
        beyond = self._moved((position + (direction > 0), 0), -self.page_lines if direction > 0 else 0)
        if (self._top < beyond) if direction > 0 else (self._top > beyond and self._top[0] == position):
            self.roll(direction)
        elif direction > 0 and position + 1 >= self.count():
            self.following = True
        else:
            self._put(max(0, position + direction))

    def action_step_over(self, direction: int) -> None:
        """The next step, or the one before, however long this one is."""
        position = self._list.position(self._cursor) + direction
        if 0 <= position < self.count():
            self._put(position)

    def action_first(self) -> None:
        """Go to the first step."""
        self.go(self._list.item(0))

    def action_last(self) -> None:
        """Go to the newest step and follow."""
        self.go(self._list.item(self.count() - 1))
        self.following = True
        self.place(self.end())

    def action_open(self) -> None:
        """Show the step under the cursor whole."""
        if self.current is not None:
            self.post_message(self.Opened())

    def action_unfold(self, more: int) -> None:
        """More, or less, of the step under the cursor."""
        if (step := self.current) is not None:
            key = (step.turn, step.index)
            self._levels[key] = max(BRIEF, min(WHOLE, self._levels.get(key, self._level) + more))
            self._hold(lambda: self.forget([self._list.position(self._cursor)]))

    def action_fold_all(self) -> None:
        """All steps as one line, as usual, whole."""
        self._level = {USUAL: WHOLE, WHOLE: BRIEF, BRIEF: USUAL}[self._level]
        self._levels.clear()
        self._hold(self.forget_all)
        self.post_message(self.Filtered())

    @property
    def level(self) -> int:
        """How much of the steps is shown."""
        return self._level

    def action_turn(self, direction: int) -> None:
        """The beginning of another turn."""
        starts = self.steps.turn_starts() if self.steps is not None else []
        # Of a turn whose beginning is filtered out, the first step that is shown.
        shown = {self._list.item(self._list.position(start)) for start in starts}
        before = [item for item in shown if item < self._cursor]
        after = [item for item in shown if item > self._cursor]
        found = min(after, default=None) if direction > 0 else max(before, default=None)
        self._jump(found, "turn", direction)

    def action_failure(self, direction: int) -> None:
        """What failed next, or before."""
        self._jump_marked(FAILURES, "failure", direction)

    def action_prompt(self, direction: int) -> None:
        """The next prompt, or the one before."""
        self._jump_marked(PROMPTS, "prompt", direction)

    def action_back(self) -> None:
        """Where the cursor was before the last jump."""
        if self._behind:
            self.go(self._behind.pop(), remember=False)
        else:
            self.post_message(self.Lost("no place to go back to"))

    def action_group(self, key: str) -> None:
        """Show one more group of steps, or one less."""
        self.show_groups(self.groups ^ {key})

    def action_all(self) -> None:
        """Show all steps."""
        self.show_groups(frozenset())

    def _jump_marked(self, marked: bytes, what: str, direction: int) -> None:
        found = self.steps.next_marked(marked, self._cursor, direction) if self.steps is not None else None
        self._jump(found, what, direction)

    def _jump(self, item: int | None, what: str, direction: int) -> None:
        if item is None:
            self.post_message(self.Lost(f"no {what} {'after' if direction > 0 else 'before'} this"))
        else:
            self.following = False
            self.go(item)

    def _put(self, position: int) -> None:
        """The cursor on another step."""
        self._cursor = self._list.item(position)
        self.following = self.following and position == self.count() - 1
        self.reveal(position)
        self.redraw()
        self.post_message(self.Moved())

    def _hold(self, change: Callable[[], None]) -> None:
        """Change how high steps are, while the one under the cursor keeps its line of the screen."""
        position = self._list.position(self._cursor)
        line = self._lines_between(self._top, (position, 0))
        change()
        place = self._moved((position, 0), -line) if line >= 0 else (position, 0)
        self.place(self.end() if self.following else place)

    def _lines_between(self, top: tuple[int, int], place: tuple[int, int]) -> int:
        """Lines from the top of the screen down to a place on it; -1 where it lies above."""
        if place < top:
            return -1
        return sum(self.height(item) for item in range(top[0], place[0])) - top[1] + place[1]

    def _again(self) -> None:
        """Everything on the screen looks otherwise; its height may be another one."""
        top = self._top
        self.forget_all()
        self.place(self.end() if self.following else top)

    def _say_turns(self, notes: Mapping[int, str]) -> None:
        """Headings whose words changed."""
        other = {turn for turn in {*notes, *self._turn_notes} if notes.get(turn) != self._turn_notes.get(turn)}
        self._turn_notes = notes
        if other:
            self.forget([position for position in self.shown() if self._list.turn(position) in other])

    def _lines_above(self, position: int) -> int:
        """Headings above a step."""
        heading = self._list.begins_turn(position)
        unread = self._unread
        if unread is None or unread.item != self._list.item(position):
            return int(heading)
        return heading + len(unread.rows(self.columns, self.signs))
