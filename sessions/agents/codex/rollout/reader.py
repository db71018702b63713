"""codex's transcripts (codex-cli 0.169.0 and earlier): all turns of a thread, with times, model, diffs and tokens.

Most things are recorded twice, as items (the model's input and output) and as events that codex reported
(docs/protocols/codex.md, "Rollouts"); each is shown once.  A turn is a codex task.  Earlier versions do not mark the
start of a task: there each prompt begins a turn.
"""

from collections.abc import Callable
from typing import Any

from msgspec import Raw, field, structs

from agentdash.sessions.agents.codex.item_steps import readable_error
from agentdash.sessions.agents.codex.rollout import events, tools
from agentdash.sessions.agents.codex.rollout.calls import EVENT, ITEM, MOST_REMEMBERED, CallReader, CallState
from agentdash.sessions.agents.codex.rollout.text import (
    TOLD_ELSEWHERE,
    is_context,
    noted,
    policy,
    readable,
    review_text,
    words_of,
)
from agentdash.sessions.agents.parsing.event_parser import NOT_SHOWN
from agentdash.sessions.agents.parsing.json_lines import KIND_LENGTH, NULL, Kind, declared_type, milliseconds
from agentdash.sessions.agents.parsing.parser import StepFields, known
from agentdash.sessions.agents.parsing.tolerant_decoder import TolerantDecoder
from agentdash.sessions.agents.parsing.transcript_parser import digest
from agentdash.sessions.model.session import Step, StepKind, Usage
from agentdash.sessions.rules.conversation.shown import CALLS
from agentdash.sessions.rules.costs.reports import ROLLOUT, Report

_COPY_MS = 20
"""The longest time between two lines of a copy; an own line follows a later one."""

_WORK = CALLS | {StepKind.MESSAGE, StepKind.REASONING}


class RolloutState(CallState, kw_only=True):
    """Adds the entries of one record that the other will repeat."""

    told: dict[str, int] = field(default_factory=dict)
    """By key: the number of times among the events minus the number of times among the items."""
    working: bool = False
    """True if a task has begun and not ended."""
    thread: Usage | None = None
    """The last reported tokens of the thread."""
    recorded: bool = False
    """True if there is a record for each model call: the running total then adds nothing."""
    said: str = ""
    """The digest of the last message."""
    reviewed: str = ""
    """The digest of the findings of the task's review."""
    worked: bool = False
    """True if the model went on after the error."""
    forked_from: str | None = None
    begun: int = 0
    """The time at which the thread was made, UTC ms."""
    copied: int | None = None
    """The time of the last line that the thread copied from another one; None if what follows is its own."""
    compacted: Step | None = None


