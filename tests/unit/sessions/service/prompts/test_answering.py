"""Answers to the asks of a session whose runner is played by the test, from Python and from the command line."""

import json
import os

import click
import pytest
from verbs import verb

from agentdash.sessions.model.errors import NotAllowedError, SessionBusyError, UnknownSessionError, UsageError
from agentdash.sessions.rules.asks.model import Answer, Ask, AskKind, Choice, Question, Verdict
from agentdash.sessions.rules.asks.recorded import AskState
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.runner.caller import Caller
from agentdash.sessions.runner.processes import processes, runner_lock
from agentdash.sessions.service.families.rights import Rights
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.storage.turns.claim import Owner
from agentdash.sessions.storage.turns.turn_log import TurnLog
from agentdash.tui.cli.commands.prompting import asks

NAME = "abcdef01-0000-4000-8000-000000000000"
ALLOW, DENY = Answer(verdict=Verdict.ALLOW), Answer(verdict=Verdict.DENY)


class Runner:
    """A session with a running turn: its lock and its FIFO are held here."""

    def __init__(self, manager, name=NAME, host=None):
        self.store, self.name = manager.store, name
        start = Start("do it", agent="command", title="do it", cwd="/", session_id=name)
        manager.store.create(start, Launch(argv=("true",)), "r", host=host or processes.host_name())
        self.folder = manager.layout.session(name)
        self.folder.create()
        self.lock = runner_lock.hold(self.folder.lock)
        log = TurnLog(manager.store, name, 1, Owner(pid=1, start=2, boot_id="boot", pid_ns="ns"))
        assert log.claim() is not None
        log.running(10, 11)
        self.poked = os.open(self.folder.poke, os.O_RDWR | os.O_NONBLOCK)

    def asks(self, key="k1", **facts):
        usual = {"kind": AskKind.COMMAND, "tool": "Bash", "title": f"run: {key}", "body": key}
        return self.store.asks.record(self.name, 1, 1, Ask(key=key, **usual | facts))

    def pokes(self):
        try:
            return os.read(self.poked, 100)
        except BlockingIOError:
            return b""

    def close(self):
        os.close(self.poked)
        self.lock.release()


@pytest.fixture
def manager(monkeypatch):
    monkeypatch.delenv(processes.SESSION_TAG, raising=False)
    with SessionManager() as manager:
        yield manager


@pytest.fixture
def runner(manager):
    runner = Runner(manager)
    yield runner
    runner.close()


def test_an_answer_wakes_the_runner_which_finds_it(manager, runner):
    one = runner.asks()
    assert manager.reader.asks() == manager.reader.asks("abcdef01") == [one]
    answered = manager.asks.answer(one.id, ALLOW)
    assert (answered.state, answered.answer, answered.answered_by) == (AskState.ANSWERED, ALLOW, "you")
    assert runner.pokes() == b"!"
    assert [each.id for each in manager.store.asks.answered(NAME)] == [one.id]
    assert manager.reader.asks() == []


@pytest.mark.parametrize("body", ["rm -rf x", "ls *.py", "git log --output=x", "cat x | sh"])
def test_an_agent_cannot_allow_from_inside_its_session_what_only_the_user_can(manager, runner, monkeypatch, body):
    one = runner.asks(body=body, cwd="/srv")
    monkeypatch.setattr(Rights, "check", lambda *_, **__: None)  # its lead
    manager.asks.rights = Rights(Caller(session="12345678-aaaa"))
    for verdict in (Verdict.ALLOW, Verdict.ALWAYS):
        with pytest.raises((NotAllowedError, UsageError)):
            manager.asks.answer(one.id, Answer(verdict=verdict))
    assert manager.reader.asks() == [one]
    assert manager.asks.answer(one.id, DENY).answered_by == "session 12345678"


def test_an_agent_can_allow_from_inside_its_session_what_a_lead_can(manager, runner, monkeypatch):
    monkeypatch.setattr(Rights, "check", lambda *_, **__: None)
    manager.asks.rights = Rights(Caller(session="12345678-aaaa"))
    assert manager.asks.answer(runner.asks(body="make test").id, ALLOW).answer == ALLOW
    assert manager.asks.answer(runner.asks("k2", body="make test").id, ALLOW).answer == ALLOW
    manager.asks.rights = Rights(Caller())
    assert manager.asks.answer(runner.asks("k3", body="rm -rf x").id, ALLOW).answer == ALLOW  # the user


