"""What everything around live agents does with them: they cannot be spoken to, wait, ask, are deleted, or are gone."""

import json
import os
import signal

import pytest
from msgspec import structs
from verbs import verb

from agentdash.sessions.model.errors import SessionBusyError, UnknownSessionError, UsageError
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.asks.model import Answer, Verdict
from agentdash.sessions.rules.asks.recorded import AskState
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.runner.processes import processes, runner_lock
from agentdash.sessions.service.lifecycle.recovery.rebuild import rebuild
from agentdash.sessions.transcript.search import Search
from scripted.adapter import Scripted

ALLOW = Answer(verdict=Verdict.ALLOW)


@pytest.fixture
def spawn(manager, scripted_agent, tmp_path):
    """Starts a live scripted agent."""
    project = tmp_path / "project"
    project.mkdir()

    def start(prompt="[[script:quick]] go", **options):
        chosen = {"live": True, "speed": 20} | options
        return manager.spawn(Start(prompt, agent="scripted", cwd=str(project), options=chosen))

    return start


@pytest.fixture
def unknown_protocol(monkeypatch):
    """Launches have a protocol that runners do not know; ``plain`` if they can also serve one turn."""

    def use(*, plain):
        usual = Scripted.command

        def command(agent, request):
            made = usual(agent, request)
            return structs.replace(made, transport="later-lines", plain_argv=made.plain_argv if plain else ())

        monkeypatch.setattr(Scripted, "command", command)

    return use


def test_a_protocol_that_the_runner_does_not_know_is_a_turn_of_its_own_with_a_warning(
    manager, spawn, at, unknown_protocol, leftovers, wait_until
):
    unknown_protocol(plain=True)
    session = spawn()
    at(session, 1, Status.DONE)
    launch = manager.store.launch(session.id, 1)
    assert (launch.transport, launch.warnings) == (
        "",
        ("The agent does not run live in this turn: agentdash cannot speak its protocol, 'later-lines'.",),
    )
    assert [prompt.state for prompt in manager.reader.prompts(session.id)] == ["seen"]
    wait_until(lambda: leftovers(session.id) == [], what="the processes to end")


def test_a_protocol_that_the_runner_does_not_know_fails_if_there_is_no_other_way(
    manager, spawn, at, unknown_protocol, leftovers, wait_until
):
    unknown_protocol(plain=False)
    session = spawn()
    ended = at(session, 1, Status.FAILED)
    assert ended.reason == "the live agent could not be used: agentdash cannot speak its protocol, 'later-lines'"
    assert [prompt.state for prompt in manager.reader.prompts(session.id)] == ["unsent"]
    wait_until(lambda: leftovers(session.id) == [], what="the processes to end")


@pytest.fixture
def doubtful(manager, spawn, at):
    """A session that waits for prompts, and of which it is not known whether its agent read two remarks in turn 1."""
    session = spawn()
    at(session, 1, Status.DONE)
    manager.queue.hold(session.id)
    remarks = [manager.prompts.inject(session.id, text).prompt.id for text in ("first remark", "second remark")]
    with manager.store.database.transaction() as db:
        db.executemany("UPDATE queue SET state = 'unconfirmed', turn = 1 WHERE id = ?", [(one,) for one in remarks])
    manager.queue.release(session.id)
    return manager.reader.get(session.id)


def test_a_prompt_into_a_turn_that_is_unconfirmed_is_sent_again_or_dismissed(manager, doubtful, at):
    session = doubtful
    assert session.unconfirmed == 2
    listed = verb("queue", session.short_id).stdout
    assert "2 unconfirmed" in listed
    assert "unconfirmed  first remark" in listed
    assert verb("queue", session.short_id, "resend", "1").stdout.startswith('sent again (turn 2): "first remark"')
    at(session, 2, Status.DONE)
    assert manager.reader.prompts(session.id)[-1].text == "first remark"
    assert "0 queued" in verb("queue", session.short_id, "dismiss", "1").stdout
    assert manager.reader.get(session.id).unconfirmed == 0
    with pytest.raises(UsageError, match=r"The prompt of turn 1 of session .* is not unconfirmed"):
        manager.queue.resend(manager.queue.first_unconfirmed(session.id, 1))
    prompts = manager.reader.prompts(session.id)
    assert [prompt.turn for prompt in prompts if prompt.steered is None] == [1, 2]
    assert [prompt.turn for prompt in prompts if prompt.steered is not None] == [1, 1]


@pytest.fixture
def asking(spawn, at):
    """A session whose agent asks."""
    session = spawn("[[script:ask]] clean up")
    return at(session, 1, Status.WAITING, asking=1)


def kill(manager, session, wait_until, *, agent=False):
    """Kill -9 the runner, and the agent with its group, and wait until both are gone."""
    turn = manager.reader.turns(session.id)[-1]
    os.kill(turn.runner_pid, signal.SIGKILL)
    lock = manager.layout.session(session.id).lock
    wait_until(lambda: not runner_lock.is_held(lock), what="the runner to be gone")
    if agent:
        os.killpg(turn.agent_pid, signal.SIGKILL)
        wait_until(lambda: not processes.alive(turn.agent_pid, turn.agent_start), what="the agent to be gone")


def of_another_boot(manager, session):
    """Let the newest turn be one that began before the machine was rebooted."""
    with manager.store.database.transaction() as db:
        db.execute("UPDATE turns SET boot_id = 'another boot' WHERE session = ?", (session.id,))


def finding(name):
    """What doctor says about one of its subjects."""
    return next(one for one in json.loads(verb("doctor", "--json").stdout) if one["name"] == name)


def test_an_agent_that_waits_is_among_the_processes_of_its_session_until_it_is_stopped(manager, spawn, at):
    session = spawn()
    at(session, 1, Status.DONE)
    agent = manager.reader.turns(session.id)[0].agent_pid
    assert agent in [process.pid for process in manager.reader.processes(session.id)]
    assert manager.reader.get(session.id).left == 0
    assert agent in [process["pid"] for process in json.loads(verb("ps", session.short_id, "--json").stdout)]
    assert [ended.pid for ended in manager.stop(session.id).ended if ended.pid == agent] == [agent]
    assert manager.reader.processes(session.id) == []


def test_doctor_names_an_agent_that_waits_without_a_runner_and_its_remedy_gives_it_one(manager, spawn, at, wait_until):
    session = spawn()
    at(session, 1, Status.DONE)
    assert finding("live turns")["state"] == "ok"
    kill(manager, session, wait_until)
    found = finding("live turns")
    assert found["found"] == f"1 ({session.short_id}) wait for prompts, runner missing"
    assert (found["remedy"], finding("strays")["state"]) == ("run agentdash ls", "ok")
    verb("ls")
    wait_until(lambda: finding("live turns")["state"] == "ok", what="a runner")


def test_a_session_whose_agent_waited_when_the_machine_was_rebooted_takes_prompts(manager, spawn, at, wait_until):
    session = spawn()
    at(session, 1, Status.DONE)
    kill(manager, session, wait_until, agent=True)
    of_another_boot(manager, session)
    wait_until(
        lambda: manager.housekeeping.settle() or manager.reader.get(session.id).warm_since is None,
        what="the agent to be known as gone",
    )
    assert manager.reader.get(session.id).status is Status.DONE
    assert manager.prompts.inject(session.id, "[[script:quick]] again").turn == 2
    at(session, 2, Status.DONE)
    assert [turn.stream_number for turn in manager.reader.turns(session.id)] == [1, 2]


def test_an_agent_that_asked_when_the_machine_was_rebooted_is_lost_with_its_ask(manager, asking, at, wait_until):
    [asked] = manager.reader.asks(asking.id)
    kill(manager, asking, wait_until, agent=True)
    of_another_boot(manager, asking)
    lost = at(asking, 1, Status.LOST)
    assert lost.reason.startswith("the machine was rebooted")
    assert (lost.asking, lost.warm_since) == (0, None)
    with pytest.raises(SessionBusyError, match=f"Ask {asked.id} takes no answer: the agent ended first"):
        manager.asks.answer(asked.id, ALLOW)


def test_after_a_stop_an_ask_takes_no_answer(manager, asking, leftovers):
    [asked] = manager.reader.asks(asking.id)
    assert manager.stop(asking.id).status is Status.STOPPED
    assert leftovers(asking.id) == []
    with pytest.raises(SessionBusyError, match=f"Ask {asked.id} takes no answer: the agent ended first"):
        manager.asks.answer(asked.id, ALLOW)
    with pytest.raises(SessionBusyError, match="asks nothing"):
        manager.asks.named(asking.id)
    with pytest.raises(SessionBusyError, match="is stopped: nothing to interrupt"):
        manager.prompts.interrupt(asking.id)
    manager.housekeeping.archive(asking.id)
    with pytest.raises(SessionBusyError, match=f"Ask {asked.id} takes no answer: the agent ended first"):
        manager.asks.answer(asked.id, ALLOW)


def test_a_session_whose_agent_asks_is_not_archived_and_its_deletion_ends_the_agent(manager, asking, leftovers):
    [asked] = manager.reader.asks(asking.id)
    with pytest.raises(SessionBusyError, match="only ended sessions can be archived"):
        manager.housekeeping.archive(asking.id)
    assert manager.delete(asking.id).ended
    assert leftovers(asking.id) == []
    with pytest.raises(UnknownSessionError, match=f"There is no ask {asked.id}: its session was deleted"):
        manager.asks.answer(asked.id, ALLOW)
    restored = manager.housekeeping.restore(asking.id)
    assert (restored.status, restored.asking, manager.reader.asks()) == (Status.STOPPED, 0, [])


def test_a_session_whose_agent_waits_is_deleted_with_its_agent_but_not_by_a_clean_up(manager, spawn, at, leftovers):
    session = spawn()
    at(session, 1, Status.DONE)
    with manager.store.database.transaction() as db:
        db.execute("UPDATE sessions SET ended_at = 1, updated_at = 1")
    cleaned = manager.housekeeping.clean()
    assert ([one.id for one in cleaned.kept], cleaned.deleted) == ([session.id], ())
    assert leftovers(session.id)
    manager.delete(session.id)
    assert leftovers(session.id) == []
    restored = manager.housekeeping.restore(session.id)
    assert (restored.status, restored.warm_since) == (Status.DONE, None)


