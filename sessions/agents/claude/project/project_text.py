"""The text of claude's transcripts that is neither the user's nor the model's: remarks and notices."""

import re
from typing import Any

from msgspec import Raw

from ...parsing.json_lines import value_of
from .project_events import Line

_REMARK = re.compile(
    r"\s*<(?:local-command-[a-z]+|bash-std(?:out|err)|task-notification|system-reminder|teammate-message|"
    r"user-memory-input|new-diagnostics|tick|channel|cross-session-message|fork-boilerplate)\b"
)


def is_remark(text: str) -> bool:
    """Return whether claude wrote this text in the user's name."""
    return _REMARK.match(text) is not None


def prompt_text(text: str) -> str:
    """Return a prompt as the user wrote it, without claude's wrapper of its own commands."""
    begin = text.lstrip()
    if begin.startswith("<bash-input>") and (shell := _element(text, "bash-input")) is not None:
        return f"! {shell}"
    if not begin.startswith("<command-") or (name := _element(text, "command-name")) is None:
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
