"""The items of ``codex app-server``: those of ``codex exec`` in camel case, more, and their steps (codex-cli 0.169.0).

They have unique ids and times, and file changes have diffs (docs/protocols/codex.md, "App-server").
"""

from typing import TYPE_CHECKING, Union

from msgspec import Raw, Struct, field

from agentdash.sessions.agents.codex import items
from agentdash.sessions.agents.codex.item_steps import change_of, described, patch, status_of
from agentdash.sessions.agents.codex.items import in_camel_case
from agentdash.sessions.agents.parsing.json_lines import NULL, Part, Words, joined, value_of
from agentdash.sessions.agents.parsing.parser import StepFields
from agentdash.sessions.model.session import Change, StepKind


class Item(items.Item, rename="camel", kw_only=True):
    """An item that only the app-server has."""

    started_at_ms: items.Moment | None = None
    completed_at_ms: items.Moment | None = None


class UserMessage(Item, tag="userMessage"):
    """A prompt that has become part of the conversation."""

    client_id: str | None = None
    content: list[Part] = field(default_factory=list)


class HookPrompt(Item, tag="hookPrompt"):
    """Text that a hook added to the conversation."""

    fragments: list[Part] = field(default_factory=list)


class Plan(Item, tag="plan"):
    """A proposed plan, in plan mode."""

    text: Words = ""


class PatchKind(Struct, rename={"kind": "type"}):
    """The kind of a change, and the new path of a file that is moved."""

    kind: str = "update"
    move_path: str | None = None


class FileUpdate(Struct):
    """One file of a patch; ``diff`` is the whole text of a file that is added or deleted."""

    path: str = ""
    kind: PatchKind = field(default_factory=PatchKind)
    diff: Words = ""


class FileChange(Item, tag="fileChange"):
    """A patch; its beginning has the diffs already."""

    changes: list[FileUpdate] = field(default_factory=list)
    status: str = ""


class DynamicToolCall(Item, tag="dynamicToolCall"):
    """A call of a tool that the client offers."""

    tool: str | None = None
    arguments: Raw = NULL
    content_items: list[Part] | None = None
    status: str = ""


class FunctionCallOutput(Item, tag="functionCallOutput"):
    """The output of a call that has no item of its own."""

    name: Words = ""
    output: Raw = NULL


class SubAgentActivity(Item, tag="subAgentActivity"):
    """A sub-agent began, was sent a message, or ended."""

    kind: Words = ""
    agent_path: Words = ""


class ImageView(Item, tag="imageView"):
    """The agent opened an image."""

    path: Words = ""


class ImageGeneration(Item, tag="imageGeneration"):
    """The agent made an image."""


class Sleep(Item, tag="sleep"):
    """The agent waits."""


class EnteredReviewMode(Item, tag="enteredReviewMode"):
    """A review begins."""

    review: Words = ""


class ExitedReviewMode(Item, tag="exitedReviewMode"):
    """A review ended."""

    review: Words = ""


class ContextCompaction(Item, tag="contextCompaction"):
    """The conversation was summarized, because its context was full."""


if TYPE_CHECKING:
    AnyItem = items.Item
else:
    AnyItem = Union[  # noqa: UP007 - of types that are made here
        in_camel_case(items.AgentMessage, "agentMessage"),
        in_camel_case(items.Reasoning, "reasoning"),
        in_camel_case(items.CommandExecution, "commandExecution"),
        in_camel_case(items.McpToolCall, "mcpToolCall"),
        in_camel_case(items.CollabToolCall, "collabAgentToolCall"),
        in_camel_case(items.WebSearch, "webSearch"),
        UserMessage, HookPrompt, Plan, FileChange, DynamicToolCall, FunctionCallOutput, SubAgentActivity, ImageView,
        ImageGeneration, Sleep, EnteredReviewMode, ExitedReviewMode, ContextCompaction,
    ]  # fmt: skip


_MOVED = "\n\nMoved to: "
"""The words that codex appends to the diff of a file that it also moved."""


def fields_of(item: items.Item) -> StepFields:
    """Return the fields of an item's step."""
    fields: StepFields
    match item:
        case UserMessage():
            fields = {"kind": StepKind.PROMPT, "text": joined(item.content)}
        case HookPrompt():
            fields = _notice("hookPrompt", f"a hook said: {joined(item.fragments)}")
        case Plan():
            fields = {"kind": StepKind.MESSAGE, "text": item.text}
        case SubAgentActivity():
            fields = _notice("subAgentActivity", f"sub-agent {item.agent_path}: {item.kind}")
        case EnteredReviewMode():
            fields = _notice("enteredReviewMode", f"a review began: {item.review}")
        case ExitedReviewMode():
            fields = {"kind": StepKind.MESSAGE, "text": item.review}
        case ContextCompaction():
            fields = _notice("contextCompaction", "the conversation was compacted")
        case _:
            fields = _done(item)
    return fields


def _done(item: items.Item) -> StepFields:
    fields: StepFields
    match item:
        case FileChange():
            fields = patch(changes_of(item), item.status)
        case DynamicToolCall():
            fields = _call(item.tool or "", item.tool)
            fields["arguments"], fields["status"] = value_of(item.arguments), status_of(item.status)
            fields["output"] = joined(item.content_items or []) or None
        case FunctionCallOutput():
            fields = _call(item.name, item.name)
            value = value_of(item.output)
            fields["output"] = value if isinstance(value, str) else bytes(item.output).decode("utf-8", "replace")
        case ImageView():
            fields = _call(item.path, "view_image")
        case ImageGeneration():
            fields = _call("image", "image_generation")
        case Sleep():
            fields = _call("sleep", "sleep")
        case _:
            fields = described(item)
    return fields


def changes_of(item: FileChange) -> tuple[Change, ...]:
    """Return the changes of a patch with their diffs."""
    return tuple(_change(update) for update in item.changes)


def _change(update: FileUpdate) -> Change:
    moved = update.kind.move_path
    text = update.diff if moved is None else update.diff.removesuffix(f"{_MOVED}{moved}")
    return change_of(update.path, update.kind.kind, text, moved)


def _call(text: str, tool: str | None) -> StepFields:
    return {"kind": StepKind.TOOL_CALL, "text": text, "tool": tool}


def _notice(event: str, text: str) -> StepFields:
    return {"kind": StepKind.NOTICE, "event": event, "text": text}
