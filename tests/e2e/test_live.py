"""Live agents under the manager: one process for several turns, steered, interrupted, answered, adopted and closed."""

import contextlib
import os
import signal

import pytest
from real_clis import EVERY_CLI

from agentdash.sessions.model.errors import SessionBusyError
from agentdash.sessions.model.session import Status, StepKind
from agentdash.sessions.rules.asks.model import Answer, Verdict
from agentdash.sessions.rules.asks.recorded import AskState
from agentdash.sessions.rules.attention import AttentionKind, attention
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.runner.processes import processes, runner_lock
from agentdash.sessions.runner.runner_process import poke
from agentdash.sessions.service.lifecycle.stop import stop_session
from agentdash.sessions.service.lifecycle.stop_family import NOW
from agentdash.sessions.service.prompts.prompter import PromptOptions
from agentdash.sessions.storage.store import Store

ALLOW, DENY = Answer(verdict=Verdict.ALLOW), Answer(verdict=Verdict.DENY, message="Not this folder.")

LONG = {"scripted": "[[script:steer]]", "claude": "[[fake:slow_steps]]", "codex": "[[fake:slow_steps]]"}
"""A prompt of several steps, each of which lasts a while."""
COMMAND = LONG | {"scripted": "[[script:build]]"}
"""A prompt that runs a command for a while."""
ASKS = {"scripted": "[[script:ask]]", "claude": "[[fake:files]]", "codex": "[[fake:files]]"}
"""A prompt whose first action needs a permission."""
SHORT = {"scripted": "[[script:quick]]", "claude": "[[fake:plain]]", "codex": "[[fake:plain]]"}
FREE = {
    "scripted": {"speed": 20},
    "claude": {"permission_mode": "bypassPermissions"},
    "codex": {"sandbox": "danger-full-access"},
}
STRICT = {"scripted": {"speed": 20}, "claude": {"permission_mode": "default"}, "codex": {"sandbox": "read-only"}}

REAL = [pytest.param(name, marks=[pytest.mark.real]) for name in EVERY_CLI]
AGENTS = ["scripted", *REAL]


@pytest.fixture
def live(request, monkeypatch):
    """The name of a live agent, ready to be started."""
    if request.param == "scripted":
        request.getfixturevalue("scripted_agent")
        return "scripted"
    return request.getfixturevalue("use_agent")(request.param)


@pytest.fixture
def session_of(manager, tmp_path):
    """Starts a live session."""
    project = tmp_path / "project"
    project.mkdir()

    def start(agent, prompt, options=FREE):
        chosen = {"live": True} | options[agent]
        return manager.spawn(Start(f"{prompt[agent]} go", agent=agent, cwd=str(project), options=chosen))

    return start


def explained(manager, session):
    """The facts behind the status of a session, by their names."""
    return {fact.name: fact.value for fact in manager.reader.explain(session.id).facts}


def agent_of(manager, session, turn=-1):
    return manager.reader.turns(session.id)[turn].agent_pid


def slices(manager, session):
    """The parts of the files that the turns have: the stream, the begin and the end."""
    return [(turn.stream_number, turn.begin_byte, turn.end_byte) for turn in manager.reader.turns(session.id)]


def prompts_shown(manager, session):
    """The prompts that a reader of the session sees, in order."""
    return [step.text for step in manager.reader.steps.trajectory(session.id) if step.kind is StepKind.PROMPT]


def kill_runner(manager, session, wait_until):
    """Kill -9 the runner, and wait until its lock is free."""
    os.kill(manager.reader.turns(session.id)[-1].runner_pid, signal.SIGKILL)
    lock = manager.layout.session(session.id).lock
    wait_until(lambda: not runner_lock.is_held(lock), what="the runner to be gone")


