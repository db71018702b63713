"""Make all documents that are made from the program: ``python -m agentdash.tui.cli.reference docs``.

The schemas of what ``--json`` prints, the manual page, and the pages in ``docs/reference``.  A test compares the files.
"""

import sys
from collections.abc import Iterator, Set
from pathlib import Path
from string import ascii_letters

import click

from agentdash.sessions.settings import catalog_texts
from agentdash.sessions.text.markdown import escaped, table
from agentdash.tui.cli import manual
from agentdash.tui.cli.main import cli
from agentdash.tui.cli.schemas import json_page
from agentdash.tui.cli.schemas.documents import documents, encoded
from agentdash.tui.cli.schemas.verbs import VERBS
from agentdash.tui.dialogs.help import ANYWHERE, GROUPS, meaning
from agentdash.tui.keys import key_names
from agentdash.tui.keys.action import EVERYWHERE, Action, Place
from agentdash.tui.keys.actions import ACTIONS, APP_ACTIONS, MENU_ACTIONS, PANE_ACTIONS, REGISTRY

KEY_VERBS = {
    "new_session": "spawn", "new_after": "spawn --after", "continue": "continue", "start_waiting": "start",
    "wait_for": "start --after", "write_prompt": "inject", "template": "inject --template", "stop": "stop",
    "kill": "stop --now", "interrupt_turn": "interrupt", "mode": "set --mode", "take_over": "takeover",
    "answer": "asks", "queue": "queue", "retry": "retry", "delete": "rm", "archive": "archive", "rename": "rename",
    "pin": "pin", "mark_read": "mark", "undo": "restore", "processes": "ps", "trust": "trust", "beside": "watch",
    "usage": "usage", "settings": "config",
    "table.filter": "ls --filter", "table.open": "trajectory", "table.changes": "changes", "table.explain": "explain",
    "steps.changes": "changes", "steps.export": "export", "steps.stderr": "output --stderr",
    "steps.explain": "explain", "steps.fork": "fork", "steps.rewind": "rewind", "steps.undo": "rewind --undo",
    "steps.compact": "compact", "prompt.search": "prompts",
}  # fmt: skip
"""The verb that does the same as a key, with its option, by the name of the action."""

_KEYS = """\
# Keys

The keys of the dashboard, with what each does, its name, and the verb of the command line that does the same. This
page is made from the program by `make reference`; `agentdash config keys` prints the keys in force, and `?` shows them
in the dashboard.

A key of a pane has precedence over the same key anywhere. The name is a key of `[keys]` in the
[settings](settings.md#keys), which gives it other keys: `stop = "ctrl+x"`; those that are "fixed" stay as they are.
Most names are commands of the dashboard too: `:stop`. `g u` is two keys: `g` opens a menu, and `u` acts in it.

The free letters of a part have no action in it. Some still do what they did in an earlier release, until you give them
to another action.
"""

_COMMANDS = """\
# Commands

Every verb of `agentdash` with its usage, arguments and options. This page is made from the program by
`make reference`; `agentdash VERB --help` prints the same.

An ID is a session id, a unique prefix of one, or `@last`: the newest session that you started. Brackets are optional
parts, and `...` means several. What `--json` prints is in [json.md](json.md).
"""

_EXIT_CODES = (
    ("0", "Done."),
    ("1", "Failed; also: there is no such session."),
    ("2", "Not a valid request: an empty prompt, an ambiguous id, a folder that does not exist, broken settings."),
    ("124", "A wait timed out."),
    ("130", "Interrupted by Ctrl+C."),
    ("141", "The reader of the output went away."),
)


def files() -> dict[str, str]:
    """Return the texts of all files by their paths below ``docs``."""
    schemas = {f"schema/{name}.json": encoded(document) for name, document in documents().items()}
    return schemas | {
        "agentdash.1": manual.page(),
        "reference/commands.md": commands_page(),
        "reference/json.md": json_page.page(),
        "reference/keys.md": keys_page(),
        "reference/settings.md": catalog_texts.page(),
    }


def write(folder: Path) -> None:
    """Write all files, and remove those that are not made any longer."""
    made = files()
    for old in (*folder.glob("schema/*"), *folder.glob("reference/*")):
        if str(old.relative_to(folder)) not in made:
            old.unlink()
    for name, text in made.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def keys_page() -> str:
    """Return the page of all keys."""
    of_table, *of_panes = ((*GROUPS[place], frozenset({place})) for place in Place if place in GROUPS)
    always = ("always", (*PANE_ACTIONS, *APP_ACTIONS), frozenset[Place]())
    lines, told = [_KEYS], set[str]()
    for heading, actions, places in (of_table, (ANYWHERE, (*MENU_ACTIONS, *ACTIONS), EVERYWHERE), always, *of_panes):
        rows = [(_keys(one), escaped(meaning(one)), _name(one), _verb_of(one)) for one in actions if one.id not in told]
        told.update(one.id for one in actions)
        lines += [f"## {heading.capitalize()}", "", *table(("key", "what it does", "name", "verb"), rows), ""]
        if letters := _free(places - {Place.PROMPT}):  # in a prompt, letters are text
            lines += [f"Free letters: {' '.join(f'`{letter}`' for letter in letters)}", ""]
    return "\n".join(lines)


def _free(places: Set[Place]) -> list[str]:
    """Return the letters that have no action in any of these parts of the screen; none for no part."""
    taken = {key for action in REGISTRY.values() if action.where & places for key in action.named}
    return [letter for letter in ascii_letters if letter not in taken] if places else []


def _keys(action: Action) -> str:
    return " ".join(f"`{key_names.shown(key)}`" for key in action.named)


def _name(action: Action) -> str:
    return f"`{action.id}`, fixed" if action.fixed else f"`{action.id}`"


def _verb_of(action: Action) -> str:
    verb = KEY_VERBS.get(action.id, "")
    return f"[`{verb}`](commands.md#agentdash-{verb.split()[0]})" if verb else ""


def commands_page() -> str:
    """Return the page of all verbs."""
    context = click.Context(cli, info_name="agentdash")
    groups = [(title, " ".join(f"[{name}](#agentdash-{name})" for name, _ in verbs)) for title, verbs in cli.sections()]
    lines = [_COMMANDS, *table(("use", "verbs"), groups), "", "## The program", "", *_usage(context)]
    lines += ["", "## Exit codes", "", *table(("code", "meaning"), _EXIT_CODES)]
    for title, verbs in cli.sections():
        lines += ["", f"## {title}"]
        for name, verb in verbs:
            lines += ["", *_verb(click.Context(verb, info_name=name, parent=context))]
    return "\n".join(lines) + "\n"


def _verb(context: click.Context) -> Iterator[str]:
    """Yield the section of a verb, and those of the verbs below it."""
    path = context.command_path
    yield from (f"### {path}", "", *_usage(context))
    if printed := VERBS.get(path.partition(" ")[2]):
        names = (name.removesuffix("[]") for name in printed)
        yield from ("", f"JSON: {', '.join(dict.fromkeys(f'[{name}](json.md#{name})' for name in names))}.")
    for inner in manual.verbs_below(context):
        yield from ("", *_verb(inner))


def _usage(context: click.Context) -> Iterator[str]:
    command = context.command
    yield from ("```sh", " ".join((context.command_path, *command.collect_usage_pieces(context))), "```")
    for lines, kept in manual.paragraphs(command.help or ""):
        yield from ("", *(("```", *lines, "```") if kept else map(escaped, lines)))
    if options := [(f"`{names}`", escaped(words)) for names, words in manual.described_options(context)]:
        yield from ("", *table(("option", "what it does"), options))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
