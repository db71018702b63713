"""The sessions that one prompt goes to, and the report of a prompt to several of them."""

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.errors import AgentdashError, UsageError
from agentdash.tui.cli.commands import common
from agentdash.tui.cli.commands.starting.start import follow
from agentdash.tui.cli.exit_codes import FAILED

if TYPE_CHECKING:
    from agentdash.sessions.model.session import Session
    from agentdash.sessions.service.manager import SessionManager
    from agentdash.sessions.service.prompts.filling import Delivery
    from agentdash.sessions.service.prompts.prompter import PromptOptions, Sent
    from agentdash.sessions.service.reader import SessionReader

NAMED = 10
"""Maximum number of sessions that a question names."""

recipient_options = common.options(
    click.option(
        "--filter", "-f", "wanted", metavar="WORDS", shell_complete=common.complete_filter,
        help="Send to the sessions that match, as for ls.",
    ),
    click.option("--all", "everything", is_flag=True, help="Send to all sessions that take prompts."),
    click.option("--yes", "-y", is_flag=True, help="Send to the sessions of --filter or --all without asking."),
)  # fmt: skip
"""The options that choose sessions by their facts."""


class Recipients(Struct, frozen=True, kw_only=True):
    """The sessions of one command line, and its words for the prompt."""

    sessions: "list[Session]"
    words: tuple[str, ...]
    several: bool
    """True if the command line can name several sessions; the output is then a list."""


def recipients(
    reader: "SessionReader", words: Sequence[str], wanted: str | None, *, everything: bool, templated: bool
) -> Recipients:
    """Return the sessions that the words name, or that a filter matches, and the words that are left for the prompt.

    Args:
        wanted: a filter; None if none was given.
        templated: the prompt is that of a template, so every word is an id.

    Raises:
        UsageError: no id, an id that names no session, or no session matches.
    """
    if wanted is not None or everything:
        found = _matching(reader, wanted or "")
        return Recipients(sessions=found, words=tuple(words), several=True)
    given = [word for word in words if word != "-"]
    if not given:
        raise UsageError("Missing argument ID: name a session, or choose some with --filter.")
    is_prompt = len(given) > 1 and not templated and not _names_session(reader, given[-1])
    refs = given[:-1] if is_prompt else given
    rest = [word for word in words if word == "-"]
    sessions = [reader.get(refs[0])] if len(refs) == 1 else _named(reader, refs, quote=is_prompt)
    return Recipients(sessions=sessions, words=(*given[len(refs) :], *rest), several=len(refs) > 1)


def _named(reader: "SessionReader", refs: Sequence[str], *, quote: bool) -> "list[Session]":
    try:
        return common.named(reader, refs)
    except AgentdashError as error:
        if not quote:
            raise
        raise UsageError(f"{error} A prompt of several words needs quotes.") from None


def _names_session(reader: "SessionReader", word: str) -> bool:
    """Return whether a word is an id or the beginning of one, long enough to be no word of a prompt by chance."""
    from agentdash.sessions.model.session import SHORT_ID

    try:
        return word == "@last" or (len(word) >= SHORT_ID and bool(reader.get(word)))
    except AgentdashError:
        return False


def _matching(reader: "SessionReader", words: str) -> "list[Session]":
    """Return the sessions that take prompts and match a filter; none that is archived.

    Raises:
        UsageError: no session matches, or the filter is not valid.
    """
    from agentdash.sessions.agents.registry import takes_prompts
    from agentdash.sessions.rules.filter_query import parse

    asked, now = parse(words), now_ms()
    found = [one for one in reader.sessions() if takes_prompts(one.agent) and asked.matches(one, now)]
    if not found:
        raise UsageError("No session that takes prompts matches. List them: agentdash ls --filter WORDS")
    return found


