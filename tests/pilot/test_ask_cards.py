"""The card of an ask among the other parts of the screen: its place, its keys, and the way from one ask to the next."""

import pytest
from msgspec import structs

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.asks.model import Answer, Verdict
from agentdash.sessions.rules.asks.recorded import AskState
from pilot.examples import EVERY, command
from pilot.test_asks import (
    ALLOW,
    ALWAYS,
    ANSWER,
    COLOUR,
    DENY,
    NAME,
    SIZES,
    TASTES,
    card_of,
    clock,
    closed,
    drawn,
    opened,
    questions,
)  # fmt: skip

__all__ = ["clock"]


async def shown_next(d, number):
    await d.until(lambda: card_of(d)._ask.id == number and card_of(d).settling.is_drawn, f"ask {number}")


@pytest.mark.parametrize("size", SIZES)
async def test_three_approvals_in_a_row_are_four_keys(dashboard, manager, size):
    asked = [
        manager.ask("running1", command(verdicts=EVERY)),
        manager.ask("running1", command("make", verdicts=EVERY)),
        manager.ask("stopped1", command("make deploy", verdicts=EVERY)),
    ]
    async with dashboard(size=size) as d:
        await d.select("running1")
        await d.press(ANSWER)
        await shown_next(d, asked[0])
        await d.shows("1 of 3 asks")
        await d.press("y")
        await shown_next(d, asked[1])
        await d.shows("2 of 3 asks")
        if size[0] > 80:  # a narrow line cuts it
            await d.shows('2 more asks: "split')
        await d.press("y")
        await shown_next(d, asked[2])
        await d.shows("3 of 3 asks")
        if size[0] > 80:  # a narrow line cuts it
            await d.shows('1 more ask: "rename the store" · a')
        assert d.main.current.id == "stopped1"
        await d.press("y")
        await closed(d)
        assert manager.answers() == [(number, ALLOW) for number in asked]
        assert d.app.focused is d.main.table


async def test_a_key_that_comes_too_early_says_so_and_decides_nothing(dashboard, manager, clock):
    number = manager.ask("running1", command(verdicts=EVERY))
    clock.too_early()
    async with dashboard() as d:
        await opened(d)
        await d.press("y")
        await d.shows("Read it first")
        assert manager.answers() == []
        clock.late()
        card_of(d)._shown_at = 0.0
        await d.press("y")
        await d.answered(number, ALLOW)


async def test_a_key_for_the_former_ask_says_that_the_next_is_to_be_read_first(dashboard, manager, clock):
    first = manager.ask("running1", command(verdicts=EVERY))
    second = manager.ask("stopped1", command("make deploy"))
    async with dashboard() as d:
        await opened(d)
        clock.too_early()
        d.burst("yy")
        await shown_next(d, second)
        await d.press("y")
        await d.shows("Read it first")
        assert manager.answers() == [(first, ALLOW)]


async def test_the_session_that_asks_is_selected_also_if_a_filter_hid_it(dashboard, manager):
    manager.ask("running1", command())
    async with dashboard() as d:
        await d.press("slash", *"migration", "enter")
        await d.until(lambda: d.main.table.position("running1") is None)
        await d.press(ANSWER)
        await drawn(d)
        assert d.main.current.id == "running1"
        await d.shows("task of running1")


