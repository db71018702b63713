"""The output of every verb with --json fits its schema."""

import json

import click
import jsonschema
import pytest
from places import ROOT
from recorded_sessions import lines, ran, record, said
from verbs import verb

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.plan_windows import PlanWindow
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.json_schema import dump
from agentdash.sessions.storage.turns.takeovers import ByHand
from agentdash.tui.cli.main import cli
from agentdash.tui.cli.schemas.verbs import LINES, NAMES, VERBS

FOLDER = ROOT / "docs" / "schema"
PATCH = {
    "type": "item.completed",
    "item": {
        "id": "p", "type": "file_change", "status": "completed", "changes": [{"path": "/tmp/a.py", "kind": "update"}],
    },
}  # fmt: skip
PLAN = {"type": "item.completed", "item": {"id": "t", "type": "todo_list", "items": [{"text": "x", "completed": True}]}}
CALL = {"id": "m", "type": "mcp_tool_call", "server": "s", "tool": "t", "arguments": {"a": 1}, "status": "completed"}
TOOL = {"type": "item.completed", "item": CALL}
THREAD = "0190f7a2-0000-7000-8000-000000000001"
EVENTS = (
    {"type": "thread.started", "thread_id": THREAD}, said("Hello."), ran("make test", 1, "2 failed", 1), PATCH,
    PLAN, TOOL, {"type": "odd.event"},
    {"type": "item.completed", "item": {"id": "r", "type": "reasoning", "text": "Hm."}},
)  # fmt: skip


