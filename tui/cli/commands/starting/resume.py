"""The verb resume-command: print how to go on in the agent's own interface."""

import click

from .. import common


@click.command()
@common.json_option
@common.id_argument
def resume_command(ref: str, as_json: bool) -> None:
    """Print the command that resumes a session in its agent's CLI.

    The command changes to the session's folder and sets its recorded environment.  Nothing is run.
    """
    with common.open_reader() as reader:
        found = reader.resume_command(ref)
    if as_json:
        common.print_json(found)
    else:
        common.print_lines([found.command], painted=False)
