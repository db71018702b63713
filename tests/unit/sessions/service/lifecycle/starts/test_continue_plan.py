"""A session that continues another one, before it is started: what it takes over, what it reads, what is refused."""

import json

import pytest
from msgspec import structs
from recorded_sessions import evidence, lines, ran, record, said

from agentdash.sessions.model.errors import (
    AmbiguousSessionError,
    Remedy,
    SessionBusyError,
    UnknownSessionError,
    UsageError,
)  # fmt: skip
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.conversation.marks import Mark, MarkKind
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.lifecycle.starts.continue_plan import GO_ON
from agentdash.sessions.service.manager import SessionManager

TURNS = [
    ("first words", lines(said("first answer"))),
    ("second words", lines(ran("make test", 2), said("second answer", 1))),
]


@pytest.fixture
def manager(monkeypatch, tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    with SessionManager() as manager:
        yield manager


@pytest.fixture
def started(manager, monkeypatch):
    """Carries a plan out without any process."""
    for module in ("service.manager", "service.prompts.prompter"):
        monkeypatch.setattr(f"agentdash.sessions.{module}.pump", lambda *_: None)
    return manager.continue_session


def planned(manager, session, prompt="", **start):
    return manager.reader.continued(session.id, Start(prompt, **start))


def test_another_agent_reads_the_messages_as_text(manager):
    source = record(manager, TURNS, options={"sandbox": "read-only", "limits": {"tokens": 5}}, model="gpt-5.5")
    plan = planned(manager, source, "and now?", agent="claude")
    assert plan.words == (
        "claude reads 4 messages of codex as text; files and commands are not repeated; the old session stays as it is."
    )
    assert (plan.messages, plan.actions, plan.left_out) == (4, 1, 0)
    assert plan.launch.argv[0] == "claude"
    assert "|     $ make test -> exit 2\n" in plan.launch.stdin
    assert plan.launch.stdin.endswith("USER: and now?")
    # The folder, the title and the limits are taken over; the model and the mode are those of the other agent.
    assert (plan.start.cwd, plan.start.title) == (source.cwd, "first words")
    assert plan.start.options == {"limits": {"tokens": 5}}
    assert plan.start.model is None


def test_the_same_agent_keeps_its_model_and_its_options(manager):
    options = {"sandbox": "read-only", "model": "gpt-5.5"}
    source = record(manager, TURNS, options=options, model="named by its output")
    plan = planned(manager, source)
    assert (plan.start.agent, plan.start.model, plan.start.options) == ("codex", "gpt-5.5", options)
    assert plan.start.prompt == GO_ON
    own = planned(manager, source, model="other", options={"sandbox": "workspace-write"}, title="t")
    assert (own.start.model, own.start.options["sandbox"], own.start.title) == ("other", "workspace-write", "t")


def test_a_dialog_that_shows_all_values_inherits_none_that_it_does_not_show(manager):
    source = record(manager, TURNS, options={"sandbox": "read-only", "limits": {"tokens": 5}}, model="gpt-5.5")
    plan = manager.reader.continued(source.id, Start("go on"), inherits=False)
    assert (plan.start.options, plan.start.model, plan.start.title) == ({}, None, "first words")


def test_the_settings_are_those_of_the_folder_in_which_it_works(manager, tmp_path):
    source = record(manager, TURNS)
    project = tmp_path / "other"
    project.mkdir()
    (project / ".agentdash.toml").write_text('[agents.claude]\nmodel = "haiku"\n')
    plan = planned(manager, source, agent="claude", cwd=str(project))
    assert "haiku" not in plan.launch.argv
    assert any("trust" in note for note in plan.launch.warnings)


def test_the_new_session_begins_with_a_mark_that_names_its_origin(manager, started):
    source = record(manager, TURNS)
    before = evidence(manager, source.id)
    session = started(planned(manager, source, "go on", agent="claude"))
    assert (session.agent, session.task, session.turn) == ("claude", "go on", 1)
    [mark] = manager.store.marks.of_session(session.id)
    assert (mark.kind, mark.after, mark.origin, mark.turn, mark.step) == (MarkKind.FORK, 0, source.id, 2, None)
    assert mark.data == {"source": source.id, "agent": "codex", "messages": 4}
    assert mark.asked_by == "you"
    assert "conversation" not in mark.data  # so its next turn never forks the conversation of the other agent
    assert evidence(manager, source.id) == before


def test_a_continued_session_can_be_continued(manager, started):
    source = record(manager, TURNS)
    second = started(planned(manager, source, "go on", agent="claude"))
    folder = manager.layout.session(second.id)
    folder.output(1).write_bytes(b'{"type":"result","subtype":"success","is_error":false,"result":"x"}\n')
    manager.store.cancel_queued(second.id, 1, Status.STOPPED, "stopped", "a test")
    with manager.store.database.transaction() as db:
        db.execute("UPDATE turns SET started_at = 2 WHERE session = ?", (second.id,))
    third = planned(manager, second, "once again", agent="codex")
    assert [third.launch.stdin.count(f"|     {words}\n") for words in ("first words", "second answer", "go on")] == [
        1, 1, 1,
    ]  # fmt: skip
    assert third.messages == 5


@pytest.mark.parametrize(
    ("mark", "place", "messages"),
    [
        (Mark(id=1, session="", kind=MarkKind.REWIND, after=2, turn=1), (1, None), 2),
        (Mark(id=1, session="", kind=MarkKind.REWIND, after=2, turn=2, step=0), (2, 0), 3),
    ],
)
def test_only_what_is_visible_is_retold(manager, mark, place, messages):
    plan = planned(manager, record(manager, TURNS, marks=[mark]), agent="claude")
    assert ((plan.turn, plan.step), plan.messages) == (place, messages)
    assert "second answer" not in plan.launch.stdin


def test_a_session_in_the_archive_or_in_the_trash_is_continued_where_it_is(manager):
    archived = record(manager, TURNS)
    manager.housekeeping.archive(archived.id)
    assert planned(manager, archived, agent="claude").messages == 4
    deleted = record(manager, TURNS)
    manager.housekeeping.record(manager.layout.session(deleted.id))
    manager.delete(deleted.id)
    with pytest.raises(UnknownSessionError):
        manager.reader.get(deleted.id)
    plan = manager.reader.continued(deleted.id[:8], Start("go on", agent="claude"))
    assert (plan.messages, plan.source.id) == (4, deleted.id)
    assert [one.id for one in manager.reader.deleted()] == [deleted.id]


def test_a_session_at_work_is_refused_with_the_running_turn(manager):
    source = record(manager, TURNS, last=Status.RUNNING)
    with pytest.raises(SessionBusyError, match="turn 2") as refused:
        planned(manager, source, agent="claude")
    assert refused.value.remedy is Remedy.WAIT_OR_STOP


def test_a_session_that_the_user_has_taken_over_is_refused_with_the_holder(manager):
    source = record(manager, TURNS)
    holder = {"host": source.host, "user": "ann", "tty": "pts/3", "since": 1, "pid": 1, "start": 1, "boot_id": "b",
              "pid_ns": "n", "run_id": "r", "turn": 2, "argv": ["codex"], "talks": []}  # fmt: skip
    with manager.store.database.transaction() as db:
        db.execute("UPDATE sessions SET taken_by = ? WHERE id = ?", (json.dumps(holder), source.id))
    with pytest.raises(SessionBusyError, match=r"ann \(pts/3\)"):
        planned(manager, source, agent="claude")


def test_a_session_of_another_machine_is_continued_here(manager):
    source = record(manager, TURNS, host="elsewhere", last=Status.RUNNING)
    assert planned(manager, source, agent="claude").messages == 4


def test_a_folder_that_is_gone_is_replaced_only_by_the_user(manager, tmp_path):
    source = record(manager, TURNS, cwd=str(tmp_path / "gone"))
    with pytest.raises(UsageError, match="-C FOLDER") as refused:
        planned(manager, source, agent="claude")
    assert refused.value.remedy is Remedy.CONTINUE
    there = tmp_path / "there"
    there.mkdir()
    plan = planned(manager, source, agent="claude", cwd=str(there))
    assert plan.start.cwd == str(there)
    assert f"You work in {there}." in plan.launch.stdin


@pytest.mark.parametrize(
    ("facts", "start", "message"),
    [
        ({"agent": "command"}, {}, "plain command"),
        ({}, {"agent": "command"}, "takes no prompts"),
        ({}, {"agent": "nobody-knows-it"}, "Unknown agent"),
        ({}, {"agent": "claude", "options": {"sandbox": "read-only"}}, "sandbox"),
        ({}, {"agent": "claude", "cwd": "/nowhere/at/all"}, "does not exist"),
    ],
)
def test_bad_requests_are_refused_in_words(manager, facts, start, message):
    source = record(manager, TURNS, **facts)
    with pytest.raises(UsageError, match=message):
        planned(manager, source, **start)


def test_nothing_can_be_continued_before_anything_was_said(manager):
    back = Mark(id=1, session="", kind=MarkKind.REWIND, after=2)
    with pytest.raises(UsageError, match="nothing to continue"):
        planned(manager, record(manager, TURNS, marks=[back]))


def test_an_unknown_or_ambiguous_id_is_refused(manager):
    for last in "12":
        record(manager, TURNS, id=f"aaaaaaaa-0000-4000-8000-00000000000{last}")
    with pytest.raises(AmbiguousSessionError):
        manager.reader.continued("aaaa", Start("x"))
    with pytest.raises(UnknownSessionError):
        manager.reader.continued("bbbb", Start("x"))
    with pytest.raises(UsageError):
        manager.reader.continued("", Start("x"))


def test_a_retry_of_its_first_turn_is_given_the_conversation_again(manager, started):
    """The agent failed before it named a conversation, so there is nothing to resume."""
    source = record(manager, TURNS)
    session = started(planned(manager, source, "go on", agent="claude"))
    manager.store.cancel_queued(session.id, 1, Status.FAILED, "not logged in", "a test", by=None)
    sent = manager.prompts.retry(session.id)
    launch = manager.store.launch(session.id, sent.turn)
    assert "|     second answer\n" in launch.stdin
    assert launch.stdin.endswith("USER: go on")
    assert structs.asdict(sent)["prompt"].text == "go on"
