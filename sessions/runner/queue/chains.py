"""Start the sessions that waited for the end of another one, with its answer; record why the others wait.

Each process that serves the launch queue does this first (:mod:`.pump`), so no front end has to stay open.  The answer
is read outside the transaction that starts the session; that transaction checks that nothing changed since.
"""

from contextlib import closing, suppress

from agentdash.sessions.agents.planned import launch_of
from agentdash.sessions.agents.registry import agent_named, takes_prompts
from agentdash.sessions.model.errors import AgentdashError, RefusalError
from agentdash.sessions.model.session import StepKind
from agentdash.sessions.rules.launch import plan_like
from agentdash.sessions.rules.prompts import chain
from agentdash.sessions.storage.files.session_record import write_identity
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.prompts.chains import Waiting
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.turn_output import output_in


def serve_chains(layout: Layout, store: Store) -> None:
    """Start every session whose predecessor is done; each is started by one of the processes that call this."""
    for waiting in store.chains.waiting():
        _serve(layout, store, waiting)


def _serve(layout: Layout, store: Store, found: Waiting) -> None:
    waiting: Waiting | None = found
    while waiting is not None:
        now = chain.standing(waiting.id, waiting.before)
        if not now.due:
            store.chains.note(waiting, now)
            return
        try:
            answer = last_message(layout, store, waiting.before.id)
            if release(layout, store, waiting, chain.NO_ANSWER if answer is None else answer):
                return
        except RefusalError as error:
            store.chains.note(waiting, chain.refused(error.fact))
            return
        except (OSError, AgentdashError) as error:
            # One session that cannot start must not hold up the others.
            store.chains.note(waiting, chain.unreadable(waiting.id, waiting.before, str(error)))
            return
        waiting = store.chains.one(waiting.id)  # it or its predecessor changed meanwhile


def release(layout: Layout, store: Store, waiting: Waiting, answer: str | None) -> bool:
    """Make a session that waits an ordinary queued one, with the answer in its prompt; False if it changed meanwhile.

    Its settings are those of its request, with the changes of the model and the mode since.

    Raises:
        RefusalError: its lead may not start it now.
        UsageError: the agent cannot take them: another version of agentdash recorded them.
    """
    recorded = store.launch(waiting.id, waiting.turn)
    if recorded is None:
        return False
    text, launch = waiting.task, recorded
    if takes_prompts(waiting.agent):
        text = chain.chained_prompt(waiting.task, waiting.before, answer, agent_named(waiting.agent).expands)
        launch = launch_of(
            plan_like(recorded), agent_named(waiting.agent), prompt=text, cwd=waiting.cwd, session_id=waiting.id,
            turn=waiting.turn, agent_session=None,
        )  # fmt: skip
    if not store.chains.start(waiting, text, launch, recorded):
        return False
    with suppress(OSError):
        write_identity(store, layout.session(waiting.id))
    return True


def last_message(layout: Layout, store: Store, session_id: str) -> str | None:
    """Return the last message of a session's newest turn, in full; of a plain command, its output.

    None if there is none.  A very long output lacks its beginning.

    Raises:
        StoreError, OSError: the turn's file cannot be read.
    """
    session, turn = store.session(session_id), store.newest_turn(session_id)
    if session is None:
        return None
    if not takes_prompts(session.agent):
        part = output_in(layout.session(session_id), store.turns(session_id, turn.n), turn.n).stdout
        data, left_out = part.last(chain.MOST_CHARACTERS // 2)
        text = data.decode("utf-8", "replace").rstrip()
        return (f"[the first {left_out:,} bytes are left out]\n{text}" if left_out else text) or None
    from agentdash.sessions.transcript.visible.last_answer import last_answer
    from agentdash.sessions.transcript.visible.visible_steps import source_of

    source = source_of(layout, store, session_id)
    if source is None:
        return None
    with closing(source.reader()) as steps:
        view, item = last_answer(steps.refresh)
        if item is None:
            return None
        step = view.whole(item)
    return step.text if step.turn == turn.n and step.kind is StepKind.MESSAGE and step.text.strip() else None
