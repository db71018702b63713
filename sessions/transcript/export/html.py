"""A session as one self-contained HTML file: no script, no network, light and dark.

The overview of the turns is shown at the top of the page, but is at the end of the file.  Its counts are known only
there, because no step is kept in memory or read twice.
"""

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from html import escape
from itertools import chain, groupby
from operator import attrgetter
from pathlib import Path

from agentdash.sessions.model.session import Session, Step, StepKind, Turn
from agentdash.sessions.rules.conversation.shown import IsCut, none_cut
from agentdash.sessions.rules.conversation.words import turning
from agentdash.sessions.rules.step_outcome import changed_files, failed
from agentdash.sessions.text.sanitize import one_line
from agentdash.sessions.text.units import count, moment
from agentdash.sessions.transcript.export import words
from agentdash.sessions.transcript.export.html_steps import step_html

_STYLE = Path(__file__).with_name("page.css")

_PROMPT_CELLS = 90


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
    """Yield the page in pieces.

    Args:
        session: its facts are above the steps.
        steps: each in its last form, in the order of turn and index; never all of them in memory.
        turns: all turns, whose changes of settings are shown.
        is_cut: names the steps that were cut by going back.
    """
    title = escape(words.title_of(session))
    overview: list[str] = []
    yield _head(title)
    yield _header(title, session)
    yield '<main id="steps">\n'
    yield from _turns(steps, session.cwd, overview, words.modes(turns), is_cut)
    yield f"</main>\n{_navigation(overview)}<footer>Exported by agentdash</footer>\n</body>\n</html>\n"


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
            yield step_html(words.below(step, folder))
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


def _navigation(rows: list[str]) -> str:
    return f'<nav id="turns" aria-label="Turns">\n<ol>\n{"".join(rows)}</ol>\n</nav>\n' if rows else ""
