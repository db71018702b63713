"""What the verbs share: the manager, the two ways of printing, ids, prompts.

Nothing heavy is imported before a verb runs: ``--help`` and the completion of a word must be instant.
"""

import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from ....sessions.clock import now_ms
from ....sessions.errors import AgentdashError, StoreError, UsageError

if TYPE_CHECKING:
    from ....sessions.manager import SessionManager
    from ....sessions.model import Session
    from ....sessions.reader import SessionReader
    from ...render.style import Look

F = TypeVar("F", bound=Callable[..., Any])

FAILED, TIMED_OUT = 1, 124
"""Exit codes beside 0 and those of the errors; 124 is what ``timeout`` gives."""


def open_manager() -> "SessionManager":
    """The manager over the state folder and the settings of the environment."""
    from ....sessions.manager import SessionManager

    return SessionManager()


def settled_manager() -> "SessionManager":
    """The manager after a look for sessions whose runner died, so that what is shown is true."""
    manager = open_manager()
    try:
        manager.housekeeping.settle()
    except BaseException:
        manager.close()
        raise
    return manager


@contextmanager
def open_reader() -> "Iterator[SessionReader]":
    """The reader of the sessions, for a verb that changes nothing."""
    with open_manager() as manager:
        yield manager.reader


@contextmanager
def settled_reader() -> "Iterator[SessionReader]":
    """The reader of the sessions, as :func:`settled_manager` left them."""
    with settled_manager() as manager:
        yield manager.reader


