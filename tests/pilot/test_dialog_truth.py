"""The dialog that starts a session, over the real manager: what it shows is what runs."""

import json
import shlex
import stat
from typing import Any

import pytest
from isolation import work_folder
from msgspec import structs
from textual.app import App

from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.manager import SessionManager
from agentdash.tui.dialogs.starting.new_session import NewSessionScreen
from agentdash.tui.dialogs.starting.offer import Offer

SETTINGS = {
    "plain": "",
    "danger": "full_danger = true\n",
    "own mode": "{mode_key} = {other!r}\nmodel = 'm-1'\nargs = ['--own']\n",
}
LIKE: dict[str, dict[str, Any]] = {
    "nothing": {},
    "danger": {"full_danger": True},
    "no danger": {"full_danger": False},
    "a mode": {"{mode_key}": "{other}", "full_danger": False},
    "more": {
        "args": ["--x", "a b"],
        "limits": {"wall_seconds": 600.0, "tokens": 5000},
        "stop": {"after_turn": "sweep"},
    },
}  # fmt: skip
AGENTS = {
    "codex": ("sandbox", "read-only", "workspace-write", "no-sandbox", "--dangerously-bypass-approvals-and-sandbox"),
    "claude": ("permission_mode", "plan", "acceptEdits", "no-checks", "--dangerously-skip-permissions"),
}
MODES = {"codex": "-s", "claude": "--permission-mode"}


class Host(App):
    """Nothing but the dialog."""

    CSS_PATH = "../../tui/agentdash.tcss"

    def get_theme_variable_defaults(self):
        from agentdash.widgets.drawing.roles import VARIABLES

        return VARIABLES


@pytest.fixture
def manager(tmp_path, monkeypatch):
    """A real manager whose agents are a program that does nothing."""
    monkeypatch.setenv("HOME", str(tmp_path))
    program = tmp_path / "agent"
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(stat.S_IRWXU)
    with SessionManager() as manager:
        yield manager


@pytest.fixture
def configure(tmp_path):
    def write(agent, settings):
        words = {"mode_key": AGENTS[agent][0], "other": AGENTS[agent][1]}
        program = f"live = false\nbin = '{tmp_path}/agent'\n"
        (tmp_path / "config.toml").write_text(f"[agents.{agent}]\n{program}{SETTINGS[settings].format(**words)}")

    return write


class Dialog:
    """The dialog on a screen of its own, and what was started from it."""

    def __init__(self, manager, first):
        self.manager, self.started = manager, None
        self.offer = Offer(agents=manager.reader.settings.agents(), first=first)

    async def _plan(self, start):
        return self.manager.reader.plan(structs.replace(start, prompt=start.prompt.strip() or "PROMPT")), None

    async def _start(self, start):
        session = self.manager.spawn(start)
        self.started = self.manager.store.launch(session.id, 1)

    async def run(self, *keys):
        """Press keys in the dialog; what it showed last, and the danger that it told."""
        host = Host()
        async with host.run_test(size=(140, 45)) as pilot:
            screen = NewSessionScreen(self.offer, self._plan, self._start)
            await host.push_screen(screen)
            await pilot.press(*keys)
            await settled(pilot, screen)
            shown = str(screen._command.render())
            chosen = screen.fields.mode.value
            danger = screen._danger.display
            beside = str(screen._beside.render()) if screen._beside.display else ""
            await pilot.press("enter")
            await settled(pilot, screen)
        return shown, chosen, danger, beside


async def settled(pilot, screen):
    """Wait until nothing is worked out any more."""
    await pilot.pause()
    while not all(worker.is_finished for worker in screen.workers):
        await pilot.pause(0.01)
    await pilot.pause()


def request(agent, like, tmp_path):
    words = {"{mode_key}": AGENTS[agent][0], "{other}": AGENTS[agent][1]}
    options = {words.get(key, key): words.get(value, value) if isinstance(value, str) else value
               for key, value in LIKE[like].items()}  # fmt: skip
    return Start("go", agent=agent, cwd=work_folder(tmp_path), options=options, model=None)


@pytest.mark.parametrize("steps", [0, 1])
@pytest.mark.parametrize("like", LIKE)
@pytest.mark.parametrize(("agent", "settings"), [("codex", "danger"), ("claude", "plain"), ("codex", "own mode")])
async def test_the_command_that_is_shown_is_the_one_that_runs(
    manager, configure, tmp_path, agent, settings, like, steps
):
    configure(agent, settings)
    unlimited, flag = AGENTS[agent][3:]
    dialog = Dialog(manager, request(agent, like, tmp_path))
    shown, chosen, danger, _ = await dialog.run("tab", "tab", *["right"] * steps)
    argv = list(dialog.started.argv)
    assert shown.split() == f"$ {shlex.join(argv)}".split()
    if chosen == unlimited:
        assert flag in argv
        assert MODES[agent] not in argv
    else:
        assert flag not in argv
        assert argv[argv.index(MODES[agent]) + 1] == chosen
    assert danger == (chosen in (unlimited, "danger-full-access", "bypassPermissions"))


async def test_a_live_codex_is_shown_with_the_line_that_sets_its_sandbox(manager, tmp_path):
    (tmp_path / "config.toml").write_text(f"[agents.codex]\nbin = '{tmp_path}/agent'\n")
    dialog = Dialog(manager, request("codex", "nothing", tmp_path))
    shown, chosen, _, _ = await dialog.run("tab", "tab", "right")
    command, line = shown.split("← ")
    assert command.split() == ["$", *dialog.started.argv]
    assert (chosen, "".join(line.split())) == ("danger-full-access", "".join(dialog.started.opening[-1].split()))
    assert json.loads(dialog.started.opening[-1])["params"]["sandbox"] == chosen


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(("settings", "like"), [("plain", "danger"), ("danger", "nothing")])
async def test_full_danger_is_the_chosen_value(manager, configure, tmp_path, agent, settings, like):
    configure(agent, settings)
    dialog = Dialog(manager, request(agent, like, tmp_path))
    _, chosen, danger, _ = await dialog.run()
    assert (chosen, danger) == (AGENTS[agent][3], True)


async def test_what_the_command_does_not_show_stands_beside_it(manager, configure, tmp_path):
    configure("codex", "plain")
    dialog = Dialog(manager, request("codex", "more", tmp_path))
    shown, _, _, beside = await dialog.run()
    assert "--x 'a b'" in " ".join(shown.split())
    assert "limits: wall 10m, 5,000 tokens" in beside
    assert "leftover processes are ended after the turn" in beside


async def test_another_agent_takes_neither_the_model_nor_the_arguments_of_the_first(manager, tmp_path):
    (tmp_path / "config.toml").write_text(
        f"[agents.codex]\nbin = '{tmp_path}/agent'\n[agents.claude]\nbin = '{tmp_path}/agent'\n"
    )
    options = {"full_danger": True, "args": ["--search"]}
    first = Start("go", agent="codex", cwd=work_folder(tmp_path), model="gpt-5.5", options=options)
    dialog = Dialog(manager, first)
    _, chosen, danger, _ = await dialog.run("tab", "right")
    assert (chosen, danger) == ("acceptEdits", False)
    assert not {"gpt-5.5", "--search", "--dangerously-skip-permissions"} & set(dialog.started.argv)
    _, chosen, _, _ = await Dialog(manager, first).run("tab", "right", "left")
    assert chosen == "no-sandbox"
