"""The verbs of prompts: those of a session that wait (queue), and those of all sessions that were sent (prompts)."""

from typing import TYPE_CHECKING

import click

from agentdash.sessions.model.errors import UsageError
from agentdash.tui.cli.commands import common
from agentdash.tui.cli.commands.prompting.recipients import sent_json
from agentdash.tui.cli.commands.starting.options import at_option

if TYPE_CHECKING:
    from agentdash.sessions.service.manager import SessionManager
    from agentdash.sessions.service.prompts.prompter import Sent


_ACTIONS = ("list", "edit", "move", "cancel", "send", "hold", "release", "resend", "dismiss")

_DONE = {"edit": "edited", "move": "moved", "cancel": "cancelled", "send": "next", "resend": "sent again"}


def complete_actions(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return what can be done with a queue."""
    return [action for action in _ACTIONS if action.startswith(incomplete)]


@click.command()
@at_option
@common.json_option
@common.id_argument
@click.argument("action", default="list", shell_complete=complete_actions)
@click.argument("words", nargs=-1)
def queue(ref: str, action: str, words: tuple[str, ...], at: int | None, as_json: bool) -> int:
    """List the prompts that wait for a session, or change them.

    \b
    agentdash queue ID                 list them
    agentdash queue ID edit N TEXT     replace the text of prompt N, or with --at its time
    agentdash queue ID move N TO       move prompt N to position TO
    agentdash queue ID cancel N        cancel prompt N
    agentdash queue ID send N          send prompt N next, even if the queue is held
    agentdash queue ID hold            hold the queue
    agentdash queue ID release         release it
    agentdash queue ID resend TURN     send the first unconfirmed prompt of a turn again
    agentdash queue ID dismiss TURN    dismiss the first unconfirmed prompt of a turn

    N is a position, 1 for the next, or the beginning of a key (--json shows it).
    """
    if at is not None and action != "edit":
        raise click.UsageError("--at works only with edit.")
    with common.open_manager() as manager:
        if action == "list":
            _check(action, words, 0)
            return _list(manager, ref, as_json)
        if action in ("hold", "release"):
            _check(action, words, 0)
            (manager.queue.hold if action == "hold" else manager.queue.release)(ref)
            return _list(manager, ref, as_json)
        if action == "dismiss":
            _check(action, words, 1)
            manager.queue.dismiss(manager.queue.first_unconfirmed(ref, _number(words[0])))
            return _list(manager, ref, as_json)
        return _report(_change(manager, ref, action, words, at), action, as_json)


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
    from agentdash.tui.render.prompts.prompts import prompt_lines

    common.say_on(prompt_lines(found, common.style()), otherwise="No such prompt." if words else "No prompts yet.")


def _change(manager: "SessionManager", ref: str, action: str, words: tuple[str, ...], at: int | None) -> "Sent":
    """Change one prompt.

    Raises:
        UsageError: an unknown action, missing words, or no such prompt.
    """
    queues = manager.queue
    match action:
        case "edit":
            if not words:
                raise UsageError(f"queue {action} expects N and a text.")
            prompt = queues.named(ref, words[0])
            text = prompt.text if at is not None and not words[1:] else common.read_prompt(words[1:])
            return queues.edit(prompt, text, due_at=at)
        case "move":
            _check(action, words, 2)
            return queues.move(queues.named(ref, words[0]), _number(words[1]))
        case "cancel":
            _check(action, words, 1)
            return queues.cancel(queues.named(ref, words[0]))
        case "send":
            _check(action, words, 1)
            return queues.send_now(queues.named(ref, words[0]))
        case "resend":
            _check(action, words, 1)
            return queues.resend(queues.first_unconfirmed(ref, _number(words[0])))
        case _:
            raise UsageError(f"Unknown queue action {action!r}. Known actions: {', '.join(_ACTIONS)}.")


def _check(action: str, words: tuple[str, ...], count: int) -> None:
    expected = {0: "nothing else", 1: "N", 2: "N and TO"}[count]
    if len(words) != count:
        raise UsageError(f"queue {action} expects {'TURN' if action in ('resend', 'dismiss') else expected}.")


def _number(text: str) -> int:
    if not text.isdecimal():
        raise UsageError(f"{text!r} is not a number.")
    return int(text)


def _list(manager: "SessionManager", ref: str, as_json: bool) -> int:
    session = manager.reader.get(ref)
    prompts, unconfirmed = manager.queue.prompts(session.id), manager.reader.unconfirmed(session.id)
    if as_json:
        common.print_json(
            {
                "session": session.id,
                "held": session.held,
                "unconfirmed": session.unconfirmed,
                "unconfirmed_prompts": [
                    {
                        "turn": one.turn,
                        "text": one.text,
                        "steered": one.steered is not None,
                        "created_at": one.created_at,
                    }
                    for one in unconfirmed
                ],
                "prompts": [sent_json(manager.prompts.sent(prompt.id)) for prompt in prompts],
            }
        )
        return 0
    from agentdash.tui.render.prompts.prompts import queue_lines

    common.print_lines(queue_lines(session, prompts, unconfirmed, common.style()))
    return 0


def _report(sent: "Sent", action: str, as_json: bool) -> int:
    if as_json:
        common.print_json(sent_json(sent))
        return 0
    from agentdash.tui.render.prompts.prompts import quoted

    answer = "" if action == "cancel" else f" ({sent.answer})"
    common.print_lines([f"{_DONE[action]}{answer}: {quoted(sent.prompt, common.style())}"])
    return 0
