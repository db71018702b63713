"""The environment of what a process inside a session starts for others."""

import pytest

from agentdash.sessions.model.membership import Membership
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.runner import base_environment
from agentdash.sessions.runner.base_environment import base_for, base_of_user, record, serves
from agentdash.sessions.runner.caller import Caller
from agentdash.sessions.service.manager import SessionManager

LEAD, WORKER = "11111111-family", "22222222-family"


@pytest.fixture
def begun(monkeypatch):
    """A session of the user and one that it started, each begun in an environment of its own."""
    monkeypatch.setattr(base_environment, "_agents_choice", None)
    monkeypatch.setenv("KEY", "the user's")
    monkeypatch.delenv("BASH_ENV", raising=False)
    with SessionManager(caller=Caller()) as manager:
        for name, parent in ((LEAD, None), (WORKER, LEAD)):
            folder = manager.layout.session(name)
            folder.create()
            record(folder)
            start = Start("work", agent="command", cwd="/tmp", title=name, session_id=name)
            place = Membership(parent=parent, depth=int(parent is not None))
            env = {"PATH": "/the/user's", "CODEX_HOME": None}
            manager.store.create(start, Launch(argv=("x",)), name, host="mars", membership=place, env=env)
            monkeypatch.setenv("BASH_ENV", "/evil")
        monkeypatch.setenv("KEY", "the agent's")
        monkeypatch.setenv("LD_PRELOAD", "/evil.so")
        yield manager


def names(env):
    return {name: env[name] for name in ("KEY", "BASH_ENV", "LD_PRELOAD") if name in env}


def test_a_command_of_the_user_hands_on_what_it_has(begun):
    everything = {"KEY": "the agent's", "BASH_ENV": "/evil", "LD_PRELOAD": "/evil.so"}
    assert names(base_for(begun.layout.session(LEAD))) == everything
    serves(begun.store, LEAD)
    assert names(base_for(begun.layout.session(LEAD))) == everything


def test_what_works_for_a_session_of_an_agent_hands_on_only_what_each_session_began_with(begun, monkeypatch):
    serves(begun.store, WORKER)
    assert names(base_for(begun.layout.session(LEAD))) == {}
    assert names(base_for(begun.layout.session(WORKER))) == {"BASH_ENV": "/evil"}
    monkeypatch.setenv("KEY", "the user's")
    assert names(base_for(begun.layout.session(LEAD))) == {"KEY": "the user's"}


def test_a_command_inside_a_session_is_no_other(begun, monkeypatch):
    monkeypatch.setenv("AGENTDASH_SESSION_ID", WORKER)
    assert names(base_for(begun.layout.session(LEAD))) == {}


def test_the_hook_of_a_worker_has_the_environment_that_the_user_gave_to_its_lead(begun):
    serves(begun.store, WORKER)
    env = base_of_user(begun.layout, begun.store, begun.reader.by_id(WORKER))
    assert (names(env), env["PATH"], "CODEX_HOME" in env) == ({}, "/the/user's", False)


def test_without_a_record_only_plain_variables_are_kept(begun, monkeypatch):
    begun.layout.session(LEAD).environment.unlink()
    monkeypatch.setenv("LANG", "C.UTF-8")
    serves(begun.store, WORKER)
    env = base_for(begun.layout.session(LEAD))
    assert env["LANG"] == "C.UTF-8"
    assert names(env) == {}


def test_the_record_has_no_value(begun):
    text = begun.layout.session(LEAD).environment.read_text("ascii")
    assert "user" not in text
    assert begun.layout.session(LEAD).environment.stat().st_mode & 0o077 == 0
