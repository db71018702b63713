"""The folder of a session, replaced with a link between two turns: no start follows it, and no prompt is lost."""

import pytest

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.lifecycle.stop_family import NOW

pytestmark = pytest.mark.usefixtures("scripted_agent")

LINK = "is a symbolic link now"


@pytest.fixture
def place(tmp_path):
    """A lead's folder with a folder below it, and a folder elsewhere."""
    top = tmp_path.resolve()
    (top / "lead/sub").mkdir(parents=True)
    (top / "elsewhere").mkdir()
    return top


def swap(place):
    (place / "lead/sub").rename(place / "lead/sub.old")
    (place / "lead/sub").symlink_to(place / "elsewhere")


def put_back(place):
    (place / "lead/sub").unlink()
    (place / "lead/sub.old").rename(place / "lead/sub")


def refused(manager, session_id, turn):
    """Wait for the end of a turn, which was not started."""
    manager.wait([session_id], timeout=60)
    session = manager.reader.by_id(session_id)
    assert (session.turn, session.status) == (turn, Status.FAILED), session.reason
    assert LINK in session.reason
    return session


def test_a_command_is_not_run_again_behind_the_link(manager, place):
    session = manager.run(["touch", "made"], cwd=str(place / "lead/sub"))
    manager.wait([session.id], timeout=60)
    swap(place)
    manager.prompts.retry(session.id)
    refused(manager, session.id, 2)
    assert list((place / "elsewhere").iterdir()) == []
    put_back(place)
    (place / "lead/sub/made").unlink()
    manager.prompts.retry(session.id)
    assert manager.wait([session.id], timeout=60)[0].status is Status.DONE
    assert (place / "lead/sub/made").exists()


def test_a_start_that_waited_is_refused(manager, place):
    first = manager.run(["sleep", "600"])
    waits = manager.run(["touch", "made"], cwd=str(place / "lead/sub"), after=first.id)
    swap(place)
    manager.stop(first.id, NOW)
    manager.chains.start(waits.id)
    refused(manager, waits.id, 1)
    assert list((place / "elsewhere").iterdir()) == []


def test_a_folder_named_through_a_link_is_recorded_as_it_is(manager, place):
    (place / "link").symlink_to(place / "lead/sub")
    session = manager.run(["touch", "made"], cwd=str(place / "link"))
    assert session.cwd == str(place / "lead/sub")
    (place / "link").unlink()
    (place / "link").symlink_to(place / "elsewhere")
    manager.prompts.retry(manager.wait([session.id], timeout=60)[0].id)
    assert manager.wait([session.id], timeout=60)[0].status is Status.DONE
    assert list((place / "elsewhere").iterdir()) == []


@pytest.mark.smoke
@pytest.mark.parametrize("live", [False, True], ids=["turn-by-turn", "live"])
def test_a_prompt_is_refused_and_kept(manager, place, live):
    options = {"script": "quick", "speed": 50, "live": live}
    start = Start("one", agent="scripted", cwd=str(place / "lead/sub"), options=options)
    session = manager.spawn(start)
    assert manager.wait([session.id], timeout=60)[0].status is Status.DONE
    swap(place)
    manager.prompts.inject(session.id, "two")
    refused(manager, session.id, 2)
    later = manager.prompts.inject(session.id, "three")
    refused(manager, session.id, 3)
    assert later.prompt.text == "three"
    put_back(place)
    manager.prompts.retry(session.id)
    assert manager.wait([session.id], timeout=60)[0].status is Status.DONE
    assert manager.reader.prompts(session.id)[-1].text == "three"


def test_a_fork_and_a_continuation_do_not_follow_the_link(manager, place):
    start = Start("one", agent="scripted", cwd=str(place / "lead/sub"), options={"script": "quick", "speed": 50})
    session = manager.spawn(start)
    manager.wait([session.id], timeout=60)
    swap(place)
    fork = manager.conversation.fork(session.id, None, None, "on")
    assert fork.cwd == str(place / "lead/sub")
    refused(manager, fork.id, 1)
    for given in ("", str(place / "lead/sub")):
        planned = manager.reader.continued(session.id, Start("on", cwd=given))
        continued = manager.continue_session(planned)
        refused(manager, continued.id, 1)
    elsewhere = manager.reader.continued(session.id, Start("on", cwd=str(place / "lead/sub.old")))
    assert manager.continue_session(elsewhere).cwd == str(place / "lead/sub.old")
