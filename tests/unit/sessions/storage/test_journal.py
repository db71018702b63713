"""Reading turn files by offset."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.storage.files import line_reader
from agentdash.sessions.storage.files.line_reader import ArrivalTimes, LineReader, stamp


def lines(reader):
    return [line for _, line in reader.lines()]


def test_a_half_written_last_line_is_held_back_until_its_newline_comes(tmp_path):
    path = tmp_path / "turn.jsonl"
    path.write_bytes(b"one\ntw")
    with LineReader(path) as reader:
        assert lines(reader) == [b"one"]
        with path.open("ab") as file:
            file.write(b"o\nthree\n")
        assert lines(reader) == [b"two", b"three"]
        assert lines(reader) == []


def test_the_torn_tail_of_an_ended_turn_is_a_line(tmp_path):
    path = tmp_path / "turn.jsonl"
    path.write_bytes(b'{"a":1}\n{"b":')
    with LineReader(path) as reader:
        assert list(reader.all_lines()) == [b'{"a":1}', b'{"b":']


def test_only_newlines_split_lines(tmp_path):
    path = tmp_path / "turn.jsonl"
    text = "a\u2028b\u0085c\rd\x0be\n".encode()
    path.write_bytes(text * 2)
    with LineReader(path) as reader:
        assert lines(reader) == [text[:-1]] * 2


def test_a_file_that_comes_later_is_found(tmp_path):
    path = tmp_path / "turn.jsonl"
    with LineReader(path) as reader:
        assert lines(reader) == []
        path.write_bytes(b"x\n")
        assert lines(reader) == [b"x"]


def test_a_line_of_several_chunks_is_whole(tmp_path):
    path = tmp_path / "turn.jsonl"
    long = b"y" * (3 * line_reader.CHUNK + 7)
    path.write_bytes(b"a\n" + long + b"\nb\n")
    with LineReader(path) as reader:
        assert lines(reader) == [b"a", long, b"b"]


def test_a_line_over_the_cap_is_cut_and_the_next_one_is_whole(tmp_path):
    path = tmp_path / "turn.jsonl"
    path.write_bytes(b"z" * 25 + b"\nnext\n")
    with LineReader(path, cap=10) as reader:
        assert lines(reader) == [b"z" * 10, b"next"]


@pytest.mark.parametrize("piece", [1, 3, 7, 100])
def test_of_a_line_over_the_cap_only_its_beginning_stays_in_memory_if_so_told(tmp_path, piece):
    path = tmp_path / "turn.jsonl"
    path.write_bytes(b"abcdefghij\n" + b"abcdefghijk" * 3 + b"\nnext\n" + b"abcdefghijk")
    with LineReader(path, cap=10, kept=4) as reader:
        seen = []
        while chunk := reader.read(piece):
            seen += [line for _, line in reader.split(chunk)]
        assert [*seen, reader.rest()] == [b"abcdefghij", b"abcd", b"next", b"abcd"]


def test_what_is_written_while_it_is_read_is_left_to_the_next_call(tmp_path):
    """A writer that is faster than its reader must not hold it for ever."""
    path = tmp_path / "turn.jsonl"
    path.write_bytes(b"a\n")
    with LineReader(path) as reader, path.open("ab", buffering=0) as file:
        seen = []
        for _, line in reader.lines():
            seen.append(line)
            file.write(b"more\n")
        assert seen == [b"a"]
        assert lines(reader) == [b"more"]


def test_a_tail_begins_with_a_whole_line_even_inside_one_over_the_cap(tmp_path):
    path = tmp_path / "turn.jsonl"
    path.write_bytes(b"z" * 50)
    with LineReader(path, cap=10) as reader:
        assert lines(reader) == []
        with path.open("ab") as file:
            file.write(b"z" * 100 + b"\n{}\n")
        reader.skip_to_tail(8)
        assert lines(reader) == [b"{}"]


@given(st.binary(max_size=2000), st.lists(st.integers(1, 300), max_size=20))
def test_any_bytes_in_any_pieces_give_the_same_lines(tmp_path_factory, data, cuts):
    path = tmp_path_factory.mktemp("journal") / "turn.jsonl"
    path.write_bytes(b"")
    found = []
    with LineReader(path) as reader:
        rest = data
        for cut in [*cuts, len(data)]:
            with path.open("ab") as file:
                file.write(rest[:cut])
            rest = rest[cut:]
            found += lines(reader)
        found += [tail] if (tail := reader.rest()) is not None else []
    expected = data.split(b"\n")
    assert found == (expected[:-1] if expected[-1] == b"" else expected)


def test_each_byte_has_the_time_at_which_it_arrived(tmp_path):
    path = tmp_path / "turn.times"
    path.write_bytes(stamp(10, 1000) + stamp(30, 2000))
    times = ArrivalTimes(path)
    assert [times.at(5), times.at(10), times.at(11)] == [1000, 1000, 2000]
    assert times.at(31) is None
    with path.open("ab") as file:
        file.write(stamp(40, 3000) + b"torn")
    times.refresh()
    assert times.at(31) == 3000
    assert times.at(41) is None
    with path.open("r+b") as file:
        file.seek(-4, 2)
        file.write(stamp(60, 4000))
    assert times.at(41) is None  # asked for once in a refresh
    times.refresh()
    assert times.at(41) == 4000


def test_lines_without_a_record_cost_one_look_at_the_file(tmp_path, monkeypatch):
    opened = []
    path = tmp_path / "turn.times"
    path.write_bytes(stamp(10, 1000))
    times = ArrivalTimes(path)
    read = type(path).open
    monkeypatch.setattr(type(path), "open", lambda self, *mode: opened.append(self) or read(self, *mode))
    assert times.at(10) == 1000
    assert [times.at(offset) for offset in range(11, 1000)] == [None] * 989
    assert len(opened) == 1


def test_without_a_record_no_time_is_invented(tmp_path):
    assert ArrivalTimes(tmp_path / "none").at(1) is None


@pytest.mark.parametrize("size", [0, 1])
def test_an_empty_file_has_no_lines(tmp_path, size):
    path = tmp_path / "turn.jsonl"
    path.write_bytes(b"\n" * size)
    with LineReader(path) as reader:
        assert lines(reader) == [b""] * size


def test_times_are_found_from_the_middle_of_a_file(tmp_path):
    path = tmp_path / "turn.times"
    path.write_bytes(b"".join(stamp(100 * n, 1_000 + n) for n in range(1, 20_001)))
    times = ArrivalTimes(path, 1_500_050)
    assert times.at(1_500_050) == 1_000 + 15_001
    assert times.at(2_000_000) == 1_000 + 20_000
    assert times.at(2_000_001) is None


@given(st.integers(1, 60), st.integers(1, 60))
def test_a_last_line_that_is_longer_than_the_tail_is_kept(tmp_path_factory, length, size):
    path = tmp_path_factory.mktemp("journal") / "turn.jsonl"
    path.write_bytes(b"x\n" * 40 + b"z" * length + b"\n")
    with LineReader(path) as reader:
        reader.skip_to_tail(size)
        assert lines(reader)[-1] == b"z" * length
