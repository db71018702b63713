"""Messages share the last line with the most important keys, on every screen, until the next key."""

import pytest
from msgspec import structs

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.rules.launch import Start
from agentdash.tui.dialogs.asking.confirm import ConfirmScreen
from agentdash.tui.dialogs.log import LogScreen
from agentdash.tui.screens.settings import SettingsScreen
from agentdash.tui.screens.watch import WatchScreen
from pilot.house import failing
from pilot.terminal import strips

LONG = "the server refused it because the account that the key belongs to has no credit left for this month"


def lines(d):
    """The lines of the screen, without the blank cell at their beginning."""
    return [line[1:] for line in d.text().split("\n")]


def colour_of(d, text):
    """The colour in which a text is painted."""
    return next(
        segment.style.color.name.lower()
        for strip in strips(d.app)
        for segment in strip
        if text in segment.text and segment.style is not None
    )


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (50, 24)], ids="{0[0]}x{0[1]}".format)
async def test_a_message_leaves_the_most_important_keys_and_moves_nothing_and_the_next_key_still_acts(dashboard, size):
    async with dashboard(size=size) as d:
        await d.select("failed01")
        before = lines(d)
        await d.press("P")
        await d.shows("Pinned")
        during = lines(d)
        assert during[-1].startswith('Pinned "add dark mode"')
        assert during[-1].rstrip().endswith(("help", "quit"))
        assert len(during) == len(before)
        cursor = d.main.table.selected.id
        await d.press("j")
        assert d.main.table.selected.id != cursor
        assert "Pinned" not in d.text()
        assert "w next" in lines(d)[-1]


async def test_each_kind_has_its_colour_and_its_mark(dashboard, monkeypatch):
    async with dashboard() as d:
        colours = d.app.theme_variables
        await d.select("failed01")
        await d.press("x")
        await d.shows("! ")
        assert lines(d)[-1].startswith('! "add dark mode"')
        assert colour_of(d, "is not running") == colours["text-warning"].lower()
        monkeypatch.setattr(d.manager.prompts, "retry", failing(UsageError("no luck")))
        await d.press("R")
        await d.shows("✗ no luck")
        assert colour_of(d, "no luck") == colours["text-error"].lower()


@pytest.mark.parametrize(("size", "rows"), [((160, 45), 1), ((80, 24), 1), ((50, 24), 2)])
async def test_a_long_error_is_cut_and_has_two_lines_only_on_a_narrow_screen(dashboard, monkeypatch, size, rows):
    async with dashboard(size=size) as d:
        await d.select("failed01")
        monkeypatch.setattr(d.manager.prompts, "retry", failing(UsageError(f"{LONG} {LONG}")))
        await d.press("R")
        await d.shows("✗ the server refused")
        assert lines(d)[-rows].startswith("✗ the server")
        assert lines(d)[-1].rstrip().endswith("…")
        await d.press("L")
        await d.screen(LogScreen)
        assert d.main.requests.log.newest_first()[0].text == f"{LONG} {LONG}"


async def test_a_message_stays_one_line_whatever_an_agent_wrote_into_it(dashboard, monkeypatch):
    async with dashboard() as d:
        await d.select("failed01")
        monkeypatch.setattr(d.manager.prompts, "retry", failing(UsageError("[red]one\x1b[2J\ntwo")))
        await d.press("R")
        await d.shows("✗ [red]one")
        assert "two" in lines(d)[-1]
        assert "\x1b" not in d.text()


async def test_the_first_escape_takes_an_error_away_and_does_nothing_else(dashboard, monkeypatch):
    async with dashboard() as d:
        await d.select("failed01")
        await d.press("enter")
        assert d.app.focused is d.main.detail.steps
        monkeypatch.setattr(d.manager.prompts, "retry", failing(UsageError("no luck")))
        await d.press("R")
        await d.shows("no luck")
        await d.press("escape")
        assert "no luck" not in d.text()
        assert d.app.focused is d.main.detail.steps
        await d.press("escape")
        assert d.app.focused is d.main.table


async def test_it_follows_the_user_from_a_dialog_to_the_screen_below_and_back(dashboard):
    async with dashboard() as d:
        await d.select("running1")
        await d.press("x")
        await d.screen(ConfirmScreen)
        d.main.requests.show_error("no luck")
        await d.settled()
        assert lines(d)[-1].startswith("✗ no luck")
        d.app.screen.dismiss(None)
        await d.settled()
        assert lines(d)[-1].startswith("✗ no luck")
        await d.press("j")
        assert "no luck" not in d.text()


@pytest.mark.parametrize(("key", "kind"), [("comma", SettingsScreen), ("vertical_line", WatchScreen)])
async def test_every_screen_has_it(dashboard, key, kind):
    async with dashboard() as d:
        await d.press(key)
        await d.screen(kind)
        d.main.requests.show_message("all is well")
        await d.settled()
        assert lines(d)[-1].startswith("all is well")
        await d.press("j")
        assert "all is well" not in d.text()


async def test_the_footer_comes_back_by_itself_but_an_error_waits_for_a_key(dashboard, monkeypatch):
    monkeypatch.setattr("agentdash.tui.services.background.MESSAGE_SECONDS", 0.01)
    async with dashboard() as d:
        await d.select("failed01")
        await d.press("P")
        await d.until(lambda: d.main.requests.log.newest_first() and not d.main.requests.message.text)
        assert "Pinned" not in d.text()
        d.main.requests.show_error("no luck")
        await d.shows("no luck")


async def test_a_title_is_cut_before_the_keys_or_the_words_behind_it_are(dashboard, manager):
    one = structs.replace(manager.get("failed01"), title="a very long title whose end is not needed here " * 2)
    manager.put(one)
    async with dashboard(size=(80, 24)) as d:
        await d.select("failed01")
        await d.press("A")
        await d.shows('Archived "a very long title')
        assert '…" · u to undo' in lines(d)[-1]
        assert "more" in lines(d)[-1]
        assert d.main.requests.log.newest_first()[0].text == f'Archived "{one.title.strip()}" · u to undo'
        await d.press("L")
        await d.screen(LogScreen)
        told = " ".join(line.strip("│ ") for line in lines(d))
        assert one.title.split(" ")[0] in told
        assert '" · u to undo' in told


async def test_a_session_that_a_filter_hides_is_named_and_escape_shows_it(dashboard, manager):
    async with dashboard() as d:
        await d.press("slash", *"dark", "enter")
        await d.until(lambda: d.main.table.counts[0] == 1)
        await d.press("enter")
        await d.main.operations.starting.spawn(Start("fix the build", cwd="/"))
        [begun] = manager.begun()
        await d.shows(f'Started "fix the build" {begun.short_id} · hidden by /dark · Esc shows it')
        assert d.main.table.selected.id == "failed01"
        await d.press("escape")
        await d.until(lambda: d.main.table.selected.id == begun.id)
        assert d.main.table.counts[0] == d.main.table.counts[1]
