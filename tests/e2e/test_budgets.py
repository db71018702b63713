"""Limits and budgets of leads with real processes: what several of them are admitted, and what runners end."""

import json
import os
import subprocess
import sys

import pytest
from real_clis import EVERY_CLI
from verbs import verb

from agentdash.sessions.model.errors import RefusalError
from agentdash.sessions.model.membership import Budget
from agentdash.sessions.model.session import LIVE, Status
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.rules.limits.admission import FamilyLimits
from agentdash.sessions.runner.caller import Caller
from agentdash.sessions.runner.processes.processes import SESSION_TAG
from agentdash.sessions.service.lifecycle.stop_family import NOW
from agentdash.sessions.service.manager import SessionManager

FREE = {"claude": {"permission_mode": "bypassPermissions"}, "codex": {"sandbox": "danger-full-access"}}

pytestmark = pytest.mark.usefixtures("scripted_agent")

DELEGATE = """
import sys
from agentdash.sessions.model.errors import RefusalError
from agentdash.sessions.runner.caller import Caller
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.model.membership import Budget
count, budget, prompt = int(sys.argv[1]), sys.argv[2], sys.argv[3]
with SessionManager() as manager:
    print('ready', flush=True)
    sys.stdin.readline()
    for _ in range(count):
        try:
            manager.spawn(Start(prompt, agent='scripted', budget=Budget(cost_usd=float(budget) if budget else None)))
            print('admitted')
        except RefusalError as refused:
            print(refused.code)
"""


@pytest.fixture
def delegate(tmp_path):
    """Starts workers of a lead from several processes at the same moment; returns what each start was answered."""
    program = tmp_path / "delegate.py"
    program.write_text(DELEGATE)

    def run(lead, processes, each, budget="", prompt="hello"):
        fronts = [
            subprocess.Popen(
                [sys.executable, str(program), str(each), budget, prompt],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=os.environ | {SESSION_TAG: lead},
            )
            for _ in range(processes)
        ]
        assert [front.stdout.readline() for front in fronts] == ["ready\n"] * processes
        for front in fronts:
            front.stdin.write("\n")
            front.stdin.flush()
        return sorted(word for front in fronts for word in front.communicate(timeout=120)[0].split())

    return run


def settings(tmp_path, monkeypatch, text):
    path = tmp_path / "settings.toml"
    path.write_text(f"[queue]\nmax_running = 1\n{text}")
    monkeypatch.setenv("AGENTDASH_CONFIG", str(path))


def test_eight_processes_that_delegate_at_once_never_pass_the_number_of_open_workers(
    manager, delegate, tmp_path, monkeypatch
):
    settings(tmp_path, monkeypatch, "[orchestration]\nmax_open = 5\n")
    lead = manager.run(["sleep", "600"])
    answers = delegate(lead.id, 8, 2)
    assert answers == ["admitted"] * 5 + ["too_many"] * 11
    assert len(manager.store.descendants(lead.id)) == 5


def test_of_20_starts_in_one_moment_against_a_budget_for_four_exactly_four_are_admitted(
    manager, delegate, tmp_path, monkeypatch
):
    settings(tmp_path, monkeypatch, "")
    lead = manager.run(["sleep", "600"])
    manager.budgets.change(lead.id, Budget(cost_usd=2.0))
    answers = delegate(lead.id, 20, 1, "0.5")
    assert answers == ["admitted"] * 4 + ["over_budget"] * 16
    state = manager.reader.budget(lead.id)
    assert (state.account.open, state.account.below.cost_usd) == (4, 2.0)


