"""Reading in a real terminal: other programs and back, the clipboard, watching, and turn files as agents write them."""

import json
import subprocess
import sys

import pytest

from agentdash.sessions.rules.launch import Start

pytestmark = pytest.mark.usefixtures("scripted_agent")

AGENTDASH = (sys.executable, "-m", "agentdash")


@pytest.fixture
def read(manager, terminal, monkeypatch):
    """The scripted agent's session that ended well, open in the dashboard, with the keys in its steps."""

    def start(prompt="Fix the login test [[script:done]]", command="agentdash", pager="less", **size):
        session = manager.spawn(Start(prompt, agent="scripted", options={"script": "done", "speed": 40.0}))
        manager.wait([session.id], timeout=60)
        monkeypatch.setenv("PAGER", pager)
        monkeypatch.setenv("LESS", "")
        terminal.start(command.format(id=session.id), **size)
        terminal.shows("✦ The test read the real clock", "Σ ")
        if command == "agentdash":
            terminal.keys("Enter")
            terminal.shows("/ search")
        return session

    return start


@pytest.mark.smoke
def test_the_step_and_the_raw_file_in_less_and_back(read, terminal):
    session = read()
    terminal.keys("o")
    terminal.shows("(END)", "The test read the real clock")
    terminal.lacks("/ search")
    terminal.keys("q")
    terminal.shows("/ search")
    terminal.keys("O")
    terminal.shows('"type"')
    terminal.lacks("/ search")
    terminal.keys("q")
    terminal.shows("/ search", session.title[:20])


def test_an_interrupt_belongs_to_the_pager_as_long_as_it_has_the_terminal(read, terminal):
    read()
    terminal.keys("k", "o")
    terminal.shows("(END)")
    terminal.keys("C-c")
    # less drops a key that it reads while it handles an interrupt.
    terminal.press_until("=", "byte")
    terminal.keys("q")
    terminal.shows("/ search", "follow: off (z F)")
    terminal.keys("C-c")
    terminal.shows("Press Ctrl+C again to quit")


def test_a_pager_that_an_interrupt_ends_is_the_only_one_that_ends(read, terminal):
    read(pager="sh -c 'echo reading; exec sleep 600'")
    terminal.keys("k", "o")
    terminal.lacks("/ search")
    terminal.keys("C-c")
    terminal.shows("/ search", "follow: off (z F)")


def test_ctrl_z_in_the_pager_suspends_both_and_fg_comes_back_to_it(manager, terminal, monkeypatch):
    monkeypatch.setenv("PAGER", "less")
    monkeypatch.setenv("LESS", "")
    manager.wait([manager.run(["echo", "hello"], title="a command").id], timeout=60)
    terminal.start("bash --norc")
    terminal.type("agentdash")
    terminal.keys("Enter")
    terminal.shows("hello")
    terminal.keys("Enter")
    terminal.shows("/ search", "$ echo hello")  # the row alone shows the answer, too
    terminal.keys("O")
    terminal.shows("(END)")
    terminal.keys("C-z")
    terminal.shows("Stopped")
    terminal.type("fg")
    terminal.keys("Enter")
    terminal.shows("(END)")
    terminal.keys("q")
    terminal.shows("/ search", "a command")


def test_an_editor_that_is_missing_is_told(read, terminal, monkeypatch):
    monkeypatch.setenv("VISUAL", "no-such-editor --wait")
    read()
    terminal.keys("v")
    terminal.shows("no-such-editor is not installed.")


def test_y_reaches_the_clipboard_of_the_terminal(read, terminal):
    read()
    terminal._run("set", "-s", "set-clipboard", "on")
    terminal.keys("y")
    terminal.shows("Copied message")
    assert "All 19 tests pass." in terminal._run("show-buffer")


def test_watching_alone_in_a_small_pane(read, terminal):
    read(command="agentdash watch {id}", width=60, height=20)
    assert "state" not in terminal.screen
    terminal.keys("g", "g")
    terminal.shows("── turn 1 ──", "follow: off (z F)")
    terminal.keys("q")
    terminal.shows("exited 0")


def test_watching_two_side_by_side(read, manager, terminal):
    first = manager.run(["sh", "-c", "echo the other one; sleep 600"], title="a command")
    read(command=f"agentdash watch {{id}} {first.id}")
    screen = terminal.shows("the other one", "✦ The test read the real clock")
    assert "a command" in screen
    terminal.keys("Tab", "x")
    terminal.shows('Stop "a command"?')
    terminal.keys("n")
    terminal.lacks("Stop")
    assert manager.reader.get(first.id).status == "running"


def test_watch_needs_a_session_that_exists(manager):
    done = subprocess.run([*AGENTDASH, "watch", "nothing"], capture_output=True, text=True, check=False)
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr


def test_a_long_turn_file_opens_at_its_end_and_is_read_to_its_beginning(manager, terminal):
    """Forty thousand lines of a command: the newest first, the first one as soon as everything is read."""
    session = manager.run(["sh", "-c", "seq 1 40000 | sed 's/^/line number /'"], title="many lines")
    manager.wait([session.id], timeout=60)
    terminal.start("agentdash")
    terminal.shows("line number 40000")
    terminal.keys("Enter")
    terminal.shows("40,000 lines")
    terminal.keys("g", "g")
    terminal.shows("line number 1\n", "── turn 1 ──")
    terminal.keys("/")
    terminal.shows("/ search all steps")
    terminal.type("number 12345")
    terminal.keys("Enter")
    terminal.shows("/number 12345  1 of 1", "line number 12345")
    terminal.lacks("searched")
    terminal.keys("#")
    terminal.shows("# step number, or turn.step")
    terminal.type("20000")
    terminal.keys("Enter")
    terminal.shows("line number 20000")


def test_a_session_that_grows_is_followed_and_left_alone_by_who_reads(manager, terminal, tmp_path):
    pipe = tmp_path / "pipe"
    subprocess.run(["mkfifo", str(pipe)], check=True)
    manager.run(["sh", "-c", f"seq 1 100; exec cat <> {pipe}"], title="talking")
    terminal.start("agentdash")
    terminal.shows("100\n")
    with pipe.open("wb", buffering=0) as agent:
        agent.write(b"hello\n")
        terminal.shows("hello")
        terminal.keys("Enter", "g", "g")
        terminal.shows("── turn 1 ──", "follow: off (z F)")
        agent.write(b"and more\n")
        terminal.shows("102 lines")
        assert "── turn 1 ──" in terminal.screen
        terminal.keys("G")
        terminal.shows("and more", "following")


def test_json_of_steps_is_one_array_however_many(manager):
    session = manager.run(["seq", "1", "1500"])
    manager.wait([session.id], timeout=60)
    done = subprocess.run([*AGENTDASH, "trajectory", session.id, "--json"], capture_output=True, text=True, check=True)
    steps = json.loads(done.stdout)
    assert [step["text"] for step in steps if step["kind"] == "message"] == [str(n) for n in range(1, 1501)]
