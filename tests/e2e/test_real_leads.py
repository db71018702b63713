"""Real claude and codex lead each other: a tool call starts the worker, and its answer reaches the lead's model."""

import json

import pytest
from real_clis import CLAUDES, NEWEST

from agentdash.sessions.agents.leading import server_argv
from agentdash.sessions.model.session import Status, StepKind, StepStatus
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.transcript.worker_steps import started_by

pytestmark = [pytest.mark.real]

ANSWER = "The command printed a greeting."
TASK = "[[fake:shell_ok]] go"


@pytest.fixture
def claude_leads(use_agent):
    """claude gets the tools by its setting ``lead``, and codex is its worker."""

    def start(claude):
        use_agent("codex")
        use_agent(claude)
        return "claude", "codex", {"lead": True}

    return start


@pytest.fixture
def codex_leads(use_agent, scratch_home):
    """codex has the server in its own settings, as a user writes it there, and claude is its worker."""

    def start(claude):
        use_agent(claude)
        use_agent("codex")
        command, *args = server_argv()
        with (scratch_home / "codex" / "config.toml").open("a") as config:
            config.write(f"[mcp_servers.agentdash]\ncommand = {json.dumps(command)}\nargs = {json.dumps(args)}\n")
            config.write('default_tools_approval_mode = "approve"\n')
        return "codex", "claude", {}

    return start


@pytest.fixture(params=[*(f"{one} leads" for one in CLAUDES), f"codex leads {NEWEST}"])
def pair(request, claude_leads, codex_leads, tmp_path):
    """The lead's agent, the worker's agent, and the options of the lead."""
    first, _, second = request.param.partition(" leads")
    chosen = codex_leads(second.strip()) if first == "codex" else claude_leads(first)
    settings = tmp_path / "config.toml"
    # Without this rule claude refuses commands: nobody answers what it asks.
    settings.write_text(
        settings.read_text().replace("[agents.claude]\n", '[agents.claude]\nallowed_tools = ["Bash"]\n')
    )
    (tmp_path / "project").mkdir()
    return chosen


@pytest.fixture
def led(manager, pair, at, tmp_path):
    """A lead that has delegated a task, waited for its worker and ended; the lead and the worker."""
    agent, other, options = pair
    start = Start(f"[[fake:lead]] {other}", agent=agent, cwd=str(tmp_path / "project"), options=options)
    lead = at(manager.spawn(start), 1, Status.DONE, Status.FAILED)
    steps = [(step.tool, step.status, step.output) for step in calls(manager, lead)]
    assert (lead.status, lead.denied) == (Status.DONE, 0), (lead.reason, steps)
    workers = manager.reader.descendants(lead.id)
    assert len(workers) == 1, steps
    return lead, workers[0]


def calls(manager, lead, turn=1):
    """The calls of agentdash's tools in a turn of the lead."""
    steps = manager.reader.steps.trajectory(lead.id, turn)
    return [step for step in steps if step.kind is StepKind.TOOL_CALL and "agentdash" in f"{step.server} {step.tool}"]


def test_a_real_lead_delegates_to_another_agent_and_its_model_reads_the_answer(manager, pair, led):
    lead, worker = led
    agent, other, _ = pair
    delegated, waited = calls(manager, lead)
    assert (delegated.status, waited.status) == (StepStatus.OK, StepStatus.OK)
    assert (worker.agent, worker.status, worker.task) == (other, Status.DONE, TASK), worker.reason
    assert (worker.parent, worker.depth, worker.lifecycle) == (lead.id, 1, "linked")
    assert worker.source == f"orchestrator:{lead.short_id}"
    assert worker.call
    assert "call_lead_0_0" in worker.call
    # codex exec (0.169.0) prints the number of an item, and no id of a call.
    assert delegated.call_id == {"claude": worker.call, "codex": "item_0"}[agent]
    assert [started_by(step, [worker]) for step in (delegated, waited)] == [[worker], []]
    assert (worker.turn, worker.reported_turn) == (1, 1)
    answer = [step for step in manager.reader.steps.trajectory(lead.id) if step.kind is StepKind.MESSAGE][-1]
    assert answer.text.startswith("The worker is back: ")
    assert ANSWER in answer.text
    assert worker.short_id in answer.text


def test_a_stop_of_a_real_lead_ends_its_worker_and_all_processes(manager, pair, led, at, leftovers, wait_until):
    lead, first = led
    manager.prompts.inject(lead.id, f"[[fake:lead_long]] {pair[1]}")
    at(lead, 2, Status.RUNNING)

    def second_worker():
        workers = [one for one in manager.reader.descendants(lead.id) if one.id != first.id]
        running = [one for one in workers if any("sleep 600" in p.command for p in manager.reader.processes(one.id))]
        return running[0] if running else None

    second = wait_until(second_worker, timeout=120, what="the second worker to run its command")
    receipt = manager.stop(lead.id)
    assert (receipt.workers, receipt.left) == ((second.id,), ())
    assert any("sleep 600" in ended.command for ended in receipt.ended)
    for session in (lead, second):
        assert manager.reader.get(session.id).status is Status.STOPPED
        assert leftovers(session.id) == []
    assert manager.reader.get(first.id).status is Status.DONE
    assert manager.reader.get(lead.id).turn == 2