@pytest.mark.parametrize("live", AGENTS, indirect=True)
def test_one_process_serves_prompt_after_prompt(manager, live, session_of, at):
    session = session_of(live, SHORT)
    at(session, 1, Status.DONE)
    for turn in (2, 3):
        assert manager.prompts.inject(session.id, f"{SHORT[live]} again").turn == turn
        at(session, turn, Status.DONE)
    assert len({turn.agent_pid for turn in manager.reader.turns(session.id)}) == 1
    (first, begin, end), (second, second_begin, second_end), (_, third_begin, _) = slices(manager, session)
    assert (first, begin, second) == (1, 0, 1)
    assert (second_begin, third_begin) == (end, second_end)
    assert [prompt.state for prompt in manager.reader.prompts(session.id)] == ["seen"] * 3
    assert len(prompts_shown(manager, session)) == 3
    assert all(turn.usage.total_tokens for turn in manager.reader.turns(session.id))


def test_the_retry_of_a_turn_that_failed_gets_a_process_and_a_runner_of_its_own(
    manager, scripted_agent, session_of, at, wait_until
):
    session = session_of("scripted", {"scripted": "[[script:fail]]"})
    at(session, 1, Status.FAILED)
    lock = manager.layout.session(session.id).lock
    wait_until(lambda: not runner_lock.is_held(lock), what="the runner to be gone")
    assert manager.prompts.retry(session.id).turn == 2
    at(session, 2, Status.FAILED)
    assert len({(turn.agent_pid, turn.runner_pid) for turn in manager.reader.turns(session.id)}) == 2


@pytest.mark.parametrize("send", ["retry", "inject"])
def test_a_prompt_at_once_after_a_failure_gets_the_environment_of_now(
    manager, scripted_agent, session_of, at, monkeypatch, send
):
    session = session_of("scripted", {"scripted": "[[script:sign_in]]"})
    failed = at(session, 1, Status.FAILED)
    assert "set SCRIPTED_KEY" in failed.reason
    monkeypatch.setenv("SCRIPTED_KEY", "1")
    more = () if send == "retry" else ("[[script:sign_in]] again",)
    assert getattr(manager.prompts, send)(session.id, *more).turn == 2
    at(session, 2, Status.DONE)
    assert manager.reader.steps.trajectory(session.id)[-2].text == "Signed in."


@pytest.mark.smoke
@pytest.mark.parametrize("live", AGENTS, indirect=True)
def test_a_prompt_into_a_running_turn_is_read_in_it(manager, live, session_of, at, wait_until):
    session = session_of(live, LONG)
    at(session, 1, Status.RUNNING)
    wait_until(lambda: manager.reader.get(session.id).steps > 1, what="its first steps")
    sent = [manager.prompts.inject(session.id, words) for words in ("the first remark", "the second remark")]
    assert sent[0].answer == "steers turn 1: the agent reads it at its next step"
    wait_until(lambda: len(prompts_shown(manager, session)) == 3, timeout=60, what="both remarks")
    assert prompts_shown(manager, session)[1:] == ["the first remark", "the second remark"]
    wait_until(
        lambda: {manager.prompts.sent(one.prompt.id).prompt.state for one in sent} == {"seen"}, what="both receipts"
    )
    assert manager.reader.get(session.id).turn == 1


@pytest.mark.parametrize("live", AGENTS, indirect=True)
def test_a_prompt_that_is_to_be_the_next_turn_waits_for_it(manager, live, session_of, at):
    session = session_of(live, SHORT)
    at(session, 1, Status.DONE)
    manager.prompts.inject(session.id, f"{LONG[live]} work")
    at(session, 2, Status.RUNNING)
    sent = manager.prompts.inject(session.id, f"{SHORT[live]} next", PromptOptions(steer=False))
    assert sent.answer == "queued #1, after turn 2"
    manager.prompts.interrupt(session.id)
    manager.queue.release(session.id)
    at(session, 3, Status.DONE)


