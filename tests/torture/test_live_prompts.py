"""Live agents under kill -9: every prompt is delivered once, in order, or its state says that it was not."""

import os
import sys
from pathlib import Path

import pytest
from real_clis import EVERY_CLI
from repetition import SEED, repeated

from torture.live_prompts import BOTH, LivePrompts

pytestmark = [
    pytest.mark.torture,
    pytest.mark.skipif(sys.platform != "linux", reason="the harness finds processes in /proc"),
]

MANY = int(os.environ.get("LIVE_KILLS", "0"))
"""Runners to kill for each agent, and a quarter as many agents, as a release counts them: 200 take hours."""

REAL = [pytest.param(name, marks=pytest.mark.real) for name in EVERY_CLI]
AGENTS = ["scripted", *REAL]


def counted(run, kills, prompts, show):
    """Run, show the table, and compare."""
    try:
        run.run()
    finally:
        show(run.table())
    assert run.findings == [], "\n".join(run.findings)
    assert run.faults.total() == sum(kills.values())
    assert run.counts["prompts"] >= prompts
    assert run.counts["prompts delivered"] > 0


@pytest.fixture
def live_run(request, scratch_home, tmp_path):
    """Makes a run with a live agent; ``prompts`` are those of all its sessions."""

    def make(cli, prompts, **options):
        sessions = repeated(1, 2)
        options |= {"sessions": sessions, "prompts": prompts // sessions}
        if cli == "scripted":
            request.getfixturevalue("scripted_agent")
            kind, home = cli, Path(os.environ["AGENTDASH_HOME"]) / "scripted"
            options["was_shown"] = lambda _: False  # it writes its conversation before it answers
        else:
            kind = request.getfixturevalue("use_agent")(cli)
            home = scratch_home / kind
            options["was_shown"] = request.getfixturevalue("fake_model").was_shown
        return LivePrompts(tmp_path, kind, home, seed=SEED, **options)

    return make


@pytest.mark.timeout(900 + 20 * MANY)
@pytest.mark.parametrize("cli", AGENTS)
def test_no_prompt_of_a_live_agent_is_lost_or_doubled_if_its_runner_is_killed(live_run, cli, show):
    kills, prompts = repeated({"runner": 2}, {"runner": MANY or 8}), repeated(4, 80 if MANY else 12)
    counted(live_run(cli, prompts, kills=kills), kills, prompts, show)


@pytest.mark.timeout(900 + 20 * MANY)
@pytest.mark.parametrize("cli", AGENTS)
def test_no_prompt_of_a_live_agent_is_lost_or_doubled_if_the_agent_is_killed(live_run, cli, show):
    both = MANY // 12
    kills = {"agent": MANY // 4 - both, BOTH: both, "runner": both} if MANY else {"agent": 3, BOTH: 1, "runner": 1}
    prompts = 30 if MANY else 6
    counted(live_run(cli, prompts, kills=kills), kills, prompts, show)


@pytest.mark.timeout(900 + 20 * MANY)
@pytest.mark.parametrize("cli", AGENTS)
def test_no_prompt_of_a_live_agent_is_lost_or_doubled_if_turns_are_interrupted_meanwhile(live_run, cli, show):
    kills = {"runner": MANY, "agent": MANY // 5, BOTH: MANY // 10} if MANY else {"runner": 6, "agent": 2, BOTH: 1}
    kills, prompts = repeated({"runner": 1}, kills), repeated(2, 40 if MANY else 12)
    counted(live_run(cli, prompts, kills=kills, acts=True), kills, prompts, show)
