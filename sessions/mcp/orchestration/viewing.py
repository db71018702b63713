"""The tools that show workers: ``list_sessions``, and ``read``, which quotes their words and work."""

from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator

from msgspec import structs

from agentdash.sessions.mcp.orchestration.calls import Calls
from agentdash.sessions.mcp.orchestration.quoting import Window, page, words
from agentdash.sessions.mcp.orchestration.refusals import refusal, refused
from agentdash.sessions.mcp.orchestration.schemas import Listed, ListSessions, Read
from agentdash.sessions.mcp.orchestration.views import Detail, Views, fitted
from agentdash.sessions.model.session import Session, Status, Step, StepKind
from agentdash.sessions.service.changes.from_steps import collect
from agentdash.sessions.service.reading.steps import StepsReader
from agentdash.sessions.text.json_text import json_text
from agentdash.sessions.text.sanitize import clean
from agentdash.sessions.text.units import line_change
from agentdash.sessions.transcript import blocks
from agentdash.sessions.transcript.blocks import Origin, Voice
from agentdash.sessions.transcript.visible.retelling import ending, file_words


def list_sessions(calls: Calls, arguments: ListSessions) -> Listed:
    """List the caller's workers from their rows; no file is read."""
    with refused():
        wanted = _status(arguments.status)
        calls.manager.housekeeping.settle()
        family = calls.family()
        views = Views(calls, family)
        kept = [one for one in family.sessions if arguments.all or not one.put_away]
        chosen = [one for one in reversed(kept) if wanted in (None, one.status)]
        counts = Counter(str(one.status) for one in kept)

        def made(detail: Detail) -> Listed:
            shown = chosen[: detail.brief]
            return Listed(
                overview="",
                workers=tuple(views.brief(one, detail, message=True) for one in shown),
                counts=dict(counts),
                more=len(chosen) - len(shown),
            )

        return structs.replace(fitted(made), overview=calls.overview(family))


def _status(text: str) -> Status | None:
    name = text.strip().lower()
    if not name:
        return None
    if name not in set(Status):
        fact = f"{words(text, 40)!r} is not a status. Statuses: {', '.join(Status)}."
        raise refusal("bad_status", fact, "use one of these, or none for all.")
    return Status(name)


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
            said = _beginning(block.text.strip("\n"), _TEXT, full)
            text = " ".join(filter(None, (said, block.note and f"({block.note})")))
            return f"[{_VOICES[block.voice]}] {text}" if text.strip() else ""
        case blocks.Code():
            command = f"$ {_beginning(block.text, _TEXT, full)}"
            if block.of_failed_start:
                return _indented(" -> ".join(filter(None, (command, block.exit_note))))
            return f"[command] {command}{_ending(step)}"
        case blocks.Output():
            text = "" if block.origin is Origin.EDITOR else block.text.strip("\n")
            return _indented(_beginning(text, _OUTPUT, full)) if text else ""
        case blocks.Call():
            called, task = _called(block, full)
            return f"[{_CALLS.get(step.kind, 'tool')}] {called}{_ending(step)}{task}"
        case blocks.Files():
            found = ((one.diff and one.diff.rstrip("\n"), blocks.diff_remark(one)) for one in block.changes if full)
            diffs = [line for diff, remark in found for line in (diff, remark and f"({remark})") if line]
            named = file_words(block, None if full else _FILES, _PATH) or _beginning(block.text, _TEXT, full)
            more = " (full=true)" if not full and len(block.changes) > _FILES else ""
            return "\n".join([f"[edit] {named}{more}{_ending(step)}", *diffs])
        case blocks.Plan():
            items = "; ".join(f"{item.status}: {item.text}" for item in block.items)
            return f"[plan] {_beginning(items or block.text, _TEXT, full)}{_ending(step)}"
        case blocks.Notice():
            name = "error" if block.is_error else "notice"
            fatality = f" ({block.fatality})" if block.fatality else ""
            return f"[{name}] {_beginning(block.text, _TEXT, full)}{fatality}"
        case blocks.Raw():
            return f"[unknown] {block.event or 'event'}: {_beginning(block.text, _TEXT, full)}"
        case blocks.Facts() | blocks.Tokens():
            return ""


def _ending(step: Step) -> str:
    how = ending(step)
    return f" -> {how}" if how else ""


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.split("\n"))


def _called(block: blocks.Call, full: bool) -> tuple[str, str]:
    """Return a call with its arguments, or its purpose if that describes it better; and the whole task, if wanted."""
    if not block.repeated:
        given = json_text(block.arguments, indent=2 if full else None) or block.purpose
        return f"{block.tool}({_beginning(given, _ARGUMENTS, full)})", ""
    task = block.task if full and isinstance(block.task, str) and block.task != block.purpose else ""
    return _beginning(block.purpose or block.tool, _TEXT, full), task and f"\n{_indented(task)}"


