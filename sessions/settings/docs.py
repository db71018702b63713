"""The page that lists every setting: ``agentdash config docs`` prints it, and it is ``docs/reference/settings.md``."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from ..agents.codex.toml_values import toml_value
from ..text.markdown import escaped, table
from .catalog import NAME, VARIABLES, Setting, patterns

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
    for heading, group in groupby(patterns(), _section):
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


def _section(one: Setting) -> str:
    return one.path[0] if len(one.path) > 1 else _TOP


def _settings(titles: Sequence[str], listed: Iterable[Setting]) -> Iterator[str]:
    yield from table(titles, ((f"`{one.key}`", one.kind, _default(one), escaped(one.description)) for one in listed))


def _default(one: Setting) -> str:
    default = default_text(one)
    return escaped(default) if one.default_words or one.default is None else f"`{default}`"
