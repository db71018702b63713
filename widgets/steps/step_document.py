"""The full document of one step: its blocks and their captions, with the input and output of a tool."""

import json
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from agentdash.sessions.model.session import Change, Step, StepKind, StepStatus, Usage
from agentdash.sessions.text import units
from agentdash.sessions.text.sanitize import one_line
from agentdash.sessions.text.unified_diff import created_text
from agentdash.sessions.transcript import blocks
from agentdash.sessions.transcript.blocks import ENDINGS, Description, Origin, Prose, kind_name
from agentdash.widgets.document.diff import Diff
from agentdash.widgets.document.lines import Lines
from agentdash.widgets.document.markdown import Markdown
from agentdash.widgets.document.model import NAME, Block, Document
from agentdash.widgets.document.plain import PlainText, Spans, facts, pretty_json
from agentdash.widgets.document.syntax import Code, CodeBlock, language_of
from agentdash.widgets.drawing import glyphs
from agentdash.widgets.drawing.roles import ENDING_ROLES, error_role
from agentdash.widgets.drawing.short_forms import below, place
from agentdash.widgets.drawing.spans import Row, Span

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


def title(step: Step, described: Description) -> Row:
    """Short facts, to be shown with dots between them; unknown ones are left out."""
    kind: Span = (f"{glyphs.KINDS[step.kind]} {kind_name(step.kind)}", "strong")
    name = one_line(described.name, NAME)
    first = described.body[0]
    note = first.note if isinstance(first, Prose) else ""
    times = () if step.at is None else (described.took, units.moment(step.at))
    facts: list[Span] = [(fact, "dim") for fact in (note, *times) if fact]
    return (kind, *([(name, "name")] if name else []), *_place(step), *_ending(step), *facts)


def _place(step: Step) -> list[Span]:
    """The turn and the step; no number for the turn's prompt, which is its step 0."""
    facts = [f"turn {step.turn}"]
    if step.index > 0 or (step.index == 0 and step.kind is not StepKind.PROMPT):
        facts.append(f"step {step.index}")
    if step.parent:
        facts.append("by a sub-agent")
    return [(fact, "dim") for fact in facts]


def _ending(step: Step) -> list[Span]:
    """The ending with its mark from the list of steps, and always with a word."""
    if step.kind is StepKind.ERROR and step.fatal is not None:
        return [("fatal" if step.fatal else "not fatal", error_role(step.fatal))]
    if step.status is None:
        return [(f"exit {step.exit_code}", "dim")] if step.exit_code is not None else []
    sign = ENDINGS[step.status]
    word = _WORDS.get(step.status, "") if step.exit_code is None else f"exit {step.exit_code}"
    return [(" ".join(filter(None, (sign, word))), ENDING_ROLES[step.status])]


_WORDS = {StepStatus.OK: "ok", StepStatus.FAILED: "failed"}
"""Words for the endings whose signs have none."""


class Look(Struct, frozen=True):
    """Settings shared by all blocks of a document."""

    cwd: str | None
    source: bool

    def prose(self, text: str, caption: Row = ()) -> Block:
        """A text that a person or a model wrote."""
        return PlainText(text, caption) if self.source else Markdown(text, caption)


def step_document(step: Step, *, cwd: str | None = None, source: bool = False) -> Document:
    """The document of a step; slow work waits until its rows are requested.

    Args:
        step: the whole step; its document notes any text that was left out.
        cwd: the folder of its session; paths below it are shown relative to it.
        source: show texts as they were written, not as Markdown.
    """
    described = blocks.describe(step)
    look = Look(cwd, source)
    parts = [part for block in described.body for part in _parts(block, look, step)]
    if described.remark:
        parts.append(nothing(described.remark))
    if step.cut:
        parts.append(nothing(f"{units.count(step.cut, 'character')} not shown"))
    return Document(title(step, described), parts)


def _parts(block: blocks.Block, look: Look, step: Step) -> Iterator[Block]:
    """The parts of the document for one block."""
    match block:
        case blocks.Prose():
            yield look.prose(block.text) if block.text.strip() else nothing("empty")
        case blocks.Code():
            yield from _command(block, look)
        case blocks.Output():
            yield from _output(block, look, wanting=step.status is StepStatus.INTERRUPTED)
        case blocks.Call():
            yield from _call(block, look)
        case blocks.Files():
            yield from _files(block, look, whole=not step.cut)
        case blocks.Plan():
            yield _plan(block, look)
        case blocks.Facts():
            yield from _start(block, look)
        case blocks.Tokens():
            yield from _tokens(block)
        case blocks.Notice():
            yield _notice(block)
        case blocks.Raw():
            yield answer(block.text, "raw line")


def _command(block: blocks.Code, look: Look) -> Iterator[Block]:
    """A command and its folder; for a failed start also the exit code, which has no place in its title."""
    yield CodeBlock(Code(block.text, "bash"), (("command", "strong"),) if block.of_failed_start else ())
    pairs = [("exit", block.exit_note.removeprefix("exit "))] if block.exit_note else []
    pairs += [("folder", place(one_line(look.cwd)))] if look.cwd else []
    if pairs:
        yield _facts(*pairs)


