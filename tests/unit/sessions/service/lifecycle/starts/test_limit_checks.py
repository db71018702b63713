"""Limits that cannot act: refused if the start asks for them, a warning if the settings hold them."""

from pathlib import Path
from typing import Any

import pytest

from agentdash.sessions.agents.parsing.usage_meter import Measurable, Measures, When
from agentdash.sessions.model.errors import ConfigError, UsageError
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.rules.limits.limits import Limits
from agentdash.sessions.service.lifecycle.starts.launch_plan import build_launch
from agentdash.sessions.service.lifecycle.starts.limit_checks import judged
from agentdash.sessions.settings.config import load_config

LIVE, END = Measurable(When.LIVE), Measurable(When.END, "it says so late")
UNSURE, NEVER = Measurable(When.LIVE, "who knows the model"), Measurable(When.NEVER, "it says nothing")
BOTH = Limits(tokens=5, cost_usd=1.0)


def test_a_limit_that_surely_acts_needs_no_words() -> None:
    assert judged(BOTH, Measures(tokens=LIVE, cost=LIVE), ("tokens", "cost_usd")) == ()


def test_a_limit_that_acts_late_or_not_surely_is_a_warning() -> None:
    assert judged(BOTH, Measures(tokens=END, cost=UNSURE), ("tokens", "cost_usd")) == (
        "The tokens limit is checked only when a turn ends: it says so late.",
        "The cost limit works only if the model has a known price: who knows the model.",
    )


def test_a_limit_that_never_acts_is_refused_if_it_was_asked_for() -> None:
    measures = Measures(tokens=NEVER, cost=NEVER)
    assert len(judged(BOTH, measures)) == 2
    with pytest.raises(UsageError, match="The cost limit cannot work: it says nothing"):
        judged(BOTH, measures, ("cost_usd",))
    assert judged(Limits(wall_seconds=5), measures, ("wall_seconds",)) == ()


def planned(tmp_path: Path, text: str, agent: str, model: str | None = None, **options: Any) -> Launch:
    (tmp_path / "config.toml").write_text(text)
    return build_launch(
        load_config(tmp_path / "config.toml"),
        Start("x", agent=agent, model=model, cwd="/usr", options=options, argv=("true",), session_id="s"),
    )


@pytest.fixture(autouse=True)
def codex_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))


def test_general_limits_of_the_settings_keep_no_command_from_running(tmp_path: Path) -> None:
    launch = planned(tmp_path, "[limits]\ntokens = 5\n", "command")
    assert launch.warnings == ("The tokens limit cannot work: a command reports no tokens.",)
    with pytest.raises(UsageError, match="The tokens limit cannot work: a command reports no tokens"):
        planned(tmp_path, "", "command", limits={"tokens": 5})


def test_prices_of_the_settings_travel_with_a_launch(tmp_path: Path) -> None:
    text = '[prices."gpt-x*"]\ninput = 1.0\noutput = 2\n'
    launch = planned(tmp_path, text, "codex", "gpt-x1", limits={"cost_usd": 5})
    assert launch.warnings == ()
    assert launch.prices["gpt-x*"].output == 2.0
    with pytest.raises(UsageError, match=r'gpt-y has no price; set input and output in \[prices."gpt-y"\]'):
        planned(tmp_path, text, "codex", "gpt-y", limits={"cost_usd": 5})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[prices."gpt-x"]\ninput = "dear"\n', r":2: prices.gpt-x.input: Expected `?float`?, got `?str`?"),
        ("[prices.a]\ninput = -1\n", r":2: prices.a.input: "),
        ("[prices.a]\nprice = 1\n", r":2: prices.a.price: Unknown key"),
        ("[profiles.p.prices.a]\nprice = 1\n", r":2: profiles.p.prices.a.price: Unknown key"),
    ],
)
def test_a_price_that_cannot_be_used_is_named_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "config.toml").write_text(text)
    with pytest.raises(ConfigError, match=told):
        load_config(tmp_path / "config.toml")
