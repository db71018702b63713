"""The verb changes: the files that a session changed."""

import click

from .. import common


@click.command()
@click.option("--turn", type=click.IntRange(min=1), metavar="N", help="Only turn N.")
@click.option("--diff", is_flag=True, help="Show diffs.")
@click.option("--no-git", is_flag=True, help="Skip git.")
@common.json_option
@common.id_argument
def changes(ref: str, turn: int | None, diff: bool, no_git: bool, as_json: bool) -> None:
    """Show the files a session changed, with git status.

    Lists the agent's own edits.  Changes made by its commands show up in git only.
    """
    with common.open_reader() as reader:
        session = reader.get(ref)
        reader.outputs.check_folder(session)
        report = reader.steps.changes_of(session.id, turn, git=not no_git)
    if as_json:
        from .....sessions.changes.words import changes_json

        common.print_json(changes_json(report, diffs=diff))
        return
    from .....sessions.changes.git import git_diffs
    from ....render.sessions.changes import changes_text, file_diffs

    seen_as = common.style()
    common.print_lines(changes_text(report, seen_as))
    if diff:
        find = None if no_git else git_diffs(report.cwd)
        for file in report.files:
            common.print_lines(file_diffs(file, seen_as, find))