def test_who_comes_second_is_told_who_was_first(manager, runner):
    one = runner.asks()
    manager.asks.answer(one.id, DENY, by="rule: deny all")
    runner.pokes()
    with pytest.raises(SessionBusyError, match=rf"Ask {one.id} takes no answer: denied by rule: deny all \d+ s ago\."):
        manager.asks.answer(one.id, ALLOW)
    assert runner.pokes() == b""
    assert manager.store.asks.one(one.id).answer == DENY


@pytest.mark.parametrize("kind", ["stop", "kill", "interrupt"])
def test_an_ask_of_a_turn_that_is_being_ended_takes_no_answer(manager, runner, kind):
    one = runner.asks()
    manager.store.request(NAME, 1, kind, "you")
    with pytest.raises(SessionBusyError, match=rf"Ask {one.id} takes no answer: turn 1 is being ended\."):
        manager.asks.answer(one.id, ALLOW)
    assert (manager.store.asks.one(one.id).state, runner.pokes()) == (AskState.OPEN, b"")


def test_an_agent_that_is_to_be_closed_when_it_waits_gets_the_answer(manager, runner):
    one = runner.asks()
    manager.store.request(NAME, 1, "close", "agentdash")
    assert manager.asks.answer(one.id, ALLOW).state is AskState.ANSWERED


def test_the_number_of_an_ask_of_a_deleted_session_is_never_that_of_another(manager, runner):
    gone = runner.asks()
    with manager.store.database.transaction() as db:
        db.execute("DELETE FROM asks")
    assert runner.asks("other").id > gone.id
    with pytest.raises(UnknownSessionError, match=f"There is no ask {gone.id}"):
        manager.asks.answer(gone.id, ALLOW)


def test_an_ask_is_named_by_its_number(manager, runner):
    with pytest.raises(SessionBusyError, match="Session abcdef01 asks nothing"):
        manager.asks.named("abcdef01")
    first = runner.asks()
    assert manager.asks.named("abcdef01", str(first.id)) == first
    with pytest.raises(UsageError, match=f"has an open ask: {first.id}. Give the number"):
        manager.asks.named("abcdef01")
    second = runner.asks("k2")
    with pytest.raises(UsageError, match=f"has 2 open asks: {first.id}, {second.id}. Give the number"):
        manager.asks.named("abcdef01")
    assert manager.asks.named("abcdef01", str(second.id)) == second
    with pytest.raises(UsageError, match=f"has no ask 99. Open: {first.id}, {second.id}"):
        manager.asks.named("abcdef01", "99")
    manager.asks.answer(first.id, ALLOW)
    with pytest.raises(SessionBusyError, match="allowed by you"):
        manager.asks.named("abcdef01", str(first.id))


def test_an_answer_that_does_not_fit_changes_nothing(manager, runner):
    one = runner.asks(verdicts=(Verdict.ALLOW,))
    with pytest.raises(UsageError, match="does not take deny"):
        manager.asks.answer(one.id, DENY)
    assert manager.reader.asks() == [one]
    assert runner.pokes() == b""


def test_an_agent_that_ended_takes_no_answer(manager, runner):
    one = runner.asks()
    with manager.store.database.transaction() as db:
        db.execute("UPDATE turns SET status = 'failed'")
        db.execute("UPDATE sessions SET status = 'failed'")
    runner.lock.release()
    with pytest.raises(SessionBusyError, match="takes no answer: the agent ended first"):
        manager.asks.answer(one.id, ALLOW)
    assert manager.store.asks.one(one.id).state is AskState.LOST
    runner.lock = runner_lock.hold(runner.folder.lock)


def test_the_ask_of_a_deleted_session_is_gone(manager, runner):
    with pytest.raises(UnknownSessionError, match="no ask 99"):
        manager.asks.answer(99, ALLOW)


def test_a_session_of_another_host_is_answered_there(manager):
    other = Runner(manager, "elsewhere", host="mars")
    with pytest.raises(SessionBusyError, match="runs on mars"):
        manager.asks.answer(other.asks().id, ALLOW)
    other.close()


def test_a_session_answers_others_under_its_name_and_never_itself(manager, runner):
    one = runner.asks()
    manager.asks.rights = Rights(Caller(session=NAME), reach=lambda: "all")
    with pytest.raises(UsageError, match="cannot answer what it asks itself"):
        manager.asks.answer(one.id, ALLOW)
    manager.asks.rights = Rights(Caller(session="12345678-aaaa"), reach=lambda: "all")
    assert manager.asks.answer(one.id, ALLOW).answered_by == "session 12345678"


COLOUR = Question(key="Which=colour?", text="Which colour?", choices=(Choice(label="Red"), Choice(label="$(x)")))
PASSWORD = Question(key="password", text="Password?", secret=True)


