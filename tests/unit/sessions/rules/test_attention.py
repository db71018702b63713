"""Attention: the most urgent reason, since when, until when."""

import factories
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from agentdash.sessions.model.session import Status, StoppedBy, Stopping
from agentdash.sessions.rules.attention import SILENT_MS, Attention, AttentionKind, attention, denials, is_needed

NOW = 1_790_000_000_000
BEGAN = NOW - 600_000


def session(status, **own):
    times = {
        "created_at": BEGAN, "updated_at": NOW - 1000, "started_at": BEGAN, "last_event_at": NOW - 1000,
        "ended_at": NOW - 1000 if status.ended else None,
    }  # fmt: skip
    return factories.session(status=status, **(times | own))


def kind(one, now=NOW):
    found = attention(one, now)
    return found.kind if found else None


def test_each_reason_with_its_line_and_its_time():
    for one, expected in [
        (session(Status.WAITING, reason="may I?"), Attention(AttentionKind.WAITING, "may I?", NOW - 1000)),
        (session(Status.WAITING), Attention(AttentionKind.WAITING, "waiting for an answer", NOW - 1000)),
        (
            session(Status.WAITING, asking=1, waits_since=NOW - 35_000),
            Attention(AttentionKind.WAITING, "waiting for an answer", NOW - 35_000),
        ),
        (
            session(Status.RUNNING, stuck="`make` failed 4 times in a row", stuck_at=NOW - 5000),
            Attention(AttentionKind.STUCK, "`make` failed 4 times in a row", NOW - 5000),
        ),
        (session(Status.FAILED, reason="exit 2"), Attention(AttentionKind.FAILED, "exit 2", NOW - 1000)),
        (
            session(Status.QUEUED, after="a", blocked=True, reason="a failed: waits"),
            Attention(AttentionKind.HELD, "a failed: waits", NOW - 1000),
        ),
        (session(Status.QUEUED, after="a", reason="after a"), None),
        (session(Status.QUEUED, after="a", blocked=True, reason="a failed: waits", seen_at=NOW), None),
        (session(Status.LOST), Attention(AttentionKind.FAILED, "lost", NOW - 1000)),
        (
            session(Status.DONE, denied=2, denied_names=("Bash", "Write"), reason="so says its last line"),
            Attention(AttentionKind.DENIED, "2 permissions denied: Bash, Write", NOW - 1000),
        ),
        (
            session(
                Status.RUNNING,
                denied=1,
                denied_names=("Bash",),
                reason="1 permission denied: Bash; Reconnecting... 1/2",
            ),
            Attention(AttentionKind.DENIED, "1 permission denied: Bash", NOW - 1000),
        ),
        (
            session(Status.RUNNING, denied=1),
            Attention(AttentionKind.DENIED, "1 permission denied", NOW - 1000),
        ),
        (session(Status.DONE, asks="Which one?"), Attention(AttentionKind.ASKS, "Which one?", NOW - 1000)),
        (
            session(Status.RUNNING, last_event_at=NOW - 190_000),
            Attention(AttentionKind.SILENT, "no output for 3m", NOW - 190_000),
        ),
        (session(Status.DONE), Attention(AttentionKind.DONE, "done, unread", NOW - 1000)),
    ]:
        assert attention(one, NOW) == expected, expected


@pytest.mark.parametrize("status", [Status.QUEUED, Status.STARTING, Status.RUNNING, Status.FINISHING, Status.STOPPED])
def test_what_goes_its_way_needs_nobody(status):
    assert attention(session(status), NOW) is None


def test_the_kinds_are_ordered_by_urgency():
    everything = {"stuck": "s", "stuck_at": NOW, "denied": 1, "last_event_at": BEGAN}
    assert kind(session(Status.WAITING, **everything)) is AttentionKind.WAITING
    assert kind(session(Status.RUNNING, **everything)) is AttentionKind.STUCK
    assert kind(session(Status.RUNNING, denied=1, last_event_at=BEGAN)) is AttentionKind.DENIED
    assert kind(session(Status.FAILED, denied=1)) is AttentionKind.FAILED
    assert kind(session(Status.DONE, denied=1, asks="Which one?")) is AttentionKind.DENIED
    assert kind(session(Status.FAILED, asks="Which one?")) is AttentionKind.FAILED


@pytest.mark.parametrize("status", [Status.DONE, Status.FAILED, Status.LOST])
def test_an_end_needs_the_user_until_it_was_opened_a_failure_or_a_question_until_it_was_dealt_with(status):
    assert kind(session(status, denied=1)) is not None
    asking = session(status, denied=1, asks="Which one?", seen_at=NOW)
    assert kind(asking) is not None
    assert kind(structs.replace(asking, handled_at=NOW)) is None
    assert kind(structs.replace(asking, handled_at=NOW, updated_at=NOW + 1)) is not None
    opened = session(status, denied=1, seen_at=NOW)
    assert (kind(opened) is None) is (status is Status.DONE)


