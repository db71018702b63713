"""Notifications and titles where they arrive: in tmux, in the terminal around it, and over SSH."""

import json
import os
import re
import subprocess
import sys

import pytest

AGENTDASH = f"{sys.executable} -m agentdash"
OF_A_TERMINAL = ("TMUX", "STY", "TERM_PROGRAM", "LC_TERMINAL", "KITTY_WINDOW_ID", "WEZTERM_PANE",
                 "GHOSTTY_RESOURCES_DIR", "ITERM_SESSION_ID", "KONSOLE_VERSION", "VTE_VERSION")  # fmt: skip


@pytest.fixture(autouse=True)
def no_terminal_around(monkeypatch):
    for name in OF_A_TERMINAL:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def waiting_run(manager, tmp_path):
    """A command that ends when it is told to."""
    os.mkfifo(tmp_path / "go")
    session = manager.run(["sh", "-c", f"read line < {tmp_path}/go"], title="the long build")
    manager.started(session.id)

    def end():
        (tmp_path / "go").write_text("\n")
        [ended] = manager.wait([session.id], timeout=60)
        assert ended.status == "done"

    return end


def test_a_bell_marks_the_window_that_nobody_looks_at(terminal, waiting_run, wait_until):
    terminal.start("agentdash")
    terminal.shows("● running", "the long build")
    terminal._run("new-window", "cat")

    def flag():
        return terminal._run("display-message", "-p", "-t", ":0", "#{window_bell_flag}").strip()

    assert flag() == "0"
    waiting_run()
    wait_until(lambda: flag() == "1", what="the bell")


@pytest.mark.smoke
def test_the_title_counts_and_comes_back(terminal, waiting_run, wait_until):
    terminal.start("printf '\\033]2;before\\033\\\\'; agentdash")
    wait_until(lambda: terminal.told("pane_title") == "1 running - agentdash", what="the count in the title")
    waiting_run()
    wait_until(lambda: terminal.told("pane_title") == "agentdash", what="the count to go")
    terminal.keys("q")
    terminal.shows("exited 0")
    wait_until(lambda: terminal.told("pane_title") == "before", what="the title from before")


def test_through_tmux_it_reaches_the_terminal_around(terminal, open_outer, waiting_run, manager, tmp_path, wait_until):
    (tmp_path / "config.toml").write_text('[notify]\nterminal = "osc777"\n')
    terminal.start("agentdash")
    terminal._run("set", "-g", "allow-passthrough", "on")
    terminal.shows("● running", "the long build")
    outer = open_outer([*terminal._base, "attach"], TERM="xterm-256color")
    wait_until(lambda: b"the long build" in outer.received, what="the dashboard in the outer terminal")
    waiting_run()
    wait_until(lambda: b"\x1b]777;notify;the long build;done\x1b\\" in outer.received, what="the notification")


def test_the_verb_sends_one_and_says_what(open_outer, manager, tmp_path, wait_until):
    told = tmp_path / "told.json"
    outer = open_outer(["sh", "-c", f"{AGENTDASH} notify --json 'are you there?' > {told}"], TERM="xterm-kitty")
    wait_until(lambda: b"are you there?\x1b\\" in outer.received, what="the notification")
    assert outer.received.startswith(b"\x1b]99;i=")
    wait_until(lambda: told.read_text().endswith("\n"), what="what was sent")
    assert json.loads(told.read_text()) == {
        "sent": True,
        "way": {"kind": "osc99", "why": "TERM", "tmux": False, "bell": False},
    }


