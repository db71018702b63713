"""The stream of ``codex app-server`` as steps (codex-cli 0.169.0).

One process serves many turns; a parser reads one (docs/protocols/codex.md, "App-server").  The lines between two turns
belong to the second.
"""

from collections.abc import Callable
from typing import Any

from msgspec import structs

from ....asks.answers import sentence
from ....model import PlanItem, Step, StepKind, StepStatus, Usage
from ...names import UUID
from ...parsing.json_lines import UNREADABLE
from ...parsing.line_parts import is_text, parts
from ..reports import note_call
from ..server_errors import readable_error
from . import events, lines, requests
from .asks import ask_of, key_of, unknown_ask
from .ignored import IGNORED
from .item_parser import ItemParser

MOST_ASKS = 1_000
"""Open questions that are remembered."""

_PLAN_STATUS = {"inProgress": "in_progress"}
_PLAN = "plan"
"""The key of the step of the plan; no item's key equals it, because these begin with their thread."""

_INTERRUPTED = "the turn was interrupted"


class AppServerParser(ItemParser):
    """Parses one turn of a live codex."""

    decoder = lines.MESSAGES
    conversation_ids = UUID

    def parse(self, line: bytes, at: int | None) -> list[Step]:
        """Decode one line: an event, an answer to a request of ours, or a notification without a step."""
        try:
            return self.event(self._decode(line), line, at)
        except UNREADABLE:
            if is_text(line):
                return self._text(line, at)
        other = lines.LINES.best(line)
        if other is None:
            found = parts(line)
            return self._tolerantly(line, at) if found == [line] else self._each(found, at)
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
            self._asks(key, sentence(unknown_ask(key, other.method, other.params)))
        return steps

    def _answer(self, answer: lines.Line, line: bytes, at: int | None) -> list[Step]:
        result = answer.result
        if result is None and answer.error is None:
            self._note_stray(line, "")
            return [self._unknown(line, at, "a message without a method")]
        if answer.id == lines.OPENED and result is not None and result.thread is not None:
            if self.state.thread is not None:
                return []  # a runner that adopted codex asked for a thread again; the first one is used
            start = self._converses(result.thread.id, at, model=result.model)
            if start.kind is StepKind.START:
                self.state.thread, self.facts.model = result.thread.id, result.model
            return [start]
        if answer.error is None or answer.id not in lines.HANDSHAKE:
            return []
        if self.state.thread is not None or answer.error.message == lines.INITIALIZED_BEFORE:
            return []  # the same
        self.facts.error = readable_error(answer.error.message)
        return [self._new(StepKind.ERROR, self.facts.error, at=at, fatal=True)]

    def _began(self, params: events.TurnParams, at: int | None) -> list[Step]:  # noqa: ARG002
        if self._is_ours(params.thread_id) and params.turn.root_turn_id in (None, params.turn.id):
            self.state.thread = params.thread_id or self.state.thread
            if self.state.thread is not None and self._is_conversation(self.state.thread):
                self.state.conversation = self.facts.agent_session = self.state.thread
            self.state.turn = params.turn.id
            self.state.prompted = False
            self.state.own = Usage()
            self.state.error = None
            self.facts.turn_model = self.facts.model or (self.facts.reported.model if self.facts.reported else None)
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
        last = self.state.error
        known = last.text if last is not None else "the turn failed"
        self.facts.error = message = readable_error(turn.error.message) if turn.error else known
        if last is not None and last.text == message:
            return [structs.replace(last, fatal=True)]
        return [self._new(StepKind.ERROR, message, at=at, fatal=True)]

    def _sum(self, at: int | None) -> list[Step]:
        total = self.state.total
        if not total.known:
            return []
        own = self.state.own if self.state.own.known else None
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

    def _tokens(self, params: events.UsageParams, at: int | None) -> list[Step]:
        """Add the tokens of a call; a sum is repeated after a resume, before a compaction and after a failed call."""
        reported, last = params.token_usage.total, params.token_usage.last
        if not self._is_ours(params.thread_id):
            return []
        total = reported.counted()
        if total.total_tokens == 0:
            if not last.counted().total_tokens:
                return []
            total = self.state.total.plus(last.counted())  # the sum could not be read
        self.facts.context_tokens = last.total_tokens or None
        self.facts.context_window = params.token_usage.model_context_window or None
        first = not self.state.used.known
        if self.state.turn is not None and total not in (self.state.total, self.facts.thread_before):
            call = last.counted()
            if not call.total_tokens:  # the call could not be read
                before = self.state.total if self.state.total.known else self.facts.thread_before
                call = total.minus(before) if _is_more(total, before) else call
            if first and call.total_tokens:
                self.facts.thread_before = total.minus(call)
            self.state.own = self.state.own.plus(call)
            self.state.used = self.facts.usage = self.state.used.plus(call)
            note_call(self.facts.reported, call, total, self.facts.turn_model, at)
        elif first:
            self.facts.thread_before = total
        if total == self.state.total and not last.input_tokens:
            self.state.after = last.total_tokens or None
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
        self.state.asked_items.clear()
        return super().close(at)

    def _resolved(self, params: events.ResolvedParams, at: int | None) -> list[Step]:  # noqa: ARG002
        self.state.asking.pop(key_of(params.request_id) or "", None)
        return self._wait()

    def _settings(self, params: events.SettingsParams, at: int | None) -> list[Step]:  # noqa: ARG002
        """Note the model of the next turn; the running one keeps its own."""
        self.facts.model = params.thread_settings.model or self.facts.model
        return []

    def _rerouted(self, params: events.ReroutedParams, at: int | None) -> list[Step]:
        if params.to_model:
            self.facts.model = self.facts.turn_model = params.to_model
        text = f"{params.to_model} answers instead of {params.from_model}"
        return [self._new(StepKind.NOTICE, text, at=at, event="model/rerouted")]

    def _ask(self, asking: requests.Asking) -> list[Step]:
        item = self._key(asking.params.thread_id, getattr(asking.params, "item_id", ""))
        changes = self.state.open.get(item)
        ask = ask_of(asking, changes.changes if changes is not None else ())
        if changes is not None:
            self.state.asked_items[item] = None
            if len(self.state.asked_items) > MOST_ASKS:
                del self.state.asked_items[next(iter(self.state.asked_items))]
        if ask is not None:
            self._asks(ask.key, sentence(ask))
        return []

    def _asks(self, key: str, words: str) -> None:
        self.state.asking[key] = words
        if len(self.state.asking) > MOST_ASKS:
            del self.state.asking[next(iter(self.state.asking))]
        self._wait()

    def _wait(self) -> list[Step]:
        self.facts.waiting = next(iter(self.state.asking.values()), None)
        return []


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


def _is_more(total: Usage, before: Usage) -> bool:
    """Return whether the sum before is known, and no sum of input and output is below it."""
    pairs = ((total.input_tokens, before.input_tokens), (total.output_tokens, before.output_tokens))
    return all(now is not None and then is not None and now >= then for now, then in pairs)
