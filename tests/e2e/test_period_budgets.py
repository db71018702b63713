"""Starts in one moment against the budget of a day: what is admitted, what waits, and what is spent in the end."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from isolation import work_folder
from real_clis import EVERY_CLI
from verbs import verb

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.lifecycle.stop_family import NOW

MINUTE = 60
USED = 21_640
"""Tokens of one turn of the scenario ``uses``."""
FREE = {"codex": "sandbox=danger-full-access", "claude": "permission_mode=bypassPermissions"}
OPTIONS = {name: dict([text.split("=")]) for name, text in FREE.items()}


@pytest.fixture
def budget():
    """Adds a budget to the settings."""

    def add(text):
        with Path(os.environ["AGENTDASH_CONFIG"]).open("a") as settings:
            settings.write(f"[budgets]\n{text}\n")

    return add


@pytest.fixture
def at_once():
    """Starts a session in each of several processes at the same moment; returns what they printed."""

    def start(number, *words):
        fronts = [
            subprocess.Popen(
                [sys.executable, "-P", "-m", "agentdash", "spawn", *words],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(number)
        ]
        return [(front.communicate(timeout=4 * MINUTE)[1], front.returncode) for front in fronts]

    return start


@pytest.fixture
def settled(manager, wait_until):
    """Waits until no turn runs and none gets a place; returns the sessions that ran, and those that wait."""

    def wait():
        def still():
            manager.housekeeping.settle()
            sessions = manager.reader.sessions()
            queued = [one for one in sessions if one.status is Status.QUEUED]
            ran = [one for one in sessions if one.status.ended]
            rests = len(queued) + len(ran) == len(sessions)
            reasons = [one.reason or "" for one in queued]
            held = all("is spent" in reason and "reserved" not in reason for reason in reasons)
            return (ran, queued) if rests and held else None

        return wait_until(still, timeout=4 * MINUTE, what="only turns that wait for the budget")

    return wait


def check_said(answers, ran, waiting):
    """Check that each start has run, waits with its reason, or was refused with the next step."""
    refused = [err for err, code in answers if code]
    assert len(ran) + len(waiting) + len(refused) == len(answers)
    assert all("over_budget: " in err and "Next: wait until midnight" in err for err in refused)
    assert all((one.reason or "").startswith("waits: ") for one in waiting)


@pytest.mark.usefixtures("scripted_agent")
@pytest.mark.parametrize("kind", ["tokens", "usd"])
def test_ten_starts_in_one_moment_do_not_pass_a_budget_of_the_day(manager, budget, at_once, settled, kind):
    budget("day_tokens = 200" if kind == "tokens" else "day_usd = 0.02")
    answers = at_once(10, "--agent", "scripted", "[[script:quick]] go")
    ran, waiting = settled()
    check_said(answers, ran, waiting)
    (state,) = manager.reader.period_budgets()
    most, spent = state.budget.most, state.spent
    # The turns of this scenario use the same: none of them uses more than was reserved for it.
    assert spent.tokens <= (most.tokens or spent.tokens)
    assert spent.cost_usd <= (most.cost_usd or spent.cost_usd)
    assert 1 <= len(ran) < 10
    assert all(one.status is Status.DONE for one in ran)
    each = spent.tokens // len(ran) if kind == "tokens" else spent.cost_usd / len(ran)
    left = state.left.tokens if kind == "tokens" else state.left.cost_usd
    assert left < each  # and none waits that would have room
    assert all("today's budget of" in one.reason for one in waiting)
    verb("budget", f"--day-{kind}", "1000000")
    ended = manager.wait([one.id for one in waiting], timeout=2 * MINUTE)
    assert [one.status for one in ended] == [Status.DONE] * len(waiting)


@pytest.mark.real
@pytest.mark.parametrize("most", [30_000, 70_000])
@pytest.mark.parametrize("cli", EVERY_CLI)
def test_eight_starts_of_a_real_agent_in_one_moment_do_not_pass_it_either(
    manager, use_agent, budget, at_once, settled, cli, most
):
    agent = use_agent(cli)
    budget(f"day_tokens = {most}")
    options = ["--agent", agent, "--set", "live=false", "--set", FREE[agent]]
    answers = at_once(8, *options, "[[fake:uses]] go")
    ran, waiting = settled()
    check_said(answers, ran, waiting)
    (state,) = manager.reader.period_budgets()
    assert len(ran) == most // USED
    assert state.spent.tokens == len(ran) * USED
    assert all("is spent" in one.reason for one in waiting)
    verb("budget", "--day-tokens", "1M")
    ended = manager.wait([one.id for one in waiting], timeout=4 * MINUTE)
    assert [one.status for one in ended] == [Status.DONE] * len(waiting)


@pytest.mark.real
@pytest.mark.parametrize("cli", EVERY_CLI)
def test_a_turn_that_uses_more_than_usual_takes_what_is_left_and_is_ended_for_what_others_reserve(
    manager, use_agent, budget, cli, tmp_path, leftovers
):
    agent = use_agent(cli)
    budget("day_tokens = 1000000")
    options = OPTIONS[agent] | {"live": False}

    def start(prompt, **more):
        return manager.spawn(Start(prompt, agent=agent, cwd=work_folder(tmp_path), options=options, **more))

    usual = manager.wait([start("[[fake:plain]] go").id], timeout=2 * MINUTE)[0].usage.total_tokens
    verb("budget", "--day-tokens", str(3 * usual + usual // 2))
    other = start("[[fake:hang]] go")  # it uses nothing of its share
    long = start("[[fake:slow_steps]] go")
    (ended,) = manager.wait([long.id], timeout=2 * MINUTE)
    assert ended.status is Status.STOPPED
    assert ended.reason.startswith("stopped by its limit: ")
    assert " of today's budget of " in ended.reason
    (state,) = manager.reader.period_budgets()
    assert state.spent.tokens <= (state.budget.most.tokens or 0)
    assert f"{usual:,} is reserved by 1 turn" in ended.reason
    assert leftovers(long.id) == []
    manager.stop(other.id, NOW)
