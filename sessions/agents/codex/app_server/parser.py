"""The stream of ``codex app-server`` as steps (codex-cli 0.169.0, prompts 1.2).

One process serves many turns; a parser reads one.  The lines between two turns belong to the second.  A sub-agent's
thread prints into the same stream.
"""

from collections.abc import Callable
from typing import Any

from msgspec import field, structs

from ....model import PlanItem, Step, StepKind, StepStatus, Usage
from ...event_parser import EventParser, EventState
from ...json_lines import UNREADABLE
from ..items import ended
from ..refusals import refused
from ..server_errors import readable_error
from . import events, items, lines, requests
from .asks import ask_of, key_of, unknown_ask, words_of
from .ignored import IGNORED
from .item_steps import fields_of

TAIL = 8192
"""Characters kept of the output of a command that is still running."""

MOST_KEPT = 1_000
"""Open questions, and threads of sub-agents, that are remembered."""

_PLAN_STATUS = {"inProgress": "in_progress"}
_PLAN = "plan"
"""The key of the step of the plan; no item's key equals it, because these begin with their thread."""

_INTERRUPTED = "the turn was interrupted"


class AppServerState(EventState, kw_only=True):
    """Adds what later lines of the turn refer to."""

    thread: str | None = None
    """The main agent's thread."""
    turn: str | None = None
    """The running turn of that thread."""
    prompted: bool = False
    """True if the prompt that began the turn has been read."""
    error: Step | None = None
    """The last error, which the end of the turn repeats."""
    asking: dict[str, str] = field(default_factory=dict)
    """The open questions by the request's key, in words."""
    helpers: dict[str, str] = field(default_factory=dict)
    """The calls that began sub-agents, by the sub-agent's thread."""
    total: Usage | None = None
    """The tokens of the thread that were last reported."""


