"""One step as HTML.  All text is the agent's: it is cleaned and escaped here, and is never used as markup.

The only tags and links of a message are those that Markdown makes, and it has no images."""

from collections.abc import Iterable
from html import escape
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from agentdash.sessions.model.session import Change, PlanItem, Step
from agentdash.sessions.text.sanitize import clean, one_line
from agentdash.sessions.text.unified_diff import ADDED, CONTEXT, REMOVED, classified
from agentdash.sessions.text.units import clock, count, moment, utc
from agentdash.sessions.transcript import blocks
from agentdash.sessions.transcript.blocks import Origin, Voice
from agentdash.sessions.transcript.export import quoting, words

if TYPE_CHECKING:
    from markdown_it.token import Token


_PEEK = 100
"""The width, in cells, of the excerpt beside the name of a folded text."""

_PEEKED = 4_000
"""Characters that are read for the excerpt, so that a huge output costs no more."""

_LONG_DIFF = 200
"""The lines of the longest diff that is not folded."""


def step_html(step: Step) -> str:
    """Return the step as HTML with its own anchor (``#t2-s5``: turn 2, step 5)."""
    anchor = f"t{step.turn}-s{step.index}"
    kinds = " ".join(filter(None, ("step", step.kind, step.status, "sub" if step.parent else "")))
    described = blocks.describe(step)
    body = "".join(_drawn(block, step, described) for block in described.body)
    body += f'<p class="note">{described.remark.capitalize()}.</p>' if described.remark else ""
    name = words.kind(step)
    return (
        f'<article class="{kinds}" id="{anchor}">\n'
        f'<a class="mark" href="#{anchor}" title="{name}"><span>{name}</span></a>\n'
        f'<div class="body">{_aside(step, words.ending(step, described))}{_sub(step)}{body}</div>\n</article>\n'
    )


def _sub(step: Step) -> str:
    return '<p class="note">Sub-agent</p>' if step.parent else ""


def _aside(step: Step, ending: str) -> str:
    """Return the step's ending and its time."""
    ended = f'<span class="ending">{escape(ending)}</span> ' if ending else ""
    time = clock(step.at)
    exact = f'datetime="{utc(step.at)}" title="{escape(moment(step.at, zone=True))}"'
    came = f"<time {exact}>{time}</time>" if time else ""
    return f'<div class="aside">{ended}{came}</div>' if ended or came else ""


def _text(text: str) -> str:
    return escape(clean(text))


def _block(text: str, kind: str) -> str:
    return f'<pre class="{kind}"><code>{_text(text)}</code></pre>'


def _folded(name: str, text: str, *, opened: bool = False, peek: str = "") -> str:
    """Return a text that is folded below its name, number of lines and excerpt."""
    return _details(name, _block(text, "output"), text, opened=opened, peek=peek) if text else ""


def _details(name: str, inner: str, text: str, *, opened: bool = False, peek: str = "") -> str:
    shown = f' <span class="peek">{escape(one_line(peek, _PEEK))}</span>' if peek else ""
    lines = count(words.lines_in(text), "line")
    head = f'<summary>{name} <span class="count">{lines}</span>{shown}</summary>'
    return f'<details class="more"{" open" if opened else ""}>{head}{inner}</details>'


def _first(text: str) -> str:
    return text[:_PEEKED].lstrip().partition("\n")[0]


def _drawn(block: blocks.Block, step: Step, described: blocks.Description) -> str:  # noqa: PLR0911
    match block:
        case blocks.Prose():
            return _prose(block)
        case blocks.Code():
            return _block(block.text, "command")
        case blocks.Output():
            return _output(block, opened=described.failed or block.origin is Origin.FAILED_START)
        case blocks.Call():
            return _call(block, words.kind(step), opened=described.failed)
        case blocks.Files():
            return "".join(map(_change, block.changes)) or f'<p class="label">{escape(one_line(block.text))}</p>'
        case blocks.Plan():
            return _plan(block)
        case blocks.Facts():
            text = " · ".join(filter(None, (*(value for _, value in block.pairs), block.text)))
            return f'<p class="note">{escape(one_line(text))}</p>'
        case blocks.Tokens():
            text = " · ".join(filter(None, (words.used(block), one_line(block.remark))))
            return f'<p class="note">Tokens {escape(text)}</p>'
        case blocks.Notice():
            return _notice(block, described.name)
        case blocks.Raw():
            event = f" <code>{escape(one_line(block.event))}</code>" if block.event else ""
            raw = _folded("Raw", block.text, peek=_first(block.text))
            return f'<p class="label">Unknown event{event}</p>{raw}'


def _plain(text: str) -> str:
    return f'<p class="said" dir="auto">{_text(text)}</p>'


