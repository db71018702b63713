"""The prompts of a session that wait and those that were written into a turn, in `show` and `explain`."""

from factories import no_prompts, request
from live_rows import LAUNCH, OWNER, SESSION, remark

from agentdash.sessions.rules.json_schema import record_json
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.rules.prompts.delivery import PromptState
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.storage.turns.live_log import LiveLog
from agentdash.sessions.storage.turns.turn_log import TurnLog


def test_prompts_into_a_running_turn_and_prompts_that_wait_are_named(isolated):
    with SessionManager() as manager:
        store = manager.store
        manager.layout.session(SESSION).create()
        store.create(Start("begin", agent="scripted", cwd="/usr", session_id=SESSION), LAUNCH, "r-1", host="h")
        TurnLog(store, SESSION, 1, OWNER).claim()
        live_log = LiveLog(store.database, SESSION)
        seen = remark(store, live_log, PromptState.SEEN)
        doubtful = remark(store, live_log, PromptState.UNCONFIRMED)
        told = [record_json(prompt) for prompt in manager.reader.prompts(SESSION)]
        facts = manager.reader.explain(SESSION).facts
    assert [(one["turn"], one["text"], one["state"], one["steered"]) for one in told] == [
        (1, "begin", "queued", None), (1, "a remark", "seen", seen.id), (1, "a remark", "unconfirmed", doubtful.id),
    ]  # fmt: skip
    assert [one.value for one in facts if one.name == "steered prompt"] == ["seen", "unconfirmed"]


def test_an_explanation_names_the_queue_and_its_hold(isolated):
    with SessionManager() as manager:
        store = manager.store
        manager.layout.session(SESSION).create()
        store.create(Start("begin", agent="scripted", cwd="/usr", session_id=SESSION), LAUNCH, "r-1", host="h")
        TurnLog(store, SESSION, 1, OWNER).claim()

        def queue():
            [fact] = [one for one in manager.reader.explain(SESSION).facts if one.name == "queue"]
            return fact.value

        assert queue() == "0 queued"
        store.queue.add(request(SESSION, "more"), no_prompts)
        assert queue() == "1 queued, after turn 1"
        store.queue.hold(SESSION)
        assert queue() == f"1 queued, held: by you; release it: agentdash queue {SESSION[:8]} release"
