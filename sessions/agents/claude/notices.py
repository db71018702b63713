"""claude's notices outside the conversation: the subtypes of its ``system`` events as lines for people.

A compaction is told by several lines (2.1.197 and 2.1.330): ``status`` has the outcome, ``compact_boundary`` the
tokens, and a line in the user's name after it the summary.  The ``result`` of a turn that only compacts is a success
without a model call, also if the compaction failed: its ``stop_reason`` is null, so the outcome decides
(docs/protocols/claude.md, "Forks and compactions").
"""

from msgspec import Struct, field, structs

from agentdash.sessions.agents.claude import events
from agentdash.sessions.agents.claude.events import Block, Decision, Request, Response, System, Text, User
from agentdash.sessions.agents.claude.live.asks import MOST_OPEN_ASKS, ask_of
from agentdash.sessions.agents.parsing.json_lines import NULL, text_of, value_of
from agentdash.sessions.model.session import Step
from agentdash.sessions.rules.asks.answers import sentence
from agentdash.sessions.rules.asks.model import AskKind
from agentdash.sessions.rules.turn_facts import Compacted

NOTHING_TO_DO = "Not enough messages to compact."
"""The outcome ``failed`` of a command that had nothing to do (2.1.197 to 2.1.332): an answer, not a failure."""


class CompactionNotes(Struct):
    """The parser's memory of a compaction in the turn."""

    outcome: str | None = None
    """``success`` or ``failed``."""
    error: str = ""
    due: bool = False
    """The summary is the next line in the user's name."""

    def note(self, event: events.System) -> Compacted | None:
        """Read a ``system`` event; return the compaction if the event reports one."""
        if event.compact_result is not None:
            self.outcome, self.error = event.compact_result, event.compact_error or ""
        if event.subtype != "compact_boundary":
            return None
        self.due = True
        known = event.compact_metadata or events.CompactMetadata()
        return Compacted(
            tokens_before=known.pre_tokens, tokens_after=known.post_tokens, requested=known.trigger == "manual"
        )

    def verdict(self, event: events.Result, why: str | None) -> str | None:
        """Return why the turn of a result failed; None if it is good.

        Args:
            why: the reason that the result itself gives.
        """
        outcome, error = self.outcome, self.error
        self.outcome, self.error, self.due = None, "", False
        if outcome is None or event.num_turns != 0 or event.is_error:
            return why
        if outcome == "success" or error == NOTHING_TO_DO:
            return None
        return error or event.result or "claude did not compact the conversation"


def compaction_text(event: events.System) -> str | None:
    """Return an event about a compaction as one line for people; None for another event."""
    if event.compact_result is not None:
        error = f": {event.compact_error}" if event.compact_error else ""
        return f"compaction: {event.compact_result}{error}"
    known = event.compact_metadata
    if event.subtype != "compact_boundary" or known is None:
        return None
    counts = ((known.pre_tokens, "tokens before"), (known.post_tokens, "after"))
    more = [known.trigger or "", *(f"{count:,} {what}" for count, what in counts if count is not None)]
    return f"context compacted ({', '.join(filter(None, more))})" if any(more) else "context compacted"


NOTICES = frozenset(
    {
        "agents_killed", "api_error", "api_retry", "away_summary", "background_tasks_changed", "bridge_state",
        "cloud_session_delta", "code_change_published", "commands_changed", "compact_boundary",
        "control_request_progress", "dev_intent", "elicitation_complete", "feedback_draft_queued",
        "file_attachments_missing", "file_snapshot", "files_persisted", "hook_progress", "hook_response",
        "hook_started", "informational", "inherited_asks_settled", "instruction_size_warning", "late_allow_not_run",
        "local_command", "local_command_output", "memory_recall", "memory_saved", "mirror_error",
        "model_consent_fallback", "model_fallback", "model_refusal_fallback", "model_refusal_no_fallback",
        "notification", "peer_message_hold", "per_turn_effort_changed", "permission_check_status",
        "permission_denied", "permission_retry", "plugin_install", "post_turn_summary", "scheduled_task_fire",
        "session_metadata", "session_state_changed", "session_title_changed", "session_writes_lost", "shell_cwd",
        "status", "stop_hook_summary", "task_list_statuses", "task_notification", "task_progress", "task_started",
        "task_summary", "task_updated", "thinking", "turn_duration", "turn_handoff_available",
        "turn_preempted", "turn_starting", "ui_focus", "ui_invalidate", "ui_log", "ui_notify", "ui_notify_cancel",
        "ui_panes", "ui_placed", "ui_scroll", "ui_status", "ui_toast", "upgrade_relay_marker", "vcs_state_changed",
        "worker_shutting_down",
    }
)  # fmt: skip
"""The subtypes of ``system`` in the schemas of 2.1.197 and 2.1.330."""


SILENT = frozenset(
    {
        "background_tasks_changed", "permission_check_status", "session_metadata", "session_state_changed",
        "turn_duration", "turn_starting", "ui_focus", "ui_invalidate", "ui_log", "ui_panes", "ui_placed", "ui_scroll",
        "ui_status",
    }
)  # fmt: skip
"""The subtypes that repeat what other events say, or are for claude's own screen: they give no step."""