def test_a_turn_that_waited_longer_than_its_limit_goes_on_with_the_next_runner(manager, spawn, at, wait_until):
    session = spawn("[[script:ask]] clean up", limits={"wall_seconds": 600})
    at(session, 1, Status.WAITING, asking=1)
    [asked] = manager.reader.asks(session.id)
    kill(manager, session, wait_until)
    with manager.store.database.transaction() as db:
        db.execute("UPDATE turns SET started_at = started_at - 3600000")
        db.execute("UPDATE asks SET asked_at = asked_at - 3600000")
    at(session, 1, Status.WAITING, asking=1)
    assert manager.asks.answer(asked.id, ALLOW).answer == ALLOW
    assert at(session, 1, Status.DONE, Status.STOPPED).status is Status.DONE


@pytest.mark.parametrize("runner_dies", [False, True], ids=["runner lives", "runner dies too"])
def test_a_turn_that_an_agent_began_by_itself_and_did_not_survive_is_a_turn(
    manager, spawn, at, wait_until, runner_dies
):
    """The agent is killed before its runner has read the beginning of the turn."""
    session = spawn("[[script:wake]] run the suite", speed=2)
    at(session, 1, Status.DONE)
    turn = manager.reader.turns(session.id)[0]
    os.kill(turn.runner_pid, signal.SIGSTOP)
    output = manager.layout.session(session.id).output(1)
    wait_until(lambda: b"command_1" in output.read_bytes(), what="the turn that the agent begins")
    os.kill(turn.agent_pid, signal.SIGKILL)
    os.kill(turn.runner_pid, signal.SIGKILL if runner_dies else signal.SIGCONT)
    at(session, 2, Status.FAILED, Status.LOST)
    own = manager.reader.turns(session.id)[1]
    assert (own.asked_by, own.begin_byte) == ("agent", manager.reader.turns(session.id)[0].end_byte)
    assert "command" in [step.kind for step in manager.reader.steps.trajectory(session.id) if step.turn == 2]


@pytest.fixture
def woken(manager, spawn, at, wait_until):
    """A session of two turns, of which the agent began the second by itself; its processes are gone."""
    session = spawn("[[script:wake]] run the suite")
    at(session, 2, Status.DONE)
    manager.stop(session.id)
    lock = manager.layout.session(session.id).lock
    wait_until(lambda: not runner_lock.is_held(lock), what="the runner to be gone")
    return session


def read(manager, session):
    """What a reader sees of each turn: where its output is, how it ended, and its steps without the prompts."""
    turns = [
        (turn.stream_number, turn.begin_byte, turn.end_byte, turn.status, turn.asked_by, turn.transport)
        for turn in manager.reader.turns(session.id)
    ]
    steps = [
        (step.turn, step.kind, step.text)
        for step in manager.reader.steps.trajectory(session.id)
        if step.kind != "prompt"
    ]
    return turns, steps


@pytest.mark.parametrize("damaged", [False, True], ids=["record", "no record"])
def test_the_turns_of_a_live_agent_are_rebuilt_with_their_boundaries(manager, woken, damaged, tmp_path):
    before = read(manager, woken)
    assert [turn[4] for turn in before[0]] == [None, "agent"]
    manager.close()
    for path in manager.layout.home.glob("agentdash.db*"):
        path.unlink()
    if damaged:
        manager.layout.session(woken.id).identity.write_text("{")
    assert rebuild(manager.layout).restored == (woken.id,)
    assert read(manager, woken) == before
    assert [prompt.turn for prompt in manager.reader.prompts(woken.id)] == [1]
    assert manager.reader.get(woken.id).unknown == 0


def test_live_turns_are_found_by_a_search_and_exported(manager, woken):
    last = "The long suite has finished: 212 tests pass."
    view = manager.reader.steps.open_trajectory(woken.id).refresh(float("inf")).view
    search = Search(view, "212 tests pass")
    search.advance(float("inf"))
    assert [(view.whole(item).turn, view.whole(item).text) for item in search.hits] == [(2, last)]
    for form in ("md", "html", "json"):
        document = verb("export", woken.short_id, "--format", form).stdout
        assert "run the suite" in document
        assert last in document
    only = json.loads(verb("export", woken.short_id, "--format", "json", "--turn", "2").stdout)
    assert {step["turn"] for step in only["steps"]} == {2}
    assert last in [step["text"] for step in only["steps"]]


def test_an_ask_is_open_again_after_a_rebuild_and_its_answer_reaches_the_agent(manager, asking, at, wait_until):
    manager.close()
    for path in manager.layout.home.glob("agentdash.db*"):
        path.unlink()
    assert rebuild(manager.layout).restored == (asking.id,)
    [asked] = wait_until(lambda: manager.reader.asks(asking.id), timeout=60, what="the ask to be recorded again")
    manager.asks.answer(asked.id, ALLOW)
    at(asking, 1, Status.DONE)
    assert manager.store.asks.one(asked.id).state is AskState.SETTLED
