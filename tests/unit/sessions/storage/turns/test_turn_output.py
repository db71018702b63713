"""The place of a turn's output: which bytes of which file belong to it."""

from itertools import pairwise
from pathlib import Path

import pytest
from factories import turn
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.storage.files.line_reader import PIECE, FilePart, LineReader
from agentdash.sessions.storage.paths import SessionFolder
from agentdash.sessions.storage.turns.turn_output import output_in, outputs_of, own_output

FOLDER = SessionFolder(Path("/state/sessions/11111111"))


def test_a_turn_of_today_has_all_of_its_own_files() -> None:
    (output,) = outputs_of(FOLDER, [turn(1)])
    assert output == own_output(FOLDER, 1)
    assert output.stdout == FilePart(FOLDER.output(1))
    assert (output.stderr, output.times) == (FilePart(FOLDER.errors(1)), FOLDER.times(1))


def test_the_turns_of_a_stream_are_parts_of_the_files_of_its_first_turn() -> None:
    turns = [
        turn(1, end_byte=10),
        turn(2, stream=1, begin_byte=10, end_byte=30, begin_error_byte=4),
        turn(3),
        turn(4, stream=3, begin_byte=50, begin_error_byte=7),
    ]
    outputs = outputs_of(FOLDER, turns)
    assert [output.stdout for output in outputs] == [
        FilePart(FOLDER.output(1), 0, 10),
        FilePart(FOLDER.output(1), 10, 30),
        FilePart(FOLDER.output(3), 0, 50),  # its end is not recorded
        FilePart(FOLDER.output(3), 50, None),
    ]
    assert [output.stderr for output in outputs] == [
        FilePart(FOLDER.errors(1), 0, 4),
        FilePart(FOLDER.errors(1), 4, None),
        FilePart(FOLDER.errors(3), 0, 7),
        FilePart(FOLDER.errors(3), 7, None),
    ]
    assert [output.times for output in outputs] == [FOLDER.times(n) for n in (1, 1, 3, 3)]
    assert [output_in(FOLDER, turns[n - 1 :], n) for n in range(1, 5)] == outputs
    assert [output_in(FOLDER, turns, n) for n in range(1, 5)] == outputs


def test_a_turn_without_a_row_has_files_with_its_number() -> None:
    assert output_in(FOLDER, [], 3) == output_in(FOLDER, [turn(4, stream=1)], 3) == own_output(FOLDER, 3)


@given(st.binary(max_size=300), st.integers(0, 320), st.none() | st.integers(0, 320), st.integers(1, 50))
def test_a_part_is_a_slice_of_the_bytes(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, begin: int, end: int | None, most: int
) -> None:
    path = tmp_path_factory.mktemp("part") / "turn.jsonl"
    path.write_bytes(data)
    part, expected = FilePart(path, begin, end), data[begin:end]
    assert part.read() == expected
    assert part.size == len(expected)
    assert part.last(most) == (expected[-most:], max(0, len(expected) - most))
    with LineReader(path, begin, end=end) as reader:
        assert reader.ahead == len(expected)
        assert b"\n".join(reader.all_lines()) == expected.removesuffix(b"\n")
        assert reader.ahead == 0


def test_a_part_of_many_pieces_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "turn.jsonl"
    path.write_bytes(bytes(range(256)) * PIECE)
    assert list(map(len, FilePart(path, 1, PIECE + 9).pieces())) == [PIECE, 8]


def test_a_file_that_is_not_there_yet_has_no_bytes(tmp_path: Path) -> None:
    part = FilePart(tmp_path / "none", 5)
    assert (part.size, part.read(), part.last(10)) == (0, b"", (b"", 0))


def test_a_reader_stops_at_an_end_that_is_set_while_it_reads(tmp_path: Path) -> None:
    path = tmp_path / "turn.jsonl"
    path.write_bytes(b"one\ntwo\n")
    with LineReader(path) as reader:
        assert [line for _, line in reader.lines()] == [b"one", b"two"]
        reader.end = 12
        with path.open("ab") as file:
            file.write(b"six\nseven\n")
        assert reader.ahead == 4
        assert [line for _, line in reader.lines()] == [b"six"]
        assert (reader.ahead, reader.read()) == (0, b"")
        reader.end = None
        assert [line for _, line in reader.lines()] == [b"seven"]


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=6))
def test_the_lines_of_all_parts_are_the_lines_of_the_file_cut_at_the_boundaries(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, cuts: list[int]
) -> None:
    path = tmp_path_factory.mktemp("part") / "turn.jsonl"
    path.write_bytes(data)
    found = b""
    for begin, end in pairwise([0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]):
        with LineReader(path, begin, end=end) as reader:
            found += b"".join(line + b"\n" for _, line in reader.lines()) + (reader.rest() or b"")
    assert found == data


def test_the_tail_of_a_part_ends_with_it(tmp_path: Path) -> None:
    path = tmp_path / "turn.jsonl"
    path.write_bytes(b"".join(b"line %d\n" % n for n in range(10)))
    with LineReader(path, end=56) as reader:
        reader.read(1)
        reader.skip_to_tail(20)
        assert list(reader.all_lines()) == [b"line 5", b"line 6", b"line 7"][-2:]
