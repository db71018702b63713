"""The queue of prompts: what waits, in which order it is sent, and what holds it."""

import pytest
from factories import no_prompts, request
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.model.errors import SessionBusyError, UnknownSessionError, UsageError
from agentdash.sessions.model.session import Status, Usage
from agentdash.sessions.rules.launch import Launch, Start, Terms, TurnPlan
from agentdash.sessions.rules.limits.limits import Limits
from agentdash.sessions.rules.prompts.delivery import HELD_BY_USER, Fate, PromptState
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.storage.files.session_record import read_identity, restore, write_identity
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.prompts.queued_prompt import MOST_ATTEMPTS, resend_key
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.claim import Outcome, Owner
from agentdash.sessions.storage.turns.live_log import LiveLog
from agentdash.sessions.storage.turns.turn_log import TurnLog

OWNER = Owner(pid=1, start=2, boot_id="boot", pid_ns="ns")
NAME = "session-1"


def build(prompt, turn, agent_session):
    return Launch(argv=("agent", str(turn)), stdin=prompt.text, model=prompt.plan.model)


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "agentdash.db")
    store.create(
        Start("do it", agent="command", title="do it", cwd="/", session_id=NAME), Launch(argv=("true",)), "r", host="h"
    )
    yield store
    store.close()


def running(store, n=1):
    log = TurnLog(store, NAME, n, OWNER)
    assert log.claim() is not None
    log.running(10, 11)
    return log


def ended(store, n=1, status=Status.DONE, **facts):
    """Take a turn to its end."""
    log = running(store, n)
    assert log.end(Facts(end="completed"), Outcome(status=status, reason=None, **facts), steps=1, build=build)


def add(store, text, **facts):
    return store.queue.add(request(NAME, text, **facts), build)


def waiting(store):
    return [prompt.text for prompt in store.queue.waiting(NAME)]


def sent(store):
    return [prompt.text for prompt in store.prompts(NAME)][1:]


def test_a_prompt_for_a_free_session_is_its_next_turn(store):
    ended(store)
    assert add(store, "more").turn == 2
    session = store.session(NAME)
    assert (session.status, session.turn, session.queued) == (Status.QUEUED, 2, 0)
    assert store.launch(NAME, 2).stdin == "more"


def test_a_prompt_for_a_session_at_work_waits_and_the_end_of_the_turn_sends_it(store):
    log = running(store)
    for text in ("first", "second"):
        assert add(store, text).turn is None
    assert (store.session(NAME).queued, waiting(store)) == (2, ["first", "second"])
    assert log.end(Facts(end="completed"), Outcome(status=Status.DONE, reason=None), 1, build)
    session = store.session(NAME)
    assert (session.status, session.turn, session.queued) == (Status.QUEUED, 2, 1)
    ended(store, 2)
    ended(store, 3)
    assert (store.session(NAME).status, sent(store)) == (Status.DONE, ["first", "second"])


def test_no_front_end_sees_a_turn_end_that_another_follows(store):
    log = running(store)
    add(store, "more")
    seq = store.changes(0).seq
    log.end(Facts(end="completed"), Outcome(status=Status.DONE, reason=None), 1, build)
    assert [session.status for session in store.changes(seq).updated] == [Status.QUEUED]


def test_the_same_request_is_recorded_once(store):
    running(store)
    first = add(store, "more", key="one")
    assert add(store, "more", key="one").id == first.id
    assert waiting(store) == ["more"]


def test_the_same_key_for_another_session_is_another_request(store):
    start = Start("do it", agent="command", title="do it", cwd="/", session_id="session-2")
    store.create(start, Launch(argv=("true",)), "r2", host="h")
    for name in (NAME, "session-2"):
        store.queue.add(request(name, "more", key="nightly"), build)
    assert [len(store.queue.waiting(name)) for name in (NAME, "session-2")] == [1, 1]


def test_a_prompt_to_a_deleted_session_is_refused(store):
    ended(store)
    store.delete(NAME, 1)
    with pytest.raises(UnknownSessionError):
        add(store, "more")


@pytest.mark.parametrize(
    ("status", "reason"),
    [(Status.FAILED, "turn 1 failed"), (Status.LOST, "turn 1 was lost"), (Status.STOPPED, "turn 1 was stopped")],
)
def test_after_a_turn_that_did_not_end_well_the_queue_is_held_and_says_why(store, status, reason):
    log = running(store)
    add(store, "more")
    log.end(Facts(), Outcome(status=status, reason=None), 1, build)
    session = store.session(NAME)
    assert (session.status, session.held, session.queued) == (status, reason, 1)
    assert add(store, "and more").turn is None
    assert store.queue.release(NAME, build) == 2
    assert (sent(store), store.session(NAME).held) == (["more"], None)


