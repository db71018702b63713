"""The stream of ``codex app-server`` as steps (codex-cli 0.169.0).

One process serves many turns; a parser reads one (docs/protocols/codex.md, "App-server").  The lines between two turns
belong to the second.  A sub-agent's thread prints into the same stream, and a command may outlive the turn that began
it.
"""

import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from msgspec import field, structs

from agentdash.sessions.agents.codex import items as common
from agentdash.sessions.agents.codex.app_server import events, items, lines
from agentdash.sessions.agents.codex.app_server.asks import ask_of, key_of, unknown_ask
from agentdash.sessions.agents.codex.app_server.items import fields_of
from agentdash.sessions.agents.codex.app_server.lines import IGNORED
from agentdash.sessions.agents.codex.item_steps import ended, readable_error, unwrapped
from agentdash.sessions.agents.codex.refusals import refused
from agentdash.sessions.agents.names import UUID
from agentdash.sessions.agents.parsing.event_parser import EventParser, EventState
from agentdash.sessions.agents.parsing.parser import asked, changed, decided, remember
from agentdash.sessions.agents.parsing.parser import plan as plan_of
from agentdash.sessions.model.session import PlanItem, Step, StepKind, StepStatus, Usage
from agentdash.sessions.model.steps import OTHER_PROGRAM
from agentdash.sessions.rules.asks.answers import sentence
from agentdash.sessions.rules.conversation.history import is_aside
from agentdash.sessions.rules.costs.reports import CALL, THREAD, Report
from agentdash.sessions.rules.turn_facts import Compacted

TAIL = 8192
"""Characters kept of the output of a command that is still running."""

MOST_HELPERS = 1_000
"""Threads of sub-agents that are remembered."""

_UUID, _VERSION = 36, 14
"""The characters of a UUID, and the place of its version."""

MOST_ASKS = 1_000
"""Open questions that are remembered."""

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
    asking: dict[str, str] = field(default_factory=dict)
    """The open questions by the request's key, in words."""
    asked_items: dict[str, None] = field(default_factory=dict)
    """The open items for which codex asked permission."""
    items_of: dict[str, str] = field(default_factory=dict)
    """The items of the open questions, by the request's key."""
    helpers: dict[str, str] = field(default_factory=dict)
    """The calls that began sub-agents, by the sub-agent's thread."""
    total: Usage = field(default_factory=Usage)
    """The tokens of the thread that were last reported."""
    own: Usage = field(default_factory=Usage)
    """The tokens of the running turn."""
    used: Usage = field(default_factory=Usage)
    """The tokens of all turns that were read."""
    before: int | None = None
    """The tokens of the context when the open compaction began."""
    after: int | None = None
    """codex's estimate of the tokens that the open compaction left."""


