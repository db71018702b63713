"""The card of an ask: it shows what an agent asks for, and takes the user's decision about exactly that."""

import pytest
from factories import T0
from hostile_text import FRAGMENTS, REMOVED
from msgspec import structs
from textual.widgets import Input

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.rules.asks.model import Answer, Ask, AskKind, Choice, Question, Verdict
from agentdash.sessions.rules.asks.recorded import AskState
from agentdash.sessions.settings.config import DashboardSettings
from agentdash.tui.dialogs.asking.ask_view import AskView
from agentdash.widgets.asks.choice_list import ChoiceList
from agentdash.widgets.asks.decisions import Decisions
from agentdash.widgets.asks.question_form import QuestionForm
from agentdash.widgets.table.session_table import SessionTable
from pilot.conftest import key_event
from pilot.examples import EVERY, command
from pilot.gate import Gate
from pilot.house import failing

HOSTILE = "".join(FRAGMENTS).replace("\ud800", "")
"""All hostile texts but half a character, which no ask that was recorded holds."""

ANSWER = "a"
"""The key that shows what is asked."""

SIZES = [(160, 45), (80, 24), (50, 24)]
ALLOW, ALWAYS, DENY, STOP = (Answer(verdict=one) for one in EVERY)

COLOUR = Question(
    key="colour", text="Which colour?", header="Colour", free=False,
    choices=(Choice(label="Blue", description="like the sky"), Choice(label="Red")),
)  # fmt: skip
TASTES = Question(
    key="tastes", text="Which tastes?", several=True,
    choices=(Choice(label="sweet"), Choice(label="sour"), Choice(label="salty")),
)  # fmt: skip
NAME = Question(key="name", text="What is it called?", required=False)
ANSWERS = (Verdict.ANSWER, Verdict.DENY, Verdict.STOP)


def questions(*asked, kind=AskKind.QUESTION, **facts):
    return Ask(
        key="q", kind=kind, questions=asked, verdicts=ANSWERS, **{"title": "answer a question"} | facts
    )  # fmt: skip


