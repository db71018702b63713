"""A shell and lazygit from a real terminal, and back."""

import subprocess

import pytest


@pytest.fixture
def worked(manager, tmp_path):
    """A session that ended in a folder of its own."""
    folder = tmp_path / "its folder"
    folder.mkdir()
    session = manager.run(["echo", "hello"], title="a command", cwd=str(folder))
    manager.wait([session.id], timeout=60)
    return session, folder


@pytest.fixture
def open_dashboard(terminal, monkeypatch):
    """Opens the dashboard below a bash, with the keys in its table."""

    def start(command="agentdash", **size):
        monkeypatch.setenv("SHELL", "/bin/bash")
        monkeypatch.setenv("HOME", "/nowhere")
        terminal.start("bash --norc", **size)
        terminal.type(command)
        terminal.keys("Enter")
        terminal.shows("a command")

    return start


@pytest.mark.parametrize("size", [{}, {"width": 80, "height": 24}, {"width": 50, "height": 24}], ids=str)
def test_a_shell_in_the_folder_and_back(worked, open_dashboard, terminal, size):
    _, folder = worked
    open_dashboard(**size)
    terminal.keys("!")
    terminal.shows("agentdash: shell in")
    terminal.type("pwd > where; tty > /dev/null && echo interactive; false; exit")
    terminal.keys("Enter")
    terminal.shows("a command", "? help")
    assert (folder / "where").read_text().strip() == str(folder)
    terminal.lacks("exit code")
    terminal.keys("q")
    terminal.lacks("? help")


def test_a_shell_from_the_watch_screen(worked, open_dashboard, terminal):
    session, folder = worked
    open_dashboard(f"agentdash watch {session.id}")
    terminal.keys("!")
    terminal.shows("agentdash: shell in")
    terminal.type("pwd > where; exit")
    terminal.keys("Enter")
    terminal.shows("a command", "? help")
    assert (folder / "where").read_text().strip() == str(folder)


def test_an_interrupt_and_jobs_belong_to_the_shell(worked, open_dashboard, terminal):
    open_dashboard()
    terminal.keys("!")
    terminal.shows("agentdash: shell in")
    terminal.type("sleep 600")
    terminal.keys("Enter")
    terminal.shows("sleep 600")
    terminal.keys("C-z")
    terminal.shows("Stopped")
    terminal.type("fg")
    terminal.keys("Enter")
    terminal.shows("fg\nsleep 600")
    terminal.keys("C-c")
    terminal.shows("^C")
    terminal.type("echo over=$?")
    terminal.keys("Enter")
    terminal.shows("over=130")
    terminal.press_until("C-d", "? help")
    terminal.shows("a command", "? help")
    terminal.lacks("Press Ctrl+C again")


def test_a_shell_that_suspends_itself_comes_back_with_the_dashboard(worked, open_dashboard, terminal):
    open_dashboard()
    terminal.keys("!")
    terminal.shows("agentdash: shell in")
    terminal.type("suspend")
    terminal.keys("Enter")
    terminal.shows("Stopped")
    terminal.type("fg")
    terminal.keys("Enter")
    terminal.shows("fg\n")
    terminal.type("echo here; exit")
    terminal.keys("Enter")
    terminal.shows("a command", "? help")


def test_a_shell_that_is_killed_gives_the_terminal_back(worked, open_dashboard, terminal):
    open_dashboard()
    terminal.keys("!")
    terminal.shows("agentdash: shell in")
    terminal.type("kill -9 $$")
    terminal.keys("Enter")
    terminal.shows("a command")
    terminal.keys("?")
    terminal.shows("type to find a key")


def test_a_folder_that_is_gone_is_named(worked, open_dashboard, terminal):
    _, folder = worked
    folder.rmdir()
    open_dashboard()
    terminal.keys("!")
    terminal.shows("No such folder: ")


def test_lazygit_in_the_folder_and_back(worked, open_dashboard, terminal, tmp_path, monkeypatch):
    _, folder = worked
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    program = tmp_path / "bin" / "lazygit"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho lazygit in $PWD\nread line\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    open_dashboard()
    terminal.keys("C-g")
    terminal.shows("lazygit in", "its folder")
    terminal.keys("Enter")
    terminal.shows("a command", "? help")
