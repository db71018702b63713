"""What the real codex and claude used in turns that are hard to count: the model's own sums, to the token and the cent.

Turns that broke off, resumed and forked conversations with sub-agents, and compactions.
"""

import itertools
import os
import signal
from pathlib import Path

import pytest
from real_clis import CLAUDES, NEWEST
from served import added, tokens_of

from agentdash.sessions.model.session import Status, Usage
from agentdash.sessions.rules.costs.price_table import TABLE
from agentdash.sessions.rules.costs.prices import Call
from agentdash.sessions.rules.costs.usage_table import UsageQuery
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.lifecycle.stop_family import NOW
from agentdash.sessions.storage.use.use_queries import UseQueries

pytestmark = pytest.mark.real

MINUTE = 60
OPTIONS = {"codex": {"sandbox": "danger-full-access"}, "claude": {"permission_mode": "bypassPermissions"}}
PRICES = {"claude-2.1.197": "claude-opus-4-8", NEWEST: "claude-opus-5-5", "codex": "gpt-5.5"}
STOPPED = (5_000, 0, 3_000, 4_010)
"""The finished call of the scenario ``uses_and_hangs``: input, cached, written and output tokens."""
WAYS = [
    pytest.param(cli, live, id=f"{cli} {'live' if live else 'turn by turn'}")
    for cli in CLAUDES
    for live in (False, True)
]


class Talk:
    """A session with a real agent, and the model's own count of each of its turns."""

    def __init__(self, manager, served, wait_until, start):
        self.wait_until = wait_until
        self._manager, self._served = manager, served
        self._first = self._counted = len(served.answers)
        self.id = start().id
        self.used = [self._new_use()]

    def ended(self):
        return self._manager.wait([self.id], timeout=3 * MINUTE)[0]

    def say(self, prompt):
        self._manager.prompts.inject(self.id, prompt)
        self.used.append(self._new_use())

    def compact(self):
        self._manager.compacting.compact(self.id)
        self.used.append(self._new_use())

    def _new_use(self):
        """The sums of what the model answered during the turn: the tokens, and the calls for their price."""
        session = self.ended()
        assert session.status is Status.DONE, session.reason
        return self.new_calls()

    def new_calls(self):
        answers = self._served.answers
        new, self._counted = answers[self._counted :], len(answers)
        return tokens_of_whole(new)

    @property
    def calls(self):
        """The tokens of all answers since the session began."""
        return tokens_of_whole(self._served.answers[self._first :])

    @property
    def helpers_are_back(self):
        """Whether each sub-agent has made both of its calls."""
        answers = self._served.answers[self._first :]
        calls = {name: [one["step"] for one in answers if one["scenario"] == name] for name in ("subagent", "sub")}
        return calls["subagent"].count(0) == calls["sub"].count(0) == calls["sub"].count(1)

    @property
    def turns(self):
        return self._manager.reader.turns(self.id)


def tokens_of_whole(answers):
    """The tokens of the answers that have an end."""
    return [tokens_of(answer["usage"]) for answer in answers if not hangs(answer)]


@pytest.fixture
def talk(manager, served, use_agent, wait_until):
    """Begins a session with an agent."""

    def begin(cli, live, first):
        agent = use_agent(cli)
        start = Start(first, agent=agent, cwd=str(Path.cwd()), options=OPTIONS[agent] | {"live": live})
        return Talk(manager, served, wait_until, lambda: manager.spawn(start))

    return begin


def hangs(answer):
    """Whether an answer of the model has no end: no report of its use follows that of its beginning."""
    return answer["scenario"] == "uses_and_hangs" and answer["step"] == 1


def dollars(calls, cli):
    """The cost of some answers at the list price of the model."""
    price = TABLE[PRICES[cli]]
    return sum(
        price.cost(
            Call(
                input_tokens=given - cached - written,
                cached_input_tokens=cached,
                cache_write_tokens=written,
                output_tokens=output,
            )
        )
        for given, cached, written, output in calls
    )


