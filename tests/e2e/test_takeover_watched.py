"""A session that a user has by hand, seen from a dashboard in another terminal."""

import getpass

import pytest
from e2e.test_takeover import MINUTE, Interface, welcome, worked
from real_clis import EVERY_CLI

from agentdash.sessions.model.session import StepKind
from agentdash.sessions.runner.processes import runner_lock

SIZES = {"160x45": (160, 45), "80x24": (80, 24), "50x24": (50, 24)}


@pytest.mark.real
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("agent", EVERY_CLI, indirect=True)
def test_another_dashboard_names_the_holder_and_refuses_until_the_interface_is_closed(
    manager, agent, size, open_terminal, scratch_home, wait_until, tmp_path
):
    session = worked(manager, agent, tmp_path)
    welcome(scratch_home, session.cwd)
    mine, other = open_terminal(), open_terminal()
    mine.start(f"agentdash takeover {session.id}")
    interface = Interface(mine, wait_until)
    interface.opens("remember the first words")
    place = manager.reader.get(session.id).taken_by.tty
    holder = f"{getpass.getuser()} ({place})"

    width, height = SIZES[size]
    other.start("agentdash", width=width, height=height)
    other.shows("✎ 1 by hand", f"by hand ({place}")
    for key in ("x", "D"):
        other.keys(key)
        other.shows("!", f"by hand: {holder}.")
        other.keys("k")  # the line goes with the next key
        other.lacks(f"by hand: {holder}.")
    other.keys("i")
    other.type("words that wait")
    other.keys("Enter")
    other.shows("+1")
    assert [queued.text for queued in manager.reader.queued(session.id)] == ["words that wait"]
    assert manager.reader.get(session.id).turn == 1
    assert manager.reader.get(session.id).deleted_at is None

    interface.say("words by hand", "You said: words by hand")
    interface.leave("1 prompt by hand")
    mine.shows("exited 0")
    after = manager.wait([session.id], timeout=2 * MINUTE)[0]
    assert (after.taken_by, after.turn) == (None, 3)
    wait_until(lambda: not runner_lock.is_held(manager.layout.session(session.id).lock), what="a free lock")
    assert [turn.asked_by for turn in manager.reader.turns(session.id)] == [None, "hand", None]
    by_hand = [step for step in manager.reader.steps.messages(session.id) if step.turn == 2]
    assert (by_hand[0].kind, by_hand[0].text) == (StepKind.PROMPT, "words by hand")
    other.lacks("✎ 1 by hand")
