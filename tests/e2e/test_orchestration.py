"""A lead outside agentdash with scripted agents as workers: real processes, the tools as a client calls them."""

import threading
from pathlib import Path

import pytest
from leading import Leading, lead_of

from agentdash.sessions.model.errors import RefusalError
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.runner.caller import Caller
from agentdash.sessions.service.lifecycle.stop_family import NOW
from agentdash.sessions.service.manager import SessionManager

SETTINGS = """
[orchestration]
mode = "full"
[agents.scripted]
speed = 200
[presets.live]
agent = "scripted"
options = { live = true, approvals = "ask" }
"""


@pytest.fixture
def lead(scripted_agent, manager, tmp_path):
    """A lead outside; ``manager`` stops its workers at the end of the test."""
    (tmp_path / "config.toml").write_text(SETTINGS)
    with SessionManager(caller=lead_of()) as own:
        yield Leading(own, wait_seconds=60.0)


@pytest.fixture
def begun(lead, wait_until):
    """Waits until a worker's agent has named its conversation."""

    def wait(started):
        def named():
            session = lead.manager.reader.get(started["session"])
            return session if session.agent_session and session.steps > 1 else None

        return wait_until(named, what="the agent to begin")

    return wait


def ended(result):
    return {end["session"]: end for end in result.get("ended", [])}


@pytest.mark.smoke
def test_a_lead_delegates_waits_reads_and_goes_on(lead):
    first = lead.call("delegate", task="count [[script:quick]]", agent="scripted", title="one", key="k1")
    assert (first["agent"], first["cwd"]) == ("scripted", str(Path.cwd()))
    assert lead.call("delegate", task="count [[script:quick]]", key="k1")["session"] == first["session"]
    second = lead.call("delegate", task="again [[script:quick]]", agent="scripted", title="two")
    result = lead.call("wait_for", until="all", seconds=60)
    assert {*ended(result)} == {first["session"], second["session"]}
    one = ended(result)[first["session"]]
    assert (one["title"], one["status"], one["turn"]) == ("one", "done", 1)
    assert one["did"]["commands_failed"] == 1
    text = lead.call("read", session=first["session"], part="steps")
    assert "[command] $ echo out; echo err >&2; exit 3 -> exit 3" in text
    sent = lead.call("send_message", session=first["session"], message="and now? [[script:quick]]", wait_s=60)
    assert sent["delivery"] == "sent"
    assert ended(sent)[first["session"]]["turn"] == 2
    assert "and now?" in lead.call("read", session=first["session"], part="prompt", turn=2)
    listed = lead.call("list_sessions", status="DONE")
    assert [entry["title"] for entry in listed["workers"]] == ["two", "one"]
    assert not any(entry.get("unread") for entry in listed["workers"])
    rows = {session.title: session for session in lead.manager.reader.sessions()}
    assert (rows["one"].lead, rows["one"].lifecycle, rows["one"].key) == ("mcp:0123456789", "linked", "k1")
    assert rows["one"].source == "orchestrator:01234567"


def test_a_delegation_can_wait_for_its_worker(lead):
    result = lead.call("delegate", task="now [[script:quick]]", agent="scripted", wait_s=60)
    assert result["status"] == "done"
    assert ended(result)[result["session"]]["answer"].startswith("a message about")
    assert "ended" not in lead.call("wait_for")


def test_a_stop_ends_the_processes_and_the_worker_can_go_on(lead, leftovers, begun):
    started = lead.call("delegate", task="[[script:long]]", agent="scripted")
    session = begun(started)
    stopped = lead.call("stop_sessions", sessions=[started["session"]], reason="enough")["stopped"][0]
    assert (stopped["status"], stopped.get("left", 0)) == ("stopped", 0)
    assert stopped["ended"] > 0
    assert leftovers(session.id) == []
    row = lead.manager.reader.get(started["session"])
    assert row.reason.startswith("stopped by its lead: enough")
    assert lead.manager.store.newest_turn(row.id).receipt.reason == "enough"
    sent = lead.call("send_message", session=started["session"], message="go on [[script:quick]]", wait_s=60)
    assert (sent["delivery"], ended(sent)[started["session"]]["status"]) == ("sent", "done")


def test_a_message_can_interrupt_a_turn(lead, begun):
    started = lead.call("delegate", task="[[script:long]]", agent="scripted")
    begun(started)
    sent = lead.call("send_message", session=started["session"], message="no, this [[script:quick]]", interrupt=True)
    assert sent["delivery"] in ("sent", "queued")
    assert ended(lead.call("wait_for", seconds=60))[started["session"]]["turn"] == 2


def test_a_worker_that_asks_is_answered(lead):
    started = lead.call("delegate", task="[[script:edit]]", preset="live")
    needing = lead.call("wait_for", seconds=60)["needs_you"][0]
    assert needing["asks"][0]["wants"] == "edit src/greeting.py"
    assert lead.call("answer", session=started["session"], decision="allow")["decision"] == "allow"
    end = ended(lead.call("wait_for", seconds=60))[started["session"]]
    assert end["did"]["files_changed"] == ["src/greeting.py"]
    assert "name" in Path("src/greeting.py").read_text()


