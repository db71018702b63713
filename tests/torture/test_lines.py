"""The torture's own files: what is half written waits, and what a killed writer left spoils nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from torture.book import Book
from torture.lines import append, as_line, records
from torture.workshop import Workshop


def in_two_parts(path, record, between):
    """Append a record as a reader may see it: first a part, then the rest."""
    line = as_line(record)
    for part in (line[: len(line) // 2], line[len(line) // 2 :]):
        with path.open("ab") as file:
            file.write(part)
        between()


def test_the_journal_gives_a_half_written_line_when_it_is_whole(tmp_path):
    shop = Workshop(tmp_path, seed=1)
    shop.note(op="spawn")
    seen = []
    in_two_parts(shop.journal_path, {"op": "stop"}, lambda: seen.append([line["op"] for line in shop.journal()]))
    assert seen == [["spawn"], ["spawn", "stop"]]
    shop.note(op="delete")
    assert [line["op"] for line in shop.journal()] == ["spawn", "stop", "delete"]


def test_the_book_gives_a_half_written_line_when_it_is_whole(tmp_path):
    book = Book(tmp_path / "book.jsonl")
    book.add(1, 10, "seen")
    seen = []
    record = {"kind": "process", "session": "s", "run": "", "pid": 2, "start": 20, "how": []}
    in_two_parts(book.path, record, lambda: seen.append(list(book.processes())))
    assert seen == [[(1, 10)], [(1, 10), (2, 20)]]


def test_what_a_killed_writer_left_spoils_no_line_after_it(tmp_path):
    path = tmp_path / "lines"
    append(path, {"n": 1})
    with path.open("ab") as file:
        file.write(as_line({"n": 2, "text": "never finished"})[:12])
    append(path, {"n": 3})
    assert records(path.read_bytes()) == ([{"n": 1}, {"n": 3}], path.stat().st_size)


def test_a_line_that_is_no_record_is_an_error():
    with pytest.raises(ValueError, match="Expecting value"):
        records(b'{"n": 1}\nhello\n')


def test_many_writers_at_once_lose_nothing(tmp_path):
    path = tmp_path / "lines"
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); from lines import append\n"
        "for n in range(200): append(sys.argv[2], {'who': sys.argv[3], 'n': n, 'text': 'x' * 5000})\n"
    )
    argv = [sys.executable, "-I", "-S", "-c", script, str(Path(__file__).parent), str(path)]
    writers = [subprocess.Popen([*argv, str(number)], env=os.environ) for number in range(3)]
    found, at = [], 0
    while any(writer.poll() is None for writer in writers) or at < path.stat().st_size:
        if path.exists():
            with path.open("rb") as file:
                file.seek(at)
                more, size = records(file.read())
            found, at = found + more, at + size
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    assert sorted((int(line["who"]), line["n"]) for line in found) == [(w, n) for w in range(3) for n in range(200)]
