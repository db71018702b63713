"""Compactions of the agents themselves: what is written to them, and what their output proves."""

import json

import pytest
from unit.sessions.agents.codex.test_codex_dialogue import fed, note, opened, turn

from agentdash.sessions.agents.claude.adapter import Claude
from agentdash.sessions.agents.codex.adapter import Codex, CodexSettings
from agentdash.sessions.agents.dialogue import Delivery, Received, TurnBegan, TurnEnded
from agentdash.sessions.agents.planned import compaction_text, compaction_way, without_live
from agentdash.sessions.model.compaction import BY_AGENT, BY_SUMMARY, Compaction, summary_request
from agentdash.sessions.model.session import Status, StepKind
from agentdash.sessions.rules.compaction import judged
from agentdash.sessions.rules.launch import Launch, following, plan_like
from agentdash.sessions.rules.status import Verdict
from agentdash.sessions.rules.turn_facts import Compacted
from scripted.adapter import Scripted

CLAUDE, CODEX = Claude(), Codex()
LIVE, PLAIN = Launch(argv=("x",), transport="app-server"), Launch(argv=("x",))

# The lines of 2.1.197 and 2.1.330, with the fields that are read.
TALK = "0190f7a2-0000-7000-8000-000000000001"
STATUS = {"type": "system", "subtype": "status", "status": None, "session_id": TALK}
FAILED = STATUS | {"compact_result": "failed", "compact_error": "Not enough messages to compact."}
SUCCESS = STATUS | {"compact_result": "success"}
INIT = {"type": "system", "subtype": "init", "session_id": TALK, "model": "m", "cwd": "/p"}
SYNTHETIC = {
    "type": "assistant", "session_id": TALK,
    "message": {"model": "<synthetic>", "content": [{"type": "text", "text": "Not enough messages to compact."}]},
}  # fmt: skip
METADATA = {"trigger": "manual", "pre_tokens": 3229, "post_tokens": 660}
BOUNDARY = {"type": "system", "subtype": "compact_boundary", "session_id": TALK, "compact_metadata": METADATA}
SUMMARY = {"type": "user", "session_id": TALK, "message": {"role": "user", "content": "The summary: all of it."}}
RESULT = {
    "type": "result", "subtype": "success", "is_error": False, "num_turns": 0, "stop_reason": None, "session_id": TALK,
}  # fmt: skip


@pytest.fixture(params=["", "stream-json"])
def parser(request):
    return CLAUDE.parser(1, request.param)


def steps(parser, *lines):
    return [step for line in lines for step in parser.feed(json.dumps(line).encode())]


def test_claude_that_found_nothing_to_compact_says_so(parser):
    found = steps(parser, FAILED, INIT, SYNTHETIC, RESULT | {"result": "Not enough messages to compact."})
    assert (parser.facts.end, parser.facts.last_message) == ("completed", "Not enough messages to compact.")
    assert parser.facts.compacted is None
    assert [step.text for step in found if step.kind is StepKind.NOTICE] == [
        "compaction: failed: Not enough messages to compact."
    ]
    assert [step.text for step in found if step.kind is StepKind.MESSAGE] == ["Not enough messages to compact."]
    # The turn of the verb `compact` fails with these words; a prompt `/compact` was answered.
    good, asked = Verdict(Status.DONE, None, "rule"), Compaction(by=BY_AGENT)
    verdict, mark = judged(good, asked, parser.facts)
    assert (verdict.status, verdict.reason, mark) == (Status.FAILED, "Not enough messages to compact.", None)
    assert judged(good, None, parser.facts) == (good, None)


def test_a_compaction_that_an_error_ended_is_never_good(parser):
    why = "Error during compaction: API Error: 400 Invalid request."
    failed = STATUS | {"compact_result": "failed", "compact_error": why}
    steps(parser, failed, INIT, RESULT | {"result": why})
    assert (parser.facts.end, parser.facts.error) == ("failed", why)


def test_a_prompt_that_is_the_command_to_compact_has_a_mark(parser):
    steps(parser, SUCCESS, INIT, BOUNDARY, SUMMARY, RESULT)
    verdict, mark = judged(Verdict(Status.DONE, None, "rule"), None, parser.facts)
    assert verdict.status is Status.DONE
    assert (mark.by, mark.tokens_before, mark.tokens_after) == (BY_AGENT, 3229, 660)


def test_a_compaction_that_claude_began_by_itself_has_none(parser):
    automatic = BOUNDARY | {"compact_metadata": METADATA | {"trigger": "auto"}}
    steps(parser, automatic, INIT, RESULT | {"num_turns": 1, "stop_reason": "end_turn"})
    assert judged(Verdict(Status.DONE, None, "rule"), None, parser.facts)[1] is None


def test_claude_that_compacted_names_the_summary_and_the_tokens(parser):
    found = steps(parser, SUCCESS, INIT, BOUNDARY, SUMMARY, RESULT)
    summary = next(step for step in found if step.event == "compact_summary")
    assert summary.text == "The summary: all of it."
    assert parser.facts.compacted == Compacted(step=summary.index, tokens_before=3229, tokens_after=660, requested=True)
    assert (parser.facts.end, parser.facts.error, parser.facts.context_tokens) == ("completed", None, 660)
    assert "context compacted (manual, 3,229 tokens before, 660 after)" in [step.text for step in found]


