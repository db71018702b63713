"""A draft survives the end of the dashboard, the polite one and kill -9."""

import os
import signal

import pytest

from agentdash.sessions.rules.launch import Start

pytestmark = pytest.mark.usefixtures("scripted_agent")


@pytest.fixture
def session(manager, terminal):
    """A session with its prompt box open in a dashboard that another one follows; ``pid`` has the first one's."""
    start = Start("the only one", agent="scripted", options={"script": "quick", "speed": 40.0})
    [session] = manager.wait([manager.spawn(start).id], timeout=60)
    first = "sh -c 'echo $$ > pid; exec agentdash'"
    terminal.start(f"{first}; stty sane; printf '\\033[?1049l'; clear; echo between; read answer; agentdash")
    terminal.shows("the only one")
    terminal.keys("i")
    return session


@pytest.mark.parametrize("politely", [True, False], ids=["q", "kill -9"])
def test_what_was_typed_is_there_in_the_next_dashboard(manager, session, terminal, wait_until, tmp_path, politely):
    terminal.type("PRECIOUS DRAFT")
    terminal.shows("PRECIOUS DRAFT")
    if politely:
        terminal.keys("Escape", "q")
    else:
        draft = manager.reader.home / "drafts" / session.id
        wait_until(lambda: draft.exists() and draft.read_text() == "PRECIOUS DRAFT", what="the draft on disk")
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    terminal.shows("between")
    terminal.keys("Enter")
    terminal.shows("the only one", "PRECIOUS DRAFT")


def test_a_prompt_that_was_sent_is_no_draft_for_the_next_dashboard(manager, session, terminal, wait_until, tmp_path):
    terminal.type("SENT ONCE")
    draft = manager.reader.home / "drafts" / session.id
    wait_until(lambda: draft.exists() and draft.read_text() == "SENT ONCE", what="the draft on disk")

    def texts():
        return [prompt.text for prompt in manager.store.prompts(session.id)]

    terminal.keys("Enter")
    wait_until(lambda: "SENT ONCE" in texts(), what="the row of the prompt")
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    terminal.shows("between")
    terminal.keys("Enter")
    terminal.shows("the only one")
    terminal.keys("i", "Enter")
    terminal.type("SENT AFTER")
    terminal.shows("SENT AFTER")
    terminal.keys("Enter")
    wait_until(lambda: "SENT AFTER" in texts(), what="the next prompt")
    assert texts() == ["the only one", "SENT ONCE", "SENT AFTER"]
