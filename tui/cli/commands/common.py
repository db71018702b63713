"""Shared code of the verbs: the manager, printing as text and as JSON, ids, prompts.

Nothing heavy is imported before a verb runs: ``--help`` and the completion of a word must be instant.
"""

import codecs
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.errors import AgentdashError, StoreError, UsageError
from agentdash.tui.cli.exit_codes import FAILED

if TYPE_CHECKING:
    from agentdash.sessions.model.session import Session
    from agentdash.sessions.rules.asks.recorded import RecordedAsk
    from agentdash.sessions.service.manager import SessionManager
    from agentdash.sessions.service.reader import SessionReader
    from agentdash.tui.render.style import Style

Verb = TypeVar("Verb", bound=Callable[..., Any])


def open_manager() -> "SessionManager":
    """Return the manager for the state folder and the settings of the environment."""
    from agentdash.sessions.service.manager import SessionManager

    manager = SessionManager()
    if (context := click.get_current_context(silent=True)) is not None:
        context.call_on_close(lambda: _say_late(manager))
    return manager


def _say_late(manager: "SessionManager") -> None:
    """Name the prompts that this command made the next ones long after their time."""
    for words in manager.take_late():
        notice(words)


def settled_manager() -> "SessionManager":
    """Return the manager after a check for sessions whose runner died, so that the output is true."""
    manager = open_manager()
    try:
        manager.housekeeping.settle()
    except BaseException:
        manager.close()
        raise
    return manager


@contextmanager
def open_reader() -> "Iterator[SessionReader]":
    """Yield the reader of the sessions, for a verb that changes nothing."""
    with open_manager() as manager:
        yield manager.reader


@contextmanager
def settled_reader() -> "Iterator[SessionReader]":
    """Yield the reader of the sessions after :func:`settled_manager` updated them."""
    with settled_manager() as manager:
        yield manager.reader


