"""The command line: one verb per method of the manager, for people and, with ``--json``, for programs."""

import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import takewhile

import click

from agentdash.sessions.model.errors import AgentdashError
from agentdash.tui.cli.exit_codes import FAILED, INTERRUPTED, TIMED_OUT
from agentdash.tui.cli.verb_group import COMPLETE, WORDS, VerbGroup
from agentdash.tui.startup import replace_closed_streams, tolerate_small_character_sets


def _complete_profiles(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from agentdash.tui.cli.commands.setting_up.config import complete_profiles

    return complete_profiles(context, parameter, incomplete)


def _print_version(context: click.Context, parameter: click.Parameter, asked: bool) -> None:  # noqa: ARG001
    if asked and not context.resilient_parsing:
        from agentdash.sessions.service.build import described

        click.echo(f"agentdash {described()}")
        context.exit()


@click.group(cls=VerbGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--read-only", is_flag=True, help="Read-only dashboard, table or watch.")
@click.option(
    "--version", "-V", is_flag=True, is_eager=True, expose_value=False, callback=_print_version,
    help="Show the version, the schema of its database and the commit.",
)  # fmt: skip
@click.option(
    "--profile", metavar="NAME", shell_complete=_complete_profiles, help="Apply [profiles.NAME] of the settings."
)
@click.pass_context
def cli(context: click.Context, read_only: bool, profile: str | None) -> int | None:
    """Run many coding agents.  Without a command: open the dashboard.

    ID is a session id, a unique prefix of one, or @last.  Exit codes: 0 done, 1 failed, 2 invalid request, 124 timeout,
    130 interrupted.
    """
    table = context.invoked_subcommand == "ls" and "--table" in context.meta[WORDS]
    if read_only and not table and context.invoked_subcommand not in (None, "watch"):
        raise click.UsageError("--read-only works only with the dashboard, ls --table and watch.")
    if profile is not None:
        context.with_resource(_under(profile))
        if context.invoked_subcommand not in _TOLD_OTHERWISE and not _asks_for_help(context):
            from agentdash.sessions.settings.config import read_settings

            read_settings(profile=profile)  # it must exist, even if the verb needs none of its settings
    if context.invoked_subcommand != _CHOOSES_LATER and not _asks_for_help(context):
        from agentdash.sessions.service.projects import state_folder

        state_folder.choose()
    if context.invoked_subcommand is not None:
        return None
    from agentdash.tui.startup import start

    return start(read_only=read_only)


_TOLD_OTHERWISE = frozenset({"config", "doctor", "demo", "completion"})
"""Verbs that report errors in the settings themselves, or never read the user's settings."""

_CHOOSES_LATER = "mcp"
"""The verb that finds its state folder at the first call: a client waits for its start."""


def _asks_for_help(context: click.Context) -> bool:
    words = takewhile(lambda word: word != "--", context.meta.get(WORDS, ()))
    return any(word in context.help_option_names for word in words)


@contextmanager
def _under(profile: str) -> Iterator[None]:
    """Apply a profile to one command and to all processes that it starts."""
    from agentdash.sessions.settings.config import PROFILE

    before = os.environ.get(PROFILE)
    os.environ[PROFILE] = profile
    try:
        yield
    finally:
        del os.environ[PROFILE]
        if before is not None:
            os.environ[PROFILE] = before


def run(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code; no exception escapes."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    as_json = "--json" in arguments[: arguments.index("--")] if "--" in arguments else "--json" in arguments
    if COMPLETE in os.environ:
        from agentdash.tui.cli.bash_completion import complete_whole_words

        complete_whole_words()
    replace_closed_streams()
    tolerate_small_character_sets()
    try:
        result = cli.main(arguments, prog_name="agentdash", standalone_mode=False)
    except SystemExit as leaving:
        return int(leaving.code or 0)  # click exits on its own after completing a word
    except Exception as error:  # noqa: BLE001 - the last resort of a program that shows no tracebacks
        return report_error(error, as_json)
    return result if isinstance(result, int) else 0


def report_error(error: BaseException, as_json: bool = False) -> int:
    """Print the error, as text or as JSON, and return the exit code."""
    if isinstance(error, click.Abort | KeyboardInterrupt):
        return _report("Interrupted", "Interrupted; sessions keep running.", INTERRUPTED, as_json)
    if isinstance(error, AgentdashError):
        return _report(type(error).__name__, str(error), error.exit_code, as_json)
    if isinstance(error, TimeoutError):
        return _report("TimeoutError", f"Timed out: {error}; sessions keep running.", TIMED_OUT, as_json)
    if isinstance(error, click.ClickException):
        message = " ".join(error.format_message().split())
        if isinstance(error, click.UsageError) and not as_json:
            message += f" Try: {error.ctx.command_path if error.ctx else 'agentdash'} --help."
        return _report(type(error).__name__, message, error.exit_code, as_json)
    return _unexpected(error, as_json)


def _report(kind: str, message: str, code: int, as_json: bool) -> int:
    from agentdash.sessions.text.sanitize import clean

    if as_json:
        from agentdash.sessions.rules.json_schema import dump

        failure = {"error": {"type": kind, "message": message}}
        click.echo(dump(failure), err=True, nl=False)
    else:
        click.echo(f"agentdash: {clean(message)}", err=True)
    return code


def _unexpected(error: BaseException, as_json: bool) -> int:
    if os.environ.get("AGENTDASH_DEBUG"):
        traceback.print_exception(error)
    where = _log(error) or "set AGENTDASH_DEBUG=1 to see where"
    name = type(error).__name__
    return _report(name, f"Unexpected {name}: {error}. Details: {where}.", FAILED, as_json)


def _log(error: BaseException) -> str | None:
    """Append the traceback to a log in the state folder; return its path, or None if it cannot be written."""
    from agentdash.sessions.storage.paths import default_home

    path = default_home() / "cli.log"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "a", encoding="utf-8", errors="replace") as file:
            file.writelines(traceback.format_exception(error))
    except OSError:
        return None
    return str(path)
