"""Stacked columns: their heights add up, and no size makes them wider or higher than it."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentdash.sessions.text.sanitize import cell_width
from agentdash.widgets.drawing.glyphs import twins
from agentdash.widgets.usage import bars
from agentdash.widgets.usage.bars import axis
from agentdash.widgets.usage.plot import Picture, drawn

ANY = st.floats(allow_nan=True, allow_infinity=True)
VALUES = st.lists(st.floats(0, 1e12), min_size=1, max_size=bars.MOST)


def eighths(cells):
    """The height of a column in eighths, read from its characters."""
    return sum(bars._PARTS.index(char) + 1 if char in bars._PARTS else 8 for char, number in cells if number >= 0)


@given(VALUES, st.integers(1, 60), st.floats(1.0, 3.0))
@example([5e-324], 1, 1.0)
def test_the_parts_add_up_to_the_height_of_the_column(parts, rows, room):
    maximum = sum(parts) * room
    bar = bars.Bar(tuple(parts))
    height = sum(bars.heights(bar, maximum, rows))
    if sum(parts) > 0 and math.isfinite(maximum):
        assert height == max(1, min(rows * 8, round(sum(parts) / maximum * rows * 8)))
    cells = bars.column(bar, maximum, rows)
    assert len(cells) == rows
    assert eighths(cells) == height


@given(st.lists(st.floats(0, 1e6), min_size=2, max_size=6), st.integers(1, 40))
def test_a_larger_part_is_never_lower_by_more_than_an_eighth(parts, rows):
    heights = bars.heights(bars.Bar(tuple(parts)), sum(parts), rows)
    exact = [part / sum(parts) * rows * 8 if sum(parts) else 0 for part in parts]
    assert all(abs(height - right) <= 1.01 for height, right in zip(heights, exact, strict=True))


@given(st.lists(ANY, max_size=6), ANY, st.integers(0, 30), st.booleans())
def test_no_number_is_an_error(parts, maximum, rows, unknown):
    cells = bars.column(bars.Bar(tuple(parts), unknown), maximum, rows)
    assert len(cells) == rows
    assert all(twins(char).isascii() for char, _ in cells)


@given(st.integers(0, 400), st.integers(1, 300), st.integers(0, 399))
def test_columns_fit_and_the_cursor_is_among_them(count, width, cursor):
    place = bars.layout(count, width, min(cursor, max(0, count - 1)))
    assert place.width <= width
    assert place.shown == min(count, place.shown)
    assert count == 0 or place.first <= min(cursor, count - 1) < place.first + place.shown
    assert len(bars.captions([f"Nov {n}" for n in range(count)], place)) <= width


def test_an_unknown_value_is_marked_and_never_drawn_as_nothing():
    def column(bar):
        return "".join(char for char, _ in bars.column(bar, 10.0, 3))

    assert column(bars.Bar((0.0,), unknown=True)) == "?  "
    assert column(bars.Bar((5.0,), unknown=True)) == "█▄?"
    assert column(bars.Bar((10.0,), unknown=True)) == "██?"
    assert column(bars.Bar((0.0,))) == "   "
    assert column(bars.Bar((0.001,))) == "▁  "


def test_series_differ_without_colours():
    stack = bars.column(bars.Bar((1.0,) * bars.MOST), float(bars.MOST), bars.MOST)
    for fills in ("".join(char for char, _ in stack), "".join(twins(char) for char, _ in stack)):
        assert len(set(fills)) == len(fills) == bars.MOST
    ends = {bars.column(bars.Bar((float(eighth),)), 8.0, 1)[0][0] for eighth in range(1, 8)}
    assert not set(map(twins, ends)) & {twins(char) for char, _ in stack}


def test_the_groups_beyond_the_largest_are_one_series():
    names = [f"m{n}" for n in range(60)]
    own = bars.leading(names)
    assert own == ("m0", "m1", "m2", "m3", "m4")
    assert bars.bar(dict.fromkeys(names, 1.0), own).parts == (1.0,) * 5 + (55.0,)
    assert bars.bar({"m0": None, "m1": 2.0}, own).unknown
    assert bars.leading(names[:6]) == tuple(names[:6])


@given(st.floats(0, 1e15), st.integers(1, 80))
@example(0.0, 1)
@example(61.2, 12)
def test_an_axis_has_round_steps_and_reaches_the_top(top, rows):
    found = axis(top, rows, lambda value: f"{value:g}")
    assert found.maximum >= top * (1 - 1e-9)
    assert top < 1e-9 or found.maximum <= 4 * top
    assert all(0 <= row < rows for row, _ in found.labels)
    values = [float(text) for _, text in found.labels]
    assert values == sorted(values)
    first = f"{values[0]:e}".replace(".", "").lstrip("0")
    assert first[0] in "125"


@pytest.mark.parametrize(("top", "rows", "labels"), [(12.4, 10, ["2.5", "5", "7.5", "10", "12.5"]),
                                                     (3, 6, ["1", "2", "3"])])  # fmt: skip
def test_labels(top, rows, labels):
    assert [text for _, text in axis(top, rows, lambda value: f"{value:g}").labels] == labels


@given(
    st.lists(st.tuples(VALUES, st.booleans()), min_size=1, max_size=370),
    st.integers(1, 200),
    st.integers(0, 60),
    st.integers(0, 369),
)
def test_a_plot_is_never_wider_or_higher_than_its_place(columns, width, height, cursor):
    picture = Picture(
        tuple(bars.Bar(tuple(parts), unknown) for parts, unknown in columns),
        tuple(f"Nov {n}" for n in range(len(columns))),
        tuple((n, "模型 " * 9, "≥$1,234.00") for n in range(bars.MOST)),
        lambda value: f"${value:g}",
    )
    lines = drawn(picture, width, height, min(cursor, len(columns) - 1))
    assert len(lines) <= height
    assert all(cell_width("".join(text for text, _ in line)) <= width for line in lines)
