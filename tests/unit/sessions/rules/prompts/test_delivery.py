"""The fate of a prompt whose turn ended: every combination of the evidence, and the rule that it must keep."""

from itertools import product

import pytest

from agentdash.sessions.rules.prompts.delivery import (
    Fate,
    PromptState,
    TurnEvidence,
    fate,
    fate_of_steered,
    needs_transcript,
)

BOTH = (False, True)
EVERY = [
    TurnEvidence(started=started, printed=printed, proper_end=proper_end, crashed=crashed, in_transcript=in_transcript)
    for started, printed, proper_end, crashed, in_transcript in product(BOTH, BOTH, BOTH, BOTH, (None, *BOTH))
    if started or not (printed or proper_end or in_transcript)
]


@pytest.mark.parametrize(
    ("evidence", "expected"),
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
def test_the_evidence_decides(evidence, expected):
    assert fate(evidence) == expected


@pytest.mark.parametrize("evidence", EVERY, ids=repr)
def test_a_prompt_that_may_have_arrived_is_never_sent_again_by_itself(evidence):
    decided = fate(evidence)
    may_have_arrived = evidence.started and (evidence.printed or evidence.in_transcript is not False)
    assert not (decided.again and may_have_arrived)
    assert decided.again == (decided.again and decided.state is PromptState.UNSENT)


@pytest.mark.parametrize("evidence", EVERY, ids=repr)
def test_what_is_in_the_transcript_or_ended_properly_was_seen(evidence):
    if evidence.in_transcript or evidence.proper_end:
        assert fate(evidence) == Fate(PromptState.SEEN)


@pytest.mark.parametrize("evidence", EVERY, ids=repr)
def test_the_transcript_is_read_only_after_a_crash(evidence):
    assert needs_transcript(evidence) == (evidence.started and evidence.crashed and not evidence.proper_end)


@pytest.mark.parametrize("known", [None, True, False])
def test_a_prompt_into_a_running_turn_is_sent_again_only_if_it_certainly_did_not_arrive(known):
    expected = {None: PromptState.UNCONFIRMED, True: PromptState.SEEN, False: PromptState.QUEUED}
    assert fate_of_steered(known) is expected[known]
