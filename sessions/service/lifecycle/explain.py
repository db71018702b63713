"""The facts behind a session's status and its place in a family, and the rule that derived the status from them."""

import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, structs

from agentdash.sessions.agents.lost_conversation import lost_conversation
from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.facts import Fact
from agentdash.sessions.model.membership import Led, Lifecycle
from agentdash.sessions.model.session import ENDED, Prompt, Session, Status, Turn, TurnMode, short_id
from agentdash.sessions.rules.attention import attention
from agentdash.sessions.rules.compaction import should_compact
from agentdash.sessions.rules.conversation.shown import Shown, shown
from agentdash.sessions.rules.conversation.words import mark_words
from agentdash.sessions.rules.launch import Launch
from agentdash.sessions.rules.limits.admission import FamilyLimits
from agentdash.sessions.rules.limits.family_account import budget_words
from agentdash.sessions.rules.limits.period_budgets import PeriodBudget, state_words
from agentdash.sessions.rules.prompts.delivery import queue_state
from agentdash.sessions.rules.status import MEANINGS
from agentdash.sessions.runner.hooks.hook_process import is_hook_line
from agentdash.sessions.runner.processes import processes, runner_lock
from agentdash.sessions.runner.queue.waking import decision
from agentdash.sessions.service.lifecycle.recovery.reconcile import agent_lives, runner_is_gone, survivors
from agentdash.sessions.storage.families.family_budgets import FamilyState
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.queries import Queries
from agentdash.sessions.storage.turns.turn_output import output_of
from agentdash.sessions.storage.wakes import Wakes
from agentdash.sessions.text.sanitize import one_line
from agentdash.sessions.text.unhidden import unhidden_line
from agentdash.sessions.text.units import age, count, share, tokens

_LOG_BYTES = 4096
_NO_RUNNERS = "held by a process that is not the runner"

_MOST_MARKS = 5
"""Marks that are listed, the newest; `agentdash rewind ID --list` lists all."""

_TAKEN_UP = {
    "native": "a conversation of the agent, behind a mark",
    "retold": "the visible conversation, which the agent reads as text",
    "new": "a new conversation",
}
"""The conversation of a turn by :attr:`...rules.launch.Launch.how`."""


class Explanation(Struct, frozen=True, kw_only=True):
    """The reason for a session's status."""

    session: str
    status: Status
    reason: str | None
    rule: str
    facts: tuple[Fact, ...]


def explain(
    layout: Layout,
    queries: Queries,
    session: Session,
    prompts: Sequence[Prompt],
    limits: Callable[[Launch | None], FamilyLimits],
) -> Explanation:
    """Collect the facts about a session and its newest turn; reads only.

    ``limits`` returns the limits of families in the settings; if these cannot be used, those of a start.
    """
    turns, launch = queries.turns(session.id), queries.launch(session.id, session.turn)
    turn, marks, periods = turns[-1] if turns else None, queries.marks.of_session(session.id), queries.period_budgets
    holding = periods.holding(session.id, session.turn) if session.status is Status.QUEUED else None
    folder = layout.session(session.id)
    locked = runner_lock.is_held(folder.lock)
    held = locked and not runner_is_gone(folder)
    way_out = f"; release it: agentdash queue {session.short_id} release" if session.held else ""
    elsewhere = "" if session.host == processes.host_name() else " (not this one)"
    facts = [
        Fact("runner's lock", "held" if held else _NO_RUNNERS if locked else "free", str(folder.lock)),
        Fact("host", f"{session.host}{elsewhere}", "sessions.host"),
        _attention_fact(session),
        Fact("queue", f"{queue_state(session)}{way_out}", "queue, sessions.held"),
        *family_facts(queries, session),
    ]
    if session.after is not None:
        facts.append(Fact("waits for", short_id(session.after), "sessions.after"))
    elif session.followed:
        facts.append(Fact("started after", short_id(session.followed), "sessions.followed"))
    facts += _mark_facts(shown(range(1, session.turn + 1), marks)) if marks else []
    facts += [_budget_fact(one, session) for one in queries.family_budgets.states(session.id, limits(launch))]
    facts += [Fact(one.budget.name, state_words(one), one.budget.key) for one in periods.of_session(session.id)]
    if session.taken_by is not None:
        facts.append(Fact("by hand", f"{session.taken_by.holder} has the agent's own interface", "sessions.taken_by"))
    if lost_conversation(session):
        way = f"{session.agent} does not find it; read it as text: agentdash continue {session.short_id}"
        facts.append(Fact("conversation", way, "turns.error, by the adapter"))
    facts += [_context_fact(session)] if session.context_tokens is not None else []
    if not folder.path.is_dir():
        facts.append(Fact("folder", "is gone", str(folder.path)))
    if turn is not None:
        log = folder.runner_log
        facts += [*_turn_facts(turn), *_launch_facts(turn, launch, log), *_requested(queries, turn, prompts)]
        facts.append(Fact("live agent", _live(session, turn), "turns.launch, sessions.warm_since"))
        facts += _process_facts(layout, session, turn, held)
        facts += [_file_fact(layout, session, turn), _log_fact(log)]
    rule = _rule(session, turn, held, holding)
    return Explanation(session=session.id, status=session.status, reason=session.reason, rule=rule, facts=tuple(facts))


