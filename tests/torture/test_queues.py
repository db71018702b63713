"""Queues of real agents under kill -9: every prompt is delivered once, in order, or its state says that it was not."""

import sys

import pytest
from real_clis import EVERY_CLI
from repetition import SEED, repeated

from torture.queues import Queues

pytestmark = [
    pytest.mark.torture,
    pytest.mark.real,
    pytest.mark.skipif(sys.platform != "linux", reason="the harness finds processes in /proc"),
]

KILLS = repeated(
    {"runner": 2, "agent": 1, "front end": 1},
    {"runner": 70, "agent": 20, "front end": 18},
)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("cli", EVERY_CLI)
def test_no_prompt_of_a_queue_is_lost_or_doubled_whoever_is_killed(
    use_agent, fake_model, cli, scratch_home, tmp_path, show
):
    kind = use_agent(cli)
    sessions, prompts = repeated((1, 3), (3, 10))
    queues = Queues(
        tmp_path, kind, scratch_home / kind, was_shown=fake_model.was_shown, seed=SEED, sessions=sessions,
        prompts=prompts, kills=KILLS,
    )  # fmt: skip
    try:
        queues.run()
    finally:
        show(queues.table())
    assert sum(queues.faults.values()) == sum(KILLS.values())
    assert queues.counts["prompts"] >= sessions * prompts
    assert queues.counts["prompts delivered"] > 0
    assert queues.findings == [], "\n".join(queues.findings)
