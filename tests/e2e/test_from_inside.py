"""From inside a session no verb changes another session, the settings, the prices or the trust, however it hides."""

import json
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest
from recorded_sessions import lines, record, said

from agentdash.sessions.model.errors import AgentdashError
from agentdash.sessions.runner.caller import CLAUDE_SESSION
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.service.lifecycle.stop_family import NOW
from agentdash.tui.cli.verb_group import VerbGroup

SCRIPT = Path(__file__).with_name("from_inside.py")

VERBS = {
    "answer": ["answer S yes"], "approve": ["approve S"], "archive": ["archive S"], "asks": ["asks"],
    "budget": ["budget S --tokens 1", "budget --day-tokens 1M"], "changes": ["changes S"],
    "clean": ["clean --older-than 0s"], "compact": ["compact S"], "completion": ["completion bash"],
    "config": ["config init", "config edit", "config show", "config check", "config presets", "config templates",
               "config keys"],
    "continue": ["continue S go"], "demo": ["demo"], "deny": ["deny S"], "digest": ["digest S"],
    "doctor": ["doctor --rebuild"], "events": ["events"], "explain": ["explain S"], "export": ["export S"],
    "fork": ["fork S go"], "inject": ["inject S more"], "interrupt": ["interrupt S"],
    "ls": ["ls", "ls --table"], "mark": ["mark S", "mark --unread S"], "mcp": ["mcp --config json"],
    "notify": ["notify"], "output": ["output S"], "pin": ["pin S"], "prompts": ["prompts"], "ps": ["ps S"],
    "queue": ["queue S hold", "queue S release", "queue S edit 1 other", "queue S cancel 1", "queue S send 1"],
    "rename": ["rename S other"], "restore": ["restore S", "restore @last"], "retry": ["retry S"],
    "rewind": ["rewind S 1", "rewind S --undo", "rewind S --list"], "rm": ["rm S"],
    "run": ["run -- true"], "schema": ["schema ls"],
    "set": ["set S --mode read-only", "set S --model gpt-5", "mode S read-only", "model S gpt-5"],
    "show": ["show S"], "skill": ["skill"], "spawn": ["spawn go", "spawn -C / go"], "start": ["start S"],
    "status": ["status"], "stop": ["stop S", "stop --now S"], "tail": ["tail S", "tail S --once"],
    "takeover": ["takeover S", "takeover S --print"],
    "trajectory": ["trajectory S", "trajectory S --messages", "trajectory S --replay --speed 1000"],
    "trust": ["trust --yes PROJECT", "trust --forget PROJECT"],
    "usage": ["usage", "usage plan", "usage prices --import PRICES", "usage reprice --all", "prices --import PRICES",
              "reprice --all"], "view": ["view PRICES"],
    "wait": ["wait S"], "watch": ["watch S"],
}  # fmt: skip
"""A command line of each verb, and several of one that changes several things; S is a session of another family."""

NEEDS_THE_USER = ("config init", "config edit", "doctor --rebuild", "notify", "usage prices --import PRICES",
                  "usage reprice --all", "prices --import PRICES", "reprice --all",
                  "budget --day-tokens 1M", "trust --yes PROJECT", "clean --older-than 0s")  # fmt: skip
TAGS = {processes.SESSION_TAG: None, processes.RUN_TAG: None}


def ways(lead, stranger):
    """The ways in which a command hides that it comes from inside a session."""
    hook = {processes.HOOK_TAG: "done", "AGENTDASH_SESSION": stranger.id}
    runner = {processes.RUNNER_MARK: f"/elsewhere/sessions/{stranger.id}/runner.lock"}
    evil = {"AGENTDASH_CONFIG": "evil.toml", "AGENTDASH_PROFILE": None}
    return {
        "as it is": ({}, False),
        "without a tag": (TAGS, False),
        "with the tag of another session": ({processes.SESSION_TAG: stranger.id}, False),
        "with the tag of its lead": ({processes.SESSION_TAG: lead.id}, False),
        "with the tag of no session": ({processes.SESSION_TAG: str(uuid.uuid4())}, False),
        "as a hook": (TAGS | hook, False),
        "as a runner": (TAGS | runner, False),
        "with other settings": (evil, False),
        "with the conversation of another session": ({CLAUDE_SESSION: "talk"} | TAGS, False),
        "after two forks": (TAGS | hook | evil, True),
    }


@pytest.fixture
def world(manager, tmp_path, monkeypatch):
    """A lead, its worker inside of which commands run, and a stranger with a queue, a price file and a project."""
    monkeypatch.setenv("EDITOR", "touch edited;:")
    manager.reader.settings.path.write_text('[budgets]\nday_tokens = 100000000\n[agents.codex]\nbin = "true"\n')
    (tmp_path / "evil.toml").write_text(
        '[orchestration]\nreach = "all"\nmode = "full"\nallowed_dirs = ["*"]\n[queue]\nmax_running = 77\n'
    )
    project = tmp_path / "project"
    project.mkdir()
    (project / ".agentdash.toml").write_text("[limits]\ntokens = 5\n")
    prices = {"openai": {"models": {"gpt-5": {"cost": {"input": 0.0, "output": 0.0}}}}}
    (tmp_path / "prices-of-the-agent.json").write_text(json.dumps(prices))
    manager.housekeeping.settle()
    lead = record(manager, [("lead", lines(said("x")))])
    stranger = record(manager, [("a", lines(said("one"))), ("b", lines(said("two")))], agent_session=str(uuid.uuid4()))
    manager.queue.hold(stranger.id)
    manager.prompts.inject(stranger.id, "next")
    return manager, lead, stranger, tmp_path


