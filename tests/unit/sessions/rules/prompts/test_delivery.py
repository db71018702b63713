"""The fate of a prompt whose turn ended: every combination of the evidence, and the rule that it must keep."""

from itertools import product

import pytest
from msgspec import structs

from agentdash.sessions.rules.prompts.delivery import (
    Fate,
    PromptState,
    TurnEvidence,
    evidence,
    fate,
    fate_of_steered,
    needs_transcript,
)

BOTH = (False, True)
EVERY = [
    TurnEvidence(
        started=started, printed=printed, proper_end=proper_end, crashed=crashed, stopped=stopped, live=live,
        in_transcript=in_transcript,
    )
    for started, printed, proper_end, crashed, stopped, live, in_transcript in product(*[BOTH] * 6, (None, *BOTH))
    if (started or not (printed or proper_end or in_transcript)) and not (crashed and stopped)
]  # fmt: skip


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        (TurnEvidence(started=True, printed=True, proper_end=True, crashed=False), Fate(PromptState.SEEN)),
        (TurnEvidence(started=False, printed=False, proper_end=False, crashed=False), Fate(PromptState.UNSENT)),
        (
            TurnEvidence(started=False, printed=False, proper_end=False, crashed=True),
            Fate(PromptState.UNSENT, again=True),
        ),
        (TurnEvidence(started=True, printed=True, proper_end=False, crashed=True), Fate(PromptState.SEEN)),
        (TurnEvidence(started=True, printed=False, proper_end=False, crashed=True), Fate(PromptState.UNCONFIRMED)),
        (
            TurnEvidence(started=True, printed=False, proper_end=False, crashed=True, in_transcript=True),
            Fate(PromptState.SEEN),
        ),
        (
            TurnEvidence(started=True, printed=False, proper_end=False, crashed=True, in_transcript=False),
            Fate(PromptState.UNSENT, again=True),
        ),
        (
            TurnEvidence(started=True, printed=True, proper_end=False, crashed=True, in_transcript=False),
            Fate(PromptState.UNCONFIRMED),
        ),
        (
            TurnEvidence(started=True, printed=False, proper_end=False, crashed=False, in_transcript=False),
            Fate(PromptState.UNSENT),
        ),
        (TurnEvidence(started=True, printed=False, proper_end=False, crashed=False), Fate(PromptState.SENT)),
    ],
    ids=[
        "a proper end", "never started", "the runner died before the start", "broke off, no transcript",
        "silent, no transcript", "silent, in the transcript", "silent, not in the transcript",
        "broke off, not in the transcript", "stopped before it printed", "ended by itself in silence",
    ],
)  # fmt: skip
def test_the_evidence_decides(known, expected):
    assert fate(known) == expected


def test_a_prompt_that_may_have_arrived_is_never_sent_again_by_itself():
    for turn in EVERY:
        decided = fate(turn)
        may_have_arrived = turn.started and (turn.printed or turn.in_transcript is not False)
        assert not (decided.again and may_have_arrived), turn
        assert decided.again == (decided.again and decided.state is PromptState.UNSENT), turn


def test_what_is_in_the_transcript_or_ended_properly_was_seen():
    for turn in EVERY:
        if turn.in_transcript or turn.proper_end:
            assert fate(turn) == Fate(PromptState.SEEN), turn


def test_the_transcript_is_read_after_a_crash_and_after_a_stop_before_any_output():
    for turn in EVERY:
        unknown = turn.crashed or (turn.stopped and not turn.printed)
        assert needs_transcript(turn) == (turn.started and unknown and not turn.proper_end), turn


def test_a_prompt_that_a_stop_or_a_crash_kept_from_a_live_agent_returns_to_the_queue_or_is_named():
    for turn in EVERY:
        if turn.live and (turn.stopped or turn.crashed):
            decided = fate(turn)
            assert decided.again or decided.state in (PromptState.SEEN, PromptState.UNCONFIRMED), turn


@pytest.mark.parametrize("way", PromptState)
def test_the_recorded_way_of_a_live_agents_prompt_is_its_evidence_and_not_the_output(way):
    """codex prints a warning about its settings before it has any prompt."""
    facts = {"started": True, "printed": True, "proper_end": False, "crashed": True, "stopped": False}
    found = evidence(way, **facts)
    assert (found.started, found.printed) == (way is not PromptState.QUEUED, way is PromptState.SEEN)
    assert fate(structs.replace(found, in_transcript=False)).state is not PromptState.SEEN
    assert evidence(None, **facts).printed


@pytest.mark.parametrize("known", [None, True, False])
def test_a_prompt_into_a_running_turn_is_sent_again_only_if_it_certainly_did_not_arrive(known):
    expected = {None: PromptState.UNCONFIRMED, True: PromptState.SEEN, False: PromptState.QUEUED}
    assert fate_of_steered(known) is expected[known]