def repeats_call(event: System) -> bool:
    """Return whether an event tells of a task for which its call waits: the step of the call shows the same."""
    if not event.tool_use_id:
        return False
    started = event.subtype == "task_started" and event.is_backgrounded is not True
    return started or (event.subtype == "task_notification" and event.output_file == "")


_HELD = {"held": "held, claude has not read it", "released": "delivered"}


def notice_text(event: System) -> str:
    """Return an event as one line for people."""
    if event.subtype == "api_retry":
        why = event.error_status or (None if event.error == NULL else text_of(event.error).strip('"'))
        return f"retry {event.attempt} of {event.max_retries}{f' ({why})' if why else ''}"
    if event.subtype == "peer_message_hold":
        return f"a message from another program: {_HELD.get(event.state or '', event.outcome or event.state or '?')}"
    compaction = compaction_text(event)
    if compaction is not None:
        return compaction
    texts = (event.summary, event.description, event.content, event.text, event.reason, event.title, event.tool_name)
    state = (event.hook_name, event.status, event.state, event.permission_mode, event.error_code, event.kind)
    text = ": ".join(filter(None, (next(filter(None, texts), None), next(filter(None, state), None))))
    return f"{event.subtype.replace('_', ' ')}{f': {text}' if text else ''}"


_BEGIN, _END = "Another Claude session sent a message:\n", "\n\nThis came from another Claude session"
"""The words in which claude wraps such a message."""


def is_from_peer(event: User) -> bool:
    """Return whether another program sent the text, through claude's inbox socket (2.1.330, 2.1.332)."""
    return event.origin is not None and event.origin.kind == "peer"


def peer_text(content: "str | list[Block]") -> str:
    """Return the words of the other program; the whole text if claude wraps them in other words."""
    text = content if isinstance(content, str) else "\n".join(one.text for one in content if isinstance(one, Text))
    inner, found, _ = text.removeprefix(_BEGIN).rpartition(_END)
    return inner if found and text.startswith(_BEGIN) else text


_WORDS = 400
"""Characters of a denial that are shown."""


class AskNotices(Struct, kw_only=True):
    """The open asks of a turn, one notice for each, with the user's decision behind it; part of a parser's state."""

    cwd: str = ""
    open: dict[str, Step] = field(default_factory=dict)
    """The notices of the open asks, by the ids of the requests."""
    calls: dict[str, str] = field(default_factory=dict)
    """The tool calls of the open asks."""
    questions: set[str] = field(default_factory=set)
    """The open asks that are questions."""
    denied: list[str] = field(default_factory=list)
    """The tool calls that the user denied and whose results are still to come."""

    @property
    def waiting(self) -> str | None:
        """The oldest open ask as one line; None if there is none."""
        return next((step.text for step in self.open.values()), None)

    def begun(self, key: str, request: Request) -> str | None:
        """Return the line of a request; None if it is not an ask, or is open already."""
        ask = ask_of(key, request, self.cwd)
        if ask is None or key in self.open:
            return None
        self.calls[key] = request.tool_use_id
        if ask.kind is AskKind.QUESTION:
            self.questions.add(key)
        return sentence(ask)

    def keep(self, key: str, step: Step) -> Step:
        """Remember the step of an open ask, and return it; the oldest is dropped if too many are open."""
        self.open[key] = step
        if len(self.open) > MOST_OPEN_ASKS:
            oldest = next(iter(self.open))
            del self.open[oldest]
            self._forget(oldest)
        return step

    def answered(self, response: Response, at: int | None) -> list[Step]:
        """Return the step of an ask that has its answer; none if the response belongs to another request."""
        decision = response.response or Decision()
        call = self.calls.get(response.request_id)
        if call and decision.behavior == "deny":
            self.denied = [*self.denied, call][-MOST_OPEN_ASKS:]
        asks = response.request_id in self.questions and decision.behavior == "allow"
        return self.ended(response.request_id, _answers(decision) if asks else _words(decision), at)

    def ended(self, key: str, how: str, at: int | None) -> list[Step]:
        """Return the step of an ask that is over."""
        self._forget(key)
        step = self.open.pop(key, None)
        return [structs.replace(step, text=f"{step.text} ({how})", ended_at=at)] if step is not None else []

    def _forget(self, key: str) -> None:
        self.calls.pop(key, None)
        self.questions.discard(key)

    def was_denied(self, call: str) -> bool:
        """Return whether the user denied a tool call; the answer is True once for each."""
        if not call or call not in self.denied:
            return False
        self.denied.remove(call)
        return True


def _words(decision: Decision) -> str:
    if decision.behavior == "deny":
        return f"denied{_shown(decision.message)}"
    if decision.behavior == "allow":
        return "allowed" if decision.updated_permissions == NULL else "allowed, also later"
    return {"accept": "answered", "decline": "declined", "cancel": "declined"}.get(decision.action or "", "answered")


def _answers(decision: Decision) -> str:
    """Return the user's answers to questions."""
    given = value_of(decision.updated_input)
    answers = given.get("answers") if isinstance(given, dict) else None
    words = [value for value in answers.values() if isinstance(value, str)] if isinstance(answers, dict) else []
    return f"answered{_shown('; '.join(words))}"


def _shown(text: str) -> str:
    words = " ".join(text[:_WORDS].split())
    return f": {words}" if words else ""
