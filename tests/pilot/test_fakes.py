"""The fake manager can be asked only what the real one can be asked."""

import inspect

import pytest

from agentdash.sessions.manager import SessionManager
from pilot.fakes import FakeManager

SHARED = [name for name, found in vars(FakeManager).items() if callable(found) and hasattr(SessionManager, name)]


def parameters(manager, name):
    return inspect.signature(getattr(manager, name)).parameters


@pytest.mark.parametrize("name", [name for name in SHARED if not name.startswith("_")])
def test_a_fake_method_takes_what_the_real_one_takes(name):
    fake, real = parameters(FakeManager, name), parameters(SessionManager, name)
    assert {(one.name, one.kind) for one in fake.values()} <= {(one.name, one.kind) for one in real.values()}
    assert {one.name for one in real.values() if one.default is one.empty} <= set(fake)