def test_of_ten_workers_in_one_moment_without_a_budget_of_their_own_only_those_start_that_their_lead_can_pay(
    manager, delegate
):
    usual = manager.wait([manager.spawn(Start("[[script:quick]] go", agent="scripted")).id], timeout=90)[
        0
    ].usage.total_tokens
    lead = manager.run(["sleep", "600"])
    manager.budgets.change(lead.id, Budget(tokens=3 * usual + usual // 2))
    answers = delegate(lead.id, 10, 1, prompt="[[script:quick]] go")
    assert answers == ["admitted"] * 3 + ["over_budget"] * 7
    ended = manager.wait([one.id for one in manager.store.descendants(lead.id)], timeout=90)
    assert [one.status for one in ended] == [Status.DONE] * 3
    assert manager.reader.budget(lead.id).account.spent.tokens == 3 * usual


def inside(lead, start):
    """Start a session from inside another one."""
    with SessionManager(caller=Caller(session=lead, evidence="environment")) as caller:
        return caller.spawn(start)


def test_the_runners_of_a_family_end_their_turns_when_the_budget_is_crossed(manager, leftovers):
    lead = manager.run(["sleep", "600"])
    manager.budgets.change(lead.id, Budget(tokens=60))
    sibling = inside(lead.id, Start("[[script:silent]] wait", agent="scripted"))
    spender = inside(lead.id, Start("[[script:quick]] go", agent="scripted"))
    ended = manager.wait([lead.id, sibling.id, spender.id], timeout=90)
    spent = ended[2].usage.total_tokens
    assert spent > 60
    most = f"≥{spent} of 60 tokens"  # the sibling reported none of its own
    # The scripted agent reports what it used at the end of its turn, which is a proper one.
    assert (ended[2].status, ended[2].reason) == (Status.DONE, f"over limit: budget of its lead: {most}")
    assert ended[0].status is ended[1].status is Status.STOPPED
    assert ended[0].reason.startswith(f"stopped by its limit: its budget: {most}; ")
    assert ended[1].reason.startswith(f"stopped by its limit: budget of its lead: {most}; ")
    assert leftovers(sibling.id) == []
    with pytest.raises(RefusalError, match="over_budget"):
        manager.prompts.inject(spender.id, "more")
    manager.budgets.change(lead.id, Budget(tokens=10_000))
    assert manager.prompts.inject(spender.id, "more [[script:quick]]").turn == 2


def test_a_budget_that_is_lowered_below_what_is_spent_ends_the_turn_that_runs(manager):
    lead = manager.run(["sleep", "600"])
    worker = inside(lead.id, Start("[[script:quick]] go", agent="scripted"))
    manager.wait([worker.id], timeout=60)
    manager.budgets.change(lead.id, Budget(tokens=1))
    [ended] = manager.wait([lead.id], timeout=60)
    assert (ended.status, ended.reason.partition(":")[0]) == (Status.STOPPED, "stopped by its limit")


@pytest.mark.smoke
def test_the_verbs_give_a_budget_show_it_and_refuse_with_the_next_step(manager):
    lead = json.loads(
        verb("spawn", "--agent", "scripted", "--budget-usd", "2.50", "[[script:quick]] go", "--wait", "--json").stdout
    )
    assert lead["budget"] == {"cost_usd": 2.5}
    refused = verb("spawn", "--agent", "scripted", "--budget-usd", "9", "go", **{SESSION_TAG: lead["id"]})
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "agentdash: over_budget: $" in refused.stderr
    assert f"agentdash budget {lead['id'][:8]} --usd N" in refused.stderr
    shown = json.loads(verb("budget", lead["id"], "--tokens", "1M", "--json").stdout)
    assert shown["budget"] == {"tokens": 1_000_000, "cost_usd": 2.5}
    assert shown["spent"]["tokens"] == lead["usage"]["total_tokens"]
    assert (shown["source"], shown["workers"]) == ("session", 0)
    assert shown["left"]["tokens"] == 1_000_000 - lead["usage"]["total_tokens"]
    assert "of 1,000,000 tokens spent" in verb("budget", lead["id"]).stdout
    assert "of $2.50 spent" in verb("explain", lead["id"]).stdout
    verb("budget", lead["id"], "--tokens", "none", "--usd", "none")
    assert manager.reader.get(lead["id"]).budget is None


@pytest.mark.parametrize("amount", ["0", "-1", "much", "9" * 400])
@pytest.mark.parametrize("option", ["--budget-usd", "--budget-tokens"])
def test_an_amount_that_is_not_valid_is_refused_and_starts_nothing(manager, option, amount):
    refused = verb("spawn", "--agent", "scripted", option, amount, "go")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert option in refused.stderr
    assert "Traceback" not in refused.stderr
    assert manager.reader.sessions() == []


def test_a_session_cannot_raise_its_own_budget(manager):
    lead = manager.run(["sleep", "600"])
    manager.budgets.change(lead.id, Budget(tokens=10))
    refused = verb("budget", lead.id, "--tokens", "1M", **{SESSION_TAG: lead.id})
    assert refused.returncode == 1
    assert "cannot change the budget of itself" in refused.stderr
    assert manager.reader.budget(lead.id).budget == Budget(tokens=10)


def test_the_limits_of_the_settings_travel_with_a_start(tmp_path, monkeypatch, manager):
    settings(tmp_path, monkeypatch, "[orchestration]\nmax_depth = 1\n[orchestration.budget]\ntokens = 5\n")
    session = manager.run(["true"])
    launch = manager.store.launch(session.id, 1)
    assert launch.family == FamilyLimits(max_depth=1, budget=Budget(tokens=5))


@pytest.mark.real
@pytest.mark.parametrize("budget", [Budget(tokens=30), Budget(cost_usd=0.000001)], ids=["tokens", "cost"])
@pytest.mark.parametrize("cli", EVERY_CLI)
def test_a_worker_whose_agent_reports_while_it_works_is_ended_in_its_turn(
    manager, use_agent, monkeypatch, cli, budget, tmp_path, leftovers
):
    agent = use_agent(cli)
    lead = manager.run(["sleep", "600"])
    manager.budgets.change(lead.id, budget)
    task = Start("[[fake:slow_steps]] go", agent=agent, cwd=str(tmp_path), options={"live": True} | FREE[agent])
    worker = inside(lead.id, task)
    [ended] = manager.wait([worker.id], timeout=120)
    assert ended.status is Status.STOPPED
    assert ended.reason.startswith("stopped by its limit: budget of its lead: ")
    assert leftovers(worker.id) == []


SPAWN = ["spawn", "--agent", "scripted", "--limit", "tokens=20", "[[script:silent]] wait"]


def test_of_ten_starts_in_one_moment_a_budget_of_the_day_for_four_admits_four_and_the_others_wait_in_their_rows(
    manager, tmp_path, monkeypatch, wait_until
):
    path = tmp_path / "settings.toml"
    path.write_text("[budgets]\nday_tokens = 80\n")
    monkeypatch.setenv("AGENTDASH_CONFIG", str(path))
    fronts = [
        subprocess.Popen(
            [sys.executable, "-P", "-m", "agentdash", *SPAWN],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(10)
    ]
    answers = [(front.communicate(timeout=240), front.returncode) for front in fronts]
    assert [(err, code) for (_, err), code in answers if code or "Traceback" in err] == []
    held = "waits: today's budget of 80 tokens is reserved by 4 turns"

    def waiting():
        sessions = manager.reader.sessions()
        waits = [one for one in sessions if one.status is Status.QUEUED and one.reason == held]
        return waits if sum(one.status in LIVE for one in sessions) == 4 else None

    assert len(wait_until(waiting, timeout=60, what="four turns to run")) == 6
    assert sum(held in err for (_, err), _ in answers) == 6
    for one in manager.reader.sessions():
        if one.status in LIVE:
            manager.stop(one.id, NOW)
    wait_until(lambda: len(waiting() or ()) == 2, timeout=60, what="the next four to run")


def test_a_budget_of_the_day_ends_what_crosses_it_holds_what_waits_and_lets_it_go_when_it_is_raised(
    manager, tmp_path, monkeypatch
):
    path = tmp_path / "settings.toml"
    path.write_text("[budgets]\nday_tokens = 2\n")
    monkeypatch.setenv("AGENTDASH_CONFIG", str(path))
    first = manager.spawn(Start("[[script:quick]] go", agent="scripted"))
    second = manager.spawn(Start("[[script:quick]] go on", agent="scripted", after=first.id))
    (ended,) = manager.wait([first.id], timeout=90)
    assert ended.reason == f"over limit: today's budget: {ended.usage.total_tokens} of 2 tokens"
    held = verb("ls", "--json").stdout
    (row,) = [one for one in json.loads(held) if one["id"] == second.id]
    assert (row["status"], row["reason"]) == ("queued", "waits: today's budget of 2 tokens is spent")
    facts = json.loads(verb("explain", second.id, "--json").stdout)["facts"]
    assert next(fact for fact in facts if fact["source"] == "budgets.day_tokens")["name"] == "today's budget"
    refused = verb("spawn", "--agent", "scripted", "more")
    assert (refused.returncode, "over_budget" in refused.stderr) == (1, True)
    inside = verb("spawn", "--agent", "scripted", "--over-budget", "more", **{SESSION_TAG: first.id})
    assert (inside.returncode, "only_the_user" in inside.stderr) == (1, True)
    by_agent = verb("budget", "--day-tokens", "1M", **{SESSION_TAG: first.id})
    assert (by_agent.returncode, "only_the_user" in by_agent.stderr) == (1, True)
    beyond = manager.spawn(Start("[[script:quick]] go", agent="scripted", over_budget=True))
    assert manager.wait([beyond.id], timeout=90)[0].reason is None
    lowered = json.loads(verb("budget", "--day-tokens", "0", "--json").stdout)
    assert lowered[0]["budget"]["tokens"] == 0
    refused = verb("spawn", "--agent", "scripted", "more")
    assert (refused.returncode, "today's budget of 0 tokens lets nothing start" in refused.stderr) == (1, True)
    raised = json.loads(verb("budget", "--day-tokens", "1M", "--json").stdout)
    assert (raised[0]["budget"]["tokens"], raised[0]["raised"]) == (1_000_000, True)
    spent = raised[0]["spent"]
    assert (spent["reported_usd"], spent["computed_usd"], spent["missing"]) == (spent["cost_usd"], None, 0)
    assert manager.wait([second.id], timeout=90)[0].status is Status.DONE


def test_a_project_adds_a_budget_for_its_own_folder_and_lifts_none(manager, tmp_path, monkeypatch):
    path = tmp_path / "settings.toml"
    path.write_text("[budgets]\nday_tokens = 1000\n")
    monkeypatch.setenv("AGENTDASH_CONFIG", str(path))
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / ".agentdash.toml").write_text("[budgets]\nday_tokens = 5000\nday_usd = 1\n")
    assert verb("trust", str(project), "--yes").returncode == 0
    session = manager.spawn(Start("[[script:quick]] go", agent="scripted", cwd=str(project)))
    manager.wait([session.id], timeout=90)
    bound = manager.reader.period_budgets(session.id)
    assert [(one.budget.folder, one.budget.most.tokens, one.budget.most.cost_usd) for one in bound] == [
        (str(project), 5000, 1.0),
        ("", 1000, None),
    ]
    (project / ".agentdash.toml").write_text('[budgets.folders."/"]\nday_tokens = 5\n')
    assert "budgets.folders" in verb("trust", str(project), "--yes").stderr
