"""The real codex and claude against the scripted model: start to stop, as a person would use them."""

import json
import re
import time

import pytest
from real_clis import EVERY_CLI, versions_of

from agentdash.sessions.model.session import Status, StepKind, StepStatus
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.transcript.turn_file import StepFile

pytestmark = pytest.mark.real

MINUTE = 60


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def spawn(manager, agent, prompt, project):
    """Start with permission to do everything: the scripted model does nothing that matters."""
    options = {"codex": {"sandbox": "danger-full-access"}, "claude": {"permission_mode": "bypassPermissions"}}
    return manager.spawn(Start(prompt, agent=agent, cwd=str(project), options=options[agent]))


def ended(manager, session):
    return manager.wait([session.id], timeout=2 * MINUTE)[0]


def of_kind(steps, *kinds):
    return [step for step in steps if step.kind in kinds]


def running_command(manager, session, wait_until, text):
    """Wait until the agent's own shell command is among the session's processes."""
    wait_until(
        lambda: any(text in process.command for process in manager.reader.processes(session.id)),
        timeout=MINUTE,
        what=f"{text!r} among the processes",
    )


@pytest.mark.smoke
@pytest.mark.parametrize("agent", EVERY_CLI, indirect=True)
def test_work_gives_typed_steps_exit_codes_times_and_usage(manager, agent, project, scratch_home, request):
    before = time.time() * 1000 - 1
    session = ended(manager, spawn(manager, agent, "[[fake:work]] please do it", project))
    assert (session.status, session.reason, session.exit_code) == (Status.DONE, None, 0)
    assert session.unknown == 0
    assert session.agent_session

    steps = manager.reader.steps.trajectory(session.id)
    kinds = {step.kind for step in steps}
    assert kinds >= {StepKind.PROMPT, StepKind.REASONING, StepKind.MESSAGE, StepKind.COMMAND, StepKind.FILE_CHANGE}
    assert StepKind.UNKNOWN not in kinds
    commands = of_kind(steps, StepKind.COMMAND)
    assert [c.exit_code for c in commands] == [0, 3, 0]
    assert "done-listing" in commands[0].output
    assert "does-not-exist.txt" in commands[1].command
    assert commands[1].status is StepStatus.FAILED
    changed = [change for step in of_kind(steps, StepKind.FILE_CHANGE) for change in step.changes]
    assert [(c.kind, c.path.rsplit("/", 1)[-1]) for c in changed] == [("add", "notes.txt"), ("update", "notes.txt")]
    assert (project / "notes.txt").read_text() == "first line\nsecond line, edited\n"
    assert session.last_message == "Done: notes.txt was created and edited."

    # A step's time is the arrival of its line, by the runner's clock.
    times = [step.at for step in steps]
    assert times == sorted(times)
    assert before <= times[0] < times[-1] <= time.time() * 1000
    assert times[-1] > times[1]

    # Six calls of the model: 1200 + 400 a step of input, 1000 of it cached from the second on.
    usage = session.usage
    assert (usage.input_tokens, usage.cached_input_tokens) == (13200, 5000)
    assert usage.output_tokens == 165
    assert usage.total_tokens == 13365
    assert (session.cost_usd is None) == (agent == "codex")

    if agent == "claude":
        check_claude(manager, session, request.node.callspec.params["agent"], scratch_home / "claude")


def check_claude(manager, session, kind, home):
    """A version of this kind has run, and the transcript that it keeps is read in plain words."""
    begin = json.loads(manager.reader.outputs.part(session.id).read().split(b"\n")[0])
    assert begin["claude_code_version"] in versions_of(kind)
    (transcript,) = home.glob(f"projects/*/{session.agent_session}.jsonl")
    steps = list(StepFile(transcript).steps())
    assert of_kind(steps, StepKind.FILE_CHANGE)
    assert of_kind(steps, StepKind.UNKNOWN) == []
    assert [step.text for step in of_kind(steps, StepKind.NOTICE) if '{"' in step.text] == []


@pytest.mark.smoke
def test_a_resume_reaches_the_same_conversation(manager, agent, project):
    session = ended(manager, spawn(manager, agent, "remember the first words", project))
    manager.prompts.inject(session.id, "and the second words")
    second = ended(manager, session)
    manager.prompts.inject(session.id, "[[fake:context_probe]] what can you see?")
    third = ended(manager, session)
    assert third.turn == 3
    assert {second.agent_session, third.agent_session} == {session.agent_session}
    seen = int(re.search(r"I can see (\d+) user messages", third.last_message).group(1))
    assert seen == 3
    assert [step.text for step in manager.reader.steps.messages(session.id) if step.kind is StepKind.PROMPT] == [
        "remember the first words",
        "and the second words",
        "[[fake:context_probe]] what can you see?",
    ]
    # One model call a turn, each 1200 tokens: cumulative or per turn, the sum is the same.
    assert [turn.usage.input_tokens for turn in manager.reader.turns(session.id)] == [1200, 1200, 1200]
    assert third.usage.input_tokens == 3600


def test_queued_prompts_reach_the_conversation_and_each_turn_counts_its_own_tokens(manager, agent, project, wait_until):
    session = spawn(manager, agent, "remember the first words", project)
    manager.prompts.inject(session.id, "and the second words")
    manager.prompts.inject(session.id, "[[fake:context_probe]] what can you see?")
    wait_until(lambda: manager.reader.get(session.id).turn == 3, timeout=2 * MINUTE, what="the third turn")
    third = ended(manager, session)
    assert int(re.search(r"I can see (\d+) user messages", third.last_message).group(1)) == 3
    assert [turn.usage.input_tokens for turn in manager.reader.turns(session.id)] == [1200, 1200, 1200]
    assert third.usage.input_tokens == 3600
    assert [prompt.state for prompt in manager.reader.prompts(session.id)] == ["seen"] * 3


