"""Two turns of a real agent, put into one file: every verb says of them what it said of two files."""

import json
import sqlite3

import pytest

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.storage.files.line_reader import ArrivalTimes, stamp
from agentdash.tui.cli.main import run

pytestmark = pytest.mark.real

MINUTE = 60
OPTIONS = {"codex": {"sandbox": "danger-full-access"}, "claude": {"permission_mode": "bypassPermissions"}}
VERBS = (
    ("trajectory", "--json"), ("trajectory", "--full"), ("trajectory", "--turn", "2"), ("trajectory", "--messages"),
    ("digest", "--turn", "2", "--json"), ("changes", "--json"), ("export", "--format", "md"),
    ("export", "--format", "html", "--turn", "2"), ("export", "--format", "json"), ("output", "--turn", "1"),
    ("output", "--turn", "2"), ("output", "--turn", "2", "--stderr"), ("tail", "-n", "500"),
)  # fmt: skip


def one_stream(manager, session_id):
    """Put the files of the second turn behind those of the first, and record the places."""
    folder = manager.layout.session(session_id)
    places = folder.output(1).stat().st_size, folder.errors(1).stat().st_size
    times = ArrivalTimes(folder.times(2))
    ends = [n + 1 for n, byte in enumerate(folder.output(2).read_bytes()) if byte == 10]
    with folder.times(1).open("ab") as file:
        file.writelines(stamp(places[0] + end, times.at(end)) for end in ends)
    for path in (folder.output, folder.errors):
        with path(1).open("ab") as file:
            file.write(path(2).read_bytes())
        path(2).unlink()
    folder.times(2).unlink()
    with sqlite3.connect(manager.reader.home / "agentdash.db") as db:
        db.execute("UPDATE turns SET end_byte = ? WHERE n = 1", places[:1])
        db.execute("UPDATE turns SET stream = 1, begin_byte = ?, begin_error_byte = ? WHERE n = 2", places)


def test_every_verb_says_the_same_of_two_turns_in_one_file(manager, agent, tmp_path, capsysbinary):
    project = tmp_path / "project"
    project.mkdir()
    session = manager.spawn(Start("[[fake:work]] please do it", agent=agent, cwd=str(project), options=OPTIONS[agent]))
    manager.wait([session.id], timeout=2 * MINUTE)
    manager.prompts.inject(session.id, "[[fake:work]] and again")
    assert manager.wait([session.id], timeout=2 * MINUTE)[0].status is Status.DONE

    def said(*words):
        capsysbinary.readouterr()
        assert run([words[0], session.id, *words[1:]]) == 0
        return capsysbinary.readouterr().out

    own = {words: said(*words) for words in VERBS}
    one_stream(manager, session.id)
    for words, expected in own.items():
        assert said(*words) == expected, words
    assert b"and again" in own["trajectory", "--messages"]
    turns = json.loads(said("show", "--json"))["turns"]
    assert [turn["stream"] for turn in turns] == [None, 1]
    assert turns[0]["end_byte"] == turns[1]["begin_byte"] > 0
    assert f" bytes from byte {turns[1]['begin_byte']}" in said("explain").decode()
