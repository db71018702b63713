"""The verbs that print what happened in a session or a transcript: trajectory, output, view."""

import math
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, nullcontext
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from agentdash.sessions.model.durations import seconds
from agentdash.sessions.model.errors import NotATranscriptError, UsageError
from agentdash.tui.cli.commands import common
from agentdash.tui.cli.exit_codes import FAILED

if TYPE_CHECKING:
    from agentdash.sessions.model.session import Session, Step
    from agentdash.sessions.rules.conversation.shown import IsCut, Shown
    from agentdash.sessions.service.reader import SessionReader
    from agentdash.sessions.transcript.turn_file import StepFile


_PAUSE = 0.2
"""Seconds before a step whose time is not known."""

_LONGEST_GAP = 86_400.0
"""Maximum gap in seconds, because a system cannot sleep for arbitrarily long."""

_full = click.option("--full", is_flag=True, help="No truncation; show diffs.")
_turn = click.option("--turn", type=click.IntRange(min=1), metavar="N", help="Only turn N.")
_mode_options = common.options(
    click.option("--lines", "-n", "last", type=common.LastSteps(), metavar="N|all",
                 help="Only the last N steps, or all; of lines in a row none is left out."),
    click.option("--messages", "spoken", is_flag=True, help="Only prompts and answers, in full."),
    click.option("--all", "everything", is_flag=True, help="Of --messages: also those cut by going back."),
    click.option("--numbers", is_flag=True,
                 help="Of --messages: print the place of each, TURN.STEP, as rewind and fork take it."),
    click.option("--replay", "replays", is_flag=True, help="Print each step at the time when it ended."),
    click.option("--speed", type=float, default=10.0, metavar="X", help="Of --replay: X times as fast (default: 10)."),
    click.option("--max-gap", type=seconds, default="2s", metavar="SECONDS",
                 help="Of --replay: longest pause (default: 2)."),
    click.option("--unmarked", is_flag=True, hidden=True, help="As the verb logs printed them."),
)  # fmt: skip
"""The options that choose other steps than all, or another way to print them."""


@click.command()
@_full
@_turn
@_mode_options
@common.json_option
@common.id_argument
@click.pass_context
def trajectory(
    context: click.Context,
    ref: str,
    full: bool,
    turn: int | None,
    last: int | None,
    spoken: bool,
    everything: bool,
    numbers: bool,
    replays: bool,
    speed: float,
    max_gap: float,
    unmarked: bool,
    as_json: bool,
) -> None:
    """Print the steps of a session.

    Of many lines in a row that are not events, the first and the last are printed; --full, --lines and --json print
    all.  With --replay, --json prints each step as one line.
    """
    _check_modes(common.stated(context))
    if replays:
        _replay(ref, turn, speed, max_gap, full=full, as_json=as_json)
        return
    with common.open_manager() as manager:
        session = manager.reader.get(ref)
        shown = manager.reader.steps.shown(session.id)
        if spoken:
            said = [step for step in manager.reader.steps.messages(session.id) if turn in (None, step.turn)]
            _print_spoken(said, shown, everything=everything, numbers=numbers, as_json=as_json)
        else:
            brief = last is None and not (full or as_json)
            steps = _chosen(manager.reader, session, last, turn, whole=full or as_json, brief=brief)
            if as_json and not unmarked:
                found = steps_with_workers(manager.reader, session, steps, is_cut=shown.has_cut)
                common.print_json_array(found)
            else:
                print_steps(steps, full=full, as_json=as_json, is_cut=None if unmarked else shown.has_cut)
        if not as_json:
            common.looked_at(manager, session, turn)
        if not unmarked:
            manager.reader.outputs.check_folder(session)


def _check_modes(stated: Sequence[str]) -> None:
    """Refuse options that have no meaning together.

    Raises:
        click.UsageError: two ways are chosen, or an option of a way that is not.
    """
    chosen = [one for one in ("--lines", "--messages", "--replay") if one in stated]
    if len(chosen) > 1:
        raise click.UsageError(f"{' and '.join(chosen)} cannot be combined.")
    for option, way in _OF_WAYS.items():
        if option in stated and way not in chosen:
            raise click.UsageError(f"{option} needs {way}.")


