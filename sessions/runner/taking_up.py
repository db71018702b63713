"""The conversation that the next turn of a session with marks takes up: resumed, forked, retold, or new."""

import contextlib
import math

from msgspec import Struct, structs

from agentdash.sessions.agents.base import Agent, AgentSettings
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.compaction import SUMMARY_EVENT
from agentdash.sessions.model.errors import StoreError
from agentdash.sessions.rules.conversation.continuation import Recorded
from agentdash.sessions.rules.conversation.history import Part, Place
from agentdash.sessions.rules.conversation.marks import MarkKind
from agentdash.sessions.rules.launch import Fork, Way
from agentdash.sessions.rules.prompts.delivery import PromptState
from agentdash.sessions.storage.files.line_reader import LineReader
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.queries import Queries
from agentdash.sessions.storage.turns.turn_output import output_in
from agentdash.sessions.transcript.visible.retelling import retold, retold_compacted
from agentdash.sessions.transcript.visible.visible_steps import Source, VisibleConversation, source_of


class TakenUp(Struct, frozen=True, kw_only=True):
    """The way in which a turn takes up its conversation."""

    how: Way = ""
    conversation: str | None = None
    """The agent's conversation that is resumed or forked; None for a new one."""
    fork: Fork | None = None
    follows: tuple[str, int] | None = None
    """The session and the number of the turn that it follows, for a conversation that is resumed or forked."""

    def with_prompt(self, agent: Agent, prompt: str) -> "TakenUp":
        """Return the way for a prompt: the agent's command that begins a conversation is one only without other words.

        Nothing has to be retold to it.
        """
        return TakenUp(how="new") if self.how == "retold" and agent.begins_conversation(prompt) else self


def taken_up(layout: Layout, queries: Queries, session_id: str, recorded: Recorded, settings: AgentSettings) -> TakenUp:
    """Return how the next turn takes up the conversation.

    Args:
        recorded: the records of its conversation, with marks.
        settings: the agent's section with which the turn will be started.
    """
    going_on = recorded.continuation()
    parts = recorded.history.parts()
    said = (part for part in reversed(parts) if part.turn not in recorded.unstarted)
    newest = next((part.turn or _of_mark(part) for part in said), None)
    if going_on.fork is not None and going_on.conversation is not None:
        place, origin = going_on.fork, going_on.origin or session_id
        fork = _fork(layout, queries, origin, place, going_on.conversation, settings, is_own=origin == session_id)
        if fork is not None:
            before = (origin, place.turn)
            return TakenUp(how="native", conversation=going_on.conversation, fork=fork, follows=before)
    elif going_on.conversation is not None:
        how: Way = "" if going_on.conversation == recorded.newest else "native"
        follows = (session_id, newest) if newest is not None else None
        return TakenUp(how=how, conversation=going_on.conversation, follows=follows)
    return TakenUp(how="retold" if parts else "new")


def _of_mark(part: Part) -> int | None:
    """Return the turn that compacted or cleared the conversation, if the part is what it made."""
    own = part.mark is not None and part.mark.kind in (MarkKind.COMPACT, MarkKind.CLEAR)
    return part.mark.turn if part.mark is not None and own else None


def _fork(
    layout: Layout,
    queries: Queries,
    session_id: str,
    place: Place,
    conversation: str,
    settings: AgentSettings,
    *,
    is_own: bool,
) -> Fork | None:
    """Return the place of a session's conversation as the agent can fork it; None if it cannot fork it there.

    An id that the agent's output names is better than the end, to which another turn may be added.  A session's own
    conversation is forked only if it goes on behind the place.
    """
    source = source_of(layout, queries, session_id)
    if source is None:
        return None
    agent = agent_named(source.session.agent)
    if _is_compacted_behind(source, place, conversation):
        return None
    at = _id_in(source, agent, place, settings)
    if at is None:
        goes_on = any(turn.n > place.turn and turn.agent_session == conversation for turn in source.turns)
        if is_own or goes_on or place.step is not None or agent.forks is None:
            return None
    return Fork(at=at, session=session_id, turn=place.turn)


def _is_compacted_behind(source: Source, place: Place, conversation: str) -> bool:
    """Return whether the agent compacted the conversation behind a place, by itself or in its own interface.

    claude 2.1.197 and 2.1.330 exit with 0 from a fork back over it, and their model gets no requests
    (docs/protocols/claude.md, "Forks and compactions").
    """
    later = [turn.n for turn in source.turns if turn.n >= place.turn and turn.agent_session == conversation]
    last = math.inf if place.step is None else place.step
    return any(
        step.event == SUMMARY_EVENT and (step.turn > place.turn or step.index > last) for step in source.steps(later)
    )


def _id_in(source: Source, agent: Agent, place: Place, settings: AgentSettings) -> str | None:
    """Return the agent's own id of a place, from the output of the turn."""
    turn = next((turn for turn in source.turns if turn.n == place.turn), None)
    if turn is None or agent.forks is None:
        return None
    part = output_in(source.folder, source.turns, place.turn).stdout
    through = place.step - 1 if place.step is not None else None
    try:
        with LineReader(part.path, part.begin, end=part.end) as reader:
            return agent.forks.point(reader.all_lines(), through, turn.transport, settings)
    except OSError:
        return None


def retold_prompt(layout: Layout, queries: Queries, session_id: str, prompt: str) -> str:
    """Return a prompt with the visible conversation before it.

    If a summary stands for its beginning, the user's requests before that are in it whole.

    Raises:
        StoreError: a file cannot be read.
    """
    source = source_of(layout, queries, session_id)
    if source is None:
        return prompt
    # A prompt that its turn never gave the agent, and that is sent again now, is told once.
    told = [one for one in source.prompts if one.state != PromptState.UNSENT or one.text != prompt]
    source = structs.replace(source, prompts=told)
    session = source.session
    with contextlib.closing(source.reader()) as reader:
        try:
            read = VisibleConversation(source, lambda turn: reader.every_step((turn,)))
            visible = read.retold()
        except OSError as error:
            raise StoreError(f"{error.filename}: {error.strerror or error}.") from None
    steps = source.visible(visible.parts)
    expands = agent_named(session.agent).expands
    if visible.summary is None:
        return retold(session.cwd, steps, prompt, expands)
    return retold_compacted(
        session.cwd, visible.requests, visible.summary, steps, prompt, by=session.agent, expands=expands
    )
