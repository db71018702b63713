"""The next turn of a session: a queued prompt, and the start that is made from it when the turn before has ended."""

from ..agents.planned import launch_of, settings_of
from ..agents.registry import agent_named
from ..conversation.continuation import Recorded
from ..errors import UnknownSessionError
from ..launch import Launch
from ..model import Session, short_id
from ..storage.paths import Layout
from ..storage.prompt_queue import Build, QueuedPrompt
from ..storage.store import Store
from ..turn_mode import TurnMode


def builder(layout: Layout, store: Store) -> Build:
    """Return the function by which the store makes a turn of a prompt."""

    def build(prompt: QueuedPrompt, turn: int, recorded: Recorded) -> Launch:
        session = store.session(prompt.session)
        if session is None:
            raise UnknownSessionError(f"Session {short_id(prompt.session)} was deleted.")
        if recorded.marks:
            return _behind_marks(layout, store, session, prompt, turn, recorded)
        agent = agent_named(session.agent)
        text = prompt.text
        if recorded.agent_session is None and agent.resumable:
            text = _with_conversation(layout, store, session, text)
        else:
            text = _with_instructions(store.newest_turn(session.id).mode, prompt.plan.frame.mode, text)
        return launch_of(
            prompt.plan,
            agent,
            prompt=text,
            cwd=session.cwd,
            session_id=session.id,
            turn=turn,
            agent_session=recorded.agent_session,
        )

    return build


def _behind_marks(
    layout: Layout, store: Store, session: Session, prompt: QueuedPrompt, turn: int, recorded: Recorded
) -> Launch:
    """Return the start of a turn that goes on where the marks of the conversation have it go on."""
    # Few sessions have marks.
    from .taking_up import retold_prompt, taken_up

    agent, text = agent_named(session.agent), prompt.text
    taken = taken_up(layout, store, session.id, recorded, settings_of(prompt.plan, agent))
    if taken.how == "retold":
        text = retold_prompt(layout, store, session.id, recorded, text)
    elif taken.follows is not None:
        before = store.one_turn(*taken.follows)
        text = _with_instructions(before.mode if before is not None else None, prompt.plan.frame.mode, text)
    return launch_of(
        prompt.plan,
        agent,
        prompt=text,
        cwd=session.cwd,
        session_id=session.id,
        turn=turn,
        agent_session=taken.conversation,
        fork=taken.fork,
        how=taken.how,
    )


def _with_instructions(before: TurnMode | None, now: TurnMode | None, prompt: str) -> str:
    """Return the prompt with changed instructions before it.

    codex 0.169.0 and claude 2.1.330 record instructions with a conversation and ignore others when they resume it.
    """
    if before is None or now is None or before.instructions == now.instructions:
        return prompt
    if now.instructions is None:
        return f"The additional instructions for this conversation no longer apply.\n\n{prompt}"
    changed = "New instructions for this conversation, in place of the earlier additional ones:"
    return f"{changed}\n{now.instructions}\n\n{prompt}"


def _with_conversation(layout: Layout, store: Store, session: Session, prompt: str) -> str:
    """Return the prompt with the conversation before it, which the agent cannot resume."""
    # A runner rarely needs them: nearly every turn names its conversation.
    from ..transcript.retelling import retold
    from ..transcript.session_steps import SessionSteps

    steps = SessionSteps(
        layout.session(session.id),
        agent_named(session.agent),
        lambda: (store.turns(session.id), store.prompts(session.id)),
        layout.indexes,
    )
    return retold(session.cwd, steps.every_step_once(), prompt)