def _rule(session: Session, turn: Turn | None, held: bool, holding: PeriodBudget | None) -> str:
    """Return the rule that was applied when the turn ended; before its end, the meaning of its status."""
    if turn is not None and turn.status.ended and turn.rule is not None:
        return turn.rule
    if session.status.live and not held:
        return "its runner is gone and its end is not recorded yet; `agentdash ls` records it"
    if session.after is not None and session.blocked:
        return "it waits for another session, which did not end well: it starts by a decision of the user"
    if session.after is not None:
        return "it starts when the session that it waits for is done and has no prompts left to send"
    if turn is not None and turn.status is Status.QUEUED and turn.launches == 0:
        room = f"{holding.name} has no room for it; it starts when there is room and a free slot" if holding else ""
        return f"queued: {room or 'all `queue.max_running` slots are in use'}"
    return MEANINGS[session.status]


def _turn_facts(turn: Turn) -> list[Fact]:
    exit_code = "unknown" if turn.exit_code is None else str(turn.exit_code)
    at = turn.stop_requested_at
    stopped = "no" if at is None else f"by {turn.stop_by}, {max(0, now_ms() - at) // 1000} s ago"
    return [
        Fact("turn", str(turn.n), "turns.n"),
        Fact("command", shlex.join(turn.argv), "turns.launch"),
        Fact("final event", turn.end or "none", "turns.end, by the adapter"),
        Fact("exit code", turn.signal or exit_code, "turns.exit_code, turns.signal, by wait4"),
        Fact("error", turn.error or "none", "turns.error, by the adapter"),
        Fact("stop requested", stopped, "turns.stop_requested_at, turns.stop_by"),
        Fact("runners started", str(turn.launches), "turns.launches"),
        Fact("receipt", turn.receipt.summary() if turn.receipt else "none", "turns.receipt"),
        Fact("unknown events", str(turn.unknown), "turns.unknown"),
        Fact("unreadable fields", counted(turn.unreadable) or "none", "turns.unreadable"),
    ]


def counted(unreadable: Mapping[str, int]) -> str:
    """List the fields that could not be read, each with its count if above one."""
    return ", ".join(name if number == 1 else f"{name} x{number}" for name, number in unreadable.items())


def _requested(queries: Queries, turn: Turn, prompts: Sequence[Prompt]) -> Iterator[Fact]:
    """Yield the prompts of a turn, the asks of its agent, and the changes of settings in it."""
    for prompt in (one for one in prompts if one.turn == turn.n):
        steered = prompt.steered is not None
        yield Fact(f"{'steered ' * steered}prompt", prompt.state, f"{'queue' if steered else 'prompts'}.state")
    for asked in (one for one in queries.asks.of_session(turn.session) if one.turn == turn.n):
        verdict = f" ({asked.answer.verdict} by {asked.answered_by})" if asked.answer is not None else ""
        verdict += f" (neither a rule nor a lead can allow it: {asked.ask.for_user})" if asked.ask.for_user else ""
        yield Fact(f"ask {asked.id}", f"{unhidden_line(asked.ask.title)}: {asked.state}{verdict}", "asks")
    for changed in (one for one in queries.adjustments.of_session(turn.session) if one.turn == turn.n):
        ago = max(0, now_ms() - changed.asked_at) // 1000
        what = f"{one_line(changed.value)}, {one_line(changed.effect)} (by {changed.asked_by}, {ago} s ago)"
        yield Fact(f"changed {changed.what}", what, "adjustments")


def _mark_facts(marked: Shown) -> list[Fact]:
    by_id = {mark.id: mark for mark in marked.marks}
    return [
        Fact(
            f"mark {mark.id}",
            mark_words(mark, undone=by_id.get(mark.undoes or 0), turns=marked.replaced.get(mark.id, 0)),
            "marks",
        )
        for mark in marked.marks[-_MOST_MARKS:]
    ]


def _live(session: Session, turn: Turn) -> str:
    if not turn.transport:
        return "no: a process for each turn"
    if turn.by_hand:
        return "no: by hand, in the agent's own interface"
    if session.warm_since is None:
        return f"speaks {turn.transport}, stream {turn.stream_number}"
    return f"speaks {turn.transport}, stream {turn.stream_number}, waits for prompts"


