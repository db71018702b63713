"""Going back, taking that back and forking, in the rows and files of a state folder."""

import json
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest
from factories import add_turn, no_prompts
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from repetition import repeated
from talks import OWNER, THREAD, THREAD_2, Talk

from agentdash.sessions.model.errors import SessionBusyError, UsageError
from agentdash.sessions.model.session import Status, Usage
from agentdash.sessions.model.taken_by import TakenBy
from agentdash.sessions.rules.conversation.marks import Mark, MarkKind
from agentdash.sessions.rules.launch import Fork, Launch, Start
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.runner.queue.next_turn import builder
from agentdash.sessions.service.lifecycle.recovery.rebuild import rebuild
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.storage.marks import add_mark
from agentdash.sessions.storage.rows import dump
from agentdash.sessions.storage.turns.claim import Outcome
from agentdash.sessions.storage.turns.turn_log import TurnLog

SESSION = "0123456789abcdef"
EXEC = {"live": False}
ACTS = st.lists(
    st.tuples(
        st.sampled_from(["turn", "torn", "rewind", "rewind", "undo", "undo of"]), st.integers(0, 5), st.integers(-1, 4)
    ),
    max_size=10,
)


@pytest.fixture
def manager(tmp_path):
    with SessionManager(tmp_path / "state") as manager:
        yield manager


@pytest.fixture
def talk(manager, tmp_path):
    """A session with three turns in one conversation."""
    talk = Talk(manager, SESSION, tmp_path)
    talk.answered()
    talk.turn()
    talk.turn()
    return talk


def steps(turn, through=None):
    """The places of the steps of a turn; behind step 3, nothing adds to the conversation."""
    return [(turn, step) for step in range(5) if through is None or through >= 3 or step <= through]


def messages(places):
    return [(turn, step) for turn, step in places if step in (0, 2, 3)]


@settings(max_examples=repeated(15, 150), deadline=None)
@given(ACTS)
def test_the_view_is_that_of_a_list_that_each_act_copies_and_nothing_recorded_changes(acts):
    with tempfile.TemporaryDirectory() as folder, SessionManager(Path(folder) / "state") as manager:
        talk = Talk(manager, SESSION, Path(folder))
        talk.answered()
        view = steps(1)
        ends, before = {1: view}, {}
        for what, number, through in acts:
            if what in ("turn", "torn"):
                turn = talk.turn(torn=what == "torn")
                view = ends[turn] = view + steps(turn)
                continue
            hashes, target = talk.hashes(), None
            if what == "rewind":
                step = through if number and through >= 0 else None
                if number in ends:
                    earlier = [place for place in ends[number] if place[0] != number]
                    target = earlier + steps(number, step)
                elif number == 0:
                    target = []
                assert talk.act("rewind", number, step) == (target not in (None, view))
                done = target not in (None, view)
            else:
                newest = manager.reader.steps.shown(SESSION).undoable
                mark = number if what == "undo of" else newest.id if newest is not None else None
                target = before.get(mark)
                done = talk.act("undo", mark) if mark is not None else talk.act("undo")
                assert done == (target is not None)
            if done:
                before[manager.store.marks.of_session(SESSION)[-1].id], view = view, target
            assert talk.visible() == messages(view)
            assert talk.hashes() == hashes
        for mark, earlier in before.items():
            assert talk.act("undo", mark)
            assert talk.visible() == messages(earlier)


def test_the_next_turn_of_a_live_codex_forks_its_thread_and_an_undo_resumes_it(manager, talk):
    turn = {
        "method": "turn/started",
        "params": {"threadId": THREAD, "turn": {"id": "t-2"}},
    }
    talk.folder.output(2).write_text(json.dumps(turn) + "\n")
    with manager.store.database.transaction() as db:
        db.execute("UPDATE turns SET launch = json_set(launch, '$.transport', 'app-server') WHERE n = 2")
    effect = manager.conversation.rewind(SESSION, 2)
    assert (effect.how, effect.turn, effect.step, effect.hidden.turns) == ("native", 2, None, 1)
    launch = talk.say("go on")
    assert (launch.how, launch.conversation) == ("native", THREAD)
    assert launch.fork == Fork(at="t-2", session=SESSION, turn=2)
    assert json.loads(launch.opening[-1])["params"]["lastTurnId"] == "t-2"
    assert launch.stdin == "go on"
    talk.answered(conversation=THREAD_2)
    assert manager.conversation.undo(SESSION).how == "native"
    launch = talk.say("and so")
    assert (launch.how, launch.conversation, launch.fork) == ("native", THREAD, None)
    talk.answered()
    # The turns after it follow it, in its process.
    assert talk.say("again").how == ""


