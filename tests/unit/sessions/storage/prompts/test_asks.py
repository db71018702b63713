"""The asks of live agents: what is recorded, who answers, and what is forgotten."""

import threading

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.model.errors import UnknownSessionError
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.asks.model import MOST_BODY_BYTES, Answer, Ask, AskKind, Choice, Question, Verdict
from agentdash.sessions.rules.asks.recorded import AskState
from agentdash.sessions.rules.asks.settings import AsksSettings
from agentdash.sessions.rules.json_schema import session_json
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.storage.files.session_record import read_identity, restore, write_identity
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.prompts.asks import MOST_QUESTION_BYTES, MOST_QUESTIONS, MOST_TEXT
from agentdash.sessions.storage.store import Store

NAME = "session-1"
ALLOW, DENY = Answer(verdict=Verdict.ALLOW), Answer(verdict=Verdict.DENY, message="not now")


def made(store, name=NAME):
    store.create(
        Start("do it", agent="command", title="do it", cwd="/", session_id=name), Launch(argv=("true",)), "r", host="h"
    )


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "agentdash.db")
    made(store)
    yield store
    store.close()


def ask(key="k1", **facts):
    return Ask(key=key, **{"kind": AskKind.COMMAND, "tool": "Bash", "title": "run: ls", "body": "ls", **facts})


def recorded(store, key="k1", stream=1, **facts):
    return store.asks.record(NAME, 1, stream, ask(key, **facts))


def state(store, one):
    return store.asks.one(one.id).state


@pytest.mark.parametrize(
    ("by", "verdict", "expected"),
    [
        ("you", Verdict.DENY, False), ("you", Verdict.STOP, False), ("session 1a2b3c4d", Verdict.DENY, False),
        ("rule: deny Bash", Verdict.DENY, True), ("rule: allow Bash", Verdict.ALLOW, False),
    ],
)  # fmt: skip
def test_only_what_no_person_denied_counts_as_refused_by_the_settings(store, by, verdict, expected):
    one = recorded(store)
    assert not one.refused_by_settings
    store.asks.answer(one.id, Answer(verdict=verdict), by)
    store.asks.sent(one.id)
    store.asks.settle(NAME, 1, "k1", True)
    assert store.asks.one(one.id).refused_by_settings is expected


def test_a_denial_by_the_time_limit_counts_as_refused_by_the_settings(store):
    one = recorded(store)
    store.asks.answer(one.id, DENY, "the time limit", AskState.EXPIRED)
    store.asks.settle(NAME, 1, "k1", True)
    assert store.asks.one(one.id).refused_by_settings


def test_an_ask_is_found_with_its_place_until_it_is_answered(store):
    one = store.asks.record(NAME, 3, 2, ask(), due_at=99)
    assert (one.session, one.turn, one.stream, one.due_at, one.state) == (NAME, 3, 2, 99, AskState.OPEN)
    assert one.ask == ask()
    assert store.asks.open() == store.asks.open(NAME) == [one]
    assert store.asks.open("other") == []
    assert store.asks.answer(one.id, ALLOW, "you")
    assert store.asks.open() == []
    [now] = store.asks.of_session(NAME)
    assert (now.state, now.answer, now.answered_by) == (AskState.ANSWERED, ALLOW, "you")
    assert now.answered_at is not None


def test_the_same_key_of_one_process_is_one_ask_and_of_two_processes_two(store):
    one = recorded(store)
    assert recorded(store, title="changed") == one
    store.asks.answer(one.id, ALLOW, "you")
    assert recorded(store).state is AskState.ANSWERED
    assert recorded(store, stream=2).id != one.id
    assert len(store.asks.of_session(NAME)) == 2


def test_the_session_counts_its_open_asks_and_the_change_feed_reports_them(store):
    since = store.changes(0).seq
    first, second = recorded(store), recorded(store, "k2")
    [changed] = store.changes(since).updated
    assert (changed.asking, session_json(changed)["asking"]) == (2, 2)
    store.asks.answer(first.id, DENY, "you")
    assert store.session(NAME).asking == 1
    store.asks.settle(NAME, 1, second.ask.key, answered=False)
    assert store.session(NAME).asking == 0


