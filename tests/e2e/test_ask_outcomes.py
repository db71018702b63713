"""Every outcome of an approval, for each live agent: one answer, one execution or none, and no open ask at the end."""

import json
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from asking_session import AskingSession
from real_clis import EVERY_CLI

from agentdash.sessions.model.errors import SessionBusyError
from agentdash.sessions.model.session import Status, StepKind, StepStatus
from agentdash.sessions.rules.asks.model import Answer, Verdict
from agentdash.sessions.rules.asks.recorded import AskState
from agentdash.sessions.runner.processes import processes, runner_lock
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.transcript.blocks import describe

PROMPT = {"scripted": "[[script:edit]] go", "claude": "[[fake:mark]] go", "codex": "[[fake:mark_outside]] go"}
"""A prompt whose one action needs a permission."""
OPTIONS = {"scripted": {"speed": 50}, "claude": {"permission_mode": "default"}, "codex": {"sandbox": "read-only"}}
CONDITION = {"scripted": 'tool = "edit"', "claude": 'command = "./mark"', "codex": 'command = "./mark"'}
"""The condition of a rule that fits what is asked."""


class Asking(AskingSession):
    """A live session whose agent asks for one thing."""

    def __init__(self, agent, manager, project, wait_until):
        super().__init__(agent, manager, project, wait_until)
        self._config = project.parent / "config.toml"

    def start(self, asks=""):
        """Start it under the settings of ``[asks]``."""
        self._config.write_text(f"[asks]\n{asks}\n")
        return self.spawn(PROMPT[self.agent], OPTIONS[self.agent])

    @property
    def pid(self):
        return self.manager.reader.turns(self.id)[-1].agent_pid

    def asked(self):
        """Wait until the user is asked; the ask."""
        self.until(lambda: self.session.status is Status.WAITING and self.session.asking, "the ask")
        [asked] = self.manager.reader.asks(self.id)
        assert self.session.reason == f"asks to {asked.ask.title}"
        assert self.marks == 0
        return asked

    def answer(self, verdict, message=""):
        asked = self.asked()
        return self.manager.asks.answer(asked.id, Answer(verdict=verdict, message=message))

    def refused_after_words(self, words, fake_model):
        """Wait until the agent was shown the words of its denial and nothing runs or waits; what turn 1 was refused.

        codex takes them as a prompt: they are its next turn if it has ended this one before they came.
        """

        def done():
            shown = self.agent == "scripted" or fake_model.was_shown(words)
            return shown and self.session.status.ended and not self.session.queued

        self.until(done, "the end of the turns")
        turns = self.manager.reader.turns(self.id)
        assert [turn.status for turn in turns] in [[Status.DONE]] + [[Status.DONE] * 2] * (self.agent == "codex")
        assert (self.session.asking, self.manager.reader.asks(self.id)) == (0, [])
        sql = "SELECT denied_names FROM turns WHERE session = ? AND n = 1"
        return json.loads(self.manager.store.database.rows(sql, (self.id,))[0]["denied_names"])

    def printed(self):
        folder = self.manager.layout.session(self.id)
        return [json.loads(line) for line in folder.output(1).read_bytes().splitlines()]

    @property
    def marks(self):
        """How often that for which the agent asked was done."""
        if self.agent == "scripted":
            writes = [event for event in self.printed() if event["type"] == "file"]
            return sum("+def greeting(name)" in event["diff"] for event in writes)
        log = self.project / "ran.log"
        return len(log.read_text().splitlines()) if log.exists() else 0

    def receipts(self, key):
        """How often the agent says that it got an answer to an ask."""
        return sum(RECEIPTS[self.agent](event, key) for event in self.printed())

    def decisions(self):
        """What became of the actions, as the steps show it."""
        kind = StepKind.FILE_CHANGE if self.agent == "scripted" else StepKind.COMMAND
        steps = [step for step in self.manager.reader.steps.trajectory(self.id) if step.kind is kind]
        return [step.status for step in steps if self.agent != "scripted" or "greeting(name)" in step.changes[0].diff]

    def recorded(self):
        """The state, the decision and its author of each ask."""
        return [(one.state, one.answer.verdict if one.answer else None, one.answered_by) for one in self.asks]

    def kill_runner(self):
        os.kill(self.manager.reader.turns(self.id)[-1].runner_pid, signal.SIGKILL)
        lock = self.manager.layout.session(self.id).lock
        self._wait(lambda: not runner_lock.is_held(lock), what="the runner to be gone")

    def rule_files(self):
        """The contents of claude's settings files at and above the project."""
        folders = (self.project, *self.project.parents)
        found = [folder / ".claude" / "settings.local.json" for folder in folders]
        return {path: path.read_text() for path in found if path.exists()}

    def rule(self, decide):
        return f'[[asks.rules]]\ndecide = "{decide}"\n{CONDITION[self.agent]}'