class CodexRolloutParser(CallReader):
    """Parses the transcript of one thread."""

    state: RolloutState
    state_type = RolloutState
    decoder = TolerantDecoder(events.Line)

    def event(self, event: events.Line, line: bytes, at: int | None) -> list[Step]:
        """Return the steps of one line; its own time is preferred to its arrival time."""
        at = milliseconds(event.timestamp) or at
        if self.state.copied is not None and at is not None:
            # A thread gets its copy at once; the first answer of a model takes longer.
            copied = at < self.state.begun or at <= self.state.copied + _COPY_MS
            self.state.copied = max(at, self.state.copied) if copied else None
        steps = self._line(event, line, at)
        self.state.worked = self.state.worked or any(step.kind in _WORK for step in steps)
        return steps

    def _line(self, record: events.Line, line: bytes, at: int | None) -> list[Step]:
        payload, kind = record.payload, record.type
        if payload == NULL:
            # The first versions wrote items without a wrapper, and a heading without a type.
            if kind:
                return self._by_kind(_ITEMS, kind, Raw(line), line, at)
            if record.record_type is not None:
                return []
            return self._meta(self.decoded(line, events.SessionMeta), at)
        if kind == "response_item":
            return self._by_kind(_ITEMS, self.decoded(payload, Kind).type, payload, line, at)
        if kind == "event_msg":
            return self._by_kind(_EVENTS, self.decoded(payload, Kind).type, payload, line, at)
        return self._by_kind(_LINES, kind, payload, line, at)

    def _by_kind(self, table: "dict[str, _Way]", kind: str, data: Raw, line: bytes, at: int | None) -> list[Step]:
        if kind in TOLD_ELSEWHERE:
            return []
        if (entry := table.get(kind)) is not None:
            struct, handle = entry
            return handle(self, self.decoded(data, struct), at)
        if kind in ("item_started", "item_completed"):
            return self._thing(self.decoded(data, events.ItemEvent), line, at, completed=kind == "item_completed")
        if kind in tools.CALLS:
            item, fields = self._described(tools.CALLS[kind], data)
            return self._done(item.call_id or item.id, fields, at, source=ITEM)
        name, _, phase = kind.rpartition("_")
        if name in tools.EVENTS and phase in ("begin", "end"):
            item, fields = self._described(tools.EVENTS[name], data)
            return self._done(item.call_id, fields, at) if phase == "end" else self._begun(item.call_id, fields, at)
        return self._other(kind, data, line, at)

    def _thing(self, event: events.ItemEvent, line: bytes, at: int | None, *, completed: bool) -> list[Step]:
        """Return the steps of an item from the events."""
        kind = self.decoded(event.item, Kind).type
        if kind in _THINGS:
            struct, handle = _THINGS[kind]
            return handle(self, self.decoded(event.item, struct), at) if completed else []
        if kind not in tools.ITEMS:
            return self._other(kind, event.item, line, at)
        item, fields = self._described(tools.ITEMS[kind], event.item)
        key = item.id or item.call_id
        if not completed:
            return self._begun(key, fields, event.started_at_ms or at)
        return self._done(key, fields, event.completed_at_ms or at, began=event.started_at_ms)

    def _described(self, entry: tools.Way, data: Raw) -> tuple[Any, StepFields]:
        """Return the decoded item and the fields of its step."""
        struct, describe = entry
        item = self.decoded(data, struct)
        return item, known(describe(item))

    def _other(self, kind: str, data: Raw, line: bytes, at: int | None) -> list[Step]:
        text = noted(kind, data)
        if text is not None:
            return [self._note(text, at, kind)]
        outer = declared_type(line)
        return [self._unknown(line, at, (outer if kind in outer else f"{outer} {kind}")[:KIND_LENGTH])]

    # Thread, turns, tokens

    def _meta(self, meta: events.SessionMeta, at: int | None) -> list[Step]:
        copies = self.state.copied is not None and meta.id != self.state.session
        if meta.id is not None and (meta.id == self.state.forked_from or copies):
            return [self._note(f"history of thread {meta.id} follows", at, "session_meta")]
        steps = self._session(meta.id, at)
        if steps:
            self.state.thread, self.state.working, self.state.error = None, False, None
            if meta.forked_from_id is not None:
                self.state.forked_from = meta.forked_from_id
                steps.append(self._note(f"forked from thread {meta.forked_from_id}", at, "session_meta"))
            spawn = self._spawned(meta)
            if spawn.parent_thread_id is not None:
                name = spawn.agent_nickname or meta.agent_path or ""
                steps.append(self._note(f"sub-agent {name} of thread {spawn.parent_thread_id}", at, "session_meta"))
            copies = meta.forked_from_id is not None or spawn.parent_thread_id is not None
            self.state.begun, self.state.copied = at or 0, at if copies else None
        return [*steps, *self._settings({"cwd": meta.cwd}, at)]

    def _spawned(self, meta: events.SessionMeta) -> events.Spawn:
        """Return the origin of a sub-agent's thread."""
        if meta.parent_thread_id is not None or not bytes(meta.source).startswith(b"{"):
            return events.Spawn(meta.parent_thread_id, meta.agent_nickname)
        return self.decoded(meta.source, events.Source).subagent.thread_spawn

    def _context(self, context: events.TurnContext, at: int | None) -> list[Step]:
        """Return the changed settings of a task that begins; it keeps its model."""
        self.facts.turn_model = context.model or self.facts.turn_model
        return self._chosen(context, at)

    def _chosen(self, context: events.TurnContext, at: int | None) -> list[Step]:
        sandbox, approval = policy(context.sandbox_policy), policy(context.approval_policy)
        settings = {"model": context.model, "cwd": context.cwd, "sandbox": sandbox, "approval policy": approval}
        return self._settings(settings | {"effort": context.effort or context.reasoning_effort}, at)

    def _task_started(self, _: Kind, at: int | None) -> list[Step]:
        # A task without an end was killed: no line will end its open steps.
        steps = self._interrupted(None) if self.state.working else []
        if self.state.prompted:
            steps += self._begin_turn(at)
        self.state.working, self.state.error, self.facts.end = True, None, None
        self.state.told.clear()
        self.state.reviewed = ""
        return steps

    def _task_complete(self, event: events.TaskComplete, at: int | None) -> list[Step]:
        self.state.working = False
        steps: list[Step] = []
        last = event.last_agent_message
        if last and digest(last) != self.state.said:
            steps += self._message(last, at)
        if event.error is None and self.state.error is not None and not self.state.worked:
            return [*steps, *self._spent(at), self._fatal(self.state.error.text, at)]
        if event.error is None:
            self.facts.end, self.facts.error = "completed", None
            ended = self._spent(at)
            return [*steps, *(ended or [self._note("turn ended", at, "task_complete")])]
        return [*steps, *self._spent(at), self._fatal(readable_error(event.error.message), at)]

    def _aborted(self, event: events.TurnAborted, at: int | None) -> list[Step]:
        self.state.working = False
        reason = event.reason or "no reason given"
        self.facts.end, self.facts.error = "failed", reason
        return [*self._interrupted(at), *self._spent(at), self._note(f"turn aborted: {reason}", at, "turn_aborted")]

    def _record(self, record: events.TokenRecord, at: int | None) -> list[Step]:
        self.state.recorded = True
        if self.state.session is not None and record.thread_id not in (None, self.state.session):
            return []
        self.facts.thread_usage = _counted(record.thread_token_usage)
        return self._used(_counted(record.usage), at)

    def _used(self, call: Usage, at: int | None) -> list[Step]:
        if self.state.copied is not None:
            return []  # the thread that it is copied from has counted it
        self.state.spent = self.state.spent.plus(call)
        if (reported := self.facts.reported) is not None:
            key, model = str(reported.next_key(ROLLOUT)), self.facts.turn_model or reported.model
            reported.add(Report(source=ROLLOUT, key=key, kind="call", model=model, usage=call, at=at))
        return []

    def _tokens(self, event: events.TokenCount, at: int | None) -> list[Step]:
        """Count the running total; it repeats when only the rate limits change, and is smaller after some resumes."""
        if self.state.recorded or event.info is None:
            return []
        earlier, total = self.state.thread, _counted(event.info.total_token_usage)
        last = _counted(event.info.last_token_usage)
        if earlier is None:
            more = last if last.known else total
        elif total == earlier:
            return []
        else:
            grew = (total.total_tokens or 0) >= (earlier.total_tokens or 0)
            more = total.minus(earlier) if grew else last
        self.state.thread = self.facts.thread_usage = total
        return self._used(more, at)

    def _compaction(self, event: events.Compacted, at: int | None) -> list[Step]:
        """Return one notice for a summary that replaced the context: several lines in a row report it."""
        earlier = self.state.compacted
        text = f"context compacted: {event.message}" if event.message else "context compacted"
        if earlier is not None and earlier.index == self.state.next - 1:
            step = structs.replace(earlier, text=max(earlier.text, text, key=len))
        else:
            step = self._note(text, at, "compacted")
        self.state.compacted = structs.replace(step, text="context compacted")
        return [step] if earlier is None or step.index != earlier.index or event.message else []

    # Messages

    def _item_message(self, item: events.Message, at: int | None) -> list[Step]:
        if item.role == "assistant":
            return self._spoken(readable(item.content), ITEM, at, item.id)
        kinds = item.internal_chat_message_metadata_passthrough
        named = kinds.content_item_kinds if kinds is not None else []
        text = readable(item.content)
        if item.role == "user" and not is_context(text, named):
            return self._asked(text, words_of(item.content), ITEM, at)
        return [self._note(text, at, ", ".join(named) or f"{item.role} context")]

    def _letter(self, item: events.AgentLetter, at: int | None) -> list[Step]:
        """Return the steps of a task from another agent of a team."""
        text = readable(item.content)
        return self._asked(text, text, ITEM, at)

    def _item_reasoning(self, item: events.ReasoningItem, at: int | None) -> list[Step]:
        parts = [part.text for part in [*item.summary, *(item.content or [])] if part.text]
        return self._thought(parts, ITEM, at, item.id, secret=item.encrypted_content is not None)

    def _event_user(self, event: events.Words, at: int | None) -> list[Step]:
        pictures = ["(image)"] * len([*(event.images or ()), *(event.local_images or ())])
        words = event.message or ""
        return self._asked("\n".join([*pictures, *([words] if words else [])]), words, EVENT, at)

    def _asked(self, text: str, words: str, source: int, at: int | None) -> list[Step]:
        """Return the steps of a prompt; ``words`` is its text without pictures, which both records have."""
        if self._twice(source, f"prompt {digest(words.strip())}"):
            return []
        steps = self._begin_turn(at) if self.state.prompted and not self.state.working else []
        return [*steps, self._prompt(text, at)]

    def _spoken(self, text: str, source: int, at: int | None, key: str | None = None) -> list[Step]:
        keys = [f"message {digest(text)}", *([f"message id {key}"] if key else [])]
        if not text or self._twice(source, *keys) or digest(text) == self.state.reviewed:
            return []
        return self._message(text, at)

    def _message(self, text: str, at: int | None) -> list[Step]:
        self.facts.last_message, self.state.said = text, digest(text)
        return [self._new(StepKind.MESSAGE, text, at=at)]

    def _thought(
        self, parts: list[str], source: int, at: int | None, key: str | None = None, *, secret: bool = False
    ) -> list[Step]:
        keys = [f"reasoning id {key}"] if key else []
        if not parts:
            return (
                [self._new(StepKind.REASONING, NOT_SHOWN, at=at)] if secret and not self._twice(source, *keys) else []
            )
        # Earlier versions write one event for each part of a summary.
        fresh = [part for part in parts if not self._twice(source, f"reasoning {digest(part)}")]
        if not fresh or (self._twice(source, *keys) if keys else False):
            return []
        return [self._new(StepKind.REASONING, "\n\n".join(fresh), at=at)]

    def _twice(self, source: int, *keys: str) -> bool:
        """Return whether the other record held this already; if not, remember that this record did."""
        counts = self.state.told
        matching = [key for key in keys if counts.get(key, 0) * source < 0]
        for key in matching or keys:
            count = counts.pop(key, 0) + source
            if count:
                counts[key] = count
        while len(counts) > MOST_REMEMBERED:
            del counts[next(iter(counts))]
        return bool(matching)

    def _reviewed(self, event: events.Reviewed, at: int | None) -> list[Step]:
        """Return the end of a review, and its findings, which a message repeats if the thread was not cut there."""
        steps = [self._note("exited review mode", at, "exited_review_mode")]
        text = review_text(event.review_output) if event.review_output is not None else ""
        if text:
            self.state.reviewed = digest(text)
            steps += self._message(text, at)
        return steps

    def _planned(self, event: events.PlanUpdate, at: int | None) -> list[Step]:
        # The call of the tool that makes the plan holds the same.
        if any(step.kind is StepKind.PLAN for step in self.state.open.values()):
            return []
        return [self._made(tools.plan(event.plan), at=at)]

    def _trouble(self, event: events.Failure, at: int | None) -> list[Step]:
        self.state.worked = False
        return [self._error(readable_error(event.message), at)]


