"""Settle sessions whose runner is gone: adopt those whose agent lives, conclude the others, exactly once.

The lock is the liveness test.  The process that settles a session holds its lock exclusively, so that neither a
runner nor a second settler can act on the same turn.  Its writes are compare-and-set as well.

A program may lock a file that it can only read.  An agent that kills its runner and takes the lock would run on without
limits: no other runner could take the session over, and none could stop it.  Such a usurper is killed.
"""

import time
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import cache
from pathlib import Path

from agentdash.sessions.agents.parsing.parser import TurnParser
from agentdash.sessions.agents.parsing.usage_meter import Meter
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.errors import AgentdashError, UsageError
from agentdash.sessions.model.session import LIVE, Left, Session, Status, Turn, left_text
from agentdash.sessions.rules.compaction import judged
from agentdash.sessions.rules.costs.pricing import Pricing
from agentdash.sessions.rules.costs.reports import Reported
from agentdash.sessions.rules.launch import model_at_start
from agentdash.sessions.rules.prompts.delivery import TurnEvidence, evidence, fate
from agentdash.sessions.rules.status import EndFacts, at_the_end
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.runner.clock_steps import surplus_ms
from agentdash.sessions.runner.hooks.hooks import run_end_hook
from agentdash.sessions.runner.own_conversation import OwnConversation
from agentdash.sessions.runner.processes import process_ownership, processes, runner_lock
from agentdash.sessions.runner.processes.process_ownership import SessionProcesses
from agentdash.sessions.runner.processes.processes import Process
from agentdash.sessions.runner.queue.next_turn import builder
from agentdash.sessions.runner.queue.prompt_evidence import recover_steered, with_transcript
from agentdash.sessions.runner.queue.pump import pump
from agentdash.sessions.runner.runner_process import living_runners, poke, send_runner
from agentdash.sessions.storage.files.line_reader import FilePart, LineReader
from agentdash.sessions.storage.files.session_record import write_identity
from agentdash.sessions.storage.paths import SESSION_ID, Layout, SessionFolder
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.claim import Outcome, Owner, move_times
from agentdash.sessions.storage.turns.live_log import LiveLog
from agentdash.sessions.storage.turns.turn_log import TurnLog
from agentdash.sessions.storage.turns.turn_output import output_in, remove_output

QUEUE_PATIENCE_MS = 3000
"""A queued turn older than this has lost its runner, unless the runner's process lives."""

SLOW_START_MS = 60_000
"""A runner that lives and has not taken its session's lock by then hangs.  On a loaded machine, seconds are normal."""

MAX_LAUNCHES = 3
"""Runners started for one turn before the turn fails."""


def settle(layout: Layout, store: Store) -> None:
    """Check every open turn and give each dead one its outcome; then advance the queue."""
    turns, living = store.open_turns(), cache(living_runners)
    elsewhere = store.open_elsewhere(processes.host_name())
    for turn in turns:
        try:
            foreign = turn.session in elsewhere and turn.boot_id != processes.boot_id()
            if not foreign and not _needs_nothing(layout, turn):
                _reconcile(layout, store, turn, living)
        except (OSError, AgentdashError):
            continue  # one broken session must not hide the others from lists or block the queue
    with suppress(OSError):
        _tidy(layout, turns)
    _count_left(layout, store)
    _mind_warm_agents(layout, store)
    _free_taken(layout, store)
    with suppress(OSError, AgentdashError):
        store.answer_old(lambda session_id: runner_lock.is_held(layout.session(session_id).lock))
    with suppress(AgentdashError):
        _serve_queues(layout, store)
        pump(layout, store)


def _serve_queues(layout: Layout, store: Store) -> None:
    """Begin the turns of prompts that no runner began, because it was killed."""
    for session_id in store.queue.under_way():
        session, turn = store.session(session_id), store.newest_turn(session_id)
        if session is None or is_foreign(session, turn) or not session.status.ended or session.warm_since is not None:
            continue
        if not runner_lock.is_held(layout.session(session_id).lock):
            with suppress(UsageError):  # the session of an agent that is not known must not hold up the others
                recover_steered(store, session_id, turn.n)
    for session_id in store.queue.stalled():
        session, turn = store.session(session_id), store.newest_turn(session_id)
        if session is None or is_foreign(session, turn):
            continue
        if session.status is Status.LOST and survivors(layout, turn):
            store.queue.hold(session_id, f"processes of turn {turn.n} are still running")
        elif store.queue.advance(session_id, builder(layout, store)) is not None:
            with suppress(OSError):
                write_identity(store, layout.session(session_id))


