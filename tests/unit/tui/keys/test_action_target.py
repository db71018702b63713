"""The sessions that keys act on, and why an action does not apply to them."""

from agentdash.sessions.model.session import Status
from agentdash.tui.keys.availability import ActionTarget
from pilot.examples import session

RUNNING = session("running1", Status.RUNNING, "split it", created=1)
DONE = session("done0001", Status.DONE, "fix it", created=2)


def test_an_action_for_several_applies_if_one_of_the_chosen_sessions_takes_it():
    assert ActionTarget(DONE, [DONE, RUNNING], marked=True).can("stop")
    assert not ActionTarget(DONE, [DONE], marked=True).can("stop")


def test_an_action_for_one_asks_only_the_session_under_the_cursor():
    assert ActionTarget(DONE, [RUNNING]).can("rename")
    assert not ActionTarget(None, [RUNNING]).can("rename")


def test_the_reason_is_empty_if_the_action_applies_and_names_the_cause_if_not():
    assert ActionTarget(RUNNING, [RUNNING]).why_not("stop", restore_key="u") == ""
    assert ActionTarget(DONE, [DONE]).why_not("retry", restore_key="u") == (
        '"fix it" cannot be retried: it has not failed, and was not stopped or lost.'
    )
    assert "read-only" in ActionTarget(RUNNING, [RUNNING], read_only=True).why_not("stop", restore_key="u")