@pytest.mark.smoke
@pytest.mark.parametrize("live", AGENTS, indirect=True)
def test_an_interrupt_ends_the_turn_with_its_command_and_leaves_the_agent(
    manager, live, session_of, at, wait_until, leftovers
):
    # On a busy machine an agent may need longer than the usual time, after which its process is ended.
    patient = {name: {**own, "stop": {"interrupt_seconds": 60.0}} for name, own in FREE.items()}
    session = session_of(live, COMMAND, patient)
    at(session, 1, Status.RUNNING)
    agent = agent_of(manager, session)

    def shells():
        return {pid for pid, command in leftovers(session.id) if b"sleep 1;" in command}

    wait_until(shells, what="a command of the agent")
    running = shells()
    receipt, sent = manager.prompts.interrupt(session.id, f"{SHORT[live]} instead")
    assert (receipt.status, receipt.note) == (Status.STOPPED, "turn interrupted")
    assert running & {process.pid for process in receipt.ended}  # a fork has its parent's command for a moment
    assert {process.how for process in receipt.ended} == {"by agent"}
    assert not shells()
    assert agent not in {process.pid for process in receipt.ended}
    assert sent.turn == 2
    at(session, 2, Status.DONE)
    first, second = manager.reader.turns(session.id)
    assert (first.status, first.reason) == (Status.STOPPED, "stopped by you")
    assert second.agent_pid == agent
    assert not any(b"sleep" in command for _, command in leftovers(session.id))


@pytest.mark.smoke
@pytest.mark.parametrize("live", AGENTS, indirect=True)
@pytest.mark.parametrize("answer", [ALLOW, DENY], ids=lambda answer: answer.verdict)
def test_an_ask_waits_for_its_answer_and_the_turn_goes_on(manager, live, session_of, at, wait_until, answer):
    session = session_of(live, ASKS, STRICT)
    waiting = at(session, 1, Status.WAITING, asking=1)
    assert waiting.reason.startswith("asks to ")
    [asked] = manager.reader.asks(session.id)
    assert manager.asks.answer(asked.id, answer).answered_by == "you"
    with pytest.raises(SessionBusyError, match=r"takes no answer: .* by you"):
        manager.asks.answer(asked.id, ALLOW)

    def answered_to_the_end():
        for one in manager.reader.asks(session.id):
            manager.asks.answer(one.id, answer)
        return manager.reader.get(session.id).status.ended

    wait_until(answered_to_the_end, timeout=60, what="the turn to end")
    ended = manager.reader.get(session.id)
    assert (ended.status, ended.asking) == (Status.DONE, 0)
    facts = explained(manager, session)
    assert f": settled ({answer.verdict} by you)" in facts[f"ask {asked.id}"]
    assert facts["live agent"].endswith("waits for prompts")
    assert "processes left" not in facts
    assert {one.state for one in manager.store.asks.of_session(session.id)} == {AskState.SETTLED}
    assert (ended.denied, ended.denied_names) == (0, None), "the user denied it, and need not look at it again"


def test_an_ask_that_a_rule_denies_counts_as_denied(manager, scripted_agent, session_of, at, monkeypatch, tmp_path):
    (tmp_path / "rules.toml").write_text('[[asks.rules]]\ndecide = "deny"\n')
    monkeypatch.setenv("AGENTDASH_CONFIG", str(tmp_path / "rules.toml"))
    session = session_of("scripted", ASKS)
    ended = at(session, 1, Status.DONE)
    assert (ended.denied, ended.denied_names) == (1, ("shell",))
    assert attention(ended, ended.updated_at).kind is AttentionKind.DENIED


@pytest.mark.parametrize("live", ["scripted"], indirect=True)
def test_a_wait_reports_each_ask_once(manager, live, session_of):
    session = session_of(live, ASKS, STRICT)
    reported = []

    def allow(asked):
        reported.append(asked.id)
        manager.asks.answer(asked.id, ALLOW)

    [ended] = manager.wait([session.id], timeout=60, asked=allow)
    assert ended.status is Status.DONE
    assert reported == [asked.id for asked in manager.store.asks.of_session(session.id)]


