"""The verb view: print the steps of any transcript file."""

import sys
from contextlib import ExitStack, nullcontext
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from .....sessions.errors import NotATranscriptError, UsageError
from ...exit_codes import FAILED
from .. import common
from .read import print_steps

if TYPE_CHECKING:
    from .....sessions.transcript.turn_file import StepFile


def complete_formats(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the names of the formats that begin with ``incomplete``."""
    from .....sessions.agents.formats import format_names

    return [CompletionItem(name) for name in format_names() if name.startswith(incomplete)]


class _FormatOption(click.Option):
    """An option whose help lists every format; the agents are loaded only to show it."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        from .....sessions.agents.registry import PLAIN_COMMAND, agent_names, takes_prompts, transcript_formats

        streams = ", ".join(filter(takes_prompts, agent_names(demo=False)))
        transcripts = ", ".join(one.name for one in transcript_formats())
        self.help = (
            f"{streams} (turn files), {transcripts} (transcripts), or {PLAIN_COMMAND} (any text); default: detect."
        )
        return super().get_help_record(ctx)


@click.command()
@click.option(
    "--agent", "-a", "format_name", cls=_FormatOption, metavar="FORMAT", shell_complete=complete_formats, help=""
)
@click.option("--full", is_flag=True, help="No truncation; show diffs.")
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
    from .....sessions.transcript.turn_file import StepFile, plain_file

    path = Path(file)
    source: Any = nullcontext(sys.stdin.buffer) if file == "-" else path.open("rb")
    stream = open_files.enter_context(source)
    if not isinstance(stream, BufferedReader):
        stream = BufferedReader(stream)  # a program that runs the verb replaced stdin
    regular = path if file != "-" and path.is_file() else None
    return StepFile(open_files.enter_context(plain_file(regular, stream)), format_name)