def _counted(tokens: events.TokenUsage | None) -> Usage:
    return tokens.counted() if tokens is not None else Usage()


_Way = tuple[type[Any], Callable[[CodexRolloutParser, Any, int | None], list[Step]]]
"""The struct of an event, and the function that reads it."""

_P = CodexRolloutParser
_COMPACTION: _Way = (events.Compacted, _P._compaction)

_LINES: dict[str, _Way] = {
    "session_meta": (events.SessionMeta, _P._meta),
    "turn_context": (events.TurnContext, _P._context),
    "compacted": _COMPACTION,
    "token_usage_record": (events.TokenRecord, _P._record),
}
_ITEMS: dict[str, _Way] = {
    "message": (events.Message, _P._item_message),
    "agent_message": (events.AgentLetter, _P._letter),
    "reasoning": (events.ReasoningItem, _P._item_reasoning),
    **dict.fromkeys(("function_call", "custom_tool_call"), (events.FunctionCall, _P._call)),
    "tool_search_call": (events.FunctionCall, _P._tool_search),
    "local_shell_call": (events.LocalShellCall, _P._shell_call),
    **dict.fromkeys(
        ("function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output"),
        (events.CallOutput, _P._output),
    ),
    **dict.fromkeys(("compaction", "compaction_summary", "context_compaction"), _COMPACTION),
}
_EVENTS: dict[str, _Way] = {
    **dict.fromkeys(("task_started", "turn_started"), (Kind, _P._task_started)),
    **dict.fromkeys(("task_complete", "turn_complete"), (events.TaskComplete, _P._task_complete)),
    "turn_aborted": (events.TurnAborted, _P._aborted),
    "user_message": (events.Words, _P._event_user),
    "agent_message": (events.Words, lambda p, said, at: p._spoken(said.message or said.text or "", EVENT, at)),
    **dict.fromkeys(
        ("agent_reasoning", "agent_reasoning_raw_content"),
        (events.Words, lambda p, said, at: p._thought([said.text] if said.text else [], EVENT, at)),
    ),
    "token_count": (events.TokenCount, _P._tokens),
    "plan_update": (events.PlanUpdate, _P._planned),
    "error": (events.Failure, _P._trouble),
    "context_compacted": _COMPACTION,
    "thread_settings_applied": (events.ThreadSettings, lambda p, event, at: p._chosen(event.thread_settings, at)),
    "exited_review_mode": (events.Reviewed, _P._reviewed),
}
_THINGS: dict[str, _Way] = {
    "UserMessage": (
        events.Spoken,
        lambda p, said, at: p._asked(readable(said.content), words_of(said.content), EVENT, at),
    ),
    **dict.fromkeys(
        ("AgentMessage", "Plan"),
        (events.Spoken, lambda p, said, at: p._spoken(said.text or readable(said.content), EVENT, at, said.id)),
    ),
    "Reasoning": (
        events.Spoken,
        lambda p, said, at: p._thought([*said.summary_text, *said.raw_content], EVENT, at, said.id),
    ),
    "ExitedReviewMode": (events.Reviewed, _P._reviewed),
    "ContextCompaction": _COMPACTION,
}
