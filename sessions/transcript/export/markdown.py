"""A session as one Markdown document, written step by step: for a pull request, an issue, a wiki."""

from collections.abc import Iterable, Iterator, Sequence

from agentdash.sessions.model.session import Change, PlanItem, Session, Step, StepKind, Turn
from agentdash.sessions.rules.conversation.shown import IsCut, none_cut
from agentdash.sessions.rules.conversation.words import turning
from agentdash.sessions.text.units import count, line_change, moment
from agentdash.sessions.transcript import blocks
from agentdash.sessions.transcript.blocks import Origin, Voice
from agentdash.sessions.transcript.export import words
from agentdash.sessions.transcript.export.quoting import code, fence, message, plain, quote

SHORT = 20
"""The lines of the longest output or answer that is not folded."""

_NEVER_ENDED = frozenset({StepKind.MESSAGE, StepKind.PLAN})
"""Kinds that can end with a list, which a following message would continue."""


def markdown(
    session: Session, steps: Iterable[Step], turns: Sequence[Turn] = (), is_cut: IsCut = none_cut
) -> Iterator[str]:
    """Yield the document in pieces (:class:`.formats.Writer`)."""
    modes = words.modes(turns)
    facts = "\n".join(f"| {name} | {_cell(name, value)} |" for name, value in words.facts(session))
    yield f"# {plain(words.title_of(session))}\n\n| | |\n| --- | --- |\n{facts}\n"
    before: Step | None = None
    cut = False
    for step in steps:
        if before is None or step.turn != before.turn:
            began = "" if step.at is None else f"\n*{moment(step.at, words.NOT_KNOWN, zone=True)}*\n"
            mode = f"\n*{plain(modes[step.turn])}*\n" if step.turn in modes else ""
            yield f"\n## Turn {step.turn}\n{began}{mode}"
        elif before.kind in _NEVER_ENDED and step.kind is StepKind.MESSAGE:
            yield "\n<!-- -->\n"
        if is_cut(step) is not cut:
            cut = not cut
            yield f"\n*{turning(cut)}*\n"
        yield f"\n{_block(words.below(step, session.cwd), before)}\n"
        before = step


def _cell(name: str, value: str) -> str:
    if name in _OURS:
        return value
    return code(value).replace("|", r"\|") if name in _CODE else plain(value)


_OURS = frozenset({"Started", "Ended", "Tokens", "Cost"})
_CODE = frozenset({"Folder", "Session", "Conversation"})


def _block(step: Step, before: Step | None) -> str:
    """Return one step as Markdown; a sub-agent's step is quoted."""
    described = blocks.describe(step)
    parts = [part for block in described.body for part in _parts(block, step, described)]
    parts += [f"*{described.remark.capitalize()}.*"] if described.remark else []
    if step.parent is None:
        return "\n\n".join(parts)
    first = [] if before is not None and before.parent == step.parent else ["*Sub-agent*"]
    return quote("\n\n".join(first + parts))


def _label(word: str, *parts: str) -> str:
    return " ".join(filter(None, (f"**{word}**", *parts)))


def _folded(text: str, what: str, language: str = "text") -> list[str]:
    """Return the text in a fence, folded if it is long; an empty list for an empty text."""
    if not text:
        return []
    lines = words.lines_in(text)
    whole = fence(text, language)
    return [whole] if lines <= SHORT else _details(f"{what}, {count(lines, 'line')}", whole)


def _details(summary: str, inner: str) -> list[str]:
    return [f"<details>\n<summary>{summary}</summary>", inner, "</details>"]


def _parts(block: blocks.Block, step: Step, described: blocks.Description) -> list[str]:  # noqa: PLR0911
    ending = words.ending(step, described)
    match block:
        case blocks.Prose():
            return _prose(block)
        case blocks.Code():
            return [fence(f"$ {block.text}", "console"), *filter(None, [ending])]
        case blocks.Output(origin=Origin.EDITOR):
            return _details("Result", fence(block.text, "text")) if block.text else []
        case blocks.Output():
            return _folded(block.text, block.name.capitalize())
        case blocks.Call():
            label = _label(words.kind(step), code(words.tool(block)), plain(words.purpose(block)), ending)
            return [label, *_folded(words.arguments(block), "Arguments", "json")]
        case blocks.Files():
            parts = [part for change in block.changes for part in _change(change, ending)]
            return parts or [_label("Files", plain(block.text), ending)]
        case blocks.Plan():
            ended = ending if described.is_act else ""
            return [_label("Plan", plain(block.text), ended), *filter(None, ["\n".join(map(_item, block.items))])]
        case blocks.Facts():
            named = [f"{name} {code(value) if name == 'conversation' else plain(value)}" for name, value in block.pairs]
            return [_label("Start", ", ".join([*named, *filter(None, [plain(block.text)])]))]
        case blocks.Tokens():
            return [_label("Tokens", " · ".join(filter(None, (words.used(block), plain(block.remark)))))]
        case blocks.Notice():
            return _notice(block, words.kind(step), code(described.name))
        case blocks.Raw():
            language = "json" if block.text.lstrip().startswith(("{", "[")) else "text"
            return [_label("Unknown event", code(block.event)), *_folded(block.text, "Event", language)]


def _prose(block: blocks.Prose) -> list[str]:
    text = message(block.text)
    if block.voice is Voice.THOUGHT:
        return _details(words.reasoning(block), text)
    return [quote(text) if block.voice is Voice.USER else text]


def _notice(block: blocks.Notice, name: str, event: str) -> list[str]:
    """Return a remark or an error: one line beside its label, or several lines in a fence."""
    label = _label(name, event, f"({block.fatality})" if block.fatality else "")
    text = block.text.strip()
    return [label, fence(text, "text")] if "\n" in text else [f"{label}: {plain(text)}" if text else label]


def _change(change: Change, ending: str) -> list[str]:
    moved = f"moved to {code(change.moved_to)}" if change.moved_to else ""
    facts = [code(change.path), moved, line_change(*change.lines) if change.lines else "", ending]
    parts = [_label(plain(change.kind).capitalize(), *facts), *_folded(change.diff or "", "Diff", "diff")]
    if remark := blocks.diff_remark(change):
        parts.append(f"*{plain(remark[0].upper() + remark[1:])}.*")
    return parts


def _item(item: PlanItem) -> str:
    doing = "" if item.status in ("completed", "pending") else f" *({plain(item.status.replace('_', ' '))})*"
    return f"- [{'x' if item.status == 'completed' else ' '}] {plain(item.text)}{doing}"
