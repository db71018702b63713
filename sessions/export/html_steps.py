"""One step as HTML.  All text is an agent's: it is cleaned and escaped here, and it is never markup."""

from collections.abc import Callable, Iterable
from html import escape
from itertools import groupby
from operator import itemgetter

from ..model import Change, PlanItem, Step, StepKind, StepStatus
from ..text.sanitize import clean, one_line
from ..text.unified_diff import ADDED, CONTEXT, REMOVED, classified
from ..text.units import clock, count, moment, money, utc
from . import words
from .prose import prose

_PEEK = 100
"""Cells of a folded text that are shown beside its name."""

_PEEKED = 4_000
"""Characters that are looked at for it: a huge output costs no more."""

_LONG_DIFF = 200
"""Lines; a longer diff is folded."""

_NAMES = {
    StepKind.PROMPT: "Prompt", StepKind.START: "Start", StepKind.REASONING: "Reasoning", StepKind.MESSAGE: "Message",
    StepKind.COMMAND: "Command", StepKind.TOOL_CALL: "Tool", StepKind.FILE_CHANGE: "Files",
    StepKind.WEB_SEARCH: "Web search", StepKind.PLAN: "Plan", StepKind.SUBAGENT: "Sub-agent", StepKind.ERROR: "Error",
    StepKind.NOTICE: "Notice", StepKind.USAGE: "Tokens", StepKind.UNKNOWN: "Unknown event",
}  # fmt: skip


def step_html(step: Step) -> str:
    """The step with an anchor of its own (``#t2-s5``: turn 2, step 5)."""
    anchor = f"t{step.turn}-s{step.index}"
    kinds = " ".join(filter(None, ("step", step.kind, step.status, "sub" if step.parent else "")))
    body = _RENDERERS.get(step.kind, _plain)(step)
    name = _NAMES[step.kind]
    return (
        f'<article class="{kinds}" id="{anchor}">\n'
        f'<a class="mark" href="#{anchor}" title="{name}"><span>{name}</span></a>\n'
        f'<div class="body">{_aside(step)}{_sub(step)}{body}</div>\n</article>\n'
    )


def _sub(step: Step) -> str:
    return '<p class="note">Sub-agent</p>' if step.parent else ""


def _aside(step: Step) -> str:
    """How it ended, and when it came."""
    ending = words.ending(step)
    ended = f'<span class="ending">{escape(ending)}</span> ' if ending else ""
    time = clock(step.at)
    exact = f'datetime="{utc(step.at)}" title="{escape(moment(step.at, zone=True))}"'
    came = f"<time {exact}>{time}</time>" if time else ""
    return f'<div class="aside">{ended}{came}</div>' if ended or came else ""


def _text(text: str) -> str:
    return escape(clean(text))


def _block(text: str, kind: str) -> str:
    return f'<pre class="{kind}"><code>{_text(text)}</code></pre>'


def _folded(name: str, text: str | None, *, opened: bool = False, peek: str = "") -> str:
    """The text below its name, which says how much there is and shows a little of it."""
    return _details(name, _block(text, "output"), text, opened=opened, peek=peek) if text else ""


def _details(name: str, inner: str, text: str, *, opened: bool = False, peek: str = "") -> str:
    shown = f' <span class="peek">{escape(one_line(peek, _PEEK))}</span>' if peek else ""
    lines = count(words.lines_in(text), "line")
    head = f'<summary>{name} <span class="count">{lines}</span>{shown}</summary>'
    return f'<details class="more"{" open" if opened else ""}>{head}{inner}</details>'


def _first(text: str) -> str:
    return text[:_PEEKED].lstrip().partition("\n")[0]


def _last(text: str | None) -> str:
    return clean((text or "")[-_PEEKED:]).rstrip().rpartition("\n")[2]


def _went_wrong(step: Step) -> bool:
    return step.status in (StepStatus.FAILED, StepStatus.DECLINED)


def _plain(step: Step) -> str:
    return f'<p class="said" dir="auto">{_text(step.text)}</p>'


def _message(step: Step) -> str:
    return f'<div class="prose" dir="auto">{prose(step.text)}</div>'


def _reasoning(step: Step) -> str:
    return _details("Reasoning", _message(step), step.text, peek=_first(step.text).strip("*#"))


def _start(step: Step) -> str:
    told = " · ".join(filter(None, (step.model, step.agent_session, step.text)))
    return f'<p class="note">{escape(one_line(told))}</p>'


def _command(step: Step) -> str:
    output = _folded("Output", step.output, opened=_went_wrong(step), peek=_last(step.output))
    return _block(step.command or step.text, "command") + output


