"""wait_for: what is new, each end once, and what a cancelled call leaves."""

import threading

import pytest
from leading import Leading, lead_of
from waiting import until

from agentdash.sessions.model.errors import RefusalError
from agentdash.sessions.model.session import Status
from agentdash.sessions.runner.caller import Caller
from agentdash.sessions.service.manager import SessionManager


def ids(entries):
    return [entry["session"] for entry in entries]


def test_an_end_is_named_once_with_facts_and_answer(lead):
    one = lead.worker("the answer")
    first = lead.call("wait_for")
    assert ids(first["ended"]) == [one.short_id]
    assert first["ended"][0]["answer"] == "the answer"
    assert "unread" not in first["ended"][0]
    again = lead.call("wait_for")
    assert "ended" not in again
    assert again["ended_before"] == [one.short_id]
    assert again["next"] == "read shows their answers; send_message goes on with them."


def test_without_any_worker_the_next_step_is_to_delegate(lead):
    assert lead.call("wait_for")["next"] == "delegate starts a worker."


def test_of_three_calls_at_once_each_tells_that_the_worker_has_ended(lead):
    one = lead.worker(last=Status.RUNNING)
    answers, barrier = [], threading.Barrier(4)

    def wait():
        with SessionManager(caller=lead_of()) as manager:
            barrier.wait()
            answers.append(Leading(manager).call("wait_for", seconds=60))

    threads = [threading.Thread(target=wait) for _ in range(3)]
    for thread in threads:
        thread.start()
    barrier.wait()
    end(lead, one.id)
    for thread in threads:
        thread.join()
    assert sorted(len(answer.get("ended", ())) for answer in answers) == [0, 0, 1]
    for answer in answers:
        assert ids(answer.get("ended", ())) or answer["ended_before"] == [one.short_id]
        assert "delegate" not in answer.get("next", "")


def end(lead, session):
    with lead.manager.store.database.transaction() as db:
        db.execute("UPDATE turns SET status = 'done', ended_at = 3 WHERE session = ?", (session,))
        db.execute("UPDATE sessions SET status = 'done', ended_at = 3 WHERE id = ?", (session,))


QUEUED = """
INSERT INTO queue (session, key, place, text, plan, state, turn, created_at, changed_at, steers)
SELECT session, 'k', 1, 'and then', '{}', ?, ?, 1, 1, 1 FROM turns WHERE session = ? AND n = 1
"""


@pytest.mark.parametrize(("state", "turn"), [("queued", None), ("sending", 1), ("sent", 1)])
def test_the_end_of_a_turn_is_no_answer_while_a_prompt_follows_it(lead, state, turn):
    one = lead.worker("the answer to the first")
    with lead.manager.store.database.transaction() as db:
        db.execute(QUEUED, (state, turn, one.id))
    first = lead.call("wait_for", seconds=0)
    assert "ended" not in first
    assert ids(first["at_work"]) == [one.short_id]
    with lead.manager.store.database.transaction() as db:
        db.execute("UPDATE queue SET state = 'seen' WHERE session = ?", (one.id,))
    assert ids(lead.call("wait_for", seconds=0)["ended"]) == [one.short_id]


def test_a_message_to_a_held_queue_is_not_answered_by_the_end_before_it(lead):
    one = lead.worker("the answer to the first")
    lead.manager.queue.hold(one.id)
    sent = lead.call("send_message", session=one.id, message="and then", wait_s=30)
    assert (sent["delivery"], "ended" in sent) == ("queued", False)
    assert f"agentdash queue {one.short_id} release" in sent["next"]
    assert ids(lead.call("wait_for", seconds=0)["ended"]) == [one.short_id]


def test_an_end_is_named_once_over_restarts(lead):
    lead.worker()
    lead.call("wait_for")
    with SessionManager(caller=lead_of()) as manager:
        assert "ended" not in Leading(manager).call("wait_for")


