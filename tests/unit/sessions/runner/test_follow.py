"""The runner's reader of a stream with several turns: each parser gets the lines of its own turn."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.session import Step, StepKind
from agentdash.sessions.rules.costs.usage_totals import Spent
from agentdash.sessions.rules.limits.limits import Limits
from agentdash.sessions.runner.disk import DiskWatch
from agentdash.sessions.runner.follow import Follower
from agentdash.sessions.runner.limits.turn_watch import Watchdog
from agentdash.sessions.storage.files.line_reader import ArrivalTimes, FilePart
from agentdash.sessions.storage.turns.turn_output import TurnOutput

CODEX = agent_named("codex")


def message(text: str) -> bytes:
    item = {"id": text, "type": "agent_message", "text": text}
    return json.dumps({"type": "item.completed", "item": item}).encode() + b"\n"


DONE = b'{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}\n'


class Followed:
    """A stream whose turns end with the proper end of one, and what each parser told."""

    def __init__(self, path: Path, begin: int = 0) -> None:
        self.turns: list[list[str]] = [[]]
        self.ends: list[int] = []
        parser, times = CODEX.parser(), path.with_suffix(".times")
        self.follower = Follower(path, times, parser, self._told, self._read, begin, shared=True)

    def _told(self, step: Step) -> None:
        if step.kind in (StepKind.MESSAGE, StepKind.UNKNOWN):
            self.turns[-1].append(step.text)

    def _read(self, line: bytes) -> None:
        if line.strip() + b"\n" == DONE:
            self.follower.end = self.follower.position

    def begin_turn(self) -> None:
        """Go on with the next turn."""
        self.ends.append(self.follower.position)
        self.turns.append([])
        self.follower.begin_turn(CODEX.parser(len(self.turns)))

    def catch_up(self) -> None:
        """Read on, through the ends of turns."""
        self.follower.catch_up()
        while self.follower.end is not None:
            self.begin_turn()
            self.follower.catch_up()


@given(st.lists(st.integers(0, 4), min_size=1, max_size=5), st.lists(st.integers(1, 120), max_size=8))
def test_each_parser_gets_the_lines_of_its_turn_and_no_byte_is_read_twice(
    tmp_path_factory: pytest.TempPathFactory, counts: list[int], cuts: list[int]
) -> None:
    path = tmp_path_factory.mktemp("stream") / "turn_1.jsonl"
    path.touch()
    followed = Followed(path)
    turns = [[f"{turn}.{n}" for n in range(count)] for turn, count in enumerate(counts)]
    pieces = [b"".join(map(message, texts)) + DONE for texts in turns]
    data = b"".join(pieces)
    rest = data
    for cut in [*cuts, len(data)]:
        with path.open("ab") as file:
            file.write(rest[:cut])
        rest = rest[cut:]
        followed.catch_up()
    assert followed.turns == [*turns, []]
    assert followed.ends == [sum(map(len, pieces[: n + 1])) for n in range(len(pieces))]
    assert followed.follower.steps == 0
    assert ArrivalTimes(path.with_suffix(".times")).upto() == len(data)


def test_lines_behind_the_end_of_a_turn_wait_for_the_next_parser(tmp_path: Path) -> None:
    path = tmp_path / "turn_1.jsonl"
    path.write_bytes(message("a") + DONE + message("b"))
    followed = Followed(path)
    follower = followed.follower
    for _ in range(3):
        assert not follower.catch_up()
    assert followed.turns == [["a"]]
    assert (follower.position, follower.facts.end) == (len(message("a") + DONE), "completed")
    followed.begin_turn()
    assert not follower.catch_up()
    assert followed.turns == [["a"], ["b"]]
    assert (follower.facts.end, follower.facts.last_message, follower.steps) == (None, "b", 1)


def test_an_adopted_turn_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "turn_1.jsonl"
    path.write_bytes(message("a") + DONE + message("b") + b'{"type":"item.com')
    followed = Followed(path, begin=len(message("a") + DONE))
    followed.follower.take_over()
    assert followed.turns == [["b"]]
    assert followed.follower.position == len(message("a") + DONE + message("b"))
    followed.follower.finish()
    assert len(followed.turns[0]) == 2  # the torn last line is of this turn
    assert followed.follower.position == path.stat().st_size


@pytest.fixture
def second(tmp_path: Path) -> TurnOutput:
    """The second turn of a stream, whose first one printed a lot."""
    path = tmp_path / "turn_1.jsonl"
    path.write_bytes(b"x" * 5_000_000)
    path.with_suffix(".err").write_bytes(b"y" * 5_000_000)
    errors = FilePart(path.with_suffix(".err"), 5_000_000)
    return TurnOutput(1, FilePart(path, 5_000_000), errors, path.with_suffix(".times"))


def test_the_limit_of_output_counts_the_turn_alone(second: TurnOutput) -> None:
    follower = Follower(second.stdout.path, second.times, CODEX.parser(), begin=second.stdout.begin)
    watchdog = Watchdog(Limits(output_mb=1.0), second)
    assert not watchdog.floods()
    assert watchdog.check(follower, Spent())[0] == {}
    for path in (second.stdout.path, second.stderr.path):
        with path.open("ab") as file:
            file.write(b"z" * 600_000)
    assert watchdog.floods()
    assert list(watchdog.check(follower, Spent())[0]) == ["output"]


def test_a_turn_that_printed_nothing_is_not_torn_because_the_one_before_it_was(
    second: TurnOutput, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentdash.sessions.runner.disk.DiskWatch._probe", lambda _: None)
    said = "No space left on device"
    path = second.stdout.path
    with path.open("r+b") as file:
        file.truncate(4_096)
    assert DiskWatch(path).at_the_end(said, proven=True) is not None
    assert DiskWatch(path, 4_096).at_the_end(said, proven=True) is None


def test_the_end_of_an_output_is_read_however_long_the_reading_of_the_rest_takes(tmp_path, monkeypatch):
    """A process that outlives the agent goes on printing meanwhile."""
    monkeypatch.setattr("agentdash.sessions.runner.follow.FINISH_SECONDS", 0)
    monkeypatch.setattr("agentdash.sessions.runner.follow.TAIL_BYTES", 2_000)
    path = tmp_path / "turn_1.jsonl"
    path.write_bytes(b"x\n" * 1_200_000 + b"y\n" * 600 + DONE)

    def print_more(step: Step) -> None:
        with path.open("ab") as file:
            file.write(message("more"))

    follower = Follower(path, path.with_suffix(".times"), CODEX.parser(), print_more)
    follower.finish()
    assert follower.facts.end == "completed"
    assert follower.facts.unknown < 1_000_000  # the middle is skipped


def test_a_turn_that_ends_in_the_middle_of_a_line_leaves_the_rest_of_it_to_the_next(tmp_path):
    path = tmp_path / "out.jsonl"
    end, second = DONE.strip(), message("second").strip()
    path.write_bytes(message("first") + b"\x1b[?25h" + end + second + b"\x1b[0m" + end + b"\n" + message("third"))
    followed = Followed(path)
    followed.catch_up()
    assert followed.turns == [["first"], ["second"], ["third"]]
    data = path.read_bytes()
    assert [data[:place].endswith(end) for place in followed.ends[:1]] == [True]
    # Another runner begins where the second turn does.
    later = Followed(path, followed.ends[0])
    later.catch_up()
    assert later.turns == [["second"], ["third"]]
