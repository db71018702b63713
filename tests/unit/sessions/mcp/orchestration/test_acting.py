"""delegate, send_message, stop_sessions and answer: their refusals, and what they request, without any agent."""

import os

import pytest
from leading import Leading, lead_of

from agentdash.sessions.mcp.orchestration.delegate import worker_folder
from agentdash.sessions.model.errors import RefusalError
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.asks.model import Ask, AskKind, Choice, Question, Verdict
from agentdash.sessions.runner.caller import Caller
from agentdash.sessions.service.manager import SessionManager


@pytest.fixture
def scripted_lead(scripted_agent, monkeypatch, tmp_path):
    """A lead that can start the scripted agent."""
    monkeypatch.chdir(tmp_path)
    with SessionManager(caller=lead_of()) as manager:
        lead = Leading(manager)
        yield lead
        lead.close()


def refused(lead, code, tool="delegate", **arguments):
    """The text of a refusal with this code, which starts nothing."""
    before = len(lead.manager.reader.sessions())
    with pytest.raises(RefusalError) as error:
        lead.call(tool, **arguments)
    assert (error.value.code, len(lead.manager.reader.sessions())) == (code, before), str(error.value)
    assert " Next: " in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ({"task": " \n"}, "empty_task", "sees nothing else"),
        ({"task": "x", "agent": "cladue"}, "unknown_agent", "scripted."),
        ({"task": "x", "agent": "command"}, "unknown_agent", "use one of"),
        ({"task": "x", "agent": "scripted", "working_dir": "missing"}, "no_such_folder", "does not exist"),
        ({"task": "x", "agent": "scripted", "working_dir": "a\0b"}, "no_such_folder", "does not exist"),
        ({"task": "x", "agent": "scripted", "working_dir": "file"}, "no_such_folder", "is not a folder"),
        ({"task": "x", "agent": "scripted", "working_dir": "/"}, "folder_not_allowed", "allowed_dirs"),
        ({"task": "x", "agent": "scripted", "working_dir": "out"}, "folder_not_allowed", "allowed_dirs"),
        ({"task": "x", "agent": "scripted", "mode": "full"}, "unknown_mode", "leave mode out"),
        ({"task": "x", "agent": "scripted", "preset": "none"}, "unknown_preset", "no presets"),
        ({"task": "a\0b", "agent": "scripted"}, "bad_request", "NUL"),
        ({"task": "[[script:none]]", "agent": "scripted"}, "bad_request", "script"),
    ],
)
def test_a_start_that_is_refused_starts_nothing(scripted_lead, tmp_path, arguments, code, says):
    (tmp_path / "file").touch()
    (tmp_path / "out").symlink_to("/")
    assert says in refused(scripted_lead, code, **arguments)


def test_broken_settings_are_named(scripted_lead, tmp_path):
    (tmp_path / "config.toml").write_text("[orchestration]\nmax_depth = -1\n")
    assert "max_depth" in refused(scripted_lead, "settings_broken", task="x")


def test_agents_that_the_settings_exclude_are_refused(scripted_lead, tmp_path):
    (tmp_path / "config.toml").write_text('[orchestration]\nagents = ["codex"]\n')
    text = refused(scripted_lead, "agent_not_allowed", task="x", agent="scripted")
    assert "the settings allow codex." in text