def _beginning(text: str, most: int, full: bool) -> str:
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


def _net_lines(steps: StepsReader, session: Session, *, full: bool) -> Iterator[str]:
    """Yield the files that differ from the session's start, with diffs if ``full``; nothing if none does."""
    from agentdash.sessions.service.changes.words import MOST_DIFFS, net_lines, net_notes, net_summary

    net = steps.changes_of(session.id).net
    if net is None or not net.files:
        return
    find = steps.net_diffs(session.id) if full else None
    yield f"{net_summary(net)}\n"
    for number, file in enumerate(net.files):
        notes = net_notes(file, str)
        yield f"{file.kind} {file.path} {net_lines(file)}{f' ({notes})' if notes else ''}\n"
        if find is not None and number < MOST_DIFFS:
            yield f"{find(file).text.rstrip()}\n"
    yield "edits of the newest turn:\n"


_STDERR_BYTES = 4 << 20
_MOST_PLACES = 1_000

_places: OrderedDict[tuple[str, int, bool, int], tuple[int, int]] = OrderedDict()
"""The ends of the pages of steps that this process returned: by session, turn, ``full`` and offset, the step in which
the next page begins, and the number of characters before it.  A page then costs what it shows, else all before it too.
"""


def read(calls: Calls, arguments: Read) -> str:
    """Return a part of a worker's words or work, quoted.

    Raises:
        RefusalError: there is no such turn, or nothing to read.
    """
    with refused("nothing_there"):
        family = calls.family()
        session = calls.find(arguments.session, family)
        name = family.name(session.id)
        turn = arguments.turn or session.turn
        if turn > session.turn:
            fact = f"Worker {name} has no turn {turn}; its newest is {session.turn}."
            raise refusal("no_such_turn", fact, f"read turn 1 to {session.turn}.")
        place, before = _places.get((session.id, turn, arguments.full, arguments.offset), (0, 0))
        window = Window(arguments.offset, arguments.limit, before if arguments.part == "steps" else 0)
        note, counted = "", True
        if arguments.part == "stderr":
            text, left_out = calls.manager.reader.outputs.stderr_tail(session.id, turn, _STDERR_BYTES)
            window.feed(text)
            note = f"The first {left_out:,} bytes are left out." if left_out else ""
        elif arguments.part == "steps":
            counted = _feed_steps(calls, session, turn, arguments, window, place)
        else:
            window.feed_all(_pieces(calls, session, turn, arguments))
        if not window.total:
            raise _nothing(session, name, arguments.part, turn)
        if arguments.offset >= window.total:
            fact = f"The {arguments.part} has {window.total:,} characters."
            raise refusal("nothing_there", fact, "use a smaller offset.")
        if turn == session.turn and not session.status.ended:
            note = f"{note} The turn still runs.".strip()
        return page(window, name, arguments.part, turn, arguments.offset, note, counted=counted)


def _feed_steps(calls: Calls, session: Session, turn: int, arguments: Read, window: Window, place: int) -> bool:
    """Feed the steps of a turn from a place on, and note where the page ends; False if there are more."""
    for number, step in enumerate(calls.manager.reader.steps.steps_from(session.id, turn, place), place):
        before = window.total
        window.feed_all(step_texts([step], full=arguments.full))
        if window.full:
            _places[session.id, turn, arguments.full, window.end] = (number, before)
            if len(_places) > _MOST_PLACES:
                _places.popitem(last=False)
            return False
    return True


def _pieces(calls: Calls, session: Session, turn: int, arguments: Read) -> Iterator[str]:
    reader = calls.manager.reader
    match arguments.part:
        case "answer":
            yield reader.steps.answer(session.id, turn) or ""
        case "prompt":
            prompts = [one.text for one in reader.prompts(session.id) if one.turn == turn]
            yield "\n\n".join(prompts)
        case "changes":
            if arguments.turn is None:
                yield from _net_lines(reader.steps, session, full=arguments.full)
            yield from change_lines(reader.steps.each_step(session.id, turn), session.cwd, full=arguments.full)


def _nothing(session: Session, name: str, part: str, turn: int) -> Exception:
    fact = f"Worker {name} has no {part} in turn {turn}."
    if turn == session.turn and not session.status.ended:
        return refusal("nothing_there", fact, f"it is {session.status}: wait_for it.")
    other = "steps" if part != "steps" else "stderr"
    return refusal("nothing_there", fact, f'read(session="{name}", part="{other}").')
