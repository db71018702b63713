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
_COMMAND = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_SHELL = re.compile(r"\s*<bash-input>(.*?)</bash-input>", re.DOTALL)


def is_remark(text: str) -> bool:
    """Return whether claude wrote this text in the user's name."""
    return _REMARK.match(text) is not None


def prompt_text(text: str) -> str:
    """Return a prompt as the user wrote it, without claude's wrapper of its own commands."""
    shell = _SHELL.match(text)
    if shell is not None:
        return f"! {shell[1].strip()}"
    if not text.lstrip().startswith("<command-"):
        return text
    name, arguments = _COMMAND.search(text), _ARGUMENTS.search(text)
    return f"{name[1].strip()} {arguments[1].strip() if arguments else ''}".strip() if name else text


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