@pytest.mark.parametrize(("by", "goes_on"), [(None, True), ("its limit: 5 tokens", True), ("you", False)])
def test_a_prompt_that_is_to_be_sent_anyway_is_held_only_by_the_user(store, by, goes_on):
    log = running(store)
    add(store, "more", plan=TurnPlan(settings={}, terms=Terms(), on_failure="send"))
    status = Status.FAILED if by is None else Status.STOPPED
    log.end(Facts(), Outcome(status=status, reason=None, stop_by=by), 1, build)
    assert (sent(store) == ["more"], store.session(NAME).held is None) == (goes_on, goes_on)


def test_a_stop_that_comes_as_the_turn_ends_holds_the_queue(store):
    log = running(store)
    add(store, "more")
    store.request(NAME, 1, "stop", "you")
    log.end(Facts(end="completed"), Outcome(status=Status.DONE, reason=None), 1, build)
    assert (store.session(NAME).status, store.session(NAME).held) == (Status.DONE, "turn 1 was stopped")


def test_a_session_without_waiting_prompts_is_not_held(store):
    ended(store, status=Status.FAILED)
    assert store.session(NAME).held is None
    assert add(store, "more").turn == 2


def test_a_hold_ends_with_its_last_prompt_unless_the_user_asked_for_it(store):
    log = running(store)
    only = add(store, "more")
    log.end(Facts(), Outcome(status=Status.FAILED, reason=None), 1, build)
    assert store.queue.cancel(only.id)
    assert store.session(NAME).held is None
    store.queue.hold(NAME)
    only = add(store, "more")
    assert store.queue.cancel(only.id)
    assert store.session(NAME).held == HELD_BY_USER


def test_one_prompt_is_sent_from_a_held_queue(store):
    log = running(store)
    add(store, "first")
    second = add(store, "second")
    log.end(Facts(), Outcome(status=Status.FAILED, reason=None), 1, build)
    assert store.queue.send_now(second.id, build) == 2
    assert (sent(store), waiting(store), store.session(NAME).held) == (["second"], ["first"], "turn 1 failed")


def test_what_was_taken_or_cancelled_does_not_change_any_more(store):
    ended(store)
    taken = add(store, "taken")
    waits = add(store, "cancelled")
    assert store.queue.cancel(waits.id)
    for prompt in (taken, waits):
        assert not store.queue.edit(prompt.id, "edited")
        assert not store.queue.move(prompt.id, 1)
        assert not store.queue.cancel(prompt.id)
        assert store.queue.send_now(prompt.id, no_prompts) is None
    assert [store.queue.prompt(one.id).text for one in (taken, waits)] == ["taken", "cancelled"]


def test_an_edited_prompt_is_sent_as_it_reads_now(store):
    log = running(store)
    prompt = add(store, "fist")
    assert store.queue.edit(prompt.id, "first")
    log.end(Facts(end="completed"), Outcome(status=Status.DONE, reason=None), 1, build)
    assert sent(store) == ["first"]


@given(moves=st.lists(st.tuples(st.integers(0, 4), st.integers(1, 7)), max_size=12))
def test_moves_keep_every_prompt_and_put_it_where_it_was_asked_for(tmp_path_factory, moves):
    store = Store(tmp_path_factory.mktemp("queue") / "agentdash.db")
    store.create(Start("t", agent="command", title="t", cwd="/", session_id=NAME), Launch(argv=("t",)), "r", host="h")
    running(store)
    ids = [add(store, str(number)).id for number in range(5)]
    order = list(ids)
    for number, position in moves:
        assert store.queue.move(ids[number], position)
        order.remove(ids[number])
        order.insert(position - 1, ids[number])
    assert [prompt.id for prompt in store.queue.waiting(NAME)] == order
    store.close()


def test_a_start_that_cannot_be_made_holds_the_queue_with_its_reason_and_loses_nothing(store):
    def refuse(*_):
        raise UsageError("codex takes no such sandbox.")

    log = running(store)
    add(store, "more")
    assert log.end(Facts(end="completed"), Outcome(status=Status.DONE, reason=None), 1, refuse)
    session = store.session(NAME)
    assert (session.status, session.held, waiting(store)) == (Status.DONE, "codex takes no such sandbox.", ["more"])


