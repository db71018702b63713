"""What live agents ask beside commands: an MCP server's form, a call of its tool, permissions, a patch elsewhere."""

import json
import os
import sys
from pathlib import Path

import pytest
from asking_session import AskingSession
from places import TESTS
from real_clis import EVERY_CLI

from agentdash.sessions.model.session import Status, StepKind, StepStatus
from agentdash.sessions.rules.asks.model import Answer, AskKind, Verdict
from agentdash.sessions.rules.asks.recorded import AskState

pytestmark = [pytest.mark.real]

SERVER = TESTS / "e2e" / "form_server.py"
TOOL = "mcp__forms__ask"
ALLOW_TOOL = f'[[asks.rules]]\ndecide = "allow"\ntool = "{TOOL}"\n'
BY_RULE = (AskKind.TOOL, AskState.SETTLED, Verdict.ALLOW, f"rule: allow tool {TOOL}")
FIELDS = {
    "name": ("What is the table's name?", "string", [], True),
    "colour": ("Colour", "string", ["red", "blue"], True),
    "sure": ("Sure", "boolean", ["true", "false"], True),
    "rows": ("Rows", "integer", [], True),
    "share": ("Share", "number", [], False),
}
VALUES = {"name": ("Ada's",), "colour": ("blue",), "sure": ("false",), "rows": ("3",), "share": ("0.5",)}
ANSWER = Answer(verdict=Verdict.ANSWER, values=VALUES)
ACCEPTED = {
    "action": "accept",
    "content": {"name": "Ada's", "colour": "blue", "sure": False, "rows": 3, "share": 0.5},
}


class Asking(AskingSession):
    """A live session whose agent asks; its sandbox does not have the folder ``outside``."""

    def __init__(self, agent, manager, home, wait_until):
        super().__init__(agent, manager, home / "project", wait_until)
        self._home, self.outside, self._got = home, home / "outside", home / "got.jsonl"
        self.project.mkdir()
        self.outside.mkdir()

    def start(self, prompt, rules="", **options):
        """Start it under rules for asks."""
        Path(os.environ["AGENTDASH_CONFIG"]).write_text(rules)
        return self.spawn(prompt, options)

    def start_with_server(self, rules=ALLOW_TOOL):
        """Start it with the MCP server, whose tool it calls."""
        server = {"command": sys.executable, "args": [str(SERVER), str(self._got)]}
        if self.agent == "codex":
            return self.start("[[fake:form]] go", rules, config={"mcp_servers": {"forms": server}})
        servers = self._home / "servers.json"
        servers.write_text(json.dumps({"mcpServers": {"forms": server}}))
        args = ("--mcp-config", str(servers), "--strict-mcp-config")
        return self.start("[[fake:form]] go", rules, permission_mode="default", args=args)

    def asked(self, kind):
        """Wait until the user is asked; the ask."""

        def found():
            assert not self.session.status.ended, self.session.reason
            asks = self.manager.reader.asks(self.id)
            return asks and asks[0].ask.kind is kind and asks[0].answer is None and asks[0]

        return self.until(found, f"an ask: {kind}")

    def answer(self, kind, answer):
        asked = self.asked(kind)
        self.manager.asks.answer(asked.id, answer if isinstance(answer, Answer) else Answer(verdict=answer))
        return asked.ask

    @property
    def recorded(self):
        """The kind, the state, the decision and its author of each ask."""
        return [(one.ask.kind, one.state, one.answer and one.answer.verdict, one.answered_by) for one in self.asks]

    @property
    def got(self):
        """The answers that the MCP server got."""
        return [json.loads(line) for line in self._got.read_text().splitlines()] if self._got.exists() else []

    def steps(self, kind):
        return [step for step in self.manager.reader.steps.trajectory(self.id) if step.kind is kind]


@pytest.fixture
def asking(request, use_agent, manager, scratch_home, wait_until):
    """A live session of an agent, ready to be started below the agent's home, which no sandbox has."""
    return Asking(use_agent(request.param), manager, scratch_home, wait_until)


each_cli = pytest.mark.parametrize("asking", EVERY_CLI, indirect=True)
only_codex = pytest.mark.parametrize("asking", ["codex"], indirect=True)


@each_cli
def test_a_form_is_shown_with_its_fields_and_its_server_gets_the_values(asking, fake_model):
    form = asking.start_with_server().answer(AskKind.FORM, ANSWER)
    fields = {
        one.key: (one.text, one.type, [choice.label for choice in one.choices], one.required) for one in form.questions
    }
    assert (form.title, form.tool, fields) == ("fill in a form of forms: Which table?", "forms", FIELDS)
    asking.ended(Status.DONE)
    assert asking.got == [ACCEPTED]
    assert asking.recorded == [BY_RULE, (AskKind.FORM, AskState.SETTLED, Verdict.ANSWER, "you")]
    [call] = asking.steps(StepKind.TOOL_CALL)
    assert (call.server, call.tool, call.status) == ("forms", "ask", StepStatus.OK)
    assert json.loads(call.output.removeprefix("the answer is ")) == ACCEPTED
    assert fake_model.was_shown(call.output)


