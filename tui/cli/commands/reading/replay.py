"""The verb replay: print a session's steps again, at their original pace."""

import math
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import click

from .....sessions.errors import UsageError
from .....sessions.text.durations import seconds
from .. import common

if TYPE_CHECKING:
    from .....sessions.model import Step

_PAUSE = 0.2
"""Seconds before a step whose time is not known."""

_LONGEST_GAP = 86_400.0
"""Maximum gap in seconds, because a system cannot sleep for arbitrarily long."""


@click.command()
@click.option("--speed", type=float, default=10.0, metavar="X", help="Speed factor (default: 10).")
@click.option("--turn", type=click.IntRange(min=1), metavar="N", help="Only turn N.")
@click.option("--max-gap", type=seconds, default="2s", metavar="SECONDS", help="Longest pause (default: 2).")
@click.option("--full", is_flag=True, help="No truncation; show diffs.")
@common.json_option
@common.id_argument
def replay(ref: str, speed: float, turn: int | None, max_gap: float, full: bool, as_json: bool) -> None:
    """Replay a session at its original pace.

    Each step is printed when it ended; with --json, as one line.
    """
    if not math.isfinite(speed) or speed <= 0:
        raise UsageError(f"--speed must be a number above 0, not {speed:g}.")
    from .....sessions.transcript.tail import paced

    with common.open_reader() as reader:
        session = reader.get(ref)
        reader.outputs.check_folder(session)
        steps = reader.steps.each_step(session.id, turn)
        play(paced(steps, speed, min(max_gap, _LONGEST_GAP), _PAUSE), time.sleep, full=full, as_json=as_json)


def play(
    steps: "Iterable[tuple[float, Step]]", wait: Callable[[float], None], *, full: bool = False, as_json: bool = False
) -> None:
    """Print each step after its delay."""
    if as_json:
        from .....sessions.json_schema import step_json

        for step in _in_time(steps, wait):
            common.print_json(step_json(step))
        return
    from ....render.steps import steps_text

    for line in steps_text(_in_time(steps, wait), common.style(full=full)):
        common.print_lines([line])


def _in_time(steps: "Iterable[tuple[float, Step]]", wait: Callable[[float], None]) -> "Iterator[Step]":
    for gap, step in steps:
        wait(gap)
        yield step