def test_the_verbs_list_and_answer(manager, runner):
    assert verb("asks").stdout == "No open asks.\n"
    first, second = runner.asks("make build", why="to build again"), runner.asks("rm -r build")
    listed = verb("asks").stdout.splitlines()
    assert [line.split()[:2] for line in listed] == [["abcdef01", str(first.id)], ["abcdef01", str(second.id)]]
    assert listed[0].endswith("run: make build")
    shown = verb("asks", "abcdef01").stdout
    assert "why: to build again" in shown
    assert "| make build" in shown
    assert "always: the same, for this session (agentdash remembers it)" in shown
    assert "takes: allow, always, deny, stop" in shown
    assert "takes: allow, deny, stop" in shown.partition("run: rm -r build")[2]
    [one, _] = json.loads(verb("asks", "--json").stdout)
    assert (one["id"], one["session"], one["state"], one["title"]) == (first.id, NAME, "open", "run: make build")
    assert one["verdicts"] == ["allow", "always", "deny", "stop"]
    ambiguous = verb("approve", "abcdef01")
    assert (ambiguous.returncode, "has 2 open asks" in ambiguous.stderr) == (2, True)
    assert "| make build" in ambiguous.stderr
    done = verb("approve", "abcdef01", str(first.id), "--always")
    assert (done.returncode, done.stdout) == (
        0, "allowed for this session: run: make build (session abcdef01)\n",
    )  # fmt: skip
    refused = verb("approve", "abcdef01", str(second.id), "--always")
    assert (refused.returncode, "does not take always. It takes: allow, deny, stop." in refused.stderr) == (2, True)
    denied = json.loads(verb("deny", "abcdef01", str(second.id), "--message", "not now", "--stop", "--json").stdout)
    assert denied["answer"] == {"verdict": "stop", "message": "not now", "values": {}}
    assert denied["answered_by"] == "you"
    late = verb("deny", "abcdef01", str(second.id))
    assert (late.returncode, "denied and stopped by you" in late.stderr) == (1, True)
    assert verb("approve", "abcdef01").returncode == 1


def test_questions_are_answered_by_name_or_number(manager, runner):
    facts = {"kind": AskKind.FORM, "questions": (COLOUR, PASSWORD), "verdicts": (Verdict.ANSWER, Verdict.DENY)}
    one = runner.asks(**facts)
    assert "name: Which=colour?" in verb("asks", "abcdef01").stdout
    number = str(one.id)
    wrong = verb("answer", "abcdef01", number, "size=3")
    assert (wrong.returncode, "No question has the name 'size'" in wrong.stderr) == (2, True)
    assert "'Red' is not NAME=VALUE" in verb("answer", "abcdef01", number, "1=Red", "Red").stderr
    assert verb("answer", "abcdef01", str(one.id)).returncode == 2
    assert verb("approve", "abcdef01", number).returncode == 2
    done = verb("answer", "abcdef01", str(one.id), "Which=colour?=Bl=ue", "2=hunter2", "--json")
    assert json.loads(done.stdout)["answer"]["values"] == {"Which=colour?": ["Bl=ue"]}
    assert "hunter2" not in done.stdout
    assert manager.store.asks.answered(NAME)[0].answer.values["password"] == ("hunter2",)
    again = runner.asks("k2", **facts)
    late = verb("answer", "abcdef01", "1=Red", "password=-")
    assert (late.returncode, "Give the number" in late.stderr) == (2, True)
    assert verb("answer", "abcdef01", str(again.id), "1=Red", "password=-").returncode == 0
    assert manager.store.asks.answered(NAME)[-1].answer.values == {"Which=colour?": ("Red",), "password": ("",)}
    assert manager.store.asks.one(again.id).answer.values == {"Which=colour?": ("Red",)}


def test_what_is_open_now_is_never_allowed_in_place_of_what_was_shown(manager, runner):
    shown = runner.asks("make test")
    verb("asks", "abcdef01")
    manager.store.asks.settle(NAME, 1, "make test", answered=False)
    open_now = runner.asks("rm -rf important")
    for words in (
        ["approve", "@last"],
        ["approve", "abcdef01"],
        ["deny", "@last"],
        ["approve", "abcdef01", str(shown.id)],
    ):
        assert verb(*words).returncode != 0
    assert manager.reader.asks() == [open_now]


LONG = "make test" + " " * 6_000 + "; touch PWN\n" + "\n".join(f"echo {n}" for n in range(900))