def test_an_error_of_the_model_is_failed_with_its_reason(manager, agent, project):
    session = ended(manager, spawn(manager, agent, "[[fake:err500]] go", project))
    assert session.status is Status.FAILED
    assert session.reason
    assert "exit 1" not in session.reason
    errors = of_kind(manager.reader.steps.trajectory(session.id), StepKind.ERROR)
    assert any(step.fatal for step in errors)


def test_an_error_that_passes_does_not_end_the_turn(manager, agent, project):
    session = ended(manager, spawn(manager, agent, f"[[fake:err500_twice]] for {agent}", project))
    assert (session.status, session.last_message) == (Status.DONE, "Recovered.")


def test_a_prompt_to_a_running_session_waits_and_is_held_after_a_stop(
    manager, agent, project, leftovers, process_book, wait_until
):
    session = manager.started(spawn(manager, agent, "[[fake:sleep600]] go", project).id)
    running_command(manager, session, wait_until, "sleep 600")
    wait_until(
        lambda: of_kind(manager.reader.steps.trajectory(session.id), StepKind.COMMAND), what="the command in the stream"
    )
    assert manager.prompts.inject(session.id, "[[fake:context_probe]] still there?").answer == "queued #1, after turn 1"
    assert len(manager.reader.prompts(session.id)) == 1

    process_book.add(manager.reader.processes(session.id))
    receipt = manager.stop(session.id)
    assert receipt.left == ()
    assert any("sleep 600" in ended.command for ended in receipt.ended)
    assert manager.reader.get(session.id).status is Status.STOPPED
    assert process_book.alive() == []
    assert leftovers(session.id) == []
    command = of_kind(manager.reader.steps.trajectory(session.id), StepKind.COMMAND)[-1]
    assert command.status is StepStatus.INTERRUPTED

    assert manager.reader.get(session.id).held == "turn 1 was stopped"
    manager.queue.release(session.id)
    after = ended(manager, session)
    assert after.status is Status.DONE, after.reason
    assert "still there?" in after.last_message


def test_bgproc_is_stopped_with_its_detached_children(manager, agent, project, leftovers, process_book, wait_until):
    session = manager.started(spawn(manager, agent, "[[fake:bgproc]] go", project).id)
    running_command(manager, session, wait_until, "sleep 603")

    def detached():
        found = manager.reader.processes(session.id)
        process_book.add(found)
        return any(process.command == "sleep 601" for process in found)

    wait_until(detached, what="the detached grandchild")
    receipt = manager.stop(session.id)
    assert receipt.left == ()
    assert process_book.alive() == []
    assert leftovers(session.id) == []


def test_a_200_kb_prompt_arrives(manager, agent, project, fake_model):
    text = "0123456789abcde " * 12800 + "the end"
    session = ended(manager, spawn(manager, agent, text, project))
    assert session.status is Status.DONE, session.reason
    assert session.last_message.startswith("You said: 0123456789abcde")
    assert fake_model.was_shown(text)


def test_a_prompt_that_begins_with_a_dash_is_literal(manager, agent, project):
    session = ended(manager, spawn(manager, agent, "--help", project))
    assert session.last_message == "You said: --help"


def test_a_runner_killed_under_a_real_agent_is_replaced(manager, agent, project, leftovers, wait_until):
    session = manager.started(spawn(manager, agent, "[[fake:sleep600]] go", project).id)
    running_command(manager, session, wait_until, "sleep 600")
    first = manager.reader.turns(session.id)[-1]
    import os
    import signal

    os.kill(first.runner_pid, signal.SIGKILL)
    receipt = manager.stop(session.id)
    assert receipt.left == ()
    assert leftovers(session.id) == []
    assert manager.reader.get(session.id).status is Status.STOPPED


def test_the_adopted_agent_finishes_properly(manager, agent, project, wait_until):
    session = manager.started(spawn(manager, agent, "[[fake:parallel]] go", project).id)
    running_command(manager, session, wait_until, "sleep")
    import os
    import signal

    os.kill(manager.reader.turns(session.id)[-1].runner_pid, signal.SIGKILL)
    after = ended(manager, session)
    assert (after.status, after.reason, after.exit_code) == (Status.DONE, "the runner was killed", None)
    assert after.last_message == "All three are back."


def test_codex_in_the_sandbox_does_the_same_work(manager, codex_env, project):
    session = manager.spawn(Start("[[fake:shell_ok]] go", agent="codex", cwd=str(project)))
    session = ended(manager, session)
    assert session.status is Status.DONE, session.reason
    assert "--sandbox" in manager.reader.turns(session.id)[0].argv or "-s" in manager.reader.turns(session.id)[0].argv


def test_claude_denials_are_shown(manager, claude_env, project):
    session = manager.spawn(
        Start("[[fake:shell_fail]] go", agent="claude", cwd=str(project), options={"permission_mode": "default"})
    )
    session = ended(manager, session)
    assert session.status is Status.DONE
    assert (session.denied, session.reason) == (1, "1 permission denied: Bash")


def test_codex_refusals_are_shown(manager, codex_env, project):
    session = manager.spawn(
        Start("[[fake:files]] go", agent="codex", cwd=str(project), options={"sandbox": "read-only"})
    )
    session = ended(manager, session)
    assert (session.status, session.denied) == (Status.DONE, 1)
    assert session.reason == "1 permission denied: apply_patch"
