"""The prompt box: a sign and a hint below a rule that shows where the text goes."""

import pytest

from agentdash.sessions.model.session import Status
from agentdash.widgets.inputs.prompt_box import PromptInput
from pilot.examples import session


@pytest.mark.parametrize("size", [(160, 45), (80, 24)])
async def test_an_empty_box_takes_two_lines_and_invites_to_write(dashboard, size):
    async with dashboard(size=size) as d:
        await d.select("done0001")
        await d.press("enter")
        await d.shows("→ write the migration (turn 4) ──")
        rule, hint, _ = d.text().split("\n")[-3:]
        assert "→ write the migration" in rule
        assert "❯ Reply" in hint  # noqa: RUF001 - the prompt's own character
        await d.press("i", *"also")
        _, text, _ = d.text().split("\n")[-3:]
        assert "❯ also" in text  # noqa: RUF001
        assert "Reply" not in text


async def test_in_ascii_it_has_ascii_signs(dashboard):
    async with dashboard(plain_ascii=True) as d:
        await d.select("done0001")
        await d.shows("> write the migration (turn 4) --")
        await d.shows("> Reply")


async def test_a_plain_command_refuses_a_prompt_at_once(dashboard, manager):
    manager.put(session("command1", Status.DONE, "make lint", created=9, agent="command"))
    async with dashboard() as d:
        await d.select("command1")
        await d.shows("plain command: no prompts ──")
        await d.press("i", *"zz")
        assert not isinstance(d.app.focused, PromptInput)
        assert d.main.detail.prompt.input.text == ""
        assert d.main.requests.log.newest_first()[0].text == '"make lint" is a plain command: no prompts.'
