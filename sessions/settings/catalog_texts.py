"""The texts made from the catalog: the page that lists every setting, and the first version of the user's file.

``agentdash config docs`` prints the page, and it is ``docs/reference/settings.md``.  The file sets only the default
agent. After that it is the user's: agentdash never writes into it again.
"""

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from textwrap import wrap

from agentdash.sessions.agents.codex.own_config import toml_value
from agentdash.sessions.agents.registry import agent_named, agent_names
from agentdash.sessions.model.errors import ConfigError, UsageError
from agentdash.sessions.settings.catalog import NAME, VARIABLES, Setting, patterns, settings
from agentdash.sessions.text.markdown import escaped, table

_INTRODUCTION = """\
# Settings

Every setting with its values, its default, and what it does. This page is made from the types of the settings:
`agentdash config docs` prints it.

The settings are in one TOML file. `agentdash config path` prints its path, and `agentdash config edit` opens it; if
there is none, it creates one in which every setting is a comment. agentdash reads the file at every start and every
follow-up, and never writes to it. `agentdash config check` reports each value that cannot be used with file, line and
key; `agentdash config list` shows every value in force and its origin.
"""

_TOP = "The top of the file"
"""The heading of the settings that are in no table."""

_NOTES = {
    "agents": """\
`agents.NAME` is the section of any agent. What it omits of `stop` and `limits` is taken from `[stop]`, `[limits]`.
""",
    "asks": """\
`asks.rules` are tables, each after a line `[[asks.rules]]`. `decide = "allow"`, `"deny"` or `"ask"` applies to an ask
that fits all of `tool`, `command` (the first words, `"git log"`), `folder` (of all its paths; a relative one begins at
the session's folder) and `agent`. The first rule that fits decides; without one, you are asked.

- A rule that allows commands without `command` allows those that are understood: forms of `git log`, `ls`, `grep` and
  about forty others that only read files of the folder, also as a list or with pipes.
- A rule with `command` fits one command that begins with these words, without pipes, redirections and expansions. Of
  `git` and of the programs that are understood it allows the understood forms; if you name the verb, also plain forms
  of `git add`, `commit`, `fetch`, `pull`, `push`, `switch` and `checkout -b`. Of any other program (`make`, `npm test`)
  it allows all that the program does: that is your choice.
- Always asked: an option that is shortened or not known to agentdash; a path outside the folder, links followed; a
  repository whose own settings may run a program, that begins above the folder or belongs elsewhere, or that has
  objects of another one; a push or fetch whose remote may be a folder; the understood commands of a sub-agent of
  claude, or of a claude that entered a worktree, because the folder in which they run is not known; `rm -r`,
  `git push --force`; `sudo`, shells, `python -c`, `tar`, `curl`, `ssh`, `find -exec` and others that run, or reach,
  what their arguments name.
- A rule for a tool that writes (`Write`, `Edit`, `apply_patch`) allows files of the folder, links followed, but none by
  which other programs run something: settings and instructions of agents, `.git`, editors, shells, environments,
  package scripts, builds, hooks and CI. One for `Read`, `Grep` or `Glob` allows files of the folder.
- A rule that denies or asks also keeps later rules from what may be its command: by another path, behind another
  program, in a shell, by another verb for the same act (`git push`, `git send-pack`).
- `folder` widens the folder: a rule for a monorepo whose sessions work below its top names the top.
""",
    "budgets": """\
`budgets.folders.NAME` is a folder: an absolute path, or one that begins with `~`.
""",
    "presets": """\
`presets.NAME` is a start with a name: `agentdash spawn --preset NAME "the text"`. Options of the command line win.
""",
    "templates": """\
`templates.NAME` is a prompt for any session: `agentdash inject --template NAME ID`. Its fields are filled in when it is
sent: `{cwd}`, `{id}`, `{branch}` (of the git repository in the session's folder), `{last_message}`, `{title}` and
`{agent}`. `{{` is a brace. Prompts that you write are sent as they are, whatever braces they have.
""",
    "profiles": """\
`profiles.NAME` holds any of the other sections. `agentdash --profile NAME …` or `AGENTDASH_PROFILE` puts them in place
of the general ones. A session remembers the profile under which it began: its later turns, and the sessions that its
agent starts, have the same settings.
""",
}
"""The paragraphs of a section that a table cannot hold."""


