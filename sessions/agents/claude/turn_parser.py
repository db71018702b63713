"""claude's stream as steps (Claude Code 2.1.197 to 2.1.332): one turn, or several turns of one process.

Exit 0 proves little: the proper end is a ``result`` without ``is_error``, with a ``stop_reason`` that does not mean a
cut (:mod:`.result`), as measured (docs/protocols/claude.md, "Results").
"""

from collections import deque

import msgspec
from msgspec import Raw, structs

from agentdash.sessions.agents.claude import events
from agentdash.sessions.agents.claude.live.control import changed_setting
from agentdash.sessions.agents.claude.live.held import SHOWS
from agentdash.sessions.agents.claude.notices import (
    NOTICES,
    SILENT,
    AskNotices,
    CompactionNotes,
    is_from_peer,
    notice_text,
    peer_text,
    repeats_call,
)
from agentdash.sessions.agents.claude.result import failure, is_local
from agentdash.sessions.agents.claude.tools import EarlyResults, TaskList, answered, begun, details_of, tool_name
from agentdash.sessions.agents.claude.use.reports import (
    RunningCost,
    counted_by,
    filled,
    note_compaction,
    note_message,
    note_result,
)
from agentdash.sessions.agents.names import UUID
from agentdash.sessions.agents.parsing.event_parser import NOT_SHOWN, EventParser, EventState
from agentdash.sessions.agents.parsing.json_lines import declared_type, joined, value_of
from agentdash.sessions.agents.parsing.parser import MOST_OPEN, asked, changed, decided
from agentdash.sessions.agents.parsing.tolerant_decoder import TolerantDecoder
from agentdash.sessions.model.compaction import SUMMARY_EVENT
from agentdash.sessions.model.session import Step, StepKind, StepStatus, Usage
from agentdash.sessions.model.steps import OTHER_PROGRAM

_NAMELESS = "?"
"""The prefix of the keys of calls without an id."""


class ClaudeState(EventState, kw_only=True):
    """Adds the todo list, which claude reports in pieces, and more."""

    tasks: TaskList = msgspec.field(default_factory=TaskList)
    thought: Step | None = None
    """The thought whose tokens claude has reported, until the thought itself comes."""
    early: EarlyResults = msgspec.field(default_factory=EarlyResults)
    asks: AskNotices = msgspec.field(default_factory=AskNotices)
    compaction: CompactionNotes = msgspec.field(default_factory=CompactionNotes)
    prompted: bool = False
    """A prompt was repeated: the first is the turn's own, unless the model spoke before."""
    spoken: bool = False
    """The model has spoken since the last result."""
    answered: bool = False
    """claude has answered a command of its own since the last result."""


