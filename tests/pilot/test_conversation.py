"""The conversation of a session as a tree: forks, steps back, what was cut, and taking it back."""

import pytest
from msgspec import structs

from agentdash.sessions.agents.capabilities import Forks
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.model.session import Change, Step, StepKind
from agentdash.sessions.rules.conversation.marks import MarkKind
from agentdash.sessions.settings.config import DashboardSettings
from agentdash.tui.dialogs.asking.conversation import ConversationScreen
from agentdash.widgets.inputs.prompt_box import PromptInput
from pilot.examples import TALK
from pilot.house import failing

SIZES = [(160, 45), (80, 24), (50, 24)]
CONVERSATION = "11111111-2222-4333-8444-555555555555"
WORK = [
    *TALK[:6],
    Step(turn=2, index=2, kind=StepKind.FILE_CHANGE, changes=(Change(path="src/clock.py", kind="update"),)),
    Step(turn=2, index=3, kind=StepKind.COMMAND, command="psql -f table.sql"),
    *TALK[6:],
]
"""The same three turns, with more work in the second one."""


@pytest.fixture
def talk(manager):
    """Three turns of a session that has ended."""
    manager.put(structs.replace(manager.get("done0001"), agent_session=CONVERSATION))
    manager.tell("done0001", TALK)
    return manager


@pytest.fixture
def reading(dashboard, talk):
    """The dashboard with the keys in the steps of that session, at their beginning."""

    class Reading:
        def __init__(self, size=(160, 45), **options):
            self.running = dashboard(size=size, **options)

        async def __aenter__(self):
            d = await self.running.__aenter__()
            await d.select("done0001")
            await d.press("enter")
            await d.shows("The index is made.")
            await d.press("g g")
            d.steps = d.main.detail.steps
            return d

        async def __aexit__(self, *exc):
            return await self.running.__aexit__(*exc)

    return Reading


def line_of(d, words):
    """The line of the screen with these words."""
    return next(line for line in d.text().split("\n") if words in line)


def told(d):
    """The text of the dialog without its border and line breaks."""
    lines = [line.partition("│")[2].rpartition("│")[0] for line in d.text().split("\n") if line.count("│") > 1]
    return " ".join(" ".join(line.rpartition("│")[2] for line in lines).split())


def marks(manager, session_id="done0001"):
    """What was done to the conversation of a session, each with its turn and its step."""
    return [(mark.kind, mark.turn, mark.step) for mark in manager.store.marks.of_session(session_id)]


async def forked(d, prompt, turn):
    """Wait until a fork of the end of a turn began with a prompt, and return it."""
    await d.until(d.manager.begun, "the fork")
    [one] = d.manager.begun()
    assert (one.task, marks(d.manager, one.id)) == (prompt, [(MarkKind.FORK, turn, None)])
    return one


def is_cut(d, words):
    return "╎" in line_of(d, words)


@pytest.mark.parametrize("size", SIZES)
async def test_going_back_tells_what_it_hides_and_what_it_does_not_undo(reading, manager, monkeypatch, size):
    monkeypatch.setattr(type(agent_named("claude")), "forks", Forks(lambda *_: "a message"))
    manager.put(structs.replace(manager.get("done0001"), held="you held it"))
    manager.enqueue("done0001", "later")
    manager.tell("done0001", WORK)
    async with reading(size=size) as d:
        await d.press("j", "j", "minus")
        await d.screen(ConversationScreen)
        await d.shows("Go back to the end of turn 1")
        assert 'keeps all up to "I would add a column."' in told(d)
        assert "hides 2 turns, 7 steps; u takes it back" in told(d)
        assert "goes on natively: claude goes on in its own conversation from there" in told(d)
        assert "not undone 1 changed file, 2 commands that ran, 1 prompt in the queue" in told(d)
        await d.press("y")
        await d.until(lambda: marks(d.manager) == [(MarkKind.REWIND, 1, None)])
        await d.until(lambda: not isinstance(d.app.screen, ConversationScreen))
        await d.press("G")
        await d.shows("went back to the end of turn 1")
        assert not is_cut(d, "I would add a column.")
        assert is_cut(d, "The table is made.")
        assert is_cut(d, "The index is made.")


async def test_the_line_of_a_step_back_names_the_time_the_asker_and_the_key_that_takes_it_back(reading, manager):
    manager.mark("done0001", MarkKind.REWIND, turn=1, step=2)
    async with reading() as d:
        await d.shows("↶ went back to step 1.2 at ")
        assert line_of(d, "went back").rstrip().endswith(", by you; u takes it back")


