"""The evidence of the agent's own transcript about the prompt of a turn that broke off."""

from msgspec import structs

from ..agents.registry import agent_named
from ..rules.delivery import TurnEvidence, needs_transcript
from ..storage.store import Store


def with_transcript(
    evidence: TurnEvidence, store: Store, session_id: str, n: int, agent_session: str | None
) -> TurnEvidence:
    """Add the evidence of the transcript, if it has to decide; ``agent_session`` is the conversation, if known."""
    if not needs_transcript(evidence):
        return evidence
    # A runner rarely needs it: nearly every turn reports its own end.
    from ..agents.sent_prompt import SentPrompt

    session, launch = store.session(session_id), store.launch(session_id, n)
    turn = store.one_turn(session_id, n)
    if session is None or launch is None or turn is None:
        return evidence
    sent = SentPrompt(
        launch=launch,
        agent_session=agent_session or session.agent_session,
        env=store.recipe(session_id).env,
        at=turn.started_at or turn.created_at,
    )
    return structs.replace(evidence, in_transcript=agent_named(session.agent).has_prompt(sent))