def of_claude(event, key):
    return event["type"] == "control_response" and event["response"].get("request_id") == key


def of_codex(event, key):
    return event.get("method") == "serverRequest/resolved" and json.dumps(event["params"]["requestId"]) == key


def of_scripted(event, key):
    return event["type"] == "answered" and event["key"] == key


RECEIPTS = {"claude": of_claude, "codex": of_codex, "scripted": of_scripted}


def allowed(asking, fake_model):
    asking.start().answer(Verdict.ALLOW)
    asking.ended(Status.DONE)
    return 1, (AskState.SETTLED, Verdict.ALLOW, "you")


def denied(asking, fake_model):
    asking.start().answer(Verdict.DENY)
    assert asking.ended(Status.DONE).denied == 0
    return 0, (AskState.SETTLED, Verdict.DENY, "you")


def denied_with_words(asking, fake_model):
    words = f"Not here, {asking.start().id}."
    asking.answer(Verdict.DENY, words)
    assert asking.refused_after_words(words, fake_model) == []
    if asking.agent == "scripted":
        assert words in asking.session.last_message
    return 0, (AskState.SETTLED, Verdict.DENY, "you")


def denied_and_stopped(asking, fake_model):
    asking.start().answer(Verdict.STOP)
    assert asking.ended(Status.STOPPED).reason == "stopped by you"
    return 0, (AskState.SETTLED, Verdict.STOP, "you")


def expired_and_denied(asking, fake_model):
    asking.start('timeout = "1"\non_timeout = "deny"').asked()
    words = "No answer within 1s."
    assert len(asking.refused_after_words(words, fake_model)) == 1
    assert asking.asks[0].answer.message == words
    return 0, (AskState.EXPIRED, Verdict.DENY, "the time limit")


def expired_and_stopped(asking, fake_model):
    asking.start('timeout = "1"\non_timeout = "stop"').asked()
    assert asking.ended(Status.STOPPED).reason == "stopped by its limit: no answer within 1s"
    return 0, (AskState.EXPIRED, Verdict.STOP, "the time limit")


def expired_and_waiting(asking, fake_model):
    assert asking.start('timeout = "1"\non_timeout = "wait"').asked().due_at is None
    asking.answer(Verdict.ALLOW)
    asking.ended(Status.DONE)
    return 1, (AskState.SETTLED, Verdict.ALLOW, "you")


def interrupted(asking, fake_model):
    asked = asking.start().asked()
    asking.manager.prompts.interrupt(asking.id)
    assert asking.ended(Status.STOPPED).reason == "stopped by you"
    with pytest.raises(SessionBusyError, match="the agent no longer waits"):
        asking.manager.asks.answer(asked.id, Answer(verdict=Verdict.ALLOW))
    return 0, (AskState.WITHDRAWN, None, None)


