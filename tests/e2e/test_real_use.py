"""The real codex and claude against a model with known use: every total, to the token."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from real_clis import EVERY_CLI

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.costs.usage_table import UsageQuery
from agentdash.sessions.rules.launch import Start

pytestmark = pytest.mark.real

MINUTE = 60
USED = (21_000, 7_500, 4_500, 640)
"""Input, cached input, written input and output tokens of the scenario ``uses``."""
OPTIONS = {"codex": {"sandbox": "danger-full-access"}, "claude": {"permission_mode": "bypassPermissions"}}


def spawn(manager: Any, agent: str, prompt: str, **options: Any) -> Any:
    return manager.spawn(Start(prompt, agent=agent, cwd=str(Path.cwd()), options=OPTIONS[agent] | options))


def ended(manager: Any, session: Any) -> Any:
    return manager.wait([session.id], timeout=2 * MINUTE)[0]


def figures(usage: Any) -> tuple[int | None, ...]:
    return usage.input_tokens, usage.cached_input_tokens, usage.cache_write_tokens, usage.output_tokens


def times(factor: int) -> tuple[int, ...]:
    return tuple(factor * number for number in USED)


def total(manager: Any, by: str = "day", **query: Any) -> Any:
    return manager.reader.usage(UsageQuery(by=by, **query)).total


def listed(session: Any) -> Any:
    """The usage that the command line prints."""
    done = subprocess.run(
        [sys.executable, "-m", "agentdash", "ls", "--json"], check=True, capture_output=True, timeout=MINUTE
    )
    (found,) = (row for row in json.loads(done.stdout) if row["id"] == session.id)
    return found["usage"]


@pytest.mark.parametrize("live", [True, False], ids=["live", "turn by turn"])
@pytest.mark.parametrize("agent", EVERY_CLI, indirect=True)
def test_a_session_and_its_day_to_the_token(manager, agent, live):
    session = ended(manager, spawn(manager, agent, "[[fake:uses]] go", live=live))
    assert figures(session.usage) == USED
    manager.prompts.inject(session.id, "[[fake:uses]] again")
    again = ended(manager, session)
    assert [figures(turn.usage) for turn in manager.reader.turns(session.id)] == [USED, USED]
    assert figures(again.usage) == times(2)
    for by in ("day", "model", "agent", "folder", "session"):
        table = manager.reader.usage(UsageQuery(by=by))
        assert figures(table.total.usage) == times(2)
        # claude 2.1.197 resumes its default model with a smaller context, which its name has no part for.
        assert len({row.group.partition("[")[0] for row in table.rows}) == 1
    row = listed(session)
    assert (row["input_tokens"], row["cached_input_tokens"], row["cache_write_tokens"], row["output_tokens"]) == times(
        2
    )
    manager.prompts.inject(session.id, "[[fake:uses_and_fails]] fail")
    failed = ended(manager, session)
    assert failed.status is Status.FAILED
    assert figures(total(manager).usage) == tuple(
        sum(both) for both in zip(times(2), (5000, 0, 3000, 110), strict=True)
    )


@pytest.mark.parametrize("agent", EVERY_CLI, indirect=True)
def test_a_lead_with_two_workers_to_the_token(manager, agent):
    lead = ended(manager, spawn(manager, agent, "[[fake:uses]] lead"))
    for _ in range(2):
        worker = ended(manager, spawn(manager, agent, "[[fake:uses]] work"))
        with manager.store.database.transaction() as db:
            db.execute("UPDATE sessions SET parent = ? WHERE id = ?", (lead.id, worker.id))
    (row,) = manager.reader.usage(UsageQuery(by="lead")).rows
    assert (row.group, row.sessions, figures(row.usage)) == (lead.id, 3, times(3))
    assert figures(total(manager, family=lead.id).usage) == times(3)
    assert figures(total(manager).usage) == times(3)
