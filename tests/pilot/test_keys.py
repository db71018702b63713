"""Other keys than by default, and the page that says which are in force."""

from agentdash.sessions.settings.config import Config
from agentdash.tui.dialogs.asking.confirm import ConfirmScreen
from agentdash.tui.dialogs.help import HelpScreen
from agentdash.tui.keys.keymap import keymap
from agentdash.tui.messages import SettingsRead
from agentdash.widgets.inputs.prompt_box import PromptInput


async def test_a_key_that_was_moved_acts_once_and_the_former_one_not_at_all(dashboard):
    async with dashboard(keymap=keymap({"kill": ["Z", "ctrl+x"]})) as d:
        await d.select("running1")
        await d.press("X", "x")
        await d.screen(ConfirmScreen)
        await d.press("n")
        await d.until(lambda: d.app.screen is d.main)
        assert d.manager.requests("running1") == []
        await d.press("Z")
        await d.requested("running1", "kill")


async def test_two_actions_that_change_keys_do_not_both_act(dashboard):
    async with dashboard(keymap=keymap({"theme": "z m", "mouse": "z t"})) as d:
        await d.press("z", "m")
        await d.shows("Theme: light")
        assert not d.app.mouse
        await d.press("z", "t")
        await d.shows("Mouse on")
        assert d.app.theme == "agentdash-light"


async def test_an_action_without_keys_has_none(dashboard):
    async with dashboard(keymap=keymap({"quit": "", "table.down": ""})) as d:
        await d.press("j", "down", "q")
        assert d.main.table.selected.id == "waiting1"
        assert d.app.is_running
        assert "quit" not in d.text()


async def test_the_keys_of_lists_can_be_moved(dashboard):
    async with dashboard(keymap=keymap({"table.down": "ctrl+n", "steps.down": "ctrl+n", "steps.copy": "f5"})) as d:
        await d.press("j", "down")
        assert d.main.table.selected.id == "waiting1"
        await d.press("ctrl+n")
        assert d.main.table.selected.id == "failed01"
        await d.press("k")
        await d.shows("also add a regression test")
        await d.press("enter", "g", "g", "ctrl+n")
        assert d.main.detail.steps.cursor == 1
        await d.press("f5")
        await d.until(lambda: d.app.clipboard.startswith("The failure depends"))


async def test_a_character_is_text_in_a_prompt_whatever_key_it_is(dashboard):
    async with dashboard(keymap=keymap({"mouse": "Z"})) as d:
        await d.press("i", *"Zq")
        assert d.main.detail.prompt.input.text == "Zq"
        assert not d.app.mouse


async def test_ctrl_q_does_nothing(dashboard):
    async with dashboard() as d:
        await d.press("i", *"half a thought", "ctrl+q")
        assert d.app.is_running
        assert d.main.detail.prompt.input.text == "half a thought"


async def test_footer_help_palette_and_hints_say_the_keys_in_force(dashboard):
    moved = keymap({"write_prompt": "ctrl+w", "undo": "Z", "prompt.new_line": "ctrl+l"})
    async with dashboard(keymap=moved) as d:
        await d.select("done0001")
        await d.shows("Ctrl+W prompt")
        await d.press("A")
        await d.shows("Z to undo")
        await d.press("ctrl+p", *"prompt")
        await d.shows("prompt (Ctrl+W)")
        await d.press("escape")
        await d.until(lambda: d.app.screen is d.main)
        await d.press("ctrl+w")
        assert isinstance(d.app.focused, PromptInput)
        await d.shows("Ctrl+L new line")


async def test_the_help_is_filtered_by_typing_and_scrolls(dashboard):
    async with dashboard(size=(80, 24)) as d:
        await d.press("question_mark")
        await d.screen(HelpScreen)
        await d.shows("w next for you")
        assert all(title in d.text() for title in ("g  go to", "z  view", "m  this session", "Esc close"))
        await d.press(*"trash")
        await d.shows("move the session to the trash")
        assert "next for you" not in d.text()
        await d.press(*["backspace"] * 5)
        await d.shows("next for you")
        await d.press("question_mark")
        await d.shows("next session")
        await d.press("pagedown")
        await d.until(lambda: "next session" not in d.text())
        await d.press("pageup")
        await d.shows("next session")
        await d.press("escape")
        await d.until(lambda: d.app.screen is d.main)


async def test_the_help_begins_with_what_is_valid_here(dashboard):
    async with dashboard(size=(80, 24)) as d:
        await d.press("enter", "question_mark")
        await d.screen(HelpScreen)
        await d.shows("first new step")  # of the menu, in the steps
        await d.press("question_mark")
        await d.shows("next step (long steps")
        assert "next session" not in d.text()


async def test_other_settings_are_taken_over_at_once_and_broken_ones_change_nothing(dashboard):
    async with dashboard() as d:
        await d.shows("q quit")
        assert "follow" not in d.text().splitlines()[-1]  # it is in a menu
        d.app.post_message(SettingsRead(Config(keys={"follow": "Z"})))
        await d.until(lambda: d.app.keymap.name("follow") == "Z")
        await d.press("f", "j")
        assert d.main.detail.steps.following
        await d.shows("Z follow")
        await d.press("Z")
        await d.shows("follow: off (Z)")
        d.app.post_message(SettingsRead(Config(keys={"follow": "n"})))
        await d.shows("keys.follow: n cannot be bound")
        assert d.app.keymap.name("follow") == "Z"


async def test_settings_that_somebody_writes_are_in_force_without_a_key(dashboard):
    async with dashboard() as d:
        await d.shows("q quit")
        path = d.manager.reader.settings.path
        path.write_text('[keys]\nfollow = "Z"\n')
        await d.shows("Z follow")
        path.write_text("[keys\n")
        await d.shows("config.toml")
        assert d.app.keymap.name("follow") == "Z"
        path.unlink()
        await d.until(lambda: "Z follow" not in d.text())