def _count_left(layout: Layout, store: Store) -> None:
    """Recount the processes left by ended sessions that have no runner to count them."""
    for session in store.with_left():
        with suppress(OSError, AgentdashError):
            turn = store.newest_turn(session.id)
            if not is_foreign(session, turn) and not runner_lock.is_held(layout.session(session.id).lock):
                left = survivors(layout, turn)
                store.count_left(session.id, len(left), left_text(left))


def _mind_warm_agents(layout: Layout, store: Store) -> None:
    """Send runners to the live agents that wait for prompts and whose runners were killed."""
    for session in store.with_warm_agent():
        with suppress(OSError, AgentdashError):
            turn = store.newest_turn(session.id)
            free = turn.status.ended and not runner_lock.is_held(layout.session(session.id).lock)
            if free and not is_foreign(session, turn):
                send_runner(layout, session.id, turn.n, "warm", store.recipe(session.id).env)


def _free_taken(layout: Layout, store: Store) -> None:
    """Record what was said by hand in sessions whose front end was killed, and free them.

    A session stays taken while the agent's own interface lives on.
    """
    for session in store.taken():
        from agentdash.sessions.service.lifecycle.by_hand_turn import is_over, record_by_hand

        taken = session.taken_by
        if taken is None or (taken.host != processes.host_name() and taken.boot_id != processes.boot_id()):
            continue
        with suppress(OSError, AgentdashError):
            folder = layout.session(session.id)
            if not folder.path.is_dir():
                folder.create()  # it was removed; the lock of the front end went with it
            lock = runner_lock.hold(folder.lock)
            if lock is not None:
                with lock:
                    if is_over(taken):
                        record_by_hand(layout, store, session, taken)


def _tidy(layout: Layout, turns: list[Turn]) -> None:
    """Remove second names left by a runner that was killed between its last record and its end."""
    used = {layout.live_name(turn.session, turn.stream_number) for turn in turns}
    for path in layout.live.iterdir():
        session_id = path.name.split(".")[0]
        if path in used or SESSION_ID.fullmatch(session_id) is None:
            continue
        if not runner_lock.is_held(layout.session(session_id).lock):
            path.unlink(missing_ok=True)


def is_foreign(session: Session, turn: Turn) -> bool:
    """Return whether the session belongs to another machine, so that its locks and pids mean nothing here.

    The same boot is the same kernel, even if the machine was renamed or the runner was in a container.
    """
    return session.host != processes.host_name() and turn.boot_id != processes.boot_id()


def _needs_nothing(layout: Layout, turn: Turn) -> bool:
    """Return whether a runner has the turn, or it waits for a place; makes no query, as most open turns are such."""
    if turn.status is Status.QUEUED and not turn.launches:
        return True
    folder = layout.session(turn.session)
    return turn.boot_id == processes.boot_id() and runner_lock.is_held(folder.lock) and not runner_is_gone(folder)


def _reconcile(layout: Layout, store: Store, turn: Turn, living: Callable[[], Collection[Path]]) -> None:
    """Check one open turn; ``living`` returns the locks of the runners whose processes live."""
    folder = layout.session(turn.session)
    if runner_lock.is_held(folder.lock) and not end_usurpers(folder, turn):
        return  # a turn whose runner lives costs no query
    session = store.session(turn.session)
    if session is None or is_foreign(session, turn):
        return
    if turn.status is Status.QUEUED:
        if turn.launches:
            _send_again(layout, store, turn, living)
    elif folder.path.is_dir() or not _runner_lives(turn):
        _settle_turn(layout, store, turn, living)


def _runner_lives(turn: Turn) -> bool:
    """Return whether the turn's runner lives, for a session whose folder, and with it the lock, is gone.

    A runner that finds its folder gone ends its agent.
    """
    here = processes.is_here(turn.boot_id, turn.pid_ns)
    known = turn.runner_pid is not None and turn.runner_start is not None
    return here and known and processes.alive(turn.runner_pid or 0, turn.runner_start or 0)


def _send_again(layout: Layout, store: Store, turn: Turn, living: Callable[[], Collection[Path]]) -> None:
    """Start another runner for a queued turn whose first one never started."""
    age = store.launch_age_ms(turn.session, turn.n)
    if age is None or 0 <= age < QUEUE_PATIENCE_MS:
        return
    if 0 <= age < SLOW_START_MS and layout.session(turn.session).lock in living():
        return
    launches = store.begin_launch(turn.session, turn.n, QUEUE_PATIENCE_MS)
    if launches is None:
        return
    if launches >= MAX_LAUNCHES:
        reason = f"its runner did not start; see {layout.session(turn.session).runner_log}"
        if store.cancel_queued(turn.session, turn.n, Status.FAILED, reason, "no runner started"):
            run_end_hook(layout, store, turn.session, turn.n, Status.FAILED, reason)
        return
    send_runner(layout, turn.session, turn.n, "run", store.recipe(turn.session).env)


