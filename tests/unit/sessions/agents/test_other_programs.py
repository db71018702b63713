"""Prompts that reach live agents past agentdash, in the real output of claude and codex.

``claude-330-peer`` and ``codex-171-queue`` have a prompt of another program behind an own one, and claude holds that of
``claude-332-held-delivered`` and ``claude-330-held``.
"""

import json
from typing import Any

import factories
import pytest
from factories import T0
from places import CAPTURES

from agentdash.sessions.agents.base import LaunchRequest
from agentdash.sessions.agents.claude.adapter import ClaudeSettings
from agentdash.sessions.agents.claude.live.dialogue import ClaudeDialogue
from agentdash.sessions.agents.dialogue import Asked, Settled, TurnEnded
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.session import Status, Step, StepKind
from agentdash.sessions.rules.asks.model import Answer, Verdict
from agentdash.sessions.rules.attention import AttentionKind, kind_of_need
from agentdash.sessions.rules.json_schema import step_json
from agentdash.sessions.rules.notifications.events import event_between
from agentdash.sessions.transcript.visible.retelling import Record

TRANSPORTS = {"claude": "stream-json", "codex": "app-server"}


def lines(name: str) -> list[bytes]:
    return (CAPTURES / "peer" / f"{name}.jsonl").read_bytes().splitlines()


def second_turn(name: str) -> list[Step]:
    """The steps of the turn behind the first end."""
    ends = [n for n, line in enumerate(lines(name)) if b'"turn/completed"' in line or b'"duration_api_ms"' in line]
    agent = name.partition("-")[0]
    parser = agent_named(agent).parser(2, TRANSPORTS[agent])
    steps = [step for line in lines(name)[ends[0] + 1 : ends[1] + 1] for step in parser.feed(line)]
    return list({step.index: step for step in steps}.values())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("claude-330-peer", "PEER please do this"),
        ("claude-332-held-delivered", "PEER please do this\nand that"),
        ("codex-171-queue", "PEER do this"),
    ],
)
def test_a_turn_of_another_program_shows_its_prompt_and_its_author(name: str, text: str) -> None:
    prompts = [step for step in second_turn(name) if step.kind is StepKind.PROMPT]
    assert [(step.text, step.sender) for step in prompts] == [(text, "another program")]
    assert json.loads(json.dumps(step_json(prompts[0])))["from"] == "another program"
    record = Record()
    record.add(prompts[0])
    assert "ANOTHER PROGRAM" in "".join(record.lines())
    assert "USER" not in "".join(record.lines())


@pytest.mark.parametrize("name", ["claude-330-peer", "codex-171-queue"])
def test_the_own_prompt_of_a_turn_has_no_other_author(name: str) -> None:
    agent = name.partition("-")[0]
    parser = agent_named(agent).parser(1, TRANSPORTS[agent])
    steps: list[Step] = []
    for line in lines(name):
        steps += parser.feed(line)
        if parser.facts.end:
            break
    assert [step for step in steps if step.kind is StepKind.PROMPT] == []


def told(name: str) -> tuple[ClaudeDialogue, list[Any]]:
    """The dialogue behind a stream, and the events of its asks."""
    dialogue, found = ClaudeDialogue(), []
    for line in lines(name):
        found += [event for event in dialogue.feed(line) if isinstance(event, Asked | Settled | TurnEnded)]
    return dialogue, found


def test_a_held_message_is_an_ask_with_its_words_until_it_is_delivered() -> None:
    _, events = told("claude-332-held-delivered")
    asks = [event.ask for event in events if isinstance(event, Asked)]
    assert [(ask.title, ask.body) for ask in asks] == [
        ("read a message from another program", "PEER please do this\nand that")
    ]
    assert asks[0].verdicts == (Verdict.ALLOW, Verdict.DENY)
    assert Settled(asks[0].key, True) in events


HELD = next(line for line in lines("claude-332-held-delivered") if b'"state":"held"' in line and b"preview" in line)


@pytest.mark.parametrize(("verdict", "how"), [(Verdict.ALLOW, "deliver"), (Verdict.DENY, "drop")])
def test_the_answer_delivers_or_drops_it(verdict: Verdict, how: str) -> None:
    dialogue = ClaudeDialogue()
    (asked,) = dialogue.feed(HELD)
    assert isinstance(asked, Asked)
    assert dialogue.feed(HELD) == []  # claude announces it again
    line = dialogue.answer(asked.ask.key, Answer(verdict=verdict))
    request = json.loads(line or b"")["request"]
    hold = json.loads(HELD)["hold_id"]
    assert request == {"subtype": "decide_held_peer_message", "hold_id": hold, "decision": how}
    assert dialogue.answer(asked.ask.key, Answer(verdict=Verdict.ALWAYS)) is None


def test_a_message_of_which_a_part_is_not_shown_can_only_be_dropped() -> None:
    held = json.loads(HELD)
    held["preview"]["is_whole"] = False
    (asked,) = ClaudeDialogue().feed(json.dumps(held).encode())
    assert isinstance(asked, Asked)
    assert asked.ask.verdicts == (Verdict.DENY,)
    assert "more than the shown text" in asked.ask.why


def test_a_version_that_takes_no_decision_is_said_to_hold_it() -> None:
    _, events = told("claude-330-held")
    (ask,) = [event.ask for event in events if isinstance(event, Asked)]
    assert (ask.verdicts, "takes no decision" in ask.why) == ((Verdict.DENY,), True)


def test_claude_is_asked_once_to_show_held_messages_and_its_answer_is_no_step() -> None:
    dialogue = ClaudeDialogue()
    (line,) = dialogue.opening()
    assert json.loads(line)["request"] == {"subtype": "set_peer_delivery", "shows_held_messages": True}
    assert dialogue.opening() == []
    for name in ("claude-330-held", "claude-332-held-delivered"):
        adopted, _ = told(name)
        assert adopted.opening() == []
    parser = agent_named("claude").parser(1, "stream-json")
    steps = [step for line in lines("claude-330-held") for step in parser.feed(line)]
    assert [step.text for step in steps if "set_peer_delivery" in step.text] == []


def test_a_live_agent_that_asks_between_turns_needs_the_user() -> None:
    done = factories.session(status=Status.DONE, ended_at=T0, seen_at=T0 + 1, asking=0)
    asks = factories.session(status=Status.DONE, ended_at=T0, seen_at=T0 + 1, asking=1)
    assert (kind_of_need(done, T0), kind_of_need(asks, T0)) == (None, AttentionKind.WAITING)
    assert event_between(done, asks) == "waiting"


@pytest.mark.parametrize("live", [True, False])
def test_only_a_worker_starts_with_what_refuses_other_programs(live: bool) -> None:
    def argv(*, led: bool, args: tuple[str, ...] = ()) -> tuple[str, ...]:
        settings = ClaudeSettings(live=live, args=args)
        request = LaunchRequest(prompt="x", cwd="/", session_id="s", settings=settings, led=led)
        return agent_named("claude").command(request).argv

    refusing = ("--settings", '{"crossSessionInbound":"refuse"}')
    assert " ".join(refusing) in " ".join(argv(led=True))
    assert "--settings" not in argv(led=False)
    assert argv(led=True, args=("--settings", "own.json")).count("--settings") == 1
