"""Real claude and codex lead a worker of the other vendor through every tool, live and turn by turn."""

import json
import os
import signal

import pytest
from real_clis import CLAUDES, NEWEST
from verbs import verb

from agentdash.sessions.model.session import Status, StepKind, StepStatus
from agentdash.sessions.rules.asks.model import Verdict
from agentdash.sessions.rules.launch import Start

pytestmark = [pytest.mark.real]

ASKING = {"claude": "mark", "codex": "mark_outside"}
"""By worker: a script whose one command needs a permission in the mode ``edit``."""

LEADS = [f"{one} {form}" for one in (*CLAUDES, "codex") for form in ("live", "by-turns")]


class Lead:
    """A real agent that leads, and its worker of the other vendor, which is live."""

    def __init__(self, manager, agent, worker, live, project):
        self.manager, self.agent, self.worker_agent, self.live, self.project = manager, agent, worker, live, project

    def start(self, script, part):
        """Start the lead with a script of the scripted model, and a worker's script."""
        start = Start(
            f"[[fake:{script}]] {self.worker_agent} {part}", agent=self.agent, cwd=str(self.project),
            options={"lead": True, "live": self.live},
        )  # fmt: skip
        self.session = self.manager.spawn(start)
        return self.session

    @property
    def worker(self):
        workers = self.manager.reader.descendants(self.session.id)
        assert len(workers) <= 1, workers
        return workers[0] if workers else None

    def calls(self, turn=1):
        """The name and the status of each call of agentdash's tools."""
        steps = self.manager.reader.steps.trajectory(self.session.id, turn)
        ours = [one for one in steps if one.kind is StepKind.TOOL_CALL and "agentdash" in f"{one.server} {one.tool}"]
        return [(one.tool.rpartition("__")[2], one.status) for one in ours]

    def outputs(self, turn=1):
        return [step.output for step in self.manager.reader.steps.trajectory(self.session.id, turn) if step.output]

    def answer(self, turn=1):
        messages = [
            one for one in self.manager.reader.steps.trajectory(self.session.id, turn) if one.kind is StepKind.MESSAGE
        ]
        return messages[-1].text


@pytest.fixture(params=LEADS)
def lead(request, use_agent, manager, tmp_path):
    """Each real lead; the commands of both are asked."""
    cli, form = request.param.split()
    other = "codex" if cli in CLAUDES else NEWEST
    agents = use_agent(cli), use_agent(other)
    (tmp_path / "config.toml").write_text("".join(f"[agents.{one}]\nlive = true\n" for one in agents))
    project = tmp_path / "project"
    project.mkdir()
    mark = project / "mark"
    mark.write_text("#!/bin/sh\necho ran >> ran.log\n")
    mark.chmod(0o755)
    return Lead(manager, *agents, form == "live", project)


def allow_commands(tmp_path):
    """Let claude run commands without asking."""
    path = tmp_path / "config.toml"
    path.write_text(path.read_text().replace("[agents.claude]\n", '[agents.claude]\nallowed_tools = ["Bash"]\n'))


def test_a_real_lead_uses_every_tool_and_answers_its_worker(lead, manager, at, leftovers):
    session = lead.start("lead_through", ASKING[lead.worker_agent])
    ended = at(session, 1, Status.DONE, Status.FAILED)
    assert ended.status is Status.DONE, (ended.reason, lead.outputs())
    names = ["delegate", "wait_for", "answer", "wait_for", "read", "send_message", "stop_sessions"]
    assert lead.calls() == [(name, StepStatus.OK) for name in names], lead.outputs()
    assert (lead.project / "ran.log").read_text() == "ran\n"
    worker = lead.worker
    [asked] = manager.store.asks.of_session(worker.id)
    assert (asked.answer.verdict, asked.answered_by) == (Verdict.ALLOW, f"session {session.short_id}")
    assert (worker.turn, worker.status, worker.lifecycle) == (2, Status.STOPPED, "linked"), worker.reason
    assert leftovers(worker.id) == []
    assert worker.short_id in lead.answer()


@pytest.mark.parametrize(
    "lead", [f"{NEWEST} live", "codex live", f"{NEWEST} by-turns", "codex by-turns"], indirect=True
)
def test_a_real_lead_that_ended_its_turn_is_woken_with_the_end_of_its_worker(lead, manager, at):
    session = lead.start("lead_away", "plain")
    ended = at(session, 2, Status.DONE, Status.FAILED)
    assert ended.status is Status.DONE, ended.reason
    [_, prompt] = [step.text for step in manager.reader.steps.messages(session.id) if step.kind is StepKind.PROMPT]
    assert prompt.startswith("The ends of 1 worker: 1 done.")
    assert lead.worker.short_id in prompt
    assert lead.answer(2).startswith("You said: The ends of 1 worker")
    pids = [turn.agent_pid for turn in manager.reader.turns(session.id)]
    assert (len(set(pids)) == 1) is lead.live, "a lead that waits is woken in its own process"
    assert lead.worker.reported_turn == 1


@pytest.mark.parametrize(
    "lead", [f"{NEWEST} live", "codex live", f"{NEWEST} by-turns", "codex by-turns"], indirect=True
)
def test_a_real_lead_whose_runner_is_killed_while_it_waits_gets_the_end_once(lead, manager, at, wait_until, tmp_path):
    allow_commands(tmp_path)
    session = lead.start("lead_waits", "until_go")
    wait_until(lambda: len(lead.calls()) == 2 and lead.worker.status is Status.RUNNING, timeout=120, what="the wait")
    turn = manager.reader.turns(session.id)[-1]
    os.kill(turn.runner_pid, signal.SIGKILL)
    (lead.project / "go").touch()
    ended = at(session, 1, Status.DONE, Status.FAILED, Status.LOST)
    assert ended.status is Status.DONE, ended.reason
    assert lead.calls() == [("delegate", StepStatus.OK), ("wait_for", StepStatus.OK)]
    assert "The file go is there." in lead.answer()
    assert manager.reader.turns(session.id)[-1].agent_pid == turn.agent_pid
    assert (lead.worker.status, lead.worker.reported_turn) == (Status.DONE, 1)


@pytest.mark.parametrize("lead", [f"{NEWEST} live", "codex live"], indirect=True)
def test_a_worker_that_its_busy_lead_does_not_answer_needs_the_user(lead, manager, at, wait_until, tmp_path):
    with (tmp_path / "config.toml").open("a") as config:
        config.write("[orchestration]\nescalate_seconds = 3\n")
    if lead.agent == "claude":
        allow_commands(tmp_path)
    session = lead.start("lead_busy", ASKING[lead.worker_agent])
    wait_until(lambda: lead.worker and lead.worker.status is Status.WAITING, timeout=120, what="the ask")
    wait_until(lambda: lead.worker.escalated, timeout=120, what="the need of the user")
    [ask] = json.loads(verb("asks", lead.worker.id, "--json").stdout)
    done = verb("approve", lead.worker.id, str(ask["id"]))
    assert done.returncode == 0, done.stderr
    (lead.project / "go").touch()
    ended = at(session, 1, Status.DONE, Status.FAILED)
    assert ended.status is Status.DONE, ended.reason
    [asked] = manager.store.asks.of_session(lead.worker.id)
    assert (asked.answer.verdict, asked.answered_by) == (Verdict.ALLOW, "you")
    assert (lead.project / "ran.log").read_text() == "ran\n"
