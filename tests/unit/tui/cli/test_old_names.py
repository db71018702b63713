"""The old names of verbs do what they did, by the new words, and are shown nowhere."""

import json

import click
import pytest
from places import ROOT
from recorded_sessions import lines, ran, record, said
from verbs import verb

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.plan_windows import PlanWindow
from agentdash.sessions.service.manager import SessionManager
from agentdash.tui.cli.main import cli
from agentdash.tui.cli.verb_group import NEW_WORDS

SAME = (
    ("logs ID", "trajectory ID --lines all --unmarked"),
    ("logs ID -n 2", "trajectory ID --lines 2 --unmarked"),
    ("logs --json -n2 ID", "trajectory --json -n2 --unmarked ID"),
    ("logs ID --turn 2 --full", "trajectory ID --turn 2 --full --lines all --unmarked"),
    ("logs -f ID", "tail -n all ID"),
    ("logs ID -fn2 --json", "tail ID -n 2 --json"),
    ("logs --follow --lines 1 ID", "tail --lines 1 ID"),
    ("logs nope", "trajectory nope"),
    ("peek ID", "tail ID --once -n 5"),
    ("peek -n 1 --full ID", "tail -n 1 --full ID --once"),
    ("peek --json ID", "tail ID --once -n 5 --json"),
    ("messages ID", "trajectory ID --messages"),
    ("messages ID --all -n", "trajectory ID --messages --all --numbers"),
    ("messages ID --json --all", "trajectory ID --messages --json --all"),
    ("replay ID --speed 1e9 --turn 1", "trajectory ID --replay --speed 1e9 --turn 1"),
    ("replay ID --max-gap 0 --json", "trajectory ID --replay --max-gap 0 --json"),
    ("replay ID --speed 0", "trajectory ID --replay --speed 0"),
    ("table", "ls --table"),
    ("--read-only table", "--read-only ls --table"),
    ("plan", "usage plan"),
    ("plan --json", "usage plan --json"),
    ("prices gpt-5", "usage prices gpt-5"),
    ("prices --json nope", "usage prices --json nope"),
    ("reprice --all --dry-run --json", "usage reprice --all --dry-run --json"),
    ("presets", "config presets"),
    ("templates --json", "config templates --json"),
    ("keys", "config keys"),
    ("model ID odd name", "set ID name --model odd"),
    ("mode ID read-only", "set ID --mode read-only"),
    ("mode --json ID odd", "set ID --json --mode odd"),
    ("marks ID", "rewind ID --list"),
    ("marks --json ID", "rewind --json ID --list"),
    ("resume-command ID", "takeover ID --print"),
    ("resume-command nope --json", "takeover nope --print --json"),
    ("schema plan", "schema usage plan"),
    ("help peek", "help tail"),
)
"""Command lines with old names, and the new ones that do the same; ID is a session."""

AN_HOUR = 3_600_000


@pytest.fixture
def manager():
    with SessionManager() as made:
        yield made


@pytest.fixture
def session(manager, tmp_path, monkeypatch):
    """A session with two turns, the second of which was cut, beside a preset, a template and a plan."""
    (tmp_path / "config.toml").write_text('[presets.p]\nmodel = "m"\n[templates.t]\ntext = "a {title}"\n')
    monkeypatch.setenv("AGENTDASH_CONFIG", str(tmp_path / "config.toml"))
    window = PlanWindow(agent="claude", window="week", used_percent=71.0, resets_at=now_ms() + AN_HOUR)
    manager.store.plan_windows.note([window])
    events = (said("Hello."), ran("make test", 1, "2 failed", 1))
    found = record(manager, [("one", lines(*events)), ("two", lines(*events))])
    manager.conversation.rewind(found.id, 1, None)
    return found.id


def printed(words, session):
    done = verb(*(session if word == "ID" else word for word in words.split()))
    return done.returncode, done.stdout, done.stderr


def test_an_old_name_prints_what_its_new_words_print(session):
    for old, new in SAME:
        assert printed(old, session) == printed(new, session), old
    assert {name for name in NEW_WORDS if any(name in old.split() for old, _ in SAME)} == NEW_WORDS.keys()


def test_a_setting_that_is_changed_by_an_old_name_is_that_of_the_session(session, manager):
    assert printed("model ID gpt-5", session)[0] == 0
    assert printed("mode -- ID read-only", session)[0] == 0
    asked = [(one.what, one.value) for one in manager.reader.adjustments(session)]
    assert asked == [("model", "gpt-5"), ("mode", "read-only")]


def test_old_logs_mark_no_steps_that_were_cut(session):
    _, logged, _ = printed("logs --json ID", session)
    _, kept, _ = printed("trajectory --json --lines all ID", session)
    assert not [step for step in json.loads(logged) if "cut" in step]
    assert [step for step in json.loads(kept) if "cut" in step]


def test_no_old_name_is_a_command_that_is_listed():
    assert NEW_WORDS.keys() & {*cli.list_commands(click.Context(cli))} == set()
    for new, *_ in NEW_WORDS.values():
        assert cli.get_command(click.Context(cli), new) is not None
    for path in (ROOT / "docs" / "agentdash.1", *ROOT.glob("docs/guide/*.md"), *ROOT.glob("docs/reference/*.md")):
        text = path.read_text(encoding="utf-8").replace("\\-", "-")
        assert not [name for name in NEW_WORDS if f"agentdash {name} " in f"{text} "], path
