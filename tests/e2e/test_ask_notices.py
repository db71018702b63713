"""What an absent user is told of an ask: by the hook, and by the terminal.  An ask that a rule answers says nothing."""

import os
import signal
import sys

import pytest

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.asks.model import Answer, Verdict
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.runner.processes import runner_lock

ASKS = "edit src/greeting.py"
RULE = '[[asks.rules]]\ndecide = "{}"\ntool = "edit"\n'
HOOK = '[notify]\nhook = ["{}"]\n'
TELLS = '#!/bin/sh\necho "$AGENTDASH_TURN $AGENTDASH_STATUS $AGENTDASH_REASON" >> "{}"\n'

pytestmark = pytest.mark.usefixtures("scripted_agent")


@pytest.fixture
def hook(tmp_path):
    """The settings of a hook that writes down the turn, the status and the reason of each call."""
    path = tmp_path / "hook"
    path.write_text(TELLS.format(tmp_path / "told"))
    path.chmod(0o755)
    return HOOK.format(path)


@pytest.fixture
def told(tmp_path, wait_until):
    """Waits for this many calls of the hook; what it was told."""

    def wait(count):
        path = tmp_path / "told"
        wait_until(lambda: path.exists() and len(path.read_text().splitlines()) >= count, what=f"{count} calls")
        return path.read_text().splitlines()

    return wait


@pytest.fixture
def start(manager, tmp_path):
    """Starts a live session under these settings."""

    def begin(settings, prompt="[[script:edit]] go"):
        (tmp_path / "config.toml").write_text(settings)
        return manager.spawn(Start(prompt, agent="scripted", cwd=str(tmp_path), options={"live": True, "speed": 50})).id

    return begin


@pytest.fixture
def answer(manager, wait_until):
    """Waits for an ask of a session and answers it."""

    def once(session, verdict=Verdict.ALLOW):
        [asked] = wait_until(lambda: manager.reader.asks(session), what="an ask")
        manager.asks.answer(asked.id, Answer(verdict=verdict))

    return once


def test_the_hook_is_called_once_for_each_ask_and_names_it(manager, start, answer, hook, told, wait_until):
    session = start(hook)
    assert told(1) == [f"1 waiting asks to {ASKS}"]
    answer(session)
    assert told(3)[1:] in (["1 running ", "1 done "], ["1 done ", "1 running "])  # two processes
    manager.prompts.inject(session, "[[script:edit]] again")
    assert told(4)[3] == f"2 waiting asks to {ASKS}"
    manager.prompts.interrupt(session)
    assert told(5)[4] == "2 stopped stopped by you"


def test_the_hook_is_not_called_again_for_an_ask_whose_runner_was_killed(
    manager, start, answer, hook, told, wait_until
):
    session = start(hook)
    told(1)
    runner = manager.reader.turns(session)[-1].runner_pid
    os.kill(runner, signal.SIGKILL)
    wait_until(lambda: not runner_lock.is_held(manager.layout.session(session).lock), what="the runner to be gone")
    wait_until(
        lambda: manager.housekeeping.settle() or manager.reader.turns(session)[-1].runner_pid != runner,
        what="another runner",
    )
    answer(session)
    assert sorted(told(3)) == ["1 done the runner was killed", "1 running ", f"1 waiting asks to {ASKS}"]


@pytest.mark.parametrize(("decide", "end"), [("allow", "1 done "), ("deny", "1 done 1 permission denied: edit")])
def test_the_hook_is_silent_about_an_ask_that_a_rule_answers(start, hook, told, decide, end):
    start(hook + RULE.format(decide))
    assert told(1) == [end]


def test_the_terminal_is_told_of_an_ask_and_of_none_that_a_rule_answers(
    manager, terminal, start, answer, tmp_path, wait_until
):
    only = '[notify]\non = ["waiting"]\nterminal = "bell"\n'
    (tmp_path / "config.toml").write_text(only)
    terminal.start(f"{sys.executable} -m agentdash")
    terminal.shows("No sessions")
    terminal._run("new-window", "cat")

    def flag():
        return terminal._run("display-message", "-p", "-t", ":0", "#{window_bell_flag}").strip()

    def title():
        return terminal._run("display-message", "-p", "-t", ":0", "#{pane_title}").strip()

    by_rule = start(only + RULE.format("allow"))
    [done] = manager.wait([by_rule], timeout=60)
    assert done.status is Status.DONE
    wait_until(lambda: title() == "agentdash", what="the end in the title")
    assert flag() == "0"
    start(only)
    wait_until(lambda: title() == "1 waiting - agentdash", what="the count in the title")
    wait_until(lambda: flag() == "1", what="the bell")
    assert len([*(manager.reader.home / "told").iterdir()]) == 1