def figures(usage: Usage) -> tuple[int | None, ...]:
    return usage.input_tokens, usage.cached_input_tokens, usage.cache_write_tokens, usage.output_tokens


def cost(turn):
    """The cost of a turn, however it is known."""
    return (turn.cost_usd or 0.0) + (turn.cost_about_usd or 0.0)


def total(manager, **query):
    return UseQueries(manager.store.database).table(UsageQuery(by="day", **query)).total


def assert_counts(talk, manager, cli, live, *before):
    """Compare each turn, and the sum of all sessions, with the model; ``before`` are the calls of other sessions."""
    if live and cli == NEWEST:
        talk.wait_until(lambda: all_count(talk, manager, cli, *before), timeout=MINUTE, what="the sums of the model")
        return
    for turn, calls in zip(talk.turns, talk.used, strict=True):
        assert figures(turn.usage) == added(calls), f"turn {turn.n}"
        assert cost(turn) == pytest.approx(dollars(calls, cli)), f"turn {turn.n}"
    assert_total(manager, cli, *talk.used, *before)


def all_count(talk, manager, cli, *before):
    """Whether the sums are those of the model: a sub-agent outlives its turn, and its end begins a turn by itself."""
    calls, turns = talk.calls, talk.turns
    everything, found = [*calls, *itertools.chain(*before)], total(manager)
    same = (
        all(turn.status in (Status.DONE, Status.STOPPED) for turn in turns)
        and figures(manager.reader.get(talk.id).usage) == added(calls)
        and sum(map(cost, turns)) == pytest.approx(dollars(calls, cli))
        and figures(found.usage) == added(everything)
        and found.cost.known_usd == pytest.approx(dollars(everything, cli))
        and found.cost.missing == 0
    )
    return same and talk.helpers_are_back and talk.calls == calls


def assert_total(manager, cli, *used):
    everything = list(itertools.chain(*used))
    found = total(manager)
    assert figures(found.usage) == added(everything)
    assert found.cost.known_usd == pytest.approx(dollars(everything, cli))
    assert found.cost.missing == 0


@pytest.mark.parametrize(("cli", "live"), WAYS)
def test_each_turn_of_a_resumed_claude_with_sub_agents(talk, manager, cli, live):
    session = talk(cli, live, "[[fake:plain]] one")
    for prompt in ("[[fake:subagent]] two", "[[fake:uses]] three", "[[fake:subagent]] four"):
        session.say(prompt)
    assert_counts(session, manager, cli, live)


@pytest.mark.parametrize(("cli", "live"), WAYS)
def test_a_fork_of_a_claude_with_a_sub_agent_in_its_first_turn(talk, manager, served, wait_until, cli, live):
    origin = talk(cli, live, "[[fake:uses]] one")
    fork = Talk(
        manager,
        served,
        wait_until,
        lambda: manager.conversation.fork(origin.id, None, None, "[[fake:subagent]] two"),
    )
    fork.say("[[fake:subagent]] three")
    assert_counts(fork, manager, cli, live, *origin.used)


@pytest.fixture
def hanging(talk, manager, served, scratch_home, wait_until):
    """Begins a turn that hangs in its second call, and ends it at once when the first call is on the disk."""

    def hang(session, end=lambda session: manager.stop(session.id, NOW)):
        manager.prompts.inject(session.id, "[[fake:uses_and_hangs]] go")
        wait_until(lambda: any(map(hangs, served.answers)), timeout=MINUTE, what="the second call")
        wait_until(lambda: on_disk(scratch_home), timeout=MINUTE, what="the first call in the transcript")
        end(session)

    def on_disk(home):
        return any(b'"output_tokens":4010' in path.read_bytes() for path in home.glob("claude/projects/*/*.jsonl"))

    return hang


