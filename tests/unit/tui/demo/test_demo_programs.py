"""The demo's codex and claude: the real parsers read what they print, and the real dialogues answer what they ask."""

import json
import subprocess

import pytest

from agentdash.sessions.agents.dialogue import Asked, Changed, Received, Settled
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.rules.asks.model import Answer, AskKind, Verdict
from agentdash.sessions.rules.launch import Fork
from agentdash.tui.demo.claude import Claude
from agentdash.tui.demo.codex import Codex
from agentdash.tui.demo.start import SESSIONS

FIX = "Fix the flaky login test and add a regression test"
ASK = "Find out why the build fails, and make it pass"
SPLIT = "Split the settings module without changing what it does"
SET_UP = "Set up the service for the invoices"
INTERRUPTED = {"codex": "the turn was interrupted", "claude": "error during execution (aborted streaming)"}
LONG = "Split the monolith into services, step by step"


def test_both_programs_print_the_same_parts_of_a_script():
    assert Codex.shows.keys() == Claude.shows.keys()


@pytest.mark.parametrize("agent", ["codex", "claude"])
@pytest.mark.parametrize("is_live", [True, False])
def test_a_good_turn_has_its_commands_files_plan_and_use(one_turn, live, agent, is_live):
    played = live(agent).turn(FIX) if is_live else one_turn(agent, FIX).played
    kinds = {kind: played.kinds().count(kind) for kind in played.kinds()}
    assert (kinds["command"], kinds["file_change"], kinds["message"], kinds["reasoning"]) == (3, 2, 1, 2)
    assert (kinds["plan"] >= 1, kinds["tool_call"], "unknown" in kinds) == (True, 1, False)
    commands = [step for step in played.steps if step.kind == "command"]
    assert [(step.exit_code, str(step.status)) for step in commands] == [(0, "ok"), (1, "failed"), (0, "ok")]
    assert "1 failed, 17 passed in 0.92s" in commands[1].output
    assert [item.status for item in [step for step in played.steps if step.kind == "plan"][-1].items] == [
        "completed"
    ] * 3
    assert (played.facts.end, played.facts.error) == ("completed", None)
    assert played.facts.last_message.endswith("All 19 tests pass.")
    used = played.facts.usage if played.facts.usage.known else played.facts.thread_usage
    assert used.input_tokens > used.cached_input_tokens > used.output_tokens > 0


@pytest.mark.parametrize("agent", ["codex", "claude"])
def test_a_live_agent_shows_the_diffs_of_its_files(demo, live, agent):
    changes = [step.changes[0] for step in live(agent).turn("[[demo:quick]]").steps if step.kind == "file_change"]
    assert [change.kind for change in changes] == ["add", "update"]
    assert '-    assert client.get("/").status == 200' in changes[1].diff
    assert "+    assert response.status == 200" in changes[1].diff


@pytest.mark.parametrize("agent", ["codex", "claude"])
@pytest.mark.parametrize("is_live", [True, False])
def test_a_failed_turn_names_its_reason(one_turn, live, agent, is_live):
    prompt = "Add dark mode to the settings page"
    played = live(agent).turn(prompt) if is_live else one_turn(agent, prompt).played
    assert (played.facts.end, played.facts.error) == (
        "failed", "401 invalid API key: the key of this project was revoked",
    )  # fmt: skip
    notices = [step.text for step in played.steps if step.kind == "notice"]
    assert len([text for text in notices if "2/2" in text or "2 of 2" in text]) == 1


def test_the_cost_of_claude_is_that_of_its_tokens(one_turn):
    played = one_turn("claude", FIX).played
    used = played.facts.usage
    fresh = used.input_tokens - used.cached_input_tokens
    expected = fresh * 5e-6 + used.cached_input_tokens * 0.5e-6 + used.output_tokens * 25e-6
    assert played.facts.cost_usd == pytest.approx(expected)


@pytest.mark.parametrize("agent", ["codex", "claude"])
@pytest.mark.parametrize("verdict", [Verdict.ALLOW, Verdict.ALWAYS])
def test_a_permitted_command_runs(demo, live, agent, verdict):
    talk = live(agent)
    played = talk.turn(ASK, lambda _: Answer(verdict=verdict))
    [asked] = [event.ask for event in played.events if isinstance(event, Asked)]
    assert (asked.kind, asked.body, asked.title) == (AskKind.COMMAND, "rm -rf build", "run: rm -rf build")
    assert asked.why == "The stale objects are in this folder; a clean build makes them again."
    assert {Verdict.ALLOW, Verdict.ALWAYS, Verdict.DENY, Verdict.STOP} == {*asked.verdicts}
    assert [event.answered for event in played.events if isinstance(event, Settled)] == [True]
    assert [str(step.status) for step in played.steps if step.kind == "command"] == ["ok"] * 3
    assert played.facts.last_message == "The folder is gone, and a clean build passes."
    assert not (demo / "projects" / "api" / "build").exists()
    again = talk.turn(ASK, lambda _: Answer(verdict=Verdict.ALLOW))
    assert any(isinstance(event, Asked) for event in again.events) == (verdict is Verdict.ALLOW)