@pytest.mark.parametrize(
    "odd", [{"compact_metadata": {"trigger": 7, "pre_tokens": "many"}}, {"compact_metadata": []}, {}]
)
def test_a_compaction_of_another_shape_is_still_one(parser, odd):
    boundary = {key: value for key, value in BOUNDARY.items() if key != "compact_metadata"} | odd
    steps(parser, SUCCESS, INIT, boundary, RESULT)
    assert parser.facts.compacted is not None and parser.facts.compacted.step is None
    assert parser.facts.end == "completed"


def test_a_cut_answer_after_a_compaction_by_claude_itself_is_no_good_end(parser):
    steps(parser, INIT, SUCCESS, BOUNDARY, SUMMARY, RESULT | {"num_turns": 2})
    assert (parser.facts.end, parser.facts.error) == ("failed", "the answer was cut off: no stop reason")


def test_a_live_codex_compacts_in_a_turn_of_its_own_and_the_item_is_the_receipt():
    spoken = opened()
    line = json.loads(spoken.compact("k", 1))
    assert line == {"id": "prompt:k:1", "method": "thread/compact/start", "params": {"threadId": "T"}}
    events = fed(spoken, {"id": "prompt:k:1", "result": {}}, turn("started"))
    assert events == [Received("k", Delivery.ACCEPTED), TurnBegan(None)]
    item = note("item/started", turnId="t", item={"type": "contextCompaction", "id": "i"})
    assert fed(spoken, item) == [Received("k", Delivery.SEEN)]
    assert fed(spoken, item | {"method": "item/completed"}, turn("completed")) == [TurnEnded()]
    assert spoken.arrived("k", 1)


def test_a_dialogue_that_did_not_ask_for_the_compaction_knows_it_by_its_answer():
    spoken = opened()
    fed(spoken, {"id": "prompt:k:1", "result": {}}, turn("started"))
    item = note("item/started", turnId="t", item={"type": "contextCompaction", "id": "i"})
    assert fed(spoken, item) == [Received("k", Delivery.SEEN)]


def test_a_compaction_that_codex_begins_by_itself_is_the_receipt_of_nothing():
    spoken = opened()
    item = note("item/started", turnId="t", item={"type": "contextCompaction", "id": "i"})
    assert fed(spoken, turn("started"), item) == [TurnBegan(None)]


def test_codex_reports_its_compaction_as_a_fact_and_that_of_a_sub_agent_not():
    parser = CODEX.parser(1, "app-server")
    item = note("item/completed", turnId="t", item={"type": "contextCompaction", "id": "i"})
    steps(parser, turn("started"), item | {"params": item["params"] | {"threadId": "other"}})
    assert parser.facts.compacted is None
    steps(parser, item)
    assert parser.facts.compacted == Compacted()


@pytest.mark.parametrize(
    ("agent", "launch", "asked", "resumes", "way"),
    [
        (CLAUDE, PLAIN, Compaction(words="w"), True, BY_AGENT),
        (CLAUDE, LIVE, Compaction(), True, BY_AGENT),
        (CLAUDE, LIVE, Compaction(by=BY_SUMMARY), True, BY_SUMMARY),
        (CLAUDE, LIVE, Compaction(), False, BY_SUMMARY),
        (CODEX, LIVE, Compaction(), True, BY_AGENT),
        (CODEX, LIVE, Compaction(words="w"), True, BY_SUMMARY),
        (CODEX, PLAIN, Compaction(), True, BY_SUMMARY),
        (Scripted(), LIVE, Compaction(), True, BY_SUMMARY),
    ],
)
def test_the_agents_own_means_compact_if_there_are_such(agent, launch, asked, resumes, way):
    assert compaction_way(agent, launch, asked, resumes=resumes) == way


def test_claude_is_sent_its_command_and_others_are_asked_for_a_summary():
    assert compaction_text(CLAUDE, Compaction(by=BY_AGENT, words="keep names")) == "/compact keep names"
    assert compaction_text(CLAUDE, Compaction(by=BY_SUMMARY)) == summary_request(Compaction())
    assert compaction_text(CODEX, Compaction(by=BY_AGENT)) == "/compact"


def test_a_codex_that_cannot_run_live_is_asked_for_a_summary_instead():
    launch = Launch(argv=("codex", "exec"), stdin="/compact", compacts=Compaction(by=BY_AGENT))
    fallen = without_live(CODEX, launch)
    assert (fallen.compacts, fallen.stdin) == (Compaction(by=BY_SUMMARY), summary_request(Compaction()))
    kept = without_live(CLAUDE, launch)
    assert (kept.compacts, kept.stdin) == (launch.compacts, "/compact")
    assert without_live(CODEX, PLAIN) == PLAIN


def test_another_turn_of_the_same_process_does_not_compact():
    launch = Launch(argv=("x",), compacts=Compaction(by=BY_AGENT))
    assert following(launch) == Launch(argv=("x",))
    assert plan_like(launch).terms.compacts is None
    assert CodexSettings().live
