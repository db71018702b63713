"""The real interfaces of codex and claude, opened on a session from a real terminal."""

import json
import subprocess
import sys

import pytest
from e2e.own_interface import OwnInterface
from e2e.test_real_counting import cost, dollars
from isolation import work_folder
from real_clis import EVERY_CLI, NEWEST
from served import listed, printed, tokens_of

from agentdash.sessions.model.errors import SessionBusyError
from agentdash.sessions.model.session import Status, StepKind
from agentdash.sessions.rules.launch import Start

MINUTE = 60

_CARD = "Try new model"
"""What codex 0.169.0 may offer before it shows the conversation."""

_CODEX = "OpenAI Codex"
"""What codex 0.169.0 shows above the conversation."""


def welcome(scratch_home, folder):
    """Let claude meet a user who has chosen a theme and a key, and who trusts the folder: it asks others first."""
    home = scratch_home / "claude"
    if home.exists():
        answered = {"hasCompletedOnboarding": True, "theme": "dark", "customApiKeyResponses": {"approved": ["dummy"]}}
        answered["bypassPermissionsModeAccepted"] = True  # it opens with the session's mode
        trusted = {"projects": {str(folder): {"hasTrustDialogAccepted": True}}}
        (home / ".claude.json").write_text(json.dumps(answered | trusted))


class Interface:
    """The agent's own interface, or the dashboard before it, in a terminal."""

    def __init__(self, terminal, wait_until):
        self._terminal = terminal
        self._wait_until = wait_until

    def opens(self, said):
        """Decline what the interface offers before it shows the conversation, and wait for that."""
        self._wait_until(lambda: self._has(said, _CARD), timeout=MINUTE, what="the interface")
        if self._has(_CARD):
            self._terminal.press_until("Down", "\u203a 2.")  # a key that comes before it listens is lost
            self._terminal.keys("Enter")
        self._terminal.shows(said)

    def _has(self, *texts):
        screen = self._terminal.screen
        return any(text in screen for text in texts)

    def say(self, text, answer):
        """Type a prompt as a user does, and wait for its answer."""
        self._terminal.type(text)
        self._terminal.shows(text)
        self._terminal.keys("Enter")
        self._terminal.shows(answer)

    def leave(self, told):
        """Leave the interface, and wait for a text of agentdash."""

        def asked():
            screen = self._terminal.screen.lower()
            return told in screen or "again to" in screen

        if self._has(_CODEX):  # it loses a Ctrl+C that comes just after the end of a turn
            self._terminal.type("/quit")
            self._terminal.shows("/quit")
            self._terminal.keys("Enter")
            self._terminal.shows(told)
            return

        def left():
            """Return whether it left, or forgot the first key: its question stays for a second only."""
            screen = self._terminal.screen
            return told in screen or "for shortcuts" in screen

        for _ in range(3):
            self._terminal.keys("C-c")
            self._wait_until(asked, timeout=MINUTE, what="the end of the interface, or its question")
            if told not in self._terminal.screen:
                self._terminal.keys("C-c")
            self._wait_until(left, timeout=MINUTE, what="the end of the interface, or its prompt")
            if told in self._terminal.screen:
                break
        self._terminal.shows(told)


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """A stand-in for codex, with an interface that says what a test gives it."""
    with OwnInterface.in_use(tmp_path, monkeypatch) as made:
        yield made


@pytest.fixture
def interface(terminal, wait_until):
    """The interface in the test's terminal."""
    return Interface(terminal, wait_until)


def worked(manager, agent, tmp_path):
    """A session that had one turn in a folder of its own."""
    folder = tmp_path / "project"
    folder.mkdir()
    options = {"codex": {"sandbox": "danger-full-access"}, "claude": {"permission_mode": "bypassPermissions"}}
    session = manager.spawn(Start("remember the first words", agent=agent, cwd=str(folder), options=options[agent]))
    ended = manager.wait([session.id], timeout=2 * MINUTE)[0]
    assert ended.status is Status.DONE
    return ended


@pytest.mark.real
@pytest.mark.parametrize("agent", EVERY_CLI, indirect=True)
def test_words_said_by_hand_are_a_turn_and_the_next_turn_knows_them(
    manager, agent, terminal, interface, scratch_home, tmp_path
):
    session = worked(manager, agent, tmp_path)
    welcome(scratch_home, session.cwd)
    terminal.start(f"agentdash takeover {session.id}")
    interface.opens("remember the first words")

    taken = manager.reader.get(session.id)
    assert taken.taken_by is not None
    assert taken.taken_by.tty is not None
    assert taken.taken_by.tty.startswith("pts/")
    with pytest.raises(SessionBusyError, match=r"own interface, by .*\(pts/\d+\)"):
        manager.stop(session.id)
    queued = manager.prompts.inject(session.id, "[[fake:context_probe]] what can you see?")
    assert (queued.turn, queued.position) == (None, 1)
    assert taken.taken_by.holder in queued.answer

    interface.say("words by hand", "You said: words by hand")
    interface.leave("1 prompt by hand")
    terminal.shows("exited 0")

    after = manager.wait([session.id], timeout=2 * MINUTE)[0]
    assert after.taken_by is None
    assert (after.turn, after.status, after.agent_session) == (3, Status.DONE, session.agent_session)
    assert "I can see 3 user messages" in after.last_message
    turns = manager.reader.turns(session.id)
    assert [turn.asked_by for turn in turns] == [None, "hand", None]
    assert turns[1].status is Status.DONE
    assert turns[1].usage.input_tokens == 1200
    spoken = [step for step in manager.reader.steps.messages(session.id) if step.turn == 2]
    assert [(step.kind, step.text) for step in spoken] == [
        (StepKind.PROMPT, "words by hand"),
        (StepKind.MESSAGE, "You said: words by hand"),
    ]
    assert {step.kind for step in manager.reader.steps.trajectory(session.id, 2)}.isdisjoint({StepKind.UNKNOWN})


