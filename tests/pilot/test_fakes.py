"""The manager of the pilot tests takes what the real one takes."""

import inspect

import pytest

from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.service.managing.housekeeping import Housekeeping
from agentdash.sessions.service.prompts.answering import SessionAsks
from agentdash.sessions.service.prompts.conversations import SessionConversations
from agentdash.sessions.service.prompts.prompter import Prompter
from agentdash.sessions.service.prompts.queue import SessionChains, SessionQueue
from agentdash.sessions.service.reader import SessionReader
from agentdash.sessions.service.reading.settings_in_force import SettingsReader
from agentdash.sessions.service.reading.steps import OutputReader, StepsReader
from pilot.fake_asks import FakeAsks
from pilot.fake_chains import FakeChains
from pilot.fake_conversation import FakeConversation
from pilot.fake_outputs import FakeOutputs
from pilot.fake_prompts import FakePrompts, FakeQueue
from pilot.fake_settings import FakeSettings
from pilot.fakes import FakeManager

FOR_TESTS = {"put", "drop", "asked", "made", "added", "taken", "ended", "one", "made_of", "marked", "marks"}
"""Methods with which a test changes or reads the fake itself."""


def methods(kind):
    return {name for name, _ in inspect.getmembers(kind, inspect.isfunction) if not name.startswith("_")}


def parameters(method):
    """Each parameter's name, kind and default, without annotations."""
    found = inspect.signature(method).parameters.values()
    return [(one.name, one.kind, "a function" if callable(one.default) else one.default) for one in found]


def test_a_method_of_the_fake_has_the_parameters_of_the_real_one():
    for name in sorted(methods(FakeManager) - FOR_TESTS):
        kinds = (SessionManager, SessionReader, StepsReader, Housekeeping)
        [real] = [getattr(kind, name) for kind in kinds if hasattr(kind, name)]
        assert parameters(getattr(FakeManager, name)) == parameters(real), name


@pytest.mark.parametrize(
    ("fake", "real"),
    [
        (FakePrompts, Prompter),
        (FakeQueue, SessionQueue),
        (FakeAsks, SessionAsks),
        (FakeChains, SessionChains),
        (FakeConversation, SessionConversations),
        (FakeSettings, SettingsReader),
        (FakeOutputs, OutputReader),
    ],
)
def test_parts_of_the_fake_take_what_the_real_ones_take(fake, real):
    for name in methods(fake) - FOR_TESTS:
        assert parameters(getattr(fake, name)) == parameters(getattr(real, name)), name