def _process_facts(layout: Layout, session: Session, turn: Turn, held: bool) -> list[Fact]:
    if turn.boot_id is not None and turn.boot_id != processes.boot_id():
        return [Fact("boot", "the machine has been rebooted since then", "turns.boot_id")]
    facts = []
    if turn.runner_pid is not None and turn.runner_start is not None:
        lives = "lives" if processes.alive(turn.runner_pid, turn.runner_start) else "is gone"
        facts.append(Fact("runner", f"pid {turn.runner_pid} {lives}", "turns.runner_pid, turns.runner_start"))
    if turn.agent_pid is not None:
        lives = "lives" if agent_lives(turn) else "is gone"
        facts.append(Fact("agent", f"pid {turn.agent_pid} {lives}", "turns.agent_pid, turns.agent_start"))
        facts += _environment_facts(turn, os.environ)
    if turn.status in ENDED and session.warm_since is None:
        left = len(survivors(layout, turn))
        who = "the runner" if held else "no runner"
        facts.append(Fact("processes left", f"{left}{f', watched by {who}' if left else ''}", "a scan just now"))
    return facts


_OF_AGENTS = re.compile(
    r"PATH|HOME|LANG|VIRTUAL_ENV|(HTTPS?|ALL|NO)_PROXY|.*_(API_KEY|TOKEN|BASE_URL)"
    r"|(ANTHROPIC|OPENAI|CODEX|CLAUDE|GEMINI|GOOGLE|AWS|AZURE)_.+",
    re.IGNORECASE,
)
"""The names of variables on which sign-in, model, network or programs of an agent depend."""

_MOST_VARIABLES = 8


def _environment_facts(turn: Turn, now: Mapping[str, str]) -> list[Fact]:
    """Return the age of the environment that the agent's process has, and the names that differ from ours, no values.

    It is that of the front end, a dashboard or a command, that sent the prompt for which the process was started.
    """
    if turn.agent_pid is None or turn.agent_start is None or not agent_lives(turn):
        return []
    then = processes.environment(turn.agent_pid)
    if not then:
        return []
    began = age(round(1000 * processes.since_start(turn.agent_start)))
    names = [one_line(name, 40) for name in differing(then, now)]
    shown = ", ".join(names[:_MOST_VARIABLES]) + (
        f" and {len(names) - _MOST_VARIABLES} more" * (len(names) > _MOST_VARIABLES)
    )
    differs = f"not as here now: {shown}; a new process gets those of the front end that starts it" if names else ""
    text = f"of the front end that started the process {began} ago; {differs or 'as here now'}"
    return [Fact("environment", text, "the process, just now")]


