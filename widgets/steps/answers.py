"""Blocks for the input and output of a tool: output, arguments, results."""

import json
from typing import Any

from agentdash.sessions.text import units
from agentdash.sessions.text.sanitize import one_line
from agentdash.widgets.document.diff import Diff
from agentdash.widgets.document.lines import Lines
from agentdash.widgets.document.model import Block
from agentdash.widgets.document.plain import PlainText, Spans, pretty_json
from agentdash.widgets.document.syntax import Code, CodeBlock, language_of
from agentdash.widgets.drawing.spans import Row

DIFF_READ = 1_000_000
"""Longest output, in characters, that is coloured as a diff if it begins like one."""

_NAME_CELLS = 60
_PATHS = ("file_path", "filePath", "path")
"""Arguments that name the file whose text is in another argument (claude, opencode, gemini)."""


def answer(text: str, name: str) -> Block:
    """The output of a command or a tool: JSON laid out, a diff in its colours, anything else unchanged."""
    laid_out = pretty_json(text)
    if laid_out is not None:
        return CodeBlock(Code(laid_out, "json"), sized(name, text))
    lines = Lines(text)
    caption = sized(name, text, lines.count)
    is_diff = text.startswith("diff --git ") and len(text) <= DIFF_READ
    return Diff(text, caption) if is_diff else PlainText(lines, caption)


def nothing(what: str) -> Block:
    """A remark that something is missing."""
    return Spans([((), ((what, "dim"),))])


def arguments(value: Any) -> list[Block]:
    """The arguments as JSON; texts of several lines get a block each, in the language of the file."""
    if not isinstance(value, dict):
        return [] if value is None else [_json(value)]
    texts = {key: text for key, text in value.items() if isinstance(text, str) and "\n" in text.strip()}
    rest = {key: inner for key, inner in value.items() if key not in texts}
    path = next((value[key] for key in _PATHS if isinstance(value.get(key), str)), "")
    blocks = [_source(text, str(key), path) for key, text in texts.items()]
    return [_json(rest), *blocks] if rest else blocks


def sized(name: str, text: str, lines: int | None = None) -> Row:
    """A caption with the size of a text: ``output · 41,203 lines · 5.1 MB``."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    counted = "" if lines is None else f"{units.count(lines, 'line')} · "
    return (one_line(name, _NAME_CELLS), "strong"), (f" · {counted}{units.size(size)}", "dim")


def _json(value: Any) -> Block:
    caption = (("arguments", "strong"),)
    if isinstance(value, str):
        return PlainText(value, caption)
    text = json.dumps(value, ensure_ascii=False, default=str)
    return CodeBlock(Code(pretty_json(text) or text, "json"), caption)


def _source(text: str, name: str, path: str) -> Block:
    lines = Lines(text)
    return CodeBlock(Code(lines, language_of(path)), sized(name, text, lines.count))
