"""The lines of ``codex app-server`` (codex-cli 0.169.0).

A message with ``method`` is a notification, or a request if it also has an ``id``; one without is an answer to a
request of ours (docs/protocols/codex.md, "App-server").
"""

import msgspec
from msgspec import Raw, Struct

from agentdash.sessions.agents.codex.app_server import events
from agentdash.sessions.agents.parsing.json_lines import NULL, UNREADABLE, Words
from agentdash.sessions.agents.parsing.line_parts import parts
from agentdash.sessions.agents.parsing.tolerant_decoder import TolerantDecoder

OPTED_OUT = (
    "item/agentMessage/delta", "item/plan/delta", "item/reasoning/summaryTextDelta",
    "item/reasoning/summaryPartAdded", "item/reasoning/textDelta", "turn/diff/updated",
)  # fmt: skip
"""Notifications that codex is asked not to send: a completed item has the whole text, and each patch its diff."""

IGNORED = frozenset({
    *OPTED_OUT, "account/gatewayOAuth/changed", "account/login/completed", "account/rateLimits/updated",
    "account/updated", "app/list/updated", "command/exec/outputDelta", "externalAgentConfig/import/completed",
    "externalAgentConfig/import/progress", "fs/changed", "fuzzyFileSearch/sessionCompleted",
    "fuzzyFileSearch/sessionUpdated", "hook/completed", "hook/started", "item/commandExecution/terminalInteraction",
    "item/fileChange/outputDelta", "item/fileChange/patchUpdated", "item/mcpToolCall/progress",
    "mcpServer/event/stream/notification", "mcpServer/oauthLogin/completed", "mcpServer/startupStatus/updated",
    "model/safetyBuffering/updated", "model/verification", "modelProvider/authRecoveryCompleted",
    "modelProvider/authRecoveryStarted", "process/exited", "process/outputDelta", "project/changed",
    "rawResponse/completed", "rawResponseItem/completed", "remoteControl/status/changed", "skills/changed",
    "thread/archived", "thread/attachment/updated", "thread/closed", "thread/compacted", "thread/deleted",
    "thread/environment/connected", "thread/environment/disconnected", "thread/goal/cleared", "thread/goal/updated",
    "thread/name/updated", "thread/prediction/updated", "thread/project/updated", "thread/queue/changed",
    "thread/readState/changed", "thread/reverted", "thread/section/changed", "thread/started",
    "thread/status/changed", "thread/unarchived", "turn/moderationMetadata",
})  # fmt: skip
"""Notifications without anything for the user; another unknown method becomes an unknown step."""


Message = events.Event | events.Asking

MESSAGES: TolerantDecoder[Message] = TolerantDecoder(Message)


class Thread(Struct):
    """A conversation."""

    id: str = ""


class Result(Struct):
    """The parts of an answer that are read."""

    thread: Thread | None = None
    turn: events.Turn | None = None
    model: str | None = None
    cwd: Words = ""
    sandbox: events.Policy | None = None


class Line(Struct):
    """Any message, for a line that is not a :data:`Message`."""

    method: str | None = None
    id: int | str | None = None
    params: Raw = NULL
    result: Result | None = None
    error: events.Error | None = None


INITIALIZED = 1
"""The id of our request ``initialize``."""

OPENED = 2
"""The id of our request that starts or resumes the thread."""

INITIALIZED_BEFORE = "Already initialized"
"""The error of a second ``initialize`` (0.169.0)."""

HANDSHAKE = (INITIALIZED, OPENED)


def key_text(request_id: int | str) -> str:
    """Return the JSON of a request's id."""
    return msgspec.json.encode(request_id).decode()


LINES: TolerantDecoder[Line] = TolerantDecoder(Line)


def every(line: bytes) -> list[Message | Line]:
    """Read each message of a line that may have others beside it, as far as possible.  Never raises."""
    try:
        return [MESSAGES.decode(line)]
    except UNREADABLE:
        return [message for message in map(read, parts(line)) if message is not None]


def read(line: bytes) -> Message | Line | None:
    """Read a line as far as possible; None if it is not a message.  Never raises."""
    try:
        return MESSAGES.decode(line)
    except UNREADABLE:
        other = LINES.best(line)
    if other is not None and (other.method is None or other.method in IGNORED):
        return other
    event: Message | None = MESSAGES.read(line).event
    return event if event is not None else other
