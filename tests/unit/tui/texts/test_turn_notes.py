"""The notes in the headings of turns about their prompts."""

import factories
import pytest

from agentdash.sessions.model.session import Status
from agentdash.tui.panes.steps.turn_notes import turn_notes


def notes(states, *turns):
    return turn_notes(turns, states, retry_key="R", queue_key="Q")


@pytest.mark.parametrize(
    ("status", "state", "text"),
    [
        (Status.QUEUED, "queued", "queued"),
        (Status.STARTING, "sending", "starting  sending prompt"),
        (Status.RUNNING, "sent", "running  prompt sent"),
        (Status.RUNNING, "seen", "running"),
        (Status.FAILED, "unsent", "failed  prompt unsent"),
        (Status.LOST, "resent", "lost  prompt sent again"),
    ],
)
def test_a_heading_shows_the_state_of_the_prompt_if_it_is_not_plain(status, state, text):
    [note] = notes({1: state}, factories.turn(1, status=status)).values()
    assert (note.text, note.prompt) == (text, ())


def test_a_turn_by_hand_is_named_so():
    [note] = notes({}, factories.turn(1, transport="by-hand", duration_ms=240_000)).values()
    assert note.text == "by hand  4m00s"


def test_an_unconfirmed_prompt_warns_with_the_key_that_sends_it_again():
    lost = factories.turn(1, status=Status.LOST)
    [warning] = notes({1: "unconfirmed"}, lost)[1].prompt
    assert warning == ("prompt unconfirmed: R to send it again", "failure")
    later = notes({1: "unconfirmed", 2: "seen"}, lost, factories.turn(2))
    assert later[1].prompt == (("prompt unconfirmed: Q to send it again", "failure"),)
    assert later[2].prompt == ()


def test_the_newest_turn_without_its_conversation_names_the_key_that_continues_it():
    reason = "No conversation found with session ID: 1"
    lost = [factories.turn(n, status=Status.FAILED, reason=reason) for n in (1, 2)]
    first, newest = turn_notes(lost, {}, continue_key="a").values()
    assert newest.prompt == (("conversation not found: a to continue it in a new session", "failure"),)
    assert first.prompt == ()
    assert turn_notes([factories.turn(1, status=Status.FAILED, reason="500")], {}, continue_key="a")[1].prompt == ()