class AppServerParser(EventParser):
    """Parses one turn of a live codex, and follows each item from its beginning to its end."""

    state: AppServerState
    state_type = AppServerState
    decoder = lines.MESSAGES
    conversation_ids = UUID

    def _refused(self, line: bytes, at: int | None) -> list[Step]:
        """Also read an answer to a request of ours, and a notification without a step."""
        other = lines.LINES.best(line)
        if other is None:
            return super()._refused(line, at)
        if other.method is None:
            return self._answer(other, line, at)
        return [] if other.method in IGNORED else self._tolerantly(line, at)

    def event(self, event: lines.Message, line: bytes, at: int | None) -> list[Step]:  # noqa: ARG002 - a line has one
        """Return the steps of one event."""
        if isinstance(event, events.Asking):
            item = self._key(event.params.thread_id, getattr(event.params, "item_id", ""))
            changes = self.state.open.get(item)
            ask = ask_of(event, changes.changes if changes is not None else ())
            if ask is not None:
                self._asks(ask.key, sentence(ask))
            if changes is None:
                return []
            remember(self.state.asked_items, item, None, MOST_ASKS)
            if ask is None:
                return []
            remember(self.state.items_of, ask.key, item, MOST_ASKS)
            self.state.open[item] = asked(changes, at)
            return [self.state.open[item]]
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

    def _is_ours(self, thread: str | None) -> bool:
        """Return whether a thread is the main agent's; the first that begins a turn of its own is."""
        return thread is None or self.state.thread is None or thread == self.state.thread

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

    def _item(self, params: events.ItemParams, at: int | None, *, completed: bool) -> list[Step]:
        item = params.item
        self.facts.notice = None
        if isinstance(item, items.UserMessage):
            return self._prompt(item, params, at) if completed else []
        ours = self._is_ours(params.thread_id)
        if isinstance(item, common.AgentMessage | common.Reasoning | items.Plan) and not completed:
            return []  # it has no text yet
        if isinstance(item, common.AgentMessage) and ours:
            self.facts.last_message = item.text
        if isinstance(item, common.CollabToolCall):
            self._helpers(item)
        key = self._key(params.thread_id, item.id)
        earlier = self.state.open.pop(key, None)
        # An item that ends may belong to an earlier turn: its commands may outlive a turn.
        late = completed and earlier is None and ours and params.turn_id not in (None, self.state.turn)
        if late and isinstance(item, common.CommandExecution):
            return self._late(item, at)
        fields = fields_of(item)
        if earlier is not None and isinstance(item, common.CommandExecution) and item.aggregated_output is None:
            fields["output"] = earlier.output
        began = item.started_at_ms or params.started_at_ms or at
        parent = None if ours else self.state.helpers.get(params.thread_id or "", params.thread_id)
        step = (
            changed(earlier, fields)
            if earlier
            else self._made(fields, at=began, call_id=item.id or None, parent=parent)
        )
        if isinstance(item, items.ContextCompaction) and ours and not completed:
            before = self.facts.context_tokens
            self.state.before, self.state.after = self.facts.context_before if before is None else before, None
        if not completed:
            waits = earlier is not None and earlier.status is StepStatus.WAITING
            step = structs.replace(step, status=StepStatus.WAITING if waits else StepStatus.RUNNING)
            self._remember(key, step)
            return [step]
        over = item.completed_at_ms or params.completed_at_ms or at
        step = ended(decided(step, at), over if step.status is not None else None)
        by_answer = step.status is StepStatus.DECLINED and key in self.state.asked_items
        self.state.asked_items.pop(key, None)
        if isinstance(item, items.ContextCompaction) and ours:
            self.facts.compacted = Compacted()
            if self.facts.reported is not None:
                self.facts.reported.compact(at, None, step.index, self.state.before, self.state.after)
            self.state.before = self.state.after = None
        if not by_answer and (what := refused(step)) is not None:
            self.facts.deny(what)
        return [step]

    def _helpers(self, item: common.CollabToolCall) -> None:
        for thread in item.receiver_thread_ids[:MOST_HELPERS]:
            if len(self.state.helpers) < MOST_HELPERS:
                self.state.helpers.setdefault(thread, item.id)

    def _prompt(self, item: items.UserMessage, params: events.ItemParams, at: int | None) -> list[Step]:
        """Return a prompt that was given to the running turn; the prompt that began it is known without the stream."""
        if not self._is_ours(params.thread_id):
            return []
        # codex queue names a prompt by a UUID of version 7 (0.169.0, 0.171.0); the names of agentdash have 4 and 5.
        name = item.client_id or ""
        other = len(name) == _UUID and name[_VERSION] == "7"
        began, self.state.prompted = not self.state.prompted, True
        if began and not other:
            return []
        fields, sender = fields_of(item), OTHER_PROGRAM if other else None
        return [self._made(fields, at=item.started_at_ms or at, call_id=item.client_id, sender=sender)]

    def _late(self, item: common.CommandExecution, at: int | None) -> list[Step]:
        how = "" if item.exit_code is None or item.exit_code < 0 else f" with exit code {item.exit_code}"
        text = f"a command of an earlier turn ended{how}: {unwrapped(item.command)}"
        return [self._new(StepKind.NOTICE, text, at=item.completed_at_ms or at, event="item/completed")]

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
        return [self._fatal(readable_error(turn.error.message) if turn.error else known, at)]

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
        return [self._error(message, at)]

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
            self._note_call(call, total, at)
        elif first:
            self.facts.thread_before = total
        if total == self.state.total and not last.input_tokens:
            self.state.after = last.total_tokens or None
        self.state.total = self.facts.thread_usage = total
        return []

    def _note_call(self, call: Usage, total: Usage, at: int | None) -> None:
        """Note one call, named by the running total of the thread behind it, and that total."""
        if (reported := self.facts.reported) is not None:
            model = self.facts.turn_model or reported.model or None
            key = f"{total.input_tokens}+{total.output_tokens}"
            reported.add(Report(source=CALL, key=key, kind="call", model=model, usage=call, at=at))
            reported.add(Report(source=THREAD, key="", kind="thread", model=model, usage=total, at=at))

    def _plan(self, params: events.PlanParams, at: int | None) -> list[Step]:
        plan = tuple(
            PlanItem(text=line.step, status=_PLAN_STATUS.get(line.status, line.status)) for line in params.plan
        )
        step = self.state.open.pop(_PLAN, None) or self._new(StepKind.PLAN, at=at)
        step = changed(step, plan_of(plan), status=StepStatus.OK)
        self._remember(_PLAN, step)
        return [step]

    def close(self, at: int | None = None) -> list[Step]:
        """Return the open steps as interrupted; the plan is a state, which nothing interrupts."""
        self.state.open.pop(_PLAN, None)
        self.state.asked_items.clear()
        self.state.items_of.clear()
        return super().close(at)

    def _resolved(self, params: events.ResolvedParams, at: int | None) -> list[Step]:
        key = key_of(params.request_id) or ""
        self.state.asking.pop(key, None)
        self._wait()
        item = self.state.items_of.pop(key, "")
        step = self.state.open.get(item)
        if step is None or item in self.state.items_of.values():
            return []
        self.state.open[item] = decided(step, at)
        return [self.state.open[item]]

    def _settings(self, params: events.SettingsParams, at: int | None) -> list[Step]:  # noqa: ARG002
        """Note the model of the next turn; the running one keeps its own."""
        self.facts.model = params.thread_settings.model or self.facts.model
        return []

    def _rerouted(self, params: events.ReroutedParams, at: int | None) -> list[Step]:
        if params.to_model:
            self.facts.model = self.facts.turn_model = params.to_model
        text = f"{params.to_model} answers instead of {params.from_model}"
        return [self._new(StepKind.NOTICE, text, at=at, event="model/rerouted")]

    def _asks(self, key: str, words: str) -> None:
        remember(self.state.asking, key, words, MOST_ASKS)
        self._wait()

    def _wait(self) -> list[Step]:
        self.facts.waiting = next(iter(self.state.asking.values()), None)
        return []


