"""Which changes of a turn run the user's command."""

import factories
import pytest

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.notifications.settings import Hook
from agentdash.sessions.runner.hooks import hooks
from agentdash.sessions.runner.hooks.hooks import Hooks
from agentdash.sessions.storage.paths import Layout

W, R, F = Status.WAITING, Status.RUNNING, Status.FINISHING


class Rows:
    """A store with one session."""

    def __init__(self, status):
        self.status = status

    class asks:  # noqa: N801 - a row of the store
        @staticmethod
        def open(_):
            return []

    def session(self, session_id):
        return factories.session(session_id, status=self.status, turn=2)


@pytest.fixture
def told(monkeypatch, tmp_path):
    """Give the statuses, one after the other; what the hook was told."""

    def tell(*statuses, before=Status.STARTING, hook=Hook(("tell",))):  # noqa: B008 - frozen
        sent, spared = [], []

        def send(*facts, spare):
            sent.append((facts[4], facts[5]))
            spare((len(sent), 1))

        monkeypatch.setattr(hooks, "send", send)
        one = Hooks(Layout(tmp_path), Rows(before), "session1", 2, spared.append)
        one.begin(hook)
        for number, change in enumerate(statuses):
            status, ask = change if isinstance(change, tuple) else (change, 0)
            one.status_changed(status, f"reason {number}", ask)
        assert spared == [(number + 1, 1) for number in range(len(sent))]
        return sent

    return tell


def test_a_turn_that_runs_and_ends_is_told_at_its_end(told):
    assert told(R, R, F, Status.DONE) == [(Status.DONE, "reason 3")]


@pytest.mark.parametrize("status", [Status.DONE, Status.FAILED, Status.STOPPED, Status.LOST])
def test_every_end_is_told(told, status):
    assert told(status) == [(status, "reason 0")]


def test_a_question_and_its_answer_are_told_once_each(told):
    assert told(R, W, W, R, R, W) == [(W, "reason 1"), (R, "reason 3"), (W, "reason 5")]


def test_each_ask_is_told_even_if_no_other_state_is_between(told):
    assert told(R, (W, 1), (W, 1), (W, 2)) == [(W, "reason 1"), (W, "reason 3")]


def test_an_adopted_turn_goes_on_where_it_was(told):
    assert told(W, R, before=W) == [(R, "reason 1")]


def test_without_a_hook_nothing_is_sent(told):
    assert told(W, Status.DONE, hook=Hook()) == []
