"""The items in the stream of ``codex app-server`` (codex-cli 0.169.0).

A sub-agent's thread prints into the same stream, and a command may outlive the turn that began it
(docs/protocols/codex.md, "App-server").
"""

from msgspec import field, structs

from ....model import Step, StepKind, StepStatus, Usage
from ....rules.turn_facts import Compacted
from ....values.steps import OTHER_PROGRAM
from ...parsing.event_parser import EventParser, EventState
from ...parsing.step_fields import changed
from .. import items as common
from ..item_steps import ended, unwrapped
from ..refusals import refused
from . import events, items
from .item_steps import fields_of

TAIL = 8192
"""Characters kept of the output of a command that is still running."""

MOST_HELPERS = 1_000
"""Threads of sub-agents that are remembered."""


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
    asked_items: dict[str, None] = field(default_factory=dict)
    """The open items for which codex asked permission."""
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


class ItemParser(EventParser):
    """Follows each item from its beginning to its end."""

    state: AppServerState
    state_type = AppServerState

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
        if isinstance(item, common.AgentMessage | common.Reasoning | items.Plan) and not completed:
            return []  # it has no text yet
        if isinstance(item, common.AgentMessage) and ours:
            self.facts.last_message = item.text
        if isinstance(item, common.CollabToolCall):
            self._helpers(item)
        key = self._key(params.thread_id, item.id)
        earlier = self.state.open.pop(key, None)
        if completed and earlier is None and isinstance(item, common.CommandExecution) and self._is_late(params):
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
            step = structs.replace(step, status=StepStatus.RUNNING)
            self._remember(key, step)
            return [step]
        over = item.completed_at_ms or params.completed_at_ms or at
        step = ended(step, over if step.status is not None else None)
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
        other = _is_of_another_program(item)
        began, self.state.prompted = not self.state.prompted, True
        if began and not other:
            return []
        fields, sender = fields_of(item), OTHER_PROGRAM if other else None
        return [self._made(fields, at=item.started_at_ms or at, call_id=item.client_id, sender=sender)]

    def _is_late(self, params: events.ItemParams) -> bool:
        """Return whether an item that ends belongs to an earlier turn: its commands may outlive a turn."""
        return self._is_ours(params.thread_id) and params.turn_id is not None and params.turn_id != self.state.turn

    def _late(self, item: common.CommandExecution, at: int | None) -> list[Step]:
        how = "" if item.exit_code is None or item.exit_code < 0 else f" with exit code {item.exit_code}"
        text = f"a command of an earlier turn ended{how}: {unwrapped(item.command)}"
        return [self._new(StepKind.NOTICE, text, at=item.completed_at_ms or at, event="item/completed")]


def _is_of_another_program(item: items.UserMessage) -> bool:
    """Return whether ``codex queue`` sent a prompt: it names it by a UUID of version 7 (0.169.0, 0.171.0).

    The names that agentdash gives have the versions 4 and 5.
    """
    name = item.client_id or ""
    return len(name) == _UUID and name[_VERSION] == "7"


_UUID, _VERSION = 36, 14
"""The characters of a UUID, and the place of its version."""
