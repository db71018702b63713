"""The menus of keys in a real terminal: the panel appears over the footer and goes, and quick typing never draws it."""

import pytest

from agentdash.sessions.rules.launch import Start

pytestmark = pytest.mark.usefixtures("scripted_agent")

PANEL = "Esc close"


@pytest.fixture
def read(manager, terminal):
    """The scripted agent's session, in a dashboard of a chosen size."""

    def start(**size):
        session = manager.spawn(Start("Fix it [[script:done]]", agent="scripted", options={"script": "done"}))
        manager.wait([session.id], timeout=60)
        terminal.start("agentdash", **size)
        terminal.shows("Fix it", "? help")

    return start


@pytest.mark.smoke
@pytest.mark.parametrize("size", [(160, 45), (80, 24), (50, 24)])
def test_a_panel_comes_over_the_footer_and_leaves_the_screen_as_it_was(read, terminal, size):
    read(width=size[0], height=size[1])
    for key, title, entry in (("g", "go to", "u usage"), ("z", "view", "d density"), ("m", "this session", "r rename")):
        terminal.keys(key)
        screen = terminal.shows(f"{key}  {title}", PANEL, entry)
        lines = screen.rstrip("\n").split("\n")
        assert len(lines) == size[1]
        panel = lines[next(row for row, line in enumerate(lines) if PANEL in line) :]
        assert len(panel) <= size[1] // 2
        assert all(len(line) <= size[0] for line in panel)
        assert "? help" not in screen  # the footer is below it
        terminal.keys("Escape")
        terminal.lacks(PANEL)
        terminal.keys("j")
        terminal.shows("? help")


def test_two_keys_at_once_act_and_the_panel_is_never_written(read, terminal, tmp_path):
    read()
    written = tmp_path / "written"
    terminal.record(written)
    terminal.keys("g", "u")
    terminal.shows("Usage")
    terminal.keys("Escape")
    terminal.shows("? help")
    assert b"Usage" in written.read_bytes()
    assert PANEL.encode() not in written.read_bytes()
