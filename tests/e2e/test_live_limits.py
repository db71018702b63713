"""Limits of live agents in a later turn of the same process."""

import pytest
from real_clis import EVERY_CLI

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.prompts.prompter import PromptOptions

FREE = {"claude": {"permission_mode": "bypassPermissions"}, "codex": {"sandbox": "danger-full-access"}}
LIMITS = [{"tokens": 1}, {"cost_usd": 0.000001}]


@pytest.mark.real
@pytest.mark.parametrize("limit", LIMITS, ids=["tokens", "cost"])
@pytest.mark.parametrize("cli", EVERY_CLI)
def test_a_limit_on_the_session_stops_a_later_turn_of_the_same_process(
    manager, use_agent, cli, limit, tmp_path, leftovers
):
    agent = use_agent(cli)
    session = manager.spawn(
        Start("[[fake:plain]] go", agent=agent, cwd=str(tmp_path), options={"live": True} | FREE[agent])
    )
    [first] = manager.wait([session.id], timeout=120)
    assert first.status is Status.DONE
    begun = manager.reader.turns(session.id)[0]
    used = {"tokens": begun.usage.total_tokens, "cost_usd": begun.cost_usd or begun.cost_about_usd or 0.0}
    more = {name: used[name] + amount for name, amount in limit.items()}
    manager.prompts.inject(session.id, "[[fake:slow_steps]] go", PromptOptions(limits=more))
    [ended] = manager.wait([session.id], timeout=120)
    assert (ended.turn, ended.status) == (2, Status.STOPPED)
    assert ended.reason.startswith("stopped by its limit: " + ("used" if "tokens" in limit else "cost"))
    assert leftovers(session.id) == []
    assert {turn.agent_pid for turn in manager.reader.turns(session.id)} == {begun.agent_pid}