@pytest.mark.parametrize("size", [(160, 45), (120, 35), (80, 24)])
async def test_the_card_takes_the_place_of_the_prompt_and_about_half_of_the_pane(dashboard, manager, size):
    body = "\n".join(f"echo {n}" for n in range(99))
    manager.ask("running1", command(body, verdicts=EVERY))
    async with dashboard(size=size) as d:
        await d.select("running1")
        await d.press("enter")
        await d.shows("a answers first, or write: read after it")
        card = await opened(d)
        pane = d.main.detail
        assert card.outer_size.height <= max(pane.size.height // 2, 12)
        assert pane.steps.size.height >= 4
        assert card.region.bottom == pane.region.bottom
        assert not pane.prompt.region.height
        assert "read after it" not in d.text()
        await d.press("escape")
        await d.shows("a answers first, or write: read after it")


async def test_below_80_columns_the_card_has_the_whole_pane(dashboard, manager):
    manager.ask("running1", command("\n".join(f"echo {n}" for n in range(99))))
    async with dashboard(size=(79, 24)) as d:
        card = await opened(d)
        assert card.outer_size.width >= 77
        assert card.outer_size.height > 16


async def test_only_the_card_with_the_keys_takes_a_decision_and_the_key_gives_them_back(dashboard, manager):
    number = manager.ask("running1", command(verdicts=EVERY))
    async with dashboard() as d:
        card = await opened(d)
        assert card.has_class("-active")
        d.main.give_keys(d.main.detail.steps)
        await d.settled()
        assert not card.has_class("-active")
        await d.press("y", "s")
        assert manager.answers() == []
        await d.press("escape")
        await d.press(ANSWER)
        await d.until(lambda: card.has_class("-active"))
        await d.press("y")
        await d.answered(number, ALLOW)


async def test_another_size_changes_the_form_and_loses_neither_words_nor_guard(dashboard, manager, clock):
    secret = structs.replace(NAME, key="token", text="Token", secret=True)
    number = manager.ask("running1", questions(secret))
    async with dashboard(size=(100, 30)) as d:
        await opened(d)
        await d.press(*"hush")
        clock.too_early()
        card_of(d)._shown_at = 1e15
        for size in ((60, 24), (100, 30)):
            await d.resize(*size)
            await d.press("enter")
            await d.shows("Read it first")
        assert manager.answers() == []
        card_of(d)._shown_at = 0.0
        await d.press("enter")
        await d.answered(number, Answer(verdict=Verdict.ANSWER, values={"token": ("hush",)}))


async def test_the_words_of_a_denial_stay_when_the_terminal_gets_narrow(dashboard, manager):
    number = manager.ask("running1", command())
    async with dashboard(size=(100, 30)) as d:
        await opened(d)
        await d.press("d", *"use make")
        await d.resize(60, 24)
        await d.shows("use make")
        await d.press("enter")
        await d.answered(number, Answer(verdict=Verdict.DENY, message="use make"))


@pytest.mark.parametrize("size", SIZES)
async def test_a_digit_chooses_and_each_page_has_its_own_question(dashboard, manager, size):
    number = manager.ask("running1", questions(COLOUR, TASTES, title="Which colour? (and 1 more)"))
    async with dashboard(size=size) as d:
        await opened(d)
        await d.shows("question 1 of 2")
        lines = d.text().split("\n")[d.main.detail.region.y :]
        assert sum("Which colour?" in line[d.main.detail.region.x :] for line in lines) == 1
        await d.press("2")
        await d.shows("question 2 of 2")
        await d.shows("Which tastes?")
        await d.press("1", "3", "enter")
        values = {"colour": ("Red",), "tastes": ("sweet", "salty")}
        await d.answered(number, Answer(verdict=Verdict.ANSWER, values=values))


async def test_the_digit_after_the_choices_is_for_an_answer_in_words(dashboard, manager):
    number = manager.ask("running1", questions(structs.replace(COLOUR, free=True)))
    async with dashboard() as d:
        await opened(d)
        await d.shows("3 other")
        await d.shows("write your own answer")
        await d.press("3", *"green 2", "enter")
        await d.answered(number, Answer(verdict=Verdict.ANSWER, values={"colour": ("green 2",)}))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("ask", [command(), questions(COLOUR), questions(NAME)], ids=["command", "choices", "words"])
async def test_the_key_after_an_escape_acts_at_once_on_what_is_below(dashboard, manager, monkeypatch, size, ask):
    monkeypatch.setattr("agentdash.tui.keys.key_queue.PATIENCE_SECONDS", 3600)  # no key gives up its turn
    manager.ask("running1", ask)
    async with dashboard(size=size) as d:
        await opened(d)
        place = d.main.table.position("running1")
        d.burst("\x1bj")
        await d.until(lambda: d.main.table.position(d.main.current.id) != place)
        assert card_of(d) is None


async def test_the_key_goes_from_one_ask_to_the_next_without_deciding(dashboard, manager):
    manager.ask("running1", command())
    second = manager.ask("stopped1", command("make deploy"))
    async with dashboard() as d:
        await opened(d)
        await d.press(ANSWER)
        await shown_next(d, second)
        assert d.main.current.id == "stopped1"
        assert manager.answers() == []


async def test_a_card_goes_when_another_session_is_shown(dashboard, manager):
    manager.ask("running1", command())
    async with dashboard() as d:
        await opened(d)
        await d.press("w")
        await closed(d)
        assert d.main.current.id != "running1"
        assert d.app.focused is d.main.table


async def test_the_key_of_the_prompt_takes_the_place_of_the_card(dashboard, manager):
    manager.ask("running1", command())
    async with dashboard() as d:
        await opened(d)
        await d.press("i", *"then test")
        await closed(d)
        assert d.main.detail.prompt.input.text == "then test"
        await d.press("escape")
        assert d.app.focused is d.main.table


async def test_a_question_at_the_end_of_a_message_is_answered_with_a_prompt(dashboard, manager):
    asks = structs.replace(manager.get("done0001"), asks="Shall I delete the old table?", status=Status.DONE)
    manager.put(asks)
    async with dashboard() as d:
        await d.select("stopped1")
        await d.press(ANSWER)
        await d.until(lambda: d.app.focused is d.main.detail.prompt.input)
        assert d.main.current.id == "done0001"


async def test_asks_come_before_questions_at_the_end_of_a_message(dashboard, manager):
    manager.put(structs.replace(manager.get("done0001"), asks="Shall I?", status=Status.DONE))
    manager.ask("running1", command())
    async with dashboard() as d:
        await d.select("stopped1")
        await d.press(ANSWER)
        await drawn(d)
        assert d.main.current.id == "running1"


async def test_always_has_a_key_of_its_own(dashboard, manager):
    number = manager.ask("running1", command(verdicts=EVERY, always="Bash"))
    async with dashboard() as d:
        await opened(d)
        await d.shows("s always: Bash")
        await d.press("s")
        await d.answered(number, ALWAYS)


async def test_keys_scroll_the_steps_above_if_the_text_is_whole(dashboard, manager):
    manager.ask("waiting1", command())
    async with dashboard(size=(100, 30)) as d:
        await opened(d, "waiting1")
        before = d.main.detail.steps.top
        await d.press("pageup")
        assert d.main.detail.steps.top != before
        assert manager.answers() == []


async def test_a_card_of_an_ask_that_ended_elsewhere_gives_way_to_an_escape(dashboard, manager):
    number = manager.ask("running1", command())
    async with dashboard(size=(50, 24)) as d:
        await opened(d)
        manager.end_ask(number, AskState.SENT, DENY, "you")
        await d.shows("Denied by you.")
        await d.press("escape")
        await closed(d)