def test_only_the_user_allows_something_dangerous(lead):
    started = lead.call("delegate", task="[[script:ask]]", preset="live")
    assert lead.call("wait_for", seconds=60)["needs_you"]
    with pytest.raises(RefusalError, match=r"^needs_the_user: "):
        lead.call("answer", session=started["session"], decision="allow")
    lead.call("answer", session=started["session"], decision="deny", text="keep it")
    assert "keep it" in ended(lead.call("wait_for", seconds=60))[started["session"]]["answer"]


def test_a_claim_of_success_has_the_failures_beside_it(lead):
    result = lead.call("delegate", task="[[script:claims]]", agent="scripted", wait_s=60)
    end = ended(result)[result["session"]]
    assert (end["status"], end["answer"]) == ("done", "Done: the answer is in place and all tests pass.")
    assert (end["did"]["edits_failed"], end["did"]["test_runs_failed"]) == (1, 1)
    assert end["did"]["last_test"] == "failed: 1 failed, 3 passed in 0.12s"
    assert "files_changed" not in end["did"]


def test_two_workers_that_write_one_file_are_named(lead):
    names = [lead.call("delegate", task="[[script:quick]]", agent="scripted")["session"] for _ in range(2)]
    ends = ended(lead.call("wait_for", until="all", seconds=60))
    for one, other in (names, names[::-1]):
        assert [shared["by"] for shared in ends[one]["did"]["also_changed"]] == [[other]]


def test_a_start_that_fails_is_refused_with_the_first_line_of_stderr(manager, tmp_path, monkeypatch):
    for name in ("START_SECONDS", "FIRST_SIGN_SECONDS"):
        monkeypatch.setattr(f"agentdash.sessions.mcp.orchestration.delegate.{name}", 60.0)
    program = tmp_path / "broken"
    program.write_text("#!/bin/sh\necho >&2\necho 'error: no such flag' >&2\necho more >&2\nexit 2\n")
    program.chmod(0o700)
    (tmp_path / "config.toml").write_text(f'[agents.codex]\nlive = false\nbin = "{program}"\n')
    with SessionManager(caller=lead_of()) as own:
        lead = Leading(own, wait_seconds=60.0)
        with pytest.raises(RefusalError, match=r"^start_failed: .* stderr: error: no such flag Next: read\("):
            lead.call("delegate", task="work", agent="codex")
        assert "ended" not in lead.call("wait_for")
        listed = lead.call("list_sessions")["workers"]
        assert listed[0]["status"] == "failed"
        assert "| more" in lead.call("read", session=listed[0]["session"], part="stderr")


def test_a_worker_leads_workers_of_its_own(lead, manager):
    started = lead.call("delegate", task="[[script:quick]]", agent="scripted", wait_s=60)
    worker = manager.reader.get(started["session"])
    with SessionManager(caller=Caller(session=worker.id, evidence="environment")) as inner:
        below = Leading(inner, wait_seconds=60.0).call("delegate", task="[[script:quick]]", agent="scripted", wait_s=60)
    row = manager.reader.get(below["session"])
    assert (row.parent, row.lead, row.depth, row.source) == (worker.id, None, 1, f"orchestrator:{worker.short_id}")
    entries = {entry["session"]: entry for entry in lead.call("list_sessions")["workers"]}
    assert entries[below["session"]]["lead"] == started["session"]
    with pytest.raises(RefusalError, match=r"^not_yours: "), SessionManager(caller=Caller(session=row.id)) as lowest:
        Leading(lowest).call("stop_sessions", sessions=[worker.id])


def test_a_wait_of_one_server_does_not_hold_the_calls_of_others(lead, at):
    started = lead.call("delegate", task="[[script:long]]", agent="scripted")
    at(lead.manager.reader.get(started["session"]), 1, Status.RUNNING)
    results = []
    thread = threading.Thread(target=lambda: results.append(lead.call("wait_for", seconds=60)))
    thread.start()
    assert lead.call("list_sessions")["counts"] == {"running": 1}
    with SessionManager() as person:
        person.stop(started["session"], NOW)
    thread.join()
    assert ended(results[0])[started["session"]]["status"] == "stopped"


def test_a_session_that_the_user_started_is_not_the_leads(lead, manager):
    own = manager.spawn(Start("[[script:quick]]", agent="scripted"))
    manager.wait([own.id], timeout=60)
    assert lead.call("list_sessions")["overview"].startswith("0 workers")
    with pytest.raises(RefusalError, match=r"^not_yours: "):
        lead.call("read", session=own.short_id)


@pytest.mark.real
def test_a_real_agent_that_claims_success_has_its_failures_beside_it(manager, agent, tmp_path):
    (tmp_path / "project").mkdir()
    mode = {"codex": "full", "claude": "edit"}[agent]
    if agent == "claude":
        with (tmp_path / "config.toml").open("a") as config:
            config.write('allowed_tools = ["Bash(make test)"]\n')
    else:
        with (tmp_path / "config.toml").open("a") as config:
            config.write('[orchestration]\nmode = "full"\n')
    with SessionManager(caller=lead_of()) as own:
        arguments = {"task": "[[fake:claims]] go", "agent": agent, "working_dir": "project", "mode": mode}
        result = Leading(own, wait_seconds=100.0).call("delegate", wait_s=100, **arguments)
    end = ended(result)[result["session"]]
    assert (end["status"], end["answer"]) == ("done", "Done: missing.py is edited and all tests pass.")
    assert end["did"]["test_runs_failed"] == 1
    assert end["did"]["edits_failed"] == 1
    assert "files_changed" not in end["did"]
