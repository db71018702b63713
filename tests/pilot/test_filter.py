"""The field for a filter: what is shown while it is written, where the cursor goes, and what stays in its place."""

import pytest
from factories import T0
from msgspec import structs
from textual.events import Key

from agentdash.sessions.model.session import Status
from pilot.examples import SESSIONS
from pilot.test_table import table

SIZES = pytest.mark.parametrize("size", [(160, 45), (80, 24), (50, 24)])


def line_of(d, text):
    """The line of the screen on which a text is."""
    return next(n for n, line in enumerate(d.text().split("\n")) if text in line)


@pytest.mark.parametrize("text", ["cost>0.3", "cost:>0.3", "age<1m", "turn>=2"])
async def test_an_amount_needs_no_colon(dashboard, manager, text):
    manager.put(structs.replace(SESSIONS[0], cost_usd=0.5, turn=2))
    for one in SESSIONS[1:]:
        manager.put(structs.replace(one, cost_usd=0.1, turn=1, started_at=T0 - 3_600_000, last_event_at=T0 - 3_600_000))
    async with dashboard() as d:
        await d.press("slash", *text, "enter")
        await d.until(lambda: table(d) == ["fix"])


async def test_rows_do_not_vanish_because_of_half_a_word(dashboard, manager):
    manager.put(structs.replace(SESSIONS[1], status=Status.DONE))  # no session has failed
    async with dashboard() as d:
        await d.press("slash")
        for letter in "!web state:fai":
            await d.press("space" if letter == " " else letter)
            assert table(d), d.main.pane.view
            assert "No matches" not in d.text()
        await d.press(*"led")
        await d.shows("No matches.")


async def test_a_word_that_begins_a_field_still_finds_the_rows_that_have_it(dashboard, manager):
    manager.put(structs.replace(SESSIONS[1], title="add statistics"))
    async with dashboard() as d:
        await d.press("slash", *"stat")
        await d.until(lambda: table(d) == ["add"])
        await d.press("e")
        await d.until(lambda: len(table(d)) == 5)
        await d.press("enter")
        await d.shows("No matches.")


async def test_the_cursor_goes_to_the_first_match_and_back_to_its_row(dashboard):
    async with dashboard() as d:
        await d.select("stopped1")
        await d.press("slash", *"mi")
        await d.until(lambda: table(d) == ["write"])
        await d.press("backspace")
        await d.until(lambda: len(table(d)) > 1)
        await d.press("backspace", *"co")
        await d.until(lambda: d.main.table.selected.id == "stopped1")
        await d.press("backspace", "backspace", *"agent:codex !rename", "enter")
        await d.until(lambda: table(d) == ["fix", "split"])
        assert d.main.table.selected.id == "waiting1"
        await d.press("i", *"go on", "enter")
        await d.sent("waiting1", "go on")


@pytest.mark.parametrize(("keys", "first"), [(["3"], "failed01"), (["slash", *"agent:claude", "enter"], "done0001")])
async def test_a_choice_that_hides_the_row_goes_to_the_first_also_in_groups(dashboard, keys, first):
    async with dashboard() as d:
        await d.press("T", "T")
        await d.select("running1")
        await d.press(*keys)
        await d.until(lambda: d.main.table.selected is not None and d.main.table.selected.id == first)


@SIZES
async def test_no_row_moves_while_a_filter_is_written_and_kept(dashboard, size):
    async with dashboard(size=size) as d:
        await d.press("slash")
        await d.until(lambda: d.main.pane.has_class("-asking"))
        place = line_of(d, "fix the flaky")
        for key in ["f", "i", "x", "enter"]:
            await d.press(key)
            assert line_of(d, "fix the flaky") == place
        await d.shows("1 of 5")
        if size[0] >= 140:
            await d.press("escape")
            await d.until(lambda: len(table(d)) == 5)
            assert line_of(d, "fix the flaky") == place


@SIZES
async def test_what_cannot_be_understood_moves_no_row_either(dashboard, size):
    async with dashboard(size=size) as d:
        await d.press("slash")
        await d.until(lambda: d.main.pane.has_class("-asking"))
        place = line_of(d, "fix the flaky")
        await d.press(*"foo:bar")
        await d.shows("Unknown field foo.")
        assert line_of(d, "fix the flaky") == place
        await d.press("escape")
        await d.until(lambda: "Unknown field" not in d.text())


@SIZES
async def test_the_sign_and_the_keys_of_the_field_stay_while_one_types(dashboard, size):
    async with dashboard(size=size) as d:
        await d.press("slash", *"fix")
        await d.shows("/fix")
        assert "Enter apply   Esc cancel" in d.text().split("\n")[-1]
        assert "new" not in d.text().split("\n")[-1]
        await d.press("escape")
        await d.until(lambda: "w next" in d.text().split("\n")[-1])


@pytest.mark.parametrize("key", ["slash", "number_sign"])
async def test_the_fields_of_the_steps_have_their_keys_too(dashboard, key):
    async with dashboard() as d:
        await d.press("enter", key)
        await d.until(lambda: "Enter go   Esc cancel" in d.text().split("\n")[-1])
        await d.press("escape")
        await d.until(lambda: "/ search" in d.text().split("\n")[-1])


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("1", "Nothing needs you."), ("2", "Nothing is running."), ("3", "Nothing failed."),
        ("4", "Nothing is done yet."), ("5", "Nothing is queued."),
    ],
)  # fmt: skip
async def test_a_quick_filter_that_leaves_nothing_says_what_there_is_none_of(dashboard, manager, key, told):
    for one in SESSIONS:
        manager.put(structs.replace(one, status=Status.STOPPED, reason=None))
    async with dashboard() as d:
        await d.press(key)
        await d.shows(told)
        await d.shows("Esc clears the filter")
        await d.press("escape")
        await d.until(lambda: len(table(d)) == 5)


async def test_letters_typed_in_a_burst_choose_the_sessions_once(dashboard, monkeypatch):
    async with dashboard() as d:
        await d.press("slash")
        await d.until(lambda: d.main.pane.has_class("-asking"))
        chosen, choose = [], d.main.table.choose

        def counted(*given):
            chosen.append(given)
            return choose(*given)

        monkeypatch.setattr(d.main.table, "choose", counted)
        for letter in "fix the flaky":
            d.app.post_message(Key("space" if letter == " " else letter, letter))
        await d.until(lambda: table(d) == ["fix"])
        assert len(chosen) < 4


async def test_a_filter_is_tried_although_a_key_that_waited_did_not_change_it(dashboard):
    async with dashboard() as d:
        await d.press("slash")
        await d.until(lambda: d.main.pane.has_class("-asking"))
        for key, character in (("z", "z"), ("z", "z"), ("home", None)):
            d.app.post_message(Key(key, character))
        await d.until(lambda: table(d) == [])
