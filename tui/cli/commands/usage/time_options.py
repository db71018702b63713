"""The options ``--since`` and ``--until``."""

from datetime import datetime

import click
from click.shell_completion import CompletionItem

TIME = "7d|DATE|MONTH|today"
"""The values of both."""


def since_of(text: str | None) -> datetime | None:
    """Return the first moment of ``--since``; None if it is not given.

    Raises:
        click.BadParameter: the text is not a valid time, or is out of range.
    """
    return None if text is None else _span(text, "--since")[0]


def until_of(text: str | None) -> datetime | None:
    """Return the moment behind the end of ``--until``; None if it is not given.

    Raises:
        click.BadParameter: the text is not a valid time, or is out of range.
    """
    return None if text is None else _span(text, "--until")[1]


def complete_times(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the times that begin with ``incomplete``."""
    from .moments import words

    return [CompletionItem(one) for one in words(datetime.now().astimezone()) if one.startswith(incomplete)]


def _span(text: str, option: str) -> tuple[datetime, datetime]:
    from .....sessions.errors import UsageError
    from .moments import span

    try:
        return span(text, datetime.now().astimezone())
    except UsageError as error:
        raise click.BadParameter(str(error), param_hint=option) from None
