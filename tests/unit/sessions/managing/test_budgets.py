"""Budgets of days and weeks that the user changes until the period ends."""

from collections.abc import Iterator

import pytest

from agentdash.sessions.errors import UsageError
from agentdash.sessions.families.caller import Caller
from agentdash.sessions.manager import SessionManager
from agentdash.sessions.values.membership import Budget


@pytest.fixture
def manager() -> Iterator[SessionManager]:
    with SessionManager(caller=Caller()) as manager:
        yield manager


@pytest.mark.parametrize("folder", ["~nosuch/x", "/nowhere", "here"])
def test_a_folder_without_a_budget_is_named(manager: SessionManager, folder: str) -> None:
    with pytest.raises(UsageError, match=f"The settings have no budget of a day for {folder}\\."):
        manager.budgets.raise_to(folder, "day", Budget(cost_usd=1.0))