def complete_ids(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The ids that begin like this, with state and task as the hint."""
    return _completed(incomplete, live=False)


def complete_live_ids(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The ids of what has not ended, or has left processes behind."""
    return _completed(incomplete, live=True)


def _completed(incomplete: str, *, live: bool) -> list[CompletionItem]:
    from ....sessions.text.sanitize import one_line

    try:
        with open_reader() as reader:
            found = [s for s in reader.sessions() if not live or not s.status.ended or s.left]
    except (AgentdashError, OSError):
        return []  # a word that cannot be completed is no place for an error message
    items = [CompletionItem(s.short_id, help=f"{s.status}  {one_line(s.label, 60)}") for s in found]
    if found:
        items.append(CompletionItem("@last", help="the newest session"))
    return [item for item in items if item.value.startswith(incomplete)]


def json_option(command: F) -> F:
    """``--json``: the documented schema, raw, on stdout."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def raw_option(command: F) -> F:
    """``--raw``: what a command printed, byte for byte, on a terminal too."""
    return click.option("--raw", is_flag=True, help="Keep control sequences on a terminal.")(command)


def id_argument(command: F) -> F:
    """One session: an id, a unique beginning of one, or ``@last``."""
    return click.argument("ref", metavar="ID", shell_complete=complete_ids)(command)


def ids_argument(command: F) -> F:
    """One or more sessions."""
    return click.argument("refs", metavar="ID...", nargs=-1, required=True, shell_complete=complete_ids)(command)


def live_ids_argument(command: F) -> F:
    """One or more sessions, of which those that live are proposed."""
    return click.argument("refs", metavar="ID...", nargs=-1, required=True, shell_complete=complete_live_ids)(command)


def prompt_argument(command: F) -> F:
    """The prompt: see :func:`read_prompt`."""
    return click.argument("words", metavar="[PROMPT] [-]", nargs=-1)(command)


def look(*, full: bool = False, err: bool = False) -> "Look":
    """How whoever reads stdout, or stderr, sees it; a pipe gets wide lines without colours."""
    from ....sessions.text.plain_ascii import is_wanted
    from ...render.style import Look

    stream = sys.stderr if err else sys.stdout
    return Look(
        width=max(20, shutil.get_terminal_size((160, 50)).columns),
        now=now_ms(),
        colour=stream.isatty() and not os.environ.get("NO_COLOR"),
        plain_ascii=is_wanted(getattr(stream, "encoding", None), os.environ),
        full=full,
    )


def say(lines: Iterable[str], *, err: bool = False, painted: bool = True) -> None:
    """Lines for people; a terminal gets no control character but the colours of :func:`look`.

    Lines that are not ``painted`` hold a path or a name as it is: a pipe gets it so, and a terminal cleaned.
    """
    text = "\n".join(lines)
    if (sys.stderr if err else sys.stdout).isatty():
        from ....sessions.text.sanitize import clean, clean_but_colours

        text = clean_but_colours(text) if painted else clean(text)
    # Colours were decided by look(); click must not decide again.
    click.echo(text, color=True, err=err)


def say_on(lines: Iterable[str], *, otherwise: str) -> None:
    """Any number of lines for people, printed while they are made; ``otherwise`` where there is none."""
    lines = iter(lines)
    said = False
    while piece := list(islice(lines, _PIECE)):
        said = True
        say(piece)
    if not said:
        say([otherwise])


_PIECE = 500
"""Lines, or values, that are printed in one go."""


def print_json_array(values: Iterable[Any]) -> None:
    """Any number of values as one array, printed while they are made."""
    from ....sessions.json_schema import dump

    values = map(dump, values)
    begin = b"["
    while piece := list(islice(values, _PIECE)):
        print_bytes(begin + b",".join(value.rstrip(b"\n") for value in piece))
        begin = b","
    print_bytes(b"[]\n" if begin == b"[" else b"]\n")


def print_json(value: Any) -> None:
    """A value for programs: never wrapped, cut or coloured."""
    from ....sessions.json_schema import dump

    print_bytes(dump(value))


def print_bytes(data: bytes) -> None:
    """Bytes as they are, after what was printed before."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def print_file(path: Path, *, raw: bool = False) -> None:
    """A file, if there is one: its bytes into a pipe or a file, cleaned on a terminal unless it is to be ``raw``."""
    with suppress(FileNotFoundError), path.open("rb") as file:
        print_pieces(iter(partial(file.read, _CHUNK), b""), raw=raw)


def print_pieces(pieces: Iterable[bytes], *, raw: bool = False) -> None:
    """UTF-8 text that may hold anything: as it is into a pipe or a file, cleaned on a terminal."""
    sys.stdout.flush()
    if raw or not sys.stdout.isatty():
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
        return
    from ....sessions.text.sanitize_stream import StreamCleaner

    cleaner = StreamCleaner()
    for piece in pieces:
        sys.stdout.write(cleaner.feed(piece))
    sys.stdout.write(cleaner.finish())
    sys.stdout.flush()


_CHUNK = 1 << 16


def print_sessions(sessions: Sequence["Session"], *, as_json: bool) -> None:
    """Several sessions, one line each, and a second one where there is a reason to show."""
    if as_json:
        from ....sessions.json_schema import session_json

        print_json([session_json(session) for session in sessions])
        return
    from ...render.table import session_lines

    seen_as = look()
    say(line for session in sessions for line in session_lines(session, seen_as))


def named(reader: "SessionReader", refs: Sequence[str]) -> "list[Session]":
    """All of them, before anything is done to the first; each once."""
    try:
        sessions = [reader.get(ref, destructive=True) for ref in refs]
    except AgentdashError as error:
        untouched = "" if len(refs) == 1 else " Nothing was done to the others."
        raise type(error)(f"{error}{untouched}") from None
    return list({session.id: session for session in sessions}.values())


def name_of(session: "Session") -> str:
    """The id that people use, and what it is about."""
    from ....sessions.text.sanitize import one_line

    return f'{session.short_id} "{one_line(session.label, 40)}"'


def looked_at(manager: "SessionManager", session: "Session", turn: int | None = None) -> None:
    """A person at a terminal has seen the session as it stands here; a pipe has not.

    A marker that cannot be written (a full disk, a read-only folder) is no reason to fail after all was shown.
    Who has seen one turn that is not the newest has seen its outcome, but not what came behind it.
    """
    if not session.all_seen and sys.stdout.isatty():
        with suppress(StoreError):
            manager.housekeeping.mark_seen(session.id, 0 if turn is not None and turn < session.turn else session.steps)


def read_prompt(words: Sequence[str], *, needed: bool = True) -> str:
    """The prompt: the argument; stdin for ``-`` or for a pipe alone; both for an argument and ``-``.

    A pipe beside an argument is not read unless ``-`` asks for it: one that is never closed would hold the start
    for ever.  It is not passed over in silence either.  Without a prompt it is "" where none is ``needed``.

    Raises:
        UsageError: there is none though one is needed, it is blank, it is no text, or it is several arguments.
    """
    given = [word for word in words if word != "-"]
    if len(given) > 1 or len(words) > 2:
        raise UsageError("The prompt is more than one argument: put it in quotes.")
    asked = len(given) < len(words)
    if asked or (not given and not _at_terminal()):
        given.append(_stdin_text())
    elif given and _is_fed():
        say(["agentdash: stdin is not read; add - after the prompt to append it."], err=True)
    text = "\n\n".join(filter(str.strip, given))
    if not text and needed:
        raise UsageError("The prompt is empty. Give it as an argument, or pipe it in.")
    return text


def outcome(sessions: Iterable["Session"]) -> int:
    """0 if all are done, else 1: what a script wants to know after a wait."""
    return 0 if all(session.status == "done" for session in sessions) else FAILED


def _at_terminal() -> bool:
    return sys.stdin is None or sys.stdin.isatty()


def _is_fed() -> bool:
    """Whether somebody feeds stdin: a pipe, or a file that is not at its end."""
    try:
        descriptor = sys.stdin.fileno()
        found = os.fstat(descriptor)
        at = os.lseek(descriptor, 0, os.SEEK_CUR) if stat.S_ISREG(found.st_mode) else 0
    except (OSError, AttributeError, ValueError):
        return False
    return stat.S_ISFIFO(found.st_mode) or (stat.S_ISREG(found.st_mode) and at < found.st_size)


def _stdin_text() -> str:
    try:
        return sys.stdin.buffer.read().decode().removesuffix("\n")
    except UnicodeDecodeError:
        raise UsageError("The prompt on stdin is not UTF-8 text.") from None
