"""The items that only ``codex app-server`` has as steps (codex-cli 0.169.0, and its own schema).

File changes have diffs here, and all items have times (docs/protocols/codex.md, "App-server").
"""

from collections.abc import Callable

from agentdash.sessions.agents.codex.app_server import items
from agentdash.sessions.agents.codex.item_steps import described, patch, status_of
from agentdash.sessions.agents.codex.items import Item
from agentdash.sessions.agents.parsing.json_lines import joined, value_of
from agentdash.sessions.agents.parsing.step_fields import StepFields
from agentdash.sessions.model.session import Change, StepKind
from agentdash.sessions.text.unified_diff import Diff, created, deleted, diff_of

_MOVED = "\n\nMoved to: "
"""The words that codex appends to the diff of a file that it also moved."""


def fields_of(item: Item) -> StepFields:
    """Return the fields of an item's step."""
    fields: StepFields
    match item:
        case items.UserMessage():
            fields = {"kind": StepKind.PROMPT, "text": text_of(item.content)}
        case items.HookPrompt():
            fields = _notice("hookPrompt", f"a hook said: {text_of(item.fragments)}")
        case items.Plan():
            fields = {"kind": StepKind.MESSAGE, "text": item.text}
        case items.SubAgentActivity():
            fields = _notice("subAgentActivity", f"sub-agent {item.agent_path}: {item.kind}")
        case items.EnteredReviewMode():
            fields = _notice("enteredReviewMode", f"a review began: {item.review}")
        case items.ExitedReviewMode():
            fields = {"kind": StepKind.MESSAGE, "text": item.review}
        case items.ContextCompaction():
            fields = _notice("contextCompaction", "the conversation was compacted")
        case _:
            fields = _done(item)
    return fields


def _done(item: Item) -> StepFields:
    fields: StepFields
    match item:
        case items.FileChange():
            fields = patch(changes_of(item), item.status)
        case items.DynamicToolCall():
            fields = _call(item.tool or "", item.tool)
            fields["arguments"], fields["status"] = value_of(item.arguments), status_of(item.status)
            fields["output"] = joined(item.content_items or []) or None
        case items.FunctionCallOutput():
            fields = _call(item.name, item.name)
            value = value_of(item.output)
            fields["output"] = value if isinstance(value, str) else bytes(item.output).decode("utf-8", "replace")
        case items.ImageView():
            fields = _call(item.path, "view_image")
        case items.ImageGeneration():
            fields = _call("image", "image_generation")
        case items.Sleep():
            fields = _call("sleep", "sleep")
        case _:
            fields = described(item)
    return fields


def text_of(fragments: list[items.Fragment]) -> str:
    """Return the user's input as text; a piece that is not text is only named."""
    return "\n".join(part.text if part.text is not None else f"({part.type})" for part in fragments)


def changes_of(item: items.FileChange) -> tuple[Change, ...]:
    """Return the changes of a patch with their diffs."""
    return tuple(_change(update) for update in item.changes)


def _change(update: items.FileUpdate) -> Change:
    text = update.diff
    moved = update.kind.move_path
    if moved is not None:
        text = text.removesuffix(f"{_MOVED}{moved}")
    whole: dict[str, Callable[[str], Diff]] = {"add": created, "delete": deleted}
    diff = whole[update.kind.kind](text) if update.kind.kind in whole else diff_of(text)
    return Change(
        path=update.path,
        kind=update.kind.kind,
        diff=diff.text if diff else None,
        added=diff.added if diff else None,
        removed=diff.removed if diff else None,
        cut=diff.cut if diff else False,
        moved_to=moved,
    )


def _call(text: str, tool: str | None) -> StepFields:
    return {"kind": StepKind.TOOL_CALL, "text": text, "tool": tool}


def _notice(event: str, text: str) -> StepFields:
    return {"kind": StepKind.NOTICE, "event": event, "text": text}