def test_a_prompt_that_never_arrived_goes_back_to_the_head_of_the_queue_but_not_for_ever(store):
    ended(store)
    add(store, "first", key="one")
    add(store, "second")
    gone = Outcome(status=Status.LOST, reason=None, prompt=Fate(PromptState.UNSENT, again=True))
    for n in range(2, 2 + MOST_ATTEMPTS - 1):
        assert running(store, n).end(Facts(), gone, 0, build)
        assert (waiting(store), store.session(NAME).held) == (["first", "second"], f"turn {n} was lost")
        assert store.queue.release(NAME, build) == n + 1
    assert running(store, n + 1).end(Facts(), gone, 0, build)
    assert waiting(store) == ["second"]
    assert [prompt.state for prompt in store.prompts(NAME)[1:]] == ["unsent"] * MOST_ATTEMPTS


def test_an_unconfirmed_prompt_is_counted_until_it_is_sent_again(store):
    log = running(store)
    log.end(
        Facts(), Outcome(status=Status.LOST, reason=None, prompt=Fate(PromptState.UNCONFIRMED)), 1, build=no_prompts
    )
    assert store.session(NAME).unconfirmed == 1
    again = add(store, "do it", key=resend_key(1), resends=1)
    assert again.turn == 2
    assert (store.session(NAME).unconfirmed, store.prompts(NAME)[0].state) == (0, "resent")


def test_an_unconfirmed_prompt_is_sent_again_once_whoever_requests_it(store):
    log = running(store)
    add(store, "more")
    lost = Outcome(status=Status.LOST, reason=None, prompt=Fate(PromptState.UNCONFIRMED))
    log.end(Facts(), lost, 1, build=build)
    first = add(store, "do it", key=resend_key(1), resends=1, first=True)
    assert add(store, "do it", key=resend_key(1), resends=1, at_once=True).id == first.id
    with pytest.raises(SessionBusyError, match="waits to be sent again already"):
        add(store, "do it", resends=1, at_once=True)
    assert waiting(store) == ["do it", "more"]
    store.queue.cancel(first.id)
    assert add(store, "do it", resends=1, at_once=True).turn == 2


def unconfirmed(store):
    return [(one.turn, one.text, one.steered) for one in store.unconfirmed(NAME)]


@pytest.fixture
def doubtful(store):
    """A lost turn whose prompt is unconfirmed, as are two that were written into it; the numbers of these."""
    log = running(store)
    steered = [add(store, text, steers=True).id for text in ("first remark", "second remark")]
    live = LiveLog(store.database, NAME)
    for number in steered:
        assert live.steered_is(number, PromptState.UNCONFIRMED, 1)
    lost = Outcome(status=Status.LOST, reason=None, prompt=Fate(PromptState.UNCONFIRMED))
    assert log.end(Facts(), lost, 1, build=no_prompts)
    return steered


def test_prompts_written_into_a_turn_are_unconfirmed_beside_the_prompt_that_began_it(store, doubtful):
    first, second = doubtful
    assert unconfirmed(store) == [(1, "do it", None), (1, "first remark", first), (1, "second remark", second)]
    assert (store.session(NAME).unconfirmed, store.session(NAME).queued) == (3, 0)


def test_each_unconfirmed_prompt_is_sent_again_once_or_dismissed(store, doubtful):
    first, second = doubtful
    again = add(store, "first remark", key=resend_key(1, first), resends=1, steered=first)
    assert again.turn == 2
    assert add(store, "first remark", key=resend_key(1, first), resends=1, steered=first).id == again.id
    with pytest.raises(SessionBusyError, match="sent again or dismissed"):
        add(store, "first remark", resends=1, steered=first)
    assert unconfirmed(store) == [(1, "do it", None), (1, "second remark", second)]
    for one in store.unconfirmed(NAME):
        assert store.queue.dismiss(one)
        assert not store.queue.dismiss(one)
    assert (unconfirmed(store), store.session(NAME).unconfirmed) == ([], 0)
    assert store.prompts(NAME)[0].state == "dismissed"
    assert [store.queue.prompt(number).state for number in doubtful] == ["resent", "dismissed"]
    with pytest.raises(SessionBusyError, match="sent again or dismissed"):
        add(store, "second remark", resends=1, steered=second)


def test_a_session_that_is_restored_has_its_unconfirmed_prompts(store, doubtful, tmp_path):
    folder = Layout(tmp_path).session(NAME)
    folder.create()
    write_identity(store, folder)
    before = [(turn, text) for turn, text, _ in unconfirmed(store)]
    with store.database.transaction() as db:
        db.execute("DELETE FROM sessions")
    assert restore(store, read_identity(folder.identity))
    assert [(turn, text) for turn, text, _ in unconfirmed(store)] == before
    assert store.session(NAME).unconfirmed == 3


