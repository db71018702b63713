"""The live scripted agent as a process whose standard input is a FIFO open for reading and writing: it never ends."""

import json
import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from waiting import until

from agentdash.sessions.agents.base import LaunchRequest
from agentdash.sessions.agents.dialogue import Asked, Changed, Delivery, Received, Settled, TurnBegan, TurnEnded
from agentdash.sessions.agents.parsing.sent_prompt import SentPrompt
from agentdash.sessions.model.session import StepKind, StepStatus
from agentdash.sessions.rules.asks.model import Answer, Ask, AskKind, Verdict
from scripted.adapter import Scripted, ScriptedSettings
from scripted.script import unknown_script

CONVERSATION = "0123456789abcdef"


class Live:
    """One process with its files, and a dialogue that has read the output so far."""

    def __init__(self, folder: Path, number: int, **settings) -> None:
        resumed = settings.pop("agent_session", None)
        chosen = ScriptedSettings(**{"live": True, "speed": 50, "script": "quick"} | settings)
        self.launch = Scripted().command(
            LaunchRequest(prompt="", cwd=str(folder), session_id=CONVERSATION, agent_session=resumed, settings=chosen)
        )
        self.dialogue = Scripted().dialogue(self.launch.transport, self.launch.opening)
        self.events: list = []
        self.output = folder / f"output_{number}"
        fifo = folder / f"fifo_{number}"
        os.mkfifo(fifo)
        self._stdin = os.open(fifo, os.O_RDWR)
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                self.launch.argv, stdin=self._stdin, stdout=output, cwd=folder, start_new_session=True
            )
        self._read = self.output.open("rb")
        self._rest = b""
        self.until(lambda: self.dialogue.ready, what="ready")

    def write(self, line: bytes) -> None:
        assert line.endswith(b"\n")
        assert os.write(self._stdin, line) == len(line)

    def prompt(self, key: str, text: str) -> None:
        self.write(self.dialogue.prompt(key, 1, text))

    def answer(self, key: str, verdict: Verdict, message: str = "", **values: tuple[str, ...]) -> None:
        self.write(self.dialogue.answer(key, Answer(verdict=verdict, message=message, values=values)))

    def read(self) -> list:
        *lines, self._rest = (self._rest + self._read.read()).split(b"\n")
        for line in lines:
            self.events += self.dialogue.feed(line)
        return self.events

    def until(self, predicate, what="an event"):
        def found():
            self.read()
            return predicate()

        return until(found, what=what)

    def expect(self, event) -> None:
        self.until(lambda: event in self.events, what=str(event))

    def ends(self, count: int = 1) -> None:
        """Wait until this many turns have ended."""
        self.until(lambda: self.events.count(TurnEnded()) == count, what=f"{count} ended turns")

    def asks(self, count: int = 1) -> Ask:
        """Wait for this many asks; the last."""
        asked = self.until(
            lambda: [event for event in self.events if isinstance(event, Asked)][count - 1 :], what="an ask"
        )
        return asked[0].ask

    def lines(self) -> list[bytes]:
        return self.output.read_bytes().splitlines()

    def printed(self) -> list[dict]:
        return [json.loads(line) for line in self.lines()]

    def messages(self) -> list[str]:
        return [event["text"] for event in self.printed() if event["type"] == "message"]

    def parsed(self):
        parser = Scripted().parser(1, self.launch.transport)
        steps = {}
        for line in self.lines():
            steps |= {step.index: step for step in parser.feed(line)}
        return parser, list(steps.values())

    def end(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._read.close()
        os.close(self._stdin)


@pytest.fixture
def start(scripted_agent, tmp_path):
    """Starts live agents in the test's folder, and ends them with the test."""
    started: list[Live] = []
    (tmp_path / "state").mkdir()

    def begin(**settings) -> Live:
        started.append(live := Live(tmp_path, len(started), **settings))
        return live

    yield begin
    for live in started:
        live.end()


def test_a_prompt_begins_a_turn_and_the_next_one_begins_another(start):
    live = start()
    live.prompt("a", "first words")
    live.ends()
    live.prompt("b", "second words")
    live.ends(2)
    assert [event for event in live.events[1:] if not isinstance(event, TurnEnded)] == [
        Received("a", Delivery.ACCEPTED),
        TurnBegan("a"),
        Received("a", Delivery.SEEN),
        Received("b", Delivery.ACCEPTED),
        TurnBegan("b"),
        Received("b", Delivery.SEEN),
    ]
    assert live.messages()[0] == "a message about first words"
    assert "This is prompt 2 of our conversation: second words" in live.messages()[1]
    assert live.process.poll() is None


def test_a_prompt_into_a_running_turn_is_seen_and_answered_in_it(start):
    live = start(script="steer", speed=200)
    live.prompt("a", "summaries, please")
    live.expect(TurnBegan("a"))
    live.prompt("b", "shorter ones")
    live.expect(Received("b", Delivery.SEEN))
    live.ends()
    assert [event for event in live.events if isinstance(event, TurnBegan)] == [TurnBegan("a")]
    assert any(message.startswith("You add: shorter ones.") for message in live.messages())
    _, steps = live.parsed()
    assert [step.text for step in steps if step.kind is StepKind.PROMPT] == ["shorter ones"]


def test_a_prompt_that_the_turn_does_not_reach_begins_its_own(start):
    live = start(script="quick", speed=0.5)
    live.prompt("a", "[[script:ask]] x")
    live.expect(TurnBegan("a"))
    live.prompt("b", "[[script:quick]] y")
    live.expect(Received("b", Delivery.ACCEPTED))
    live.write(live.dialogue.interrupt()[0])
    live.expect(TurnBegan("b"))
    live.ends(2)


def test_what_is_allowed_is_done(start, tmp_path):
    live = start(script="ask")
    live.prompt("a", "clean up")
    ask = live.asks()
    assert (ask.kind, ask.title, ask.body, ask.cwd) == (AskKind.COMMAND, "run: rm -rf build", ask.body, str(tmp_path))
    assert (tmp_path / "build").is_dir()
    assert live.parsed()[0].facts.waiting == "asks to run: rm -rf build"
    live.answer(ask.key, Verdict.ALLOW)
    live.ends()
    assert Settled(ask.key, answered=True) in live.events
    assert not (tmp_path / "build").exists()
    parser, steps = live.parsed()
    assert (parser.facts.waiting, parser.facts.end) == (None, "completed")
    [step] = [step for step in steps if step.command == "rm -rf build"]
    assert step.status is StepStatus.OK


def test_what_is_denied_is_not_done_and_the_words_arrive(start, tmp_path):
    live = start(script="ask")
    live.prompt("a", "clean up")
    live.answer(live.asks().key, Verdict.DENY, "I need it for the debugger")
    live.ends()
    assert (tmp_path / "build").is_dir()
    assert live.messages()[-1].startswith("I leave build/ as it is: I need it for the debugger.")
    parser, steps = live.parsed()
    [step] = [step for step in steps if step.command == "rm -rf build"]
    assert (step.status, step.output) == (StepStatus.DECLINED, "I need it for the debugger")
    assert parser.facts.denied == 0, "the runner counts what a rule denied"


def test_always_is_not_asked_again_and_stop_ends_the_turn(start):
    live = start(script="ask")
    live.prompt("a", "clean up")
    live.answer(live.asks().key, Verdict.ALWAYS)
    live.ends()
    live.prompt("b", "[[script:ask]] again")
    live.ends(2)
    live.prompt("c", "[[script:plan]] a plan")
    live.answer(live.asks(2).key, Verdict.STOP)
    live.ends(3)
    assert [event.get("status") for event in live.printed() if event["type"] == "turn_ended"] == [
        "completed",
        "completed",
        "interrupted",
    ]


def test_questions_get_their_answers(start):
    live = start(script="question")
    live.prompt("a", "a new service")
    ask = live.asks()
    assert [(question.key, question.several, question.free) for question in ask.questions] == [
        ("database", False, False),
        ("checks", True, True),
        ("name", False, True),
    ]
    live.answer(ask.key, Verdict.ANSWER, database=("SQLite",), checks=("Tests", "Types"), name=("Ledger",))
    live.ends()
    assert live.messages()[-1] == "Ledger keeps its data in SQLite; every commit runs: Tests, Types."


def test_an_edit_and_a_plan_are_asked_for(start, tmp_path):
    live = start(script="edit")
    live.prompt("a", "a name")
    ask = live.asks()
    assert (ask.kind, ask.paths) == (AskKind.EDIT, (str(tmp_path / "src" / "greeting.py"),))
    assert "+def greeting(name):" in ask.body
    live.answer(ask.key, Verdict.ALLOW)
    live.ends()
    assert "def greeting(name)" in (tmp_path / "src" / "greeting.py").read_text()
    live.prompt("b", "[[script:plan]] split")
    assert live.parsed()[0].facts.waiting is None
    live.answer(live.asks(2).key, Verdict.ALLOW)
    live.ends(2)
    assert live.messages()[-1] == "The plan is carried out, and all tests pass."
    changes = [step for step in live.parsed()[1] if step.kind is StepKind.FILE_CHANGE]
    assert [(step.changes[0].kind, step.status) for step in changes] == [
        ("add", StepStatus.OK),
        ("update", StepStatus.OK),
    ]


def test_an_agent_that_may_not_ask_declines_at_once(start, tmp_path):
    live = start(script="ask", approvals="deny")
    live.prompt("a", "clean up")
    live.ends()
    assert not [event for event in live.events if isinstance(event, Asked)]
    assert (tmp_path / "build").is_dir()
    assert live.parsed()[0].facts.denied_names == ["shell"]


def test_an_interrupt_ends_the_turn_and_its_command_but_not_the_process(start):
    live = start(script="build")
    live.prompt("a", "build")
    group = live.until(lambda: child_with(live.process.pid, b"compiling"), what="the command")
    live.until(lambda: b"compiling module 2" in live.output.read_bytes(), what="its output")
    steps = live.parsed()[1]
    assert (steps[-1].status, steps[-1].output.splitlines()[0]) == (StepStatus.RUNNING, "[1/120] compiling module 1")
    live.write(live.dialogue.interrupt()[0])
    live.ends()
    until(lambda: not alive(group), what="the end of the command")  # init reaps what it left
    assert live.dialogue.interrupt() == []
    parser, steps = live.parsed()
    assert (parser.facts.end, parser.facts.error) == ("failed", "interrupted")
    [command] = [step for step in steps if step.kind is StepKind.COMMAND]
    assert command.status is StepStatus.INTERRUPTED
    assert command.output.startswith("[1/120] compiling module 1\n[2/120]")
    live.prompt("b", "[[script:quick]] go on")
    live.ends(2)


def test_an_interrupt_takes_back_a_question(start):
    live = start(script="ask")
    live.prompt("a", "clean up")
    key = live.asks().key
    live.write(live.dialogue.interrupt()[0])
    live.ends()
    assert live.events[-2:] == [Settled(key, answered=False), TurnEnded()]
    assert live.dialogue.answer(key, Answer(verdict=Verdict.ALLOW)) is None


def test_a_prompt_that_was_not_read_can_be_taken_back(start):
    live = start(script="silent", speed=1)
    live.prompt("a", "x")
    live.expect(TurnBegan("a"))
    live.until(live.messages, what="the first moment")
    live.prompt("b", "y")
    live.write(live.dialogue.withdraw("b"))
    live.expect(Received("b", Delivery.WITHDRAWN))
    live.write(live.dialogue.interrupt()[0])
    live.ends()
    live.prompt("c", "[[script:none]] z")
    live.expect(Received("c", Delivery.REFUSED, unknown_script("none")))
    assert [event for event in live.events if isinstance(event, TurnBegan)] == [TurnBegan("a")]


def test_a_setting_of_the_process_changes(start):
    live = start()
    live.write(live.dialogue.change("model", "scripted-2"))
    live.expect(Changed("model", "scripted-2"))
    live.write(live.dialogue.change("mode", "careful"))
    live.expect(Changed("mode", "careful"))
    live.prompt("a", "x")
    live.ends()
    assert live.parsed()[0].facts.model == "scripted-2"


def test_it_wakes_by_itself(start):
    live = start(script="wake")
    live.prompt("a", "run the long suite")
    live.ends(2)
    began = [event for event in live.events if isinstance(event, TurnBegan)]
    assert began == [TurnBegan("a"), TurnBegan(None, own=True)]
    assert live.messages()[-1] == "The long suite has finished: 212 tests pass."


def test_closing_ends_it_with_exit_code_0(start):
    live = start()
    live.write(live.dialogue.closing())
    assert live.process.wait(timeout=60) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_its_command(start, number):
    live = start(script="build")
    live.prompt("a", "build")
    group = live.until(lambda: child_with(live.process.pid, b"compiling"), what="the command")
    live.process.send_signal(number)
    assert live.process.wait(timeout=60) == 128 + number
    until(lambda: not alive(group), what="the end of the command")


def test_closing_in_a_turn_ends_its_command_first(start):
    live = start(script="build")
    live.prompt("a", "build")
    group = live.until(lambda: child_with(live.process.pid, b"compiling"), what="the command")
    live.write(live.dialogue.closing())
    assert live.process.wait(timeout=60) == 0
    live.ends()
    until(lambda: not alive(group), what="the end of the command")


def test_many_lines_and_a_long_one_arrive_whole(start, tmp_path):
    live = start()
    live.prompt("a", "x")
    live.expect(TurnBegan("a"))
    for n in range(50):
        live.prompt(f"k{n}", f"prompt {n}")
    long = "ä" * 20_000
    live.prompt("long", long)
    live.expect(Received("long", Delivery.SEEN))
    seen = [event["text"] for event in live.printed() if event["type"] == "prompt" and event["state"] == "seen"]
    assert seen == ["x", *(f"prompt {n}" for n in range(50)), long]


@pytest.mark.parametrize("line", [b"plain\n", b'{"type":"prompt",\n', b"\xff\n"])
def test_a_line_that_is_not_json_ends_it(start, line):
    live = start()
    live.write(line)
    assert live.process.wait(timeout=60) == 1


@pytest.mark.parametrize("line", [b"\n", b"{}\n", b'{"type":"other"}\n', b"[1]\n", b'{"type":"prompt"}\n'])
def test_json_that_is_not_a_request_is_ignored(start, line):
    live = start()
    live.write(line)
    live.prompt("a", "x")
    live.ends()


def test_the_end_of_its_input_ends_it(scripted_agent, tmp_path):
    live = Scripted().command(
        LaunchRequest(prompt="", cwd=str(tmp_path), session_id=CONVERSATION, settings=ScriptedSettings(live=True))
    )
    done = subprocess.run(live.argv, stdin=subprocess.DEVNULL, capture_output=True, cwd=tmp_path, check=False)
    assert (done.returncode, done.stderr, json.loads(done.stdout)["type"]) == (0, b"", "ready")


def test_a_later_process_ignores_a_key_that_the_conversation_has(start):
    live = start(script="silent", speed=1)
    live.prompt("a", "x")
    live.expect(Received("a", Delivery.SEEN))
    live.prompt("unread", "y")
    live.expect(Received("unread", Delivery.ACCEPTED))
    live.process.kill()
    live.process.wait()

    def has(key):
        sent = SentPrompt(key=key, launch=live.launch, agent_session=CONVERSATION, env={}, at=0)
        return Scripted.own_files.has_prompt(sent)

    assert (has("a"), has("unread")) == (True, False)
    again = start(agent_session=CONVERSATION)
    again.prompt("a", "x")
    again.prompt("b", "z")
    again.ends()
    assert again.events[1:-1] == [
        Received("a", Delivery.SEEN),
        Received("b", Delivery.ACCEPTED),
        TurnBegan("b"),
        Received("b", Delivery.SEEN),
    ]
    assert "The one before was: x" in again.messages()[-1]


def test_it_does_nothing_while_it_is_idle(start):
    live = start()
    live.prompt("a", "x")
    live.ends()
    size, used = live.output.stat().st_size, cpu_ticks(live.process.pid)
    with suppress(subprocess.TimeoutExpired):
        live.process.wait(timeout=1)
    assert live.process.poll() is None
    assert live.output.stat().st_size == size
    assert cpu_ticks(live.process.pid) - used <= os.sysconf("SC_CLK_TCK") // 10


def cpu_ticks(pid: int) -> int:
    """The processor time that a process has used, in clock ticks."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def child_with(pid: int, word: bytes) -> int | None:
    """The process group of a child whose command line has a word."""
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        with suppress(OSError):
            if word in Path(f"/proc/{child}/cmdline").read_bytes() and os.getpgid(int(child)) == int(child):
                return int(child)
    return None


def alive(group: int) -> bool:
    """True if a process group has a process."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