@pytest.mark.parametrize(("cli", "live"), WAYS)
def test_a_stopped_claude_counts_the_calls_of_its_transcript_and_its_next_turn_only_its_own(
    talk, manager, hanging, cli, live
):
    session = talk(cli, live, "[[fake:plain]] one")
    hanging(session)
    (call,) = session.new_calls()
    turn = session.turns[-1]
    assert turn.status is Status.STOPPED
    assert figures(turn.usage) == STOPPED == added([call])
    assert (turn.cost_usd, turn.cost_about_usd) == (None, pytest.approx(dollars([call], cli)))
    session.used.append([call])
    session.say("[[fake:subagent]] three")
    assert_counts(session, manager, cli, live)


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("cli", [NEWEST])
def test_a_stopped_claude_without_a_transcript_is_never_exact(talk, manager, hanging, scratch_home, cli, live):
    session = talk(cli, live, "[[fake:plain]] one")

    def hide_and_stop(session):
        (scratch_home / "claude" / "projects").rename(scratch_home / "hidden")
        manager.stop(session.id, NOW)

    hanging(session, hide_and_stop)
    found = total(manager)
    assert found.cost.missing == 1
    assert found.cost.mark.startswith("≥")


def test_a_claude_that_died_with_its_runner_counts_the_calls_of_its_transcript(talk, manager, hanging, at):
    session = talk(NEWEST, False, "[[fake:plain]] one")

    def kill(session):
        turn = session.turns[-1]
        for pid in (turn.runner_pid, turn.agent_pid):
            os.kill(pid, signal.SIGKILL)

    hanging(session, kill)
    at(session, 2, Status.LOST)
    session.used.append(session.new_calls())
    assert figures(session.turns[-1].usage) == STOPPED
    assert_counts(session, manager, NEWEST, live=False)


def test_a_live_codex_counts_no_call_twice_when_it_compacts(talk, manager):
    session = talk("codex", True, "[[fake:uses]] one")
    session.compact()
    session.say("[[fake:uses]] three")
    newest = session.turns[-1].thread_usage
    assert figures(total(manager).usage) == figures(newest)
    assert_counts(session, manager, "codex", live=True)
    assert manager.reader.get(session.id).usage == newest


def test_a_codex_of_single_turns_shows_its_model_and_its_context(talk, manager):
    session = talk("codex", False, "[[fake:uses]] one")
    found = manager.reader.get(session.id)
    assert (found.model, found.context_tokens, found.context_window) == ("gpt-5.5", 9_330, 258_400)
    assert_counts(session, manager, "codex", live=True)


@pytest.mark.parametrize("live", [False, True])
def test_a_codex_that_is_stopped_in_a_command_counts_the_call_of_that_command(manager, talk, served, wait_until, live):
    session = talk("codex", live, "[[fake:uses]] one")
    manager.prompts.inject(session.id, "[[fake:uses_later]] go")
    wait_until(lambda: served.answers[-1]["scenario"] == "uses_later", timeout=MINUTE, what="the call")
    if live:
        wait_until(lambda: session.turns[-1].usage.known, timeout=MINUTE, what="its tokens, while the command runs")
        assert manager.reader.get(session.id).status is Status.RUNNING
    else:
        wait_until(lambda: session.turns[-1].steps > 1, timeout=MINUTE, what="the command")
    manager.stop(session.id, NOW)
    session.used.append(session.new_calls())
    assert_counts(session, manager, "codex", live)
    assert not session.turns[-1].tokens_missing


@pytest.mark.parametrize("end", ["stop", "interrupt"])
def test_a_live_codex_that_ends_during_a_call_is_never_exact(manager, talk, wait_until, end):
    session = talk("codex", True, "[[fake:plain]] one")
    manager.prompts.inject(session.id, "[[fake:uses_and_hangs]] go")
    # codex reports a sum when the command of the first call has ended: the second call follows.
    wait_until(lambda: session.turns[-1].thread_usage.known, timeout=MINUTE, what="the end of the command")
    if end == "interrupt":
        manager.prompts.interrupt(session.id)
    else:
        manager.stop(session.id, NOW)
    session.used.append(session.new_calls())
    found = manager.reader.get(session.id)
    assert figures(session.turns[-1].usage) == added(session.used[-1])
    assert (found.tokens_missing, total(manager).cost.mark) == (1, "≥")
