"""Usage from real sessions: the verb in its forms, costs computed again, and the screen in a real terminal."""

import csv
import io
import json
from datetime import datetime

import jsonschema
import pytest
from places import ROOT
from verbs import verb

from agentdash.sessions.rules.launch import Start

SCHEMA = json.loads((ROOT / "docs" / "schema" / "usage.json").read_text(encoding="utf-8"))

pytestmark = pytest.mark.usefixtures("scripted_agent")


@pytest.fixture
def worked(manager):
    """Two sessions of the scripted agent that ended well, and their ids."""
    options = {"script": "done", "speed": 40.0}
    ids = [manager.spawn(Start(f"=Fix {name} 模型", agent="scripted", options=options)).id for name in ("one", "two")]
    manager.wait(ids, timeout=60)
    return ids


def printed(*words, code=0):
    done = verb("usage", *words)
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


@pytest.mark.smoke
def test_the_verb_adds_up_what_the_sessions_used(worked, manager):
    sessions = [manager.reader.get(one) for one in worked]
    for by in ("day", "week", "month", "agent", "model", "folder", "lead", "session"):
        found = json.loads(printed("--json", "--by", by))
        jsonschema.Draft202012Validator(SCHEMA).validate(found)
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
    assert lines[1].split()[0] == "scripted"
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
        ("--since", "x"), ("--since", "99999999999d"), ("--since", "0001-01-01"), ("--until", "90"), ("--by", "x"),
        ("--until", "2026-02-30"), ("--since", "2026-11-05", "--until", "2026-11-01"),
        ("--since", "7d", "--until", "1y"), ("--most", "0"),
    ],
)  # fmt: skip
def test_bad_input_is_refused(manager, words):
    assert printed(*words, code=2).startswith("agentdash: ")


def test_the_moment_of_a_short_time_is_the_one_that_is_used(worked):
    found = json.loads(printed("--json", "--since", "1h"))
    begin = datetime.fromisoformat(found["since"])
    assert (begin.minute % 15, begin.second, begin.microsecond) == (0, 0, 0)
    assert begin.utcoffset() is not None
    assert found["total"]["sessions"] == 2
    assert printed("--until", "yesterday") == "no usage\n"
    assert "no usage" not in printed("--since", "1y", "--until", "today")


def test_only_the_greatest_groups(worked):
    found = json.loads(printed("--json", "--by", "session", "--most", "1"))
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    assert (len(found["rows"]), found["more"], found["total"]["sessions"]) == (1, 1, 2)
    assert "and 1 more" in printed("--by", "session", "--most", "1").splitlines()
    assert len(printed("--csv", "--by", "session", "--most", "1").splitlines()) == 2
    assert json.loads(printed("--json", "--by", "session"))["more"] == 0


@pytest.mark.parametrize("command", ["usage --since", "usage --until", "reprice --since"])
def test_times_are_completed(command):
    words = {"_AGENTDASH_COMPLETE": "bash_complete", "COMP_CWORD": "3"}
    assert verb(COMP_WORDS=f"agentdash {command} to", **words).stdout == "plain,today\n"
    all_times = verb(COMP_WORDS=f"agentdash {command} ", **words).stdout
    assert "plain,yesterday\n" in all_times
    assert "plain,1y\n" in all_times


def test_the_sessions_without_a_lead_are_named(worked):
    (row,) = json.loads(printed("--json", "--by", "lead"))["rows"]
    assert (row["group"], row["label"], row["session"]) == ("", "no lead", None)
    (line,) = csv.DictReader(io.StringIO(printed("--csv", "--by", "lead")))
    assert (line["group"], line["label"]) == ("", "no lead")
    assert printed("--by", "lead").splitlines()[1].startswith("no lead ")


def test_an_outside_lead_is_a_family(worked, manager):
    with manager.store.database.transaction() as db:
        db.execute("UPDATE sessions SET lead = 'claude:outside1' WHERE id = ?", (worked[0],))
    found = json.loads(printed("--json", "--by", "session", "--family", "claude:outside1"))
    assert [row["session"] for row in found["rows"]] == [worked[0]]
    assert found["family"] == "claude:outside1"
    assert "claude:none" in printed("--family", "claude:none", code=1)


def test_one_form_at_a_time(manager):
    assert "cannot be combined" in printed("--csv", "--json", code=2)


def repriced(*words, code=0):
    done = verb("usage", "reprice", *words)
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


@pytest.fixture
def used_a_model(worked, manager):
    """The sessions used a model that has no price."""
    with manager.store.database.transaction() as db:
        db.execute("UPDATE turns SET cost_usd = NULL, cost_about_usd = NULL")
        db.execute("UPDATE sessions SET model = 'local-1', cost_usd = NULL, cost_about_usd = NULL")
        db.execute("UPDATE reports SET model = 'local-1', reported_usd = NULL, computed_usd = NULL, price = NULL")
    return worked


def test_a_price_that_comes_later_fills_in_the_cost(used_a_model, manager):
    one = manager.reader.get(used_a_model[0])
    assert (one.cost_usd, one.cost_about_usd) == (None, None)
    assert repriced() == (
        "No cost changed.\n"
        'Without a price: local-1. Import prices, or set [prices."MODEL"] in the settings.\n'
    )  # fmt: skip
    manager.reader.settings.path.write_text('[prices."local-*"]\ninput = 1000.0\noutput = 1000.0\n')
    dry = repriced("--dry-run")
    assert dry.startswith("2 turns of 2 sessions would be repriced: ? → ~$")
    assert manager.reader.get(used_a_model[0]).cost_about_usd is None
    schema = json.loads((ROOT / "docs" / "schema" / "repriced.json").read_text(encoding="utf-8"))
    found = json.loads(repriced("--json", "--since", "7d", "--model", "local-*"))
    jsonschema.Draft202012Validator(schema).validate(found)
    assert (found["turns"], found["sessions"], found["before"]["missing"], found["unpriced"]) == (2, 2, 2, [])
    after = manager.reader.get(used_a_model[0])
    assert after.cost_about_usd == pytest.approx((one.usage.input_tokens + one.usage.output_tokens) / 1000)
    total = json.loads(printed("--json"))["total"]
    assert (total["computed_usd"], total["missing"]) == (pytest.approx(found["after"]["computed_usd"]), 0)
    assert repriced() == "No cost changed.\n"
    manager.reader.settings.path.write_text('[prices."local-*"]\ninput = 2000.0\noutput = 2000.0\n')
    assert repriced() == "No cost changed.\n"
    assert repriced("--all").startswith("2 turns of 2 sessions repriced: ~$")
    assert manager.reader.get(used_a_model[0]).cost_about_usd == pytest.approx(2 * after.cost_about_usd)
    assert repriced("--all") == "No cost changed.\n"


@pytest.mark.parametrize("words", [("--since", "x"), ("--since", "2026-02-30"), ("--model", "nope-*"), ("odd",)])
def test_a_request_that_is_not_valid_reprices_nothing(used_a_model, manager, words):
    manager.reader.settings.path.write_text('[prices."local-*"]\ninput = 1.0\noutput = 1.0\n')
    assert repriced(*words, code=2).startswith("agentdash: ")
    assert repriced("--dry-run").startswith("2 turns of 2 sessions would be repriced")


def test_a_session_reprices_nothing(used_a_model, manager):
    manager.reader.settings.path.write_text('[prices."local-*"]\ninput = 1.0\noutput = 1.0\n')
    one = manager.spawn(Start("go [[script:silent]]", agent="scripted"))
    refused = verb("usage", "reprice", AGENTDASH_SESSION_ID=one.id)
    assert refused.returncode == 1
    assert "is for the user only" in refused.stderr
    assert manager.reader.get(used_a_model[0]).cost_about_usd is None


def test_the_screen_in_a_terminal(worked, terminal):
    terminal.start("agentdash", width=80, height=24)
    terminal.shows("=Fix one", "=Fix two")
    terminal.keys("$")
    terminal.shows("last 30 days, by model", "today", "Enter open")
    terminal.keys("g")
    terminal.shows("by agent", "█ scripted")
    terminal.keys("c", "m")
    terminal.shows("last 12 months")
    terminal.keys("l", "Enter")
    terminal.shows("usage of", "2 of 2", "=Fix one", "=Fix two")
    terminal.keys("Escape")
    terminal.shows("last 12 months", "by agent")
    terminal.resize(50, 24)
    terminal.shows("last 12 months", "Enter open")
    terminal.keys("Escape")
    terminal.lacks("usage of")
    terminal.shows("=Fix one")
