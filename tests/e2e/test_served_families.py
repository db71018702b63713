"""Leads with workers, and many starts at once: their totals equal the tokens that the model server reported."""

import subprocess
import sys

import pytest
from e2e.test_real_leads import claude_leads, codex_leads, pair
from real_clis import EVERY_CLI
from served import added, listed, printed

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Start

__all__ = ["claude_leads", "codex_leads", "pair"]

pytestmark = pytest.mark.real

MINUTE = 60
USED = (21_000, 7_500, 4_500, 640)
"""The tokens of the script ``uses``."""


def test_a_real_lead_and_the_workers_that_it_started_add_up(manager, pair, served, at, tmp_path):
    agent, other, options = pair
    prompt = f"[[fake:lead_waits]] {other} uses"
    lead = manager.spawn(Start(prompt, agent=agent, cwd=str(tmp_path / "project"), options=options))
    at(lead, 1, Status.DONE)
    manager.prompts.inject(lead.id, prompt)
    lead = at(lead, 2, Status.DONE)
    family = [lead, *manager.reader.descendants(lead.id)]
    assert len(family) == 3
    by_session = {one.id: served.tokens(conversation=one.agent_session) for one in family}
    assert [by_session[one.id] for one in family[1:]] == [USED, USED]
    total = served.tokens()
    assert added(by_session.values()) == total, "no other session called the model"
    assert {one.id: listed(one) for one in family} == by_session
    assert printed("session") == (by_session, total)
    assert printed("lead") == ({lead.id: total}, total)
    assert printed("session", "--family", lead.id) == (by_session, total)
    groups, whole = printed("day")
    assert (list(groups.values()), whole) == ([total], total)
    agents, whole = printed("agent")
    assert (agents, whole) == ({agent: by_session[lead.id], other: added([USED, USED])}, total)


@pytest.mark.parametrize("cli", EVERY_CLI)
def test_of_ten_real_starts_in_one_moment_a_budget_of_the_day_for_four_admits_four(
    manager, use_agent, served, cli, tmp_path, wait_until
):
    """Each may use 25,000 tokens and uses 21,640: with four of them, done or not, a fifth would pass 100,000."""
    agent = use_agent(cli)
    with (tmp_path / "config.toml").open("a") as config:
        config.write("[budgets]\nday_tokens = 100000\n")
    words = ["spawn", "--agent", agent, "--danger", "--limit", "tokens=25000", "[[fake:uses]] go"]
    fronts = [
        subprocess.Popen([sys.executable, "-P", "-m", "agentdash", *words], stderr=subprocess.PIPE, text=True)
        for _ in range(10)
    ]
    answers = [(front.communicate(timeout=4 * MINUTE)[1], front.returncode) for front in fronts]
    listed = [one.id for one in manager.reader.sessions()]
    refused = [err for err, code in answers if code == 1 and "over_budget" in err]
    assert len(listed) + len(refused) == 10, answers

    def done():
        manager.housekeeping.settle()
        return [one for one in listed if manager.reader.get(one).status is Status.DONE]

    wait_until(lambda: len(done()) >= 4, timeout=4 * MINUTE)
    waiting = [manager.reader.get(one) for one in listed if one not in done()]
    assert [one.status for one in waiting] == [Status.QUEUED] * (6 - len(refused))
    assert all(
        (one.reason or "").startswith("waits: ") and "today's budget of 100,000" in one.reason for one in waiting
    )
    total = served.tokens()
    assert total == added([USED] * 4)
    groups, whole = printed("day")
    assert (list(groups.values()), whole) == ([total], total)