class Clock:
    """The monotonic clock of the card: either the keys were typed long after an ask appeared, or before it."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def too_early(self):
        """What appears from now on appears after any key was typed."""
        self.now = 1e15

    def late(self):
        self.now = 0.0


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("agentdash.tui.dialogs.asking.ask_view.monotonic", clock)
    return clock


async def opened(d, sid="running1"):
    await d.select(sid)
    await d.press(ANSWER)
    return await drawn(d)


async def drawn(d):
    """Wait until the card has its final layout, and return it."""
    await d.until(lambda: card_of(d) is not None and card_of(d).settling.is_drawn, "the card")
    return card_of(d)


def card_of(d):
    """Return the card on the screen; None if there is none."""
    return d.app.screen.answers.card


async def closed(d):
    """Wait until the card has given its place back to the prompt."""
    await d.until(lambda: card_of(d) is None, "the card to go")


@pytest.mark.parametrize("size", SIZES)
async def test_a_row_shows_how_many_asks_wait_and_the_key_shows_the_first(dashboard, manager, size):
    manager.ask("running1", command(verdicts=EVERY, always="Bash(rm -rf build)"), due_in=250)
    manager.ask("running1", command("make"))
    async with dashboard(size=size) as d:
        rows = [line.partition("│")[0] for line in d.text().split("\n")]
        needed = next(at for at, line in enumerate(rows) if "NEEDS YOU" in line)
        done = next(at for at, line in enumerate(rows) if "DONE" in line)
        assert any("?2" in line.split() for line in rows[needed:done])
        assert "a answer" in d.text()
        await opened(d)
        for words in (
            'run a command · 1 of 2 asks',
            "rm -rf build", "~/code/api", "The build folder is stale.", "10s ago", "denied in 4m",
            "y allow once", "s always: Bash(rm -rf build)", "d deny", "D deny and stop", "Esc leave",
        ):  # fmt: skip
            assert words in d.text()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("keys", "given"),
    [
        (["y"], ALLOW),
        (["s"], ALWAYS),
        (["d", "enter"], DENY),
        (["enter", "enter"], DENY),
        (["d", *"use make", "enter"], Answer(verdict=Verdict.DENY, message="use make")),
        (["D"], STOP),
        (["up", "enter"], ALWAYS),
        (["down", "enter"], STOP),
    ],
)
async def test_each_key_decides_and_the_card_closes(dashboard, manager, size, keys, given):
    number = manager.ask("running1", command(verdicts=EVERY, always="Bash"))
    async with dashboard(size=size) as d:
        await opened(d)
        await d.press(*keys)
        await closed(d)
        assert manager.answers() == [(number, given)]
        await d.shows(
            {Verdict.ALLOW: 'Allowed in "', Verdict.ALWAYS: 'Allowed for this session in "'}.get(
                given.verdict, "Denied"
            )
        )


@pytest.mark.parametrize("keys", [["escape"], ["q"], ["d", "y", "s", "escape", "escape"], ["j", "k", "G", "pagedown"]])
async def test_other_keys_decide_nothing(dashboard, manager, keys):
    manager.ask("running1", command(verdicts=EVERY, always="Bash"))
    async with dashboard() as d:
        await opened(d)
        await d.press(*keys)
        assert manager.answers() == []


async def test_the_focus_begins_on_the_denial(dashboard, manager):
    manager.ask("running1", command(verdicts=EVERY, always="Bash"))
    async with dashboard() as d:
        await opened(d)
        assert isinstance(d.app.focused, Decisions)
        await d.shows("▌d deny")


async def test_without_a_denial_enter_decides_nothing_until_the_user_chooses(dashboard, manager):
    number = manager.ask("running1", command(verdicts=(Verdict.ALLOW,)))
    async with dashboard() as d:
        await opened(d)
        await d.press("enter", "d", "D", "s")
        assert manager.answers() == []
        await d.press("down", "enter")
        await d.answered(number, ALLOW)


async def test_always_is_offered_if_the_agent_says_what_it_covers_or_agentdash_can_remember_it(dashboard, manager):
    manager.ask("running1", command(verdicts=EVERY))
    number = manager.ask("done0001", command("make", verdicts=(Verdict.ALLOW, Verdict.DENY)))
    async with dashboard() as d:
        await opened(d)
        assert "s always" not in d.text()
        await d.press("s")
        await d.press("escape")
        assert manager.answers() == []
        await opened(d, "done0001")
        await d.shows("s always: the same, for this session (agentdash remembers it)")
        await d.press("D")
        assert manager.answers() == []
        await d.press("s")
        await d.answered(number, ALWAYS)


@pytest.mark.parametrize("keys", [["y"], ["s"], ["D"], ["d", "enter"], ["enter", "enter"]])
async def test_keys_that_were_typed_when_the_card_opened_decide_nothing(dashboard, manager, clock, keys):
    manager.ask("running1", command(verdicts=EVERY, always="Bash"))
    clock.too_early()
    async with dashboard() as d:
        await opened(d)
        await d.press(*keys)
        assert manager.answers() == []
        assert card_of(d) is not None


async def test_a_burst_of_typing_that_opens_the_card_decides_nothing(dashboard, manager, clock):
    manager.ask("running1", command(verdicts=EVERY, always="Bash"))
    clock.too_early()
    async with dashboard() as d:
        await d.select("running1")
        d.app.post_message(key_event(ANSWER))
        d.burst("yaD\n\n")
        await drawn(d)
        await d.settled()
        assert manager.answers() == []


async def test_the_next_ask_is_shown_and_takes_no_key_that_was_meant_for_the_former(dashboard, manager, clock):
    first = manager.ask("running1", command(verdicts=EVERY))
    second = manager.ask("running1", command("make deploy"))
    async with dashboard() as d:
        await opened(d)
        clock.too_early()
        d.burst("yyyyDD")
        await d.shows("2 of 2 asks")
        await d.settled()
        assert "make deploy" in d.text()
        assert manager.answers() == [(first, ALLOW)]
        clock.late()
        await d.press("escape", ANSWER)
        await drawn(d)
        await d.press("y")
        await closed(d)
        assert manager.answers() == [(first, ALLOW), (second, ALLOW)]


async def test_an_ask_that_another_one_replaces_says_who_decided_and_drops_the_words_for_it(dashboard, manager, clock):
    first = manager.ask("running1", command())
    manager.ask("running1", command("make deploy"))
    async with dashboard() as d:
        await opened(d)
        await d.press("d", *"not now")
        clock.too_early()
        manager.end_ask(first, AskState.SENT, ALLOW, "rule: git log")
        await d.shows("The one before: allowed by rule: git log.")
        await d.shows("2 of 2 asks")
        await d.press("enter", "enter", "y")
        assert manager.answers() == []
        assert "not now" not in d.text()


async def test_an_ask_whose_text_changes_takes_no_key_that_was_meant_for_the_former_text(dashboard, manager, clock):
    number = manager.ask("running1", command())
    async with dashboard() as d:
        await opened(d)
        clock.too_early()
        manager.change_ask(number, command("rm -rf /"))
        await d.shows("rm -rf /")
        await d.press("y")
        assert manager.answers() == []


@pytest.mark.parametrize(
    ("state", "answer", "by", "words"),
    [
        (AskState.SENT, ALLOW, "you", "Allowed by you."),
        (AskState.SETTLED, DENY, "rule: rm", "Denied by rule: rm."),
        (AskState.EXPIRED, DENY, "the time limit", "Denied by the time limit."),
        (AskState.WITHDRAWN, None, None, "The agent no longer waits."),
        (AskState.LOST, None, None, "The agent ended first."),
    ],
)
@pytest.mark.parametrize("size", SIZES)
async def test_an_ask_that_ended_elsewhere_says_how_and_takes_no_decision(
    dashboard, manager, size, state, answer, by, words
):
    number = manager.ask("running1", command(verdicts=EVERY, always="Bash"))
    async with dashboard(size=size) as d:
        await opened(d)
        manager.end_ask(number, state, answer, by)
        await d.shows(words)
        before = manager.rows()
        await d.press("y", "s", "D", "d", "enter", "up", "enter")
        assert manager.rows() == before
        await d.press("escape")
        assert card_of(d) is None


async def test_an_answer_that_came_second_says_who_was_first(dashboard, manager, monkeypatch):
    number = manager.ask("running1", command())
    async with dashboard() as d:
        await opened(d)
        answer = manager.asks.answer

        def second(*given):
            manager.end_ask(number, AskState.SENT, DENY, "session 3f2a")
            return answer(*given)

        monkeypatch.setattr(manager.asks, "answer", second)
        await d.press("y")
        await d.shows("Denied by session 3f2a.")
        await d.press("y")
        assert manager.reader.ask(number).answer == DENY


async def test_an_answer_that_does_not_fit_leaves_the_card_open_with_the_reason(dashboard, manager, monkeypatch):
    number = manager.ask("running1", command())
    async with dashboard() as d:
        await opened(d)
        with monkeypatch.context() as patch:
            patch.setattr(manager.asks, "answer", failing(UsageError("The ask does not take this decision.")))
            await d.press("y")
            await d.shows("The ask does not take this decision.")
        assert manager.answers() == []
        await d.press("y")
        await closed(d)
        assert manager.answers() == [(number, ALLOW)]


@pytest.mark.parametrize(("error", "words"), [(None, '": run: rm -rf build'), (UsageError("Too late."), "Too late.")])
async def test_an_answer_under_way_is_recorded_and_named_although_the_card_closes(
    dashboard, manager, monkeypatch, error, words
):
    number, gate = manager.ask("running1", command()), Gate()
    answer = failing(error) if error else manager.asks.answer
    monkeypatch.setattr(manager.asks, "answer", lambda *given: gate.wait() and answer(*given))
    async with dashboard() as d:
        await opened(d)
        await d.press("y", "escape")
        assert card_of(d) is None
        gate.set()
        await d.shows(words)
        assert manager.answers() == ([] if error else [(number, ALLOW)])


async def test_the_key_opens_the_first_asking_session_if_this_one_asks_nothing(dashboard, manager):
    manager.ask("running1", command())
    async with dashboard() as d:
        await d.select("stopped1")
        await d.press(ANSWER)
        await drawn(d)
        await d.shows("split [/red] the monolith")


async def test_the_key_costs_no_pass_over_all_sessions_if_this_one_asks_nothing(dashboard, manager, monkeypatch):
    manager.ask("running1", command())
    async with dashboard() as d:
        await d.select("stopped1")
        passes = []
        monkeypatch.setattr(SessionTable, "sessions", property(lambda _: passes.append(1) or []))
        assert d.main.target.can("answer")
        assert passes == []


async def test_a_message_says_that_nothing_asks(dashboard, manager, monkeypatch):
    reads = []
    monkeypatch.setattr(manager.reader, "asks", reads.append)
    async with dashboard() as d:
        await d.press(ANSWER)
        await d.shows("No session asks for an answer.")
        assert card_of(d) is None
        assert not reads


async def test_the_card_opens_over_the_steps_and_from_command_line_and_palette(dashboard, manager):
    manager.ask("running1", command())
    async with dashboard() as d:
        await d.select("running1")
        await d.press("enter", ANSWER)
        await drawn(d)
        await d.press("escape")
        assert d.app.focused is d.main.detail.steps
        await d.press("colon", *"answer", "enter")
        await drawn(d)
        await d.press("escape")
        assert any(one.title == "answer (a)" for one in d.app.get_system_commands(d.main))


@pytest.mark.parametrize("size", SIZES)
async def test_a_read_only_dashboard_shows_the_card_without_decisions(dashboard, manager, size):
    manager.ask("running1", command(verdicts=EVERY, always="Bash"))
    manager.ask("done0001", questions(COLOUR, body="About the paint."))
    async with dashboard(settings=DashboardSettings(read_only=True), size=size) as d:
        await opened(d)
        await d.shows("rm -rf build")
        await d.shows("read-only: no answer")
        assert "allow once" not in d.text()
        await d.press("y", "s", "d", "D", "enter")
        await d.press("escape")
        await opened(d, "done0001")
        await d.shows("About the paint.")
        await d.shows("- Blue  like the sky")
        await d.press("enter", "space", "escape")
        assert manager.answers() == []


async def test_the_age_is_drawn_only_when_its_words_change(dashboard, manager, monkeypatch):
    now = [T0]
    monkeypatch.setattr("agentdash.tui.app.now_ms", lambda: now[0])
    manager.ask("running1", command(), due_in=250)
    async with dashboard() as d:
        card = await opened(d)
        drawn = []
        monkeypatch.setattr(card._facts._where, "update", lambda *text, **_: drawn.append(str(text[0])))
        for seconds in (1, 2, 60, 61, 300):
            now[0] = T0 + 1000 * seconds
            card._tick()
        assert ["1m ago" in drawn[0], len(drawn)] == [True, 2]
        assert "its time is over" in drawn[-1]


async def test_long_and_hostile_texts_are_shown_whole_and_harmless(dashboard, manager):
    text = "echo \x1b[31m\u202ehidden\n" + HOSTILE + "x" * 20_000 + "\n" + "\tmake\n" * 1_000 + "the end"
    name = f"{text[:3_000]} the end"
    manager.ask(
        "running1",
        command(text, title=f"run: {text}", why=text, cwd=text, paths=(text,) * 3, always=name, verdicts=EVERY),
    )
    async with dashboard(size=(80, 24)) as d:
        card = await opened(d)
        assert not REMOVED & set(d.text())
        await d.press("G")
        await d.shows("the end")
        await d.press("home")
        await d.shows("hidden")
        assert "y allow once" in d.text()
        assert card._facts.text.size.height >= 3


@pytest.mark.parametrize("size", SIZES)
async def test_one_question_is_answered_with_a_choice(dashboard, manager, size):
    number = manager.ask("running1", questions(COLOUR))
    async with dashboard(size=size) as d:
        await opened(d)
        assert isinstance(d.app.focused, ChoiceList)
        await d.shows("Colour: Which colour?")
        await d.shows("( ) Blue  like the sky")
        await d.press("j", "enter")
        await d.answered(number, Answer(verdict=Verdict.ANSWER, values={"colour": ("Red",)}))
        await closed(d)


@pytest.mark.parametrize("size", SIZES)
async def test_questions_come_one_after_the_other_with_a_way_back(dashboard, manager, size):
    number = manager.ask("running1", questions(COLOUR, TASTES, NAME))
    async with dashboard(size=size) as d:
        await opened(d)
        assert "Which tastes?" not in d.text()
        await d.press("enter")
        await d.shows("Which tastes?")
        await d.press("enter")
        await d.shows("An answer is required.")
        await d.press("space", "j", "j", "space", "tab", *"bitter", "enter")
        await d.shows("What is it called?")
        await d.press("escape", "escape")
        await d.shows("Which colour?")
        await d.press("j", "enter")
        await d.shows("bitter")
        await d.press("enter")
        await d.shows("What is it called?")
        await d.press("enter")
        values = {"colour": ("Red",), "tastes": ("sweet", "salty", "bitter")}
        await d.answered(number, Answer(verdict=Verdict.ANSWER, values=values))


async def test_words_replace_the_choice_of_a_single_answer(dashboard, manager):
    number = manager.ask("running1", questions(structs.replace(COLOUR, free=True)))
    async with dashboard() as d:
        await opened(d)
        await d.press("space")
        await d.shows("(x) Blue")
        await d.press("tab", *"y green")
        await d.shows("( ) Blue")
        await d.press("enter")
        await d.answered(number, Answer(verdict=Verdict.ANSWER, values={"colour": ("y green",)}))


async def test_unfinished_answers_are_kept_when_the_card_closes_and_secret_ones_are_not(dashboard, manager):
    secret = Question(key="token", text="Token", secret=True)
    port = Question(key="port", text="Port", type="integer")
    number = manager.ask("running1", questions(port, COLOUR, TASTES, secret, kind=AskKind.FORM))
    async with dashboard(size=(79, 45)) as d:
        await opened(d)
        await d.press(*"8080", "tab", "j", "space", "tab", "space", "tab", *"bitter", "tab", *"hush", "escape")
        await closed(d)
        await opened(d)
        for words in ("8080", "(x) Red", "[x] sweet", "bitter"):
            await d.shows(words)
        await d.press("tab", "tab", "tab", "tab", *"other", "enter")
        values = {"port": ("8080",), "colour": ("Red",), "tastes": ("sweet", "bitter"), "token": ("other",)}
        await d.answered(number, Answer(verdict=Verdict.ANSWER, values=values))


async def test_a_form_whose_answer_is_refused_after_the_card_closed_keeps_what_was_written(
    dashboard, manager, monkeypatch
):
    manager.ask("running1", questions(NAME))
    gate, full = Gate(), failing(UsageError("The disk is full."))
    monkeypatch.setattr(manager.asks, "answer", lambda *given: gate.wait() and full(*given))
    async with dashboard() as d:
        await opened(d)
        await d.press(*"a long answer", "enter", "escape", "escape")
        await closed(d)
        gate.set()
        await d.shows("The disk is full.")
        await opened(d)
        await d.shows("a long answer")


async def test_the_answers_of_one_ask_are_not_those_of_the_next(dashboard, manager):
    first = manager.ask("running1", questions(NAME))
    async with dashboard() as d:
        await opened(d)
        await d.press(*"half an ans", "escape")
        await closed(d)
        manager.end_ask(first, AskState.WITHDRAWN)
        manager.ask("running1", questions(NAME))
        await opened(d)
        await d.shows("What is it called?")
        assert "half an ans" not in d.text()


async def test_a_question_can_be_refused(dashboard, manager):
    number = manager.ask("running1", questions(COLOUR))
    async with dashboard() as d:
        await opened(d)
        await d.press("d", "enter")
        await d.answered(number, DENY)


async def test_the_words_of_a_denial_alone_have_the_keys(dashboard, manager):
    number = manager.ask("running1", questions(COLOUR))
    async with dashboard() as d:
        await opened(d)
        await d.press("d")
        words = d.app.focused
        for key in ("tab", "shift+tab", "tab", "tab"):
            await d.press(key)
            assert d.app.focused is words
            assert "Enter deny" in d.text()
        await d.press("escape")
        assert isinstance(d.app.focused, ChoiceList)
        await d.press("d", "shift+tab", *"no", "enter")
        await d.answered(number, Answer(verdict=Verdict.DENY, message="no"))


async def test_keys_for_a_question_that_was_not_read_answer_nothing(dashboard, manager, clock):
    manager.ask("running1", questions(COLOUR))
    clock.too_early()
    async with dashboard() as d:
        await opened(d)
        await d.press("enter", "enter")
        assert manager.answers() == []


FORM = (
    Question(key="port", text="Port", type="integer"),
    Question(key="ratio", text="Ratio", type="number", required=False),
    Question(key="debug", text="Debug", type="boolean"),
    Question(key="token", text="Token", secret=True),
)


@pytest.mark.parametrize("size", SIZES)
async def test_a_form_names_types_and_errors_and_hides_secrets(dashboard, manager, size):
    number = manager.ask("running1", questions(*FORM, kind=AskKind.FORM, body="Connect to the server."))
    async with dashboard(size=size) as d:
        await opened(d)
        await d.shows("Connect to the server.")
        await d.shows("Port  (whole number)")
        await d.shows("Ratio  (number, optional)")
        await d.press(*"8o", "enter")
        await d.shows("This must be a whole number.")
        await d.press("backspace", *"0", "enter")
        await d.press("enter")
        await d.press("right", "enter")
        await d.press(*"hunter2")
        assert "hunter2" not in d.text()
        await d.press("enter")
        values = {"port": ("80",), "debug": ("true",), "token": ("hunter2",)}
        await d.answered(number, Answer(verdict=Verdict.ANSWER, values=values))


async def test_the_keys_of_a_form_say_that_enter_answers_in_its_last_field_alone(dashboard, manager):
    manager.ask("running1", questions(*FORM, kind=AskKind.FORM))
    async with dashboard() as d:
        await opened(d)
        for keys in ((*"80", "enter"), ("enter",), ("right", "enter")):
            assert "Enter next" in d.text()
            assert "Enter answer" not in d.text()
            await d.press(*keys)
        assert "Enter answer" in d.text()
        await d.press("shift+tab")
        assert "Enter next" in d.text()


async def test_a_form_is_not_sent_with_a_field_that_is_missing(dashboard, manager):
    manager.ask("running1", questions(*FORM, kind=AskKind.FORM))
    async with dashboard() as d:
        await opened(d)
        await d.press("tab", "tab", "tab", *"x", "enter")
        await d.shows("An answer is required.")
        assert manager.answers() == []
        assert isinstance(d.app.focused, Input)


@pytest.mark.parametrize("size", SIZES)
async def test_a_plan_is_approved(dashboard, manager, size):
    plan = Ask(key="p", kind=AskKind.PLAN, title="approve a plan", body="# Plan\n\n1. Freeze the clock\n2. Test")
    number = manager.ask("running1", plan)
    async with dashboard(size=size) as d:
        await opened(d)
        await d.shows("1. Freeze the clock")
        await d.shows("y approve the plan")
        await d.press("y")
        await d.answered(number, ALLOW)


@pytest.mark.parametrize("ask", [command(verdicts=EVERY, always="…→ü"), questions(COLOUR, NAME, title="…→")])
async def test_a_terminal_without_unicode_gets_ascii_alone(dashboard, manager, ask):
    manager.ask("running1", structs.replace(ask, why="…·→", body="…→\n│"))
    async with dashboard(plain_ascii=True, size=(80, 24)) as d:
        await opened(d)
        assert d.text().isascii(), [line for line in d.text().split("\n") if not line.isascii()]


async def test_the_card_fits_a_terminal_that_changes_its_size(dashboard, manager):
    manager.ask("running1", command("make " * 500, verdicts=EVERY, always="Bash"))
    async with dashboard(size=(160, 45)) as d:
        await opened(d)
        for size in ((50, 24), (80, 24), (160, 45)):
            await d.resize(*size)
            await d.shows("D deny and stop")
            await d.shows("Esc leave")


async def test_the_watch_screen_shows_the_card_of_its_pane(dashboard, manager):
    manager.ask("running1", command())
    async with dashboard() as d:
        await d.select("running1")
        await d.press("vertical_line", ANSWER)
        await drawn(d)
        await d.shows("rm -rf build")


async def test_an_answer_is_recorded_once_although_its_key_repeats(dashboard, manager):
    number = manager.ask("running1", command())
    async with dashboard() as d:
        await opened(d)
        d.burst("yyyy")
        await closed(d)
        assert manager.answers() == [(number, ALLOW)]


async def test_a_key_answers_the_ask_that_was_shown_although_the_next_comes_at_that_moment(dashboard, manager):
    first = manager.ask("running1", command())
    async with dashboard() as d:
        card = await opened(d)
        card.action_decide("allow")
        manager.ask("running1", command("rm -rf /"))
        await d.until(manager.answers)
        assert manager.answers() == [(first, ALLOW)]
        await d.shows("rm -rf /")


async def test_many_changes_at_once_leave_the_fields_of_the_newest_question(dashboard, manager):
    first = manager.ask("running1", questions(NAME))
    async with dashboard() as d:
        card = await opened(d)
        manager.ask("running1", questions(COLOUR))
        manager.end_ask(first, AskState.WITHDRAWN)
        for _ in range(20):
            card.changed()
        await d.shows("Which colour?")
        assert "What is it called?" not in d.text()
        await d.until(lambda: isinstance(d.app.focused, ChoiceList))


async def test_more_questions_than_can_be_shown_can_only_be_refused(dashboard, manager):
    asked = [structs.replace(NAME, key=str(number)) for number in range(101)]
    number = manager.ask("running1", questions(*asked, kind=AskKind.FORM))
    async with dashboard() as d:
        card = await opened(d)
        await d.shows("1 of 101 questions")
        assert not card.query(QuestionForm)
        await d.press("d", "enter")
        await d.answered(number, DENY)


@pytest.mark.parametrize("size", SIZES)
async def test_a_text_that_is_longer_than_the_card_is_allowed_only_after_its_end_was_shown(dashboard, manager, size):
    body = "make test" + " " * 6_000 + "; touch PWN\n" + "\n".join(f"echo {n}" for n in range(99)) + "\nrm -rf x"
    number = manager.ask("running1", command(body, title="run: " + body.partition("\n")[0] + " …"))
    async with dashboard(size=size) as d:
        await opened(d)
        assert "⟨6,000 blanks⟩" in d.text()
        assert "rows below: PgDn" in d.text()
        await d.press("y")
        await d.shows("Read it first: PgDn")
        assert manager.answers() == []
        while "rm -rf x" not in d.text():
            await d.press("pagedown")
        assert "below: PgDn" not in d.text()
        assert "Read it first" not in d.text()
        await d.press("y")
        await d.answered(number, ALLOW)


async def test_a_key_that_the_ask_does_not_take_is_refused_by_name(dashboard, manager, clock):
    manager.ask("running1", command(verdicts=(Verdict.DENY,)))
    async with dashboard() as d:
        await opened(d)
        await d.press("y")
        await d.shows("It does not take yes: only no.")
        clock.too_early()
        manager.change_ask(1, command("make deploy"))
        await d.shows("make deploy")
        await drawn(d)
        await d.press("y")
        await d.shows("Read it first, then press the key again.")
        assert manager.answers() == []


REPLICAS = Question(
    key="replicas", text="Replicas", type="integer", minimum=1, maximum=9, default=("2",), required=False
)
MAIL = Question(key="mail", text="Mail", format="email")
ENV = Question(
    key="env", text="Environment", free=False, default=("prod",),
    choices=(Choice(label="dev", description="Development"), Choice(label="prod", description="Production")),
)  # fmt: skip


@pytest.mark.parametrize("size", SIZES)
async def test_a_form_opens_at_its_top_with_its_defaults_and_takes_what_its_schema_allows(dashboard, manager, size):
    form = questions(ENV, REPLICAS, MAIL, kind=AskKind.FORM, title="fill in a form of forms: Which?", body="Which?")
    number = manager.ask("running1", form)
    async with dashboard(size=size) as d:
        await opened(d)
        for words in ("fill in a form", "Which?", "Environment", "( ) dev", "(x) prod", "do not answer"):
            assert words in d.text()
        await d.press("enter")
        for words in ("whole number, 1 to 9,", "optional)"):  # on two lines in a narrow card
            assert words in d.text()
        await d.press("backspace", *"99", "enter")
        await d.shows("This must be 1 to 9.")
        await d.press("backspace", "enter")
        await d.press(*"notmail", "enter")
        await d.shows("This must be an email address.")
        await d.press("home", *"a@", "enter")
        given = {"env": ("prod",), "replicas": ("9",), "mail": ("a@notmail",)}
        await d.answered(number, Answer(verdict=Verdict.ANSWER, values=given))


@pytest.mark.parametrize("size", SIZES)
async def test_the_card_is_drawn_once_with_everything_in_its_place(dashboard, manager, size):
    manager.ask("running1", command(verdicts=EVERY, always="Bash"))
    async with dashboard(size=size) as d:
        await d.select("running1")
        pictures = []
        fit = AskView._fit

        def fitted(card):
            fit(card)
            if not card.has_class("-opening"):
                pictures.append(d.text())

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(AskView, "_fit", fitted)
            await opened(d)
        assert pictures == [] or set(pictures) == {d.text()}
        assert "y allow once" in d.text()


@pytest.mark.parametrize(("after", "decides"), [(0.0, False), (0.29, False), (0.31, True)])
async def test_a_key_decides_from_three_tenths_of_a_second_on(dashboard, manager, after, decides):
    manager.ask("running1", command())
    async with dashboard() as d:
        card = await opened(d)
        card._shown_at, card._typed = 10.0, lambda: 10.0 + after
        await d.press("y")
        assert bool(manager.answers()) is decides


@pytest.mark.parametrize("kind", [AskKind.QUESTION, AskKind.FORM])
async def test_hostile_questions_are_harmless_and_answered_with_the_agents_own_labels(dashboard, manager, kind):
    text = "[/red] \x1b]52;c;aGk=\x07\u202ewhich\tone?\n" + HOSTILE + "x" * 3_000
    choices = (Choice(label="\x1b[31mred\n", description=text), Choice(label=text))
    number = manager.ask("running1", questions(Question(key=text, text=text, header=text, choices=choices), kind=kind))
    async with dashboard(size=(80, 24)) as d:
        await opened(d)
        assert not {*REMOVED, "\t"} & set(d.text())
        assert "which" in d.text()
        await d.press("enter")
        await d.shows("Read it first: PgDn")
        card_of(d).action_edge("ending")
        await d.press("enter")
        await d.answered(number, Answer(verdict=Verdict.ANSWER, values={text: ("\x1b[31mred\n",)}))
