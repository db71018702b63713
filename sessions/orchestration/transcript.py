"""The steps and changes of a worker as lines of text for its lead."""

from collections.abc import Iterable, Iterator

from ..changes.from_steps import collect
from ..model import Change, Step, StepKind
from ..text.json_text import json_text
from ..text.sanitize import clean
from ..text.units import line_change
from ..transcript import blocks
from ..transcript.blocks import Origin, Voice
from ..transcript.visible.retelling import ending, file_words

_OUTPUT, _ARGUMENTS, _TEXT = 400, 200, 1_500
"""Characters of a step's texts, unless all are requested."""

_FILES = 20
"""The most files of one step that are named, unless all are requested."""

_PATH = 1_000
"""The most characters of a path."""

_VOICES = {Voice.USER: "prompt", Voice.AGENT: "response", Voice.THOUGHT: "thinking"}
_CALLS = {StepKind.WEB_SEARCH: "search", StepKind.SUBAGENT: "helper"}


def step_texts(steps: Iterable[Step], *, full: bool) -> Iterator[str]:
    """Yield each step as text: ``[command] $ make -> exit 2``, and below it the output.

    The start of a turn and its tokens are left out: other tools report them.
    """
    for step in steps:
        lines = [_drawn(block, step, full) for block in blocks.describe(step).body]
        if any(lines):
            yield clean(f"{step.index}. " + "\n".join(filter(None, lines))).rstrip() + "\n"


def _drawn(block: blocks.Block, step: Step, full: bool) -> str:  # noqa: PLR0911 - one for each type of block
    match block:
        case blocks.Prose():
            return _prose(block, full)
        case blocks.Code():
            command = f"$ {_short(block.text, _TEXT, full)}"
            if block.of_failed_start:
                return _indented(" -> ".join(filter(None, (command, block.exit_note))))
            return f"[command] {command}{_ending(step)}"
        case blocks.Output():
            text = "" if block.origin is Origin.EDITOR else block.text.strip("\n")
            return _indented(_short(text, _OUTPUT, full)) if text else ""
        case blocks.Call():
            called, task = _call(block, full)
            return f"[{_CALLS.get(step.kind, 'tool')}] {called}{_ending(step)}{task}"
        case blocks.Files():
            diffs = [line for change in block.changes for line in _diff(change)] if full else []
            named = file_words(block, None if full else _FILES, _PATH) or _short(block.text, _TEXT, full)
            more = " (full=true)" if not full and len(block.changes) > _FILES else ""
            return "\n".join([f"[edit] {named}{more}{_ending(step)}", *diffs])
        case blocks.Plan():
            items = "; ".join(f"{item.status}: {item.text}" for item in block.items)
            return f"[plan] {_short(items or block.text, _TEXT, full)}{_ending(step)}"
        case blocks.Notice():
            name = "error" if block.is_error else "notice"
            fatality = f" ({block.fatality})" if block.fatality else ""
            return f"[{name}] {_short(block.text, _TEXT, full)}{fatality}"
        case blocks.Raw():
            return f"[unknown] {block.event or 'event'}: {_short(block.text, _TEXT, full)}"
        case blocks.Facts() | blocks.Tokens():
            return ""


def _prose(block: blocks.Prose, full: bool) -> str:
    text = " ".join(filter(None, (_short(block.text.strip("\n"), _TEXT, full), block.note and f"({block.note})")))
    return f"[{_VOICES[block.voice]}] {text}" if text.strip() else ""


def _ending(step: Step) -> str:
    how = ending(step)
    return f" -> {how}" if how else ""


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.split("\n"))


def _call(block: blocks.Call, full: bool) -> tuple[str, str]:
    """Return a call with its arguments, or its purpose if that describes it better; and the whole task, if wanted."""
    if not block.repeated:
        given = json_text(block.arguments, indent=2 if full else None) or block.purpose
        return f"{block.tool}({_short(given, _ARGUMENTS, full)})", ""
    task = block.task if full and isinstance(block.task, str) and block.task != block.purpose else ""
    return _short(block.purpose or block.tool, _TEXT, full), task and f"\n{_indented(task)}"


def _diff(change: Change) -> Iterator[str]:
    if change.diff:
        yield change.diff.rstrip("\n")
    if remark := blocks.diff_remark(change):
        yield f"({remark})"


def _short(text: str, most: int, full: bool) -> str:
    if full or len(text) <= most:
        return text
    return f"{text[:most].rstrip()} … {len(text) - most:,} more characters (full=true)"


def change_lines(steps: Iterable[Step], cwd: str, *, full: bool) -> Iterator[str]:
    """Yield the changed files of the steps, each edit that failed too, with diffs if all is requested."""
    found = collect(steps, cwd)
    for file in found.files:
        counted = "" if file.added is None else line_change(file.added, file.removed or 0, least=file.partial)
        edits = f"{file.touched} of {len(file.edits) + file.more_edits} edits took effect"
        yield f"{file.kind or 'unchanged'} {file.path} {counted} ({edits})\n"
        if full:
            yield from (f"{edit.diff.rstrip()}\n" for edit in file.edits if edit.diff and edit.counts)
    if found.more:
        yield f"and {found.more} edits of further files\n"
