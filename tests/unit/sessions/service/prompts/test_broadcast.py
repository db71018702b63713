"""One prompt to several sessions: all requests have one key, and a refusal stops no other session."""

from types import SimpleNamespace
from typing import Any

import factories

from agentdash.sessions.model.errors import SessionBusyError, UsageError
from agentdash.sessions.service.prompts.filling import broadcast
from agentdash.sessions.service.prompts.prompter import PromptOptions

SESSIONS = [factories.session(name) for name in ("first001", "second01", "third001")]


class Prompter:
    """Records what is sent; the session ``second01`` refuses it."""

    def __init__(self):
        self.sent = []

    def inject(self, ref, prompt, options):
        if ref == "second01":
            raise SessionBusyError("It runs on another host.")
        self.sent.append((ref, prompt, options))
        return SimpleNamespace(session=factories.session(ref))


def sent_by(text_for, **options):
    prompter: Any = Prompter()
    return prompter.sent, broadcast(prompter, SESSIONS, text_for, PromptOptions(**options))


def test_a_refusal_is_reported_and_the_others_get_the_prompt():
    sent, outcomes = sent_by(lambda _: "go on")
    assert [ref for ref, *_ in sent] == ["first001", "third001"]
    assert [one.session.id for one in outcomes] == ["first001", "second01", "third001"]
    assert [str(one.error) for one in outcomes if one.error] == ["It runs on another host."]


def test_all_requests_of_a_broadcast_have_one_key_and_each_broadcast_its_own():
    first, _ = sent_by(lambda _: "go on")
    second, _ = sent_by(lambda _: "go on")
    keys = [{options.key for *_, options in sent} for sent in (first, second)]
    assert [len(one) for one in keys] == [1, 1]
    assert "" not in keys[0]
    assert keys[0] != keys[1]
    named, _ = sent_by(lambda _: "go on", key="mine")
    assert {options.key for *_, options in named} == {"mine"}


def test_a_text_that_cannot_be_made_refuses_its_session_alone():
    def text_for(session):
        if session.id == "first001":
            raise UsageError("Template review: {branch} has no value.")
        return f"for {session.id}"

    sent, outcomes = sent_by(text_for)
    assert [text for _, text, _ in sent] == ["for third001"]
    assert [one.sent is None for one in outcomes] == [True, True, False]
