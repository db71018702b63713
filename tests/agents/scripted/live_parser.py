"""The stream of a live scripted agent as steps: one turn's part of it.  A stream of one turn has fewer events."""

from typing import Any, Unpack

from msgspec import field, structs

from agentdash.sessions.agents.parsing.event_parser import EventState
from agentdash.sessions.agents.parsing.parser import StepFields, changed
from agentdash.sessions.agents.parsing.tolerant_decoder import TolerantDecoder
from agentdash.sessions.model.session import Change, Step, StepKind, StepStatus, Usage
from agentdash.sessions.rules.asks.answers import sentence
from agentdash.sessions.rules.asks.model import AskKind
from scripted import events, live_events
from scripted.turn_parser import ScriptedParser

OUTPUT_TAIL = 8 << 10
"""Characters kept of the output of a command that runs; its end has the output as the agent reports it."""

MOST_ASKS = 1_000
"""Asks that may be open at once."""

_ALLOWED = frozenset({"allow", "always", "answer"})
_ACTIONS = frozenset({AskKind.COMMAND, AskKind.EDIT, AskKind.TOOL})
_DONE = frozenset({StepKind.COMMAND, StepKind.FILE_CHANGE, StepKind.TOOL_CALL})
_ACTION, _WORDS = "action\n", "words\n"
"""Before the key of an ask whose step is open: an action follows an approval, or the answer is all."""


class LiveState(EventState, kw_only=True):
    """Adds the turn's own prompt, and the asks that are open."""

    began: bool = False
    own: str | None = None
    """The key of the prompt that began the part; it is not a step, because the turn has it already."""
    asks: dict[str, str] = field(default_factory=dict)
    """The words about each open ask, by its key, oldest first."""


