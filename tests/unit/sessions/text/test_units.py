"""Numbers read the same everywhere, and no number of a damaged file stops a screen or an export."""

import factories
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.model.session import Status, Step, StepKind, StepStatus
from agentdash.sessions.text import units
from agentdash.sessions.transcript.export import words as export_words
from agentdash.sessions.transcript.export.formats import FORMATS
from agentdash.tui.render.steps import step_text
from agentdash.tui.render.style import Style
from agentdash.widgets.steps.step_document import step_document
from agentdash.widgets.steps.step_lines import step_rows

SESSION = factories.session(
    "s" * 36, agent="claude", title="t", task="t", status=Status.DONE, cwd="/w", created_at=0, updated_at=0
)
DAMAGED = 4_611_686_018_427_387_904
"""A time of the year 146140482, as a torn ``.times`` file can hold it."""


def test_money() -> None:
    for dollars, expected in [
        (None, "?"), (0, "$0.00"), (0.31, "$0.31"), (0.042, "$0.04"), (0.01, "$0.01"), (0.00999, "$0.01"),
        (0.0066, "$0.0066"), (0.005, "$0.005"), (0.0001, "$0.0001"), (0.00001, "<$0.0001"), (12.5, "$12.50"),
        (1234.5, "$1,234.50"), (-0.5, "-$0.50"), (float("nan"), "?"), (float("inf"), "?"),
    ]:  # fmt: skip
        assert units.money(dollars) == expected, dollars


@pytest.mark.parametrize(
    ("dollars", "expected"),
    [
        (0.0068, ("$0.007", "$0.01", "<$1")),
        (0.0002, ("<$0.001", "<$0.01", "<$1")),
        (123.95, ("$123.95", "$123.95", "$124")),
    ],
)
def test_money_with_fewer_decimals_is_rounded(dollars: float, expected: tuple[str, ...]) -> None:
    assert tuple(units.money(dollars, finest=finest) for finest in (3, 2, 0)) == expected


@given(st.floats(min_value=1e-12, max_value=1e12), st.sampled_from([4, 3, 2, 0]))
def test_a_real_cost_never_reads_as_nothing(dollars: float, finest: int) -> None:
    assert any(digit in "123456789" for digit in units.money(dollars, finest=finest))


@pytest.mark.parametrize(
    ("amount", "above", "told"),
    [
        (2.5, 0, "$2.50"),
        (1234.5, 0, "$1,234.50"),
        (0.01, 0, "$0.01"),
        (0.0001, 0, "$0.0001"),
        (0.0123, 0, "$0.012"),
        (0.0103, 0.01, "$0.0103"),
        (0.0, 0, "$0.00"),
        (2.0, 2.0, "$2.00"),
    ],
)
def test_money_is_told_apart_from_its_limit(amount: float, above: float, told: str) -> None:
    assert units.compared_money(amount, above=above) == told


def test_money_reads_the_same_in_lists_and_exports() -> None:
    step = Step(kind=StepKind.USAGE, cost_usd=0.05)
    told = ["".join(part for row in step_rows(step, 80) for part, _ in row), *step_text(step, Style())]
    told += ["".join(form.write(SESSION, [step])) for form in FORMATS if form.name != "json"]
    assert [("$0.05" in text, "$0.050" in text) for text in told] == [(True, False)] * 4
    assert vars(export_words)["money"] is units.money


@pytest.mark.parametrize(
    ("number", "expected"), [(0, "0 files"), (1, "1 file"), (2, "2 files"), (1_234, "1,234 files")]
)
def test_a_count_with_its_noun(number: int, expected: str) -> None:
    assert units.count(number, "file") == expected


def test_a_plural_of_its_own() -> None:
    assert (units.count(1, "process", "processes"), units.count(2, "process", "processes")) == (
        "1 process",
        "2 processes",
    )


def test_lines_that_came_and_went() -> None:
    assert units.line_change(1_204, 3) == "+1,204 -3"
    assert units.line_change(0, 0, least=True) == "at least +0 -0"


@pytest.mark.parametrize(
    ("milliseconds", "expected"),
    [(-5, "0.0s"), (0, "0.0s"), (400, "0.4s"), (59_960, "1m00s"), (192_000, "3m12s"), (7_500_000, "2h05m")],
)
def test_how_long_something_took(milliseconds: int, expected: str) -> None:
    assert units.duration(milliseconds) == expected


def test_a_time_outside_of_the_calendar_is_not_known() -> None:
    assert (units.clock(DAMAGED), units.moment(DAMAGED), units.moment(DAMAGED, "not known"), units.utc(DAMAGED)) == (
        "",
        "",
        "not known",
        "",
    )


@given(st.integers(-(2**63), 2**64))
def test_no_number_of_64_bits_raises_an_error(number: int) -> None:
    functions = (
        units.clock, units.moment, units.utc, units.tokens, units.size, units.duration, units.age, units.runtime,
        units.steady, units.money,
    )  # fmt: skip
    assert all(function(number) is not None for function in functions)  # type: ignore[operator]


def test_a_step_with_a_damaged_time_is_shown_everywhere() -> None:
    step = Step(kind=StepKind.COMMAND, command="ls", at=DAMAGED, ended_at=DAMAGED + 400, status=StepStatus.OK)
    document = step_document(step)
    assert [part for part, _ in document.title if part.endswith("s") and part[0].isdigit()] == ["0.4s"]
    assert step_text(step, Style())[0].endswith("0.4s")
    assert all("ls" in "".join(form.write(SESSION, [step])) for form in FORMATS)
