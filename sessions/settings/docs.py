"""The page that lists every setting; ``agentdash config docs`` prints it and a test compares it."""

from collections.abc import Iterable, Iterator

from ..agents.codex.toml_values import toml_value
from .catalog import VARIABLES, Setting, patterns

_INTRODUCTION = """\
# Settings

Made by `agentdash config docs`. The settings stand in one TOML file; `agentdash config path` says where,
`agentdash config edit` opens it (and makes a first one, in which everything is a comment). It is read at every start
and every follow-up, and agentdash never writes into it. What cannot be used is an error with file, line and key:
`agentdash config check`. `agentdash config list` shows what holds and where that comes from.

- `agents.NAME` is the section of any agent. What it does not say of `stop` and `limits`, `[stop]` and `[limits]` say.
- `presets.NAME` is a start with a name: `agentdash spawn --preset NAME "the text"`. Options of the command line win.
- `profiles.NAME` holds any of the other sections. `agentdash --profile NAME …` or `AGENTDASH_PROFILE` lays them over
  the rest. A session remembers the profile under which it began: its later turns have the same settings, whoever
  asks for them, and so has what its agent starts.
"""


def page() -> str:
    """Return the whole page as Markdown."""
    rows = [
        *_table(("setting", "takes", "default", "what it does"), patterns()),
        "",
        "## Environment",
        "",
        *_table(("variable", "takes", "where it is not set", "what it does"), VARIABLES),
    ]
    return "\n".join([_INTRODUCTION, *rows]) + "\n"


def default_text(one: Setting) -> str:
    """The value of a setting that the user does not set."""
    if one.default_words:
        return one.default_words
    return "not set" if one.default is None else toml_value(one.default)


def _table(titles: tuple[str, ...], listed: Iterable[Setting]) -> Iterator[str]:
    yield f"| {' | '.join(titles)} |"
    yield "| " + " | ".join("---" for _ in titles) + " |"
    for one in listed:
        default = default_text(one)
        stated = default if one.default_words or one.default is None else f"`{default}`"
        cells = (f"`{one.key}`", one.kind, stated, one.description)
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
