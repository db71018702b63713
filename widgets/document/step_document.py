"""Everything about one step, whole: which blocks its document has, and what stands above them."""

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from ...sessions.model import Change, Step, StepKind, StepStatus, Usage
from ...sessions.text import units
from ...sessions.text.sanitize import one_line
from ...sessions.text.unified_diff import created_text
from ..drawing.glyphs import UNICODE, Signs
from ..drawing.short_forms import below, place
from ..drawing.spans import Row, Span
from .answers import answer, arguments, nothing
from .diff import Diff
from .markdown import Markdown
from .model import NAME, Block, Document
from .plain import PlainText, Spans, facts
from .pretty import pretty_json
from .syntax import Code, CodeBlock, language_of
from .title import title


class Look(Struct, frozen=True):
    """What holds for all blocks of a document."""

    signs: Signs
    cwd: str | None
    source: bool

    def prose(self, text: str, caption: Row = ()) -> Block:
        """A text that a person or a model wrote."""
        return PlainText(text, caption) if self.source else Markdown(text, caption, self.signs)


def step_document(step: Step, *, cwd: str | None = None, signs: Signs = UNICODE, source: bool = False) -> Document:
    """The document of a step; what costs time is done when its rows are asked for.

    Args:
        step: the whole step; where something of it was left out, its document says so.
        cwd: the folder of its session: paths below it are shown from there on.
        signs: the characters of the screen.
        source: show texts as they were written, and not as Markdown.
    """
    blocks = list(_BLOCKS.get(step.kind, _said)(step, Look(signs, cwd, source)))
    if step.cut:
        blocks.append(nothing(f"{units.count(step.cut, 'character')} of its texts left out"))
    return Document(title(step, signs), blocks, signs)


def _said(step: Step, look: Look) -> Iterator[Block]:
    """A prompt, a message, a thought."""
    yield look.prose(step.text) if step.text.strip() else nothing("no text")


def _command(step: Step, look: Look) -> Iterator[Block]:
    yield CodeBlock(Code(step.command or step.text, "bash"))
    if look.cwd:
        yield _facts(("folder", place(one_line(look.cwd))))
    yield from _output(step)


def _tool(step: Step, _: Look) -> Iterator[Block]:
    yield from arguments(step.arguments)
    yield from _output(step, "result")


def _search(step: Step, _: Look) -> Iterator[Block]:
    """The text of a search is its query."""
    if step.text.strip():
        yield PlainText(step.text, role="strong")
    yield from arguments(_others(step.arguments, step.text))
    yield from _output(step, "result")


def _subagent(step: Step, look: Look) -> Iterator[Block]:
    """What it was told and what it answered are prose; the rest of the call is not."""
    task = step.arguments.get("prompt") if isinstance(step.arguments, dict) else None
    if step.text.strip() and step.text not in (task, step.tool):
        yield PlainText(step.text, role="strong")
    if isinstance(task, str) and task.strip():
        yield look.prose(task, (("task", "strong"),))
    yield from arguments(_others(step.arguments, step.text, task))
    if step.output and pretty_json(step.output) is None:
        yield look.prose(step.output, (("result", "strong"),))
    else:
        yield from _output(step, "result")


def _others(given: Any, *said: Any) -> Any:
    """The arguments without those that hold nothing, or what is said already; None where no other is left."""
    if not isinstance(given, dict):
        return given
    return {key: value for key, value in given.items() if value not in (None, [], *said)} or None


def _changes(step: Step, look: Look) -> Iterator[Block]:
    for change in step.changes:
        yield _change(change, look.cwd)
        if change.cut and change.diff and not step.cut:
            yield nothing("the rest of this diff is not kept")
    if not step.changes:
        yield PlainText(step.text) if step.text.strip() else nothing("the agent named no file")
    if step.status in (StepStatus.FAILED, StepStatus.DECLINED):
        yield from _output(step)


def _change(change: Change, cwd: str | None) -> Block:
    """A file that is new is shown as what it is, with its own colours; others by what changed in them."""
    kind = _KINDS.get(change.kind, change.kind)
    counted = zip(change.lines or (0, 0), _COUNTED, strict=True)
    counts = [(f"{sign}{number:,}", role) for number, (sign, role) in counted if number]
    told: list[Span] = [(one_line(kind, NAME), "dim")] if kind else []
    if change.moved_to:
        told.append((f"moved to {below(one_line(change.moved_to, NAME), cwd)}", "dim"))
    caption: list[Span] = [(below(one_line(change.path, NAME), cwd), "strong")]
    for fact in (*told, *counts):
        caption += [("  ", ""), fact]
    if not change.diff:
        return Spans([((), ((_no_diff(change), "dim"),))], tuple(caption))
    text = created_text(change.diff) if change.kind == "add" else None
    if text is None:
        return Diff(change.diff, tuple(caption))
    return CodeBlock(Code(text, language_of(change.path)), tuple(caption), numbered=True)