def test_where_the_agent_cannot_fork_the_visible_conversation_is_retold(manager, talk):
    assert manager.conversation.rewind(SESSION, 2, 2).how == "retold"
    launch = talk.say("go on", **EXEC)
    assert (launch.how, launch.conversation, launch.fork) == ("retold", None, None)
    assert "resume" not in launch.argv
    assert told(launch.stdin) == [
        "USER: prompt 1",
        "ASSISTANT: 1.2",
        "ASSISTANT: 1.3",
        "USER: prompt 2",
        "ASSISTANT: 2.2",
        "USER: go on",
    ]


def test_from_the_beginning_a_new_conversation_begins(manager, talk):
    assert manager.conversation.rewind(SESSION, 0).how == "new"
    launch = talk.say("go on", **EXEC)
    assert (launch.how, launch.stdin) == ("new", "go on")
    assert "resume" not in launch.argv


def test_a_prompt_that_came_to_nothing_is_not_told_twice(manager, talk):
    manager.conversation.rewind(SESSION, 1)
    talk.say("go on", **EXEC)
    talk.answered(conversation=None)
    talk.folder.output(4).write_text("")
    launch = talk.say("go on", **EXEC)
    assert (launch.how, launch.stdin.count("USER: go on")) == ("retold", 1)


def test_a_turn_that_ended_before_it_said_anything_hides_no_conversation(manager, talk):
    assert manager.conversation.rewind(SESSION, 1).hidden.turns == 2
    manager.conversation.undo(SESSION)
    first = talk.say("go on", **EXEC)
    assert first.argv[-4:] == ("resume", "--", THREAD, "-")
    log = TurnLog(manager.store, SESSION, 4, OWNER)
    assert log.claim() is not None
    log.end(Facts(), Outcome(status=Status.STOPPED, reason="stopped by you", stop_by="you"), 0, no_prompts)
    manager.store.queue.release(SESSION, no_prompts)
    launch = talk.say("and now", **EXEC)
    assert (launch.argv[-4:], launch.stdin) == (("resume", "--", THREAD, "-"), "and now")


def test_a_fork_has_the_conversation_up_to_a_step_and_its_origin_stays(manager, talk, tmp_path):
    hashes = talk.hashes()
    effect = manager.conversation.preview_fork(SESSION, 2, 2)
    assert (effect.turn, effect.step, effect.how) == (2, 2, "retold")
    assert manager.conversation.preview_fork(SESSION, 2, 3).step is None
    start = fork_of(manager, SESSION, 2, 2)
    assert [line for line in told(start.launch.stdin) if line.startswith("USER:")] == [
        "USER: prompt 1",
        "USER: prompt 2",
        "USER: first of the fork",
    ]
    assert (start.start.prompt, start.start.cwd, start.mark.origin) == (
        "first of the fork", str(tmp_path / "project"), SESSION,
    )  # fmt: skip
    assert talk.hashes() == hashes
    assert manager.store.marks.of_session(SESSION) == []


def told(prompt):
    """The speakers and their texts, each of one line, in a prompt with a retold conversation."""
    lines = prompt.replace(":\n|     ", ": ").splitlines()
    return [line.removeprefix("| ") for line in lines if line.startswith(("| USER:", "| ASSISTANT:", "USER:"))]


class Begun(NamedTuple):
    """What would be recorded for a fork."""

    start: Start
    launch: Launch
    mark: Mark


def fork_of(manager, ref, turn, step, **options):
    """What would be recorded for a fork."""
    made = []
    acts = manager.conversation
    acts._begin = lambda start, config, launch, env, mark: made.append(Begun(start, launch, mark))
    acts.fork(ref, turn, step, "first of the fork")
    return made[0]


def test_a_fork_of_a_fork_is_told_what_both_origins_showed(manager, talk, tmp_path):
    first = fork_of(manager, SESSION, 1, None)
    other = Talk(manager, "fedcba9876543210", tmp_path, mark=first.mark)
    other.answered(conversation="0190f7a2-0000-7000-8000-000000000008")
    talk.act("rewind", 0)  # what the origin does later changes nothing for its fork
    second = fork_of(manager, other.id, 1, 2)
    earlier = ["USER: prompt 1", "ASSISTANT: 1.2", "ASSISTANT: 1.3"]
    assert told(second.launch.stdin) == [*earlier, "USER: prompt 1", "ASSISTANT: 1.2", "USER: first of the fork"]
    # In the trash, the origin can still be read.
    manager.delete(SESSION)
    again = fork_of(manager, other.id, 1, 2)
    assert again.launch.stdin == second.launch.stdin


