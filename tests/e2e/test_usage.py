"""Usage from real sessions: the verb in its forms, and the screen in a real terminal."""

import csv
import io
import json
from datetime import datetime

import jsonschema
import pytest
from places import ROOT
from verbs import verb

from agentdash.sessions.launch import Start

pytestmark = pytest.mark.usefixtures("demo_agent")


@pytest.fixture
def worked(manager):
    """Two sessions of the demo agent that ended well, and their ids."""
    options = {"script": "done", "speed": 40.0}
    ids = [manager.spawn(Start(f"=Fix {name} 模型", agent="demo", options=options)).id for name in ("one", "two")]
    manager.wait(ids, timeout=60)
    return ids


def printed(*words, code=0):
    done = verb("usage", *words)
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


def test_the_verb_adds_up_what_the_sessions_used(worked, manager):
    sessions = [manager.reader.get(one) for one in worked]
    schema = json.loads((ROOT / "docs" / "schema" / "usage.json").read_text(encoding="utf-8"))
    for by in ("day", "week", "month", "agent", "model", "folder", "lead", "session"):
        found = json.loads(printed("--json", "--by", by))
        jsonschema.Draft202012Validator(schema).validate(found)
        assert found["total"]["input_tokens"] == sum(one.usage.input_tokens for one in sessions)
        assert found["total"]["sessions"] == 2
        assert sum(row["output_tokens"] for row in found["rows"]) == found["total"]["output_tokens"]
        assert len(found["rows"]) == (2 if by == "session" else 1)
    assert {row["session"] for row in json.loads(printed("--json", "--by", "session"))["rows"]} == set(worked)


def test_the_csv_has_a_line_for_each_group_and_no_formula(worked):
    rows = list(csv.DictReader(io.StringIO(printed("--csv", "--by", "session"))))
    assert {row["session"] for row in rows} == set(worked)
    assert all(row["label"].startswith("'=Fix") for row in rows)
    assert all(int(row["input_tokens"]) > 0 for row in rows)
    assert {row["cache_write_tokens"] for row in rows} == {""}


def test_the_table_for_people(worked):
    lines = printed("--by", "agent").splitlines()
    assert lines[0].split() == ["agent", "cost", "share", "in", "out", "cached", "written", "sessions"]
    assert lines[1].split()[0] == "demo"
    assert lines[1].split()[-1] == "2"
    assert "2 sessions" in lines[2]
    assert "$0.00" not in "\n".join(lines)


def test_times_and_families_choose(worked):
    today = f"{datetime.now().astimezone():%Y-%m-%d}"
    assert "no usage" not in printed("--since", "7d")
    assert "no usage" not in printed("--since", today, "--until", today)
    assert printed("--since", "2020-01-01", "--until", "2020-02-01") == "no usage\n"
    found = json.loads(printed("--json", "--by", "session", "--family", worked[0]))
    assert [row["session"] for row in found["rows"]] == [worked[0]]


@pytest.mark.parametrize(
    "words",
    [
        ("--since", "x"), ("--since", "99999999999d"), ("--since", "0001-01-01"), ("--until", "7d"), ("--by", "x"),
        ("--until", "2026-02-30"), ("--since", "2026-11-05", "--until", "2026-11-01"),
    ],
)  # fmt: skip
def test_bad_input_is_refused(manager, words):
    assert printed(*words, code=2).startswith("agentdash: ")


def test_one_form_at_a_time(manager):
    assert "cannot be combined" in printed("--csv", "--json", code=2)


def test_the_screen_in_a_terminal(worked, terminal):
    terminal.start("agentdash", width=80, height=24)
    terminal.shows("=Fix one", "=Fix two")
    terminal.keys("$")
    terminal.shows("last 30 days, by model", "today", "Enter sessions")
    terminal.keys("g")
    terminal.shows("by agent", "█ demo")
    terminal.keys("c", "m")
    terminal.shows("last 12 months")
    terminal.keys("l", "Enter")
    terminal.shows("usage of", "2 of 2", "=Fix one", "=Fix two")
    terminal.keys("Escape")
    terminal.shows("last 12 months", "by agent")
    terminal.resize(50, 24)
    terminal.shows("last 12 months", "Enter sessions")
    terminal.keys("Escape")
    terminal.lacks("usage of")
    terminal.shows("=Fix one")
