"""Texts about what was said by hand, and about a session that is open by hand."""

import factories
import pytest
from factories import T0

from agentdash.sessions.model.session import Status, TakenBy
from agentdash.sessions.rules.attention import attention, urgency
from agentdash.sessions.rules.urgency_levels import Urgency
from agentdash.sessions.storage.turns.takeovers import ByHand
from agentdash.tui.texts import prompt_texts, takeover_texts
from agentdash.widgets.table.row_detail import remark, steady_until

TAKEN = TakenBy(
    host="here", user="ann", tty="pts/3", since=T0, pid=7, start=7, boot_id="b", pid_ns="n", run_id="r", turn=2,
    argv=("codex",), talks=(),
)  # fmt: skip


def done(**facts):
    return ByHand(**({"session": "s1", "seconds": 240.0} | facts))


@pytest.mark.parametrize(
    ("agent", "facts", "text"),
    [
        ("codex", {"turn": 5, "prompts": 3}, "3 prompts by hand, 4m: turn 5."),
        ("claude", {"turn": 5, "prompts": 1}, "1 prompt by hand, 4m: turn 5."),
        (
            "claude",
            {"turn": 5, "prompts": 1, "reason": "its transcript was not found"},
            "1 prompt by hand, 4m: turn 5. Not all of it: its transcript was not found.",
        ),
        (
            "codex",
            {"reason": "its transcript was not found"},
            "What was said by hand in 4m is not recorded: its transcript was not found.",
        ),
        ("claude", {}, "No prompt by hand in 4m: no turn."),
        (
            "codex",
            {},
            (
                "No prompt by hand in 4m: no turn."
                " What was said in another conversation of the interface is not part of the session."
            ),
        ),
    ],
)
def test_the_outcome_names_the_prompts_and_the_turn(agent, facts, text):
    assert takeover_texts.outcome(factories.session(agent=agent), done(**facts)) == text


@pytest.mark.parametrize(("code", "text"), [(0, ""), (None, ""), (1, "Codex ended with exit code 1.")])
def test_an_interface_that_failed_is_named(code, text):
    assert takeover_texts.failed(factories.session(), done(exit_code=code)) == text


def test_a_session_that_is_open_by_hand_names_its_terminal_and_needs_nobody():
    session = factories.session(status=Status.DONE, taken_by=TAKEN, turn=2)
    assert remark(session, T0 + 240_000) == "by hand (pts/3, 4m)"
    assert steady_until(session, T0 + 3_000) <= T0 + 4_000
    assert attention(session, T0) is None
    assert urgency(session) is Urgency.AT_WORK
    assert prompt_texts.effect(session) == "queued #1, by hand: ann (pts/3)"
