"""The steps of one session: a list with a cursor, folds, filters and jumps, and its keys."""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, ClassVar

from msgspec import structs
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from agentdash.sessions.model.session import Step
from agentdash.widgets.drawing import glyphs
from agentdash.widgets.drawing.short_forms import place_of
from agentdash.widgets.drawing.spans import Row
from agentdash.widgets.lists.virtual_list import Place, VirtualList
from agentdash.widgets.steps.filtered_steps import FAILURES, GROUPS, PROMPTS, FilteredSteps
from agentdash.widgets.steps.headed_steps import NO_CUTS, Cuts, HeadedSteps, TurnNotes, Unread
from agentdash.widgets.steps.step_lines import WHOLE, Manner

if TYPE_CHECKING:
    from agentdash.sessions.transcript.snapshot import View

STEP_KEYS: list[BindingType] = [
    Binding("j,down", "step(1)", "next step (long steps: line down)", show=False, id="steps.down"),
    Binding("k,up", "step(-1)", "previous step", show=False, id="steps.up"),
    Binding("g g,home", "first", "top", show=False, id="steps.first"),
    Binding("G,end", "last", "bottom (and follow)", show=False, id="steps.last"),
    Binding("enter", "open", "open the step, or the worker that it started", show=False, id="steps.open"),
    Binding("l,right", "unfold(1)", "expand", show=False, id="steps.more"),
    Binding("h,left", "unfold(-1)", "collapse", show=False, id="steps.less"),
    Binding("z f", "fold_all", "cycle fold: one line / preview / full", show=False, id="steps.fold"),
    Binding("t,right_square_bracket", "turn(1)", "next turn", show=False, id="steps.next_turn"),
    Binding("T,left_square_bracket", "turn(-1)", "start of the turn, then previous turn", id="steps.previous_turn"),
    Binding("f,right_parenthesis", "failure(1)", "next failure", show=False, id="steps.next_failure"),
    Binding("F,left_parenthesis", "failure(-1)", "previous failure", show=False, id="steps.previous_failure"),
    Binding("p,right_curly_bracket", "prompt(1)", "next prompt", show=False, id="steps.next_prompt"),
    Binding("P,left_curly_bracket", "prompt(-1)", "previous prompt", show=False, id="steps.previous_prompt"),
    Binding("g n", "unread", "first unread step", show=False, id="steps.unread"),
    Binding("full_stop", "unread", "", show=False, id="steps.unread"),  # not shown: the key of an earlier release
    Binding("backspace,g b", "back", "back to before the jump", show=False, id="steps.jump_back"),
    *(Binding(group.key, f"group('{group.key}')", "", show=False) for group in GROUPS),
    Binding("0", "all", "all kinds of steps", show=False, id="steps.all"),
]

BACK = 50
"""Most places to go back to."""


