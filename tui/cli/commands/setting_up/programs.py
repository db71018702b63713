"""The verbs for other programs: mcp, skill, schema, completion."""

import json
import sys
from pathlib import Path
from typing import Any

import click

from agentdash.sessions.model.errors import UsageError
from agentdash.tui.cli.commands import common
from agentdash.tui.cli.verb_group import COMPLETE, renamed

_FOLDER = Path(__file__).parents[4] / "docs" / "schema"


@click.command()
@click.option(
    "--config",
    "client",
    type=click.Choice(("claude", "codex", "json")),
    help="Print the lines that add the server to a client's own settings.",
)
def mcp(client: str | None) -> int:
    """Serve the tools of leads by MCP, on stdin and stdout.

    With them an agent starts and leads workers.  A client starts this command itself.
    "agentdash spawn --lead" needs no set-up.
    """
    if client is not None:
        from agentdash.sessions.agents.leading import setup_lines

        common.print_lines(setup_lines(client))
        return 0
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("agentdash mcp is started by an MCP client. Set one up: agentdash mcp --config claude")
    from agentdash.sessions.mcp.orchestration.registry import TOOLS
    from agentdash.sessions.mcp.server import serve

    return serve(TOOLS)


@click.command()
def skill() -> None:
    """Print a SKILL.md for agents that lead others by the shell.

    For example: mkdir -p ~/.claude/skills/agentdash && agentdash skill > ~/.claude/skills/agentdash/SKILL.md
    """
    from agentdash.sessions.mcp.orchestration.skill import SKILL

    common.print_lines(SKILL.splitlines())


def _complete_names(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in (*_read("index")["verbs"], *_names()) if name.startswith(incomplete)]


@click.command()
@click.argument("words", metavar="[NAME]", nargs=-1, shell_complete=_complete_names)
@click.option("--all", "everything", is_flag=True, help="All schemas, as one object.")
@click.option("--json", "as_json", is_flag=True, help="Output JSON (the list too).")
def schema(words: tuple[str, ...], everything: bool, as_json: bool) -> None:
    """Print the JSON Schema of a verb's --json output.

    NAME is a verb ("ls", "config list") or a schema ("session").  Without it, list the verbs and their schemas.  The
    schema of `events`, `tail` and `trajectory --replay` is that of one line.
    """
    name = " ".join(word for word in (renamed(words) if words else ()) if not word.startswith("-"))
    index = _read("index")
    if name and everything:
        raise UsageError("NAME and --all cannot be combined.")
    if everything:
        _print({name: _read(name) for name in _names()})
    elif name in index["verbs"]:
        _print(_of_verb(name, index["verbs"][name]))
    elif name in _names():
        _print(_read(name))
    elif name:
        raise UsageError(f"There is no schema {name!r}. List them: agentdash schema")
    elif as_json:
        common.print_json(index["verbs"])
    else:
        width = max(map(len, index["verbs"]))
        common.print_lines(f"{verb:<{width}}  {', '.join(names)}" for verb, names in index["verbs"].items())


@click.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a shell completion script.

    For example, in ~/.bashrc: eval "$(agentdash completion bash)"
    """
    from click.shell_completion import get_completion_class

    from agentdash.tui.cli.bash_completion import complete_whole_words

    complete_whole_words()
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"No completion for {shell}.")
    root = context.find_root()
    click.echo(kind(root.command, {}, "agentdash", COMPLETE).source())


def _of_verb(verb: str, names: list[str]) -> dict[str, Any]:
    """Return the schema that admits each of these values; a name with ``[]`` is an array."""
    choices: list[dict[str, Any]] = []
    definitions: dict[str, Any] = {}
    head: dict[str, Any] = {}
    for name in names:
        document = _read(name.removesuffix("[]"))
        head = {"$schema": document.pop("$schema"), "$id": f"agentdash:verb:{verb.replace(' ', ':')}"}
        definitions |= document.pop("$defs", {})
        del document["$id"]
        choices.append({"type": "array", "items": document} if name.endswith("[]") else document)
    schema = choices[0] if len(choices) == 1 else {"anyOf": choices}
    return head | schema | ({"$defs": definitions} if definitions else {})


def _names() -> list[str]:
    return sorted(path.stem for path in _FOLDER.glob("*.json") if path.stem != "index")


def _read(name: str) -> dict[str, Any]:
    """Return the content of a file.

    Raises:
        UsageError: it is missing from the installation.
    """
    try:
        content: dict[str, Any] = json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"The schemas are not installed: {error.filename or _FOLDER}.") from None
    return content


def _print(document: dict[str, Any]) -> None:
    common.print_bytes((json.dumps(document, indent=1, ensure_ascii=True) + "\n").encode())
