"""How each kind of step looks: in the list at three widths and in two themes, and each in a pane of its own.

After a change that was meant: ``pytest tests/pilot/test_kinds.py --snapshot-update``, and look at the difference.
"""

import time

import pytest
from every_kind import STEPS

from agentdash.sessions.model.session import StepKind
from pilot.test_snapshots import drawn, fixed_words, screen  # noqa: F401 - fixtures


@pytest.fixture
def kinds(dashboard, manager, monkeypatch):
    """A session with a step of every kind, alone on the screen."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()

    class Kinds:
        def __init__(self, size, theme="dark"):
            manager.tell("waiting1", STEPS)
            self.running, self.theme = dashboard(size=size), theme

        async def __aenter__(self):
            d = await self.running.__aenter__()
            d.app.theme = f"agentdash-{self.theme}"
            await d.press("vertical_line")
            await d.shows("401 invalid API key:")
            d.steps = d.app.screen.detail.steps
            return d

        async def __aexit__(self, *exc):
            return await self.running.__aexit__(*exc)

    yield Kinds
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("size", [(160, 72), (80, 80), (50, 96)], ids="{0[0]}x{0[1]}".format)
async def test_list(kinds, screen, size, theme):  # noqa: F811
    async with kinds(size, theme) as d:
        await d.press("g g")
        assert drawn(d.app) == screen


async def test_briefly(kinds, screen):  # noqa: F811
    async with kinds((80, 30)) as d:
        await d.press("z f", "z f", "g g")
        await d.shows("one line each")
        assert drawn(d.app) == screen


async def test_whole(kinds, screen):  # noqa: F811
    async with kinds((80, 110)) as d:
        await d.press("z f", "g g")
        await d.shows("run 30: 19 passed")
        assert drawn(d.app) == screen


PANES = {
    StepKind.MESSAGE: 14,
    StepKind.COMMAND: 4,
    StepKind.FILE_CHANGE: 10,
    StepKind.TOOL_CALL: 5,
    StepKind.UNKNOWN: 17,
}


@pytest.mark.parametrize("kind", PANES, ids=str)
async def test_pane(kinds, screen, kind):  # noqa: F811
    async with kinds((80, 40)) as d:
        await d.press("g g")
        d.steps.go(PANES[kind])
        await d.press("enter")
        await d.shows(f"turn {STEPS[PANES[kind]].turn} · step {STEPS[PANES[kind]].index}")
        assert drawn(d.app) == screen