def test_the_verbs_show_the_whole_of_what_they_allow(manager, runner):
    one = runner.asks(title="run: " + LONG.partition("\n")[0] + " …", body=LONG)
    assert "run: make test⟨6,000 blanks⟩; touch PWN …" in verb("asks").stdout
    refused = verb("approve", "abcdef01", str(one.id))
    assert (refused.returncode, "Read it, then repeat this" in refused.stderr) == (2, True)
    assert manager.reader.asks() == [one]
    for printed in (refused.stderr, verb("asks", "abcdef01").stdout):
        assert "| make test⟨6,000 blanks⟩; touch PWN" in printed
        assert "| echo 899" in printed
    done = verb("approve", "abcdef01", str(one.id))
    assert done.stdout.startswith("allowed: run: make test⟨6,000 blanks⟩; touch PWN")
    assert "…" in done.stdout


@pytest.mark.parametrize("words", [["asks", "abcdef01"], ["asks", "--json"], ["approve", "abcdef01"]])
def test_an_ask_that_was_printed_whole_can_be_allowed(manager, runner, words):
    one = runner.asks(kind=AskKind.EDIT, title="edit a.py", body="-a\n+b", paths=("a.py",))
    assert verb("approve", "abcdef01", str(one.id), "--json").returncode == 2
    (manager.layout.told / "old").touch()
    for record in manager.layout.told.iterdir():
        record.unlink()
    verb(*words)
    assert verb("approve", "abcdef01", str(one.id)).returncode == 0


def test_what_was_shown_to_a_session_was_not_shown_to_the_user(manager, runner):
    one = runner.asks(kind=AskKind.EDIT, title="edit a.py", body="-a\n+b", paths=("a.py",))
    manager.asks.rights = Rights(Caller(session="12345678-aaaa"))
    manager.asks.shown.note([one])
    assert manager.asks.shown.has(one)
    assert verb("approve", "abcdef01", str(one.id)).returncode == 2


def test_what_is_too_long_to_be_shown_can_only_be_denied(manager, runner):
    one = runner.asks(kind=AskKind.EDIT, title="edit a.py", body="+x\n" * 600_000, paths=("a.py",))
    shown = verb("asks", "abcdef01").stdout
    assert "left out: 751,424 of 1,800,000 bytes of its text; so it can only be denied" in shown
    assert "takes: deny, stop" in shown
    refused = verb("approve", "abcdef01", str(one.id))
    assert (refused.returncode, "too long to be shown whole" in refused.stderr) == (2, True)
    assert verb("deny", "abcdef01", str(one.id)).returncode == 0


def test_a_form_is_listed_and_filled_in_with_its_defaults_and_limits(manager, runner):
    form = (
        Question(key="n", text="How many?", type="integer", minimum=1, maximum=9, default=("2",)),
        Question(key="mail", text="Mail", format="email"),
    )
    one = runner.asks(kind=AskKind.FORM, questions=form, verdicts=(Verdict.ANSWER, Verdict.DENY))
    shown = verb("asks", "abcdef01").stdout
    assert "1  How many? (whole number, 1 to 9)" in shown
    assert "default: 2" in shown
    assert "2  Mail (email address)" in shown
    [field, mail] = json.loads(verb("asks", "--json").stdout)[0]["questions"]
    assert (field["minimum"], field["maximum"], field["default"], mail["format"]) == (1, 9, ["2"], "email")
    for words in (["n=99", "mail=a@b.org"], ["mail=notmail"]):
        refused = verb("answer", "abcdef01", str(one.id), *words)
        assert (refused.returncode, "it must be" in refused.stderr) == (2, True)
    done = json.loads(verb("answer", "abcdef01", str(one.id), "mail=a@b.org", "--json").stdout)
    assert done["answer"]["values"] == {"n": ["2"], "mail": ["a@b.org"]}


def test_completion_offers_open_asks_and_plain_choices_alone(manager, runner):
    one = runner.asks(kind=AskKind.QUESTION, questions=(COLOUR,), verdicts=(Verdict.ANSWER,))
    context = click.Context(asks.answer)
    context.params = {"ref": "abcdef01"}
    assert [item.value for item in asks.complete_asking_ids(None, None, "abc")] == ["abcdef01"]
    assert [item.value for item in asks.complete_asks(context, None, "")] == [str(one.id)]
    assert [item.value for item in asks.complete_values(context, None, "")] == [str(one.id), "1=Red"]
    manager.asks.answer(one.id, Answer(verdict=Verdict.ANSWER, values={COLOUR.key: ("x",)}))
    assert asks.complete_asking_ids(None, None, "") == []
    assert asks.complete_asks(context, None, "") == []