def complete_ids(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the ids that begin with ``incomplete``, with state and title as help."""
    return _completed(incomplete, live=False)


def complete_filter(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return a filter with its last word completed in each way that is possible."""
    from agentdash.sessions.rules.filter_query import completions

    before, blank, word = incomplete.rpartition(" ")
    with suppress(AgentdashError), open_reader() as reader:
        return [f"{before}{blank}{one}" for one in completions(word, reader.sessions())] if word else []
    return []


def complete_live_ids(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the ids of sessions that have not ended, or have processes."""
    return _completed(incomplete, live=True)


def _completed(incomplete: str, *, live: bool) -> list[CompletionItem]:
    from agentdash.sessions.text.sanitize import one_line

    try:
        with open_reader() as reader:
            matching = [s for s in reader.sessions() if not live or s.has_process]
    except (AgentdashError, OSError):
        return []  # the completion of a word must not print an error
    items = [CompletionItem(s.short_id, help=f"{s.status}  {one_line(s.label, 60)}") for s in matching]
    if matching:
        items.append(CompletionItem("@last", help="the newest session that you started"))
    return [item for item in items if item.value.startswith(incomplete)]


def options(*parts: Callable[[Any], Any]) -> Callable[[Verb], Verb]:
    """Return a decorator that adds options and arguments, in their order in the help."""

    def decorated(verb: Verb) -> Verb:
        for part in reversed(parts):
            verb = part(verb)
        return verb

    return decorated


json_option = click.option("--json", "as_json", is_flag=True, help="Output JSON.")
"""Prints the documented schema, raw, on stdout."""

raw_option = click.option("--raw", is_flag=True, help="Keep control sequences (terminal only).")
"""Prints a command's output byte for byte, on a terminal too."""

MOST_NUMBER = (1 << 63) - 1
"""The greatest number that an option passes to the database: SQLite has no greater ones."""

ALL_STEPS = MOST_NUMBER
"""The number of steps that ``--lines all`` stands for."""


class LastSteps(click.IntRange):
    """The number of the last steps to print, or ``all`` of them."""

    def __init__(self) -> None:
        super().__init__(min=0)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number; :data:`ALL_STEPS` for all."""
        return ALL_STEPS if value == "all" else int(super().convert(value, param, ctx))


def stated(context: click.Context) -> list[str]:
    """Return the options that the command line gives to a verb, by their long names."""
    source = context.get_parameter_source
    return [one.opts[0] for one in context.command.params if source(one.name or "") is ParameterSource.COMMANDLINE]


id_argument = click.argument("ref", metavar="ID", shell_complete=complete_ids)
"""One session: an id, a unique prefix of one, or ``@last``."""

ids_argument = click.argument("refs", metavar="ID...", nargs=-1, required=True, shell_complete=complete_ids)
optional_ids_argument = click.argument("refs", metavar="[ID...]", nargs=-1, shell_complete=complete_ids)
live_ids_argument = click.argument("refs", metavar="ID...", nargs=-1, required=True, shell_complete=complete_live_ids)
"""One or more sessions, completed to those that have not ended or have processes."""

prompt_argument = click.argument("words", metavar="[PROMPT] [-]", nargs=-1)
"""The prompt: see :func:`read_prompt`."""


def style(*, full: bool = False, err: bool = False) -> "Style":
    """Return the style of stdout or stderr; a pipe gets wide lines without colours."""
    from agentdash.sessions.text.terminal import has_colours
    from agentdash.tui.render.style import Style

    stream = sys.stderr if err else sys.stdout
    return Style(
        width=max(20, shutil.get_terminal_size((160, 50)).columns),
        now=now_ms(),
        colour=stream.isatty() and has_colours(os.environ),
        full=full,
    )


def print_lines(lines: Iterable[str], *, err: bool = False, painted: bool = True) -> None:
    """Print lines of text; a terminal gets no control characters except the colours of :func:`style`.

    Lines that are not ``painted`` contain a raw path, name or text: a pipe gets it unchanged, and a terminal cleaned.
    All other output gets the twins of the characters that we draw with, if the user or the encoding excludes them.
    """
    from agentdash.sessions.text.terminal import is_wanted

    text, stream = "\n".join(lines), sys.stderr if err else sys.stdout
    if stream.isatty():
        from agentdash.sessions.text.sanitize import clean, clean_but_colours

        text = clean_but_colours(text) if painted else clean(text)
    if (painted or stream.isatty()) and is_wanted(getattr(stream, "encoding", None), os.environ):
        from agentdash.widgets.drawing.glyphs import twins

        text = twins(text)
    # style() has decided about colours; click must not decide again.
    click.echo(text, color=True, err=err)


def notice(text: str, *, named: bool = True) -> None:
    """Print what the user should know beside the output, on stderr: in the form of an error.

    With ``--json`` it is an object on a line of its own, so that all of stderr can be parsed.  ``named``: the name of
    the program is before a line of text.
    """
    context = click.get_current_context(silent=True)
    if context is None or not context.params.get("as_json"):
        print_lines([f"agentdash: {text}" if named else text], err=True)
        return
    from agentdash.sessions.rules.json_schema import dump
    from agentdash.sessions.text.sanitize import clean

    click.echo(dump({"notice": {"message": clean(text)}}), err=True, nl=False)


def say_on(lines: Iterable[str], *, otherwise: str) -> None:
    """Print any number of lines of text while they are made; ``otherwise`` if there are none."""
    lines = iter(lines)
    printed = False
    while piece := list(islice(lines, _PIECE)):
        printed = True
        print_lines(piece)
    if not printed:
        print_lines([otherwise])


_STDIN_BYTES = 4_000_000
"""Bytes read of stdin: a prompt has fewer, and of more no more is needed to refuse it."""

_PIECE = 500
"""Number of lines or values that are printed at once."""


def print_json_array(values: Iterable[Any]) -> None:
    """Print any number of values as one JSON array while they are made."""
    from agentdash.sessions.rules.json_schema import dump

    values = map(dump, values)
    begin = b"["
    while piece := list(islice(values, _PIECE)):
        print_bytes(begin + b",".join(value.rstrip(b"\n") for value in piece))
        begin = b","
    print_bytes(b"[]\n" if begin == b"[" else b"]\n")


def print_json(value: Any) -> None:
    """Print a value as JSON: never wrapped, cut or coloured."""
    from agentdash.sessions.rules.json_schema import dump

    print_bytes(dump(value))


def print_one(value: Any, line: str, *, as_json: bool, painted: bool = True) -> None:
    """Print a result: its value as JSON, or else its line; see :func:`print_lines`."""
    if as_json:
        print_json(value)
    else:
        print_lines([line], painted=painted)


def print_bytes(data: bytes) -> None:
    """Print bytes unchanged, after all earlier output."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def print_pieces(pieces: Iterable[bytes], *, raw: bool = False) -> None:
    """Print untrusted UTF-8 text: unchanged into a pipe or a file; on a terminal cleaned, unless ``raw``."""
    sys.stdout.flush()
    if raw or not sys.stdout.isatty():
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
        return
    from agentdash.sessions.text.sanitize import StreamCleaner

    cleaner = StreamCleaner()
    for piece in pieces:
        sys.stdout.write(cleaner.feed(piece))
    sys.stdout.write(cleaner.finish())
    sys.stdout.flush()


def print_sessions(sessions: Sequence["Session"], *, as_json: bool) -> None:
    """Print several sessions, one line each, and a second line for the reason if there is one."""
    if as_json:
        from agentdash.sessions.rules.json_schema import session_json

        print_json([session_json(session) for session in sessions])
        return
    from agentdash.tui.render.sessions.table import session_lines

    seen_as = style()
    print_lines(line for session in sessions for line in session_lines(session, seen_as))


def named(reader: "SessionReader", refs: Sequence[str]) -> "list[Session]":
    """Return all sessions that ``refs`` name, each once, before the verb acts on the first."""
    try:
        sessions = [reader.get(ref, destructive=True) for ref in refs]
    except AgentdashError as error:
        untouched = "" if len(refs) == 1 else " (no session was changed)"
        raise type(error)(f"{error}{untouched}") from None
    return list({session.id: session for session in sessions}.values())


def name_of(session: "Session") -> str:
    """Return the short id and the title."""
    from agentdash.sessions.text.sanitize import one_line

    return f'{session.short_id} "{one_line(session.label, 40)}"'


def looked_at(manager: "SessionManager", session: "Session", turn: int | None = None) -> None:
    """Mark the session seen as of this snapshot, if stdout is a terminal.

    If the mark cannot be written (a full disk, a read-only folder), the verb does not fail: its output is complete.
    A ``turn`` that is not the newest counts as the session seen, but marks no steps: later ones were not shown.
    """
    if not session.all_opened and sys.stdout.isatty():
        with suppress(StoreError):
            manager.housekeeping.mark_seen(session.id, 0 if turn is not None and turn < session.turn else session.steps)


def read_prompt(words: Sequence[str], *, needed: bool = True) -> str:
    """Return the prompt: the argument; stdin for ``-`` or for a pipe alone; both for an argument and ``-``.

    A pipe beside an argument is read only if ``-`` asks for it, because a pipe that is never closed would block the
    start for ever; a notice reports that it is not read.  Without a prompt, return "" unless one is ``needed``.

    Raises:
        UsageError: a needed prompt is missing or blank, stdin is not text, or the prompt is several arguments.
    """
    given = [word for word in words if word != "-"]
    if len(given) > 1 or len(words) > 2:
        raise UsageError("More than one argument: quote the prompt.")
    asked = len(given) < len(words)
    if asked or (not given and not (sys.stdin is None or sys.stdin.isatty())):
        given.append(_stdin_text())
    elif given and _is_fed():
        notice("stdin ignored; add - after the prompt to append it.")
    text = "\n\n".join(filter(str.strip, given))
    if not text and needed:
        raise UsageError("The prompt is empty. Pass it as an argument or on stdin.")
    return text


def outcome(sessions: Iterable["Session"]) -> int:
    """Return the exit code after a wait: 0 if all sessions are done, else 1."""
    return 0 if all(session.status == "done" for session in sessions) else FAILED


def say_asked(ask: "RecordedAsk") -> None:
    """Print on stderr what a session asks of the user, and how to answer."""
    from agentdash.tui.render.prompts.asks import asked_line

    notice(asked_line(ask))


def warn_of_holders(sessions: "Iterable[Session]") -> None:
    """Print on stderr which of the sessions that are put away users of other machines have."""
    from agentdash.tui.texts.takeover_texts import put_away_warning

    if warning := put_away_warning(sessions):
        notice(warning)


def say_blocked(session: "Session") -> None:
    """Print on stderr why a session is not started, and the ways out."""
    notice(f"{name_of(session)}: {session.reason}")


def _is_fed() -> bool:
    """Return whether stdin has input: a pipe, or a file that is not at its end."""
    try:
        descriptor = sys.stdin.fileno()
        status = os.fstat(descriptor)
        at = os.lseek(descriptor, 0, os.SEEK_CUR) if stat.S_ISREG(status.st_mode) else 0
    except (OSError, AttributeError, ValueError):
        return False
    return stat.S_ISFIFO(status.st_mode) or (stat.S_ISREG(status.st_mode) and at < status.st_size)


def _stdin_text() -> str:
    try:
        data = sys.stdin.buffer.read(_STDIN_BYTES)
        text = codecs.getincrementaldecoder("utf-8")().decode(data, final=len(data) < _STDIN_BYTES)
        return text.removesuffix("\n")
    except UnicodeDecodeError:
        raise UsageError("The prompt on stdin is not UTF-8 text.") from None
