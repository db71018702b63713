"""The three menus of keys: the next key acts in them, and a panel shows them to who waits."""

import pytest

from agentdash.sessions.model.session import Status
from agentdash.tui.keys import menu
from agentdash.tui.keys.keymap import keymap
from agentdash.tui.screens.usage import UsageScreen
from agentdash.widgets.drawing.text_lines import MessageLine
from pilot.examples import session

SIZES = ((160, 45), (120, 35), (80, 24), (50, 24))


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr("agentdash.tui.keys.key_queue.PANEL_SECONDS", 0.001)


@pytest.fixture
def never(monkeypatch):
    """The clock of the panel does not go on by itself: a test says when it is due."""
    monkeypatch.setattr("agentdash.tui.keys.key_queue.PANEL_SECONDS", 3600.0)


def drawn(d):
    """The lines of the panel on the screen."""
    line = d.app.screen.query_one(MessageLine)
    return [text.rstrip() for text in d.text().split("\n")[line.region.y :]] if line.styles.offset.y.value == 0 else []


async def test_the_panel_of_a_menu_shows_its_keys_over_the_footer_in_each_size(dashboard, at_once):
    for size in SIZES:
        async with dashboard(size=size) as d:
            await d.press("m")
            await d.shows("m  this session   Esc close")
            lines = drawn(d)
            assert "A archive" not in "\n".join(lines)  # it waits for an answer
            assert "p pin" in "\n".join(lines)
            assert len(lines) <= size[1] // 2
            assert all(len(line) <= size[0] for line in lines)
            await d.press("escape")
            await d.until(lambda: "p pin" not in d.text(), "the menu to close")
            await d.press("g", "l")
            await d.shows("Messages")
            assert "menu" not in d.text()


async def test_the_menu_of_a_session_shows_only_what_applies_to_it(dashboard, at_once):
    async with dashboard() as d:
        for name, there, missing in (
            ("running1", ("i interrupt", "X kill"), ("A archive", "h take over")),
            ("done0001", ("A archive", "h take over"), ("i interrupt", "X kill")),
        ):
            await d.select(name)
            await d.press("m")
            await d.shows(there[0])
            text = "\n".join(drawn(d))
            assert all(one in text for one in there), name
            assert not any(one in text for one in missing), name
            await d.press("escape")


async def test_the_menu_counts_what_applies_to_the_marked_sessions(dashboard, at_once):
    async with dashboard() as d:
        await d.select("done0001")
        await d.press("space")
        await d.select("running1")
        await d.press("m")
        await d.shows("A archive")


async def test_a_key_typed_at_once_acts_and_the_panel_is_never_drawn(dashboard, never):
    async with dashboard() as d:
        await d.press("g", "u")
        await d.screen(UsageScreen)
        d.app.panel_due()  # the timer of a menu that is closed
        await d.settled()
        assert "go to" not in d.text()


async def test_the_panel_waits_for_its_time(dashboard, never):
    async with dashboard() as d:
        await d.press("g")
        assert drawn(d) == []
        d.app.panel_due()
        await d.shows("g  go to   Esc close")


async def test_an_unknown_key_closes_the_menu_and_says_so(dashboard, never):
    async with dashboard() as d:
        await d.select("done0001")
        for key, said in (
            ("q", "m q: nothing in the menu of this session."),
            ("question_mark", "m ?: nothing in the menu of this session."),
        ):
            await d.press("m", key)
            await d.shows(said)
        assert d.app.screen is d.main  # neither quit nor help
        await d.press("j")
        assert d.main.table.selected.id != "done0001"


async def test_a_key_of_the_menu_that_does_not_apply_says_why(dashboard, never):
    async with dashboard() as d:
        await d.select("running1")
        await d.press("m", "A")
        await d.shows('"split [/red] the monolith into services" is not finished yet.')


async def test_a_prefix_is_a_letter_in_a_text(dashboard, never):
    async with dashboard() as d:
        await d.select("done0001")
        await d.press("i", *"gzm g u")
        assert d.main.detail.prompt.input.text == "gzm g u"


async def test_a_menu_moves_to_another_key(dashboard, at_once):
    async with dashboard(keymap=keymap({"menu": {"go": "ctrl+e"}})) as d:
        await d.press("ctrl+e")
        await d.shows("Ctrl+E  go to   Esc close")
        await d.press("u")
        await d.screen(UsageScreen)


async def test_top_is_two_keys_in_each_list(dashboard, never):
    async with dashboard() as d:
        await d.press("G")
        last = d.main.table.selected.id
        await d.press("g", "g")
        assert d.main.table.selected.id != last


async def test_a_search_has_n_until_esc_ends_it(dashboard):
    async with dashboard() as d:
        d.manager.put(session("other001", Status.DONE, "another", created=0))
        await d.press("enter")
        await d.shows("also add a regression test")
        await d.press("slash", *"test", "enter")
        await d.shows("n next match   N previous match   Esc end search")
        before = d.main.detail.steps.cursor
        await d.press("n")
        assert d.app.screen is d.main
        assert d.main.detail.steps.cursor != before
        await d.press("escape")
        await d.until(lambda: "end search" not in d.text())
        assert d.app.focused is d.main.detail.steps
        await d.press("n")
        await d.shows("New session")


def test_the_columns_of_a_panel_are_read_from_top_to_bottom():
    pairs = [(key, "word") for key in "abcde"]
    assert [line.plain for line in menu.in_columns(pairs, 26)] == ["a word  c word  e word", "b word  d word"]
    assert [line.plain for line in menu.in_columns(pairs, 5)] == [f"{key} word" for key in "abcde"]


async def test_a_key_that_has_nothing_to_do_says_why(dashboard, never):
    async with dashboard() as d:
        await d.select("done0001")
        for keys, why in (
            (["a"], "No session asks for an answer."),
            (["g", "L"], "It has no lead among the sessions."),
            (["m", "S"], "waits for no time and no other session."),
            (["R"], "cannot be retried"),
            (["x"], "is not running."),
        ):
            await d.press(*keys)
            await d.shows(why)
