"""Only what changed is written, and no text changes cells outside its own, however the terminal counts."""

import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from agentdash.tui.terminal.shown import Shown

COLUMNS = 40
CONSOLE = Console(color_system="truecolor", force_terminal=True)
RED, PLAIN = Style(color="red"), Style()
HINDI = "हिन्दी में रिपोर्ट 👩🏽‍💻 ठीक करो"
ODD = (HINDI, "👨‍👩‍👧‍👦 ok", "🇩🇪🇫🇷", "ภาษาไทย ก็ได้", "مَرْحَبًا", "각 가", "Z̸̢̛a̴l̷g̵o", "❤️ x", "‎a\u200bb", "e\u0301\u0301")


class Grid:
    """A terminal that counts cells as told: each character's own, or more for some."""

    def __init__(self, width):
        self._width = width
        self.lines = {}
        self.x = self.y = 0

    def feed(self, text):
        for go, char in re.findall(r"\x1b\[(\d+;\d+)H|\x1b\[[\d;]*m|(.)", text):
            if go:
                self.y, self.x = (int(number) - 1 for number in go.split(";"))
            elif char:
                self._put(char)

    def _put(self, char):
        line = self.lines.setdefault(self.y, [" "] * COLUMNS)
        cells = self._width(char)
        if cells == 0:
            line[self.x - 1] += char
            return
        self.x = min(self.x, COLUMNS - cells)
        for column in (self.x, self.x + cells - 1):
            self._cut(line, column)
        line[self.x : self.x + cells] = [char, *[""] * (cells - 1)]
        self.x += cells

    def _cut(self, line, column):
        """Half of a wide character is a blank."""
        if line[column] == "" and column:
            line[column - 1] = line[column] = " "
        elif column + 1 < COLUMNS and line[column + 1] == "":
            line[column] = line[column + 1] = " "


def by_character(char):
    """As many terminals count: no joining, and vowel signs that take room have a cell."""
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def wide(char):
    """A terminal with other tables: every mark and joiner has a cell."""
    return 1 if char.isascii() else 2


def line(*texts):
    return Strip([Segment(text, style) for text, style in texts]).adjust_cell_length(COLUMNS)


def changes(shown, *strips):
    return shown.changes((COLUMNS, len(strips)), [(y, [(0, strip)]) for y, strip in enumerate(strips)], CONSOLE)


def visible(text):
    return re.sub(r"\x1b\[[\d;]*[mH]", "", text)


def test_what_is_there_is_not_written_again():
    shown = Shown()
    picture = [line(("one", PLAIN), ("  two", RED)), line(("三四", PLAIN))]
    assert visible(changes(shown, *picture)).split() == ["one", "two", "三四"]
    assert changes(shown, *picture) == ""
    assert visible(changes(shown, line(("one", PLAIN), ("  six", RED)), picture[1])) == "six"


def test_a_phrase_is_written_as_a_whole():
    shown = Shown()
    changes(shown, line(("name  case 11 passed  end", PLAIN)))
    assert visible(changes(shown, line(("name  case 12 passed  end", PLAIN)))) == "case 12 passed"


def test_a_change_of_colour_is_written():
    shown = Shown()
    changes(shown, line(("one", PLAIN), ("two", PLAIN)))
    assert visible(changes(shown, line(("one", PLAIN), ("two", RED)))) == "two"


def test_blanks_of_another_colour_look_the_same_unless_a_line_or_a_swap_shows_it():
    shown, ground = Shown(), Style(bgcolor="blue")
    written = lambda style: shown.changes((COLUMNS, 2), [(0, [(0, Strip([Segment("   ", style)]))])], CONSOLE)  # noqa: E731
    assert written(ground)
    assert not written(ground + RED)
    assert written(ground + RED + Style(underline=True))
    assert written(ground + RED + Style(reverse=True))
    assert written(Style(bgcolor="green"))


def test_everything_is_written_for_another_size_and_after_what_is_not_known():
    shown, picture = Shown(), [line(("one", PLAIN))]
    changes(shown, *picture)
    shown.forget()
    assert "one" in changes(shown, *picture)
    assert "one" in shown.changes((COLUMNS, 9), [(0, [(0, picture[0])])], CONSOLE)


def test_no_text_changes_a_cell_outside_its_own():
    for text in ODD:
        for width in [by_character, wide]:
            for before in ["before the change", "", *ODD[:3]]:
                shown, grid = Shown(), Grid(width)
                beside = ("│ beside  end", RED)
                for title in (before, text, before, text):
                    strip = Strip([Segment(title, PLAIN)]).adjust_cell_length(20, PLAIN)
                    grid.feed(
                        changes(shown, line(("above", PLAIN)), Strip.join([strip, line(beside)]).crop(0, COLUMNS))
                    )
                assert "".join(grid.lines[1][20:]).rstrip() == beside[0], (text, width, before)
                assert "".join(grid.lines[0]).rstrip() == "above", (text, width, before)


def test_plain_text_costs_no_more_bytes_than_textual_writes():
    picture = line(("a title that is plain  ─ ● ✓ …", PLAIN), ("  12 s", RED))
    assert len(changes(Shown(), picture)) <= len("\x1b[1;1H" + picture.render(CONSOLE))


TEXTS = st.text("ab  ─三✓", max_size=12)
LINES = st.lists(st.tuples(TEXTS, st.sampled_from([RED, PLAIN])), max_size=4).map(lambda texts: line(*texts))


@given(st.lists(st.tuples(LINES, st.integers(0, 30), st.integers(1, 20)), min_size=1, max_size=6))
def test_any_pictures_over_each_other_are_shown_right(pictures):
    """Whole lines, and parts of them, as a dialog is a part."""
    shown, grid, plain = Shown(), Grid(by_character), Grid(by_character)
    for strip, start, width in [(line(), 0, COLUMNS), *pictures]:
        part = strip.crop(start, min(COLUMNS, start + width))
        grid.feed(shown.changes((COLUMNS, 1), [(0, [(start, part)])], CONSOLE))
        plain.feed(f"\x1b[1;{start + 1}H{part.text}")
    assert grid.lines == plain.lines
