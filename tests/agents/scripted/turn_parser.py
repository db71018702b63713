"""The scripted agent's stream as steps: one turn."""

from collections.abc import Callable
from typing import Any

from msgspec import structs

from agentdash.sessions.agents.parsing.event_parser import EventParser
from agentdash.sessions.agents.parsing.parser import StepFields, plan
from agentdash.sessions.agents.parsing.tolerant_decoder import TolerantDecoder
from agentdash.sessions.model.session import Change, PlanItem, Step, StepKind, StepStatus, Usage
from scripted import events


class ScriptedParser(EventParser):
    """Parses the stream of one turn."""

    decoder = TolerantDecoder(events.AnyEvent)

    def event(self, event: events.AnyEvent, line: bytes, at: int | None) -> list[Step]:
        """Return the steps of one event."""
        if not isinstance(event, events.Retry):
            self.facts.notice = None
        match event:
            case events.CommandStarted():
                return [self._command_started(event, line, at)]
            case events.CommandEnded():
                return self._command_ended(event, line, at)
            case events.Ended():
                return self._ended(event, at)
            case _:
                return [self._whole(event, at)]

    def _whole(self, event: events.Event, at: int | None) -> Step:
        """Return the step of a self-contained event."""
        match event:
            case events.Started():
                self.facts.agent_session, self.facts.model = event.conversation, event.model
            case events.Message():
                self.facts.last_message = event.text
            case events.Retry():
                self.facts.notice = event.message
            case events.Trouble():
                self.facts.error = event.message
        return self._made(_STEPS[type(event)](event), at=at)

    def _command_started(self, event: events.CommandStarted, line: bytes, at: int | None) -> Step:
        if event.id in self.state.open:
            return self._unknown(line, at, "command.started")
        step = self._new(StepKind.COMMAND, event.command, at=at, command=event.command, status=StepStatus.RUNNING)
        self._remember(event.id, step)
        return step

    def _command_ended(self, event: events.CommandEnded, line: bytes, at: int | None) -> list[Step]:
        started = self.state.open.pop(event.id, None)
        if started is None:
            return [self._unknown(line, at, "command.ended")]
        status = StepStatus.FAILED if event.exit_code else StepStatus.OK
        return [structs.replace(started, exit_code=event.exit_code, output=event.output, status=status, ended_at=at)]

    def _ended(self, event: events.Ended, at: int | None) -> list[Step]:
        usage = Usage.of(
            event.input_tokens, event.cached_input_tokens, event.output_tokens, event.reasoning_output_tokens
        )
        self.facts.end = "completed" if event.ok else "failed"
        self.facts.error = event.error
        self.facts.usage, self.facts.cost_usd = usage, event.cost_usd
        steps = [self._new(StepKind.USAGE, at=at, usage=usage, cost_usd=event.cost_usd)]
        if event.error is not None:
            steps.append(self._new(StepKind.ERROR, event.error, at=at, fatal=True))
        return steps


def _plan(event: events.Plan) -> StepFields:
    items = tuple(PlanItem(text=text, status=status) for text, status in event.items)
    return plan(items)


def _file(event: events.FileChange) -> StepFields:
    change = Change(path=event.path, kind=event.kind, diff=event.diff)
    fields: StepFields = {"kind": StepKind.FILE_CHANGE, "text": event.path, "changes": (change,)}
    if event.error is not None:
        return fields | {"output": event.error, "status": StepStatus.FAILED}
    return fields | {"status": StepStatus.OK}


def _tool(event: events.ToolCall) -> StepFields:
    called = _call(StepKind.TOOL_CALL, event.tool, event.arguments, event.result)
    status = StepStatus.FAILED if event.failed else StepStatus.OK
    return called | {"text": f"{event.server}.{event.tool}", "server": event.server, "status": status}


def _call(kind: StepKind, tool: str, arguments: Any, result: str) -> StepFields:
    return {"kind": kind, "tool": tool, "arguments": arguments, "output": result, "status": StepStatus.OK}


_STEPS: dict[type, Callable[[Any], StepFields]] = {
    events.Started: lambda e: {"kind": StepKind.START, "agent_session": e.conversation, "model": e.model},
    events.Reasoning: lambda e: {"kind": StepKind.REASONING, "text": e.text},
    events.Message: lambda e: {"kind": StepKind.MESSAGE, "text": e.text},
    events.Plan: _plan,
    events.FileChange: _file,
    events.ToolCall: _tool,
    events.Search: lambda e: _call(StepKind.WEB_SEARCH, "search", {"query": e.query}, e.result) | {"text": e.query},
    events.Helper: lambda e: _call(StepKind.SUBAGENT, "helper", {"task": e.task}, e.result) | {"text": e.task},
    events.Trouble: lambda e: {"kind": StepKind.ERROR, "text": e.message, "fatal": False},
    events.Retry: lambda e: {"kind": StepKind.NOTICE, "text": e.message, "event": "retry"},
}
