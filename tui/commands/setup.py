"""The verbs around the sessions: config, demo, completion."""

import tempfile
from pathlib import Path

import click

from . import common


@click.group(no_args_is_help=False)
def config() -> None:
    """The settings: where they are, what they say, a first file."""


@config.command("path")
@common.json_option
def config_path(as_json: bool) -> None:
    """Where the settings are read from."""
    from ...sessions.config import config_path

    path = config_path()
    if as_json:
        common.print_json({"path": str(path), "exists": path.exists()})
    else:
        common.say([str(path)])


@config.command("show")
@common.json_option
def config_show(as_json: bool) -> None:
    """The settings in force: what the file says, and the defaults of all that it leaves out."""
    from ...sessions.config import as_toml, in_force, load_config

    settings = in_force(load_config())
    if as_json:
        from msgspec import to_builtins

        common.print_json(to_builtins(settings))
    else:
        common.say([as_toml(settings).rstrip()])


@config.command("init")
@common.json_option
def config_init(as_json: bool) -> None:
    """Write a first file with the agents that are installed."""
    from ...sessions.config import config_path, write_default

    path = config_path()
    write_default(path)
    if as_json:
        common.print_json({"path": str(path), "exists": True})
    else:
        common.say([f"wrote {path}"])


@click.command()
@click.option("--dir", "folder", type=click.Path(path_type=Path), help="Keep its state folder here.")
def demo(folder: Path | None) -> int:
    """The dashboard with scripted agents at work.

    It has a state folder of its own, which goes with it unless --dir names one.
    """
    from ..demo import run_demo

    if folder:
        return run_demo(folder.absolute())
    with tempfile.TemporaryDirectory(prefix="agentdash-demo-", ignore_cleanup_errors=True) as fresh:
        return run_demo(Path(fresh))


@click.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of a shell.

    For example, in ~/.bashrc: eval "$(agentdash completion bash)"
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"No completion for {shell}.")
    root = context.find_root()
    click.echo(kind(root.command, {}, "agentdash", "_AGENTDASH_COMPLETE").source())