def _call(block: blocks.Call, look: Look) -> Iterator[Block]:
    """The task of a sub-agent is prose; the rest of a call is not."""
    if block.purpose.strip() and block.purpose != block.task:
        yield PlainText(block.purpose, role="strong")
    if isinstance(block.task, str) and block.task.strip():
        yield look.prose(block.task, (("task", "strong"),))
    yield from arguments(block.other_arguments)


def _output(block: blocks.Output, look: Look, *, wanting: bool) -> Iterator[Block]:
    """The whole output; a remark that there was none, once the step has ended and its result is not ``wanting``."""
    if block.origin is Origin.EDITOR:
        return
    if not block.text.strip():
        if block.ended and not wanting:
            yield nothing(f"no {block.name}")
    elif block.origin is Origin.SUBAGENT and pretty_json(block.text) is None:
        yield look.prose(block.text, ((block.name, "strong"),))
    else:
        yield answer(block.text, block.name)


def _files(block: blocks.Files, look: Look, *, whole: bool) -> Iterator[Block]:
    for change in block.changes:
        yield _change(change, look.cwd)
        if change.diff and whole and (why := blocks.diff_remark(change)):
            yield nothing(why)
    if not block.changes:
        yield PlainText(block.text) if block.text.strip() else nothing("no file named by the agent")


def _change(change: Change, cwd: str | None) -> Block:
    """A new file is shown as its text, in its own colours; any other file as its diff."""
    kind = _KINDS.get(change.kind, change.kind)
    counted = zip(change.lines or (0, 0), _COUNTED, strict=True)
    counts = [(f"{sign}{number:,}", role) for number, (sign, role) in counted if number]
    details: list[Span] = [(one_line(kind, NAME), "dim")] if kind else []
    if change.moved_to:
        details.append((f"moved to {below(one_line(change.moved_to, NAME), cwd)}", "dim"))
    caption: list[Span] = [(below(one_line(change.path, NAME), cwd), "strong")]
    for fact in (*details, *counts):
        caption += [("  ", ""), fact]
    if not change.diff:
        why = blocks.diff_remark(change) or ("empty diff" if change.lines == (0, 0) else "no diff from the agent")
        return Spans([((), ((why, "dim"),))], tuple(caption))
    text = created_text(change.diff) if change.kind == "add" else None
    if text is None:
        return Diff(change.diff, tuple(caption))
    return CodeBlock(Code(text, language_of(change.path)), tuple(caption), numbered=True)


_COUNTED = (("+", "added"), ("-", "removed"))
_KINDS = {"add": "new file", "delete": "deleted", "update": ""}


def _plan(block: blocks.Plan, look: Look) -> Block:
    """The list with its boxes, and a caption with the number of items done."""
    if not block.items:
        return look.prose(block.text) if block.text.strip() else nothing("empty")
    lines: list[tuple[Row, Row]] = []
    for item in block.items:
        mark, role = glyphs.PLAN.get(item.status, glyphs.PLAN["pending"]), _PLAN_ROLES.get(item.status, "text")
        lines.append((((mark + " ", role),), ((one_line(item.text, NAME), role),)))
    return Spans(lines, ((f"{block.done} of {len(block.items)} done", "strong"),))


_PLAN_ROLES = {"completed": "dim", "in_progress": "running"}


def _notice(block: blocks.Notice) -> Block:
    """The text; JSON laid out: some servers answer in it, and codex passes it on (docs/protocols/codex.md, "Ends")."""
    laid_out = pretty_json(block.text)
    if laid_out is not None:
        return CodeBlock(Code(laid_out, "json"))
    return PlainText(block.text, role="failure" if block.fatal else "text") if block.text else nothing("empty")


def _tokens(block: blocks.Tokens) -> Iterator[Block]:
    """The counts of the turn, and those of the whole thread if the agent reports them."""
    cost = [] if block.cost_usd is None else [("cost", units.money(block.cost_usd))]
    pairs = [*(_counts(block.own) if block.own is not None else []), *cost]
    if pairs:
        yield _facts(*pairs, right=True)
    if block.thread is not None:
        yield _facts(*_counts(block.thread), right=True, name="whole thread")
    elif not pairs:
        yield nothing("no usage reported")
    if block.remark.strip():
        yield PlainText(block.remark, role="dim")


def _counts(used: Usage) -> list[tuple[str, str]]:
    """The known counts; a part of a number is indented below it."""
    counts = {
        "input": used.input_tokens,
        "  cached": used.cached_input_tokens,
        "output": used.output_tokens,
        "  reasoning": used.reasoning_output_tokens,
        "total": used.total_tokens,
    }
    return [(name, f"{number:,}") for name, number in counts.items() if number is not None]


def _start(block: blocks.Facts, look: Look) -> Iterator[Block]:
    folder = [("folder", place(look.cwd))] if look.cwd else []
    pairs = [(name, one_line(value, NAME)) for name, value in (*block.pairs, *folder)]
    if pairs:
        yield _facts(*pairs)
    if block.text.strip() or not pairs:
        yield PlainText(block.text) if block.text.strip() else nothing("no details")


def _facts(*pairs: tuple[str, str], right: bool = False, name: str = "") -> Block:
    caption: Row = ((name, "strong"),) if name else ()
    return facts([(name, (value, "text")) for name, value in pairs], right=right, caption=caption)
