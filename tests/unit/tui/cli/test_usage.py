"""The verb usage: the keys of its CSV, and numbers that the database cannot hold."""

import csv
import io
import os
import sys
from pathlib import Path

import pytest
from recorded_use import ID, Recorded
from verbs import verb

from agentdash.tui.cli.main import run

FOLDERS = ["/tmp/a\nb", "/tmp/a b", "/tmp/a\rb", "/tmp/a\x1b[31mb", '/tmp/a"b,c', "/tmp/a\u2028b"]
RESULT = b'{"type":"result","subtype":"success","is_error":false,"usage":{"input_tokens":5,"output_tokens":1}}'


@pytest.fixture
def recorded() -> None:
    """A session in each of the folders."""
    home = Path(os.environ["AGENTDASH_HOME"])
    home.mkdir(mode=0o700, exist_ok=True)
    made = Recorded(home)
    for number, folder in enumerate(FOLDERS):
        made.turn(RESULT, "claude", session=ID.format(number), cwd=folder)
    made.store.close()


@pytest.mark.usefixtures("recorded")
def test_the_keys_of_the_csv_are_those_of_the_groups(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["usage", "--csv", "--by", "folder"]) == 0
    printed = capsysbinary.readouterr().out.decode()
    rows = list(csv.DictReader(io.StringIO(printed, newline="")))
    assert sorted(row["group"] for row in rows) == sorted(FOLDERS)
    assert {row["label"] for row in rows} == {"/tmp/a b", "/tmp/ab", '/tmp/a"b,c'}


@pytest.mark.usefixtures("recorded")
def test_a_terminal_gets_no_control_sequence_of_a_key(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert run(["usage", "--csv", "--by", "folder"]) == 0
    printed = capsys.readouterr().out
    assert "/tmp/ab" in printed
    assert "\x1b" not in printed


@pytest.mark.parametrize("words", [("usage", "--most"), ("prompts", "-n"), ("events", "--since")])
def test_a_number_that_the_database_cannot_hold_is_refused(words: tuple[str, ...]) -> None:
    done = verb(*words, str(1 << 63))
    assert done.returncode == 2
    assert f"{1 << 63} is not in the range" in done.stderr
    assert verb("usage", "--most", str((1 << 63) - 1)).returncode == 0