_READ: dict[type, Callable[[AppServerParser, Any, int | None], list[Step]]] = {
    events.ItemStarted: partial(AppServerParser._item, completed=False),
    events.ItemCompleted: partial(AppServerParser._item, completed=True),
    events.OutputDelta: AppServerParser._output,
    events.UsageUpdated: AppServerParser._tokens,
    events.PlanUpdated: AppServerParser._plan,
    events.TurnStarted: AppServerParser._began,
    events.TurnCompleted: AppServerParser._ended,
    events.Resolved: AppServerParser._resolved,
    events.Trouble: AppServerParser._trouble,
    events.SettingsUpdated: AppServerParser._settings,
    events.Rerouted: AppServerParser._rerouted,
    **dict.fromkeys(
        (events.Warned, events.GuardianWarned, events.ConfigWarned, events.Deprecated), AppServerParser._remark
    ),
}


def _is_more(total: Usage, before: Usage) -> bool:
    """Return whether the sum before is known, and no sum of input and output is below it."""
    pairs = ((total.input_tokens, before.input_tokens), (total.output_tokens, before.output_tokens))
    return all(now is not None and then is not None and now >= then for now, then in pairs)


_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")


def turn_before(lines: Iterable[bytes], through: int | None) -> str | None:
    """Return codex's id of a turn if a place is behind all of the turn that adds to the conversation; else None.

    ``thread/fork`` copies whole turns only (0.169.0; docs/protocols/codex.md, "Forks and compactions").

    Args:
        through: the index of the last step before the place; None for the end of the turn.
    """
    parser = AppServerParser()
    for line in lines:
        steps = parser.feed(line)
        if through is not None and any(step.index > through and not is_aside(step) for step in steps):
            return None
    turn = parser.state.turn
    return turn if turn is not None and _ID.fullmatch(turn) else None
