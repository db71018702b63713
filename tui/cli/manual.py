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
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            if found is not None and not found.hidden:
                yield from _command(click.Context(found, info_name=name, parent=context))


def _usage(context: click.Context) -> str:
    return _line(" ".join((context.command_path, *context.command.collect_usage_pieces(context))))


def _options(context: click.Context) -> Iterator[str]:
    for parameter in context.command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and record[1] and "--help" not in record[0]:
            yield from (".TP", f".B {_line(record[0])}", _line(" ".join(record[1].split())))


def _paragraphs(text: str) -> Iterator[str]:
    """Yield paragraphs; click marks one whose lines stay as they are by a backspace."""
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        kept = paragraph.startswith("\b")
        lines = [_line(line) for line in paragraph.removeprefix("\b").strip("\n").splitlines()]
        yield from (".PP", *((".nf", *lines, ".fi") if kept else lines))


def _line(text: str) -> str:
    """Return a line of text that has no meaning for ``man``."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped
