"""The protocol of the MCP server: both eras, and input of any shape."""

import json
import threading

import pytest
import small_tools
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.mcp import protocol
from agentdash.sessions.mcp import server as server_module
from agentdash.sessions.mcp.clients import Managers, call_of, client_of, lead_of
from agentdash.sessions.mcp.listing import INSTRUCTIONS
from agentdash.sessions.mcp.server import Server
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.service.manager import SessionManager
from agentdash.sessions.settings.sections import OrchestrationSettings

META = {protocol.VERSION_KEY: "2026-07-28", protocol.CLIENT_KEY: {"name": "tester", "version": "1"}}


class Wire:
    """A server without a process: what it was sent, and what it answered."""

    def __init__(self, tools=small_tools.TOOLS, managers=None):
        self.sent = []
        self._arrived = threading.Condition()
        self.server = Server(tools, self._send, managers)

    def _send(self, line):
        assert line.endswith(b"\n") and line.count(b"\n") == 1
        with self._arrived:
            self.sent.append(json.loads(line))
            self._arrived.notify_all()
        return True

    def line(self, line):
        self.server.receive(line)

    def tell(self, **message):
        self.line(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def answer(self, key):
        """Wait for the answer of a request."""

        def found():
            return next((one for one in self.sent if one.get("id") == key and "method" not in one), None)

        with self._arrived:
            assert self._arrived.wait_for(found, timeout=60), self.sent
            return found()

    def ask(self, method, key=1, **params):
        self.tell(id=key, method=method, params=params)
        return self.answer(key)

    def call(self, name, key=1, meta=None, **arguments):
        return self.ask("tools/call", key, name=name, arguments=arguments, _meta=meta or {})["result"]


@pytest.fixture
def wire():
    made = Wire()
    yield made
    made.server.finish()


@pytest.mark.parametrize(
    ("asked", "chosen"),
    [
        *((version, version) for version in protocol.HANDSHAKE_VERSIONS),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        (None, "2025-11-25"),
        ([], "2025-11-25"),
    ],
    ids=str,
)
def test_a_handshake_chooses_a_known_version(wire, asked, chosen):
    result = wire.ask("initialize", protocolVersion=asked, clientInfo={"name": "x"})["result"]
    assert result["protocolVersion"] == chosen
    assert result["capabilities"] == {"tools": {}}
    assert result["serverInfo"]["name"] == "agentdash"
    assert result["instructions"] == INSTRUCTIONS


def test_a_stateless_client_discovers_the_server_and_lists_its_tools(wire):
    found = wire.ask("server/discover", _meta=META)["result"]
    assert found["supportedVersions"] == ["2026-07-28"]
    assert (found["resultType"], found["cacheScope"], found["ttlMs"] >= 0) == ("complete", "private", True)
    assert found["_meta"][protocol.SERVER_KEY]["name"] == "agentdash"
    listed = wire.ask("tools/list", 2, _meta=META)["result"]
    assert [tool["name"] for tool in listed["tools"]] == ["count", "sleep", "say"]
    assert listed["resultType"] == "complete"
    assert wire.call("say", 3, META, text="hello")["resultType"] == "complete"


@pytest.mark.parametrize("version", ["2099-01-01", 7, [], {}], ids=str)
def test_a_request_of_an_unknown_version_learns_the_known_ones(wire, version):
    error = wire.ask("tools/list", _meta={protocol.VERSION_KEY: version})["error"]
    assert error["code"] == protocol.UNSUPPORTED_VERSION
    assert error["data"]["supported"] == [*protocol.HANDSHAKE_VERSIONS, *protocol.STATELESS_VERSIONS]


def test_ping_and_unknown_methods(wire):
    assert wire.ask("ping")["result"] == {}
    assert wire.ask("resources/list", 2)["error"]["code"] == protocol.UNKNOWN_METHOD


def test_each_message_of_a_batch_is_answered(wire):
    wire.line(b'[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":"b","method":"ping"}]')
    assert [one["id"] for one in wire.sent] == [1, "b"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", protocol.PARSE_ERROR),
        (b"\xff\xfe", protocol.PARSE_ERROR),
        (b"[" * 100_000, protocol.PARSE_ERROR),
        (b"null", protocol.INVALID_REQUEST),
        (b"[]", protocol.INVALID_REQUEST),
        (b'"text"', protocol.INVALID_REQUEST),
        (b'{"id":1,"method":7}', protocol.INVALID_REQUEST),
        (b'{"id":{},"method":"ping"}', protocol.INVALID_REQUEST),
        (b'{"id":null,"method":"ping"}', protocol.INVALID_REQUEST),
        (b'{"id":true,"method":"ping"}', protocol.INVALID_REQUEST),
    ],
)
def test_a_line_that_is_no_request_gets_an_error_and_the_server_goes_on(wire, line, code):
    wire.line(line)
    assert [(one["id"], one["error"]["code"]) for one in wire.sent] == [(None, code)]
    assert wire.ask("ping", 9)["result"] == {}


@pytest.mark.parametrize(
    "line",
    [b"", b"  \r", b'{"method":"notifications/initialized"}', b'{"id":4,"result":{}}', b'{"method":"unheard of"}',
     b'{"method":"notifications/cancelled"}', b'{"method":"notifications/cancelled","params":{"requestId":[]}}'],
)  # fmt: skip
def test_what_needs_no_answer_gets_none(wire, line):
    wire.line(line)
    assert wire.sent == []


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
messages = st.fixed_dictionaries(
    {},
    optional={
        "id": json_values,
        "method": st.sampled_from(["initialize", "tools/list", "server/discover", "ping", "notifications/cancelled"])
        | json_values,
        "params": st.fixed_dictionaries(
            {},
            optional={
                "_meta": json_values | st.dictionaries(st.sampled_from([*META]), json_values),
                "clientInfo": json_values,
                "protocolVersion": json_values,
                "requestId": json_values,
            },
        )
        | json_values,
    },
)


@given(messages)
def test_no_message_ends_the_server(message):
    wire = Wire()
    wire.line(json.dumps(message).encode())
    assert wire.ask("ping", "last")["result"] == {}


@given(st.binary(max_size=200))
def test_no_bytes_end_the_server(line):
    wire = Wire()
    wire.line(line)
    assert wire.ask("ping", "last")["result"] == {}


def test_a_list_of_tools_has_flat_schemas_and_annotations_that_codex_allows(wire):
    count, sleep, _ = wire.ask("tools/list")["result"]["tools"]
    assert count["inputSchema"] == {
        "type": "object",
        "properties": {
            "word": {"type": "string", "description": "The word to count."},
            "times": {"type": "integer", "minimum": 1, "maximum": 99, "default": 1},
            "case": {"enum": ["lower", "upper"], "default": "lower"},
            "place": {
                "type": "object",
                "properties": {"folder": {"type": "string", "default": "."}},
                "required": [],
                "additionalProperties": False,
                "default": {"folder": "."},
            },
        },
        "required": ["word"],
        "additionalProperties": False,
    }
    assert count["outputSchema"]["required"] == ["text"]
    assert count["annotations"] == {
        "title": "Count words", "readOnlyHint": False, "destructiveHint": False, "openWorldHint": False,
    }  # fmt: skip
    assert (sleep["annotations"]["readOnlyHint"], "outputSchema" in sleep) == (True, False)
    assert count["_meta"] == {"anthropic/alwaysLoad": True}


def test_a_result_is_a_structure_with_its_text_beside_it(wire):
    result = wire.call("count", word="go", times=2, case="upper", place=None)
    assert result["structuredContent"]["text"] == "GO GO"
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    assert "isError" not in result


def test_a_text_is_only_a_text(wire):
    assert wire.call("say", text="a \ud800 b") == {"content": [{"type": "text", "text": "a ? b"}]}


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("count", {"word": "a", "tmies": 2}, "bad_arguments: count has no argument 'tmies'. It takes: word, times"),
        ("count", {"word": "a", "case": "nope"}, "bad_arguments: Invalid enum value 'nope' - at `$.case`"),
        ("count", {}, "bad_arguments: Object missing required field `word`"),
        ("count", [], "bad_arguments: Expected an object"),
        ("say", {"refuse": True}, "not_yours: Session 1 is not yours. Next: list_sessions."),
        ("say", {"crash": True}, "internal_error: ValueError: a bug"),
        ("sya", {}, "unknown_tool: 'sya' is not a tool of agentdash. Tools: count, sleep, say."),
        (None, {}, "unknown_tool: None"),
        ({}, {}, "unknown_tool: {}"),
    ],
)
def test_a_failure_of_a_tool_is_a_text_for_the_model(wire, name, arguments, text):
    result = wire.ask("tools/call", name=name, arguments=arguments)["result"]
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith(text)
    assert "structuredContent" not in result


def test_a_call_that_waits_delays_no_other_and_ends_when_it_is_cancelled(wire):
    wire.tell(id=1, method="tools/call", params={"name": "sleep", "arguments": {"seconds": 500}})
    wire.tell(id=2, method="tools/call", params={"name": "sleep", "arguments": {"seconds": 500}})
    assert wire.call("say", 3, text="at once")["content"][0]["text"] == "at once"
    assert wire.ask("tools/call", 2, name="say")["error"]["code"] == protocol.INVALID_REQUEST
    wire.tell(method="notifications/cancelled", params={"requestId": 1})
    wire.server.finish()
    assert [one["id"] for one in wire.sent if one.get("result", {}).get("content")] == [3, 2]


