"""A worker that needs its lead: with real runners, the need counts for the user in time, or when the lead has ended."""

import json
import os
import signal
import subprocess
import sys

import pytest

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.membership import Led
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.asks.model import Answer, Verdict
from agentdash.sessions.rules.attention import AttentionKind, attention
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.runner.caller import Caller
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.service.manager import SessionManager

ASKS = "asks to edit src/greeting.py"


def waiting_ids():
    """The sessions of which the command line says that they need the user."""
    words = [sys.executable, "-P", "-m", "agentdash", "ls", "--json"]
    rows = json.loads(subprocess.run(words, capture_output=True, check=True, text=True, timeout=120).stdout)
    return [row["id"] for row in rows if row["attention"] is not None and row["attention"]["kind"] == "waiting"]


@pytest.fixture
def family(scripted_agent, manager, at, tmp_path):
    """A lead at work and its linked worker, which asks; the hook writes down each call."""
    hook = tmp_path / "hook"
    hook.write_text(f'#!/bin/sh\necho "$AGENTDASH_SESSION $AGENTDASH_STATUS $AGENTDASH_REASON" >> {tmp_path}/told\n')
    hook.chmod(0o755)

    def begin(seconds, script="edit"):
        settings = f'[notify]\nhook = ["{hook}"]\n[orchestration]\nescalate_seconds = {seconds}\n'
        manager.reader.settings.path.write_text(settings)
        lead = manager.spawn(Start("lead", agent="scripted", options={"script": "long"}))
        options = {"live": True, "speed": 50}
        start = Start(
            f"[[script:{script}]] x", agent="scripted", cwd=str(tmp_path), lifecycle="linked", options=options
        )
        with SessionManager(caller=Caller(session=lead.id, evidence="environment")) as caller:
            return lead, caller.spawn(start)

    return begin


@pytest.mark.smoke
def test_a_need_counts_for_the_user_once_its_lead_did_not_answer_in_time(family, manager, wait_until, tmp_path):
    _, worker = family(4)
    before = []

    def escalated():
        row = manager.reader.by_id(worker.id)  # a read alone: the runners keep the time
        if row.status is Status.WAITING and not row.escalated:
            before.append((row.led, attention(row, now_ms())))
        return row if row.escalated else None

    row = wait_until(escalated, timeout=120, what="the need to escalate")
    assert set(before) <= {(Led.AT_WORK, None)}
    need = attention(row, now_ms())
    assert (need.kind, need.reason) == (AttentionKind.WAITING, ASKS)
    told = tmp_path / "told"
    wait_until(told.exists, what="the hook")
    assert told.read_text().splitlines() == [f"{worker.id} waiting {ASKS}"]
    assert waiting_ids() == [worker.id]
    [asked] = manager.reader.asks(worker.id)
    manager.asks.answer(asked.id, Answer(verdict=Verdict.ALLOW))
    wait_until(lambda: not manager.reader.by_id(worker.id).escalated, what="the end of the need")


def test_what_only_the_user_can_allow_is_the_users_at_once(family, manager, at, wait_until, tmp_path):
    _, worker = family(3600, "ask")
    row = at(worker, 1, Status.WAITING)
    assert (row.led, row.escalated) == (Led.AT_WORK, True)
    assert attention(row, now_ms()).reason == "asks to run: rm -rf build"
    assert waiting_ids() == [worker.id]
    told = tmp_path / "told"
    wait_until(told.exists, what="the hook")
    assert told.read_text().splitlines() == [f"{worker.id} waiting asks to run: rm -rf build"]


def test_a_need_counts_for_the_user_when_the_lead_has_ended(family, manager, at):
    lead, worker = family(3600)
    row = at(worker, 1, Status.WAITING)
    assert (row.led, attention(row, now_ms())) == (Led.AT_WORK, None)
    assert waiting_ids() == []
    turn = manager.store.newest_turn(lead.id)
    os.kill(turn.runner_pid, signal.SIGKILL)
    agent = processes.by_pid(turn.agent_pid)
    assert agent is not None
    processes.send_kill(agent)
    at(lead, 1, Status.LOST, Status.FAILED)
    assert waiting_ids() == [worker.id]
    row = manager.reader.by_id(worker.id)
    assert (row.status, row.led, row.escalated) == (Status.WAITING, Led.OVER, False)
    assert attention(row, now_ms()).reason == ASKS