def test_the_verb_takes_a_kind_and_needs_a_terminal(open_outer, manager, tmp_path, wait_until):
    (tmp_path / "config.toml").write_text('[notify]\nterminal = "off"\n')
    outer = open_outer(["sh", "-c", f"{AGENTDASH} notify --kind osc9 hello; {AGENTDASH} notify hello"], TERM="xterm")
    wait_until(lambda: b"notify.terminal is off" in outer.received, what="both")
    assert outer.received.count(b"\x1b]9;agentdash - hello\x1b\\sent OSC 9") == 1
    argv = [*AGENTDASH.split(), "notify", "--kind", "bell"]
    done = subprocess.run(argv, check=False, capture_output=True, text=True, start_new_session=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("agentdash: No terminal for the notification: ")


def test_over_ssh_it_reaches_the_terminal_at_home(ssh, open_outer, waiting_run, manager, tmp_path, wait_until):
    there = {"AGENTDASH_HOME": manager.reader.home, "AGENTDASH_CONFIG": tmp_path / "config.toml", "LC_ALL": "C.UTF-8"}
    env = " ".join(f"{name}={value}" for name, value in there.items())
    outer = open_outer([*ssh, f"env {env} {AGENTDASH}"], TERM="xterm-kitty")
    wait_until(lambda: b"the long build" in outer.received, what="the dashboard at home")
    assert b"\x1b]2;1 running - agentdash\x1b\\" in outer.received
    waiting_run()
    wait_until(lambda: b":p=body;done\x1b\\" in outer.received, what="the notification at home")
    assert outer.received.count(b":d=0;the long build\x1b\\") == 1
    outer.type(b"q")
    wait_until(lambda: outer.received.count(b"\x1b[23;2t") == 1, what="the title from before")


def test_of_several_panes_of_one_tmux_only_one_tells(terminal, open_outer, waiting_run, manager, tmp_path, wait_until):
    (tmp_path / "config.toml").write_text('[notify]\nterminal = "osc777"\n')
    terminal.start("agentdash")
    terminal._run("set", "-g", "allow-passthrough", "on")
    terminal.shows("● running", "the long build")
    terminal._run("split-window", "-h", f"{AGENTDASH} table")
    outer = open_outer([*terminal._base, "attach"], TERM="xterm-256color")

    def panes():
        return [terminal._run("capture-pane", "-p", "-t", f":0.{number}") for number in (0, 1)]

    def both_show(text):
        wait_until(lambda: all(text in pane for pane in panes()), what=f"{text!r} in both panes")

    both_show("the long build")
    wait_until(lambda: b"the long build" in outer.received, what="both panes in the outer terminal")
    waiting_run()
    both_show("✓")
    wait_until(lambda: notices(outer, "the long build"), what="its notification")
    for title in ("the second", "the third"):  # what is told of the first has come before both of these
        manager.wait([manager.run(["true"], title=title).id], timeout=60)
        both_show(title)
        wait_until(lambda title=title: notices(outer, title), what="its notification")
    assert [len(notices(outer, title)) for title in ("the long build", "the second")] == [1, 1]


IN_ANOTHER_WINDOW = [["new-window", "-d"]]
BEHIND_A_ZOOMED_PANE = [["split-window", "-d"], ["resize-pane", "-Z"]]


@pytest.mark.parametrize("ways", [IN_ANOTHER_WINDOW, BEHIND_A_ZOOMED_PANE], ids=["window", "zoom"])
def test_a_dashboard_that_is_hidden_takes_nothing_from_the_one_that_is_shown(
    terminal, open_outer, manager, tmp_path, wait_until, ways
):
    (tmp_path / "config.toml").write_text('[notify]\nterminal = "osc777"\n')
    manager.wait([manager.run(["true"], title="the one before").id], timeout=60)
    terminal.start("agentdash")
    terminal._run("set", "-g", "allow-passthrough", "on")
    opening, *hiding = ways
    hidden = terminal._run(*opening, "-P", "-F", "#{pane_id}", f"{AGENTDASH} table").strip()
    for words in hiding:
        terminal._run(*words)
    outer = open_outer([*terminal._base, "attach"], TERM="xterm-256color")

    def both_show(text):
        def there():
            return text in terminal.screen and text in terminal._run("capture-pane", "-p", "-t", hidden)

        wait_until(there, what=f"{text!r} in both")

    both_show("the one before")
    wait_until(lambda: b"the one before" in outer.received, what="the dashboard in the outer terminal")
    titles = [f"number {number}" for number in range(6)]
    for title in titles:
        manager.wait([manager.run(["true"], title=title).id], timeout=60)
        both_show(title)
        wait_until(lambda title=title: notices(outer, title), what=f"the notification of {title}")
    assert [len(notices(outer, title)) for title in titles] == [1] * len(titles)


def notices(outer, title):
    return re.findall(rb"\x1b\]777;notify;%s;done\x1b\\" % title.encode(), outer.received)
