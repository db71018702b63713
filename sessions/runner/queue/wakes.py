"""Wake the leads whose workers have ended: one prompt for all ends that were gathered.

Each process that serves the launch queue does this first (:mod:`.pump`).  The first one starts a small process that
waits for the end of the gathering; if that is killed, the next process that serves the queue writes the prompt.
"""

from contextlib import suppress

from msgspec import structs

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.errors import AgentdashError
from agentdash.sessions.rules.digest.collect import counts, digest
from agentdash.sessions.rules.launch import plan_like
from agentdash.sessions.runner.processes import processes
from agentdash.sessions.runner.queue.next_turn import builder
from agentdash.sessions.runner.queue.waking import decision, wake_text
from agentdash.sessions.runner.runner_process import send_waiter
from agentdash.sessions.storage.files.session_record import write_identity
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.turn_output import outputs_of
from agentdash.sessions.storage.wakes import GATHER_MS, Family, Gather, WorkerEnd
from agentdash.sessions.transcript.visible.visible_steps import source_of

STDERR_BYTES = 64 * 1024
"""The end of a turn's stderr, which names edits that some agents have no event for."""

_MOST_READ = 40
"""Workers whose steps are read for the facts of one prompt."""


def serve_wakes(layout: Layout, store: Store) -> None:
    """Write the prompts that are due; have a process wait for the others."""
    for gather in store.wakes.gathers():
        # The ends of one family must not hold up the others.
        with suppress(OSError, AgentdashError):
            _serve(layout, store, gather)


def _serve(layout: Layout, store: Store, gather: Gather) -> None:
    family = store.wakes.family(gather.lead)
    while family is not None and family.lead.host == processes.host_name():
        if not decision(family, takes_prompts=agent_named(family.lead.agent).conversations is not None).wakes:
            if store.wakes.drop(family):
                return
        elif 0 < gather.due_at - now_ms() <= GATHER_MS:  # the clock may go back
            if store.wakes.begin_wait(gather.lead):
                send_waiter(layout, gather.lead, gather.due_at)
            return
        elif _wake(layout, store, family):
            return
        if store.wakes.gather(gather.lead) is None:
            return  # another process served it
        family = store.wakes.family(gather.lead)


def _wake(layout: Layout, store: Store, family: Family) -> bool:
    lead = family.lead
    launch = store.launch(lead.id, lead.turn)
    if launch is None:  # the rows of the lead are damaged, and the queue is served nevertheless
        return store.wakes.drop(family)
    did = {end.session: facts(layout, store, end) for end in family.ends[:_MOST_READ]}
    text = wake_text(family.ends, did, store.families.spoken_to(lead.id, None))
    text = agent_named(lead.agent).expands.quoted(text)
    if not store.wakes.wake(family, text, plan_like(launch), builder(layout, store)):
        return False
    with suppress(OSError):
        write_identity(store, layout.session(lead.id))
    return True


def facts(layout: Layout, store: Store, end: WorkerEnd) -> tuple[str, ...]:
    """Return what a worker did in its turn, from its own steps; empty if they cannot be read."""
    with suppress(OSError, AgentdashError):
        if (source := source_of(layout, store, end.session)) is not None:
            did = digest(source.steps((end.turn,)), end.cwd)
            edits_failed = did.edits_failed + _unnamed_edits(layout, store, end)
            return counts(structs.replace(did, edits_failed=edits_failed))
    return ()


def _unnamed_edits(layout: Layout, store: Store, end: WorkerEnd) -> int:
    """Return the number of failed edits that only the stderr of a turn names."""
    turns = store.turns(end.session)
    outputs = zip(turns, outputs_of(layout.session(end.session), turns), strict=True)
    stderr = next((output.stderr for turn, output in outputs if turn.n == end.turn), None)
    complaints = agent_named(end.agent).complaints
    if stderr is None or complaints is None or not stderr.path.exists():
        return 0
    return complaints.failed_edits(stderr.last(STDERR_BYTES)[0].decode("utf-8", "replace"))
