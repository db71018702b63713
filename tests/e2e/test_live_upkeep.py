"""What everything around live agents does with them: they cannot be spoken to, wait, ask, are deleted, or are gone."""

import pytest
from msgspec import structs
from verbs import verb

from agentdash.sessions.agents.base import LiveSettings
from agentdash.sessions.agents.demo.adapter import Demo
from agentdash.sessions.errors import UsageError
from agentdash.sessions.launch import Start
from agentdash.sessions.model import Status


@pytest.fixture
def spawn(manager, demo_agent, tmp_path):
    """Starts a live demo agent."""
    project = tmp_path / "project"
    project.mkdir()

    def start(prompt="[[demo:quick]] go", **options):
        chosen = {"live": True, "speed": 20} | options
        return manager.spawn(Start(prompt, agent="demo", cwd=str(project), options=chosen))

    return start


@pytest.fixture
def at(manager, wait_until):
    """Waits until a session is in a turn with a status."""

    def wait(session, turn, *statuses, **facts):
        def there():
            manager.housekeeping.settle()
            found = manager.reader.get(session.id)
            wanted = all(getattr(found, name) == value for name, value in facts.items())
            return found if found.turn == turn and found.status in statuses and wanted else None

        return wait_until(there, timeout=120, what=f"turn {turn} to be {' or '.join(statuses)}")

    return wait


@pytest.fixture
def unknown_protocol(monkeypatch):
    """Launches have a protocol that runners do not know; ``plain`` if they can also serve one turn."""

    def use(*, plain):
        usual = Demo.launch

        def launch(agent, request):
            made = usual(agent, request)
            return structs.replace(made, transport="later-lines", plain_argv=made.plain_argv if plain else ())

        assert issubclass(Demo.settings_type, LiveSettings)
        monkeypatch.setattr(Demo, "launch", launch)

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
        manager.queue.resend(session.id, 1)
    assert [prompt.turn for prompt in manager.reader.prompts(session.id)] == [1, 2]
