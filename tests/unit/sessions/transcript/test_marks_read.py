"""The steps of a session bring its marks, also those that another process makes."""

import pytest
from factories import no_prompts

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.conversation.marks import Mark, MarkKind
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.storage.turns.claim import Outcome, Owner
from agentdash.sessions.storage.turns.turn_log import TurnLog
from agentdash.sessions.transcript.mark_steps import MarkSection


@pytest.fixture
def manager(tmp_path):
    with SessionManager(tmp_path / "state", tmp_path / "config.toml") as manager:
        yield manager


@pytest.fixture
def ended(manager):
    """A session whose first turn has ended."""
    start = Start("do it", agent="command", title="do it", cwd="/", session_id="session-1")
    manager.store.create(start, Launch(argv=("true",)), "run-1", host="here")
    log = TurnLog(manager.store, "session-1", 1, Owner(pid=1, start=2, boot_id="boot", pid_ns="ns"))
    log.claim()
    log.running(10, 11)
    outcome = Outcome(status=Status.DONE, reason=None, exit_code=0)
    log.end(Facts(end="completed"), outcome, steps=0, build=no_prompts)
    return "session-1"


def test_a_mark_of_another_front_end_comes_with_the_next_read(manager, ended, tmp_path):
    steps = manager.reader.steps.open_trajectory(ended)
    before = steps.refresh()
    assert (before.shown, before.marks) == (None, ())
    assert not any(isinstance(section, MarkSection) for section in before.view.sections)
    with SessionManager(tmp_path / "state", tmp_path / "config.toml") as other:
        other.store.marks.add(Mark(id=0, session=ended, kind=MarkKind.REWIND, after=1, asked_by="you"))
    after = steps.refresh()
    assert after.shown.cuts(1, 0)
    assert after.view.step(len(after.view) - 1).text.startswith("went back to the beginning at")
    assert after.view.extends(before.view)
    assert steps.refresh() == after
    steps.close()
