"""What an agent prints chooses no option, path or setting of a later start, whatever its output says."""

import json

import msgspec
import pytest
from places import CAPTURES
from factories import no_prompts

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.launch import Start
from agentdash.sessions.lifecycle.starts.launch_plan import build_launch
from agentdash.sessions.manager import SessionManager
from agentdash.sessions.model import Status
from agentdash.sessions.prompts.prompter import PromptOptions
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.settings.config import Config
from agentdash.sessions.storage.turns.claim import Outcome, Owner
from agentdash.sessions.storage.turns.turn_log import TurnLog
from agentdash.sessions.supervision.queue.next_turn import builder

MARK = "chosen-by-the-stream"
TALK = "0190f7a2-0000-7000-8000-000000000001"
OWNER = Owner(pid=1, start=1, boot_id="b", pid_ns="n")
KEPT = {"type", "subtype", "method", "role", "jsonrpc", "status", "behavior", "request_id"}
"""The fields that say what an event is."""
IDS = {"session_id", "thread_id", "threadId", "sessionId"}
STREAMS = {
    ("claude", False): "claude-330-allowed.jsonl",
    ("claude", True): "claude-live-steered.jsonl",
    ("codex", False): "codex-work.jsonl",
    ("codex", True): "app-server/steer.jsonl",
}


def marked(value, name=""):
    """The value with all its texts replaced, but for those that say what it is, and the conversation."""
    if isinstance(value, dict):
        is_thread = name == "thread"
        return {key: TALK if is_thread and key == "id" else marked(one, key) for key, one in value.items()}
    if isinstance(value, list):
        return [marked(one) for one in value]
    if name in IDS:
        return TALK
    return value if name in KEPT or not isinstance(value, str) else MARK


def facts_of(agent, transport, path):
    """The facts of a captured stream whose texts are replaced."""
    parser = agent_named(agent).parser(1, transport)
    for line in path.read_bytes().splitlines():
        parser.feed(json.dumps(marked(json.loads(line))).encode())
    return parser.facts


@pytest.fixture
def manager(isolated):
    with SessionManager() as manager:
        yield manager


def played(manager, agent, live, facts):
    """A session whose only turn ended with these facts."""
    start = Start("begin", agent=agent, cwd="/usr", session_id=TALK, options={"live": live})
    manager.layout.session(TALK).create()
    launch = build_launch(Config(), start, home=manager.layout.home)
    manager.store.create(start, launch, "run-1", host=__import__("os").uname().nodename)
    log = TurnLog(manager.store, TALK, 1, OWNER)
    log.claim()
    done = Outcome(status=Status.DONE, reason=None, exit_code=0)
    log.end(facts, done, 1, no_prompts)
    return manager.reader.get(TALK)
