"""The environment of an agent's process in an explanation: names that differ, never values."""

import os
import subprocess

import pytest
from factories import turn

from agentdash.sessions.runner.processes import processes
from agentdash.sessions.service.lifecycle import explain
from agentdash.sessions.service.lifecycle.explain import _environment_facts, differing


@pytest.fixture
def agent():
    """A process with a key of its own and an old path."""
    env = {"PATH": os.environ["PATH"], "ANTHROPIC_API_KEY": "sk-old", "COLUMNS": "3"}
    with subprocess.Popen(["sleep", "60"], env=env) as process:
        yield process
        process.kill()


def test_only_names_are_told_and_only_of_variables_that_concern_agents(agent, monkeypatch):
    monkeypatch.setattr(explain, "agent_lives", lambda _: True)
    found = processes.by_pid(agent.pid)
    now = {"PATH": os.environ["PATH"], "ANTHROPIC_API_KEY": "sk-new", "OPENAI_API_KEY": "sk", "COLUMNS": "4"}
    one = turn(1, agent_pid=agent.pid, agent_start=found.start)
    [fact] = _environment_facts(one, now)
    assert "not as here now: ANTHROPIC_API_KEY, OPENAI_API_KEY;" in fact.value
    assert "sk-" not in fact.value
    [same] = _environment_facts(one, {"PATH": os.environ["PATH"], "ANTHROPIC_API_KEY": "sk-old"})
    assert same.value.endswith("as here now")


def test_a_variable_that_is_not_set_now_does_not_count():
    assert differing({"CODEX_HOME": "/x"}, {}) == []
    assert differing({}, {"https_proxy": "http://proxy", "EDITOR": "vi"}) == ["https_proxy"]