def test_the_end_of_a_thread_is_forked_by_codex_exec(manager, talk):
    start = fork_of(manager, SESSION, 3, None)
    fork = start.launch.fork
    assert (start.launch.how, fork, start.launch.conversation) == (
        "native",
        Fork(at=None, session=SESSION, turn=3),
        THREAD,
    )


def test_the_tokens_of_the_origin_are_not_counted_again(manager, talk):
    """codex 0.169.0 counts the tokens of a fork on from those at the place of the fork."""

    def whole(total):
        return Usage(input_tokens=total, output_tokens=0, total_tokens=total)

    with manager.store.database.transaction() as db:
        for n in (1, 2, 3):
            db.execute(
                "UPDATE turns SET thread_usage = ? WHERE n = ?",
                (json.dumps({"input_tokens": n * 100, "output_tokens": 0, "total_tokens": n * 100}), n),
            )
        launch = structs.replace(
            manager.store.launch(SESSION, 3),
            how="native",
            conversation=THREAD,
            fork=Fork(session=SESSION, turn=1),
        )
    add_turn(manager.store, SESSION, 3, "prompt 4", launch)
    talk.answered(conversation=THREAD_2, thread_usage=whole(130))
    assert manager.reader.turns(SESSION)[-1].usage.total_tokens == 30


