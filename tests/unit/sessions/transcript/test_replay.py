"""A session once more at its own pace."""

import json
from collections.abc import Iterator

import pytest

from agentdash.sessions.model.session import Step, StepKind
from agentdash.sessions.transcript.tail import as_they_came, paced
from agentdash.tui.cli.commands.reading.steps import play


def step(index: int, at: float | None = None, ended: float | None = None, turn: int = 1) -> Step:
    """A step whose times are given in seconds."""
    began, over = (None if t is None else round(t * 1000) for t in (at, ended))
    return Step(turn=turn, index=index, kind=StepKind.COMMAND, at=began, ended_at=over)


def waits(steps: list[Step], speed: float = 1, max_gap: float = 100, pause: float = 0.5) -> list[tuple[int, float]]:
    """The index of each step and the seconds before it."""
    return [(found.index, gap) for gap, found in paced(steps, speed, max_gap, pause)]


def test_steps_come_after_the_time_that_passed_between_them() -> None:
    assert waits([step(0, 10), step(1, 13), step(2, 14)]) == [(0, 0), (1, 3), (2, 1)]


def test_a_higher_speed_divides_the_waits() -> None:
    assert waits([step(0, 10), step(1, 15), step(2, 16)], speed=10) == [(0, 0), (1, 0.5), (2, 0.1)]
    assert waits([step(0, 10), step(1, 15)], speed=0.5) == [(0, 0), (1, 10)]


def test_a_long_wait_is_shortened_as_seconds_of_the_replay() -> None:
    assert waits([step(0, 0), step(1, 3600), step(2, 3601)], speed=10, max_gap=2) == [(0, 0), (1, 2), (2, 0.1)]
    assert waits([step(0, 0), step(1, 3600)], max_gap=0) == [(0, 0), (1, 0)]


def test_what_took_a_while_comes_when_it_was_over() -> None:
    assert waits([step(0, 0), step(1, 1, 5), step(2, 6)]) == [(0, 0), (1, 5), (2, 1)]


def test_what_ran_beside_others_comes_after_them() -> None:
    steps = [step(0, 0), step(1, 1, 9), step(2, 2, 4), step(3, 5), step(4, 10)]
    assert waits(steps) == [(0, 0), (2, 4), (3, 1), (1, 4), (4, 1)]


def test_nothing_of_a_turn_comes_after_the_next_turn_s_prompt() -> None:
    steps = [step(0, 0), step(1, 1, 50), step(0, 40, turn=2)]
    assert [(s.turn, s.index) for s in as_they_came(steps)] == [(1, 0), (1, 1), (2, 0)]
    assert [gap for gap, _ in paced(steps, 1, 100, 0.5)] == [0, 50, 0]


def test_a_step_without_a_time_follows_after_a_pause() -> None:
    assert waits([step(0, 0), step(1), step(2, 4)]) == [(0, 0), (1, 0.5), (2, 4)]
    assert waits([step(0), step(1)]) == [(0, 0.5), (1, 0.5)]


def test_a_clock_that_was_set_back_stops_nothing() -> None:
    assert waits([step(0, 100), step(1, 40), step(2, 41)]) == [(0, 0), (1, 0), (2, 1)]


def test_only_what_is_under_way_is_kept() -> None:
    drawn = []

    def steps() -> Iterator[Step]:
        for index in range(100):
            drawn.append(index)
            yield step(index, index)

    came = as_they_came(steps())
    assert [next(came).index for _ in range(10)] == list(range(10))
    assert len(drawn) <= 11


@pytest.mark.parametrize("count", [1, 1000])
def test_no_step_is_lost(count: int) -> None:
    steps = [step(i, i % 7, i % 7 + i % 5, turn=1 + i // 100) for i in range(count)]
    came = list(as_they_came(steps))
    assert sorted(s.index for s in came) == list(range(count))


@pytest.mark.parametrize("as_json", [False, True])
def test_each_step_is_on_the_screen_before_the_next_wait(capsys: pytest.CaptureFixture[str], as_json: bool) -> None:
    seen: list[tuple[float, str]] = []
    said = [Step(index=n, kind=StepKind.MESSAGE, text=f"word {n}") for n in range(2)]
    play([(0.5, said[0]), (2.0, said[1])], lambda gap: seen.append((gap, capsys.readouterr().out)), as_json=as_json)
    (first, nothing), (second, before) = seen
    last = capsys.readouterr().out
    assert (first, second, nothing) == (0.5, 2.0, "")
    if as_json:
        assert [json.loads(line)["text"] for line in (before, last)] == ["word 0", "word 1"]
    else:
        assert before.endswith("✦ word 0\n")
        assert last == "✦ word 1\n"