@pytest.mark.parametrize("key", ["n", "escape", "enter", "q"])
async def test_every_other_key_goes_nowhere(reading, manager, key):
    async with reading() as d:
        await d.press("j", "j", "minus")
        await d.screen(ConversationScreen)
        await d.press(key)
        await d.until(lambda: not isinstance(d.app.screen, ConversationScreen))
        assert marks(manager) == []


async def test_a_chosen_prompt_goes_back_to_before_it_and_comes_back_into_the_box(reading):
    async with reading() as d:
        await d.press("]", "]", "minus")
        await d.screen(ConversationScreen)
        await d.shows("Go back to the end of turn 2")
        await d.shows("comes back into the prompt box: and an index")
        await d.press("y")
        await d.until(lambda: marks(d.manager) == [(MarkKind.REWIND, 2, None)])
        await d.until(lambda: d.main.detail.prompt.input.text == "and an index")


async def test_a_draft_is_not_replaced_by_a_prompt_that_comes_back(reading):
    async with reading() as d:
        await d.press("i", *"my own", "escape")
        await d.press("]", "]", "minus")
        await d.screen(ConversationScreen)
        await d.shows("the draft in the prompt box stays: my own")
        await d.press("y")
        await d.until(lambda: marks(d.manager) == [(MarkKind.REWIND, 2, None)])
        assert d.main.detail.prompt.input.text == "my own"


async def test_the_first_prompt_goes_back_to_the_beginning(reading):
    async with reading() as d:
        await d.press("minus")
        await d.screen(ConversationScreen)
        await d.shows("Go back to the beginning")
        await d.press("y")
        await d.until(lambda: marks(d.manager) == [(MarkKind.REWIND, None, None)])


async def test_a_refusal_is_shown_in_the_dialog_which_stays(reading, manager, monkeypatch):
    refusal = UsageError("Session done0001 changed meanwhile. Nothing was done.")
    monkeypatch.setattr(manager.store.marks, "add", failing(refusal))
    async with reading() as d:
        await d.press("j", "j", "minus")
        await d.screen(ConversationScreen)
        await d.press("y")
        await d.shows("changed meanwhile. Nothing was done.")
        await d.screen(ConversationScreen)


@pytest.mark.parametrize("size", SIZES)
async def test_a_fork_begins_with_a_prompt_and_is_selected(reading, manager, size):
    async with reading(size=size) as d:
        await d.press("j", "j", "B")
        await d.screen(ConversationScreen)
        await d.shows('Fork "write the migration" at the end of turn 1' if size[0] > 50 else 'Fork "write the mi')
        await d.shows("I would add a column.")
        await d.press(*"try a view", "enter")
        made = await forked(d, "try a view", 1)
        told = d.main.requests.log.newest_first()[0].text
        assert told == f'Forked "write the migration" as "try a view" {made.short_id}'
        await d.until(lambda: d.main.current.id == made.id)


async def test_a_retold_fork_says_so(reading):
    async with reading() as d:
        await d.press("j", "j", "B")
        await d.shows("retold: claude reads the conversation up to there as text")


async def test_the_prompt_of_a_fork_is_kept_until_it_is_forked(reading):
    async with reading() as d:
        await d.press("j", "j", "B", *"half a", "escape")
        await d.until(lambda: not isinstance(d.app.screen, ConversationScreen))
        await d.press("B")
        await d.screen(ConversationScreen)
        await d.until(lambda: d.app.screen.query_one(PromptInput).text == "half a")


async def test_a_fork_at_a_prompt_offers_that_prompt(reading):
    async with reading() as d:
        await d.press("]", "B")
        await d.screen(ConversationScreen)
        await d.until(lambda: d.app.screen.query_one(PromptInput).text == "use a table instead")
        await d.press("enter")
        await forked(d, "use a table instead", 1)


async def test_nothing_can_be_forked_before_the_first_prompt(reading):
    async with reading() as d:
        await d.press("B")
        await d.shows("Nothing comes before the first prompt.")


async def test_a_fork_without_a_prompt_does_nothing(reading, manager):
    async with reading() as d:
        await d.press("j", "j", "B")
        await d.screen(ConversationScreen)
        await d.press("enter")
        await d.screen(ConversationScreen)
        assert manager.begun() == []


async def test_enter_on_the_first_line_of_a_fork_opens_its_origin_at_the_step(reading, manager):
    made = manager.conversation.fork("done0001", 1, 1, "try a view")
    async with reading() as d:
        await d.press("G")
        await d.shows(f'⑂ step 1.1 was forked: "try a view" ({made.short_id}) at ')
        await d.select(made.id)
        await d.shows('⑂ forked from step 1.1 of "write the migration" (done0001) at ')
        await d.press("g g", "enter")
        await d.until(lambda: d.main.current.id == "done0001")
        await d.until(lambda: d.steps.current is not None and d.steps.current.command == "ls migrations")