@pytest.mark.parametrize("agent", ["codex", "claude"])
def test_a_denied_command_does_not_run_and_the_agent_goes_on(demo, live, agent):
    played = live(agent).turn(ASK, lambda _: Answer(verdict=Verdict.DENY, message="keep it"))
    assert [str(step.status) for step in played.steps if step.kind == "command"] == ["ok", "declined"]
    why = "keep it" if agent == "claude" else "you denied it"
    assert played.facts.last_message == f"I leave build/ as it is: {why}. The stale objects are still there."
    assert (demo / "projects" / "api" / "build").is_dir()
    assert played.facts.end == "completed"


@pytest.mark.parametrize("agent", ["codex", "claude"])
def test_an_answer_can_end_the_turn(live, agent):
    talk = live(agent)
    played = talk.turn(ASK, lambda _: Answer(verdict=Verdict.STOP))
    assert (played.facts.end, played.facts.error) == ("failed", INTERRUPTED[agent])
    assert talk.turn("And now?").facts.end == "completed"


@pytest.mark.parametrize("agent", ["codex", "claude"])
def test_an_agent_that_may_not_ask_goes_on_without_permission(demo, one_turn, live, agent):
    for played in (one_turn(agent, ASK).played, live(agent, approvals="deny").turn(ASK)):
        assert [str(step.status) for step in played.steps if step.kind == "command"] == ["ok", "declined"]
        assert played.facts.last_message.startswith("I leave build/ as it is: I may not ask you.")
        assert played.facts.end == "completed"
    assert (demo / "projects" / "api" / "build").is_dir()


@pytest.mark.parametrize("agent", ["codex", "claude"])
def test_an_agent_without_limits_does_not_ask(live, agent):
    assert live(agent, full_danger=True).turn(ASK).facts.last_message == "The folder is gone, and a clean build passes."


@pytest.mark.parametrize("agent", ["codex", "claude"])
@pytest.mark.parametrize("approves", [True, False])
def test_a_plan_is_carried_out_if_it_is_approved(live, agent, approves):
    def answer(ask):
        if agent == "claude":
            assert (ask.kind, "# Split the settings module" in ask.body) == (AskKind.PLAN, True)
            return Answer(verdict=Verdict.ALLOW if approves else Verdict.DENY)
        return Answer(verdict=Verdict.ANSWER, values={ask.questions[0].key: ("Yes" if approves else "No",)})

    told = live(agent).turn(SPLIT, answer).facts.last_message
    assert told.startswith("The plan is carried out" if approves else "The plan is dropped: ")


@pytest.mark.parametrize("agent", ["codex", "claude"])
def test_the_answers_to_questions_are_used(live, agent):
    def answer(ask):
        assert [len(question.choices) for question in ask.questions] == [2, 3, 0]
        given = (("SQLite",), ("Tests", "Types"), ("invoicer",))
        keys = [question.key for question in ask.questions]
        return Answer(verdict=Verdict.ANSWER, values=dict(zip(keys, given, strict=True)))

    told = live(agent).turn(SET_UP, answer).facts.last_message
    assert told == "invoicer keeps its data in SQLite; every commit runs: Tests, Types."
    denied = live(agent).turn(SET_UP, lambda _: Answer(verdict=Verdict.DENY)).facts.last_message
    assert denied.startswith("I stop before the layout")


@pytest.mark.parametrize("agent", ["codex", "claude"])
def test_a_prompt_into_a_running_turn_is_read_at_the_next_step_and_an_interrupt_ends_it(live, agent):
    def at(talk, line):
        if b"Module 2 of" in line and talk.keys == 1:
            talk.prompt("use plain names")
        if b"You add: use plain names." in line:
            talk.write(*talk.dialogue.interrupt())

    talk = live(agent)
    played = talk.turn(LONG, at=at)
    seen = [str(event.delivery) for event in played.events if isinstance(event, Received)]
    assert seen[-1] == "seen"
    assert [step.text for step in played.steps if step.kind == "prompt"] == ["use plain names"]
    assert (played.facts.end, played.facts.error) == ("failed", INTERRUPTED[agent])
    after = talk.turn("And now?").facts.last_message
    assert after == "This is prompt 3 of our conversation: And now?\n\nThe one before was: use plain names"


@pytest.mark.parametrize("agent", ["codex", "claude"])
def test_an_interrupt_ends_the_running_command(demo, live, agent):
    def at(talk, line):
        if b"theme.css" in line and talk.keys:
            talk.write(*talk.dialogue.interrupt())

    played = live(agent).turn("[[demo:fail]]", at=at)
    assert played.facts.end == "failed"
    assert [str(step.status) for step in played.steps if step.kind == "command"] == ["interrupted"]