@pytest.mark.parametrize("live", ["scripted"], indirect=True)
def test_an_interrupt_that_comes_after_the_end_leaves_the_process(manager, live, session_of, at):
    session = session_of(live, SHORT)
    at(session, 1, Status.DONE)
    ended = manager.reader.get(session.id)
    receipt = stop_session(manager.layout, manager.store, ended, settle=manager.housekeeping.settle, only=1)
    assert (receipt.status, receipt.ended, receipt.note) == (Status.DONE, (), "the turn had ended")
    assert manager.prompts.inject(session.id, SHORT[live]).turn == 2
    at(session, 2, Status.DONE)
    assert len({turn.agent_pid for turn in manager.reader.turns(session.id)}) == 1


@pytest.mark.parametrize("live", AGENTS, indirect=True)
def test_an_agent_whose_runner_is_killed_while_it_asks_gets_its_answer_from_the_next_runner(
    manager, live, session_of, at, wait_until
):
    session = session_of(live, ASKS, STRICT)
    at(session, 1, Status.WAITING, asking=1)
    agent = agent_of(manager, session)
    kill_runner(manager, session, wait_until)
    assert processes.by_pid(agent) is not None
    [asked] = manager.reader.asks(session.id)
    manager.asks.answer(asked.id, ALLOW)
    wait_until(
        lambda: manager.housekeeping.settle() or manager.store.asks.one(asked.id).state is AskState.SETTLED,
        timeout=60,
        what="the agent to have the answer",
    )
    assert agent_of(manager, session) == agent


@pytest.mark.parametrize("live", AGENTS, indirect=True)
def test_an_ask_of_an_agent_that_is_killed_is_lost(manager, live, session_of, at):
    session = session_of(live, ASKS, STRICT)
    at(session, 1, Status.WAITING, asking=1)
    os.kill(agent_of(manager, session), signal.SIGKILL)
    ended = at(session, 1, Status.FAILED)
    assert (ended.asking, ended.reason) == (0, "killed by SIGKILL, not by agentdash")
    assert [one.state for one in manager.store.asks.of_session(session.id)] == [AskState.LOST]


def test_an_ask_of_an_agent_that_is_killed_in_a_later_turn_is_lost(manager, scripted_agent, session_of, at):
    session = session_of("scripted", SHORT)
    at(session, 1, Status.DONE)
    manager.prompts.inject(session.id, "[[script:ask]] go on")
    at(session, 2, Status.WAITING, asking=1)
    [asked] = manager.reader.asks(session.id)
    os.kill(agent_of(manager, session), signal.SIGKILL)
    at(session, 2, Status.FAILED, asking=0)
    assert manager.reader.asks(session.id) == []
    with pytest.raises(SessionBusyError):
        manager.asks.answer(asked.id, ALLOW)


@pytest.mark.parametrize("live", AGENTS, indirect=True)
def test_a_runner_that_is_killed_between_turns_leaves_an_agent_that_the_next_turn_uses(
    manager, live, session_of, at, wait_until
):
    session = session_of(live, SHORT)
    at(session, 1, Status.DONE)
    agent = agent_of(manager, session)
    kill_runner(manager, session, wait_until)
    manager.prompts.inject(session.id, f"{SHORT[live]} again")
    at(session, 2, Status.DONE)
    assert agent_of(manager, session) == agent
    assert slices(manager, session)[1][:2] == (1, slices(manager, session)[0][2])


@pytest.mark.parametrize("live", AGENTS, indirect=True)
def test_a_stop_ends_an_agent_that_waits_for_prompts_and_leaves_nothing(manager, live, session_of, at, leftovers):
    session = session_of(live, SHORT)
    at(session, 1, Status.DONE)
    assert manager.stop(session.id).ended
    assert leftovers(session.id) == []
    found = manager.reader.get(session.id)
    assert (found.status, found.warm_since) == (Status.DONE, None)


