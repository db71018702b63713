"""The next turn of a session: a queued prompt, and the start that is made from it when the turn before has ended."""

from msgspec import structs

from agentdash.sessions.agents.base import Agent
from agentdash.sessions.agents.planned import compaction_text, compaction_way, launch_of, settings_of
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.compaction import Compaction
from agentdash.sessions.model.errors import UnknownSessionError
from agentdash.sessions.model.session import Session, short_id
from agentdash.sessions.model.turn_mode import TurnMode
from agentdash.sessions.rules.conversation.continuation import Recorded
from agentdash.sessions.rules.launch import Fork, Launch, TurnPlan, Way
from agentdash.sessions.rules.prompts.images import IMAGE
from agentdash.sessions.storage.paths import Layout, SessionFolder
from agentdash.sessions.storage.prompts.queued_prompt import Build, QueuedPrompt
from agentdash.sessions.storage.store import Store


def builder(layout: Layout, store: Store) -> Build:
    """Return the function by which the store makes a turn of a prompt."""

    def build(prompt: QueuedPrompt, turn: int, recorded: Recorded) -> Launch:
        session = store.session(prompt.session)
        if session is None:
            raise UnknownSessionError(f"Session {short_id(prompt.session)} was deleted.")
        agent, plan, conversation = agent_named(session.agent), prompt.plan, recorded.agent_session
        how: Way = ""
        fork: Fork | None = None
        follows: tuple[str, int] | None = (session.id, session.turn)
        if recorded.marks:
            from agentdash.sessions.runner.taking_up import taken_up  # few sessions have marks

            settings = settings_of(plan.settings, agent)
            taken = taken_up(layout, store, session.id, recorded, settings).with_prompt(agent, prompt.text)
            how, conversation, fork, follows = taken.how, taken.conversation, taken.fork, taken.follows
        asked = _asked(agent, plan, session, resumes=conversation is not None)
        text = prompt.text if asked is None else compaction_text(agent, asked)
        is_new = conversation is None and agent.conversations is not None and not agent.begins_conversation(text)
        if how == "retold" or (is_new and not recorded.marks):
            from agentdash.sessions.runner.taking_up import retold_prompt

            text = retold_prompt(layout, store, session.id, text)
        elif asked is None and follows is not None:
            before = store.one_turn(*follows)
            text = with_instructions(before.mode if before is not None else None, plan.terms.mode, text)
        launch = launch_of(
            plan, agent, prompt=text, cwd=session.cwd, session_id=session.id, turn=turn, agent_session=conversation,
            fork=fork, how=how,
        )  # fmt: skip
        return with_images(structs.replace(launch, compacts=asked), agent, layout.session(session.id))

    return build


def with_images(launch: Launch, agent: Agent, folder: SessionFolder) -> Launch:
    """Return a start whose process of one turn is given the images of its prompt."""
    add, text = agent.images.arguments if agent.images is not None else None, launch.stdin or ""
    if add is None or IMAGE not in text:
        return launch
    from agentdash.sessions.storage.files.images import pictures_in  # few prompts have images

    paths = [picture.path for picture in pictures_in(folder, text)]
    if not paths:
        return launch
    plain = add(launch.plain_argv, paths) if launch.plain_argv else ()
    return structs.replace(launch, argv=launch.argv if launch.transport else add(launch.argv, paths), plain_argv=plain)


def _asked(agent: Agent, plan: TurnPlan, session: Session, *, resumes: bool) -> Compaction | None:
    """Return the compaction for which a turn is planned, with its way; None for an ordinary turn.

    Args:
        resumes: the turn resumes a conversation of the agent.
    """
    asked = plan.terms.compacts
    if asked is None:
        return None
    probe = launch_of(
        plan, agent, prompt=asked.prompt, cwd=session.cwd, session_id=session.id, turn=session.turn + 1,
        agent_session=session.agent_session,
    )  # fmt: skip
    way = compaction_way(agent, probe, asked, resumes=resumes)
    return structs.replace(asked, by=way, tokens_before=session.context_tokens)


def with_instructions(before: TurnMode | None, now: TurnMode | None, prompt: str) -> str:
    """Return the prompt with changed instructions before it.

    codex 0.169.0 and claude 2.1.330 record instructions with a conversation and ignore others when they resume it.
    """
    if before is None or now is None or before.instructions == now.instructions:
        return prompt
    if now.instructions is None:
        return f"The additional instructions for this conversation no longer apply.\n\n{prompt}"
    changed = "New instructions for this conversation, in place of the earlier additional ones:"
    return f"{changed}\n{now.instructions}\n\n{prompt}"