def state(manager, stranger, folder):
    """Everything that no agent may change: the stranger's rows, the stored settings, and the user's files."""
    own = {"turns": "session", "prompts": "session", "queue": "session", "marks": "session", "requests": "session",
           "adjustments": "session", "asks": "session", "sessions": "id"}  # fmt: skip

    def read(query, *values):
        rows = (dict(row) for row in manager.store.database.rows(query, values))
        return [{name: value for name, value in row.items() if name not in ("seq", "urgency_seq")} for row in rows]

    rows = {table: read(f"SELECT * FROM {table} WHERE {key} = ?", stranger.id) for table, key in own.items()}
    rows |= {table: read(f"SELECT * FROM {table}") for table in ("settings", "budgets", "budget_raises")}
    kept = [manager.reader.settings.path, folder / "prices.json", folder / "edited", manager.layout.home / "trust"]
    files = {str(one): one.read_bytes() if one.is_file() else one.exists() for one in kept}
    deleted = [one.id for one in manager.reader.deleted()]
    return {**rows, **files, "deleted": deleted}


def changes(before, after):
    """The rows and the files that differ; of rows, the columns."""
    found: dict[str, Any] = {}
    for name in before:
        if before[name] != after[name]:
            found[name] = before[name], after[name]
            if isinstance(before[name], list) and len(before[name]) == len(after[name]):
                pairs = zip(before[name], after[name], strict=True)
                found[name] = [{k: (a[k], b[k]) for k in a if a[k] != b[k]} for a, b in pairs if a != b]
    return found


def from_inside(manager, tmp_path, wait_until, commands):
    """Run command lines inside one new session; return the exit code and stderr of each."""
    spec, answers = tmp_path / "spec.json", tmp_path / "answers.json"
    answers.unlink(missing_ok=True)
    spec.write_text(json.dumps(commands))
    session = manager.run([sys.executable, "-P", str(SCRIPT), str(spec), str(answers)])
    try:
        wait_until(lambda: answers.exists() or manager.reader.by_id(session.id).status.ended, timeout=240,
                   what="the answers")  # fmt: skip
        return [(code, err) for code, err in json.loads(answers.read_text())]
    finally:
        try:
            manager.stop(session.id, NOW)
        except AgentdashError:
            pass


def words_of(text, stranger, folder):
    names = {"S": stranger.id, "PRICES": str(folder / "prices-of-the-agent.json"), "PROJECT": str(folder / "project")}
    return [names.get(word, word) for word in text.split()]


def test_all_verbs_are_walked():
    assert sorted(VERBS) == VerbGroup().list_commands(None)  # type: ignore[arg-type]


@pytest.mark.timeout(300)
def test_no_verb_changes_what_is_not_the_sessions_own(world, wait_until):
    manager, lead, stranger, folder = world
    before = state(manager, stranger, folder)
    hiding = ways(lead, stranger)
    texts = [text for listed in VERBS.values() for text in listed]
    asked = [(text, way) for text in texts for way in ("as it is", "after two forks")]
    commands = [
        {"words": words_of(text, stranger, folder), "env": hiding[way][0], "away": hiding[way][1]}
        for text, way in asked
    ]
    answers = from_inside(manager, folder, wait_until, commands)
    assert changes(before, state(manager, stranger, folder)) == {}
    said_by = dict(zip(asked, answers, strict=True))
    assert not [one for one in said_by.items() if "Traceback" in one[1][1] or "Unexpected" in one[1][1]]
    for text in NEEDS_THE_USER:
        for way in ("as it is", "after two forks"):
            code, err = said_by[text, way]
            assert code in (1, 2), (text, way)
            assert "user" in err or "An agent cannot" in err, (text, way, err)


@pytest.mark.timeout(300)
def test_no_way_of_hiding_reaches_another_session(world, wait_until):
    manager, lead, stranger, folder = world
    before = state(manager, stranger, folder)
    acts = ["stop S", "inject S more", "rm S", "rename S other", "ls", "prices --import PRICES", "spawn -C / go"]
    asked = [(text, way) for way in ways(lead, stranger) for text in acts]
    commands = [
        {"words": words_of(text, stranger, folder), "env": env, "away": away}
        for text, way in asked
        for env, away in [ways(lead, stranger)[way]]
    ]
    answers = from_inside(manager, folder, wait_until, commands)
    assert changes(before, state(manager, stranger, folder)) == {}
    for (text, way), (code, err) in zip(asked, answers, strict=True):
        if text != "ls":
            assert (code in (1, 2), "Ask the user" in err or "ask the user" in err) == (True, True), (text, way, err)