def _settle_turn(layout: Layout, store: Store, turn: Turn, living: Callable[[], Collection[Path]]) -> None:
    if agent_lives(turn) or _goes_on(store, turn):
        send_runner(layout, turn.session, turn.n, "adopt", store.recipe(turn.session).env)
        return
    folder = layout.session(turn.session)
    try:
        lock = runner_lock.hold(folder.lock)
    except FileNotFoundError:
        lock = None  # the folder is gone, so no process can hold its lock and the rows alone decide
    else:
        if lock is None:
            return  # another process settles it
    try:
        fresh = store.one_turn(turn.session, turn.n)
        if fresh is not None and fresh.status in LIVE and not agent_lives(fresh) and not _goes_on(store, fresh):
            _conclude(layout, store, fresh)
    finally:
        if lock is not None:
            lock.release()
    poke(folder.poke)
    if store.launch_age_ms(turn.session, turn.n) is not None:
        _send_again(layout, store, turn, living)


def agent_lives(turn: Turn) -> bool:
    """Return whether the turn's agent still runs, by identity or, if that was not recorded, by tag."""
    if not processes.is_here(turn.boot_id, turn.pid_ns):
        return False
    if turn.agent_pid is not None and turn.agent_start is not None:
        return processes.alive(turn.agent_pid, turn.agent_start)
    return processes.tagged_leader(turn.run_id) is not None


def _goes_on(store: Store, turn: Turn) -> bool:
    """Return whether the agent's launcher was killed and its program goes on; a runner has to end it first."""
    session = store.session(turn.session)
    if session is None or not processes.is_here(turn.boot_id, turn.pid_ns) or not agent_named(session.agent).prompted:
        return False
    return bool(process_ownership.group_members(turn.run_id, turn.agent_pid))


def _conclude(layout: Layout, store: Store, turn: Turn) -> None:
    """Conclude a turn; only its own file can show how it ended."""
    if processes.is_here(turn.boot_id, turn.pid_ns):
        surplus = surplus_ms(turn.started_at, turn.runner_start)
        if surplus:
            move_times(store.database, turn.session, turn.n, surplus)
    facts, steps = read_facts(layout, store, turn)
    known = _evidence(layout, store, turn, facts, steps)
    log = TurnLog(store, turn.session, turn.n, no_runner(turn))
    if turn.transport:
        recover_steered(store, turn.session, turn.n, facts.agent_session)
        store.asks.lose(turn.session, turn.stream_number)
    if fate(known).again and known.crashed and turn.launches < MAX_LAUNCHES:
        remove_output(layout, turn.session, turn.n)  # its files are empty
        if log.start_again():
            return
    session = store.session(turn.session)
    agent = agent_named(session.agent) if session else None
    verdict = at_the_end(
        EndFacts(
            facts=facts,
            succeeded=agent is not None and agent.succeeded(facts, None),
            # A turn that fails after a stop was requested was interrupted.
            stopped_by=turn.stop_by if facts.end != "completed" else None,
            runner_killed=True,
            rebooted=turn.boot_id != processes.boot_id(),
        )
    )
    launch = store.launch(turn.session, turn.n)
    verdict, compaction = judged(verdict, launch.compacts if launch is not None else None, facts)
    outcome = Outcome(
        status=verdict.status,
        reason=verdict.reason,
        rule=verdict.rule,
        left=survivors(layout, turn),
        prompt=fate(known),
        compaction=compaction,
        clears=agent is not None and launch is not None and agent.begins_conversation(launch.stdin or ""),
    )
    with suppress(OSError):
        layout.session(turn.session).reserve.unlink(missing_ok=True)
    ended = log.end(facts, outcome, steps, builder(layout, store))
    layout.live_name(turn.session, turn.stream_number).unlink(missing_ok=True)
    with suppress(OSError):
        write_identity(store, layout.session(turn.session))
    if ended:
        run_end_hook(layout, store, turn.session, turn.n, outcome.status, outcome.reason)


def _evidence(layout: Layout, store: Store, turn: Turn, facts: Facts, steps: int) -> TurnEvidence:
    """Return the facts about the turn's prompt; the turn's file is made just before the agent is started."""
    folder = layout.session(turn.session)
    started = folder.output(turn.stream_number).exists() or not folder.path.is_dir()
    session = store.session(turn.session)
    prompt = LiveLog(store.database, turn.session).prompt(turn.n) if turn.transport else None
    own = bool(turn.transport) and prompt is None  # the agent began the turn by itself
    known = evidence(
        prompt.state if prompt is not None else None,
        started=started or own,
        printed=steps > 0 or own or (session is not None and not agent_named(session.agent).prompted),
        proper_end=facts.end is not None,
        crashed=turn.stop_requested_at is None,
        stopped=turn.stop_requested_at is not None,
    )
    return with_transcript(known, store, turn.session, turn.n, facts.agent_session)