def test_each_of_two_servers_names_other_ends(lead):
    workers = {lead.worker(f"answer {n}").short_id for n in range(15)}
    found, barrier = [], threading.Barrier(4)

    def serve():
        with SessionManager(caller=lead_of()) as manager:
            barrier.wait()
            found.extend(ids(Leading(manager).call("wait_for").get("ended", [])))

    threads = [threading.Thread(target=serve) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted(workers)


def test_a_later_turn_is_a_new_end(lead):
    one = lead.worker()
    lead.call("wait_for")
    with lead.manager.store.database.transaction() as db:
        db.execute("UPDATE turns SET n = 2 WHERE session = ?", (one.id,))
        db.execute("UPDATE sessions SET turn = 2 WHERE id = ?", (one.id,))
    assert ids(lead.call("wait_for")["ended"]) == [one.short_id]


def test_more_ends_than_one_result_has_room_for_come_with_the_next_call(lead):
    workers = {lead.worker().short_id for _ in range(25)}
    first = lead.call("wait_for")
    assert first["more"] == 5
    second = lead.call("wait_for")
    assert {*ids(first["ended"]), *ids(second["ended"])} == workers
    assert len(first["ended"]) + len(second["ended"]) == 25


def waiting_call(lead, **arguments):
    """Call in a thread; the list gets the result, or the refusal."""
    done = []

    def call():
        try:
            done.append(lead.call("wait_for", **arguments))
        except RefusalError as error:
            done.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    until(lambda: lead.progress, what="the wait to begin")
    return thread, done


def test_it_returns_when_one_of_several_ends(lead):
    one, two = lead.at_work(), lead.at_work()
    thread, done = waiting_call(lead, seconds=60)
    assert thread.is_alive()
    lead.ends(two, Status.FAILED)
    thread.join()
    assert ids(done[0]["ended"]) == [two.short_id]
    assert done[0]["ended"][0]["status"] == "failed"
    assert ids(done[0]["at_work"]) == [one.short_id]
    assert done[0]["next"].startswith("wait_for again")


def test_until_all_waits_for_the_last(lead):
    one, two = lead.at_work(), lead.at_work()
    thread, done = waiting_call(lead, until="all", seconds=60)
    lead.ends(one)
    until(lambda: "1 ended" in lead.progress[-1], what="the first end to be noticed")
    assert not done
    lead.ends(two)
    thread.join()
    assert len(done[0]["ended"]) == 2


def test_a_cancelled_call_names_nothing(lead):
    one = lead.at_work()
    thread, done = waiting_call(lead, seconds=60)
    lead.cancelled.set()
    thread.join()
    assert isinstance(done[0], RefusalError) and done[0].code == "cancelled"
    lead.ends(one)
    with pytest.raises(RefusalError, match="cancelled"):
        lead.call("wait_for")
    lead.cancelled.clear()
    assert ids(lead.call("wait_for")["ended"]) == [one.short_id]


def test_a_deleted_worker_is_gone(lead):
    one, _ = lead.at_work(), lead.at_work()
    thread, done = waiting_call(lead, sessions=[one.short_id], seconds=60)
    with lead.manager.store.database.transaction() as db:
        db.execute("DELETE FROM sessions WHERE id = ?", (one.id,))
    thread.join()
    assert done[0]["gone"] == [one.short_id]


@pytest.mark.parametrize(
    ("facts", "need"),
    [
        ({"stuck": "the same command 5 times", "stuck_at": 4}, "stuck"),
        ({"denied": 2}, "denied"),
        ({"unconfirmed": 1}, "unconfirmed"),
    ],
)
def test_a_need_is_named_once_and_does_not_end_later_waits(lead, facts, need):
    one = lead.at_work()
    with lead.manager.store.database.transaction() as db:
        for name, value in facts.items():
            db.execute(f"UPDATE sessions SET {name} = ? WHERE id = ?", (value, one.id))
    first = lead.call("wait_for", seconds=60)
    assert [(entry["session"], entry["needs"]) for entry in first["needs_you"]] == [(one.short_id, need)]
    assert "at_work" not in first
    assert "1 needs you" in first["overview"]
    lead.progress.clear()
    thread, done = waiting_call(lead, seconds=60)
    assert not done
    lead.ends(one)
    thread.join()
    assert ids(done[0]["ended"]) == [one.short_id]


def test_a_slice_that_is_over_returns_what_is_at_work(lead):
    one = lead.at_work()
    lead.wait_seconds = 0.0
    result = lead.call("wait_for", seconds=3_000)
    assert ids(result["at_work"]) == [one.short_id]
    assert "ended" not in result


def test_the_settings_limit_the_slice(lead, tmp_path):
    lead.at_work()
    (tmp_path / "config.toml").write_text("[orchestration]\nwait_seconds = 0.01\n")
    lead.wait_seconds = 10_000.0
    assert "at_work" in lead.call("wait_for", seconds=3_000)


def test_an_end_that_was_named_is_not_waited_for_again(lead):
    one = lead.worker()
    lead.call("wait_for")
    again = lead.call("wait_for", sessions=[one.short_id], seconds=60)
    assert again["ended_before"] == [one.short_id]
    assert again["next"].startswith("read shows")


def test_the_ends_of_a_workers_own_workers_are_its_own(lead):
    one = lead.worker()
    below = lead.worker(parent=one.id)
    assert ids(lead.call("wait_for")["ended"]) == [one.short_id]
    named = lead.call("wait_for", sessions=[below.short_id])
    assert ids(named["ended"]) == [below.short_id] and named["ended"][0]["lead"] == one.short_id
    with SessionManager(caller=Caller(session=one.id)) as manager:
        assert ids(Leading(manager).call("wait_for")["ended"]) == [below.short_id]


def test_a_session_leads_by_its_own_id(lead):
    one = lead.worker(cost_usd=0.0)
    with SessionManager(caller=Caller(session=one.id)) as manager:
        leading = Leading(manager)
        assert leading.call("wait_for") == {"overview": "0 workers, 0 at work", "next": "delegate starts a worker."}
        below = leading.worker(parent=one.id)
        assert ids(leading.call("list_sessions")["workers"]) == [below.short_id]