@each_cli
def test_the_server_of_a_form_that_is_declined_is_told_so(asking):
    asking.start_with_server().answer(AskKind.FORM, Verdict.DENY)
    asking.ended(Status.DONE)
    assert asking.got == [{"action": "decline"}]
    assert asking.recorded == [BY_RULE, (AskKind.FORM, AskState.SETTLED, Verdict.DENY, "you")]


@each_cli
def test_an_interrupt_cancels_a_form_and_the_next_turn_has_its_own(asking):
    asking.start_with_server().asked(AskKind.FORM)
    asking.manager.prompts.interrupt(asking.id)
    assert asking.ended(Status.STOPPED).reason == "stopped by you"
    assert asking.recorded == [BY_RULE, (AskKind.FORM, AskState.WITHDRAWN, None, None)]
    asking.prompt("[[fake:form_again]] go")
    asking.answer(AskKind.FORM, ANSWER)
    asking.ended(Status.DONE, turn=2)
    assert asking.got == [{"action": "cancel"}, ACCEPTED]


@each_cli
def test_a_form_can_be_cancelled_with_the_turn(asking):
    asking.start_with_server().answer(AskKind.FORM, Verdict.STOP)
    assert asking.ended(Status.STOPPED).reason == "stopped by you"
    assert asking.got == [{"action": "cancel"}]
    assert asking.recorded == [BY_RULE, (AskKind.FORM, AskState.SETTLED, Verdict.STOP, "you")]


@each_cli
def test_a_call_of_a_tool_is_shown_with_its_arguments_and_denied(asking):
    call = asking.start_with_server(rules="").answer(AskKind.TOOL, Verdict.DENY)
    assert (call.tool, call.title, json.loads(call.body)) == (TOOL, "use ask of forms", {"about": "tables"})
    asking.ended(Status.DONE)
    assert asking.got == []
    assert asking.recorded == [(AskKind.TOOL, AskState.SETTLED, Verdict.DENY, "you")]


@each_cli
def test_a_tool_that_is_always_allowed_is_not_asked_for_again(asking):
    asking.start_with_server(rules="").answer(AskKind.TOOL, Verdict.ALWAYS)
    asking.answer(AskKind.FORM, ANSWER)
    asking.ended(Status.DONE)
    asking.prompt("[[fake:form_again]] go")
    asking.answer(AskKind.FORM, Verdict.DENY)
    asking.ended(Status.DONE, turn=2)
    assert asking.got == [ACCEPTED, {"action": "decline"}]
    kinds = [kind for kind, _, verdict, by in asking.recorded if by == "you"]
    assert kinds == [AskKind.TOOL, AskKind.FORM, AskKind.FORM]


@only_codex
@pytest.mark.parametrize("verdict", [Verdict.ALLOW, Verdict.ALWAYS, Verdict.DENY])
def test_wider_permissions_are_for_the_turn_or_the_session(asking, verdict):
    prompt = f"[[fake:permissions]] {asking.outside}"
    options = {"sandbox": "workspace-write", "args": ("--enable", "request_permissions_tool")}
    ask = asking.start(prompt, **options).answer(AskKind.PERMISSIONS, verdict)
    assert (ask.title, ask.why) == ("use wider permissions", "It saves a file.")
    assert json.loads(ask.body)["fileSystem"]["write"] == [str(asking.outside)]
    asking.ended(Status.DONE)
    saved = asking.outside / "saved"
    assert saved.exists() is (verdict is not Verdict.DENY)


@only_codex
@pytest.mark.parametrize("verdict", [Verdict.ALLOW, Verdict.DENY, Verdict.STOP])
def test_a_patch_outside_the_workspace_is_shown_and_applied_only_if_it_is_allowed(asking, verdict):
    path = asking.outside / "patched.txt"
    # The sandbox has the folders of temporary files, in which these tests may be.
    sandbox = {"sandbox_workspace_write": {"exclude_slash_tmp": True, "exclude_tmpdir_env_var": True}}
    started = asking.start(f"[[fake:patch]] {path}", sandbox="workspace-write", config=sandbox)
    ask = started.answer(AskKind.EDIT, verdict)
    assert (ask.title, ask.paths) == (f"edit {path}", (str(path),))
    assert ask.body == f"add {path}\n@@ -0,0 +1,2 @@\n+one\n+two"
    asking.ended(Status.STOPPED if verdict is Verdict.STOP else Status.DONE)
    assert path.exists() is (verdict is Verdict.ALLOW)
    assert asking.recorded == [(AskKind.EDIT, AskState.SETTLED, verdict, "you")]
