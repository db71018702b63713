"""claude's transcripts (Claude Code 2.1.330, 2.1.197 and earlier): all turns of a session, with times, diffs, tokens.

No line marks the end of a turn, there is no cost before 2.1.330, and exit codes are only in the text of a result
(docs/protocols/claude.md, "Transcripts").  A turn begins with the user's prompt; prompts sent to claude while it works
belong to that turn.
"""

import re
from collections.abc import Callable
from typing import Any

from msgspec import Raw, field, structs

from agentdash.sessions.agents.claude import events as blocks
from agentdash.sessions.agents.claude.project import project_events as events
from agentdash.sessions.agents.claude.project.project_text import (
    KNOWN,
    attachment_text,
    is_interruption,
    is_remark,
    prompt_text,
    readable,
    system_text,
)
from agentdash.sessions.agents.claude.tools import EarlyResults, TaskList, answered, begun, details_of
from agentdash.sessions.agents.parsing.event_parser import NOT_SHOWN
from agentdash.sessions.agents.parsing.json_lines import (
    KIND_LENGTH,
    NULL,
    UNREADABLE,
    Kind,
    declared_type,
    joined,
    milliseconds,
    text_of,
    value_of,
)
from agentdash.sessions.agents.parsing.parser import remember
from agentdash.sessions.agents.parsing.tolerant_decoder import TolerantDecoder
from agentdash.sessions.agents.parsing.transcript_parser import TranscriptParser, TranscriptState, digest
from agentdash.sessions.model.compaction import SUMMARY_EVENT
from agentdash.sessions.model.session import Step, StepKind, StepStatus, Usage

_MOST_REMEMBERED = 100
_MOST_LINES = 10_000
"""The lines whose ids are remembered: claude may write a conversation again into its file."""
_CALLS = frozenset({"server_tool_use", "mcp_tool_use"})
_RESULT = re.compile(r"[a-z_]{1,60}_tool_result")


class ProjectState(TranscriptState, kw_only=True):
    """Adds the speakers, the counted usage, and the prompts that wait to be delivered to claude."""

    main: bool = False
    """True if the main agent has spoken; otherwise the file is a sub-agent's own."""
    sessions: list[str] = field(default_factory=list)
    """The sessions that the file names so far."""
    written: dict[int, None] = field(default_factory=dict)
    """Digests of the ids of the lines so far, in 32 bits: they are a part of each checkpoint."""
    agents: dict[str, str] = field(default_factory=dict)
    """The call that started a sub-agent, by the sub-agent's id; without one, by the id of each of its lines."""
    counted: dict[str, Usage] = field(default_factory=dict)
    """The tokens of the newest messages, by the message's id; every line of a message repeats them."""
    early: EarlyResults = field(default_factory=EarlyResults)
    tasks: TaskList = field(default_factory=TaskList)
    queued: dict[str, str] = field(default_factory=dict)
    """Waiting prompts, by digest."""
    leaves: list[str] = field(default_factory=list)
    """The lines that a prompt may follow as a plain continuation."""
    forked_from: str | None = None
    cost_so_far: float = 0.0
    """The last reported cost of the session, US dollars."""


