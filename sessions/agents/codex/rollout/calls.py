"""The calls of codex's tools in its transcripts: two records hold each call, which is one step."""

from msgspec import field, structs

from agentdash.sessions.agents.codex.rollout import events, tools
from agentdash.sessions.agents.parsing.json_lines import NULL, value_of
from agentdash.sessions.agents.parsing.parser import StepFields, changed, remember
from agentdash.sessions.agents.parsing.transcript_parser import TranscriptParser, TranscriptState
from agentdash.sessions.model.session import Step, StepKind, StepStatus
from agentdash.sessions.rules.truncate import trimmed

EVENT, ITEM = 1, -1
"""The two records: the events that codex reported, and the items that the model got and gave."""

MOST_REMEMBERED = 200
_MOST_EARLY = 20


class CallState(TranscriptState, kw_only=True):
    """Adds the calls that only one of the two records has ended so far."""

    closed: dict[str, int] = field(default_factory=dict)
    """The record that ended a call, by the call's id."""
    early: dict[str, Step] = field(default_factory=dict)
    """Calls whose outputs came before them, by the call's id."""
    processes: dict[str, str] = field(default_factory=dict)
    """The calls whose commands still run, by the number of the process."""


class CallReader(TranscriptParser):
    """Follows each call from its beginning to its output."""

    state: CallState
    state_type = CallState

    def _call(self, item: events.FunctionCall, at: int | None) -> list[Step]:
        arguments = item.input if item.input is not None else tools.arguments_of(item.arguments)
        return self._begun(item.call_id or item.id, tools.begun(item.name, item.namespace, arguments), at)

    def _shell_call(self, item: events.LocalShellCall, at: int | None) -> list[Step]:
        return self._begun(item.call_id or item.id, tools.command(tools.command_text(item.action.command)), at)

    def _tool_search(self, item: events.FunctionCall, at: int | None) -> list[Step]:
        fields: StepFields = {"kind": StepKind.TOOL_CALL, "text": "tool_search", "tool": "tool_search"}
        return self._begun(item.call_id, fields | {"arguments": value_of(item.arguments)}, at)

    def _output(self, item: events.CallOutput, at: int | None) -> list[Step]:
        answer = tools.answer_of(item.output if item.output != NULL else item.tools)
        key = item.call_id
        earlier = self.state.open.get(key) if key else None
        if earlier is None:
            fields: StepFields = {"kind": StepKind.TOOL_CALL, "text": key or ""}
            steps = self._done(key, fields | tools.ended(StepKind.TOOL_CALL, answer), at, source=ITEM)
            if key and steps:
                early = structs.replace(steps[-1], exit_code=answer.exit_code, ended_at=at)
                remember(self.state.early, key, trimmed(early), _MOST_EARLY)
            return steps
        if answer.process is not None and earlier.kind is StepKind.COMMAND:
            self.state.processes[answer.process] = earlier.call_id or ""
            return self._begun(key, {"output": answer.text}, at)
        steps = self._process_ended(earlier, answer, at)
        return [*steps, *self._done(key, tools.ended(earlier.kind, answer), at, source=ITEM)]

    def _process_ended(self, reading: Step, answer: tools.Answer, at: int | None) -> list[Step]:
        """End the command whose last output a ``write_stdin`` call read, unless it still runs."""
        if reading.tool != "write_stdin" or answer.exit_code is None or not isinstance(reading.arguments, dict):
            return []
        key = self.state.processes.pop(str(reading.arguments.get("session_id")), None)
        command = self.state.open.get(key) if key else None
        if command is None:
            return []
        fields = tools.ended(StepKind.COMMAND, answer) | {"output": (command.output or "") + answer.text}
        return self._done(key, fields, at, source=ITEM)

    def _begun(self, key: str | None, fields: StepFields, at: int | None) -> list[Step]:
        """Begin a call, or update it if the other record has begun it already."""
        if key and (ended := self.state.early.pop(key, None)) is not None:
            exit_code = ended.exit_code if fields.get("kind") is StepKind.COMMAND else None
            outcome: StepFields = {"status": ended.status, "output": ended.output, "exit_code": exit_code}
            return [changed(ended, fields | outcome, call_id=key)]
        earlier = self.state.open.get(key) if key else None
        given: StepFields = {"status": StepStatus.RUNNING if key else None}
        step = changed(earlier, fields) if earlier else self._made(given | fields, at=at, call_id=key)
        if key:
            # Some models repeat ids in later turns.
            self.state.closed.pop(key, None)
            self._remember(key, step)
        return [step]

    def _done(
        self, key: str | None, fields: StepFields, at: int | None, *, began: int | None = None, source: int = EVENT
    ) -> list[Step]:
        """End a call; return no steps if the other record has ended it already."""
        earlier = self.state.open.pop(key, None) if key else None
        if earlier is None and key is not None and self.state.closed.get(key) == -source:
            del self.state.closed[key]
            return []
        if key is not None:
            remember(self.state.closed, key, source, MOST_REMEMBERED)
        if earlier is None:
            return [self._made(fields, at=began or at, call_id=key, ended_at=at if began else None)]
        # A call that only reads further output keeps its kind.
        return [changed(earlier, fields, ended_at=at)]
