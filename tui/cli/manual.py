"""Make the manual page, ``docs/agentdash.1``, from the help of all commands."""

import inspect
from collections.abc import Iterator

import click

from agentdash import __version__
from agentdash.tui.cli.main import cli


def page() -> str:
    """Return the page, in the language of ``man`` (man(7))."""
    context = click.Context(cli, info_name="agentdash")
    return "\n".join(_page(context)) + "\n"


def _page(context: click.Context) -> Iterator[str]:
    command = context.command
    yield f'.TH AGENTDASH 1 "" "agentdash {__version__}" ""'
    yield from (".SH NAME", "agentdash \\- run many coding agents")
    yield from (".SH SYNOPSIS", f".B {_usage(context)}")
    yield ".SH DESCRIPTION"
    yield from _paragraphs(command.help or "")
    yield ".SH OPTIONS"
    yield from _options(context)
    for title, verbs in cli.sections():
        yield f".SH {title.upper()}"
        for name, verb in verbs:
            yield from _command(click.Context(verb, info_name=name, parent=context))


def _command(context: click.Context) -> Iterator[str]:
    command = context.command
    yield f".SS {_usage(context)}"
    yield from _paragraphs(command.help or "")
    yield from _options(context)
    for inner in verbs_below(context):
        yield from _command(inner)


def verbs_below(context: click.Context) -> Iterator[click.Context]:
    """Yield the contexts of the commands of a group; none of another command."""
    command = context.command
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            if found is not None and not found.hidden:
                yield click.Context(found, info_name=name, parent=context)


def _usage(context: click.Context) -> str:
    return _line(" ".join((context.command_path, *context.command.collect_usage_pieces(context))))


def _options(context: click.Context) -> Iterator[str]:
    for names, words in described_options(context):
        yield from (".TP", f".B {_line(names)}", _line(words))


def described_options(context: click.Context) -> Iterator[tuple[str, str]]:
    """Yield the names and the help of each option of a command that has help, but for ``--help``."""
    for parameter in context.command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and record[1] and "--help" not in record[0]:
            yield record[0], " ".join(record[1].split())


def _paragraphs(text: str) -> Iterator[str]:
    for lines, kept in paragraphs(text):
        shown = map(_line, lines)
        yield from (".PP", *((".nf", *shown, ".fi") if kept else shown))


def paragraphs(text: str) -> Iterator[tuple[list[str], bool]]:
    """Yield the lines of each paragraph of a help, and whether they stay as they are, as a backspace tells click."""
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        yield paragraph.removeprefix("\b").strip("\n").splitlines(), paragraph.startswith("\b")


def _line(text: str) -> str:
    """Return a line of text that has no meaning for ``man``."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped
