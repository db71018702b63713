"""The history of prompts: the rows of turns and of the queue, each text once, the newest first."""

import pytest
from factories import request

from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.storage.prompts import prompt_history
from agentdash.sessions.storage.prompts.prompt_history import containing, past_prompts
from agentdash.sessions.storage.store import Store


def build(prompt, turn, agent_session):
    return Launch(argv=("agent", str(turn)), stdin=prompt.text)


@pytest.fixture
def store(tmp_path, monkeypatch):
    times = iter(range(1_000, 100_000, 10))
    for module in ("store", "prompts.prompt_queue"):
        monkeypatch.setattr(f"agentdash.sessions.storage.{module}.now_ms", lambda: next(times))
    store = Store(tmp_path / "agentdash.db")
    yield store
    store.close()


def begin(store, name, text, agent="codex"):
    start = Start(text, agent=agent, title=text, cwd="/", session_id=name)
    store.create(start, Launch(argv=("true",)), "r", host="h")


def texts(store, unprompted=("command",)):
    return [prompt.text for prompt in past_prompts(store.database, unprompted)]


def test_prompts_of_turns_and_of_the_queue_are_one_list_newest_first_and_each_once(store):
    begin(store, "one", "first")
    begin(store, "two", "second")
    store.queue.add(request("one", "queued"), build)
    store.queue.add(request("two", "first"), build)
    found = past_prompts(store.database, ())
    assert [(prompt.text, prompt.session) for prompt in found] == [
        ("first", "two"), ("queued", "one"), ("second", "two"),
    ]  # fmt: skip


def test_commands_are_no_prompts_and_documents_are_left_out(store, monkeypatch):
    monkeypatch.setattr(prompt_history, "LONGEST", 10)
    begin(store, "one", "make lint", agent="command")
    begin(store, "two", "x" * 11)
    begin(store, "three", "x" * 10)
    assert texts(store) == ["x" * 10]


def test_only_the_newest_rows_are_searched(store, monkeypatch):
    for number in range(6):
        begin(store, f"s{number}", f"prompt {number}")
    monkeypatch.setattr(prompt_history, "NEWEST_ROWS", 4)
    assert texts(store) == ["prompt 5", "prompt 4", "prompt 3", "prompt 2"]
    monkeypatch.setattr(prompt_history, "MOST_CHARACTERS", 20)
    assert texts(store) == ["prompt 5", "prompt 4"]


def test_all_words_are_found_in_any_case(store):
    begin(store, "one", "Prüfe die ÄNDERUNG")
    begin(store, "two", "fix the test")
    found = past_prompts(store.database, ())
    assert [prompt.text for prompt in containing(found, "änderung prüfe")] == ["Prüfe die ÄNDERUNG"]
    assert containing(found, "prüfe test") == []
    assert len(containing(found, " ")) == 2