def answered_by_two(asking, fake_model):
    asked, together = asking.start().asked(), Barrier(2, timeout=60)

    def answer(name):
        with SessionManager() as manager:
            together.wait()
            try:
                return manager.asks.answer(asked.id, Answer(verdict=Verdict.ALLOW), by=name).answered_by
            except SessionBusyError as error:
                return str(error)

    with ThreadPoolExecutor(2) as pool:
        said = [*pool.map(answer, ("the left one", "the right one"))]
    [winner] = {"the left one", "the right one"} & {*said}
    [told] = {*said} - {winner}
    assert told.startswith(f"Ask {asked.id} takes no answer: allowed by {winner} ")
    asking.ended(Status.DONE)
    return 1, (AskState.SETTLED, Verdict.ALLOW, winner)


def answered_without_a_runner(asking, fake_model):
    asking.start().asked()
    asking.kill_runner()
    agent = asking.pid
    assert processes.by_pid(agent) is not None
    asking.answer(Verdict.ALLOW)
    asking.ended(Status.DONE)
    assert asking.pid == agent
    return 1, (AskState.SETTLED, Verdict.ALLOW, "you")


def agent_killed(asking, fake_model):
    asked = asking.start().asked()
    os.kill(asking.pid, signal.SIGKILL)
    asking.ended(Status.FAILED)
    with pytest.raises(SessionBusyError, match="the agent ended first"):
        asking.manager.asks.answer(asked.id, Answer(verdict=Verdict.ALLOW))
    return 0, (AskState.LOST, None, None)


def allowed_by_a_rule(asking, fake_model):
    asking.start(asking.rule("allow"))
    asking.ended(Status.DONE)
    return 1, (AskState.SETTLED, Verdict.ALLOW, f"rule: {asking_rule(asking, 'allow')}")


def denied_by_a_rule(asking, fake_model):
    asking.start(asking.rule("deny"))
    words = f"Denied by a rule: {asking_rule(asking, 'deny')}."
    assert len(asking.refused_after_words(words, fake_model)) == 1
    return 0, (AskState.SETTLED, Verdict.DENY, f"rule: {asking_rule(asking, 'deny')}")


def asked_by_a_rule(asking, fake_model):
    asking.start(f"{asking.rule('ask')}\n{asking.rule('allow')}").answer(Verdict.ALLOW)
    asking.ended(Status.DONE)
    return 1, (AskState.SETTLED, Verdict.ALLOW, "you")


def asking_rule(asking, decide):
    return f"{decide} {CONDITION[asking.agent].replace(' = ', ' ').replace(chr(34), '')}"


OUTCOMES = [
    allowed, denied, denied_with_words, denied_and_stopped, expired_and_denied, expired_and_stopped,
    expired_and_waiting, interrupted, answered_by_two, answered_without_a_runner, agent_killed, allowed_by_a_rule,
    denied_by_a_rule, asked_by_a_rule,
]  # fmt: skip
EVERY = [
    pytest.param(agent, marks=pytest.mark.real) if agent != "scripted" else agent for agent in ("scripted", *EVERY_CLI)
]


@pytest.fixture
def asking(request, manager, tmp_path, wait_until):
    """A live session of an agent, ready to be started in a folder with the command for which it asks."""
    agent = request.param
    if agent == "scripted":
        request.getfixturevalue("scripted_agent")
    else:
        agent = request.getfixturevalue("use_agent")(agent)
    project = tmp_path / "project"
    project.mkdir()
    command = project / "mark"
    command.write_text("#!/bin/sh\necho ran >> ran.log\n")
    command.chmod(0o755)
    return Asking(agent, manager, project, wait_until)


@pytest.mark.parametrize("outcome", OUTCOMES, ids=lambda outcome: outcome.__name__)
@pytest.mark.parametrize("asking", EVERY, indirect=True)
def test_an_ask_has_one_answer_and_its_action_is_done_once_or_never(asking, outcome, fake_model, leftovers):
    marks, recorded = outcome(asking, fake_model)
    assert asking.marks == marks
    assert asking.recorded() == [recorded]
    [asked] = asking.asks
    if recorded[1] is not None:  # codex reports the end of every ask, answered or not
        assert asking.receipts(asked.ask.key) == 1
    if marks:
        assert asking.decisions() == [StepStatus.OK]
    asking.manager.stop(asking.id)
    assert leftovers(asking.id) == []
    assert (asking.session.asking, asking.recorded()) == (0, [recorded])


