"""A session as one self-contained HTML file: no script, no network, light and dark.

All text is the agent's: it is cleaned and escaped here, and is never used as markup.  The only tags and links of a
message are those that Markdown makes, and it has no images.

The overview of the turns is shown at the top of the page, but is at the end of the file.  Its counts are known only
there, because no step is kept in memory or read twice.
"""

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from html import escape
from itertools import chain, groupby
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from agentdash.sessions.model.session import Change, PlanItem, Session, Step, StepKind, Turn
from agentdash.sessions.rules.conversation.shown import IsCut, none_cut
from agentdash.sessions.rules.conversation.words import turning
from agentdash.sessions.rules.step_outcome import changed_files, failed
from agentdash.sessions.text.sanitize import clean, one_line
from agentdash.sessions.text.unified_diff import ADDED, CONTEXT, REMOVED, classified
from agentdash.sessions.text.units import clock, count, moment, utc
from agentdash.sessions.transcript import blocks
from agentdash.sessions.transcript.blocks import Origin, Voice
from agentdash.sessions.transcript.export import quoting, words

if TYPE_CHECKING:
    from markdown_it.token import Token

_STYLE = Path(__file__).with_name("page.css")

_PROMPT_CELLS = 90

_PEEK = 100
"""The width, in cells, of the excerpt beside the name of a folded text."""

_PEEKED = 4_000
"""Characters that are read for the excerpt, so that a huge output costs no more."""

_LONG_DIFF = 200
"""The lines of the longest diff that is not folded."""


class Tally:
    """The counts of one turn.

    ``failed`` counts commands, calls and changes that failed, and errors that ended the turn.  Relative paths are those
    in ``folder``.
    """

    def __init__(self, turn: int, folder: str) -> None:
        self.turn = turn
        self._folder = folder
        self.prompt = ""
        self.commands = 0
        self.failed = 0
        self.first_failed: int | None = None
        """The index of its step."""
        self._paths: set[str] = set()

    @property
    def files(self) -> int:
        """The number of different files that were changed."""
        return len(self._paths)

    def add(self, step: Step) -> None:
        """Count one step."""
        if step.kind is StepKind.PROMPT and not self.prompt and step.parent is None:
            self.prompt = one_line(step.text, _PROMPT_CELLS)
        self.commands += step.kind is StepKind.COMMAND
        self._paths.update(place.absolute for place, _ in changed_files(step, self._folder))
        if failed(step) or (step.kind is StepKind.ERROR and step.fatal):
            self.failed += 1
            self.first_failed = step.index if self.first_failed is None else self.first_failed


def html(
    session: Session, steps: Iterable[Step], turns: Sequence[Turn] = (), is_cut: IsCut = none_cut
) -> Iterator[str]:
    """Yield the page in pieces (:class:`.formats.Writer`)."""
    title = escape(words.title_of(session))
    overview: list[str] = []
    yield _head(title)
    yield _header(title, session)
    yield '<main id="steps">\n'
    yield from _turns(steps, session.cwd, overview, words.modes(turns), is_cut)
    navigation = f'<nav id="turns" aria-label="Turns">\n<ol>\n{"".join(overview)}</ol>\n</nav>\n' if overview else ""
    yield f"</main>\n{navigation}<footer>Exported by agentdash</footer>\n</body>\n</html>\n"


def _turns(
    steps: Iterable[Step], folder: str, overview: list[str], modes: Mapping[int, str], is_cut: IsCut
) -> Iterator[str]:
    """Yield all turns; add the counts of each to the overview."""
    cut = False
    for turn, steps_of_turn in groupby(steps, attrgetter("turn")):
        tally = Tally(turn, folder)
        first = next(steps_of_turn)
        yield _turn(first, modes.get(turn, ""))
        for step in chain([first], steps_of_turn):
            if is_cut(step) is not cut:
                cut = not cut
                yield f'<p class="note cut">{escape(turning(cut))}</p>\n'
            tally.add(step)
            yield _step_html(words.below(step, folder))
        yield "</section>\n"
        overview.append(_overview(tally))
    if not overview:
        yield '<p class="none">No steps yet.</p>\n'


def _head(title: str) -> str:
    """Return the head, which forbids loading and scripts, and allows the one style sheet by its digest."""
    style = _STYLE.read_text("utf-8")
    digest = b64encode(sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{title}</title>\n<style>{style}</style>\n</head>\n"
    )


