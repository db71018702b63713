"""How an editor is told the line."""

from pathlib import Path

import pytest

from agentdash.tui.services.pager_editor import at_line, editor, pager, shell

FILE = Path("/home/ann/config.toml")


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["vim", "-u", "NONE"], ["vim", "-u", "NONE", "+7", str(FILE)]),
        (["/usr/bin/nano"], ["/usr/bin/nano", "+7", str(FILE)]),
        (["hx"], ["hx", f"{FILE}:7"]),
        (["code", "--wait"], ["code", "--wait", "--goto", f"{FILE}:7"]),
        (["my-editor"], ["my-editor", str(FILE)]),
    ],
)
def test_each_editor_has_its_own_way_to_a_line(argv: list[str], told: list[str]) -> None:
    assert at_line(argv, FILE, 7) == told
    assert at_line(argv, FILE, None) == [*argv, str(FILE)]


def test_the_variables_of_the_user_say_which() -> None:
    assert editor({"VISUAL": "emacs -nw", "EDITOR": "vi"}) == ["emacs", "-nw"]
    assert editor({"EDITOR": "vi"}) == ["vi"]
    assert pager({}) == ["less"]
    assert pager({"PAGER": "a 'b"}) == ["less"]
    assert shell({"SHELL": "/usr/bin/fish"}) == ["/usr/bin/fish"]
    assert shell({}) == ["/bin/sh"]