@pytest.mark.parametrize(
    ("act", "arguments", "words"),
    [
        ("rewind", (9,), "has no turn 9"),
        ("rewind", (1, 77), "has no step 1.77"),
        ("rewind", (3,), "goes on behind the end of turn 3 already"),
        ("undo", (), "no rewind or compaction to take back"),
        ("undo", (5,), "no mark 5"),
        ("preview_fork", (9,), "has no turn 9"),
        ("preview_fork", (0,), "start a session"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused_in_words(manager, talk, act, arguments, words):
    with pytest.raises(UsageError, match=words):
        getattr(manager.conversation, act)(SESSION, *arguments)
    assert manager.store.marks.of_session(SESSION) == []


def test_a_session_at_work_keeps_its_conversation(manager, talk):
    talk.say("go on", **EXEC)
    with talk.at_work():
        for act in ("rewind", "undo"):
            with pytest.raises(SessionBusyError, match="turn 4 has to end first"):
                getattr(manager.conversation, act)(SESSION, 1)
        with pytest.raises(SessionBusyError, match="can be forked when it has ended"):
            manager.conversation.preview_fork(SESSION, 4)
        assert manager.conversation.preview_fork(SESSION, 2).turn == 2


def test_of_two_front_ends_at_once_one_is_refused(manager, talk, monkeypatch):
    with SessionManager(manager.layout.home) as other:
        add = manager.store.marks.add

        def late(*arguments, **fields):
            monkeypatch.undo()
            other.conversation.rewind(SESSION, 2)
            return add(*arguments, **fields)

        monkeypatch.setattr(manager.store.marks, "add", late)
        with pytest.raises(SessionBusyError, match="changed meanwhile"):
            manager.conversation.rewind(SESSION, 1)
        assert [mark.turn for mark in other.store.marks.of_session(SESSION)] == [2]
        assert talk.visible() == messages(steps(1) + steps(2))


def test_a_session_that_is_open_in_the_interface_of_its_agent_keeps_its_conversation(manager, talk):
    holder = TakenBy(
        host="elsewhere", user="ada", tty="pts/3", since=0, pid=1, start=1, boot_id="b", pid_ns="n", run_id="r", turn=2,
        argv=("codex",), talks=(),
    )  # fmt: skip
    with manager.store.database.transaction() as db:
        db.execute("UPDATE sessions SET taken_by = ?", (dump(holder),))
    with pytest.raises(SessionBusyError, match=r"open in .* own interface, by ada"):
        manager.conversation.rewind(SESSION, 1)


def test_a_rewind_shows_the_last_visible_message_in_the_row_and_its_undo_the_one_before(manager, talk):
    def shown():
        return manager.reader.by_id(SESSION).last_message

    manager.conversation.rewind(SESSION, 2, 2)
    assert shown() == "2.2"
    manager.conversation.rewind(SESSION, 2, 0)
    assert shown() == "1.3"
    manager.conversation.rewind(SESSION, 0)
    assert shown() is None
    manager.conversation.undo(SESSION, 1)
    assert shown() == "3.3"


def test_prompts_that_wait_stay_in_the_queue(manager, talk):
    manager.queue.hold(SESSION)
    manager.prompts.inject(SESSION, "later")
    effect = manager.conversation.rewind(SESSION, 1)
    assert effect.waiting == 1
    assert [prompt.text for prompt in manager.queue.prompts(SESSION)] == ["later"]


def test_a_dry_run_marks_nothing(manager, talk):
    effect = manager.conversation.rewind(SESSION, 1, dry_run=True)
    assert (effect.mark, effect.hidden.steps, effect.hidden.messages) == (None, 10, 6)
    assert manager.store.marks.of_session(SESSION) == []
    assert talk.visible() == messages(steps(1) + steps(2) + steps(3))


def test_marks_come_back_with_the_rest_of_a_lost_database(manager, talk):
    manager.conversation.rewind(SESSION, 2)
    manager.conversation.rewind(SESSION, 1)
    manager.conversation.undo(SESSION)
    manager.conversation.undo(SESSION, 1)
    view, marks = talk.visible(), manager.store.marks.of_session(SESSION)
    manager.close()
    for path in manager.layout.home.glob("agentdash.db*"):
        path.unlink()
    other = SessionManager(manager.layout.home)
    # Another session took the numbers of the marks first.
    beside = Talk(other, "fedcba9876543210", manager.layout.home)
    beside.answered()
    beside.turn()
    beside.act("rewind", 1)
    other.close()
    rebuild(manager.layout)
    assert talk.visible() == view
    again = manager.store.marks.of_session(SESSION)
    assert [(mark.kind, mark.turn, mark.at) for mark in again] == [(mark.kind, mark.turn, mark.at) for mark in marks]
    assert [turn.agent_session for turn in manager.reader.turns(SESSION)] == [THREAD] * 3
    manager.conversation.undo(SESSION, again[-1].id)
    assert talk.visible() == messages(steps(1) + steps(2))


def test_the_conversation_that_an_undo_resumes_is_that_of_the_resume_command(manager, talk):
    manager.conversation.rewind(SESSION, 1)
    with pytest.raises(UsageError, match="begins the conversation that goes on from there"):
        manager.reader.resume_command(SESSION)
    talk.say("go on", **EXEC)
    talk.answered(conversation=THREAD_2)
    assert THREAD_2 in manager.reader.resume_command(SESSION).argv
    manager.conversation.undo(SESSION)
    assert THREAD in manager.reader.resume_command(SESSION).argv


def test_the_marks_are_facts_of_an_explanation(manager, talk):
    manager.conversation.rewind(SESSION, 1)
    facts = {fact.name: fact.value for fact in manager.reader.explain(SESSION).facts}
    assert facts["mark 1"].startswith("went back to the end of turn 1")


ANSWER = {
    "type": "assistant",
    "uuid": "u-2",
    "session_id": THREAD,
    "message": {"id": "m", "model": "m", "content": [{"type": "text", "text": "2.2"}]},
}
RESULT = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "result": "2.2",
    "session_id": THREAD,
}
BOUNDARY = {
    "type": "system",
    "subtype": "compact_boundary",
    "session_id": THREAD,
    "compact_metadata": {"trigger": "auto", "pre_tokens": 9},
}
SUMMARY = {
    "type": "user",
    "session_id": THREAD,
    "message": {"role": "user", "content": "This session is being continued."},
}


@pytest.mark.parametrize(("lines", "how"), [((), "native"), ((BOUNDARY, SUMMARY), "retold")], ids=["", "compacted"])
def test_claude_is_not_forked_back_over_a_compaction_that_it_began_by_itself(manager, talk, lines, how):
    with manager.store.database.transaction() as db:
        db.execute("UPDATE sessions SET agent = 'claude'")
    for turn, said in ((2, (ANSWER, RESULT)), (3, (*lines, ANSWER | {"uuid": "u-3"}, RESULT))):
        talk.folder.output(turn).write_text("".join(json.dumps(line) + "\n" for line in said))
    assert manager.conversation.rewind(SESSION, 2, dry_run=True).how == how


def test_behind_a_summary_the_conversation_can_begin_again(manager, talk):
    facts = {"after": 3, "turn": 3, "step": 3, "data": {"by": "summary"}, "asked_by": "you"}
    manager.store.marks.add(Mark(id=0, session=SESSION, kind=MarkKind.COMPACT, **facts))
    assert manager.conversation.rewind(SESSION, 0).how == "new"
    assert talk.visible() == []


def test_after_a_takeover_a_turn_that_never_began_leaves_the_conversation(manager, talk):
    with manager.store.database.transaction() as db:
        add_mark(db, Mark(id=0, session=SESSION, kind=MarkKind.TAKEOVER, after=2, turn=3, asked_by="you"))
    add_turn(manager.store, SESSION, 3, "never sent", Launch(argv=("codex",)))
    manager.store.cancel_queued(SESSION, 4, Status.STOPPED, "stopped", "a test")
    manager.store.queue.release(SESSION, builder(manager.layout, manager.store))
    launch = talk.say("go on", **EXEC)
    assert (launch.stdin, launch.argv[-3:]) == ("go on", ("--", THREAD, "-"))