def _header(title: str, session: Session) -> str:
    rows = "".join(
        f'<div class="fact {name.lower()}"><dt>{name}</dt><dd>{_fact(name, value, session)}</dd></div>\n'
        for name, value in words.facts(session)
    )
    skip = '<a class="skip" href="#turns">Overview of the turns</a>\n'
    return f'<body id="top">\n{skip}<header>\n<h1 dir="auto">{title}</h1>\n<dl>\n{rows}</dl>\n</header>\n'


def _fact(name: str, value: str, session: Session) -> str:
    if name != "Status":
        return escape(value)
    reason = escape(one_line(session.reason or ""))
    because = f' <span class="reason">{reason}</span>' if reason else ""
    return f'<span class="badge {session.status}">{session.status}</span>{because}'


def _turn(step: Step, mode: str) -> str:
    began = "" if step.at is None else f" <span>{escape(moment(step.at, words.NOT_KNOWN, zone=True))}</span>"
    up = '<a class="up" href="#top">Overview</a>'
    ran = f'<p class="note mode">{escape(mode)}</p>\n' if mode else ""
    return f'<section class="turn">\n<h2 id="t{step.turn}">Turn {step.turn}{began}{up}</h2>\n{ran}'


def _overview(tally: Tally) -> str:
    turn = f'<a href="#t{tally.turn}">Turn {tally.turn}</a>'
    asked = f'<span class="asked" dir="auto">{escape(tally.prompt)}</span>'
    commands, files = count(tally.commands, "command"), count(tally.files, "file")
    failed = f'<a class="bad" href="#t{tally.turn}-s{tally.first_failed}">{tally.failed:,} failed</a>'
    counts = " · ".join([commands, *([failed] if tally.failed else []), f"{files} changed"])
    return f'<li>{turn} {asked} <span class="counts">{counts}</span></li>\n'


def _step_html(step: Step) -> str:
    """Return the step as HTML with its own anchor (``#t2-s5``: turn 2, step 5)."""
    anchor = f"t{step.turn}-s{step.index}"
    kinds = " ".join(filter(None, ("step", step.kind, step.status, "sub" if step.parent else "")))
    described = blocks.describe(step)
    body = "".join(_drawn(block, step, described) for block in described.body)
    body += f'<p class="note">{described.remark.capitalize()}.</p>' if described.remark else ""
    name = words.kind(step)
    sub = '<p class="note">Sub-agent</p>' if step.parent else ""
    return (
        f'<article class="{kinds}" id="{anchor}">\n'
        f'<a class="mark" href="#{anchor}" title="{name}"><span>{name}</span></a>\n'
        f'<div class="body">{_aside(step, words.ending(step, described))}{sub}{body}</div>\n</article>\n'
    )


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
            ends = block.name == "output"
            peek = clean(block.text[-_PEEKED:]).rstrip().rpartition("\n")[2] if ends else _first(block.text)
            opened = described.failed or block.origin is Origin.FAILED_START
            return _folded(block.name.capitalize(), block.text, opened=opened, peek=peek)
        case blocks.Call():
            return _call(block, words.kind(step), opened=described.failed)
        case blocks.Files():
            return "".join(map(_change, block.changes)) or f'<p class="label">{escape(one_line(block.text))}</p>'
        case blocks.Plan():
            items = "".join(map(_item, block.items))
            label = f'<p class="label">Plan <span class="count">{_text(block.text)}</span></p>'
            return f'{label}<ul class="plan">{items}</ul>'
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
    text = f'<div class="prose" dir="auto">{_rendered(block.text)}</div>'
    if block.voice is Voice.AGENT:
        return text
    return _details(words.reasoning(block), text, block.text, peek=_first(block.text).strip("*#"))


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


def _item(item: PlanItem) -> str:
    sign, kind = {"completed": ("☑", "completed"), "in_progress": ("◐", "doing")}.get(item.status, ("☐", "pending"))
    status = escape(one_line(item.status.replace("_", " ")))
    return f'<li class="{kind}"><span title="{status}">{sign}</span> {escape(one_line(item.text))}</li>'


_LOWER = 2
"""Levels by which a message's headings are below those of the page."""


def _rendered(text: str) -> str:
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