@pytest.mark.parametrize("agent", ["codex", "claude"])
def test_an_interrupt_takes_back_the_open_ask(live, agent):
    def at(talk, line):
        if b"requestApproval" in line or b"can_use_tool" in line:
            talk.write(*talk.dialogue.interrupt())

    played = live(agent).turn(ASK, at=at)
    assert [event.answered for event in played.events if isinstance(event, Settled)] == [False]
    assert played.facts.end == "failed"


@pytest.mark.parametrize("agent", ["codex", "claude"])
def test_a_resumed_conversation_knows_its_prompts_and_a_fork_those_before_it(one_turn, live, agent):
    talk = live(agent)
    first = talk.turn(FIX)
    place = agent_named(agent).forks.point(first.lines, None, talk.transport, agent_named(agent).settings_type())
    talk.turn("Second")
    thread = first.facts.agent_session
    assert place is not None
    told = live(agent, resumed=thread).turn("Third").facts.last_message
    assert told == "This is prompt 3 of our conversation: Third\n\nThe one before was: Second"
    forked = live(agent, resumed=thread, fork=Fork(at=place, session="11111111", turn=1)).turn("Other")
    assert forked.facts.last_message == f"This is prompt 2 of our conversation: Other\n\nThe one before was: {FIX}"
    assert forked.facts.agent_session != thread
    assert one_turn(agent, "Fourth", resumed=thread).played.facts.last_message.startswith("This is prompt 4 of")
    unknown = one_turn(agent, "Fifth", resumed="22222222-2222-4222-8222-222222222222")
    assert unknown.code == 1
    assert agent_named(agent).conversations.lost in unknown.stderr


@pytest.mark.parametrize(("agent", "what", "value"), [
    ("codex", "model", "gpt-5.5-codex"), ("codex", "mode", "read-only"),
    ("claude", "model", "claude-opus-5"), ("claude", "mode", "plan"),
])  # fmt: skip
def test_settings_of_a_live_process_change(live, agent, what, value):
    talk = live(agent)
    talk.turn(FIX)
    talk.write(talk.dialogue.change(what, value))
    assert Changed(what, value) in talk.turn("Next").events


def test_codex_compacts(live):
    talk = live("codex")
    talk.turn(FIX)
    talk.write(talk.dialogue.compact("00000009-0000-4000-8000-000000000000", 1))
    played = talk.turn("Next")
    assert any("compacted" in step.text for step in played.steps)


def test_claude_compacts_and_goes_on_from_less(live):
    talk = live("claude")
    before = talk.turn(FIX).facts.usage.input_tokens
    played = talk.turn("/compact keep the names")
    assert (played.facts.end, played.facts.error) == ("completed", None)
    assert any("context compacted" in step.text for step in played.steps)
    assert "unknown" not in played.kinds()
    assert 0 < talk.turn("Next").facts.usage.input_tokens < before


def test_a_process_of_claude_for_one_turn_compacts(one_turn):
    first = one_turn("claude", FIX).played.facts.agent_session
    done = one_turn("claude", "/compact", resumed=first)
    assert (done.code, done.played.facts.end, done.played.facts.error) == (0, "completed", None)
    assert any("context compacted" in step.text for step in done.played.steps)


def test_words_in_braces_in_a_prompt_are_said_again_as_they_are(one_turn):
    first = one_turn("codex", "Say {count}").played.facts.agent_session
    done = one_turn("codex", "Say {earlier}", resumed=first)
    assert done.played.facts.last_message.endswith("conversation: Say {earlier}\n\nThe one before was: Say {count}")


def test_a_request_that_they_do_not_know_gets_an_error(live):
    for agent in ("codex", "claude"):
        talk = live(agent)
        talk.turn(FIX)
        request = {"subtype": "mcp_status"}
        claude = {"type": "control_request", "request_id": "x", "request": request}
        line = {"id": "x", "method": "model/list"} if agent == "codex" else claude
        talk.write(json.dumps(line).encode() + b"\n")
        assert any(b'"error"' in line for line in talk.turn("Next").lines)


def test_they_refuse_to_work_outside_the_projects_of_their_demo(one_turn, demo, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for agent in ("codex", "claude"):
        done = one_turn(agent, FIX)
        assert (done.code, done.played.lines) == (1, [])
        assert f"works only below {demo}/projects, not in {tmp_path}" in done.stderr
    assert not (tmp_path / "src").exists()


def test_they_tell_their_versions_which_the_adapters_know(demo):
    for agent in ("codex", "claude"):
        told = subprocess.run([agent, "--version"], capture_output=True, text=True, check=True).stdout
        assert any(version in told for version in agent_named(agent).tested_versions)


def test_each_session_of_the_demo_has_a_script_of_its_own():
    from agentdash.tui.demo.turn import script_of

    scripts = [json.dumps(script_of(prompt, 0)) for _, _, prompt, _ in SESSIONS]
    assert len({*scripts}) == len(SESSIONS)