class ClaudeProjectParser(TranscriptParser):
    """Parses the transcript of one session."""

    state: ProjectState
    state_type = ProjectState
    decoder = TolerantDecoder(events.Line)

    def event(self, event: events.Line, line: bytes, at: int | None) -> list[Step]:
        """Return the steps of one line; its own time is preferred to its arrival time."""
        if event.uuid is not None and self._is_written_again(event.uuid):
            return []
        return self._line(event, line, milliseconds(event.timestamp) or at)

    def _is_written_again(self, uuid: str) -> bool:
        """Return whether an earlier line has the same id; remember the id."""
        key, written = int(digest(uuid.lower())[:8], 16), self.state.written
        if key in written:
            return True
        remember(written, key, None, _MOST_LINES)
        return False

    def close(self, at: int | None = None) -> list[Step]:
        """Also return notices of queued prompts that were not delivered."""
        waiting = [self._note(f"queued and not delivered: {text}", at, "queue") for text in self.state.queued.values()]
        self.state.queued.clear()
        return [*waiting, *super().close(at)]

    def _line(self, line: events.Line, raw: bytes, at: int | None) -> list[Step]:
        handle = _LINES.get(line.type)
        if handle is not None:
            return [*self._met(line, at), *handle(self, line, raw, at)]
        if line.type in events.TOLD_ELSEWHERE:
            return [] if self.state.sessions else self._named(line, at)
        return [self._unknown(raw, at, declared_type(raw))]

    def _met(self, line: events.Line, at: int | None) -> list[Step]:
        """Return the steps of the session details in any line."""
        # Two interfaces may write into one file in turn, and a title keeps the id with which it was given.
        speaks = line.type in ("user", "assistant")
        steps = self._named(line, at) if speaks or not self.state.sessions else []
        origin = line.forked_from.session_id if line.forked_from else None
        if origin is not None and origin != self.state.forked_from:
            self.state.forked_from = origin
            steps.append(self._note(f"forked from session {origin}", at, "fork"))
        if line.is_sidechain:
            return steps
        settings = {"cwd": line.cwd, "git branch": line.git_branch or None, "permission mode": line.permission_mode}
        return [*steps, *self._settings(settings, at)]

    def _named(self, line: events.Line, at: int | None) -> list[Step]:
        """Return the steps of a session that the file did not name before; a new conversation begins with a prompt."""
        session, known = line.session_id, self.state.sessions
        if session is None or session in known:
            return []
        known.append(session)
        del known[:-_MOST_REMEMBERED]
        if self._begins(line):
            return self._session(session, at)
        self.state.session = self.facts.agent_session = session
        model = self.state.settings.get("model")
        self.state.start = self._new(StepKind.START, at=at, agent_session=session, model=model)
        return [self.state.start]

    def _begins(self, line: events.Line) -> bool:
        """Return whether a line is the first prompt of a conversation."""
        if line.type != "user" or line.parent_uuid is not None or line.is_meta or line.is_sidechain:
            return False
        content = self.decoded(line.message, events.Message).content
        kinds = [] if isinstance(content, str) else [self._read_block(part)[1] for part in content]
        return not any(kind.endswith("tool_result") for kind in kinds)

    # Messages

    def _user(self, line: events.Line, raw: bytes, at: int | None) -> list[Step]:
        message = self.decoded(line.message, events.Message)
        parts = [message.content] if isinstance(message.content, str) else message.content
        parent = self._speaker(line, parts)
        steps: list[Step] = []
        words: list[str] = []
        read = [self._read_block(part) for part in parts]
        results = [block for block, _ in read if isinstance(block, blocks.ToolResult | events.AnyResult)]
        details = details_of([self.state.open.get(one.tool_use_id) for one in results], line.tool_use_result)
        for block, kind in read:
            if isinstance(block, blocks.ToolResult | events.AnyResult):
                steps.append(self._result(block, details.pop(0), parent, at))
            elif block is None:
                steps.append(self._unknown(raw, at, f"user {kind}"[:KIND_LENGTH]))
            else:
                words.append(block.text if isinstance(block, blocks.Text) else f"({kind})")
        if words:
            steps += self._said("\n".join(words), line, parent, at, alone=not steps)
        self._leaf(line, fresh=False)
        return steps

    def _said(self, text: str, line: events.Line, parent: str | None, at: int | None, *, alone: bool) -> list[Step]:
        """Return the steps of text in the user's name: a prompt, or claude's own text."""
        if is_interruption(text):
            self.facts.end, self.facts.error = "failed", "interrupted"
            return [*self._interrupted(at), self._note(text, at, "interrupted")]
        if line.is_compact_summary:
            return [self._note(f"summary of the conversation so far: {text}", at, SUMMARY_EVENT)]
        foreign = line.origin is not None and line.origin.kind not in (None, "human", "user")
        if line.is_meta or foreign or not alone or is_remark(text):
            return [self._note(text, at, "user")]
        if parent is not None:
            return [self._prompt(text, at, parent=parent)]
        self.state.queued.pop(digest(text), None)
        steps = [*self._interrupted(None), *self._begin_turn(at)] if self.state.prompted else []
        self.facts.end = self.facts.error = self.state.error = None
        if line.parent_uuid is not None and self.state.leaves and line.parent_uuid not in self.state.leaves:
            steps.append(self._note("continues from an earlier point of the conversation", at, "branch"))
        return [*steps, self._prompt(prompt_text(text), at)]

    def _assistant(self, line: events.Line, raw: bytes, at: int | None) -> list[Step]:
        message = self.decoded(line.message, events.Message)
        parts = [message.content] if isinstance(message.content, str) else message.content
        parent = self._speaker(line, parts)
        steps: list[Step] = []
        if message.model == blocks.SYNTHETIC:
            return self._made_up(readable(message.content), line, parent, at)
        if self.state.error is not None and parent is None:
            steps.append(structs.replace(self.state.error, fatal=False))
            self.state.error = self.facts.error = self.facts.end = None
        if parent is None:
            steps += self._settings({"model": message.model}, at)
        if line.forked_from is None:  # the session that a fork copies has counted it
            self._count(message)
        steps += [self._block(part, raw, parent, at) for part in parts]
        self._leaf(line, fresh=True)
        return steps

    def _block(self, part: str | Raw, raw: bytes, parent: str | None, at: int | None) -> Step:
        block, kind = self._read_block(part)
        if isinstance(block, blocks.Text):
            if parent is None:
                self.facts.last_message = block.text
            step = self._new(StepKind.MESSAGE, block.text, at=at, parent=parent)
        elif isinstance(block, blocks.Thinking | blocks.RedactedThinking):
            thinking = block.thinking if isinstance(block, blocks.Thinking) else ""
            step = self._new(StepKind.REASONING, thinking or NOT_SHOWN, at=at, parent=parent)
        elif isinstance(block, blocks.ToolUse):
            step = self._call(block.id, block.name, block.input, parent, at)
        elif isinstance(block, events.AnyCall):
            name = f"mcp__{block.server_name}__{block.name}" if block.server_name else block.name
            step = self._call(block.id, _SERVER_TOOLS.get(name, name), block.input, parent, at)
        elif isinstance(block, events.AnyResult):
            step = self._result(block, NULL, parent, at)
        elif block is None:
            step = self._unknown(raw, at, f"assistant {kind}"[:KIND_LENGTH])
        else:
            step = self._note(f"({kind})", at, "assistant")
        return step

    def _read_block(self, part: str | Raw) -> tuple[Any, str]:
        """Return a block and its kind; the block is None if it is not recognized."""
        if isinstance(part, str):
            return blocks.Text(part), "text"
        try:
            kind = self.decoded(part, Kind).type
            if kind in events.BLOCKS:
                return self.decoded(part, events.BLOCKS[kind]), kind
            if kind in _CALLS:
                return self.decoded(part, events.AnyCall), kind
            return (self.decoded(part, events.AnyResult) if _RESULT.fullmatch(kind) else None), kind
        except UNREADABLE:
            return None, "block"

    def _made_up(self, text: str, line: events.Line, parent: str | None, at: int | None) -> list[Step]:
        """Return the step of text that no model wrote: an error of the API, or words that only fill a place."""
        if line.is_api_error_message is False or (line.is_api_error_message is None and text in blocks.FILLER):
            return [self._note(text, at, "assistant")]
        error = self._new(StepKind.ERROR, text, at=at, fatal=parent is None, parent=parent)
        if parent is None:
            self.state.error = error
            self.facts.end, self.facts.error = "failed", text
        return [error]

    def _speaker(self, line: events.Line, parts: list[str] | list[Raw] | list[Any]) -> str | None:
        """Return the call of the sub-agent that speaks; None for the main agent, and in a sub-agent's own file."""
        state = self.state
        if line.parent_tool_use_id is not None:
            return line.parent_tool_use_id
        if not line.is_sidechain:
            state.main = True
            return None
        if not state.main:
            return None
        # Without an id, a line of a sub-agent names the line before it.
        agent = line.agent_id or line.parent_uuid or ""
        if agent not in state.agents or (line.parent_uuid is None and line.type == "user"):
            state.agents[agent] = self._caller(readable(parts)) or line.agent_id or "sub-agent"
        caller = state.agents[agent]
        if line.agent_id is None and line.uuid is not None:
            state.agents[line.uuid] = caller
        while len(state.agents) > _MOST_REMEMBERED:
            del state.agents[next(iter(state.agents))]
        return caller

    def _caller(self, task: str) -> str | None:
        """Return the open call that gave a sub-agent this task, else the newest open call that has none."""
        calls = [step for step in self.state.open.values() if step.kind is StepKind.SUBAGENT]
        taken = set(self.state.agents.values())
        asked = [s for s in calls if isinstance(s.arguments, dict) and s.arguments.get("prompt") == task]
        for some in (asked, calls):
            if free := [step.call_id for step in some if step.call_id not in taken] or [s.call_id for s in some]:
                return free[0] if some is asked else free[-1]
        return None

    # Tool calls

    def _call(self, key: str, name: str, arguments: Raw, parent: str | None, at: int | None) -> Step:
        given = value_of(arguments)
        fields = self.state.tasks.begun(name, given) or begun(name, given)
        known = self.state.early.take(key, fields, parent, self.state.tasks)
        if known is not None:
            return known
        step = self._made(fields, at=at, parent=parent, call_id=key, status=StepStatus.RUNNING)
        self._remember(key, step)
        return step

    def _result(
        self, block: blocks.ToolResult | events.AnyResult, details: Raw, parent: str | None, at: int | None
    ) -> Step:
        content = block.content
        text = text_of(content) if isinstance(content, Raw) else content if isinstance(content, str) else None
        text = joined(content or []) if isinstance(content, list) else text or ""
        earlier, is_error = self.state.open.pop(block.tool_use_id, None), bool(block.is_error)
        call = earlier or self._new(StepKind.TOOL_CALL, block.tool_use_id, at=at, parent=parent)
        fields = answered(call.kind, text, is_error=is_error, details=details)
        step = self.state.tasks.with_result(call, fields, details, at)
        if earlier is None:
            self.state.early.keep(block.tool_use_id, step, text, details, is_error=is_error)
        return step

    def _count(self, message: events.Message) -> None:
        """Count each message once: its lines repeat the usage, and the last line may have more."""
        if message.id is None or message.usage is None:
            return
        self.facts.unsummed = self._one_turn
        usage = message.usage.counted()
        counted = self.state.counted
        more = usage.minus(counted.pop(message.id, Usage()))
        remember(counted, message.id, usage, _MOST_REMEMBERED)
        self.state.spent = self.state.spent.plus(more)

    # Outside the conversation

    def _system(self, line: events.Line, raw: bytes, at: int | None) -> list[Step]:
        self._leaf(line, fresh=False)
        if line.subtype not in events.SYSTEM_NOTES:
            return [self._unknown(raw, at, declared_type(raw))]
        return [self._note(system_text(line), at, line.subtype)]

    def _attachment(self, line: events.Line, raw: bytes, at: int | None) -> list[Step]:
        attachment = self.decoded(line.attachment, events.Attachment)
        self._leaf(line, fresh=False)
        if attachment.type == "queued_command" and attachment.command_mode != "task-notification":
            text = readable(value_of(attachment.prompt))
            self.state.queued.pop(digest(text), None)
            return [self._prompt(text, at)]
        event = f"attachment {attachment.type}"[:KIND_LENGTH]
        if attachment.type not in KNOWN:
            return [self._unknown(raw, at, event)]
        note = attachment_text(attachment, line.attachment)
        return [] if note is None else [self._note(note, at, event)]

    def _progress(self, line: events.Line, raw: bytes, at: int | None) -> list[Step]:
        """Return the steps of a sub-agent's message; other progress is also in the result."""
        self._leaf(line, fresh=False)
        message = self.decoded(line.data, events.Progress).message
        if message is None or message.type not in ("user", "assistant"):
            return []
        inner = structs.replace(message, parent_tool_use_id=line.parent_tool_use_id or "sub-agent", uuid=None)
        return self._user(inner, raw, at) if message.type == "user" else self._assistant(inner, raw, at)

    def _queue(self, line: events.Line, _: bytes, at: int | None) -> list[Step]:  # noqa: ARG002
        text = readable(value_of(line.content))
        if line.operation == "enqueue" and text:
            remember(self.state.queued, digest(text), text[:_QUEUED_CHARACTERS], _MOST_REMEMBERED)
        elif line.operation == "popAll":
            self.state.queued.clear()
        elif line.operation in ("dequeue", "remove"):
            # A prompt that leaves the queue is in another line, or the user took it back.
            self.state.queued.pop(digest(text) if text else next(iter(self.state.queued), ""), None)
        return []

    def _cost(self, line: events.Line, _: bytes, at: int | None) -> list[Step]:  # noqa: ARG002
        total, earlier = line.total_cost_usd, self.state.cost_so_far
        if total is not None and self._one_turn:
            self.facts.running_cost_usd, self.facts.unsummed = total, False  # of the whole conversation
        elif total is not None:
            more = total - earlier if total >= earlier else total
            self.state.cost_so_far, self.facts.cost_usd = total, total
            self.state.cost = (self.state.cost or 0.0) + more
        return []

    def _told(self, line: events.Line, _: bytes, at: int | None) -> list[Step]:
        """Return the steps of titles, modes and so on."""
        title = line.custom_title or line.ai_title or line.agent_name or line.summary or line.tag
        text = title or line.pr_url or line.relocated_cwd or line.continued_in_session_id
        if line.type in ("mode", "permission-mode"):
            return self._settings({"mode": line.mode, "permission mode": line.permission_mode}, at)
        return [self._note(f"{line.type.replace('-', ' ')}: {text}", at, line.type)] if text else []

    def _leaf(self, line: events.Line, *, fresh: bool) -> None:
        """Remember the lines that the next prompt may continue."""
        if line.uuid is None or line.is_sidechain:
            return
        self.state.leaves = [line.uuid] if fresh else [*self.state.leaves[-_MOST_REMEMBERED:], line.uuid]


_QUEUED_CHARACTERS = 2_000
_SERVER_TOOLS = {"web_search": "WebSearch", "web_fetch": "WebFetch"}
"""The API's own tools, with the names of claude's equivalent tools."""


_TELLING = (
    "summary", "custom-title", "ai-title", "agent-name", "tag", "pr-link", "relocated", "continued-in", "mode",
    "permission-mode",
)  # fmt: skip
_P = ClaudeProjectParser
_LINES: dict[str, Callable[[ClaudeProjectParser, events.Line, bytes, int | None], list[Step]]] = {
    "user": _P._user,
    "assistant": _P._assistant,
    "system": _P._system,
    "attachment": _P._attachment,
    "progress": _P._progress,
    "queue-operation": _P._queue,
    "cost-state": _P._cost,
    **dict.fromkeys(_TELLING, _P._told),
}
