"""The verbs that show and answer what live agents ask: asks, approve, deny, answer."""

import re
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from agentdash.sessions.model.errors import AgentdashError, UsageError
from agentdash.tui.cli.commands import common

if TYPE_CHECKING:
    from agentdash.sessions.rules.asks.model import Answer, Ask
    from agentdash.sessions.rules.asks.recorded import RecordedAsk
    from agentdash.sessions.service.manager import SessionManager

_PLAIN = re.compile(r"[A-Za-z0-9_.,:@%+-]+")
"""A choice that a completion can put into the command line: a shell would run other text of an agent."""


def complete_asking_ids(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the ids of the sessions with open asks, with the subject of the first as help."""
    from agentdash.sessions.model.session import short_id

    first = {short_id(one.session): one for one in reversed(_open_asks(None))}
    return [_item(name, one) for name, one in first.items() if name.startswith(incomplete)]


def complete_asks(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the numbers of a session's open asks, with their subjects as help."""
    asks = _open_asks(context.params.get("ref"))
    return [_item(str(one.id), one) for one in asks if str(one.id).startswith(incomplete)]


def complete_values(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the numbers of a session's open asks, and the answers that its questions offer."""
    from agentdash.sessions.text.sanitize import one_line

    asks = _open_asks(context.params.get("ref"))
    offered = [
        CompletionItem(f"{number}={choice.label}", help=one_line(choice.description, 60))
        for one in asks
        for number, question in enumerate(one.ask.questions, 1)
        for choice in question.choices
        if _PLAIN.fullmatch(choice.label)
    ]
    numbers = [_item(str(one.id), one) for one in asks]
    return [item for item in (*numbers, *offered) if item.value.startswith(incomplete)]


def _open_asks(ref: str | None) -> "list[RecordedAsk]":
    try:
        with common.open_reader() as reader:
            return reader.asks(ref)
    except (AgentdashError, OSError):
        return []  # the completion of a word must not print an error


def _item(value: str, one: "RecordedAsk") -> CompletionItem:
    from agentdash.sessions.text.unhidden import unhidden_line

    return CompletionItem(value, help=unhidden_line(one.ask.title, 60))


_asking_id = click.argument("ref", metavar="ID", shell_complete=complete_asking_ids)
_ask = click.argument("name", metavar="ASK", required=False, shell_complete=complete_asks)


@click.command()
@common.json_option
@click.argument("ref", metavar="[ID]", required=False, shell_complete=complete_asking_ids)
def asks(ref: str | None, as_json: bool) -> None:
    """List what live agents ask.

    With ID, show each ask of the session in full: the command or diff, the agent's reason, the questions.
    """
    with common.settled_manager() as manager:
        found = manager.reader.asks(ref)
        shown = manager.asks.shown
    if as_json:
        from agentdash.sessions.rules.json_schema import ask_json

        common.print_json([ask_json(one) for one in found])
    else:
        from agentdash.tui.render.prompts.asks import ask_line, ask_lines

        style = common.style()
        lines = (line for one in found for line in ([ask_line(one, style)] if ref is None else ask_lines(one, style)))
        common.say_on(lines, otherwise="No open asks.")
    if as_json or ref is not None:
        shown.note(found)


@click.command()
@click.option("--always", is_flag=True, help="Allow the same for the rest of the session.")
@common.json_option
@_asking_id
@_ask
def approve(ref: str, name: str | None, always: bool, as_json: bool) -> None:
    """Allow what a live agent asks.

    ASK is the number of the ask, as `agentdash asks ID` shows it.
    """
    from agentdash.sessions.rules.asks.model import Answer, Verdict

    given = Answer(verdict=Verdict.ALWAYS if always else Verdict.ALLOW)
    _answer(ref, name, lambda _: given, as_json=as_json)


@click.command()
@click.option("--message", metavar="TEXT", default="", help="Reason to give to the agent.")
@click.option("--stop", is_flag=True, help="Also end the turn.")
@common.json_option
@_asking_id
@_ask
def deny(ref: str, name: str | None, message: str, stop: bool, as_json: bool) -> None:
    """Deny what a live agent asks.

    ASK is the number of the ask, as `agentdash asks ID` shows it.  The agent goes on without it, unless --stop is
    given.
    """
    from agentdash.sessions.rules.asks.model import Answer, Verdict

    given = Answer(verdict=Verdict.STOP if stop else Verdict.DENY, message=_text(message))
    _answer(ref, name, lambda _: given, as_json=as_json)


@click.command()
@common.json_option
@_asking_id
@click.argument("words", metavar="ASK NAME=VALUE...", nargs=-1, required=True, shell_complete=complete_values)
def answer(ref: str, words: tuple[str, ...], as_json: bool) -> None:
    """Answer the questions of a live agent.

    ASK is the number of the ask.  NAME is the name or the number of a question, as `agentdash asks ID` shows them;
    repeat it for several values.  A question without a value gets its default.  The value - of a secret question is
    read from stdin.
    """
    name = words[0] if "=" not in words[0] else None
    _answer(ref, name, lambda ask: _answer_of(ask, words[1:] if name is not None else words), as_json=as_json)


def _answer_of(ask: "Ask", words: Sequence[str]) -> "Answer":
    """Return the answers to questions as a value.

    Raises:
        UsageError: a word is not NAME=VALUE.
    """
    from agentdash.sessions.rules.asks.answers import with_defaults
    from agentdash.sessions.rules.asks.model import Answer, Verdict

    secret = {question.key for question in ask.questions if question.secret}
    names = {str(number): question.key for number, question in enumerate(ask.questions, 1)}
    names |= {question.key: question.key for question in ask.questions}
    values: dict[str, tuple[str, ...]] = {}
    for word in map(_text, words):
        # A name can contain "=": the longest name that fits is meant.
        fitting = [name for name in names if word.startswith(f"{name}=")]
        name = max(fitting, key=len) if fitting else word.partition("=")[0]
        if "=" not in word:
            raise UsageError(f"{word!r} is not NAME=VALUE.")
        key = names.get(name, name)
        value = word[len(name) + 1 :]
        values[key] = (*values.get(key, ()), _secret() if value == "-" and key in secret else value)
    return with_defaults(ask, Answer(verdict=Verdict.ANSWER, values=values))


def _secret() -> str:
    """Return the first line of stdin.

    Raises:
        UsageError: it is not UTF-8 text.
    """
    return _text(sys.stdin.buffer.readline().decode("utf-8", "surrogateescape").rstrip("\r\n"))


def _text(word: str) -> str:
    """Return a word of the command line.

    Raises:
        UsageError: it is not UTF-8 text.
    """
    try:
        word.encode()
    except UnicodeEncodeError:
        raise UsageError("The answer is not UTF-8 text.") from None
    return word


def _answer(ref: str, name: str | None, answer_to: "Callable[[Ask], Answer]", *, as_json: bool) -> None:
    """Answer the ask that is named with what ``answer_to`` makes of it, and print the result.

    Raises:
        UsageError: no ask is named, or it is to be allowed although it was not shown whole; it is then printed.
    """
    with common.open_manager() as manager:
        if name is None:
            _print_whole(manager, manager.reader.asks(ref))
        asked = manager.asks.named(ref, name)
        given = answer_to(asked.ask)
        if given.verdict not in _DENIALS and not manager.asks.shown.has(asked):
            _print_whole(manager, [asked])
            raise UsageError(f"Ask {asked.id} is longer than its line in `agentdash asks`. Read it, then repeat this.")
        answered = manager.asks.answer(asked.id, given)
        session = manager.reader.by_id(answered.session)
    if as_json:
        from agentdash.sessions.rules.json_schema import ask_json

        common.print_json(ask_json(answered))
        return
    from agentdash.tui.render.prompts.asks import answered_line

    common.print_lines([answered_line(answered, session, common.style())])


_DENIALS = ("deny", "stop")


def _print_whole(manager: "SessionManager", asks: "Sequence[RecordedAsk]") -> None:
    """Print asks whole on stderr, and record it."""
    from agentdash.tui.render.prompts.asks import ask_lines

    style = common.style()
    for one in asks:
        common.notice("\n".join(ask_lines(one, style)), named=False)
    manager.asks.shown.note(asks)