def differing(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return the names of the variables of agents that are set now and have another value, or none, in a process."""
    return sorted(name for name in now if _OF_AGENTS.fullmatch(name) and then.get(name) != now[name])


def _file_fact(layout: Layout, session: Session, turn: Turn) -> Fact:
    part = output_of(layout.session(session.id), turn).stdout
    try:
        size = f"{max(0, part.upto(part.path.stat().st_size) - part.begin)} bytes"
    except OSError as error:
        size = error.strerror or str(error)
    begin = f" from byte {part.begin}" if part.begin else ""
    return Fact("turn file", size + begin, str(part.path))


def _launch_facts(turn: Turn, launch: Launch | None, log: Path) -> list[Fact]:
    """The settings and the limits of the turn, and the thresholds from which the runner considers it stuck."""
    limits = {} if launch is None else {k: v for k, v in structs.asdict(launch.limits).items() if v is not None}
    thresholds = {} if launch is None else structs.asdict(launch.attention)
    facts = [_mode_fact(turn.mode)] if turn.mode is not None else []
    facts += [Fact("takes up", _TAKEN_UP[launch.how], "turns.launch")] if launch is not None and launch.how else []
    return [
        *facts,
        Fact("limits", ", ".join(f"{name}={value}" for name, value in limits.items()) or "none", "turns.launch"),
        Fact("stuck after", ", ".join(f"{k}={v:g}" for k, v in thresholds.items()) or "unknown", "turns.launch"),
        _hook_fact(launch, log),
    ]


def _mode_fact(mode: TurnMode) -> Fact:
    """The settings with which the turn runs; those that it leaves to the agent are left out."""
    stated = {
        mode.setting or "permissions": mode.permissions,
        "model": mode.model,
        "search": mode.search,
        "args": mode.args,
        "allowed_tools": mode.allowed_tools,
        "instructions": mode.instructions,
    }
    words = [f"{key}={_word(value)}" for key, value in stated.items() if value not in (None, "", ())]
    return Fact("runs with", ", ".join(words) or "the agent's defaults", "turns.launch")


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _budget_fact(state: FamilyState, session: Session) -> Fact:
    """A budget that counts what the session spends: its own, or that of a lead above it."""
    name = "budget" if state.id == session.id else f"budget of {state.name}"
    words = budget_words(state.budget, state.account) if state.budget is not None else "none"
    return Fact(name, words, "sessions.budget" if state.own else "orchestration.budget")


def _attention_fact(session: Session) -> Fact:
    now = now_ms()
    need = attention(session, now)
    if need is None:
        return Fact("needs attention", "no", "sessions")
    since = f"for {max(0, now - need.since) // 1000} s"
    return Fact("needs attention", f"{need.kind}: {need.reason} ({since})", "sessions, seen")


def _context_fact(session: Session) -> Fact:
    """The use of the model's context, with the verb that compacts a conversation that fills it."""
    used, window = session.context_tokens, session.context_window
    part = f"{share(used, window)} of {tokens(window)}" if window else f"{tokens(used)} of an unknown size"
    advice = f"; compact it: agentdash compact {session.short_id}" if should_compact(used, window) else ""
    return Fact("context", f"{part}{advice}", "sessions.context_tokens, sessions.context_window")


def _hook_fact(launch: Launch | None, log: Path) -> Fact:
    """The command that is run on changes, and the last line that the runner logged about it."""
    if launch is None or not launch.hook.argv:
        return Fact("hook", "none", "turns.launch")
    try:
        lines = [line for line in _log_lines(log) if is_hook_line(line)]
    except OSError:
        lines = []
    command = shlex.join(launch.hook.argv)
    return Fact("hook", f"{command} ({lines[-1]})" if lines else command, f"turns.launch, {log}")


def _log_lines(path: Path) -> list[str]:
    return path.read_bytes()[-_LOG_BYTES:].decode("utf-8", "replace").split("\n")


def _log_fact(path: Path) -> Fact:
    """The last line that the runner logged."""
    try:
        lines = _log_lines(path)
    except OSError as error:
        return Fact("runner's log", error.strerror or str(error), str(path))
    last = next((line for line in reversed(lines) if line.strip()), "empty")
    return Fact("runner's log", last, str(path))


_LEADS = {
    Led.AT_WORK: "is at work",
    Led.WAKES: "has ended its turn, and the ends of its workers wake it",
    Led.OVER: "has ended, and nothing wakes it: what its workers need is for the user",
}

_FATES: Mapping[Lifecycle, str] = {
    "linked": "stopped with its lead",
    "detached": "goes on if its lead is stopped",
    "ephemeral": "stopped with its lead; archived once done and read",
}


def family_facts(queries: Queries, session: Session) -> tuple[Fact, ...]:
    """Return a worker's place and what it leaves to its lead, and why a lead is woken; empty outside a family."""
    facts = [*_place(session), *([_worker(queries, session)] if session.led is not None else [])]
    wakes = Wakes(queries.database)
    family = wakes.family(session.id) if wakes.is_lead(session.id) else None
    if family is None:
        return tuple(facts)
    gather = wakes.gather(session.id)
    now = decision(family, takes_prompts=agent_named(family.lead.agent).conversations is not None)
    if gather is not None and now.wakes:
        value = f"in {max(0, gather.due_at - now_ms()) // 1000} s: {now.reason}"
    else:
        value = f"{'due' if now.wakes else 'no'}: {now.reason}"
    facts.append(Fact("wakes", value, "wakes, queue, sessions.reported_turn, sessions.woken_turn"))
    facts.append(Fact("woken", f"{count(family.lead.used, 'time')} of {family.lead.most}", "wake_ends, settings"))
    return tuple(facts)


def _place(session: Session) -> list[Fact]:
    """Return the place of a session in a family; none for a session that only the user started."""
    if session.parent is None and session.lead is None and session.key is None:
        return []
    lead = f"session {short_id(session.parent)}" if session.parent is not None else session.lead or "none"
    facts = [
        Fact("lead", f"{one_line(lead)}, depth {session.depth}", "sessions.parent, lead, depth"),
        Fact("lifecycle", f"{session.lifecycle}: {_FATES[session.lifecycle]}", "sessions.lifecycle"),
    ]
    named = {"key": session.key, "call": session.call}
    return facts + [Fact(name, one_line(value), f"sessions.{name}") for name, value in named.items() if value]


def _worker(queries: Queries, session: Session) -> Fact:
    name = short_id(session.parent or "")
    value = f"{name} {_LEADS[session.led or Led.OVER]}"
    if session.escalated:
        reserved = any(asked.ask.for_user for asked in queries.asks.open(session.id))
        value += "; only you can allow what it asks" if reserved else "; it did not see to this in time"
    if session.status.ended:
        read = "has" if session.reported_turn >= session.turn else "has not"
        value += f"; it {read} read the end of turn {session.turn}"
    return Fact("its lead", value, "sessions, settings")
