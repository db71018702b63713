"""Who calls: the tag, the nearest ancestor, the conversation of an outside lead."""

import os
import subprocess
import sys

import pytest

from agentdash.sessions.families import caller as calling
from agentdash.sessions.families.caller import CLAUDE_SESSION, Caller, find_caller
from agentdash.sessions.processes import processes

SESSION = "12345678-aaaa"


@pytest.fixture
def ancestors(monkeypatch):
    """Replace the environments of the ancestors, the nearest first."""

    def are(*environments):
        monkeypatch.setattr(calling, "_ancestors", lambda: iter(range(len(environments))))
        monkeypatch.setattr(processes, "environment", lambda pid: environments[pid])
        calling.nearest_ancestor.cache_clear()

    yield are
    calling.nearest_ancestor.cache_clear()


def test_a_tag_in_the_environment_needs_no_ancestor(monkeypatch):
    monkeypatch.setattr(calling, "_ancestors", lambda: pytest.fail("the ancestors were read"))
    assert find_caller({processes.SESSION_TAG: SESSION}) == Caller(session=SESSION, evidence="environment")


def test_the_nearest_ancestor_completes_a_stripped_environment(ancestors):
    outer = {processes.SESSION_TAG: "87654321-bbbb"}
    own = {processes.SESSION_TAG: SESSION, "AGENTDASH_HOME": "/s", "CODEX_HOME": "/c", "SECRET": "x", "PATH": "/p"}
    ancestors({}, own, outer)
    env = {"PATH": "/own"}
    assert find_caller(env) == Caller(session=SESSION, evidence="ancestor")
    assert env == {"PATH": "/own", "AGENTDASH_HOME": "/s", "CODEX_HOME": "/c"}


def test_what_a_runner_adopted_belongs_to_its_session_and_a_hook_to_the_user(ancestors):
    runner = {processes.RUNNER_MARK: f"/state/sessions/{SESSION}/runner.lock"}
    ancestors({}, runner)
    env = {}
    assert find_caller(env) == Caller(session=SESSION, evidence="ancestor")
    assert env["AGENTDASH_HOME"] == "/state"
    ancestors({processes.HOOK_TAG: "done"}, runner)
    assert find_caller({}) == Caller()
    ancestors({}, runner)
    assert find_caller({processes.HOOK_TAG: "done"}) == Caller()


def test_an_outside_lead_is_named_by_its_conversation(ancestors):
    ancestors({}, {})
    assert find_caller({CLAUDE_SESSION: "abc-1"}) == Caller(lead="claude:abc-1", evidence="lead key")
    assert find_caller({CLAUDE_SESSION: "a b\n"}) == find_caller({}) == Caller()


@pytest.mark.parametrize("tag", ["", "../../etc", "x" * 100, "short"])
def test_a_tag_that_cannot_be_an_id_counts_for_nothing(ancestors, tag):
    ancestors({processes.SESSION_TAG: tag}, {processes.RUNNER_MARK: "/x"})
    assert find_caller({processes.SESSION_TAG: tag}).session is None


def test_the_ancestors_of_a_real_process_are_read():
    code = "from agentdash.sessions.families.caller import find_caller; print(find_caller({}).session)"
    shell = f"env -u {processes.SESSION_TAG} {sys.executable} -P -c '{code}'; true"
    env = os.environ | {processes.SESSION_TAG: SESSION}
    assert (
        subprocess.run(["sh", "-c", shell], env=env, capture_output=True, text=True, check=True).stdout
        == f"{SESSION}\n"
    )
