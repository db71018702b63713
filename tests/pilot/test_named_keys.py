"""Texts name the keys in force: with every key in another place, no text has a key of the defaults."""

import re
from pathlib import Path

import pytest

from agentdash.sessions.model.session import Step, StepKind
from agentdash.sessions.rules.conversation.marks import MarkKind
from agentdash.sessions.service.projects.file import NAME
from agentdash.sessions.settings.config import Config
from agentdash.tui.dialogs.help import HelpScreen
from agentdash.tui.dialogs.starting.new_session import NewSessionScreen
from agentdash.tui.keys.action import Place
from agentdash.tui.keys.actions import REGISTRY
from agentdash.tui.keys.keymap import DEFAULT, keymap
from agentdash.tui.messages import SettingsRead
from agentdash.tui.panes.checklist import TOUR
from pilot import test_every_action as every
from pilot.test_every_action import programs, today  # noqa: F401 - fixtures

_FIRST_LETTER = 0x4E00
"""A letter that no keyboard of the defaults types, so that a key is told apart from every word."""


def _moved():
    """Give every action that can have another key one that nothing else has."""
    free = [action for action in REGISTRY.values() if not action.fixed]
    in_prompt = [action for action in free if Place.PROMPT in action.where and action.where == {Place.PROMPT}]
    keys = {action.id: f"f{13 + number}" for number, action in enumerate(in_prompt)}
    return keymap(keys | {a.id: chr(_FIRST_LETTER + n) for n, a in enumerate(free) if a.id not in keys})


MOVED = _moved()

IN_FILE = "[keys]\n" + "".join(f'"{name}" = "{keys[0]}"\n' for name, keys in MOVED.changed.items())

_DOES = "shows|opens|takes|to|starts|ends|end|lists|clears|again"


def _hint(action):
    """Match a default key of an action in front of what it does."""
    label = f"{re.escape(action.label)}|" if action.label and not action.keys.isdigit() else ""
    keys = "|".join(re.escape(DEFAULT.shown(key)) for key in action.named)
    return re.compile(rf"(?:(?<![^\s:(·])(?:{keys}) (?:{label}{_DOES})\b)|\b(?:F\d|Ctrl\+[A-Z])\b")


HINTS = {action.id: _hint(action) for action in REGISTRY.values() if not action.fixed}


class MovedKeys(every.Keys):
    """Presses the keys in force, and checks what the screen names meanwhile."""

    async def __call__(self, *names):
        for name in names:
            await self.d.press(MOVED.keys(REGISTRY[name])[0])
            check(self.d)


def check(d):
    """A dialog has keys of its own; a screen of sessions has those of the settings."""
    if not d.app.screen.is_modal:
        text = d.text().replace("Ctrl+C again to quit", "").replace("/ search all steps", "")
        assert not [found.group() for hint in HINTS.values() if (found := hint.search(text))]


def scenarios():
    return [one for one in every.all_scenarios() if one.id not in OWN_KEYS]


OWN_KEYS = {
    "continues_a_session", "groups_and_folds", "suspends", "follows", "changes_the_conversation",
    "hands_the_selected_session_to_programs",
}  # fmt: skip
"""Scenarios that press or expect keys themselves."""


@pytest.mark.parametrize(("function", "names", "size"), scenarios())
async def test_no_screen_names_a_key_that_was_moved(function, names, size, dashboard, programs):  # noqa: F811
    async with dashboard(size=size, keymap=MOVED) as d:
        d.steps, d.programs, d.suspended = d.main.detail.steps, programs, []
        d.manager.configure(IN_FILE)  # settings that change while it runs are read as a whole, with their keys
        check(d)
        await function(d, MovedKeys(d))
        check(d)


FAILED_START = Step(
    turn=1, index=1, kind=StepKind.ERROR, text="exit 127", fatal=True, command="codex exec -", exit_code=127,
    output="codex: not found",
)  # fmt: skip
KEYS = keymap({
    "retry": "f9", "steps.stderr": "f10", "steps.explain": "", "steps.all": "Z", "steps.open": "f5",
    "steps.page_file": "f11", "table.mark_range": "%", "trust": ["~", "f7"], "prompt.new_line": "f12", "stop": "f3",
    "meter": "",
})  # fmt: skip


async def test_a_failed_start_names_the_keys_in_force(dashboard, manager):
    manager.tell("failed01", [Step(turn=1, index=0, kind=StepKind.PROMPT, text="add dark mode"), FAILED_START])
    async with dashboard(keymap=KEYS) as d:
        await d.select("failed01")
        await d.shows("codex: not found")
        await d.shows("F9 retry   F10 stderr")
        assert "why" not in d.text()
        d.app.post_message(SettingsRead(Config()))
        await d.shows("R retry   g E stderr   g e why")


async def test_a_list_without_steps_of_a_kind_names_the_key_that_shows_all(dashboard):
    async with dashboard(keymap=KEYS) as d:
        await d.select("done0001")
        await d.press("enter", "3")
        await d.shows("no steps of this kind: Z shows all")


async def test_a_long_stderr_names_the_key_that_opens_the_file(dashboard, manager, monkeypatch):
    monkeypatch.setattr(manager.reader.outputs, "stderr_tail", lambda ref, turn=None: ("the end", 5_000_000))
    async with dashboard(keymap=KEYS) as d:
        await d.press("enter", "f10")
        await d.shows("before this not shown: F11 opens the whole file")


async def test_an_open_range_names_the_key_that_ends_it(dashboard):
    async with dashboard(keymap=KEYS) as d:
        await d.press("%", "j")
        await d.shows("2 marked: % end range")


@pytest.fixture
def untrusted(manager):
    """A project whose settings the user does not trust."""
    path = Path(manager.get("waiting1").cwd) / NAME
    path.write_text("[limits]\ntokens = 900\n")
    path.chmod(0o600)


@pytest.mark.usefixtures("untrusted")
async def test_the_dialog_of_a_start_names_the_keys_that_act_in_its_fields(dashboard):
    async with dashboard(keymap=KEYS) as d:
        await d.press("n")
        await d.screen(NewSessionScreen)
        await d.shows("not trusted, not in force. F7 shows it.")
        await d.shows("F12 new line")


@pytest.mark.usefixtures("untrusted")
async def test_the_dialog_of_a_start_names_no_key_that_types_text(dashboard):
    async with dashboard(keymap=keymap({"trust": "Z"})) as d:
        await d.press("n")
        await d.screen(NewSessionScreen)
        await d.shows("not trusted, not in force.")
        assert "shows it" not in d.text()


async def test_the_tour_names_the_keys_in_force(dashboard):
    async with dashboard(tour=TOUR, keymap=KEYS) as d:
        await d.shows("F3 stop a busy one")
        await d.press("question_mark")
        await d.screen(HelpScreen)
        await d.press("question_mark")
        await d.shows("try this")
        assert "F3                 stop a busy one" in d.text()
        await d.press("escape")
        d.app.post_message(SettingsRead(Config()))
        await d.shows("x stop a busy one")


async def test_keys_that_change_while_it_runs_are_named_in_messages(dashboard):
    async with dashboard() as d:
        d.app.post_message(SettingsRead(Config(keys={"undo": "Z"})))
        await d.until(lambda: d.app.keymap.name("undo") == "Z")
        await d.select("done0001")
        await d.press("A")
        await d.shows("Z to undo")


async def test_a_fork_names_the_key_that_opens_the_other_session(dashboard, manager):
    manager.mark("done0001", MarkKind.FORK, turn=1, origin="running1")
    async with dashboard(keymap=KEYS) as d:
        await d.select("done0001")
        await d.shows("F5 opens it")
