"""The evidence of the agent's own transcript about the prompt of a turn that broke off."""

from msgspec import structs

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.rules.prompts.delivery import TurnEvidence, fate_of_steered, needs_transcript
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.live_log import LiveLog


def with_transcript(
    evidence: TurnEvidence, store: Store, session_id: str, n: int, agent_session: str | None
) -> TurnEvidence:
    """Add the evidence of the transcript, if it has to decide; ``agent_session`` is the conversation, if known."""
    if not needs_transcript(evidence):
        return evidence
    return structs.replace(evidence, in_transcript=in_transcript(store, session_id, n, agent_session))


def in_transcript(
    store: Store, session_id: str, n: int, agent_session: str | None, *, key: str = "", text: str | None = None
) -> bool | None:
    """Return whether the agent's own transcript has a prompt since the start of a turn.

    Args:
        key: the name of the prompt for a live agent; empty for that of the turn.
        text: the prompt; None for that of the turn.

    Returns:
        None if there is no transcript that can be read.
    """
    # A runner rarely needs it: nearly every turn reports its own end.
    from agentdash.sessions.agents.parsing.sent_prompt import SentPrompt

    session, launch = store.session(session_id), store.launch(session_id, n)
    turn = store.one_turn(session_id, n)
    if session is None or launch is None or turn is None:
        return None
    # Of a new conversation only the agent knows the name.
    resumed = session.agent_session if not launch.how else launch.conversation if launch.fork is None else None
    sent = SentPrompt(
        key=key or (turn.run_id if turn.transport else ""),
        recorded=text,
        launch=launch,
        agent_session=agent_session or resumed,
        env=store.recipe(session_id).env,
        at=turn.started_at or turn.created_at,
    )
    own_files = agent_named(session.agent).own_files
    return own_files.has_prompt(sent) if own_files is not None else None


def recover_steered(store: Store, session_id: str, n: int, agent_session: str | None = None) -> None:
    """Queue the prompts again that were written into a turn, and that the agent, which is gone, does not have.

    If its transcript cannot be read, they are unconfirmed.  Also check those that the agent reported as read in this
    turn: claude writes its transcript up to 30 ms later (docs/protocols/claude.md, "Receipts").
    """
    log = LiveLog(store.database, session_id)
    for prompt in log.under_way():
        known = in_transcript(store, session_id, n, agent_session, key=prompt.run_id, text=prompt.text)
        log.steered_is(prompt.id, fate_of_steered(known), n)
    for prompt in log.steered_into(n):
        if in_transcript(store, session_id, n, agent_session, key=prompt.run_id, text=prompt.text) is False:
            log.steered_again(prompt.id)