def _prose(block: blocks.Prose) -> str:
    if block.voice is Voice.USER:
        return _plain(block.text)
    text = f'<div class="prose" dir="auto">{prose(block.text)}</div>'
    if block.voice is Voice.AGENT:
        return text
    return _details(words.reasoning(block), text, block.text, peek=_first(block.text).strip("*#"))


def _output(block: blocks.Output, *, opened: bool) -> str:
    peek = clean(block.text[-_PEEKED:]).rstrip().rpartition("\n")[2] if block.name == "output" else _first(block.text)
    return _folded(block.name.capitalize(), block.text, opened=opened, peek=peek)


def _call(block: blocks.Call, name: str, *, opened: bool) -> str:
    purpose = words.purpose(block)
    remark = f' <span dir="auto">{escape(purpose)}</span>' if purpose else ""
    label = f'<p class="label">{name} <code>{escape(words.tool(block))}</code>{remark}</p>'
    arguments = words.arguments(block)
    return label + _folded("Arguments", arguments, opened=opened, peek=arguments[:_PEEKED])


def _notice(block: blocks.Notice, event: str) -> str:
    if not block.is_error:
        return f'<p class="note"><b>{escape(one_line(event or "notice"))}</b> {_text(block.text)}</p>'
    return f'<p class="label">{", ".join(filter(None, ("Error", block.fatality)))}</p>{_plain(block.text)}'


def _change(change: Change) -> str:
    name = f'<code>{escape(one_line(change.path))}</code> <span class="count">{escape(one_line(change.kind))}'
    if change.moved_to:
        name += f" moved to {escape(one_line(change.moved_to))}"
    remark = blocks.diff_remark(change)
    why = f" · {escape(one_line(remark))}" if remark and not change.diff else ""
    if not change.lines:
        return f'<p class="label">{name}{why}</span></p>'
    added, removed = change.lines
    extent = f'{why}</span> <span class="plus">+{added:,}</span> <span class="minus">-{removed:,}</span>'
    if not change.diff:
        return f'<p class="label">{name}{extent}</p>'
    lines = "".join(_diff_part(*part) for part in groupby(classified(change.diff), itemgetter(0)))
    rest = f'<p class="note">{escape(remark.capitalize())}.</p>' if remark else ""
    opened = " open" if added + removed <= _LONG_DIFF else ""
    diff = f'<pre class="diff"><code>{lines}</code></pre>{rest}'
    return f"<details{opened}><summary>{name}{extent}</summary>{diff}</details>"


def _diff_part(kind: str, lines: Iterable[tuple[str, str]]) -> str:
    """Return adjacent lines of one kind."""
    tag, name = _DIFF_TAGS.get(kind, ("span", "place"))
    text = "".join(f"{line}\n" for _, line in lines)
    return f'<{tag} class="{name}">{_text(text)}</{tag}>'


_DIFF_TAGS = {ADDED: ("ins", "added"), REMOVED: ("del", "removed"), CONTEXT: ("span", "context")}


def _plan(block: blocks.Plan) -> str:
    items = "".join(map(_item, block.items))
    return f'<p class="label">Plan <span class="count">{_text(block.text)}</span></p><ul class="plan">{items}</ul>'


def _item(item: PlanItem) -> str:
    sign, kind = {"completed": ("☑", "completed"), "in_progress": ("◐", "doing")}.get(item.status, ("☐", "pending"))
    status = escape(one_line(item.status.replace("_", " ")))
    return f'<li class="{kind}"><span title="{status}">{sign}</span> {escape(one_line(item.text))}</li>'


_LOWER = 2
"""Levels by which a message's headings are below those of the page."""


def prose(text: str) -> str:
    """Return the rendered message, or its plain text if it cannot be read as Markdown (``quoting.read``)."""
    text = clean(text)
    tokens = quoting.read(text)
    if tokens is None:
        return f'<pre class="plain"><code>{escape(text)}</code></pre>'
    for token in tokens:
        _tame(token)
    markdown = quoting.reader()
    rendered: str = markdown.renderer.render(tokens, markdown.options, {})
    return rendered


def _tame(token: "Token") -> None:
    if token.type in ("heading_open", "heading_close"):
        token.tag = f"h{min(6, int(token.tag[1:]) + _LOWER)}"
    token.info = ""  # the language of code would become a class that nothing uses
    if token.attrs.pop("style", None) == "text-align:right":
        token.attrs["class"] = "right"  # the page allows no style but its own
    for inner in token.children or ():
        # Entities and link texts can contain characters that were cleaned from the source.
        inner.content = clean(inner.content)
        if "title" in inner.attrs:
            inner.attrs["title"] = clean(str(inner.attrs["title"]))
