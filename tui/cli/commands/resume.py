"""The verb resume-command: print how to go on in the agent's own interface."""

import click

from . import common


@click.command()
@common.json_option
@common.id_argument
def resume_command(ref: str, as_json: bool) -> None:
    """The shell command that resumes a session in the agent's own interface.

    It changes to the session's folder and sets the environment that was recorded with the session.  Nothing is run.
    """
    with common.open_reader() as reader:
        found = reader.resume_command(ref)
    if as_json:
        common.print_json(found)
    else:
        common.print_lines([found.command], painted=False)
