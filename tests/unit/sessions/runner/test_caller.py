"""Who claims to call: the tag, the nearest ancestor with one, the conversation of an outside lead."""

import os
import subprocess
import sys

import pytest

from agentdash.sessions.runner import caller as calling
from agentdash.sessions.runner.caller import CLAUDE_SESSION, Caller, Link, find_caller
from agentdash.sessions.runner.processes import processes

SESSION = "12345678-aaaa"


@pytest.fixture
def ancestors(monkeypatch):
    """Replace the environments of the ancestors, the nearest first."""

    def are(*environments):
        links = tuple(Link(100 + n, n, env) for n, env in enumerate(environments))
        monkeypatch.setattr(calling, "ancestors", lambda: links)

    are()
    return are


def claim(env):
    """The claim of a caller with this environment: its session, its lead, and the evidence."""
    found = find_caller(env)
    return found.session, found.lead, found.evidence


def test_the_own_tag_is_the_nearest_claim(ancestors):
    ancestors({processes.SESSION_TAG: "87654321-bbbb"})
    assert claim({processes.SESSION_TAG: SESSION}) == (SESSION, None, "environment")


def test_the_nearest_ancestor_completes_a_stripped_environment(ancestors):
    outer = {processes.SESSION_TAG: "87654321-bbbb"}
    own = {processes.SESSION_TAG: SESSION, "AGENTDASH_HOME": "/s", "CODEX_HOME": "/c", "SECRET": "x", "PATH": "/p"}
    ancestors({}, own, outer)
    env = {"PATH": "/own"}
    assert claim(env) == (SESSION, None, "ancestor")
    assert env == {"PATH": "/own", "AGENTDASH_HOME": "/s", "CODEX_HOME": "/c"}


def test_what_a_runner_adopted_claims_its_session_and_no_variable_hides_that(ancestors):
    runner = {processes.RUNNER_MARK: f"/state/sessions/{SESSION}/runner.lock"}
    ancestors({}, runner)
    for hiding in ({}, {processes.HOOK_TAG: "done"}, {processes.RUNNER_MARK: "x"}):
        env = dict(hiding)
        assert claim(env) == (SESSION, None, "ancestor")
        assert env["AGENTDASH_HOME"] == "/state"
    ancestors({processes.HOOK_TAG: "done"}, runner)
    assert claim({}) == (SESSION, None, "ancestor")


def test_an_outside_lead_is_named_by_its_conversation(ancestors):
    ancestors({}, {})
    assert claim({CLAUDE_SESSION: "abc-1"}) == (None, "claude:abc-1", "lead key")
    assert claim({CLAUDE_SESSION: "a b\n"}) == claim({}) == (None, None, "")
    assert find_caller({}).acts_for_user
    assert not Caller(lead="agentdash:x", evidence="elsewhere").acts_for_user


@pytest.mark.parametrize("tag", ["", "../../etc", "x" * 100, "short"])
def test_a_tag_that_cannot_be_an_id_counts_for_nothing(ancestors, tag):
    ancestors({processes.SESSION_TAG: tag}, {processes.RUNNER_MARK: "/x"})
    assert find_caller({processes.SESSION_TAG: tag}).session is None


def test_the_ancestors_of_a_real_process_are_read():
    code = "from agentdash.sessions.runner.caller import find_caller; print(find_caller({}).session)"
    shell = f"env -u {processes.SESSION_TAG} {sys.executable} -P -c '{code}'; true"
    env = os.environ | {processes.SESSION_TAG: SESSION}
    assert (
        subprocess.run(["sh", "-c", shell], env=env, capture_output=True, text=True, check=True).stdout
        == f"{SESSION}\n"
    )


CHAIN = """
import os, sys
for _ in range(100):
    child = os.fork()
    if child:
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
os.execve(sys.executable, [sys.executable, "-P", "-c", sys.argv[1]], {"PATH": os.environ["PATH"]})
"""


def test_no_number_of_processes_without_an_environment_hides_the_session_above_them():
    code = "from agentdash.sessions.runner.caller import find_caller; print(find_caller({}).session)"
    env = os.environ | {processes.SESSION_TAG: SESSION}
    words = ["sh", "-c", f"env -i PATH=$PATH {sys.executable} -c '{CHAIN}' '{code}'; true"]
    assert subprocess.run(words, env=env, capture_output=True, text=True, check=True).stdout == f"{SESSION}\n"


def test_a_parent_that_ends_while_the_line_is_read_hides_nobody_above_it(monkeypatch):
    """The child of an ancestor that ended has another parent, so that the line is read again."""
    tree = {9: (8, 90), 8: (7, 80), 7: (1, 70)}
    ends = [8]

    def by_pid(pid, *, commands=True):
        assert not commands
        if pid in ends:
            ends.clear()
            tree[9] = (7, 90)
            return None
        parent, start = tree[pid]
        return processes.Process(pid=pid, start=start, parent=parent, group=pid, command="x")

    monkeypatch.setattr(os, "getpid", lambda: 9)
    monkeypatch.setattr(processes, "by_pid", by_pid)
    monkeypatch.setattr(processes, "environment", lambda pid: {})
    calling.ancestors.cache_clear()
    try:
        assert [link.pid for link in calling.ancestors()] == [7]
    finally:
        calling.ancestors.cache_clear()