class LiveScriptedParser(ScriptedParser):
    """Parses one turn of either transport."""

    state: LiveState
    state_type = LiveState
    decoder = TolerantDecoder(live_events.AnyLiveEvent)

    def event(self, event: Any, line: bytes, at: int | None) -> list[Step]:
        """Return the steps of one event."""
        if isinstance(event, live_events.CommandOutput):
            return self._grown(event)
        if isinstance(event, events.CommandStarted | events.FileChange | events.ToolCall):
            return self._allowed(event, super().event(event, line, at))
        steps = self._live(event, at)
        if steps is None:
            return super().event(event, line, at)
        self.facts.notice = None
        return steps

    def _live(self, event: live_events.AnyLiveEvent, at: int | None) -> list[Step] | None:
        """Return the steps of an event of a live agent; None for an event that every scripted agent prints."""
        steps: list[Step] | None = None
        match event:
            case live_events.Ready():
                self.facts.agent_session, self.facts.model = event.conversation, event.model or self.facts.model
                steps = []
            case live_events.TurnBegan():
                steps = [self._began(event, at)]
            case live_events.TurnEnded():
                steps = self._turn_ended(event, at)
            case live_events.PromptState():
                steps = self._prompt(event, at)
            case live_events.Asked():
                steps = self._asked(event, at)
            case live_events.Answered():
                steps = self._answered(event, at)
            case live_events.AskCancelled():
                steps = self._ask_over(event.key, at, status=StepStatus.INTERRUPTED)
            case live_events.Declined():
                self.facts.deny(event.tool or event.title)
                steps = [self._made(_wanted(event), at=at, ended_at=at, status=StepStatus.DECLINED)]
            case live_events.Changed():
                self.facts.model = event.value if event.what == "model" else self.facts.model
                steps = [self._new(StepKind.NOTICE, f"{event.what}: {event.value}", at=at, event="changed")]
        return steps

    def _began(self, event: live_events.TurnBegan, at: int | None) -> Step:
        if not self.state.began:
            self.state.began, self.state.own = True, event.key
        self.facts.agent_session = event.conversation or self.facts.agent_session
        self.facts.model = event.model or self.facts.model
        self.facts.end = self.facts.error = None
        return self._new(StepKind.START, at=at, agent_session=event.conversation, model=event.model)

    def _turn_ended(self, event: live_events.TurnEnded, at: int | None) -> list[Step]:
        self.state.asks.clear()
        self.facts.waiting = None
        usage = Usage.of(
            event.input_tokens, event.cached_input_tokens, event.output_tokens, event.reasoning_output_tokens
        )
        self.facts.end = "completed" if event.status == "completed" else "failed"
        self.facts.error = event.error or ("interrupted" if event.status == "interrupted" else None)
        self.facts.usage, self.facts.cost_usd = usage, event.cost_usd
        steps = self.close(at)
        if event.status != "interrupted":
            steps.append(self._new(StepKind.USAGE, at=at, usage=usage, cost_usd=event.cost_usd))
        if event.error is not None:
            steps.append(self._new(StepKind.ERROR, event.error, at=at, fatal=True))
        return steps

    def _prompt(self, event: live_events.PromptState, at: int | None) -> list[Step]:
        """Return the step of a prompt that was steered into the turn."""
        if event.state == "refused":
            return [self._new(StepKind.ERROR, event.reason, at=at, fatal=False)]
        if event.state != "seen" or event.again or event.key == self.state.own:
            return []
        return [self._new(StepKind.PROMPT, event.text, at=at)]

    def _asked(self, event: live_events.Asked, at: int | None) -> list[Step]:
        if event.key in self.state.asks or len(self.state.asks) >= MOST_ASKS:
            return []
        self.state.asks[event.key] = sentence(event)
        self._wait()
        step = self._made(_wanted(event), at=at, status=StepStatus.RUNNING)
        self._remember((_ACTION if event.kind in _ACTIONS else _WORDS) + event.key, step)
        return [step]

    def _answered(self, event: live_events.Answered, at: int | None) -> list[Step]:
        if event.verdict not in _ALLOWED:
            return self._ask_over(event.key, at, status=StepStatus.DECLINED, output=event.message or None)
        if _ACTION + event.key in self.state.open:
            self._over(event.key)  # what was allowed follows, and is the same step
            return []
        given = "\n".join(f"{key}: {', '.join(values)}" for key, values in event.values.items())
        return self._ask_over(event.key, at, status=StepStatus.OK, output=given or event.message or event.verdict)

    def _ask_over(self, key: str, at: int | None, **fields: Unpack[StepFields]) -> list[Step]:
        """Return the step of an ask with its end."""
        self._over(key)
        opened = [self.state.open.pop(lead + key, None) for lead in (_ACTION, _WORDS)]
        return [changed(step, fields, ended_at=at) for step in opened if step is not None]

    def _over(self, key: str) -> None:
        self.state.asks.pop(key, None)
        self._wait()

    def _allowed(
        self, event: events.CommandStarted | events.FileChange | events.ToolCall, steps: list[Step]
    ) -> list[Step]:
        """Put what was allowed into the step of its ask."""
        if event.ask is None or len(steps) != 1 or steps[0].kind not in _DONE:
            return steps
        asked = self.state.open.pop(_ACTION + event.ask, None)
        if asked is None:
            return steps
        self.state.next -= 1
        step = structs.replace(steps[0], index=asked.index, at=asked.at)
        if isinstance(event, events.CommandStarted):
            self._remember(event.id, step)
        return [step]

    def _grown(self, event: live_events.CommandOutput) -> list[Step]:
        """Return the open step of a command with the end of its output so far."""
        step = self.state.open.get(event.id)
        if step is None or step.kind is not StepKind.COMMAND:
            return []
        output = (step.output or "") + event.text
        grown = structs.replace(step, output=_tail(output))
        self.state.open[event.id] = grown
        return [grown]

    def _wait(self) -> None:
        self.facts.waiting = next(iter(self.state.asks.values()), None)


def _tail(output: str) -> str:
    """Return the end of an output, from the beginning of a line if one is near."""
    if len(output) <= OUTPUT_TAIL:
        return output
    end = output[-OUTPUT_TAIL + 2 :]
    return "…\n" + (end[end.find("\n") + 1 :] if "\n" in end[: OUTPUT_TAIL // 2] else end)


def _wanted(event: live_events.Asked | live_events.Declined) -> StepFields:
    """Return the fields of the step that an ask asks for."""
    fields: StepFields = {"kind": StepKind.TOOL_CALL, "text": event.title, "tool": event.tool or event.kind}
    if event.kind == AskKind.COMMAND:
        command = event.body or event.title.removeprefix("run: ")
        return fields | {"kind": StepKind.COMMAND, "text": command, "command": command}
    if event.kind == AskKind.EDIT:
        paths = event.paths if isinstance(event, live_events.Asked) else ()
        changes = tuple(Change(path=path, kind="update", diff=event.body or None) for path in paths)
        return fields | {"kind": StepKind.FILE_CHANGE, "text": ", ".join(paths) or event.title, "changes": changes}
    return fields | {"arguments": event.body or None}