def test_a_look_answers_no_question_and_frees_no_loop():
    assert kind(session(Status.WAITING, seen_at=NOW)) is AttentionKind.WAITING
    assert kind(session(Status.RUNNING, stuck="s", stuck_at=NOW, seen_at=NOW)) is AttentionKind.STUCK


def test_what_is_archived_or_being_stopped_is_taken_care_of():
    assert kind(session(Status.FAILED, archived_at=NOW)) is None
    assert kind(session(Status.RUNNING, stuck="s", stuck_at=NOW, stopping=Stopping(rung="SIGINT"))) is None


def test_silence_begins_when_it_is_long_enough():
    quiet = session(Status.RUNNING, last_event_at=NOW)
    assert kind(quiet, NOW + SILENT_MS - 1) is None
    assert kind(quiet, NOW + SILENT_MS) is AttentionKind.SILENT
    never = session(Status.RUNNING, last_event_at=None)
    assert attention(never, NOW).since == BEGAN


def test_a_reason_is_one_clean_line():
    assert attention(session(Status.FAILED, reason="\x1b[31mno\nroom\u202e"), NOW).reason == "no room"
    assert attention(session(Status.RUNNING, stuck="a\x07\nb", stuck_at=NOW), NOW).reason == "a b"


def test_denials_are_counted_and_named():
    assert denials(1, ("Bash",)) == "1 permission denied: Bash"
    assert denials(3, ()) == "3 permissions denied"


@given(
    st.builds(
        session, status=st.sampled_from(Status), stuck=st.sampled_from([None, "failed"]), denied=st.integers(0, 1),
        seen_at=st.sampled_from([None, NOW]), archived_at=st.sampled_from([None, NOW]),
        deleted_at=st.sampled_from([None, NOW]), stopping=st.sampled_from([None, Stopping(rung="SIGINT")]),
        last_event_at=st.sampled_from([NOW, NOW - SILENT_MS, NOW - SILENT_MS + 1]),
    )
)  # fmt: skip
def test_the_short_answer_is_that_of_the_long_one(one):
    assert is_needed(one, NOW) is (attention(one, NOW) is not None)


@pytest.mark.parametrize("status", [Status.RUNNING, Status.DONE, Status.LOST])
def test_an_unconfirmed_prompt_needs_the_user_also_if_the_session_was_seen(status):
    one = session(status, unconfirmed=1, seen_at=NOW)
    assert kind(one) is AttentionKind.UNCONFIRMED
    assert attention(one, NOW).reason == "a prompt is unconfirmed"


def test_a_held_queue_of_an_ended_session_needs_the_user_until_it_was_seen():
    held = {"queued": 1, "held": "turn 3 was stopped", "stopped_by": StoppedBy.LIMIT}
    assert kind(session(Status.STOPPED, **held)) is AttentionKind.FAILED
    assert kind(session(Status.STOPPED, **held, seen_at=NOW)) is AttentionKind.FAILED
    assert kind(session(Status.STOPPED, **held, seen_at=NOW, handled_at=NOW)) is None
    assert kind(session(Status.DONE, queued=1, held="No such sandbox.")) is AttentionKind.HELD
    assert kind(session(Status.FAILED, queued=1, held="turn 3 failed")) is AttentionKind.FAILED


@pytest.mark.parametrize(
    "by", [StoppedBy.LIMIT, StoppedBy.LEADS_LIMIT, StoppedBy.SYSTEM, StoppedBy.AGENTDASH, StoppedBy.OTHER]
)
def test_a_stop_that_the_user_does_not_know_of_needs_the_user_until_it_was_dealt_with(by):
    stopped = {"stopped_by": by, "reason": f"stopped by {by}: used 6.1k tokens, the limit is 6k"}
    need = attention(session(Status.STOPPED, **stopped), NOW)
    assert (need.kind, need.reason) == (AttentionKind.FAILED, stopped["reason"])
    assert kind(session(Status.STOPPED, **stopped, seen_at=NOW)) is AttentionKind.FAILED
    assert kind(session(Status.STOPPED, **stopped, handled_at=NOW)) is None


@pytest.mark.parametrize("by", [StoppedBy.YOU, StoppedBy.LEAD, None])
def test_a_stop_that_was_asked_for_needs_nobody(by):
    assert kind(session(Status.STOPPED, stopped_by=by)) is None


def test_a_hold_of_the_user_needs_nobody():
    assert kind(session(Status.STOPPED, queued=1, held="by you")) is None
    assert kind(session(Status.STOPPED, queued=1, held="turn 3 was stopped", stopped_by=StoppedBy.YOU)) is None
    assert kind(session(Status.RUNNING, queued=1, held="turn 3 failed", last_event_at=NOW)) is None
