"""The live scripted agent: its dialogue, its stream as steps, its start and its record of a conversation."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.agents.base import LaunchRequest
from agentdash.sessions.agents.dialogue import (
    Asked,
    Changed,
    Delivery,
    Event,
    Failed,
    Ready,
    Received,
    Settled,
    TurnBegan,
    TurnEnded,
)
from agentdash.sessions.agents.parsing.sent_prompt import SentPrompt
from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.model.session import Step, StepKind, StepStatus
from agentdash.sessions.rules.asks.model import Answer, Ask, AskKind, Choice, Question, Verdict
from agentdash.sessions.rules.json_schema import step_json
from agentdash.sessions.rules.launch import Launch
from scripted.adapter import TRANSPORT, Scripted, ScriptedSettings
from scripted.conversation import Conversation
from scripted.dialogue import MOST_OPEN, ScriptedDialogue
from scripted.live_parser import MOST_ASKS, OUTPUT_TAIL, LiveScriptedParser
from scripted.live_requests import read_request
from scripted.script import SCRIPTS, AskFor, Beat, load_script

READY = {"type": "ready", "conversation": "c", "model": "scripted-1"}
BEGAN = {"type": "turn_began", "key": "a", "conversation": "c", "model": "scripted-1"}
SEEN = {"type": "prompt", "key": "a", "state": "seen", "text": "the first"}
ASK = {
    "type": "ask",
    "key": "ask_1",
    "kind": "command",
    "tool": "shell",
    "title": "run: rm -rf build",
    "body": "rm -rf build",
}
ENDED = {"type": "turn_ended", "status": "completed", "input_tokens": 10, "output_tokens": 2}
KINDS = ["ready", "turn_began", "turn_ended", "prompt", "ask", "answered", "ask_cancelled", "declined", "changed",
         "command.started", "command.output", "command.ended", "file", "tool", "ended", "message", "other"]  # fmt: skip


def line(event: Any) -> bytes:
    return json.dumps(event).encode()


def told(*events: Any, dialogue: ScriptedDialogue | None = None) -> list[Event]:
    dialogue = dialogue or ScriptedDialogue()
    return [concluded for event in events for concluded in dialogue.feed(line(event))]


def after(*events: Any) -> ScriptedDialogue:
    dialogue = ScriptedDialogue()
    told(*events, dialogue=dialogue)
    return dialogue


def parsed(*events: Any, parser: LiveScriptedParser | None = None) -> tuple[LiveScriptedParser, list[Step]]:
    """The parser, and each step as it is shown."""
    parser = parser or LiveScriptedParser()
    steps: dict[int, Step] = {}
    for at, event in enumerate(events):
        steps |= {step.index: step for step in parser.feed(line(event), at)}
    return parser, list(steps.values())


class TestDialogue:
    def test_it_is_ready_by_itself(self) -> None:
        dialogue = ScriptedDialogue()
        assert (dialogue.opening(), dialogue.ready) == ([], False)
        assert told(READY, READY, dialogue=dialogue) == [Ready("c")]
        assert dialogue.ready

    def test_an_end_before_it_is_ready_is_its_failure(self) -> None:
        assert told({"type": "ended", "ok": False, "error": "no demo"}) == [Failed("no demo")]
        assert told(READY, {"type": "ended", "ok": False}) == [Ready("c")]

    def test_a_turn_and_its_prompts(self) -> None:
        events = told(READY, {"type": "prompt", "key": "a", "state": "accepted"}, BEGAN, SEEN, BEGAN, ENDED, ENDED)
        assert events[1:] == [
            Received("a", Delivery.ACCEPTED),
            TurnBegan("a"),
            Received("a", Delivery.SEEN),
            TurnEnded(),
        ]
        assert told({"type": "turn_began"}) == [TurnBegan(None, own=True)]
        refused = {"type": "prompt", "key": "b", "state": "refused", "reason": "unknown script"}
        withdrawn = {"type": "prompt", "key": "c", "state": "withdrawn"}
        assert told(refused, withdrawn) == [
            Received("b", Delivery.REFUSED, "unknown script"),
            Received("c", Delivery.WITHDRAWN),
        ]
        assert told({"type": "prompt", "key": "a", "state": "eaten"}) == []

    def test_an_ask_is_open_until_its_answer_arrives(self) -> None:
        dialogue = after(READY, BEGAN)
        ask = Ask(key="ask_1", kind=AskKind.COMMAND, tool="shell", title="run: rm -rf build", body="rm -rf build")
        assert told(ASK, ASK, dialogue=dialogue) == [Asked(ask)]
        deny = Answer(verdict=Verdict.DENY, message="no")
        assert dialogue.answer("ask_2", deny) is None
        for _ in range(2):
            assert json.loads(dialogue.answer("ask_1", deny) or b"") == {
                "type": "answer",
                "key": "ask_1",
                "verdict": "deny",
                "message": "no",
            }
        answered = {"type": "answered", "key": "ask_1", "verdict": "deny"}
        assert told(answered, answered, dialogue=dialogue) == [Settled("ask_1", answered=True)]
        assert dialogue.answer("ask_1", deny) is None

    def test_an_ask_is_over_if_the_agent_takes_it_back_or_its_turn_ends(self) -> None:
        cancelled = {"type": "ask_cancelled", "key": "ask_1"}
        assert told(ASK, cancelled)[1:] == [Settled("ask_1", answered=False)]
        assert told(BEGAN, ASK, ENDED)[2:] == [Settled("ask_1", answered=False), TurnEnded()]

    def test_the_questions_of_an_ask_and_the_answers_to_them(self) -> None:
        questions = [
            {"key": "colour", "text": "Which?", "choices": [{"label": "Blue"}], "several": True, "free": False},
            {"key": "token", "text": "Token?", "secret": True},
        ]
        dialogue = ScriptedDialogue()
        [event] = told(
            {"type": "ask", "key": "q", "kind": "question", "title": "?", "questions": questions}, dialogue=dialogue
        )
        assert isinstance(event, Asked)
        assert event.ask.questions == (
            Question(key="colour", text="Which?", choices=(Choice(label="Blue"),), several=True, free=False),
            Question(key="token", text="Token?", secret=True),
        )
        answer = dialogue.answer("q", Answer(verdict=Verdict.ANSWER, values={"colour": ("Blue",), "token": ("x",)}))
        assert json.loads(answer or b"")["values"] == {"colour": ["Blue"], "token": ["x"]}

    def test_the_other_lines(self) -> None:
        dialogue = after(READY)
        assert dialogue.prompt("a", 1, "x\ny") == b'{"type":"prompt","key":"a","text":"x\\ny"}\n'
        assert dialogue.prompt("a", 2, "x\ny") == dialogue.prompt("a", 1, "x\ny")
        assert dialogue.interrupt() == []
        assert after(READY, BEGAN).interrupt() == [b'{"type":"interrupt"}\n']
        assert after(READY, BEGAN, ENDED).interrupt() == []
        assert dialogue.withdraw("a") == b'{"type":"withdraw","key":"a"}\n'
        assert dialogue.change("model", "m") == b'{"type":"set","what":"model","value":"m"}\n'
        assert dialogue.change("colour", "blue") is None
        assert dialogue.closing() == b'{"type":"close"}\n'
        assert (dialogue.probe("a", 1), dialogue.arrived("a", 1)) == (None, None)

    def test_settings_that_changed(self) -> None:
        changed = [{"type": "changed", "what": what, "value": "v"} for what in ("model", "mode", "colour")]
        assert told(*changed) == [Changed("model", "v"), Changed("mode", "v")]

    def test_open_asks_are_limited(self) -> None:
        dialogue = ScriptedDialogue()
        many = told(*(ASK | {"key": f"k{n}"} for n in range(MOST_OPEN)), dialogue=dialogue)
        assert all(isinstance(event, Asked) for event in many)
        dropped, asked = told(ASK | {"key": "one more"}, dialogue=dialogue)
        assert (dropped, isinstance(asked, Asked)) == (Settled("k0", answered=False), True)
        assert dialogue.answer("k0", Answer(verdict=Verdict.ALLOW)) is None

    @given(st.text(), st.text())
    def test_every_text_makes_one_line_of_json(self, key: str, text: str) -> None:
        written = ScriptedDialogue().prompt(key, 1, text)
        assert written.count(b"\n") == 1
        assert json.loads(written) == {"type": "prompt", "key": key, "text": text}

    def test_half_a_character_is_sent_as_a_question_mark(self) -> None:
        assert json.loads(ScriptedDialogue().prompt("a", 1, "x\ud83d"))["text"] == "x?"


class TestSteps:
    def test_the_first_prompt_is_the_turns_own_and_a_later_one_a_step(self) -> None:
        steered = {"type": "prompt", "key": "b", "state": "seen", "text": "and this"}
        accepted = {"type": "prompt", "key": "b", "state": "accepted"}
        parser, steps = parsed(READY, BEGAN, SEEN, accepted, steered, steered | {"again": True}, ENDED)
        assert [(step.kind, step.text) for step in steps] == [
            (StepKind.START, ""),
            (StepKind.PROMPT, "and this"),
            (StepKind.USAGE, ""),
        ]
        assert (parser.facts.end, parser.facts.agent_session, parser.facts.model) == ("completed", "c", "scripted-1")
        assert parser.facts.usage.total_tokens == 12
        assert parser.facts.unknown == 0

    def test_a_prompt_into_a_turn_that_began_by_itself_is_a_step(self) -> None:
        assert [step.text for step in parsed({"type": "turn_began"}, SEEN)[1]][1:] == ["the first"]

    @pytest.mark.parametrize(
        ("ask", "words"),
        [
            (ASK, "asks to run: rm -rf build"),
            (ASK | {"kind": "plan", "title": "approve a plan: x"}, "asks to approve a plan: x"),
            (ASK | {"kind": "question", "title": "Which\ncolour?"}, "asks: Which colour?"),
        ],
    )
    def test_it_waits_while_an_ask_is_open(self, ask: Any, words: str) -> None:
        assert parsed(BEGAN, ask)[0].facts.waiting == words
        for over in (
            {"type": "answered", "key": "ask_1", "verdict": "deny"},
            {"type": "ask_cancelled", "key": "ask_1"},
        ):
            assert parsed(BEGAN, ask, over)[0].facts.waiting is None
        assert parsed(BEGAN, ask, ASK | {"key": "second", "title": "run: x"})[0].facts.waiting == words
        assert parsed(BEGAN, ask, ENDED)[0].facts.waiting is None

    def test_what_is_allowed_is_one_step(self) -> None:
        allowed = {"type": "answered", "key": "ask_1", "verdict": "allow"}
        started = {"type": "command.started", "id": "c1", "command": "rm -rf build", "ask": "ask_1"}
        ended = {"type": "command.ended", "id": "c1", "exit_code": 0, "output": "gone"}
        parser, [start, command, message] = parsed(
            BEGAN, ASK, allowed, started, ended, {"type": "message", "text": "x"}
        )
        assert (command.status, command.output, command.at, command.ended_at) == (StepStatus.OK, "gone", 1, 4)
        assert [start.index, command.index, message.index] == [0, 1, 2]
        assert parser.state.open == {}

    def test_what_is_denied_is_a_declined_step_with_the_words(self) -> None:
        denied = {"type": "answered", "key": "ask_1", "verdict": "deny", "message": "not now"}
        parser, [_, command] = parsed(BEGAN, ASK, denied)
        assert (command.status, command.output, command.command) == (StepStatus.DECLINED, "not now", "rm -rf build")
        assert parser.facts.denied == 0

    def test_answers_are_the_output_of_their_question(self) -> None:
        ask = ASK | {"kind": "question", "title": "Which colour?"}
        answered = {"type": "answered", "key": "ask_1", "verdict": "answer", "values": {"colour": ["Blue", "Red"]}}
        _, [_, question] = parsed(BEGAN, ask, answered)
        assert (question.kind, question.status) == (StepKind.TOOL_CALL, StepStatus.OK)
        assert (question.text, question.output) == ("Which colour?", "colour: Blue, Red")

    def test_the_output_of_a_command_grows_and_its_end_has_all_of_it(self) -> None:
        started = {"type": "command.started", "id": "c1", "command": "make"}
        lines = [{"type": "command.output", "id": "c1", "text": f"line {n}\n"} for n in range(3_000)]
        parser, [_, command] = parsed(BEGAN, started, *lines)
        assert command.status is StepStatus.RUNNING
        assert command.output is not None
        assert len(command.output) <= OUTPUT_TAIL
        assert command.output.startswith("…\nline ")
        assert command.output.endswith("line 2999\n")
        ended = {"type": "command.ended", "id": "c1", "exit_code": 1, "output": "all"}
        assert parsed(ended, parser=parser)[1][0].output == "all"

    def test_the_output_of_no_command_is_no_step(self) -> None:
        assert parsed({"type": "command.output", "id": "c9", "text": "x"})[1] == []

    def test_an_interrupted_turn_ends_its_steps(self) -> None:
        started = {"type": "command.started", "id": "c1", "command": "make"}
        parser, [_, command] = parsed(BEGAN, started, {"type": "turn_ended", "status": "interrupted"})
        assert command.status is StepStatus.INTERRUPTED
        assert (parser.facts.end, parser.facts.error) == ("failed", "interrupted")

    def test_a_failed_turn_gives_its_reason(self) -> None:
        parser, steps = parsed(BEGAN, {"type": "turn_ended", "status": "failed", "error": "401"})
        assert (parser.facts.end, parser.facts.error) == ("failed", "401")
        assert (steps[-1].kind, steps[-1].text, steps[-1].fatal) == (StepKind.ERROR, "401", True)

    def test_a_parser_goes_on_from_a_checkpoint(self) -> None:
        events = [READY, BEGAN, SEEN, ASK]
        more = [
            {"type": "answered", "key": "ask_1", "verdict": "allow"},
            {"type": "command.started", "id": "c1", "command": "rm -rf build", "ask": "ask_1"},
            {"type": "prompt", "key": "a", "state": "seen", "text": "the first"},
            ENDED,
        ]
        whole = parsed(*events, *more)[1]
        parser, steps = parsed(*events)
        resumed = LiveScriptedParser()
        resumed.resume(parser.checkpoint() or b"")
        latest = {step.index: step for step in [*steps, *parsed(*more, parser=resumed)[1]]}
        assert [(step.kind, step.text, step.status) for step in latest.values()] == [
            (step.kind, step.text, step.status) for step in whole
        ]

    def test_asks_without_an_end_do_not_eat_the_memory(self) -> None:
        parser, _ = parsed(*(ASK | {"key": f"k{n}"} for n in range(MOST_ASKS + 5)))
        assert len(parser.state.asks) == len(parser.state.open) == MOST_ASKS


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["a", "ask_1", "c1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
FIELDS = ["key", "state", "kind", "title", "text", "id", "command", "ask", "status", "verdict", "values", "message",
          "questions", "paths", "what", "value", "output", "exit_code", "conversation",
          "path", "diff", "ok"]  # fmt: skip
EVENTS = st.builds(
    lambda kind, fields: json.dumps({"type": kind, **fields}).encode(),
    st.sampled_from(KINDS),
    st.dictionaries(
        st.sampled_from(FIELDS), VALUES | st.sampled_from(["seen", "allow", "command", "edit"]), max_size=8
    ),
)


@given(st.lists(st.binary(max_size=60) | EVENTS, max_size=12))
def test_no_output_can_harm_the_dialogue_or_the_parser(lines: list[bytes]) -> None:
    dialogue, again, parser = ScriptedDialogue(), ScriptedDialogue(), LiveScriptedParser()
    concluded = [dialogue.feed(line) for line in lines]
    assert [again.feed(line) for line in lines] == concluded
    assert (again.ready, again.interrupt()) == (dialogue.ready, dialogue.interrupt())
    for printed in lines:
        for step in parser.feed(printed):
            msgspec.json.encode(step)
            json.dumps(step_json(step), ensure_ascii=False).encode()
        checkpoint = parser.checkpoint()
        assert checkpoint is not None
        LiveScriptedParser().resume(checkpoint)
    parser.close()


@given(st.binary(max_size=60) | EVENTS)
def test_a_line_for_the_agent_is_a_request_or_json_or_broken(printed: bytes) -> None:
    try:
        read_request(printed)
    except (msgspec.DecodeError, UnicodeDecodeError):
        with pytest.raises((msgspec.DecodeError, UnicodeDecodeError)):
            msgspec.json.decode(printed)


def request(prompt: str = "x", **own: Any) -> LaunchRequest:
    return LaunchRequest(prompt=prompt, cwd="/p", session_id="0123456789abcdef", **own)


class TestStart:
    def test_a_live_start_is_a_process_of_the_live_player(self) -> None:
        settings = ScriptedSettings(live=True, approvals="deny", script="ask", args=("--own",))
        launch = Scripted().command(request("hello", settings=settings))
        assert (launch.transport, launch.opening, launch.stdin) == (TRANSPORT, (), "hello")
        assert launch.argv[3:] == (
            "scripted.process.live_player", "--script", "ask", "--speed", "1",
            "--conversation", "0123456789abcdef", "--approvals", "deny", "--own",
        )  # fmt: skip
        plain = Scripted().command(request("hello", settings=ScriptedSettings(script="ask", args=("--own",))))
        assert (launch.plain_argv, plain.transport) == (plain.argv, "")
        assert isinstance(Scripted().dialogue(launch.transport, launch.opening), ScriptedDialogue)
        assert Scripted().dialogue(plain.transport) is None

    def test_a_conversation_is_resumed(self) -> None:
        launch = Scripted().command(request(settings=ScriptedSettings(live=True), turn=2, agent_session="c"))
        assert launch.argv[launch.argv.index("--resume") + 1] == "c"

    @pytest.mark.parametrize(
        ("prompt", "settings"),
        [("[[script:none]]", ScriptedSettings(live=True)), ("x", ScriptedSettings(live=True, script="none"))],
    )
    def test_a_script_that_does_not_exist_is_refused(self, prompt: str, settings: ScriptedSettings) -> None:
        with pytest.raises(UsageError, match="Unknown script 'none'"):
            Scripted().command(request(prompt, settings=settings))

    def test_its_stream_is_recognized(self) -> None:
        assert Scripted().recognizes("ready", READY)


class TestConversation:
    def sent(self, home: Path, text: str = "x", key: str = "", at: int = 0, name: str | None = "c") -> bool | None:
        launch = Launch(argv=("scripted", "--conversation", "c"), stdin=text, transport=TRANSPORT)
        env = {"AGENTDASH_HOME": str(home)}
        return Scripted.own_files.has_prompt(SentPrompt(launch=launch, agent_session=name, env=env, at=at, key=key))

    def test_a_prompt_is_found_by_its_key_or_by_its_text_since_its_turn(self, tmp_path: Path) -> None:
        Conversation(tmp_path, "c").add("\nthe words", "a")
        assert self.sent(tmp_path, key="a") is True
        assert self.sent(tmp_path, "the words", key="b") is False
        assert self.sent(tmp_path, "the words\n") is True
        assert self.sent(tmp_path, "the words", name=None) is True
        assert self.sent(tmp_path, "other words") is False
        assert self.sent(tmp_path, "the words", at=2**53) is False

    def test_it_cannot_be_told_without_the_folder_or_the_protocol(self, tmp_path: Path) -> None:
        assert self.sent(tmp_path / "nowhere") is None
        assert self.sent(tmp_path, name="../c") is None
        plain = SentPrompt(launch=Launch(argv=("scripted",)), agent_session="c", env={}, at=0)
        assert Scripted.own_files.has_prompt(plain) is None

    @pytest.mark.parametrize("content", [b"", b"{", b"{}", b"\xff", b'["a",1]', b'[{"text":1}]'])
    def test_a_damaged_file_has_no_prompts(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "scripted").mkdir()
        (tmp_path / "scripted" / "c.json").write_bytes(content)
        assert Conversation(tmp_path, "c").prompts == []

    def test_two_agents_that_live_at_once_keep_the_prompts_of_both(self, tmp_path):
        first, second = Conversation(tmp_path, "c"), Conversation(tmp_path, "c")
        first.add("one", "a")
        second.add("two", "b")
        first.add("three", "c")
        assert Conversation(tmp_path, "c").prompts == first.prompts == ["one", "two", "three"]

    def test_prompts_without_keys_are_read(self, tmp_path: Path) -> None:
        (tmp_path / "scripted").mkdir()
        (tmp_path / "scripted" / "c.json").write_text('["first", {"text": "second", "key": "k"}]')
        conversation = Conversation(tmp_path, "c")
        assert conversation.prompts == ["first", "second"]
        assert (conversation.has("k"), conversation.has("")) == (True, False)


def asks_of(beats: list[Beat]) -> list[AskFor]:
    return [beat.ask for beat in beats if beat.ask is not None]


def test_the_scripts_that_ask_say_something_either_way() -> None:
    asking = {name: asks_of(load_script(name)) for name in SCRIPTS}
    assert {name: asks[0].kind for name, asks in asking.items() if asks} == {
        "ask": AskKind.COMMAND,
        "edit": AskKind.EDIT,
        "plan": AskKind.PLAN,
        "question": AskKind.QUESTION,
    }
    for ask in (ask for asks in asking.values() for ask in asks):
        assert any(beat.message for beat in ask.allowed)
        assert any(beat.message and "{reason}" in beat.message for beat in ask.denied)