def _call(step: Step) -> str:
    purpose = words.purpose(step)
    told = f' <span dir="auto">{escape(purpose)}</span>' if purpose else ""
    arguments = words.arguments(step)
    return (
        f'<p class="label">{_NAMES[step.kind]} <code>{escape(words.tool(step))}</code>{told}</p>'
        + _folded("Arguments", arguments, opened=_went_wrong(step), peek=arguments[:_PEEKED])
        + _folded("Result", step.output, opened=_went_wrong(step), peek=_first(step.output or ""))
    )


def _changes(step: Step) -> str:
    told = "".join(map(_change, step.changes)) or f'<p class="label">{escape(one_line(step.text))}</p>'
    return told + _folded("Result", step.output, opened=_went_wrong(step), peek=_first(step.output or ""))


def _change(change: Change) -> str:
    name = f'<code>{escape(one_line(change.path))}</code> <span class="count">{escape(one_line(change.kind))}'
    if change.moved_to:
        name += f" moved to {escape(one_line(change.moved_to))}"
    if not change.lines:
        why = f" · no diff: {escape(change.no_diff)}" if change.no_diff else ""
        return f'<p class="label">{name}{why}</span></p>'
    added, removed = change.lines
    extent = f'</span> <span class="plus">+{added:,}</span> <span class="minus">-{removed:,}</span>'
    if not change.diff:
        return f'<p class="label">{name}{extent}</p>'
    lines = "".join(_diff_part(*part) for part in groupby(classified(change.diff), itemgetter(0)))
    rest = '<p class="note">The rest of this diff is not kept.</p>' if change.cut else ""
    opened = " open" if added + removed <= _LONG_DIFF else ""
    diff = f'<pre class="diff"><code>{lines}</code></pre>{rest}'
    return f"<details{opened}><summary>{name}{extent}</summary>{diff}</details>"


def _diff_part(kind: str, lines: Iterable[tuple[str, str]]) -> str:
    """Neighbouring lines of one kind."""
    tag, name = _DIFF_TAGS.get(kind, ("span", "place"))
    text = "".join(f"{line}\n" for _, line in lines)
    return f'<{tag} class="{name}">{_text(text)}</{tag}>'


_DIFF_TAGS = {ADDED: ("ins", "added"), REMOVED: ("del", "removed"), CONTEXT: ("span", "context")}


def _plan(step: Step) -> str:
    items = "".join(map(_item, step.items))
    return f'<p class="label">Plan <span class="count">{_text(step.text)}</span></p><ul class="plan">{items}</ul>'


def _item(item: PlanItem) -> str:
    sign, kind = {"completed": ("☑", "completed"), "in_progress": ("◐", "doing")}.get(item.status, ("☐", "pending"))
    status = escape(one_line(item.status.replace("_", " ")))
    return f'<li class="{kind}"><span title="{status}">{sign}</span> {escape(one_line(item.text))}</li>'


def _error(step: Step) -> str:
    fatal = {True: "Error, fatal", False: "Error, not fatal", None: "Error"}[step.fatal]
    return f'<p class="label">{fatal}</p>{_plain(step)}{_failed_start(step)}'


def _failed_start(step: Step) -> str:
    """The command of a start that failed, and the beginning of what it printed to stderr."""
    if step.command is None:
        return ""
    exit_code = "" if step.exit_code is None else f'<p class="note">exit {step.exit_code}</p>'
    printed = _folded("Output", step.output, opened=True)
    return _block(step.command, "command") + exit_code + printed


def _notice(step: Step) -> str:
    return f'<p class="note"><b>{escape(one_line(step.event or "notice"))}</b> {_text(step.text)}</p>'


def _usage(step: Step) -> str:
    cost = money(step.cost_usd) if step.cost_usd is not None else ""
    told = " · ".join(filter(None, (words.used(step), cost, words.said_of_usage(step))))
    return f'<p class="note">Tokens {escape(told)}</p>'


def _unknown(step: Step) -> str:
    event = f" <code>{escape(one_line(step.event))}</code>" if step.event else ""
    return f'<p class="label">Unknown event{event}</p>{_folded("Raw", step.text, peek=_first(step.text))}'


_RENDERERS: dict[StepKind, Callable[[Step], str]] = {
    StepKind.START: _start,
    StepKind.MESSAGE: _message,
    StepKind.REASONING: _reasoning,
    StepKind.COMMAND: _command,
    StepKind.TOOL_CALL: _call,
    StepKind.WEB_SEARCH: _call,
    StepKind.SUBAGENT: _call,
    StepKind.FILE_CHANGE: _changes,
    StepKind.PLAN: _plan,
    StepKind.ERROR: _error,
    StepKind.NOTICE: _notice,
    StepKind.USAGE: _usage,
    StepKind.UNKNOWN: _unknown,
}