def read_facts(layout: Layout, store: Store, turn: Turn) -> tuple[Facts, int]:
    """Read the turn's output from its beginning; return its facts and its number of steps."""
    session = store.session(turn.session)
    if session is None:
        return Facts(), 0
    output = output_in(layout.session(turn.session), store.turns(turn.session, turn.n), turn.n)
    agent, launch = agent_named(session.agent), store.launch(turn.session, turn.n)
    parser, began = agent.parser(turn.n, turn.transport), turn.started_at or 0
    env = store.recipe(turn.session).env
    # The session may already have the model of the next turn.
    model = model_at_start(launch) or session.model
    parser.facts.reported = Reported(Pricing(launch.prices if launch is not None else {}), model)
    parser.facts.thread_before = store.thread_total_before(turn.session, turn.n)
    if launch is not None and launch.compacts is not None:
        parser.facts.context_before = launch.compacts.tokens_before
    if launch is not None and output.stream == turn.n:
        parser.facts.total_before = agent.total_before(launch, env, began)
    new_meter = agent.use.final_meter if agent.use is not None else None
    meter = new_meter(launch, env, began) if launch is not None and new_meter is not None else None
    facts, steps = parsed_facts(output.stdout, parser, meter)
    OwnConversation(store, agent, turn.session, turn.n, launch).check(facts)
    if meter is not None:
        meter.take_rest(facts)
    agent.count_broken_off(facts, env, began)
    if facts.agent_session is None:
        # Behind a mark, the conversation of the turn before is another one.
        facts.agent_session = None if launch is not None and launch.how else session.agent_session
    return facts, steps


def no_runner(turn: Turn) -> Owner:
    """Return the owner of a turn whose runner is gone: what is recorded now is not recorded by that runner."""
    return Owner(pid=0, start=0, boot_id=turn.boot_id or "", pid_ns=turn.pid_ns or "")


def parsed_facts(output: FilePart, parser: TurnParser, meter: Meter | None = None) -> tuple[Facts, int]:
    """Parse a turn's output of any size into its facts and its number of steps; skips the middle of a very long one.

    ``meter`` gets the lines too.
    """
    steps = 0
    with LineReader(output.path, output.begin, end=output.end) as reader:
        for line in reader.most_lines():
            if meter is not None:
                meter.feed(line)
            steps = max([steps, *(step.index + 1 for step in parser.feed(line))])
    return parser.facts, steps


def survivors(layout: Layout, turn: Turn) -> tuple[Left, ...]:
    """Return the session's living processes that no runner supervises; ``turn`` is its newest turn."""
    living = SessionProcesses.of_turn(layout.session(turn.session), turn).find().values()
    return tuple(Left(pid=p.pid, command=p.command, reason="no runner supervises it") for p in living)


SURE_SECONDS = 0.3
"""A command of agentdash inside a session that concludes a turn holds the lock for a shorter time."""


def runner_is_gone(folder: SessionFolder) -> bool:
    """Return whether the runner that signed the lock is dead.

    False for a runner that is in another pid namespace, or that could not sign (a full disk).
    """
    words = (runner_lock.signature(folder.lock) or "").split()
    if len(words) < 4 or not words[0].isdecimal() or not processes.is_here(words[2], words[3]):
        return False
    process = processes.by_pid(int(words[0]), commands=False)
    return process is None or process.zombie or str(process.start) != words[1]


def end_usurpers(folder: SessionFolder, turn: Turn) -> bool:
    """Kill the processes of a session that hold its lock in the place of a dead runner; return whether there were any.

    A holder that is not one of the session's processes, such as the command that concludes its turn, is left alone.
    """
    found = _usurpers(folder, turn)
    if not found:
        return False
    time.sleep(SURE_SECONDS)
    still = _usurpers(folder, turn)
    ended = [one for key, one in found.items() if key in still and processes.send_kill(one)]
    with suppress(OSError), folder.runner_log.open("a") as log:
        log.writelines(f"process {one.pid} was killed: it held the lock of the runner\n" for one in ended)
    return bool(ended)


def _usurpers(folder: SessionFolder, turn: Turn) -> dict[tuple[int, int], Process]:
    if not runner_is_gone(folder):
        return {}
    own = SessionProcesses.of_turn(folder, turn).find(patient=False)
    return {one.key: one for one in processes.lock_holders(folder.lock) if one.key in own}
