"""The verb that compacts the conversation of a session."""

from typing import TYPE_CHECKING

import click

from .. import common
from ..starting.start import follow, timeout_option, wait_option
from .recipients import sent_json

if TYPE_CHECKING:
    from .....sessions.manager import SessionManager
    from .....sessions.prompts.compacting import Compacting


@click.command()
@click.option("--summary", is_flag=True, help="Have the agent write a summary, even if it has a command of its own.")
@click.option("--first", is_flag=True, help="Put it before the prompts that wait.")
@click.option("--now", is_flag=True, help="Do it as soon as the session is free, even if its queue is held.")
@click.option("--key", metavar="NAME", help="Name of the request: the same name compacts nothing twice.")
@wait_option
@timeout_option
@common.json_option
@common.id_argument
@click.argument("words", nargs=-1, metavar="[WORDS]...")
def compact(
    ref: str,
    words: tuple[str, ...],
    summary: bool,
    first: bool,
    now: bool,
    key: str | None,
    wait: bool,
    timeout: float | None,
    as_json: bool,
) -> int:
    """Compact the conversation of a session.

    A summary takes the place of all that was said; WORDS are your wishes for it.  A session at work does it when its
    turn has ended.  What was recorded stays, and a compaction that fails or is stopped changes nothing.

    The agent's own command does it (claude, a live codex).  Otherwise the agent writes a summary, and the next prompt
    begins a conversation with it, and with every request of yours in your own words.
    """
    from .....sessions.prompts.prompter import PromptOptions

    options = PromptOptions(first=first, at_once=now, key=key or "")
    with common.open_manager() as manager:
        compacting = manager.compacting.compact(ref, " ".join(words), options, summary=summary)
        return _report(manager, compacting, wait=wait, timeout=timeout, as_json=as_json)


def _report(
    manager: "SessionManager", compacting: "Compacting", *, wait: bool, timeout: float | None, as_json: bool
) -> int:
    """Report the place and the way of the compaction, and follow its turn if that was asked for."""
    sent = compacting.sent
    more = {"prompt": sent_json(sent), "by": compacting.by}
    if wait or timeout is not None:
        return follow(manager, sent.session, wait=wait, timeout=timeout, as_json=as_json, more={sent.session.id: more})
    if as_json:
        from .....sessions.json_schema import session_json

        common.print_json(session_json(sent.session) | {"warnings": []} | more)
    else:
        common.print_lines([compacting.answer])
    return 0