class Trajectory(VirtualList):
    """Follows the newest step until the user moves up; marks the step under the cursor at its left edge."""

    BINDINGS: ClassVar[list[BindingType]] = STEP_KEYS

    class Moved(Message):
        """The cursor moved to another step, or its step changed."""

        def __init__(self, *, by_user: bool = False) -> None:
            super().__init__()
            self.by_user = by_user
            """True if the user moved the cursor, or scrolled."""

    class Opened(Message):
        """The user asked for the step under the cursor."""

    class Lacking(Message):
        """A step was drawn that changed files and has no diff: see :meth:`lacking`."""

    class Filtered(Message):
        """The filter or the fold level changed."""

    class Lost(Message):
        """A jump found no target in its direction."""

        def __init__(self, what: str) -> None:
            super().__init__()
            self.what = what

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.set_reactive(VirtualList.following, True)
        self.all_key = ""
        """The key that shows all kinds of steps again; empty if it has no name."""
        self._list = FilteredSteps()
        self._cursor = 0
        self._drawing = HeadedSteps()
        self._behind: list[int] = []
        self._resting = False
        """True while the cursor is on the answer of an ended turn, and nothing came after that turn."""
        self._lacking: set[int] = set()
        """The numbers of the drawn steps that lack their diffs."""

    @property
    def steps(self) -> "View | None":
        """The current sequence of steps."""
        return self._list.steps

    @property
    def cursor(self) -> int:
        """The number of the step under the cursor."""
        return self._cursor

    @property
    def cursor_place(self) -> str:
        """The number of the shown step under the cursor, and of all shown steps: ``3/41``."""
        return place_of(self._list.position(self._cursor) + 1, len(self._list))

    @property
    def groups(self) -> frozenset[str]:
        """The keys of the shown groups; an empty set means all."""
        return self._list.groups

    @property
    def current(self) -> Step | None:
        """The step under the cursor."""
        return self.steps.step(self._cursor) if self.steps is not None and len(self._list) else None

    def clear(self, note: str = "") -> None:
        """Remove all steps, for another session or none; ``note`` is shown until new steps come."""
        self.note = note
        self._list, self._cursor = FilteredSteps(), 0
        self._behind, self._resting = [], False
        self._drawing.clear()
        self.forget_all()
        self.following = True
        self.place((0, 0))
        self.post_message(self.Filtered())

    def show(
        self, steps: "View", changed: Collection[int] = (), *, turn_notes: TurnNotes | None = None, cuts: Cuts = NO_CUTS
    ) -> None:
        """Show a newer sequence of the same session.

        Args:
            changed: earlier items that changed.
            cuts: what the marks of the conversation cut.
        """
        earlier, at_end, before = self.steps, self.following, self._cursor
        top = self._list.item(self._top[0]), self._top[1]
        former, self._list = self._list, FilteredSteps(steps, self.groups)
        if earlier is not None and steps.extends(earlier) and self._list.continues(former):
            self.grow()
            self.forget(self._list.position(item) for item in changed if self._list.shows(item))
        else:
            top = steps.moved(earlier, top[0]) if earlier else 0, top[1]
            self._cursor = steps.moved(earlier, self._cursor) if earlier else 0
            self._behind = [steps.moved(earlier, item) for item in self._behind] if earlier else []
            self.forget_all()
        if self._drawing.make_room(len(steps)) | self._drawing.note_cuts(cuts):
            self.forget_all()
        if other := self._drawing.note_turns(turn_notes or {}):
            self.forget([position for position in self.shown() if self._list.turn(position) in other])
        self._resting = self._resting and len(self._list) == len(former)
        if len(self._list):
            last = at_end and not self._resting
            self._cursor = self._list.item(len(self._list) - 1 if last else self._list.position(self._cursor))
        self.place(self.followed() if at_end else (self._list.position(top[0]), top[1]))
        if earlier is None or self._cursor != before or self._cursor in changed:
            self.post_message(self.Moved())

    def lacking(self) -> set[int]:
        """The numbers of the steps on the screen that lack their diffs."""
        return self._lacking and self._lacking & {self._list.item(position) for position in self.shown()}

    def renew(self, items: Collection[int]) -> None:
        """Redraw steps that have new data; the step under the cursor keeps its line of the screen."""
        self._lacking.difference_update(items)
        if len(self._list):
            self._hold(lambda: self.forget(self._list.position(item) for item in items if self._list.shows(item)))

    def forget_all(self) -> None:
        """Forget all steps, and which of them lack diffs: drawing finds that again."""
        self._lacking.clear()
        super().forget_all()

    def tick(self, now: int) -> None:
        """Redraw the running steps on the screen with their age at ``now``."""
        self.look_like(structs.replace(self.manner, now=now))

    @property
    def manner(self) -> Manner:
        """The settings for showing steps."""
        return self._drawing.manner

    def look_like(self, manner: Manner) -> None:
        """Show steps with other settings: a later time, or the session's new folder."""
        only_later = manner == structs.replace(self._drawing.manner, now=manner.now)
        self._drawing.manner = manner
        if not only_later:
            self._again()
        elif running := [p for p in self.shown() if self._list.step(p).is_open]:
            self.forget(running)
            self.redraw()

    def highlight(self, needle: str) -> None:
        """Highlight this text in all steps; an empty one highlights nothing."""
        if needle != self._drawing.needle:
            self._drawing.needle = needle
            self._again()

    def reveal_match(self) -> None:
        """Scroll to the search match in the step under the cursor; unfold the step if the match is folded away."""
        position = self._list.position(self._cursor)
        step = self.current
        if step is None or not self._drawing.needle:
            return
        if not self._matches(position):
            self._drawing.unfold(step, WHOLE)
            self.forget([position])
        lines = self._matches(position)
        self.reveal(position)
        if lines and self.lines_above((position, lines[0])) not in range(self.page_lines):
            self.place((position, max(0, lines[0] - self.page_lines // 2)))
        self.redraw()

    def _matches(self, position: int) -> list[int]:
        """The lines of a step that contain a search match."""
        rows = self.rows(position, self.columns)
        return [number for number, row in enumerate(rows) if any(role == "match" for _, role in row)]

    def mark_unread(self, unread: Unread | None) -> None:
        """Show a heading above the first step that the user has not seen."""
        if unread != self._drawing.unread:
            self._drawing.unread = unread
            self._again()

    def action_unread(self) -> None:
        """Go to the first step that the user has not seen."""
        if self._drawing.unread is None:
            self.post_message(self.Lost("no unread steps"))
        else:
            self._jump(self._drawing.unread.item, "new step", 1)

    def go(self, item: int, *, remember: bool = True) -> None:
        """Put the cursor on a step and show it; if it is filtered out, show all steps again."""
        if self.steps is None or not len(self.steps):
            return
        if remember:
            self._behind = [*self._behind, self._cursor][-BACK:]
        item = max(0, min(item, len(self.steps) - 1))
        if not self._list.shows(item):
            self.show_groups(frozenset())
        self._put(self._list.position(item))

    def show_groups(self, groups: frozenset[str]) -> None:
        """Show the steps of some groups; of all if the set is empty."""
        line = self._list.position(self._cursor) - self._top[0]
        self._list, self._resting = FilteredSteps(self.steps, groups), False
        self.forget_all()
        if len(self._list):
            position = len(self._list) - 1 if self.following else self._list.position(self._cursor)
            self._cursor = self._list.item(position)
            self.place(self.followed() if self.following else (max(0, position - line), 0))
            self.reveal(position)
        else:
            self.note = "no steps of this kind" + (f": {self.all_key} shows all" if self.all_key else "")
            self.place((0, 0))
        self.post_message(self.Filtered())
        self.post_message(self.Moved())

    def rest(self, item: int) -> None:
        """Put the cursor on the answer of an ended turn; what comes after it is followed."""
        if self._list.shows(item):
            self._cursor, self._resting = item, True
            self.place(self.followed())
            self.redraw()
            self.post_message(self.Moved())

    def followed(self) -> Place:
        """The end; if the answer under the cursor begins above it, the answer's beginning."""
        return min(self.end(), (self._list.position(self._cursor), 0)) if self._resting else self.end()

    def remembered(self) -> tuple[int, int, int]:
        """The step under the cursor, and the step and line at the top of the screen."""
        return self._cursor, self._list.item(self._top[0]), self._top[1]

    def recall(self, place: tuple[int, int, int]) -> None:
        """Go back to a remembered place, without following."""
        self.following = False
        self._cursor = min(place[0], max(0, len(self.steps or ()) - 1))
        self.place((self._list.position(place[1]), place[2]))
        self.post_message(self.Moved())

    def count(self) -> int:
        """The number of shown steps."""
        return len(self._list)

    def rows(self, item: int, width: int) -> list[Row]:
        """A step with its headings."""
        number, step = self._list.item(item), self._list.step(item)
        if step.changes and step.lacks_diffs and number not in self._lacking:
            self._lacking.add(number)
            self.post_message(self.Lacking())
        return self._drawing.rows(self._list, item, width)

    def strips(self, item: int) -> list[Strip]:
        """The lines of a step; under the cursor, its left edge is marked."""
        strips = super().strips(item)
        if self._list.item(item) != self._cursor:
            return strips
        edge = self._painter.strip([(glyphs.CURSOR, "running" if self.has_focus else "dim")], 1)
        above = self._drawing.lines_above(self._list, item)
        return [strip if n < above else Strip.join([edge, strip.crop(1)]) for n, strip in enumerate(strips)]

    def on_resize(self) -> None:
        """Keep the place at the top, and the cursor on the screen."""
        super().on_resize()
        if not self.following:
            self.reveal(self._list.position(self._cursor))

    def roll(self, lines: int) -> None:
        """Scroll, and keep the cursor on the screen."""
        super().roll(lines)
        self._resting = self._resting and not lines
        shown = self.shown()
        position = self._list.position(self._cursor)
        if self.following and lines > 0:
            position = self.count() - 1
        elif position not in shown and len(shown):
            first = shown[1] if self._top[1] and len(shown) > 1 else shown[0]
            position = first if position < shown[0] else shown[-1]
        before, self._cursor = self._cursor, self._list.item(position)
        self.redraw()
        self.post_message(self.Moved(by_user=self._cursor != before))

    def action_step(self, direction: int) -> None:
        """Go to the next or previous step; in a step higher than the screen, scroll by a line."""
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
        """Go to the next or previous step, whatever the height of this one."""
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
        """Open the document of the step under the cursor."""
        if self.current is not None:
            self.post_message(self.Opened())

    def action_unfold(self, more: int) -> None:
        """Show more or less of the step under the cursor."""
        if (step := self.current) is not None:
            self._drawing.unfold(step, more)
            self._hold(lambda: self.forget([self._list.position(self._cursor)]))

    def action_fold_all(self) -> None:
        """Show all steps in one line, in the usual form, or whole, in turn."""
        self._drawing.fold_all()
        self._hold(self.forget_all)
        self.post_message(self.Filtered())

    @property
    def level(self) -> int:
        """The fold level of the steps without one of their own."""
        return self._drawing.level

    def action_turn(self, direction: int) -> None:
        """Go to the beginning of the next or previous turn."""
        self._jump(self._list.next_turn(self._cursor, direction), "turn", direction)

    def action_failure(self, direction: int) -> None:
        """Go to the next or previous failure."""
        self._jump_marked(FAILURES, "failure", direction)

    def action_prompt(self, direction: int) -> None:
        """Go to the next or previous prompt."""
        self._jump_marked(PROMPTS, "prompt", direction)

    def action_back(self) -> None:
        """Go to the place before the last jump."""
        if self._behind:
            self.go(self._behind.pop(), remember=False)
        else:
            self.post_message(self.Lost("no earlier position"))

    def action_group(self, key: str) -> None:
        """Add a group of steps to the filter, or remove it."""
        self.show_groups(self.groups ^ {key})

    def action_all(self) -> None:
        """Show all steps."""
        self.show_groups(frozenset())

    def _jump_marked(self, marked: bytes, what: str, direction: int) -> None:
        item = self.steps.next_marked(marked, self._cursor, direction) if self.steps is not None else None
        self._jump(item, what, direction)

    def _jump(self, item: int | None, what: str, direction: int) -> None:
        if item is None:
            self.post_message(self.Lost(f"no {'more' if direction > 0 else 'earlier'} {what}s"))
        else:
            self.following = False
            self.go(item)

    def _put(self, position: int) -> None:
        """Put the cursor on another step."""
        self._cursor, self._resting = self._list.item(position), False
        self.following = self.following and position == self.count() - 1
        self.reveal(position)
        self.redraw()
        self.post_message(self.Moved(by_user=True))

    def _hold(self, change: Callable[[], None]) -> None:
        """Change heights of steps while the step under the cursor keeps its line of the screen."""
        position = self._list.position(self._cursor)
        line = self.lines_above((position, 0))
        change()
        place = self._moved((position, 0), -line) if line >= 0 else (position, 0)
        self.place(self.followed() if self.following else place)

    def _again(self) -> None:
        """Redraw everything; heights may change."""
        top = self._top
        self.forget_all()
        self.place(self.followed() if self.following else top)