def agree(sessions: "Sequence[Session]", *, yes: bool) -> None:
    """Ask the user before a prompt goes to sessions that a filter chose.

    Raises:
        UsageError: there is no terminal to ask on.
        click.Abort: the user declined.
    """
    if yes:
        return
    number = f"{len(sessions)} session{'s' if len(sessions) != 1 else ''}"
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError(f"The prompt would go to {number}. Add --yes to send it.")
    names = ", ".join(map(common.name_of, sessions[:NAMED]))
    more = f" and {len(sessions) - NAMED} more" if len(sessions) > NAMED else ""
    click.confirm(f"Send to {number}: {names}{more}?", default=False, abort=True, err=True)


def texts_for(reader: "SessionReader", to: Recipients, template: str | None) -> "Callable[[Session], str]":
    """Return the function that makes the text for a session: the prompt as it was written, or a filled template.

    The function raises ``UsageError`` for a session whose folder has no such template, or that lacks a value.

    Raises:
        UsageError: the prompt is missing or blank, or a template was given too.
    """
    if template is None:
        text = common.read_prompt(to.words)
        return lambda _: text
    from agentdash.sessions.service.prompts.filling import filled_for
    from agentdash.sessions.settings.sections import template_named
    from agentdash.tui.cli.commands.setting_up.templates import without_prompt

    without_prompt(to.words)

    def text_for(session: "Session") -> str:
        return filled_for(reader, template, template_named(reader.settings.templates(session.cwd), template), session)

    return text_for


def send_to_all(
    manager: "SessionManager",
    sessions: "Sequence[Session]",
    text_for: "Callable[[Session], str]",
    options: "PromptOptions",
    *,
    wait: bool,
    timeout: float | None,
    as_json: bool,
) -> int:
    """Send a prompt to several sessions, report the outcome for each, and return the exit code."""
    from agentdash.sessions.service.prompts.filling import broadcast

    outcomes = broadcast(manager.prompts, sessions, text_for, options)
    waits = wait or timeout is not None
    reached = [one.session for one in outcomes if one.sent is not None]
    refused = [one for one in outcomes if one.error is not None]
    code = 0
    if as_json:
        code = _wait_and_print(manager, outcomes, timeout) if waits and reached else _print(manager, outcomes)
    else:
        lines = (f"{common.name_of(one.session)}: {one.sent.answer}" for one in outcomes if one.sent is not None)
        common.print_lines(lines, err=waits)
    for one in () if as_json else refused:
        common.print_lines([f"agentdash: {common.name_of(one.session)}: {one.error}"], err=True)
    if waits and reached and not as_json:
        code = follow(manager, reached, wait=wait, timeout=timeout, as_json=False)
    return FAILED if refused else code


def _wait_and_print(manager: "SessionManager", outcomes: "Sequence[Delivery]", timeout: float | None) -> int:
    """Print the sessions after they have ended, or after the timeout."""
    ids = [one.session.id for one in outcomes if one.sent is not None]
    try:
        sessions = manager.wait(ids, timeout=timeout, asked=common.say_asked)
    finally:
        _print(manager, outcomes)
    return common.outcome(sessions)


def _print(manager: "SessionManager", outcomes: "Sequence[Delivery]") -> int:
    from agentdash.sessions.rules.json_schema import session_json

    def record(one: "Delivery") -> dict[str, Any]:
        error = one.error and {"type": type(one.error).__name__, "message": str(one.error)}
        prompt = sent_json(manager.prompts.sent(one.sent.prompt.id)) if one.sent is not None else None
        warnings = manager.reader.warnings(one.session.id) if one.sent is not None else ()
        session = session_json(manager.reader.by_id(one.session.id))
        return session | {"warnings": list(warnings), "prompt": prompt, "error": error}

    common.print_json([record(one) for one in outcomes])
    return 0


def sent_json(sent: "Sent") -> dict[str, Any]:
    """Return the facts of a prompt that was accepted, for a program."""
    prompt = sent.prompt
    return {
        "key": prompt.key,
        "state": prompt.state,
        "turn": prompt.turn,
        "position": sent.position,
        "held": sent.session.held,
        "text": prompt.text,
        "due_at": prompt.due_at,
        "created_at": prompt.created_at,
    }
