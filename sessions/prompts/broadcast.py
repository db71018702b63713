"""One prompt to several sessions: each gets it through its own queue, and one that refuses it stops no other."""

import uuid
from collections.abc import Callable, Sequence

from msgspec import Struct, structs

from ..errors import AgentdashError
from ..model import Session
from .prompter import Prompter, PromptOptions, Sent


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
        prompter: sends one prompt.
        sessions: the sessions.
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