_OF_WAYS = {"--all": "--messages", "--numbers": "--messages", "--speed": "--replay", "--max-gap": "--replay"}


def _chosen(
    reader: "SessionReader", session: "Session", last: int | None, turn: int | None, *, whole: bool, brief: bool
) -> "Iterable[Step]":
    """Return the steps of a session or a turn, or the last of them."""
    if last in (None, common.ALL_STEPS) or turn is not None:
        steps = reader.steps.each_step(session.id, turn, brief=brief)
        return steps if last in (None, common.ALL_STEPS) else iter(deque(steps, maxlen=last))
    return last_steps(reader, session, last, whole=whole)


def last_steps(reader: "SessionReader", session: "Session", last: int | None, *, whole: bool) -> list["Step"]:
    """Return the last steps of a session; only its end is read."""
    from agentdash.sessions.transcript.tail import StepTail

    followed = StepTail(reader.steps.open_trajectory(session.id), whole=whole)
    try:
        return [one.step for one in followed.begin(last)]
    finally:
        followed.close()


def _replay(ref: str, turn: int | None, speed: float, max_gap: float, *, full: bool, as_json: bool) -> None:
    if not math.isfinite(speed) or speed <= 0:
        raise UsageError(f"--speed must be a number above 0, not {speed:g}.")
    from agentdash.sessions.transcript.tail import paced

    with common.open_reader() as reader:
        session = reader.get(ref)
        reader.outputs.check_folder(session)
        steps = reader.steps.each_step(session.id, turn)
        play(paced(steps, speed, min(max_gap, _LONGEST_GAP), _PAUSE), time.sleep, full=full, as_json=as_json)


def play(
    steps: "Iterable[tuple[float, Step]]", wait: Callable[[float], None], *, full: bool = False, as_json: bool = False
) -> None:
    """Print each step after its delay."""
    if as_json:
        from agentdash.sessions.rules.json_schema import step_json

        for step in _in_time(steps, wait):
            common.print_json(step_json(step))
        return
    from agentdash.tui.render.steps import steps_text

    for line in steps_text(_in_time(steps, wait), common.style(full=full)):
        common.print_lines([line])


def _in_time(steps: "Iterable[tuple[float, Step]]", wait: Callable[[float], None]) -> "Iterator[Step]":
    for gap, step in steps:
        wait(gap)
        yield step


@click.command()
@_turn
@click.option("--stderr", is_flag=True, help="Print stderr instead of stdout.")
@common.raw_option
@common.json_option
@common.id_argument
def output(ref: str, turn: int | None, stderr: bool, raw: bool, as_json: bool) -> None:
    """Print a turn's raw output.

    Unchanged into a pipe or a file; on a terminal, control sequences are removed unless --raw is given.  Default: the
    current turn.
    """
    with common.open_reader() as reader:
        session = reader.get(ref)
        reader.outputs.check_folder(session)
        part = reader.outputs.part(session.id, turn, stderr=stderr)
    if not as_json:
        common.print_pieces(part.pieces(), raw=raw)
        return
    data = part.read()
    text = data.decode("utf-8", "replace")
    stream = "stderr" if stderr else "stdout"
    facts = {"session": session.id, "turn": turn or session.turn, "stream": stream, "path": str(part.path)}
    common.print_json(facts | {"begin_byte": part.begin, "text": text, "lossy": text.encode() != data})