@pytest.mark.parametrize("asking", EVERY, indirect=True)
def test_what_is_always_allowed_is_not_asked_again_and_no_file_says_so(asking):
    files = asking.rule_files()
    asking.start().answer(Verdict.ALWAYS)
    asking.ended(Status.DONE)
    asking.prompt(PROMPT[asking.agent])
    asking.ended(Status.DONE, turn=2)
    assert asking.marks == 2
    first, *others = asking.recorded()
    assert first == (AskState.SETTLED, Verdict.ALWAYS, "you")
    assert others in ([], [(AskState.SETTLED, Verdict.ALLOW, "always for this session")])
    assert asking.rule_files() == files


@pytest.mark.real
@pytest.mark.parametrize("asking", EVERY_CLI, indirect=True)
def test_a_command_waits_for_the_user_and_lasts_from_the_decision(asking):
    def command():
        steps = asking.manager.reader.steps.trajectory(asking.id)
        return next((step for step in steps if step.kind is StepKind.COMMAND and step.asked_at is not None), None)

    asking.start()
    asked = asking.asked()
    asking.until(lambda: command() is not None, "the time at which the command was asked for")
    waits = command()
    assert (waits.status, waits.began_at, describe(waits).took) == (StepStatus.WAITING, None, "")
    assert asking.session.waits_since == asking.session.standing_since == asked.asked_at
    asking.answer(Verdict.ALLOW)
    asking.ended(Status.DONE)
    done, [answered] = command(), asking.asks
    assert done.status is StepStatus.OK
    assert done.began_at == done.decided_at >= answered.answered_at > done.asked_at
    assert asking.session.waits_since is None


CARDS = {
    "claude": ("[[fake:patch]] {}", "[[fake:question]] go"),
    "codex": ("[[fake:patch]] {}", ""),
}
"""Prompts of an edit that needs a permission, and of a question, which codex does not ask in its usual mode."""


@pytest.mark.real
@pytest.mark.parametrize("asking", EVERY_CLI, indirect=True)
def test_what_an_agent_asks_is_answered_in_the_card_below_its_steps(asking, terminal, wait_until):
    def decide(key):
        """Read to the end of the card, press a key, and again if it came too early, until the card is gone."""
        pressed = []

        def gone():
            screen = terminal.screen
            if "below: PgDn" in screen:
                terminal.keys("PageDown")
            elif not pressed or "Read it first" in screen:
                pressed.append(key)
                terminal.keys(key)
            return "Esc leave" not in screen

        wait_until(gone, what="the card to go")

    edit, question = CARDS[asking.agent]
    asking.start().asked()
    terminal.start("agentdash")
    terminal.shows("a answer", "a answers first, or write: read after it")
    terminal.keys("a")
    terminal.shows("run ", "./mark", "y allow once", "Esc leave")
    terminal.keys("Escape", "i")
    terminal.shows("Read after your answer")
    terminal.keys("Escape", "a")
    terminal.shows("y allow once")
    decide("y")
    asking.ended(Status.DONE)
    assert asking.marks == 1
    asking.prompt(edit.format(asking.project.parent / "notes.txt"))
    terminal.press_until("a", "y allow once")
    terminal.shows("notes.txt", "one")
    decide("y")
    asking.ended(Status.DONE, turn=2)
    if not question:
        return
    asking.prompt(question)
    terminal.press_until("a", "2 ( ) Blue")
    terminal.shows("Which colour?", "1 ( ) Red  warm", "2 ( ) Blue  cold", "3 other")
    decide("2")
    asking.ended(Status.DONE, turn=3)
    terminal.shows("The question is answered.")
    assert '{"' not in terminal.screen
