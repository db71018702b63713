"""The verb that finds prompts of all sessions again."""

import click

from .. import common


@click.command()
@click.option(
    "-n", "most", type=click.IntRange(1, common.MOST_NUMBER), default=50, metavar="N",
    help="At most N prompts (default: 50).",
)  # fmt: skip
@common.json_option
@click.argument("words", metavar="[TEXT]", nargs=-1)
def prompts(words: tuple[str, ...], most: int, as_json: bool) -> None:
    """List the prompts of all sessions, newest first.

    With TEXT: only those that contain all its words.  Each text is listed once.
    """
    with common.open_reader() as reader:
        found = reader.past_prompts(" ".join(words), most)
    if as_json:
        common.print_json([{"text": one.text, "session": one.session, "at": one.at} for one in found])
        return
    from ....render.prompts.prompts import prompt_lines

    common.say_on(prompt_lines(found, common.style()), otherwise="No such prompt." if words else "No prompts yet.")