@pytest.mark.parametrize("live", AGENTS, indirect=True)
def test_an_agent_that_waited_long_enough_is_closed_and_the_next_prompt_starts_another(
    manager, live, session_of, at, leftovers, tmp_path, wait_until
):
    (tmp_path / "config.toml").write_text("[live]\nkeep_seconds = 0\n")
    session = session_of(live, SHORT)
    at(session, 1, Status.DONE)
    wait_until(lambda: leftovers(session.id) == [], what="the agent to be closed")
    manager.prompts.inject(session.id, f"{SHORT[live]} again")
    at(session, 2, Status.DONE)
    first, second = manager.reader.turns(session.id)
    assert first.agent_pid != second.agent_pid
    assert slices(manager, session)[1][:2] == (2, 0)


def test_the_agent_that_waits_longest_is_closed_if_too_many_wait(
    manager, scripted_agent, session_of, at, leftovers, tmp_path, wait_until
):
    (tmp_path / "config.toml").write_text("[live]\nkeep_most = 1\n")
    first = session_of("scripted", SHORT)
    at(first, 1, Status.DONE)
    second = manager.spawn(
        Start(f"{SHORT['scripted']} go", agent="scripted", cwd=first.cwd, options={"live": True, "speed": 20})
    )
    at(second, 1, Status.DONE)
    wait_until(lambda: leftovers(first.id) == [], what="the first agent to be closed")
    assert leftovers(second.id)


def test_a_turn_that_an_agent_begins_by_itself_is_a_turn(manager, scripted_agent, session_of, at):
    session = session_of("scripted", {"scripted": "[[script:wake]]"})
    at(session, 1, Status.DONE)
    at(session, 2, Status.DONE)
    own = manager.reader.turns(session.id)[1]
    assert (own.asked_by, own.stream_number) == ("agent", 1)
    assert [prompt.turn for prompt in manager.reader.prompts(session.id)] == [1]


def test_a_turn_that_waits_for_a_place_gets_what_the_agent_does_by_itself_before_it(
    manager, scripted_agent, session_of, at, wait_until, tmp_path
):
    """Its prompt is written to the working agent."""
    (tmp_path / "config.toml").write_text("[queue]\nmax_running = 1\n")
    session = session_of("scripted", {"scripted": "[[script:wake]]"}, {"scripted": {"speed": 2}})
    other = manager.run(["sleep", "600"], cwd=session.cwd)
    # Both wait before the first turn ends, and the command waits longer.
    manager.prompts.inject(session.id, "[[script:quick]] again", PromptOptions(steer=False))
    at(other, 1, Status.RUNNING)
    output = manager.layout.session(session.id).output(1)
    wait_until(lambda: b"212 passed" in output.read_bytes(), what="the turn that the agent begins")
    assert at(session, 2, Status.QUEUED)
    manager.stop(other.id, NOW)
    at(session, 2, Status.DONE)
    first, second = manager.reader.turns(session.id)
    assert (second.agent_pid, second.begin_byte) == (first.agent_pid, first.end_byte)
    assert [prompt.state for prompt in manager.reader.prompts(session.id)] == ["seen", "seen"]


def test_an_interrupt_that_comes_after_the_end_of_the_turn_leaves_the_agent(
    manager, scripted_agent, session_of, at, wait_until
):
    session = session_of("scripted", SHORT)
    at(session, 1, Status.DONE)
    with contextlib.closing(Store(manager.layout.database)) as store:
        request = store.request(session.id, 1, "interrupt", "you")
        poke(manager.layout.session(session.id).poke)
        receipt = wait_until(lambda: store.answered(request), what="the receipt")
    assert receipt.status is Status.DONE
    assert receipt.note.endswith("had ended")
    agent = agent_of(manager, session)
    manager.prompts.inject(session.id, f"{SHORT['scripted']} again")
    at(session, 2, Status.DONE)
    assert agent_of(manager, session) == agent


def test_an_agent_is_closed_when_its_session_is_archived(
    manager, scripted_agent, session_of, at, leftovers, wait_until
):
    session = session_of("scripted", SHORT)
    at(session, 1, Status.DONE)
    manager.housekeeping.archive(session.id)
    wait_until(lambda: leftovers(session.id) == [], what="the agent to be closed")
    assert manager.reader.get(session.id).status is Status.DONE
