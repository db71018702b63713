"""The verb budget: a budget of a day or a week that is changed until its period ends, and the way back."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from verbs import verb

from agentdash.sessions.runner.caller import Caller
from agentdash.sessions.service.manager import SessionManager


@pytest.fixture(autouse=True)
def manager() -> Iterator[SessionManager]:
    with SessionManager(caller=Caller()) as manager:
        yield manager


def settings(text: str) -> None:
    Path(os.environ["AGENTDASH_CONFIG"]).write_text(text)


def budgets(*words: str) -> str:
    done = verb("budget", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_budget_that_is_raised_or_lowered_is_changed_for_its_period_and_none_takes_that_back() -> None:
    settings("[budgets]\nday_usd = 9\nday_tokens = 500\nweek_usd = 40\n")
    as_set = (
        "today's budget  $0.00 of $9.00 spent, $9.00 left; 0 of 500 tokens spent, 500 left\n"
        "this week's budget  $0.00 of $40.00 spent, $40.00 left\n"
    )
    assert budgets() == as_set
    assert budgets("--day-usd", "1.70", "--day-tokens", "800", "--week-usd", "50") == (
        "today's budget  $0.00 of $1.70 spent, $1.70 left; 0 of 800 tokens spent, 800 left; changed for today\n"
        "this week's budget  $0.00 of $50.00 spent, $50.00 left; changed for this week\n"
    )
    assert [one["raised"] for one in json.loads(budgets("--json"))] == [True, True]
    assert budgets("--day-usd", "none", "--day-tokens", "900", "--week-usd", "none") == (
        "today's budget  $0.00 of $9.00 spent, $9.00 left; 0 of 900 tokens spent, 900 left; changed for today\n"
        "this week's budget  $0.00 of $40.00 spent, $40.00 left\n"
    )
    assert budgets("--day-tokens", "none") == as_set
    assert budgets("--day-tokens", "none") == as_set


def test_only_the_budget_of_the_folder_is_changed_in_both_periods_at_once(tmp_path: Path) -> None:
    settings(f'[budgets]\nday_usd = 9\n[budgets.folders."{tmp_path}"]\nday_usd = 5\nweek_usd = 5\n')
    changed = budgets("--folder", str(tmp_path), "--day-usd", "6", "--week-usd", "6").splitlines()
    assert [line.endswith("; changed for today") for line in changed] == [True, False, False]
    assert [line.endswith("; changed for this week") for line in changed] == [False, True, False]
    back = budgets("--folder", str(tmp_path), "--day-usd", "none", "--week-usd", "none")
    assert "changed" not in back


def test_a_budget_of_nothing_has_cents() -> None:
    settings("[budgets]\nday_usd = 0\n")
    assert budgets() == "today's budget  $0.00 of $0.00 spent, $0.00 left\n"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--week-usd", "none"), "The settings have no budget of a week."),
        (("--day-usd", "none", "--folder", "~nosuch/x"), "The settings have no budget of a day for ~nosuch/x."),
        (("--folder", "/x"), "--folder needs --day-usd"),
        (("--day-usd", "nothing"), "'nothing' is not a valid amount"),
        (("--day-usd", "none", "0fab5d3e"), "go without an ID"),
    ],
)
def test_a_request_that_is_not_valid_is_refused(words: tuple[str, ...], why: str) -> None:
    settings("[budgets]\nday_usd = 9\n")
    done = verb("budget", *words)
    assert (done.returncode, why in done.stderr) == (2, True), done.stderr