class ClaudeParser(EventParser):
    """Parses one turn, or several turns of one process.

    Args:
        live: the process serves several turns.  The turn's own prompt, which the viewer shows from the store, then
            gives no step, and the cost is read as a running total.
    """

    state: ClaudeState
    state_type = ClaudeState
    decoder = TolerantDecoder(events.Event)
    conversation_ids = UUID

    def __init__(self, turn: int = 1, *, live: bool = False) -> None:
        super().__init__(turn)
        self._cost = RunningCost() if live else None
        """None for a process of one turn."""
        self._counted: dict[int, int] = {}
        """The newest message of each speaker, whose blocks repeat its usage; hashes, because ids can be long."""
        self._earlier = Usage()
        self._live = Usage()
        self._declined: deque[str] = deque(maxlen=MOST_OPEN)
        """Tools that were declined since the last result, also in answer to an ask."""
        self._mode: str | None = None
        """The mode of the newest notice about one: an answer to a change and a ``status`` report the same change."""

    def event(self, event: events.Event, line: bytes, at: int | None) -> list[Step]:
        """Return the steps of one event."""
        match event:
            case events.System():
                return self._system(event, line, at)
            case events.Assistant():
                return self._assistant(event, line, at)
            case events.User():
                return self._user(event, at)
            case events.Result():
                return self._result(event, at)
            case _:
                return self._aside(event, at)

    def _system(self, event: events.System, line: bytes, at: int | None) -> list[Step]:
        if event.subtype == "init":
            return [self._begins(event, at)]
        if event.subtype == "thinking_tokens":
            # A thought that is not finished; each report counts all of its tokens so far.
            earlier, parent = self.state.thought, event.parent_tool_use_id
            if earlier is None or earlier.parent != parent:
                earlier = self._new(StepKind.REASONING, NOT_SHOWN, at=at, parent=parent)
            self.state.thought = structs.replace(earlier, about_tokens=event.estimated_tokens)
            return [self.state.thought]
        if event.subtype in SILENT or repeats_call(event):
            return []
        if event.subtype == "status" and event.status is None and self._repeats_mode(event.permission_mode):
            return []
        if event.subtype not in NOTICES:
            return [self._unknown(line, at, declared_type(line))]
        text = notice_text(event)
        compacted = self.state.compaction.note(event)
        if compacted is not None:
            self.facts.compacted = compacted
            note_compaction(self.facts.reported, event, self.state.next, at)
            self.facts.context_tokens = compacted.tokens_after or self.facts.context_tokens
        if event.subtype == "api_retry":
            self.facts.notice = text
        return [self._new(StepKind.NOTICE, text, at=at, event=event.subtype)]

    def _begins(self, event: events.System, at: int | None) -> Step:
        start = self._converses(event.session_id or "", at, model=event.model)
        if start.kind is StepKind.START:
            self.facts.model = event.model or self.facts.model
            self.facts.total_counts = counted_by(event.claude_code_version)
            # A process with an open stdin plays several turns: the end of the previous turn is not the end of this one.
            self.facts.end = self.state.error = self.state.thought = None
            self.state.asks.cwd = event.cwd
        return start

    def _repeats_mode(self, mode: str | None) -> bool:
        """Keep the mode that an event reports; return whether a notice has it already."""
        if mode is None:
            return False
        known, self._mode = self._mode, mode
        return mode == known

    def _thought(self, text: str, parent: str | None, at: int | None) -> Step:
        """Return the step of a thought, which replaces the step of its reported tokens."""
        earlier = self._end_thought(parent)
        if earlier is None:
            return self._new(StepKind.REASONING, text or NOT_SHOWN, at=at, parent=parent)
        return structs.replace(earlier, text=text or NOT_SHOWN)

    def _end_thought(self, parent: str | None) -> Step | None:
        """Return the reported thought of a speaker and forget it; None if there is none."""
        thought = self.state.thought
        if thought is None or thought.parent != parent:
            return None
        self.state.thought = None
        return thought

    def _assistant(self, event: events.Assistant, line: bytes, at: int | None) -> list[Step]:
        message = event.message
        self.facts.notice = None
        own = event.parent_tool_use_id is None and message.model != events.SYNTHETIC
        self.state.spoken = self.state.spoken or own
        self._count(message, event.parent_tool_use_id)
        if isinstance(message.content, str):
            return self._words(message.content, event, at)
        steps: list[Step] = []
        for block in message.content:
            match block:
                case events.Text():
                    steps += self._words(block.text, event, at)
                case events.Thinking():
                    steps.append(self._thought(block.thinking, event.parent_tool_use_id, at))
                case events.RedactedThinking():
                    steps.append(self._thought("", event.parent_tool_use_id, at))
                case events.ToolUse():
                    steps.append(self._tool(block, event.parent_tool_use_id, at))
                case _:
                    steps.append(self._unknown(line, at, f"assistant {type(block).__name__}"))
        return steps

    def _words(self, text: str, event: events.Assistant, at: int | None) -> list[Step]:
        parent = event.parent_tool_use_id
        self._end_thought(parent)
        if event.message.model == events.SYNTHETIC:
            return self._made_up(text, event, at)
        if parent is None:
            self.facts.last_message = text
        return [self._new(StepKind.MESSAGE, text, at=at, parent=parent)]

    def _made_up(self, text: str, event: events.Assistant, at: int | None) -> list[Step]:
        """Return the step of claude's own words in the model's name; none of filler.

        An error of the API has its kind beside it; other words answer a command of claude itself.  The result repeats
        both, and calls an error one.
        """
        parent = event.parent_tool_use_id
        if text.strip() in events.FILLER:
            return []
        if event.error is not None:
            return [self._error(text, at, parent)]
        answer = self._new(StepKind.MESSAGE, text, at=at, parent=parent)
        if parent is None:
            self.state.error, self.state.answered = answer, True
        return [answer]

    def _tool(self, block: events.ToolUse, parent: str | None, at: int | None) -> Step:
        self._end_thought(parent)
        arguments = value_of(block.input)
        fields = self.state.tasks.begun(block.name, arguments) or begun(block.name, arguments)
        known = self.state.early.take(block.id, fields, parent, self.state.tasks)
        if known is not None:
            return known
        earlier = self.state.open.get(block.id) if block.id else None
        if earlier is None:
            earlier = self._made(fields, at=at, parent=parent, call_id=block.id or None, status=StepStatus.RUNNING)
        step = changed(earlier, fields)
        self._remember(block.id or f"{_NAMELESS}{step.index}", step)
        return step

    def _oldest_call(self, block: events.ToolResult) -> Step | None:
        """Return the call of a result if one of the two has no id: the oldest open call; None if there is none."""
        nameless = (key for key in self.state.open if not block.tool_use_id or key.startswith(_NAMELESS))
        key = next(nameless, None)
        return self.state.open.pop(key) if key is not None else None

    def _user(self, event: events.User, at: int | None) -> list[Step]:
        content = event.message.content
        if is_from_peer(event):
            return [self._new(StepKind.PROMPT, peer_text(content), at=at, sender=OTHER_PROGRAM)]
        if event.is_replay and isinstance(content, str) and content.startswith(events.LOCAL_COMMAND):
            text = content.partition(">")[2].rpartition("</")[0].strip()
            return [self._new(StepKind.NOTICE, text, at=at, event="user")] if text else []
        if self._cost is not None and event.is_replay:
            content = self._steered(event)
        if isinstance(content, str):
            return [self._said(content, event, at)]
        steps = []
        results = [block for block in content if isinstance(block, events.ToolResult)]
        details = details_of([self.state.open.get(one.tool_use_id) for one in results], event.tool_use_result)
        for block in content:
            match block:
                case events.ToolResult():
                    steps.append(self._tool_result(block, details.pop(0), event.parent_tool_use_id, at))
                case events.Text():
                    steps.append(self._said(block.text, event, at))
                case _:
                    steps.append(self._new(StepKind.NOTICE, f"({type(block).__name__.lower()})", at=at, event="user"))
        return steps

    def _steered(self, event: events.User) -> str | list[events.Block]:
        """Return the text of a repeated prompt that was sent into a live turn.

        Nothing is left of the prompt that began the turn, and of one that was sent twice.  If several prompts begin a
        turn together, the last is repeated with a block for each (2.1.197 and 2.1.330), and the first is the turn's.
        """
        content = event.message.content
        if event.timestamp is None:
            return []
        own, self.state.prompted = not (self.state.prompted or self.state.spoken), True
        if not own:
            return _as_typed(content) if isinstance(content, str) else content
        return content[1:] if isinstance(content, list) else []

    def _said(self, text: str, event: events.User, at: int | None) -> Step:
        """Return the step of text in the user's name: a replayed prompt, a sub-agent's task, or claude's own remark."""
        if event.is_replay or event.parent_tool_use_id is not None:
            return self._new(StepKind.PROMPT, text, at=at, parent=event.parent_tool_use_id)
        if self.state.compaction.due:
            self.state.compaction.due = False
            step = self._new(StepKind.NOTICE, text, at=at, event=SUMMARY_EVENT)
            if self.facts.compacted is not None:
                self.facts.compacted = structs.replace(self.facts.compacted, step=step.index)
            return step
        return self._new(StepKind.NOTICE, text, at=at, event="user")

    def _tool_result(self, block: events.ToolResult, details: Raw, parent: str | None, at: int | None) -> Step:
        text = block.content if isinstance(block.content, str) else joined(block.content or [])
        earlier = self.state.open.pop(block.tool_use_id, None) or self._oldest_call(block)
        if earlier is None:
            # A call of an earlier process, such as one that was still running when the process was stopped.
            earlier = self._new(StepKind.TOOL_CALL, block.tool_use_id, at=at, parent=parent)
            self.state.early.keep(
                block.tool_use_id, structs.replace(earlier, ended_at=at), text, details, is_error=bool(block.is_error)
            )
        self._counted.pop(hash(block.tool_use_id), None)
        fields = answered(earlier.kind, text, is_error=bool(block.is_error), details=details)
        by_answer = self.state.asks.was_denied(block.tool_use_id)
        if by_answer and fields["status"] is StepStatus.FAILED:
            fields["status"] = StepStatus.DECLINED
        if by_answer or fields["status"] is StepStatus.DECLINED:
            self._declined.append(tool_name(earlier))
            if not by_answer:
                self.facts.deny(self._declined[-1])
        return self.state.tasks.with_result(earlier, fields, details, at)

    def _result(self, event: events.Result, at: int | None) -> list[Step]:
        self.facts.notice = self.facts.waiting = None
        self._count_denials(event.permission_denials)
        self.facts.context_window = _window(event, self.facts.model) or self.facts.context_window
        used = self._earlier.plus(filled(event.usage, Usage(input_tokens=self._live.input_tokens)))
        if event.usage is not None:
            # A result covers the turns since the previous result; the cost covers the whole process.
            self._earlier = self._earlier.plus(filled(event.usage, self._live))
            self.facts.usage = self._earlier
            self._live = Usage()
        self.facts.unsummed = self.facts.unsummed and event.usage is None and not event.model_usage
        note_result(self.facts.reported, event, at)
        cost = event.total_cost_usd
        if self._cost is not None:
            cost = self._cost.add(event, used)
            self.facts.running_cost_usd = self._cost.total
            self.facts.cost_usd = self._cost.own
        elif cost is not None:
            self.facts.cost_usd = cost
        denied = ", ".join(map(_denied, event.permission_denials))
        usage = self._new(
            StepKind.USAGE,
            f"denied: {denied}" if denied else "",
            at=at,
            usage=event.usage.counted() if event.usage is not None else None,
            cost_usd=cost,
        )
        spoken, self.state.spoken = self.state.spoken, False
        why = self.state.compaction.verdict(event, failure(event, self.unread, spoken=spoken))
        if why is None:
            self.facts.end, self.facts.error = "completed", None
            return [usage, *self._local_answer(event, at, spoken=spoken)]
        return [usage, self._fatal(why, at)]

    def _local_answer(self, event: events.Result, at: int | None, *, spoken: bool) -> list[Step]:
        """Take the answer of a command of claude itself as the turn's last message; return its step if none has it."""
        answered, self.state.answered = self.state.answered, False
        if spoken or not is_local(event):
            return []
        self.facts.local = True
        if not event.result:
            return []
        self.facts.last_message = event.result
        return [] if answered else [self._new(StepKind.MESSAGE, event.result, at=at)]

    def _count_denials(self, denials: list[events.Denial]) -> None:
        """Count a result's denials, which cover the time since the previous result, except those known from a step."""
        declined, self._declined = self._declined, deque(maxlen=MOST_OPEN)
        for denial in denials:
            if denial.tool_name in declined:
                declined.remove(denial.tool_name)
            elif not self.state.asks.was_denied(denial.tool_use_id):
                self.facts.deny(denial.tool_name)

    def _aside(self, event: events.Silent | events.Remark | events.Control, at: int | None) -> list[Step]:
        """Return the steps of an event outside the conversation."""
        match event:
            case events.StreamEvent() | events.ToolProgress() | events.KeepAlive() | events.CommandLifecycle():
                # Adds nothing to the whole message, the running step or the prompt.
                return []
            case events.ControlResponse() | events.ControlRequest() | events.ControlCancelRequest():
                return self._control(event, at)
            case events.RateLimitEvent(rate_limit_info=info):
                text = f"rate limit: {info.status}{f' ({info.limit})' if info.limit else ''}"
                if info.status == "rejected":
                    self.facts.notice = text
            case events.AuthStatus():
                text = event.error or "\n".join(event.output)
            case events.ToolUseSummary():
                text = event.summary
            case events.PromptSuggestion():
                text = event.suggestion
            case events.ConversationReset():
                self.facts.cleared = True
                text = f"conversation reset: {event.trigger}" if event.trigger else ""
        name = str(event.__struct_config__.tag)
        return [self._new(StepKind.NOTICE, text or name.replace("_", " "), at=at, event=name)]

    def _control(self, event: events.Control, at: int | None) -> list[Step]:
        """Return the step of an ask, or of its answer, which replaces it; our own requests give a step if they fail."""
        asks = self.state.asks
        match event:
            case events.ControlRequest():
                text = asks.begun(event.request_id, event.request)
                notice = self._new(StepKind.NOTICE, text, at=at, event="ask") if text else None
                steps = [asks.keep(event.request_id, notice), *self._call_of(event.request_id, at)] if notice else []
            case events.ControlCancelRequest():
                call = self._call_of(event.request_id, at, waits=False)
                steps = [*asks.ended(event.request_id, "withdrawn", at), *call]
            case events.ControlResponse(response=response):
                call = self._call_of(response.request_id, at, waits=False)
                steps = [*asks.answered(response, at), *call]
                changed = changed_setting(response.request_id) if response.subtype == "success" else None
                if changed is not None and not (changed[0] == "mode" and self._repeats_mode(changed[1])):
                    steps = [self._new(StepKind.NOTICE, f"{changed[0]}: {changed[1]}", at=at, event="changed")]
                if changed is not None and changed[0] == "model":
                    self.facts.model = changed[1]
                if not steps and response.subtype == "error" and response.request_id != SHOWS:
                    text = f"a request failed: {response.error}"
                    steps = [self._new(StepKind.NOTICE, text, at=at, event="control_response")]
        self.facts.waiting = asks.waiting
        return steps

    def _call_of(self, request: str, at: int | None, *, waits: bool = True) -> list[Step]:
        """Return the step of the call that an ask is about, as it waits for the decision or has it; none if unknown."""
        call = self.state.asks.calls.get(request)
        step = self.state.open.get(call) if call else None
        if call is None or step is None:
            return []
        self.state.open[call] = asked(step, at) if waits else decided(step, at)
        return [self.state.open[call]]

    def _count(self, message: events.Message, speaker: str | None) -> None:
        """Estimate the usage until the result: count each model call once, although every block repeats its usage."""
        if message.id is None or message.usage is None or self._counted.get(hash(speaker)) == hash(message.id):
            return
        if len(self._counted) >= MOST_OPEN:
            self._counted.clear()
        self._counted[hash(speaker)] = hash(message.id)
        used = message.usage.counted()
        note_message(self.facts.reported, message, used)
        self.facts.unsummed = self.facts.unsummed or message.model != events.SYNTHETIC
        if speaker is None:
            self.facts.context_tokens = used.total_tokens or self.facts.context_tokens
        self._live = self._live.plus(used)
        self.facts.usage = self._earlier.plus(self._live)


def _as_typed(text: str) -> str:
    """Return a repeated prompt as it was typed: claude puts a command of its own into tags."""
    if not text.startswith(events.COMMAND):
        return text
    from agentdash.sessions.agents.claude.project.project_text import prompt_text  # few turns have such a prompt

    return prompt_text(text)


def _window(result: events.Result, model: str | None) -> int | None:
    """Return the size of the context of the main agent's model; None if it is not certain."""
    known = result.model_usage or {}
    named = known.get(model or "") or (next(iter(known.values())) if len(known) == 1 else None)
    return named.context_window or None if named is not None else None


def _denied(denial: events.Denial) -> str:
    call = begun(denial.tool_name, value_of(denial.tool_input))["text"].partition("\n")[0]
    return denial.tool_name if call == denial.tool_name else f"{denial.tool_name} {call}"
