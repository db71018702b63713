"""One prompt to several sessions, with a template filled in for each, or for one that is about to be started.

The words of the template are the user's.  The values of its fields are not: an agent wrote its last message, and can
choose its title, its branch and the folders of its workers.  So they are made inert for the agent that gets them.
Each session gets its prompt through its own queue, and one that refuses it stops no other.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, structs

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.errors import AgentdashError, UsageError
from agentdash.sessions.model.session import Session
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.prompts.prompter import Prompter, PromptOptions, Sent
from agentdash.sessions.service.reader import SessionReader
from agentdash.sessions.settings.sections import PromptTemplate

MOST_CHARACTERS = 100_000
"""Maximum length of a last message in a prompt; a longer one keeps its end, where agents sum up."""

MOST_TURNS = 5
"""Maximum number of turns that are searched for the last message, the newest first."""


def filled_for(reader: SessionReader, name: str, template: PromptTemplate, session: Session) -> str:
    """Return the prompt of a template for a session, with the values of its fields as they are now.

    Raises:
        UsageError: a field has no value for this session, such as the branch of a folder outside of a repository.
    """

    def last_message() -> str | None:
        first = max(1, session.turn - MOST_TURNS + 1)  # a turn that just began has none
        answers = (reader.steps.answer(session.id, turn) for turn in range(session.turn, first - 1, -1))
        return next((answer[-MOST_CHARACTERS:] for answer in answers if answer), None)

    facts = {"agent": session.agent, "cwd": session.cwd, "id": session.id, "title": session.label}
    return _filled(name, template, facts, last_message, f"session {session.short_id}")


def filled_for_start(name: str, template: PromptTemplate, start: Start) -> str:
    """Return the prompt of a template for a session that a start will begin.

    The start names its agent, its folder and the id of its session.

    Raises:
        UsageError: a field has no value, such as the last message of a session that has not begun.
    """
    facts = {"agent": start.agent, "cwd": start.cwd, "id": start.session_id, "title": start.title}
    return _filled(name, template, facts, lambda: None, "a session that has not begun")


def _filled(
    name: str, template: PromptTemplate, facts: Mapping[str, str], last_message: Callable[[], str | None], whose: str
) -> str:
    known: dict[str, str] = {}
    begins = template.text.lstrip()
    read = {"branch": lambda: _branch(facts["cwd"]), "last_message": last_message}

    def value_of(field: str) -> str:
        if field not in known:
            value = read[field]() if field in read else facts[field]
            if not value:
                raise UsageError(f"Template {name}: {{{field}}} has no value for {whose}{_why(field)}.")
            at_first = begins.startswith(f"{{{field}}}")
            known[field] = agent_named(facts["agent"]).expands.inert(value, at_first=at_first)
        return known[field]

    return template.filled(value_of)


def _branch(folder: str) -> str | None:
    from agentdash.sessions.runner.git.git_process import branch_of  # most templates need no git

    return branch_of(folder)


def _why(field: str) -> str:
    return {
        "branch": ": its folder has no git branch",
        "last_message": ": its agent has not answered yet",
        "title": ": it has no title yet",
    }.get(field, "")


class Delivery(Struct, frozen=True, kw_only=True):
    """The outcome for one session: the prompt in its place, or the reason why the session did not take it."""

    session: Session
    sent: Sent | None = None
    error: AgentdashError | None = None


def broadcast(
    prompter: Prompter,
    sessions: Sequence[Session],
    text_for: Callable[[Session], str],
    options: PromptOptions | None = None,
    *,
    each: Callable[[int], object] = lambda _: None,
) -> list[Delivery]:
    """Send a prompt to sessions in turn, and return the outcome for each.

    All requests have one key, so the sessions that have the prompt ignore a repetition with the same key.

    Args:
        text_for: returns the text for a session, which differs if a template is filled in.
        options: the settings of the turns and the key; an empty key becomes a new one.
        each: called with the number of sessions that are done.
    """
    options = options or PromptOptions()
    options = structs.replace(options, key=options.key or str(uuid.uuid4()))
    deliveries = []
    for number, session in enumerate(sessions, 1):
        try:
            sent = prompter.inject(session.id, text_for(session), options)
            deliveries.append(Delivery(session=sent.session, sent=sent))
        except AgentdashError as error:
            deliveries.append(Delivery(session=session, error=error))
        each(number)
    return deliveries