def test_an_agent_that_is_not_installed_is_refused(lead, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    assert "is not installed" in refused(lead, "unknown_agent", task="x", agent="codex")


@pytest.mark.parametrize(
    ("given", "allowed", "found"),
    [
        ("", None, "root"),
        (".", None, "root"),
        ("sub", None, "root/sub"),
        ("link", None, "root/sub"),
        ("../root/sub", None, "root/sub"),
        ("", [], "root"),
        ("../other", ["*"], "other"),
        ("../other", ["{}/other"], "other"),
        ("", ["{}/other"], "root"),
        ("../other", None, None),
        ("../other", [], None),
        ("../rootless", None, None),
        ("sub", ["{}/other"], "root/sub"),
        ("sub", [], "root/sub"),
        ("away", ["{}/root/away", "away", "./away"], None),
        ("../rootless", ["../rootless"], "rootless"),
        ("away", None, None),
        ("../other", ["{}/oth"], None),
    ],
)
def test_folders_are_allowed_as_they_really_are(tmp_path, given, allowed, found):
    for name in ("root/sub", "other", "rootless"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "root/link").symlink_to("sub")
    (tmp_path / "root/away").symlink_to(tmp_path / "other")
    roots = None if allowed is None else [one.format(tmp_path) for one in allowed]
    if found is None:
        with pytest.raises(RefusalError, match=r"^folder_not_allowed: "):
            worker_folder(given, str(tmp_path / "root"), roots)
    else:
        assert worker_folder(given, str(tmp_path / "root"), roots) == os.path.realpath(tmp_path / found)


def test_a_lead_whose_own_folder_became_a_link_gets_no_worker_behind_it(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "root").symlink_to(tmp_path / "other")
    with pytest.raises(RefusalError, match=r"^folder_not_allowed: "):
        worker_folder("", str(tmp_path / "root"), None)


def test_a_repeated_key_returns_the_worker_that_has_it(lead):
    one = lead.worker(key="port api", prompt="port it")
    result = lead.call("delegate", task="port it", key="port api", agent="no such agent")
    assert (result["session"], result["existing"], result["status"]) == (one.short_id, True, "done")
    assert len(lead.manager.reader.sessions()) == 1


def test_a_key_of_another_task_is_refused_with_both_tasks_named(lead):
    one = lead.worker(key="k")
    words = f'names another task, of worker {one.short_id}: "work", and not "drop the tables"'
    with pytest.raises(RefusalError, match=f"bad_request: .*{words}"):
        lead.call("delegate", task="drop the tables", key="k")


@pytest.mark.parametrize("message", ["", " \n\t"])
def test_an_empty_message_is_refused(lead, message):
    refused(lead, "empty_message", "send_message", session=lead.worker().id, message=message)


def test_a_command_takes_no_prompt(lead):
    one = lead.worker(agent="command")
    refused(lead, "takes_no_prompt", "send_message", session=one.id, message="go on")


def test_a_worker_on_another_host_is_busy(lead):
    one = lead.worker(host="elsewhere")
    assert "elsewhere" in refused(lead, "busy", "send_message", session=one.id, message="go on")


def test_a_message_to_a_worker_at_work_waits_for_its_turn(lead):
    one = lead.at_work(cwd="/usr")
    result = lead.call("send_message", session=one.short_id, message="then this")
    assert (result["delivery"], result["next"]) == ("queued", "wait_for it.")
    assert "turn" not in result
    assert [prompt.text for prompt in lead.manager.reader.queued(one.id)] == ["then this"]


def test_the_user_spoke_to_a_worker_until_its_end_is_read(lead):
    one = lead.at_work(cwd="/usr")
    lead.call("send_message", session=one.short_id, message="from the lead")
    assert "the user" not in lead.call("list_sessions")["overview"]
    with SessionManager(caller=Caller()) as person:
        person.prompts.inject(one.id, "from the user")
    assert lead.call("list_sessions")["overview"].endswith(f"; the user spoke to {one.short_id}")
    lead.ends(one)
    with lead.manager.store.database.transaction() as db:
        db.execute("UPDATE queue SET state = 'taken', turn = 1")
    assert "the user" not in lead.call("wait_for")["overview"]


def test_stopping_names_what_could_not_be_stopped(lead):
    one, stranger = lead.worker(), lead.worker(lead="mcp:another")
    result = lead.call("stop_sessions", sessions=[one.short_id, stranger.id, "ffffffff"], reason="enough")
    assert [entry["session"] for entry in result["stopped"]] == [one.short_id]
    assert [entry["error"].partition(":")[0] for entry in result["not_stopped"]] == ["not_yours", "unknown_session"]
    assert result["reason"] == "enough"
    assert lead.manager.reader.by_id(stranger.id).status is Status.DONE


def test_stopping_has_a_default_reason(lead):
    assert lead.call("stop_sessions", sessions=[lead.worker().short_id])["reason"] == "ended by its lead"


def test_a_worker_that_was_stopped_by_its_lead_is_not_named_again(lead):
    lead.call("stop_sessions", sessions=[lead.worker().short_id])
    assert "ended" not in lead.call("wait_for")


@pytest.fixture
def asks(lead):
    """A worker that waits for answers; makes its asks."""
    one = lead.at_work(id="abcdef01-0000-4000-8000-000000000000")

    def ask(key="k1", **facts):
        usual = {"kind": AskKind.COMMAND, "tool": "Bash", "title": f"run: {key}", "body": key, "cwd": one.cwd}
        lead.manager.store.asks.record(one.id, 1, 1, Ask(key=key, **usual | facts))
        with lead.manager.store.database.transaction() as db:
            db.execute("UPDATE sessions SET status = 'waiting' WHERE id = ?", (one.id,))
        return lead.manager.reader.asks(one.id)[-1]

    return ask


QUESTION = Question(key="colour", text="Which colour?", choices=(Choice(label="red"), Choice(label="blue")))


def answer_of(lead, asked):
    return lead.manager.store.asks.one(asked.id).answer


def test_what_a_worker_asks_is_shown_and_answered(lead, asks):
    asked = asks("make test")
    needing = lead.call("wait_for")["needs_you"][0]
    assert needing["asks"] == [
        {"ask": asked.id, "kind": "command", "wants": "run: make test", "choices": ["allow", "always", "deny", "stop"]}
    ]
    result = lead.call("answer", session="abcdef01", decision="allow")
    assert (result["ask"], result["decision"]) == (asked.id, "allow")
    assert answer_of(lead, asked).verdict is Verdict.ALLOW


def test_a_lead_is_shown_the_whole_of_what_it_allows(lead, asks):
    asks(kind=AskKind.EDIT, title="edit a.py", body="-a\n+b" + " " * 90 + "c", paths=("/elsewhere/a.py",))
    [ask] = lead.call("wait_for")["needs_you"][0]["asks"]
    assert (ask["wants"], ask["text"]) == ("edit a.py", "-a\n+b⟨90 blanks⟩c")


def test_a_second_ask_with_the_same_words_is_named_again(lead, asks):
    first = asks("make")
    lead.call("wait_for")
    lead.call("answer", session="abcdef01", decision="deny")
    asks("make again", title=first.ask.title)
    assert len(lead.call("wait_for", seconds=60)["needs_you"][0]["asks"]) == 1


def test_a_denial_has_a_reason(lead, asks):
    asked = asks()
    lead.call("answer", session="abcdef01", decision="deny", text="use make")
    assert (answer_of(lead, asked).verdict, answer_of(lead, asked).message) == (Verdict.DENY, "use make")


def test_a_question_is_answered_in_words(lead, asks):
    asked = asks(kind=AskKind.QUESTION, questions=(QUESTION,), verdicts=(Verdict.ANSWER, Verdict.DENY))
    assert lead.call("wait_for")["needs_you"][0]["asks"][0]["choices"] == ["red", "blue"]
    refused(lead, "no_text", "answer", session="abcdef01")
    lead.call("answer", session="abcdef01", text="blue")
    assert answer_of(lead, asked).values == {"colour": ("blue",)}


@pytest.mark.parametrize(
    ("facts", "arguments", "code"),
    [
        ({}, {}, "no_decision"),
        ({}, {"decision": "allow", "ask": 99}, "nothing_asked"),
        ({"body": "rm -rf /"}, {"decision": "allow"}, "needs_the_user"),
        ({"body": "rm -rf /"}, {"decision": "always"}, "needs_the_user"),
        ({"each_time": True}, {"decision": "allow"}, "needs_the_user"),
        ({"body": "echo " + "x" * 5_000}, {"decision": "allow"}, "needs_the_user"),
        ({"kind": AskKind.PERMISSIONS}, {"decision": "allow"}, "needs_the_user"),
        ({"kind": AskKind.FORM, "questions": (QUESTION, QUESTION)}, {"text": "x"}, "needs_the_user"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused(lead, asks, facts, arguments, code):
    asked = asks(**facts)
    refused(lead, code, "answer", session="abcdef01", **arguments)
    assert answer_of(lead, asked) is None


FOR_THE_USER = [
    {"body": "ls *.py"}, {"body": "FOO=1 make"}, {"body": "make > log"}, {"body": "git push --force"},
    {"body": "python3 '-cx'"},
    {"body": "cat /etc/passwd"}, {"body": "git log --output=x"}, {"each_time": True}, {"kind": AskKind.PERMISSIONS},
    {"kind": AskKind.EDIT, "tool": "Write", "paths": ("/etc/x",)},
    {"kind": AskKind.EDIT, "tool": "Write", "paths": (".claude/settings.json",)},
    {"kind": AskKind.EDIT, "tool": "Write"}, {"kind": AskKind.TOOL, "tool": "Read", "paths": ("../x",)},
    {"kind": AskKind.FORM, "questions": (QUESTION, QUESTION)},
    {"kind": AskKind.QUESTION, "questions": (Question(key="k", text="?", secret=True),)},
]  # fmt: skip


@pytest.mark.parametrize("facts", FOR_THE_USER, ids=str)
def test_what_only_the_user_can_allow_is_offered_to_no_lead(lead, asks, facts):
    asked = asks(**facts)
    needing = lead.call("wait_for")
    [shown] = needing["needs_you"][0]["asks"]
    assert shown["decides"].startswith("the user: ")
    assert set(shown["choices"]) <= {"deny", "stop"}
    assert needing["next"] == "the user decides; wait_for again, or do other work."
    for arguments in ({"decision": "allow"}, {"decision": "always"}, {"decision": "allow", "text": "x"}):
        text = refused(lead, "needs_the_user", "answer", session="abcdef01", **arguments)
        assert shown["decides"].removeprefix("the user: ") in text
    lead.call("answer", session="abcdef01", decision="deny", text="no")
    assert answer_of(lead, asked).verdict is Verdict.DENY


@pytest.mark.parametrize("body", ["make test", "npm run build", "git commit -m x", "touch x", "pytest -q | tail -5"])
def test_what_a_lead_can_allow_is_offered(lead, asks, body):
    asks(body=body)
    [shown] = lead.call("wait_for")["needs_you"][0]["asks"]
    assert "decides" not in shown, shown
    assert "allow" in shown["choices"]
    assert lead.call("answer", session="abcdef01", decision="allow")["decision"] == "allow"


def test_a_lead_is_shown_the_whole_command(lead, asks):
    asks(title="run: make test …", body=f"make test{' ' * 900};\ntouch x")
    [shown] = lead.call("wait_for")["needs_you"][0]["asks"]
    assert shown["text"] == "make test⟨900 blanks⟩;\ntouch x"


def test_a_command_that_is_too_long_for_a_lead_is_the_users(lead, asks):
    asks(body=f"make test{' ' * 6000}; touch x")
    [shown] = lead.call("wait_for")["needs_you"][0]["asks"]
    assert (shown["decides"], shown["choices"]) == ("the user: it is too long for its lead", ["deny", "stop"])
    refused(lead, "needs_the_user", "answer", session="abcdef01", decision="allow")


def test_a_lead_gives_no_permission_that_the_agent_would_widen(lead, asks):
    asks(body="make", always="permission mode acceptEdits for this session", verdicts=tuple(Verdict)[:4])
    [shown] = lead.call("wait_for")["needs_you"][0]["asks"]
    assert shown["choices"] == ["allow", "deny", "stop"]
    assert "acceptEdits" in refused(lead, "needs_the_user", "answer", session="abcdef01", decision="always")
    assert lead.call("answer", session="abcdef01", decision="allow")["decision"] == "allow"


def test_one_of_several_asks_is_named(lead, asks):
    asks("one")
    two = asks("two")
    refused(lead, "several_asks", "answer", session="abcdef01", decision="allow")
    assert lead.call("answer", session="abcdef01", decision="deny", ask=two.id)["more_asks"] == 1


def test_a_worker_that_asks_nothing_takes_no_answer(lead):
    refused(lead, "nothing_asked", "answer", session=lead.worker().id, decision="allow")


def test_processes_of_a_lost_turn_refuse_a_message(lead, monkeypatch):
    one = lead.worker(last=Status.LOST)
    monkeypatch.setattr("agentdash.sessions.service.lifecycle.recovery.reconcile.survivors", lambda *_: [1])
    assert "stop_sessions" in refused(lead, "survivors", "send_message", session=one.id, message="go on")
