"""codex's stream as steps (codex-cli 0.169.0): one turn.

The stream has no times, no cost, no model and no diffs.  Usage is cumulative for the thread.  A started item may never
complete (docs/protocols/codex.md, "Stream").
"""

import zlib

from msgspec import structs

from agentdash.sessions.agents.codex import items
from agentdash.sessions.agents.codex.item_steps import described, ended, message_of, readable_error
from agentdash.sessions.agents.codex.refusals import refused
from agentdash.sessions.agents.names import UUID
from agentdash.sessions.agents.parsing.event_parser import EventParser
from agentdash.sessions.agents.parsing.parser import StepFields, changed
from agentdash.sessions.agents.parsing.tolerant_decoder import TolerantDecoder
from agentdash.sessions.model.session import Step, StepKind, StepStatus
from agentdash.sessions.rules.costs.reports import THREAD, Report

_OPEN = "call:"
"""The prefix of open calls' keys, which no other item has."""


class CodexParser(EventParser):
    """Parses the stream of one turn."""

    decoder = TolerantDecoder(items.Event)
    conversation_ids = UUID

    def event(self, event: items.Event, line: bytes, at: int | None) -> list[Step]:  # noqa: ARG002 - a line has one
        """Return the steps of one event."""
        match event:
            case items.ThreadStarted():
                return [self._converses(event.thread_id or "", at)]
            case items.TurnStarted():
                return []
            case items.TurnCompleted():
                return self._completed(event, at)
            case items.TurnFailed():
                self.facts.notice = None
                return [self._fatal(readable_error(message_of(event.error)), at)]
            case items.TopError():
                return self._trouble(readable_error(event.message), at)
            case _:
                return self._item(event.item, at, completed=isinstance(event, items.ItemCompleted))

    def _completed(self, event: items.TurnCompleted, at: int | None) -> list[Step]:
        self.facts.end = "completed"
        self.facts.error = self.facts.notice = None
        usage = (event.usage or items.Tokens()).counted()
        if self.facts.reported is not None:
            self.facts.reported.add(Report(source=THREAD, key="", kind="thread", usage=usage, at=at))
        self.facts.thread_usage = usage
        return [self._new(StepKind.USAGE, "tokens of the whole thread", at=at, usage=usage, whole_thread=True)]

    def _trouble(self, message: str, at: int | None) -> list[Step]:
        if message.startswith("Reconnecting"):
            self.facts.notice = message
            return [self._new(StepKind.NOTICE, message, at=at, event="error")]
        return [self._error(message, at)]

    def _item(self, item: items.AnyItem, at: int | None, *, completed: bool) -> list[Step]:
        self.facts.notice = None
        if isinstance(item, items.Call | items.CallOutput):
            return self._call_item(item, at) if completed else []
        if isinstance(item, items.AgentMessage):
            self.facts.last_message = item.text
        fields = described(item)
        # An item without an id is linked to its end by its kind and its command.
        key = item.id or f"?{fields['kind']}:{zlib.crc32((fields.get('command') or '').encode())}"
        earlier = self.state.open.pop(key, None)
        step = changed(earlier, fields) if earlier else self._made(fields, at=at, call_id=item.id or None)
        if completed:
            step = ended(step, at if earlier else None)
            if (what := refused(step)) is not None:
                self.facts.deny(what)
            return [step]
        step = structs.replace(step, status=StepStatus.RUNNING)
        self._remember(key, step)
        return [step]

    def _call_item(self, item: items.Call | items.CallOutput, at: int | None) -> list[Step]:
        """Follow a call as the model wrote it: versions before the typed items printed them.

        ``function_call`` and the similar items belong to the model's own protocol.  An output names its call by
        ``call_id``; an output without one answers the newest open call.
        """
        if isinstance(item, items.Call):
            step = self._made(_begun(item), at=at, call_id=item.call_id or item.id or None, status=StepStatus.RUNNING)
            self._remember(f"{_OPEN}{item.call_id or item.id}", step)
            return [step]
        from agentdash.sessions.agents.codex.rollout import tools  # the typed items of current versions do not need it

        newest = next((key for key in reversed(self.state.open) if key.startswith(_OPEN)), "")
        earlier = self.state.open.pop(newest if item.call_id is None else f"{_OPEN}{item.call_id}", None)
        if earlier is None:
            earlier = self._new(StepKind.TOOL_CALL, item.call_id or "", at=at, call_id=item.call_id)
        answer = tools.answer_of(item.output)
        return [changed(earlier, tools.ended(earlier.kind, answer), ended_at=at)]


def _begun(item: items.Call) -> StepFields:
    from agentdash.sessions.agents.codex.rollout import tools

    if isinstance(item, items.LocalShellCall):
        return tools.command(tools.command_text(item.action.command))
    arguments = item.input if item.input is not None else tools.arguments_of(item.arguments)
    return tools.begun(item.name, item.namespace, arguments)