class AppServerParser(EventParser):
    """Parses one turn of a live codex."""

    state: AppServerState
    state_type = AppServerState
    decoder = lines.MESSAGES

    def parse(self, line: bytes, at: int | None) -> list[Step]:
        """Decode one line: an event, an answer to a request of ours, or a notification that is no step."""
        try:
            return self.event(self._decode(line), line, at)
        except UNREADABLE:
            pass
        other = lines.LINES.best(line)
        if other is None:
            return self._tolerantly(line, at)
        if other.method is None:
            return self._answer(other, line, at)
        return [] if other.method in IGNORED else self._tolerantly(line, at)

    def event(self, event: lines.Message, line: bytes, at: int | None) -> list[Step]:  # noqa: ARG002 - a line has one
        """Return the steps of one event."""
        if isinstance(event, requests.Asking):
            return self._ask(event)
        return _READ[type(event)](self, event.params, at)

    def _tolerantly(self, line: bytes, at: int | None) -> list[Step]:
        """Also wait for the answer to a request that is not known: codex waits for it."""
        steps = super()._tolerantly(line, at)
        other = lines.LINES.best(line) if any(step.kind is StepKind.UNKNOWN for step in steps) else None
        if other is not None and other.method is not None and other.id is not None:
            key = lines.key_text(other.id)
            self._asks(key, words_of(unknown_ask(key, other.method, other.params)))
        return steps

    def _answer(self, answer: lines.Line, line: bytes, at: int | None) -> list[Step]:
        result = answer.result
        if result is None and answer.error is None:
            self._note_stray(line, "")
            return [self._unknown(line, at, "a message without a method")]
        if answer.id == lines.OPENED and result is not None and result.thread is not None:
            self.state.thread = self.facts.agent_session = result.thread.id
            self.facts.model = result.model
            return [self._new(StepKind.START, at=at, agent_session=result.thread.id, model=result.model)]
        if answer.error is None or answer.id not in lines.HANDSHAKE:
            return []
        self.facts.error = readable_error(answer.error.message)
        return [self._new(StepKind.ERROR, self.facts.error, at=at, fatal=True)]

    def _is_ours(self, thread: str | None) -> bool:
        """Return whether a thread is the main agent's; the first that begins a turn of its own is."""
        return thread is None or self.state.thread is None or thread == self.state.thread

    def _began(self, params: events.TurnParams, at: int | None) -> list[Step]:  # noqa: ARG002
        if self._is_ours(params.thread_id) and params.turn.root_turn_id in (None, params.turn.id):
            self.state.thread = self.facts.agent_session = params.thread_id or self.state.thread
            self.state.turn = params.turn.id
            self.state.prompted = False
        return []

    def _ended(self, params: events.TurnParams, at: int | None) -> list[Step]:
        turn = params.turn
        if not self._is_ours(params.thread_id) or self.state.turn not in (None, turn.id):
            return []
        self.facts.notice = None
        self.state.asking.clear()
        self._wait()
        steps = []
        if turn.status == "completed":
            self.facts.end, self.facts.error = "completed", None
        else:
            self.facts.end = "failed"
            steps = [*self.close(at), *self._failed(turn, at)]
        return steps + self._sum(at)

    def _failed(self, turn: events.Turn, at: int | None) -> list[Step]:
        if turn.status == "interrupted":
            self.facts.error = _INTERRUPTED
            return [self._new(StepKind.NOTICE, _INTERRUPTED, at=at, event="turn/completed")]
        message = readable_error(turn.error.message) if turn.error else self.facts.error or "the turn failed"
        self.facts.error = message
        if self.state.error is not None and self.state.error.text == message:
            return [structs.replace(self.state.error, fatal=True)]
        return [self._new(StepKind.ERROR, message, at=at, fatal=True)]

    def _sum(self, at: int | None) -> list[Step]:
        total = self.facts.thread_usage
        if not total.known:
            return []
        own = self.facts.usage if self.facts.usage.known else None
        text = "tokens of the whole thread"
        return [self._new(StepKind.USAGE, text, at=at, usage=total, whole_thread=True, turn_usage=own)]

    def _trouble(self, params: events.ErrorParams, at: int | None) -> list[Step]:
        message = readable_error(params.error.message)
        if params.will_retry:
            details = readable_error(params.error.additional_details or "")
            self.facts.notice = message
            text = f"{message}: {details}" if details else message
            return [self._new(StepKind.NOTICE, text, at=at, event="error")]
        self.facts.error = message
        self.state.error = self._new(StepKind.ERROR, message, at=at, fatal=False)
        return [self.state.error]

    def _remark(self, params: events.RemarkParams, at: int | None) -> list[Step]:
        text = ". ".join(part.rstrip(".") for part in (params.message, params.summary, params.details) if part)
        return [self._new(StepKind.NOTICE, text, at=at, event="warning")] if text else []

    def _tokens(self, params: events.UsageParams, at: int | None) -> list[Step]:  # noqa: ARG002
        """Add the tokens of a call; a sum is repeated after a resume and after a call that failed."""
        reported, last = params.token_usage.total, params.token_usage.last
        if not self._is_ours(params.thread_id) or not (reported.input_tokens or reported.output_tokens):
            return []
        total = _usage(reported)
        if self.state.turn is not None and total != self.state.total:
            self.facts.usage = self.facts.usage.plus(_usage(last))
        self.state.total = self.facts.thread_usage = total
        return []

    def _plan(self, params: events.PlanParams, at: int | None) -> list[Step]:
        plan = tuple(
            PlanItem(text=line.step, status=_PLAN_STATUS.get(line.status, line.status)) for line in params.plan
        )
        done = sum(line.status == "completed" for line in plan)
        earlier = self.state.open.pop(_PLAN, None)
        step = earlier or self._new(StepKind.PLAN, at=at)
        step = structs.replace(step, text=f"{done} of {len(plan)} done", items=plan, status=StepStatus.OK)
        self._remember(_PLAN, step)
        return [step]

    def close(self, at: int | None = None) -> list[Step]:
        """Return the open steps as interrupted; the plan is a state, which nothing interrupts."""
        self.state.open.pop(_PLAN, None)
        return super().close(at)

    def _resolved(self, params: events.ResolvedParams, at: int | None) -> list[Step]:  # noqa: ARG002
        self.state.asking.pop(key_of(params.request_id) or "", None)
        return self._wait()

    def _settings(self, params: events.SettingsParams, at: int | None) -> list[Step]:  # noqa: ARG002
        self.facts.model = params.thread_settings.model or self.facts.model
        return []

    def _rerouted(self, params: events.ReroutedParams, at: int | None) -> list[Step]:
        text = f"{params.to_model} answers instead of {params.from_model}"
        return [self._new(StepKind.NOTICE, text, at=at, event="model/rerouted")]

    def _ask(self, asking: requests.Asking) -> list[Step]:
        changes = self.state.open.get(self._key(asking.params.thread_id, getattr(asking.params, "item_id", "")))
        ask = ask_of(asking, changes.changes if changes is not None else ())
        if ask is not None:
            self._asks(ask.key, words_of(ask))
        return []

    def _asks(self, key: str, words: str) -> None:
        self.state.asking[key] = words
        if len(self.state.asking) > MOST_KEPT:
            del self.state.asking[next(iter(self.state.asking))]
        self._wait()

    def _wait(self) -> list[Step]:
        self.facts.waiting = next(iter(self.state.asking.values()), None)
        return []

    def _key(self, thread: str | None, item: str) -> str:
        return f"{thread or self.state.thread or ''}:{item}"

    def _output(self, params: events.DeltaParams, at: int | None) -> list[Step]:  # noqa: ARG002
        key = self._key(params.thread_id, params.item_id)
        earlier = self.state.open.get(key)
        if earlier is None or earlier.kind is not StepKind.COMMAND:
            return []
        step = structs.replace(earlier, output=((earlier.output or "") + params.delta)[-TAIL:])
        self.state.open[key] = step
        return [step]

    def _item_began(self, params: events.ItemParams, at: int | None) -> list[Step]:
        return self._item(params, at, completed=False)

    def _item_ended(self, params: events.ItemParams, at: int | None) -> list[Step]:
        return self._item(params, at, completed=True)

    def _item(self, params: events.ItemParams, at: int | None, *, completed: bool) -> list[Step]:
        item = params.item
        self.facts.notice = None
        if isinstance(item, items.UserMessage):
            return self._prompt(item, params, at) if completed else []
        ours = self._is_ours(params.thread_id)
        if isinstance(item, items.AgentMessage | items.Reasoning | items.Plan) and not completed:
            return []  # it has no text yet
        if isinstance(item, items.AgentMessage) and ours:
            self.facts.last_message = item.text
        if isinstance(item, items.CollabAgentToolCall):
            self._helpers(item)
        key = self._key(params.thread_id, item.id)
        earlier = self.state.open.pop(key, None)
        if completed and earlier is None and self._is_late(params):
            return self._late(item, at)
        fields = fields_of(item)
        if earlier is not None and getattr(item, "aggregated_output", "") is None:
            fields["output"] = earlier.output
        began = item.started_at_ms or params.started_at_ms or at
        parent = None if ours else self.state.helpers.get(params.thread_id or "", params.thread_id)
        step = structs.replace(
            earlier or self._new(at=began, call_id=item.id or None, parent=parent, **fields), **fields
        )
        if not completed:
            step = structs.replace(step, status=StepStatus.RUNNING)
            self._remember(key, step)
            return [step]
        over = item.completed_at_ms or params.completed_at_ms or at
        step = ended(step, over if step.status is not None else None)
        if (what := refused(step)) is not None:
            self.facts.deny(what)
        return [step]

    def _helpers(self, item: items.CollabAgentToolCall) -> None:
        for thread in item.receiver_thread_ids[:MOST_KEPT]:
            if len(self.state.helpers) < MOST_KEPT:
                self.state.helpers.setdefault(thread, item.id)

    def _prompt(self, item: items.UserMessage, params: events.ItemParams, at: int | None) -> list[Step]:
        """Return a prompt that was given to the running turn; the prompt that began it is known without the stream."""
        if not self._is_ours(params.thread_id):
            return []
        began, self.state.prompted = not self.state.prompted, True
        if began:
            return []
        fields = fields_of(item)
        return [self._new(at=item.started_at_ms or at, call_id=item.client_id, **fields)]

    def _is_late(self, params: events.ItemParams) -> bool:
        """Return whether an item that ends belongs to an earlier turn: its commands may outlive a turn."""
        return isinstance(params.item, items.CommandExecution) and (
            self._is_ours(params.thread_id) and params.turn_id is not None and params.turn_id != self.state.turn
        )

    def _late(self, item: Any, at: int | None) -> list[Step]:
        fields = fields_of(item)
        how = "" if item.exit_code is None or item.exit_code < 0 else f" with exit code {item.exit_code}"
        text = f"a command of an earlier turn ended{how}: {fields['text']}"
        return [self._new(StepKind.NOTICE, text, at=item.completed_at_ms or at, event="item/completed")]


def _usage(tokens: events.Tokens) -> Usage:
    return Usage.of(
        tokens.input_tokens, tokens.cached_input_tokens, tokens.output_tokens, tokens.reasoning_output_tokens
    )


_READ: dict[type, Callable[[AppServerParser, Any, int | None], list[Step]]] = {
    events.ItemStarted: AppServerParser._item_began,
    events.ItemCompleted: AppServerParser._item_ended,
    events.OutputDelta: AppServerParser._output,
    events.UsageUpdated: AppServerParser._tokens,
    events.PlanUpdated: AppServerParser._plan,
    events.TurnStarted: AppServerParser._began,
    events.TurnCompleted: AppServerParser._ended,
    events.Resolved: AppServerParser._resolved,
    events.Trouble: AppServerParser._trouble,
    events.SettingsUpdated: AppServerParser._settings,
    events.Rerouted: AppServerParser._rerouted,
    events.Warned: AppServerParser._remark,
    events.GuardianWarned: AppServerParser._remark,
    events.ConfigWarned: AppServerParser._remark,
    events.Deprecated: AppServerParser._remark,
}