async def test_enter_on_the_line_of_a_fork_in_its_origin_opens_the_fork(reading, manager):
    made = manager.conversation.fork("done0001", 3, None, "try a view")
    async with reading() as d:
        await d.press("G", "enter")
        await d.until(lambda: d.main.current.id == made.id)


async def test_u_takes_the_newest_step_back_back_after_a_question(reading, manager):
    mark = manager.mark("done0001", MarkKind.REWIND, turn=1)
    async with reading() as d:
        await d.until(lambda: is_cut(d, "The table is made."))
        await d.press("u")
        await d.screen(ConversationScreen)
        await d.shows("went back to the end of turn 1")
        await d.shows("2 turns, 5 steps")
        await d.press("y")
        await d.until(lambda: manager.store.marks.of_session("done0001")[-1].undoes == mark)
        await d.until(lambda: not is_cut(d, "The table is made."))
        await d.shows('↷ took back "went back to the end of turn 1"')


async def test_u_without_a_step_back_undoes_the_last_delete_as_everywhere(reading, manager):
    async with reading() as d:
        await d.press("u")
        await d.shows("Nothing to undo.")


async def test_a_mark_of_another_front_end_appears(reading, manager):
    async with reading() as d:
        assert not is_cut(d, "The table is made.")
        manager.mark("done0001", MarkKind.REWIND, turn=1)
        await d.until(lambda: is_cut(d, "The table is made."))


async def test_a_search_finds_what_was_cut_and_shows_that_it_was(reading, manager):
    manager.mark("done0001", MarkKind.REWIND, turn=1)
    async with reading() as d:
        await d.press("slash", *"index is made", "enter")
        await d.shows("1 of 1")
        assert is_cut(d, "The index is made.")


async def test_the_cut_is_visible_in_ascii_too(dashboard, talk):
    talk.mark("done0001", MarkKind.REWIND, turn=1)
    async with dashboard(plain_ascii=True) as d:
        await d.select("done0001")
        await d.press("enter")
        await d.shows("The index is made.")
        assert ": * The index is made." in line_of(d, "The index is made.")
        assert "< went back to the end of turn 1" in d.text()


async def test_a_working_session_is_refused_with_the_reason(dashboard, manager):
    manager.tell("running1", TALK[:3])
    async with dashboard() as d:
        await d.select("running1")
        await d.press("enter")
        await d.shows("I would add a column.")
        await d.press("minus")
        await d.shows("is running: its conversation can be changed when the turn has ended.")


@pytest.mark.parametrize("key", ["B", "minus", "C", "u"])
async def test_a_read_only_dashboard_changes_no_conversation(reading, manager, key):
    manager.mark("done0001", MarkKind.REWIND, turn=1)
    async with reading(settings=DashboardSettings(read_only=True)) as d:
        await d.press("j", key)
        await d.shows("The dashboard is read-only.")


async def test_the_commands_have_the_names_of_the_actions(reading):
    async with reading() as d:
        await d.press("j", "j", "colon", *"rewind", "enter")
        await d.screen(ConversationScreen)
        await d.shows("Go back to the end of turn 1")


async def test_a_session_that_went_back_opens_at_the_line_of_that(dashboard, talk):
    talk.mark("done0001", MarkKind.REWIND, turn=1)
    async with dashboard() as d:
        await d.select("done0001")
        await d.shows("went back")
        await d.until(lambda: d.main.detail.steps.current.text.startswith("went back"))


async def test_y_in_the_table_copies_the_last_answer_that_was_not_cut(dashboard, talk):
    talk.mark("done0001", MarkKind.REWIND, turn=2)
    async with dashboard() as d:
        await d.select("done0001")
        await d.press("y")
        await d.until(lambda: d.app.clipboard == "The table is made.")


async def test_a_fork_has_the_sign_of_forks_in_its_row(dashboard, talk):
    talk.conversation.fork("done0001", 2, 1, "try a view")
    async with dashboard() as d:
        await d.shows("⑂ try a view")


async def test_a_compaction_says_for_what_the_summary_stands_and_takes_wishes(reading, manager):
    async with reading() as d:
        await d.press("C")
        await d.screen(ConversationScreen)
        await d.shows("3 turns: the agent goes on from the summary alone")
        await d.press(*"keep the paths", "enter")
        await d.sent("done0001", "/compact keep the paths")
        manager.end("done0001")
        await d.press("G")
        await d.shows("≡ a summary stands for 3 turns at ")
        assert not is_cut(d, "The table is made.")