def test_of_two_answers_one_wins(store):
    one = recorded(store)
    barrier, wins = threading.Barrier(2), []
    others = [Store(store.database.path) for _ in range(2)]

    def answer(other, answer):
        barrier.wait()
        wins.append((other.asks.answer(one.id, answer, answer.verdict), answer))

    threads = [threading.Thread(target=answer, args=pair) for pair in zip(others, (ALLOW, DENY), strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won for won, _ in wins) == [False, True]
    [winner] = [answer for won, answer in wins if won]
    assert store.asks.one(one.id).answer == winner
    for other in others:
        other.close()


def test_the_runner_writes_an_answer_once_and_the_agent_settles_it(store):
    one = recorded(store)
    assert store.asks.answered(NAME) == []
    store.asks.answer(one.id, ALLOW, "you")
    assert [each.id for each in store.asks.answered(NAME)] == [one.id]
    assert store.asks.sent(one.id)
    assert not store.asks.sent(one.id)
    assert store.asks.answered(NAME) == []
    assert state(store, one) is AskState.SENT
    assert store.asks.settle(NAME, 1, "k1", answered=True)
    assert not store.asks.settle(NAME, 1, "k1", answered=False)
    assert state(store, one) is AskState.SETTLED
    assert store.asks.one(one.id).settled_at is not None


def test_an_ask_without_an_answer_is_withdrawn_whatever_the_agent_reports(store):
    one = recorded(store)
    assert store.asks.settle(NAME, 1, "k1", answered=True)
    assert state(store, one) is AskState.WITHDRAWN


def test_an_expired_ask_is_answered_by_the_settings_and_stays_expired(store):
    one = recorded(store)
    assert store.asks.answer(one.id, DENY, "the time limit", AskState.EXPIRED)
    assert not store.asks.answer(one.id, ALLOW, "you")
    assert [each.answer for each in store.asks.answered(NAME)] == [DENY]
    store.asks.sent(one.id)
    assert store.asks.answered(NAME) == []
    store.asks.settle(NAME, 1, "k1", answered=True)
    now = store.asks.one(one.id)
    assert (now.state, now.answer, now.answered_by) == (AskState.EXPIRED, DENY, "the time limit")


def test_an_answered_ask_cannot_expire(store):
    one = recorded(store)
    store.asks.answer(one.id, ALLOW, "you")
    assert not store.asks.answer(one.id, DENY, "the time limit", AskState.EXPIRED)
    assert store.asks.one(one.id).answer == ALLOW


def test_a_process_that_ended_loses_its_own_asks_that_are_not_over(store):
    settled, answered, sent, opened = (recorded(store, key) for key in ("a", "b", "c", "d"))
    other = recorded(store, stream=2)
    for one in (settled, answered, sent):
        store.asks.answer(one.id, ALLOW, "you")
    store.asks.sent(settled.id)
    store.asks.settle(NAME, 1, "a", answered=True)
    store.asks.sent(sent.id)
    assert store.asks.lose(NAME, 1) == 3
    assert [state(store, one) for one in (settled, answered, sent, opened, other)] == [
        AskState.SETTLED, AskState.LOST, AskState.LOST, AskState.LOST, AskState.OPEN,
    ]  # fmt: skip
    assert store.asks.answered(NAME) == []
    assert store.session(NAME).asking == 1


SECRET = "hunter2-hunter2"
LOGIN = (Question(key="name", text="Name?"), Question(key="password", text="Password?", secret=True))
VALUES = {"name": ("ann",), "password": (SECRET,)}


def whole(store):
    [row] = store.database.rows("SELECT answer FROM asks")
    return row["answer"]


@pytest.mark.parametrize(
    "over",
    [
        lambda store, one: store.asks.sent(one.id),
        lambda store, _: store.asks.settle(NAME, 1, "k1", answered=False),
        lambda store, _: store.asks.lose(NAME, 1),
    ],
)
def test_a_secret_is_for_the_runner_alone_and_is_kept_until_it_was_written(store, over):
    one = recorded(store, kind=AskKind.FORM, questions=LOGIN, verdicts=(Verdict.ANSWER,))
    store.asks.answer(one.id, Answer(verdict=Verdict.ANSWER, values=VALUES), "you")
    assert store.asks.one(one.id).answer.values == {"name": ("ann",)}
    assert store.asks.answered(NAME)[0].answer.values == VALUES
    assert SECRET in whole(store)
    over(store, one)
    assert SECRET not in whole(store)
    assert store.asks.one(one.id).answer.values == {"name": ("ann",)}


def test_a_long_body_is_cut_with_its_real_size(store):
    one = recorded(store, body="é" * 800_000)
    assert len(one.ask.body.encode()) < MOST_BODY_BYTES + 100
    assert one.ask.body.startswith("éé")
    assert one.ask.body.endswith("\n[cut: 1,600,000 bytes in all]")
    assert one.ask.left_out == "551,424 of 1,600,000 bytes of its text"
    assert recorded(store, "k2", body="x" * MOST_BODY_BYTES).ask.body == "x" * MOST_BODY_BYTES


@given(st.builds(Ask, kind=st.sampled_from(AskKind), verdicts=st.just((Verdict.ALLOW,)), questions=st.just(())))
def test_every_ask_can_be_recorded(tmp_path_factory, hostile):
    store = Store(tmp_path_factory.mktemp("asks") / "agentdash.db")
    made(store)
    first = store.asks.record(NAME, 1, 1, hostile)
    assert store.asks.record(NAME, 1, 1, hostile) == first
    assert store.asks.open() == [first]
    store.close()


def test_text_that_cannot_be_encoded_is_recorded(store):
    one = recorded(store, "k\ud800", title="\ud800", body="\udc00", paths=("\ud800",))
    assert one.ask.title == "?"
    assert recorded(store, "k\ud800").id == one.id
    assert store.asks.settle(NAME, 1, "k\ud800", answered=False)


@pytest.mark.parametrize(
    ("on_timeout", "verdicts", "overdue"),
    [
        ("deny", (Verdict.ALLOW, Verdict.DENY, Verdict.STOP), Verdict.DENY),
        ("stop", (Verdict.ALLOW, Verdict.DENY, Verdict.STOP), Verdict.STOP),
        ("stop", (Verdict.ALLOW, Verdict.DENY), Verdict.DENY),
        ("wait", (Verdict.ALLOW, Verdict.DENY), None),
    ],
)
def test_an_ask_has_the_decision_of_its_turns_settings(store, on_timeout, verdicts, overdue):
    start = Start("do it", agent="command", title="do it", cwd="/", session_id="session-2")
    launch = Launch(argv=("true",), asks=AsksSettings(timeout="15m", on_timeout=on_timeout))
    store.create(start, launch, "r", host="h")
    one = store.asks.record("session-2", 1, 1, ask(verdicts=verdicts), due_at=99)
    assert one.overdue is overdue
    assert store.asks.open("session-2") == store.asks.of_session("session-2") == [store.asks.one(one.id)] == [one]


def test_what_was_always_allowed_is_remembered_unless_the_agent_does_it_is_cut_or_dangerous(store):
    always = Answer(verdict=Verdict.ALWAYS)
    own = {"always": "touch:*", "verdicts": (Verdict.ALLOW, Verdict.ALWAYS)}
    for key, facts in (("a", {}), ("b", own), ("c", {"body": "x" * 100_000}), ("d", {}), ("f", {"body": "rm -r x"})):
        one = recorded(store, key, **facts)
        store.asks.answer(one.id, ALLOW if key == "d" else always, "you")
    recorded(store, "e")
    assert [each.key for each in store.asks.remembered(NAME)] == ["a"]


def test_the_asks_of_a_deleted_session_are_gone_and_a_restored_session_asks_nothing(store, tmp_path):
    recorded(store)
    folder = Layout(tmp_path / "home").session(NAME)
    folder.create()
    write_identity(store, folder)
    store.cancel_queued(NAME, 1, Status.STOPPED, "stopped", "rule", by="you")
    assert store.delete(NAME, 1)
    assert store.asks.open() == []
    assert restore(store, read_identity(folder.identity))
    assert store.session(NAME).asking == 0


def test_an_ask_of_a_session_that_is_gone_is_refused(store):
    with pytest.raises(UnknownSessionError, match="was deleted"):
        store.asks.record("gone", 1, 1, ask())


def test_the_questions_of_an_ask_are_bounded_by_number_and_by_size(store):
    choices = tuple(Choice(label=str(n), description="x" * 9_000) for n in range(300))
    many = tuple(Question(key=str(n), text="q", choices=choices[:1]) for n in range(20_000))
    [kept] = recorded(store, "k", questions=(Question(key="a", text="b" * 9_000, choices=choices[:20]),)).ask.questions
    assert (len(kept.text), len(kept.choices[0].description)) == (MOST_TEXT, MOST_TEXT)
    found = recorded(store, "k1", questions=many).ask.questions
    assert 0 < len(found) <= MOST_QUESTIONS
    big = recorded(
        store, "k2", questions=tuple(Question(key=str(n), text="q", choices=choices[:30]) for n in range(90))
    )
    assert len(msgspec.json.encode(big.ask.questions)) <= MOST_QUESTION_BYTES


def test_a_question_or_choice_whose_name_is_too_long_for_an_answer_is_left_out(store):
    long = "x" * (MOST_TEXT + 1)
    asked = (Question(key=long, text="q"), Question(key="a", text="q", choices=(Choice(label=long), Choice(label="b"))))
    assert recorded(store, "k", questions=asked).ask.questions == (
        Question(key="a", text="q", choices=(Choice(label="b"),)),
    )
