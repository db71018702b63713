"""A prompt that is written with the editor, a completed path and an earlier prompt, in a real terminal."""

import pytest

from agentdash.sessions.rules.launch import Start

pytestmark = pytest.mark.usefixtures("scripted_agent")


def test_a_prompt_goes_through_the_editor_and_back(manager, terminal, wait_until, tmp_path, monkeypatch):
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nstat -c %a "$1" > mode\nprintf "and the docs of @" >> "$1"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(editor))
    (tmp_path / "guide.md").touch()
    quick = {"script": "quick", "speed": 40.0}
    texts = ("an unusual prompt", "the only one")
    past, session = manager.wait(
        [manager.spawn(Start(text, agent="scripted", title=text[:8], options=quick)).id for text in texts], timeout=60
    )
    manager.housekeeping.archive(past.id)
    terminal.start("agentdash")
    terminal.shows("the only")
    terminal.keys("i")
    terminal.type("fix it")
    terminal.keys("C-g")
    terminal.shows("and the docs of @")
    assert (tmp_path / "mode").read_text() == "600\n"
    terminal.type("gui")
    terminal.shows("  guide.md")
    terminal.keys("Tab", "Enter")
    sent = "fix it\nand the docs of @guide.md"
    wait_until(lambda: [one.text for one in manager.reader.prompts(session.id)][1:] == [sent], what="the prompt")
    terminal.keys("i", "C-r")
    terminal.shows("Earlier prompts")
    terminal.type("unusual")
    terminal.keys("Enter")
    terminal.shows("❯ an unusual prompt")  # noqa: RUF001 - the prompt's own character
    terminal.keys("Enter")
    wait_until(lambda: len(manager.reader.prompts(session.id)) == 3, what="the earlier prompt again")
    assert manager.reader.prompts(session.id)[-1].text == "an unusual prompt"
