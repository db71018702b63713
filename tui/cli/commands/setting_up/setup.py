"""The verbs that need no sessions of the user: demo, completion."""

from pathlib import Path

import click


@click.command()
@click.option("--dir", "folder", type=click.Path(path_type=Path), help="Keep the demo's state in this folder.")
def demo(folder: Path | None) -> int:
    """Open the dashboard with scripted agents.

    The demo has its own state folder, which is removed at the end.  --dir keeps it: name a new or empty folder, or the
    folder of an earlier demo.
    """
    from ....demo import run_demo

    if folder:
        return run_demo(folder.absolute(), kept=True)
    from .....sessions.storage.scratch import scratch_folder

    with scratch_folder() as fresh:
        return run_demo(fresh, kept=False)


@click.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a shell completion script.

    For example, in ~/.bashrc: eval "$(agentdash completion bash)"
    """
    from click.shell_completion import get_completion_class

    from ...completion_setup import COMPLETE, complete_whole_words

    complete_whole_words()
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"No completion for {shell}.")
    root = context.find_root()
    click.echo(kind(root.command, {}, "agentdash", COMPLETE).source())