def page() -> str:
    """Return the whole page as Markdown."""
    lines = [_INTRODUCTION]
    for heading, group in groupby(patterns(), lambda one: one.path[0] if len(one.path) > 1 else _TOP):
        found = sorted(group, key=lambda one: heading == "agents" and one.path[1] != NAME)
        lines += [f"## {heading}", "", *([_NOTES[heading]] if heading in _NOTES else [])]
        lines += [*_settings(("setting", "type", "default", "description"), found), ""]
    lines += ["## Environment", "", *_settings(("variable", "type", "if not set", "description"), VARIABLES)]
    return "\n".join(lines) + "\n"


def default_text(one: Setting) -> str:
    """The value of a setting that the user does not set."""
    if one.default_words:
        return one.default_words
    return "not set" if one.default is None else toml_value(one.default)


def _settings(titles: Sequence[str], listed: Iterable[Setting]) -> Iterator[str]:
    yield from table(titles, ((f"`{one.key}`", one.kind, _default(one), escaped(one.description)) for one in listed))


def _default(one: Setting) -> str:
    default = default_text(one)
    return escaped(default) if one.default_words or one.default is None else f"`{default}`"


_HEADER = """\
# Settings of agentdash, read at every start and every follow-up.
# Commented values are defaults or examples. Remove the "# " to set one, also from the [table] above it.
# agentdash config check validates this file; agentdash config list shows the effective settings.
"""


def write_first(path: Path) -> None:
    """Write a first file with the installed agents; an existing file is never touched.

    Raises:
        UsageError: the file exists already.
        ConfigError: it cannot be written.
    """
    if path.exists():
        raise UsageError(f"{path} already exists; not overwritten.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # O_EXCL: a file that another process creates at the same moment is not replaced either.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(first_file())
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}.") from None


def first_file() -> str:
    """Return every setting with its description, as a comment; only the default agent is set, to an installed one."""
    installed = [name for name in agent_names() if (binary := agent_named(name).binary) and shutil.which(binary)]
    return "\n".join([_HEADER, *_lines(installed)]) + "\n"


def _lines(installed: list[str]) -> Iterator[str]:
    section = ""
    for one in settings():
        if one.path[0] == "profiles":
            yield from _PROFILE
        if one.path[0] == "profiles" or one.path[2:-1]:
            continue
        if one.section != section:
            section = one.section
            # A table is there from the start if it can be: an empty one changes nothing, and a key needs it.
            is_live = NAME not in one.path and (one.path[0] != "agents" or one.path[1] in installed)
            yield from ("", f"[{section}]" if is_live else f"# [{section}]")
            yield from _BELOW.get(one.path[0], ())
        unset = f"not set: {one.default_words}" if one.default_words else "not set here" if one.default is None else ""
        words = f"{one.description} ({'; '.join(filter(None, (one.kind, unset)))})"
        yield from wrap(words, 118, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)
        if one.path == ("default_agent",):
            yield f"default_agent = {toml_value(next(iter(installed), one.default))}"
        else:
            yield f"# {one.path[-1]} = {toml_value(one.sample)}"


_BELOW = {
    "agents": ("# Subtables .stop and .limits override [stop] and [limits] for this agent.",),
    "presets": ("# A subtable .limits overrides [limits] for this preset.",),
}
_PROFILE = (
    "",
    "# A profile contains any of the tables above; --profile NAME or AGENTDASH_PROFILE applies it.",
    "# [profiles.NAME.limits]",
    "# wall_seconds = 3600.0",
)