def verbs(group=cli, before=""):
    """All verbs of the command line with their commands."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from verbs(command, f"{before}{name} ")
        yield before + name, command


def schema_of(name):
    printed = verb("schema", *name.split())
    assert printed.returncode == 0, printed.stderr
    return json.loads(printed.stdout)


class Checked:
    """Runs verbs with --json and compares each output with its schema."""

    def __init__(self):
        self.verbs = set()

    def __call__(self, name, *words, lines=False, code=0):
        printed = verb(*name.split(), "--json", *words)
        assert printed.returncode == code, (name, printed.stderr)
        assert printed.stdout, name
        values = list(map(json.loads, printed.stdout.splitlines() if lines else [printed.stdout]))
        schema = schema_of(name)
        for value in values:
            jsonschema.Draft202012Validator(schema).validate(value)
        self.verbs.add(name)
        return values if lines else values[0]


@pytest.fixture
def checked():
    return Checked()


@pytest.mark.parametrize("name", sorted(NAMES))
def test_each_schema_is_valid_and_refuses_what_is_not_documented(name):
    schema = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema_of(name)["$id"].startswith("agentdash:")
    if name != "any":
        for wrong in ({}, {"odd": 1}, [], "text"):
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.Draft202012Validator(schema).validate(wrong)


def test_every_verb_that_prints_json_has_a_schema():
    printing = {name for name, command in verbs() if any(one.name == "as_json" for one in command.params)}
    assert printing == VERBS.keys()
    assert {name.removesuffix("[]") for names in VERBS.values() for name in names} <= NAMES.keys()
    assert set(NAMES) == {name.removesuffix("[]") for names in VERBS.values() for name in names} | {"failure"}


def test_unknown_names_and_both_forms_at_once_are_refused():
    assert (verb("schema", "nope").returncode, verb("schema", "ls", "--all").returncode) == (2, 2)
    everything = json.loads(verb("schema", "--all").stdout)
    assert everything.keys() == NAMES.keys()
    assert "ls" in verb("schema").stdout


READING = (
    ("ls",), ("ls", "--tree"), ("ls", "--family", "ID"), ("budget", "ID"), ("budget",), ("usage plan",),
    ("show", "ID"), ("trajectory", "ID"), ("trajectory", "ID", "--messages"), ("trajectory", "ID", "--lines", "2"),
    ("output", "ID"), ("explain", "ID"),
    ("digest", "ID"), ("changes", "ID"), ("changes", "ID", "--diff"), ("ps", "ID"), ("wait", "ID"), ("tail", "ID"),
    ("tail", "ID", "--once"), ("rewind", "ID", "--list"), ("asks",), ("queue", "ID"), ("prompts",),
    ("takeover", "ID", "--print"), ("status",), ("events",), ("config keys",), ("config templates",),
    ("config presets",), ("schema",),
    ("config list",), ("config path",), ("config show",), ("config check",), ("config get", "queue.max_running"),
    ("trust", "--list"), ("restore",), ("export", "ID", "-o", "out.json"), ("stop", "ID"),
    ("usage",), ("usage", "--by", "session"),
    ("usage prices", "gpt-5"), ("usage reprice",), ("usage reprice", "--all", "--dry-run", "--since", "7d"),
    ("rename", "ID", "x"), ("set", "ID", "--model", "m", "--mode", "read-only"), ("pin", "ID"), ("mark", "ID"),
    ("archive", "ID"), ("restore", "ID"), ("clean", "--dry-run"),
    ("rewind", "ID", "1", "--dry-run"), ("rewind", "ID", "1"), ("trajectory", "ID", "--replay", "--speed", "1000"),
    ("rm", "ID", "-y"),
)  # fmt: skip
"""Verbs that start nothing, with their arguments."""

ACTING = (
    "run", "spawn", "inject", "retry", "interrupt", "queue", "set", "compact", "fork", "continue", "start",
    "approve", "deny", "answer", "doctor", "config init", "trust", "view", "notify",
)  # fmt: skip


def test_all_verbs_are_run_by_these_tests():
    assert {words[0] for words in READING} | set(ACTING) == VERBS.keys()


def test_the_output_of_verbs_that_read_and_keep(manager, checked, monkeypatch, tmp_path):
    options = {"turns": [("one", lines(*EVENTS)), ("two", lines(*EVENTS))], "agent_session": THREAD}
    session = record(manager, **options)
    record(manager, **options, last=Status.FAILED, reason="exit 1")
    (tmp_path / "config.toml").write_text('[presets.p]\nmodel = "m"\n[templates.t]\ntext = "a {title}"\n')
    monkeypatch.setenv("AGENTDASH_CONFIG", str(tmp_path / "config.toml"))
    window = PlanWindow(agent="claude", window="week", used_percent=71.0, resets_at=now_ms() + 3_600_000)
    manager.store.plan_windows.note([window])
    for name, *words in READING:
        in_lines = name in LINES and (name != "trajectory" or "--replay" in words)
        given = [session.id if word == "ID" else word for word in words]
        code = 1 if name == "notify" else 0
        checked(name, *given, lines=in_lines, code=code)
    assert {words[0] for words in READING} == checked.verbs


@pytest.mark.usefixtures("scripted_agent")
def test_the_output_of_verbs_that_start_sessions(manager, at, checked, tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTDASH_CONFIG", str(tmp_path / "config.toml"))
    checked("config init")
    checked("doctor", code=verb("doctor").returncode)
    checked("doctor", "--rebuild", code=verb("doctor").returncode)
    command = checked("run", "--wait", "--", "false", code=1)["id"]
    checked("retry", command, "--wait", code=1)
    checked("spawn", "--agent", "scripted", "--dry-run", "go")
    ended = checked("spawn", "--agent", "scripted", "go [[script:quick]]", "--wait")["id"]
    checked("fork", ended, "--dry-run")
    checked("fork", ended, "go [[script:quick]]", "--wait")
    checked("continue", ended, "--agent", "scripted", "--dry-run", "go")
    checked("continue", ended, "--agent", "scripted", "go [[script:quick]]", "--wait")
    checked("compact", ended)
    running = manager.reader.get(checked("spawn", "--agent", "scripted", "go [[script:silent]]")["id"])
    waiting = checked("spawn", "--agent", "scripted", "--after", running.id, "later")["id"]
    checked("start", waiting)
    at(running, 1, Status.RUNNING)
    checked("inject", running.id, "and more")
    checked("inject", running.id, ended, "to both")
    checked("queue", running.id)
    checked("queue", running.id, "cancel", "1")
    checked("queue", running.id, "hold")
    checked("set", running.id, "--model", "scripted-2")
    checked("interrupt", running.id)
    checked.verbs |= {"approve", "deny", "answer", "trust", "view", "notify"}
    assert set(ACTING) == checked.verbs


@pytest.mark.usefixtures("scripted_agent")
@pytest.mark.parametrize(("script", "words"), [
    ("ask", ("approve", "ID")), ("ask", ("deny", "ID")), ("question", ("answer", "ID", "*ANSWERS")),
])  # fmt: skip
def test_the_output_of_answers(manager, at, checked, script, words):
    session = checked("spawn", "--agent", "scripted", "--set", "live=true", f"go [[script:{script}]]")
    at(manager.reader.get(session["id"]), 1, Status.WAITING)
    [ask] = checked("asks")
    checked("ls")
    given = [f"{q['key']}={q['choices'][0]['label'] if q['choices'] else 'x'}" for q in ask["questions"]]
    name, *rest = words
    checked(name, session["id"], str(ask["id"]), *(given if "*ANSWERS" in rest else ()))


def test_the_output_of_files_and_settings(checked, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "turn.jsonl").write_bytes(lines(*EVENTS))
    checked("view", "turn.jsonl", code=1)  # a line of it is unknown
    (tmp_path / ".agentdash.toml").write_text('[agents.codex]\nmodel = "gpt-5.5"\n')
    checked("trust", code=1)
    checked("trust", "--yes")
    checked("trust", "--list")
    checked("trust", "--forget", str(tmp_path))


def test_the_output_that_needs_a_terminal_or_another_program(checked):
    validator = jsonschema.Draft202012Validator(schema_of("takeover"))
    validator.validate(json.loads(dump(ByHand(session="s", turn=2, prompts=1, seconds=1.5))))
    for way in (None, {"kind": "osc9", "why": "TERM", "tmux": False, "bell": True}):
        jsonschema.Draft202012Validator(schema_of("notify")).validate({"sent": way is not None, "way": way})


def test_the_text_of_an_error_fits_its_schema(capsys):
    printed = verb("show", "--json", "nope")
    assert printed.returncode == 1
    jsonschema.Draft202012Validator(schema_of("failure")).validate(json.loads(printed.stderr)["error"])