@pytest.mark.real
@pytest.mark.parametrize("cli", EVERY_CLI)
def test_what_was_used_by_hand_is_counted_and_priced(
    manager, served, use_agent, cli, terminal, interface, scratch_home, tmp_path
):
    session = worked(manager, use_agent(cli), tmp_path)
    welcome(scratch_home, session.cwd)
    terminal.start(f"agentdash takeover {session.id}")
    interface.opens("remember the first words")
    interface.say("[[fake:uses]] by hand", "Used.")
    interface.leave("1 prompt by hand")

    ended = manager.reader.get(session.id)
    of_it = {"conversation": session.agent_session}  # codex asks for a title in another one, which it does not keep
    assert listed(ended) == printed("day")[1] == served.tokens(**of_it)
    calls = [
        tokens_of(one["usage"]) for one in served.answers if one["scenario"] == "uses" and of_it.items() <= one.items()
    ]
    assert cost(manager.reader.turns(session.id)[1]) == pytest.approx(dollars(calls, cli))
    assert (ended.cost_missing, ended.tokens_missing) == (0, 0)


@pytest.mark.real
def test_what_follows_a_clear_of_claude_belongs_to_the_session(
    manager, use_agent, terminal, interface, scratch_home, wait_until, tmp_path
):
    session = worked(manager, use_agent(NEWEST), tmp_path)
    welcome(scratch_home, session.cwd)
    terminal.start(f"agentdash takeover {session.id}")
    interface.opens("remember the first words")
    interface.say("before the clear", "You said: before the clear")
    interface.say("/clear", "/clear")
    terminal.lacks("before the clear")
    interface.say("after the clear", "You said: after the clear")
    wait_until(lambda: len(manager.reader.get(session.id).taken_by.talks) == 2, what="the other conversation")
    interface.leave("2 prompts by hand")

    after = manager.reader.get(session.id)
    assert after.agent_session not in (None, session.agent_session)
    assert [step.text for step in manager.reader.steps.messages(session.id) if step.turn == 2] == [
        "before the clear", "You said: before the clear", "/clear", "after the clear", "You said: after the clear"
    ]  # fmt: skip


@pytest.mark.parametrize("size", [{}, {"width": 80, "height": 24}, {"width": 50, "height": 24}], ids=str)
def test_the_dashboard_gives_its_terminal_to_the_interface_and_comes_back_to_the_row(
    manager, stand_in, terminal, wait_until, tmp_path, size
):
    for begin in (
        lambda: manager.run(["true"], title="task 0"),
        lambda: manager.spawn(Start("task 1", agent="codex", cwd=work_folder(tmp_path))),
        lambda: manager.run(["true"], title="task 2"),
    ):
        manager.wait([begin().id], timeout=MINUTE)  # the newest end is first in the table
    stand_in.says("words by hand")
    stand_in.stays()
    terminal.start("agentdash", **size)
    terminal.shows("task 1")
    terminal.keys("j")
    terminal.keys("H")
    wait_until(lambda: stand_in.has_spoken, what="the interface")
    (taken,) = [one for one in manager.reader.sessions() if one.taken_by is not None]
    terminal.shows(f"session {taken.short_id}")
    assert terminal.told("alternate_on") == "0"
    stand_in.leaves()
    terminal.shows("1 prompt by hand", "task 1")
    assert terminal.told("alternate_on") == "1"
    assert manager.reader.get(taken.id).turn == 2
    terminal.keys("H")
    wait_until(lambda: manager.reader.get(taken.id).turn == 3, what="the same row")
    terminal.keys("q")
    terminal.shows("exited 0")


def test_ctrl_c_while_it_is_open_is_for_the_interface(manager, stand_in, terminal, wait_until, tmp_path):
    session = manager.spawn(Start("task", agent="codex", cwd=work_folder(tmp_path)))
    manager.wait([session.id], timeout=MINUTE)
    stand_in.says("words by hand")
    stand_in.stays()
    terminal.start(f"agentdash takeover {session.id}")
    wait_until(lambda: stand_in.has_spoken, what="the interface")
    terminal.keys("C-c")
    terminal.shows("1 prompt by hand", "Codex ended with signal 2")
    assert manager.reader.get(session.id).turn == 2


def test_without_a_terminal_it_is_refused(manager, stand_in, tmp_path):
    session = manager.spawn(Start("task", agent="codex", cwd=work_folder(tmp_path)))
    manager.wait([session.id], timeout=MINUTE)
    argv = [sys.executable, "-m", "agentdash", "takeover", session.id]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "needs a terminal" in done.stderr
    assert manager.reader.get(session.id).taken_by is None


@pytest.mark.real
def test_a_live_agent_that_waits_is_closed_first(manager, use_agent, wait_until, tmp_path):
    agent = use_agent("codex")
    folder = tmp_path / "project"
    folder.mkdir()
    session = manager.spawn(Start("live words", agent=agent, cwd=str(folder), options={"live": True}))
    wait_until(lambda: manager.reader.get(session.id).warm_since is not None, timeout=2 * MINUTE, what="a warm agent")
    assert manager.reader.processes(session.id) != []
    taken = manager.take_over(session.id)
    assert manager.reader.processes(session.id) == []
    assert manager.reader.get(session.id).warm_since is None
    manager.give_back(taken)
    manager.prompts.inject(session.id, "[[fake:context_probe]] what can you see?")
    after = manager.wait([session.id], timeout=2 * MINUTE)[0]
    assert "I can see 2 user messages" in after.last_message
