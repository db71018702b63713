"""What an agent prints chooses no option, path or setting of a later start, whatever its output says."""

import json

import msgspec
import pytest
from factories import no_prompts
from msgspec import structs
from places import CAPTURES

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.runner.queue.next_turn import builder
from agentdash.sessions.service.lifecycle.starts.launch_plan import build_launch
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.service.prompts.prompter import PromptOptions
from agentdash.sessions.settings.config import Config
from agentdash.sessions.storage.prompts.queued_prompt import QueuedPrompt
from agentdash.sessions.storage.turns.claim import Outcome, Owner
from agentdash.sessions.storage.turns.turn_log import TurnLog

MARK = "chosen-by-the-stream"
TALK = "0190f7a2-0000-7000-8000-000000000001"
OWNER = Owner(pid=1, start=1, boot_id="b", pid_ns="n")
KEPT = {"type", "subtype", "method", "role", "jsonrpc", "status", "behavior", "request_id"}
"""The fields that tell what an event is."""
IDS = {"session_id", "thread_id", "threadId", "sessionId"}
LIVE = {"live": "stream-json", "app-server": "app-server"}
"""The transport of the captures in a folder."""
STREAMS = [
    path
    for folder in (CAPTURES, *(CAPTURES / name for name in LIVE))
    for path in sorted(folder.glob("*.jsonl"))
    if path.name.startswith(("claude-", "codex-")) and ".in." not in path.name
]


def marked(value, name=""):
    """The value with all its texts replaced, but for those that tell what it is, and the conversation."""
    if isinstance(value, dict):
        return {
            key: TALK if (name, key) == ("thread", "id") else marked(one, key) for key, one in value.items()
        }  # fmt: skip
    if isinstance(value, list):
        return [marked(one) for one in value]
    if name in IDS:
        return TALK
    return value if name in KEPT or not isinstance(value, str) else MARK


def facts_of(agent, transport, path):
    """The facts of a captured stream whose texts are replaced."""
    parser = agent_named(agent).parser(1, transport)
    for line in path.read_bytes().splitlines():
        parser.feed(json.dumps(marked(msgspec.json.decode(line))).encode())
    return structs.replace(parser.facts, agent_session=TALK)


def chosen(launch):
    """Everything of a start but the prompt, as text."""
    return msgspec.json.encode(structs.replace(launch, stdin=None)).decode()


def test_no_text_of_a_stream_is_in_a_later_start():
    with SessionManager() as manager:
        for number, path in enumerate(STREAMS):
            agent, transport = path.name.partition("-")[0], LIVE.get(path.parent.name, "")
            talk = f"{TALK[:-3]}{number:03}"
            facts = structs.replace(facts_of(agent, transport, path), agent_session=talk)
            start = Start("begin", agent=agent, cwd="/usr", session_id=talk, options={"live": bool(transport)})
            manager.layout.session(talk).create()
            launch = build_launch(Config(), start)
            manager.store.create(start, launch, "run-1", host=processes.host_name())
            log = TurnLog(manager.store, talk, 1, OWNER)
            log.claim()
            log.end(facts, Outcome(status=Status.DONE, reason=None, exit_code=0), 1, no_prompts)
            session = manager.reader.get(talk)
            plan = manager.prompts.plan(session, "more", PromptOptions())
            prompt = QueuedPrompt(
                id=1, session=talk, key="k", text="more", state="queued", created_at=0, changed_at=0,
                recorded_plan=msgspec.Raw(msgspec.json.encode(plan)),
            )  # fmt: skip
            later = builder(manager.layout, manager.store)(prompt, 2, manager.store.recorded(talk))
            interface = manager.reader.resume_command(talk)
            talks = agent_named(agent).dialogue(later.transport) is not None
            assert talk in chosen(later) or talks, path.name
            assert MARK not in chosen(later), path.name
            assert MARK not in msgspec.json.encode(interface).decode(), path.name


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_the_streams_name_a_model(agent):
    named = [
        facts_of(agent, LIVE.get(path.parent.name, ""), path).model for path in STREAMS if path.name.startswith(agent)
    ]
    assert MARK in named