def complete_formats(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the names of the formats that begin with ``incomplete``."""
    from agentdash.sessions.agents.formats import format_names

    return [CompletionItem(name) for name in format_names() if name.startswith(incomplete)]


class _FormatOption(click.Option):
    """An option whose help lists every format; the agents are loaded only to show it."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        from agentdash.sessions.agents.registry import PLAIN_COMMAND, agent_names, takes_prompts, transcript_formats

        streams = ", ".join(filter(takes_prompts, agent_names()))
        transcripts = ", ".join(one.name for one in transcript_formats())
        self.help = (
            f"{streams} (turn files), {transcripts} (transcripts), or {PLAIN_COMMAND} (any text); default: detect."
        )
        return super().get_help_record(ctx)


@click.command()
@click.option(
    "--agent", "-a", "format_name", cls=_FormatOption, metavar="FORMAT", shell_complete=complete_formats, help=""
)
@_full
@common.json_option
@click.argument("file", type=click.Path())
def view(file: str, format_name: str | None, full: bool, as_json: bool) -> int:
    """Print the steps of a transcript file ("-": stdin).

    Reads the JSON lines that codex and claude print, and the agents' own transcripts: rollouts in ~/.codex/sessions,
    files in ~/.claude/projects, and Gemini CLI chats (session-*.jsonl) in ~/.gemini/tmp.  Also reads gzip files.

    Unknown lines are printed unchanged and counted on stderr.  Exits 1 if there are any, or if the file is not a
    transcript.
    """
    with ExitStack() as open_files:
        try:
            transcript = _opened(file, format_name, open_files)
            print_steps(transcript.steps(), full=full, as_json=as_json)
        except BrokenPipeError:
            raise
        except NotATranscriptError as error:
            raise NotATranscriptError(f"{file}: {error}.") from None
        except OSError as error:
            raise UsageError(f"{file}: cannot be read: {error.strerror}.") from None
    if transcript.unknown:
        common.notice(f"{transcript.unknown} of {transcript.lines} lines unknown.")
    return FAILED if transcript.unknown else 0


def _opened(file: str, format_name: str | None, open_files: ExitStack) -> "StepFile":
    from agentdash.sessions.transcript.turn_file import StepFile, plain_file

    path = Path(file)
    source: Any = nullcontext(sys.stdin.buffer) if file == "-" else path.open("rb")
    stream = open_files.enter_context(source)
    if not isinstance(stream, BufferedReader):
        stream = BufferedReader(stream)  # a program that runs the verb replaced stdin
    regular = path if file != "-" and path.is_file() else None
    return StepFile(open_files.enter_context(plain_file(regular, stream)), format_name)


def print_steps(steps: Iterable["Step"], *, full: bool, as_json: bool, is_cut: "IsCut | None" = None) -> None:
    """Print steps as they are made, with those marked that were cut by going back."""
    from agentdash.sessions.rules.conversation.shown import none_cut

    is_cut = is_cut or none_cut
    if as_json:
        from agentdash.sessions.rules.json_schema import step_json

        common.print_json_array(step_json(step, cut=is_cut(step)) for step in steps)
        return
    from agentdash.tui.render.steps import steps_text

    common.say_on(steps_text(steps, common.style(full=full), is_cut), otherwise="No steps yet.")


def _print_spoken(steps: "Sequence[Step]", shown: "Shown", *, everything: bool, numbers: bool, as_json: bool) -> None:
    """Print the visible messages, or all of them with those marked that were cut."""
    if not (shown.marks or numbers or as_json):
        print_steps(steps, full=True, as_json=False)
        return
    listed = [step for step in steps if everything or not shown.cuts(step.turn, step.index)] if shown.marks else steps
    if as_json:
        from agentdash.sessions.rules.json_schema import step_json

        common.print_json_array(
            step_json(step, cut=shown.has_cut(step)) | {"visible": not shown.has_cut(step)} for step in listed
        )
        return
    from agentdash.tui.render.prompts.conversation import conversation_text

    hidden = len(steps) - len(listed)
    lines = conversation_text(listed, shown, common.style(full=True), numbers=numbers, marks=everything, hidden=hidden)
    common.say_on(lines, otherwise="No steps yet.")


def steps_with_workers(
    reader: "SessionReader", session: "Session", steps: "Iterable[Step]", *, is_cut: "IsCut"
) -> Iterator[dict[str, Any]]:
    """Yield the steps of a session as JSON; a step that started workers has their ids as ``workers``."""
    from agentdash.sessions.rules.json_schema import step_json
    from agentdash.sessions.transcript.worker_steps import started_by

    workers = [one for one in reader.descendants(session.id) if one.parent == session.id]
    for step in steps:
        started = started_by(step, workers)
        yield step_json(step, cut=is_cut(step)) | ({"workers": [one.id for one in started]} if started else {})
