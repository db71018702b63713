"""Correct the turns whose final event is in their file and was not read: a turn that is done was recorded as failed."""

from collections.abc import Iterator
from contextlib import suppress

from ...agents.registry import agent_named
from ...errors import AgentdashError
from ...model import Turn
from ...rules.status import NO_PROOF, EndFacts, at_the_end
from ...storage.files.session_record import write_identity
from ...storage.paths import Layout
from ...storage.store import Store
from ...storage.turns.claim import Owner
from ...storage.turns.turn_log import TurnLog
from .reconcile import read_facts


def correct_ends(layout: Layout, store: Store) -> Iterator[str]:
    """Read the ends of all such turns again; yield the id of the session of each that is corrected."""
    for turn in store.ended_by(NO_PROOF):
        with suppress(AgentdashError, OSError):  # one broken session must not keep the others from being corrected
            if _correct(layout, store, turn):
                write_identity(store, layout.session(turn.session))
                yield turn.session


def _correct(layout: Layout, store: Store, turn: Turn) -> bool:
    session = store.session(turn.session)
    facts, steps = read_facts(layout, store, turn)
    if session is None or facts.end is None:
        return False
    good = agent_named(session.agent).succeeded(facts, turn.exit_code)
    verdict = at_the_end(EndFacts(facts=facts, succeeded=good, exit_code=turn.exit_code))
    owner = Owner(pid=0, start=0, boot_id=turn.boot_id or "", pid_ns=turn.pid_ns or "")
    return TurnLog(store, turn.session, turn.n, owner).correct(facts, verdict, steps)