def test_progress_is_reported_only_if_it_was_asked_for_and_at_most_once_in_two_seconds(wire):
    wire.call("sleep", 1, {"progressToken": "p"}, seconds=0.01)
    wire.call("sleep", 2, seconds=0.01)
    wire.call("sleep", 3, {"progressToken": {}}, seconds=0.01)
    reports = [one for one in wire.sent if one.get("method") == "notifications/progress"]
    assert [one["params"] for one in reports] == [{"progressToken": "p", "progress": 1, "message": "asleep"}]


def test_too_many_open_calls_are_refused(wire, monkeypatch):
    monkeypatch.setattr(server_module, "MOST_CALLS", 1)
    wire.tell(id=1, method="tools/call", params={"name": "sleep", "arguments": {"seconds": 500}})
    assert wire.call("say", 2)["content"][0]["text"].startswith("too_many_calls: 1 calls are open.")


def test_the_introduction_is_short_and_its_beginning_complete_in_itself():
    assert len(INSTRUCTIONS) <= 700
    assert "instructions. " in INSTRUCTIONS[:242]


def test_a_call_waits_no_longer_than_its_client():
    for info, env, seconds in [
        ({"name": "claude-code", "version": "2.1.197"}, {}, 270),
        ({"name": "claude-code"}, {"MCP_TOOL_TIMEOUT": "60000"}, 55),
        ({"name": "claude-code"}, {"MCP_TOOL_TIMEOUT": "3000"}, 1),
        ({"name": "claude-code"}, {"MCP_TOOL_TIMEOUT": "soon"}, 270),
        ({"name": "codex-mcp-client", "version": "0.169.0"}, {"MCP_TOOL_TIMEOUT": "60000"}, 270),
        ({"name": "other"}, {}, 45),
        ({"name": ["x"]}, {}, 45),
        (None, {}, 45),
        ({"name": "claude-code"}, {"AGENTDASH_MCP_WAIT": "20"}, 20),
        ({"name": "claude-code"}, {"AGENTDASH_MCP_WAIT": "-1"}, 270),
        ({"name": "claude-code"}, {"AGENTDASH_MCP_WAIT": "nan"}, 270),
    ]:
        assert client_of(info, env).wait_seconds == seconds, (info, env)


def test_the_settings_name_the_wait_and_the_variable_wins():
    client, settings = client_of({"name": "claude-code"}, {}), OrchestrationSettings(wait_seconds=10)
    assert client.under(settings, {}).wait_seconds == 10
    assert client.under(OrchestrationSettings(), {}).wait_seconds == 270
    env = {"AGENTDASH_MCP_WAIT": "20"}
    assert client_of({"name": "claude-code"}, env).under(settings, env).wait_seconds == 20


def test_the_client_names_the_lead_and_its_call():
    assert call_of({"claudecode/toolUseId": "toolu_1"}) == "toolu_1"
    assert call_of({"callId": "call_2", "threadId": "t"}) == "call_2"
    assert lead_of({"callId": "call_2", "threadId": "t"}) == "codex:t"
    for odd in ("", 7, [], "x" * 201, "a\nb", None):
        assert (call_of({"callId": odd}), lead_of({"threadId": odd})) == (None, None)


def test_a_caller_without_a_session_is_the_lead_that_the_client_names(wire, monkeypatch):
    monkeypatch.delenv("AGENTDASH_SESSION_ID", raising=False)
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID", raising=False)
    first = wire.call("count", 1, {"threadId": "t", "callId": "c1"}, word="x")["structuredContent"]
    second = wire.call("count", 2, {"threadId": "t", "callId": "c2"}, word="x")["structuredContent"]
    assert [(one["caller"], one["call"]) for one in (first, second)] == [("codex:t", "c1"), ("codex:t", "c2")]
    unnamed = {wire.call("count", key, word="x")["structuredContent"]["caller"] for key in (3, 4)}
    assert len(unnamed) == 1 and unnamed.pop().startswith("mcp:")


def test_a_caller_inside_a_session_is_that_session(monkeypatch):
    start = Start("lead", agent="claude", cwd="/tmp", title="lead", session_id="5e0f1f3c")
    with SessionManager() as manager:
        manager.store.create(start, Launch(argv=("x",)), "run", host="mars")
    monkeypatch.setenv("AGENTDASH_SESSION_ID", "5e0f1f3c")
    caller = Managers().of({"threadId": "t", "callId": "c"}).caller
    assert (caller.session, caller.call, caller.evidence) == ("5e0f1f3c", "c", "environment")
