"""The text of claude's transcripts that is neither the user's nor the model's: remarks and notices."""

from typing import Any

from msgspec import Raw

from agentdash.sessions.agents.claude.project.project_events import Line
from agentdash.sessions.agents.parsing.json_lines import value_of
from agentdash.sessions.agents.parsing.wrappers import is_wrapped

_REMARKS = frozenset({
    "bash-stderr", "bash-stdout", "channel", "cross-session-message", "fork-boilerplate", "local-command-caveat",
    "local-command-stderr", "local-command-stdout", "new-diagnostics", "system-reminder", "task-notification",
    "teammate-message", "tick", "user-memory-input",
})  # fmt: skip
_TRAILED = frozenset({"task-notification"})
_COMMAND_PARTS = frozenset({"command-args", "command-contents", "command-message", "command-name"})
_INTERRUPTED = frozenset({"[Request interrupted by user]", "[Request interrupted by user for tool use]"})


def is_remark(text: str) -> bool:
    """Return whether claude wrote this text in the user's name."""
    return is_wrapped(text, _REMARKS, _TRAILED)


def is_interruption(text: str) -> bool:
    """Return whether claude wrote this text in place of an answer that the user interrupted."""
    return text.strip() in _INTERRUPTED


def prompt_text(text: str) -> str:
    """Return a prompt as the user wrote it, without claude's wrapper of its own commands."""
    shell = text.strip()
    if shell.startswith("<bash-input>") and shell.endswith("</bash-input>"):
        return f"! {shell.removeprefix('<bash-input>').removesuffix('</bash-input>').strip()}"
    name = _element(text, "command-name") if is_wrapped(text, _COMMAND_PARTS) else None
    if name is None:
        return text
    return f"{name} {_element(text, 'command-args') or ''}".strip()


def _element(text: str, tag: str) -> str | None:
    """Return the text between the first pair of tags; None if there is none.

    No regular expression: it would search for the end again from each beginning.
    """
    _, opened, behind = text.partition(f"<{tag}>")
    inside, closed, _ = behind.partition(f"</{tag}>")
    return inside.strip() if opened and closed else None


def readable(content: Any) -> str:
    """Return a text, or the joined texts of blocks; a block that is not text is only named."""
    if isinstance(content, str):
        return content
    if isinstance(content, Raw):
        return readable(value_of(content))
    if isinstance(content, list):
        return "\n".join(readable(block) for block in content)
    if isinstance(content, dict):
        text = content.get("text")
        return text if isinstance(text, str) else f"({content.get('type')})"
    return ""


def system_text(line: Line) -> str:
    """Return the text of one of claude's own notices."""
    name = line.subtype.replace("_", " ")
    if line.subtype == "compact_boundary":
        how = line.compact_metadata
        facts = (how.trigger, f"{how.pre_tokens:,} tokens before" if how.pre_tokens else None) if how else ()
        more = ", ".join(filter(None, facts))
        return f"context compacted ({more})" if more else "context compacted"
    if line.subtype == "api_error" and line.retry_attempt is not None:
        return f"api error: retry {line.retry_attempt} of {line.max_retries}"
    if line.subtype == "turn_duration" and line.duration_ms is not None:
        return f"turn took {line.duration_ms / 1000:.1f} s"
    text = readable(line.content)
    return f"{name}: {text}" if text else name