def test_a_prompt_whose_settings_cannot_be_read_holds_the_queue_and_ends_nothing_else(store):
    log = running(store)
    prompt = add(store, "more")
    with store.database.transaction() as db:
        db.execute("UPDATE queue SET plan = '{\"settings\": 5}'")
    assert log.end(Facts(end="completed"), Outcome(status=Status.DONE, reason=None), 1, build)
    assert (store.session(NAME).status, waiting(store)) == (Status.DONE, ["more"])
    assert "cannot be read" in store.session(NAME).held
    assert store.queue.cancel(prompt.id)


def test_a_turn_whose_agent_was_never_started_is_queued_again(store):
    log = running(store)
    assert log.start_again()
    session, [prompt] = store.session(NAME), store.prompts(NAME)
    assert (session.status, prompt.state, store.launch_age_ms(NAME, 1) is not None) == (Status.QUEUED, "queued", True)
    assert running(store).end(Facts(end="completed"), Outcome(status=Status.DONE, reason=None), 1, build)
    assert not log.start_again()


def test_the_store_names_the_sessions_whose_runner_did_not_send_their_prompt(store):
    log = running(store)
    add(store, "more")
    assert store.queue.stalled() == []
    # A runner of a version without a queue ends its turn so.
    with store.database.transaction() as db:
        db.execute("UPDATE turns SET status = 'done'")
        db.execute("UPDATE sessions SET status = 'done'")
    assert store.queue.stalled() == [NAME]
    assert store.queue.advance(NAME, build) == 2
    assert log.status() is Status.DONE
    assert store.queue.stalled() == []


def test_a_prompt_whose_runner_did_not_start_goes_back_to_a_held_queue(store):
    ended(store)
    taken = add(store, "more")
    assert store.cancel_queued(NAME, taken.turn, Status.FAILED, "its runner did not start", "no runner started")
    assert (sent(store), waiting(store)) == (["more"], ["more"])
    assert store.prompts(NAME)[1].state == "unsent"
    assert store.session(NAME).held == "turn 2 failed"
    assert store.queue.waiting_again(NAME, 2).text == "more"


def test_a_prompt_that_the_user_stopped_before_its_start_does_not_come_back(store):
    ended(store)
    taken = add(store, "more")
    assert store.cancel_queued(NAME, taken.turn, Status.STOPPED, "stopped by you", "stop requested", by="you")
    assert (waiting(store), store.queue.waiting_again(NAME, 2)) == ([], None)


@pytest.mark.parametrize("key", ["job#3", "job#", "#", "job#x", ", attempt ", "job, attempt x"])
def test_any_key_of_a_request_can_be_put_back(store, key):
    ended(store)
    add(store, "more", key=key)
    ended(store, 2, Status.FAILED, prompt=Fate(PromptState.UNSENT, again=True))
    assert waiting(store) == ["more"]
    assert add(store, "more", key=key).turn == 2
    assert waiting(store) == ["more"]


def limited(text, tokens, **facts):
    """A request whose plan has a limit on the session's tokens."""
    terms = Terms(limits=Limits(tokens=tokens, **facts))
    return request(NAME, text, plan=TurnPlan(settings={}, terms=terms))


def used(store, tokens):
    log = running(store)
    facts = Facts(end="completed", usage=Usage.of(tokens, 0, 0))
    assert log.end(facts, Outcome(status=Status.DONE, reason=None), steps=1, build=build)


def test_a_prompt_of_a_session_over_its_limit_stays_in_the_queue_with_the_reason(store):
    used(store, 8_000)
    added = store.queue.add(limited("more", 6_000), build)
    assert (added.turn, waiting(store), sent(store)) == (None, ["more"], [])
    assert store.session(NAME).held == "Session session- is over its limit: it used more than 6,000 tokens (8,000)."
    store.queue.release(NAME, build)
    store.queue.send_now(added.id, build)
    assert (waiting(store), sent(store)) == (["more"], [])


def test_a_limit_that_only_warns_sends_the_prompt(store):
    used(store, 8_000)
    assert store.queue.add(limited("more", 6_000, action="warn"), build).turn == 2


def test_a_raised_limit_of_the_session_counts_for_prompts_that_wait(store):
    used(store, 8_000)
    store.queue.add(limited("more", 6_000), build)
    with store.database.transaction() as db:
        db.execute("UPDATE sessions SET options = ? WHERE id = ?", ('{"limits": {"tokens": 100000}}', NAME))
    store.queue.release(NAME, build)
    assert sent(store) == ["more"]
