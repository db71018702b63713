"""Unconfirmed prompts: a decision is about exactly the prompt that the user chose."""

from types import SimpleNamespace
from typing import Any

import factories
import pytest

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.runner.caller import Caller
from agentdash.sessions.service.families.rights import Rights
from agentdash.sessions.service.managing.housekeeping import Shared
from agentdash.sessions.service.prompts.queue import SessionQueue
from agentdash.sessions.storage.prompts.queued_prompt import Unconfirmed

SESSION = factories.session()
OWN = Unconfirmed(session=SESSION.id, turn=2, text="drop the index", created_at=1)
STEERED = Unconfirmed(session=SESSION.id, turn=2, text="and the table", created_at=2, steered=7)


def queue(*unconfirmed):
    """Return a queue with these prompts, and the list of those that are sent again."""
    sent = []
    reader = SimpleNamespace(get=lambda ref: SESSION, unconfirmed=lambda ref: list(unconfirmed))
    prompter = SimpleNamespace(resend=lambda session, prompt: sent.append(prompt))
    # A decision about a prompt that is not unconfirmed reaches neither the rows nor the agent.
    parts: list[Any] = [SimpleNamespace(check_writable=lambda: None), SimpleNamespace(), reader, SimpleNamespace()]
    return SessionQueue(Shared(Rights(Caller()), *parts), prompter), sent


def test_a_prompt_that_was_decided_elsewhere_does_not_send_another_one_of_its_turn():
    made, sent = queue(STEERED)
    for decide in (made.resend, made.dismiss):
        with pytest.raises(UsageError, match=r"The prompt of turn 2 .* is not unconfirmed"):
            decide(OWN)
    assert sent == []
    made.resend(STEERED)
    assert sent == [STEERED]


def test_a_turn_names_its_first_unconfirmed_prompt():
    assert queue(OWN, STEERED)[0].first_unconfirmed(SESSION.id, 2) == OWN
    assert queue(STEERED)[0].first_unconfirmed(SESSION.id, 2) == STEERED
    with pytest.raises(UsageError):
        queue(STEERED)[0].first_unconfirmed(SESSION.id, 1)