def _no_diff(change: Change) -> str:
    if change.lines:
        return "the diff is empty" if change.lines == (0, 0) else "the diff is too long to keep"
    return "the agent gave no diff" + (f": {change.no_diff}" if change.no_diff else "")


_COUNTED = (("+", "added"), ("-", "removed"))
_KINDS = {"add": "new file", "delete": "deleted", "update": ""}


def _plan(step: Step, look: Look) -> Iterator[Block]:
    """The list with its boxes, after how much of it is done."""
    if not step.items:
        yield from _said(step, look)
        return
    lines: list[tuple[Row, Row]] = []
    for item in step.items:
        mark, role = look.signs.plan.get(item.status, look.signs.plan["pending"]), _PLAN_ROLES.get(item.status, "text")
        lines.append((((mark + " ", role),), ((one_line(item.text, NAME), role),)))
    done = sum(item.status == "completed" for item in step.items)
    yield Spans(lines, ((f"{done} of {len(step.items)} done", "strong"),))
    if step.status in (StepStatus.FAILED, StepStatus.DECLINED):
        yield from _output(step)


_PLAN_ROLES = {"completed": "dim", "in_progress": "running"}


def _error(step: Step, look: Look) -> Iterator[Block]:
    """Some servers answer in JSON, which the agent passes on (protocols 2.3, codex 0.169.0)."""
    laid_out = pretty_json(step.text)
    if laid_out is not None:
        yield CodeBlock(Code(laid_out, "json"))
    else:
        yield PlainText(step.text, role="failure" if step.fatal else "text") if step.text else nothing("no text")
    if step.command is not None:
        yield from _failed_start(step, look)


def _failed_start(step: Step, look: Look) -> Iterator[Block]:
    """The command of a start that failed, and the beginning of what it printed to stderr."""
    yield CodeBlock(Code(step.command or "", "bash"), (("command", "strong"),))
    pairs = [] if step.exit_code is None else [("exit", str(step.exit_code))]
    pairs += [("folder", place(one_line(look.cwd)))] if look.cwd else []
    if pairs:
        yield _facts(*pairs)
    yield from _output(step, "output")


def _usage(step: Step, _: Look) -> Iterator[Block]:
    """The counts of the turn, and those of the whole thread if the agent reports these."""
    own = step.turn_usage if step.whole_thread else step.usage
    cost = [] if step.cost_usd is None else [("cost", units.money(step.cost_usd))]
    pairs = [*(_counts(own) if own is not None else []), *cost]
    total = _counts(step.usage) if step.usage is not None and step.usage != own else []
    if pairs:
        yield _facts(*pairs, right=True)
    if total:
        yield _facts(*total, right=True, name="whole thread")
    if not pairs and not total:
        yield nothing("no usage reported")
    if step.text.strip() and not step.whole_thread:
        yield PlainText(step.text, role="dim")


def _counts(used: Usage) -> list[tuple[str, str]]:
    """The known counts; what is part of a number stands below it, indented."""
    counts = {
        "input": used.input_tokens,
        "  cached": used.cached_input_tokens,
        "output": used.output_tokens,
        "  reasoning": used.reasoning_output_tokens,
        "total": used.total_tokens,
    }
    return [(name, f"{number:,}") for name, number in counts.items() if number is not None]


def _start(step: Step, look: Look) -> Iterator[Block]:
    folder = look.cwd and place(look.cwd)
    known = (("model", step.model), ("conversation", step.agent_session), ("folder", folder))
    pairs = [(name, one_line(value, NAME)) for name, value in known if value]
    if pairs:
        yield _facts(*pairs)
    if step.text.strip() or not pairs:
        yield PlainText(step.text) if step.text.strip() else nothing("nothing more is known")


def _notice(step: Step, _: Look) -> Iterator[Block]:
    yield PlainText(step.text) if step.text.strip() else nothing("no text")


def _unknown(step: Step, _: Look) -> Iterator[Block]:
    """The raw line, laid out where it is JSON."""
    yield answer(step.text, "raw line")


def _output(step: Step, name: str = "output") -> Iterator[Block]:
    """All of it; that there was none is said once nothing more can come."""
    if step.output and step.output.strip():
        yield answer(step.output, name)
    elif step.status is not StepStatus.RUNNING:
        yield nothing(f"no {name}")


def _facts(*pairs: tuple[str, str], right: bool = False, name: str = "") -> Block:
    caption: Row = ((name, "strong"),) if name else ()
    return facts([(name, (value, "text")) for name, value in pairs], right=right, caption=caption)


_BLOCKS: dict[StepKind, Callable[[Step, Look], Iterator[Block]]] = {
    StepKind.START: _start,
    StepKind.COMMAND: _command,
    StepKind.TOOL_CALL: _tool,
    StepKind.WEB_SEARCH: _search,
    StepKind.SUBAGENT: _subagent,
    StepKind.FILE_CHANGE: _changes,
    StepKind.PLAN: _plan,
    StepKind.ERROR: _error,
    StepKind.NOTICE: _notice,
    StepKind.USAGE: _usage,
    StepKind.UNKNOWN: _unknown,
}
