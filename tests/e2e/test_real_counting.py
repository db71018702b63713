"""What the real codex and claude used in turns that are hard to count: the model's own sums, to the token and the cent.

Turns that broke off, resumed and forked conversations with sub-agents, and compactions.
"""

import itertools
from pathlib import Path

import pytest
from real_clis import CLAUDES, NEWEST
from served import added, tokens_of

from agentdash.sessions.costs.price_table import TABLE
from agentdash.sessions.costs.prices import Call
from agentdash.sessions.costs.usage_table import UsageQuery
from agentdash.sessions.launch import Start
from agentdash.sessions.model import Status, Usage
from agentdash.sessions.storage.use.use_queries import UseQueries

pytestmark = pytest.mark.real

MINUTE = 60
OPTIONS = {"codex": {"sandbox": "danger-full-access"}, "claude": {"permission_mode": "bypassPermissions"}}
PRICES = {"claude-2.1.197": "claude-opus-4-8", "claude-2.1.330": "claude-opus-5-5", "codex": "gpt-5.5"}
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
        self._counted = len(served.answers)
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
        return [tokens_of(answer["usage"]) for answer in new if not hangs(answer)]

    @property
    def turns(self):
        return self._manager.reader.turns(self.id)


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
        # A sub-agent outlives the turn that began it: its end begins a turn by itself.
        calls = list(itertools.chain(*talk.used))

        def all_counted():
            calls.extend(talk.new_calls())
            ended = all(turn.status in (Status.DONE, Status.STOPPED) for turn in talk.turns)
            return ended and figures(manager.reader.get(talk.id).usage) == added(calls)

        talk.wait_until(all_counted, timeout=MINUTE, what="the sums to be those of the model")
        assert sum(map(cost, talk.turns)) == pytest.approx(dollars(calls, cli))
        assert_total(manager, cli, calls, *before)
        return
    for turn, calls in zip(talk.turns, talk.used, strict=True):
        assert figures(turn.usage) == added(calls), f"turn {turn.n}"
        assert cost(turn) == pytest.approx(dollars(calls, cli)), f"turn {turn.n}"
    assert_total(manager, cli, *talk.used, *before)


def assert_total(manager, cli, *used):
    everything = list(itertools.chain(*used))
    found = total(manager)
    assert figures(found.usage) == added(everything)
    assert found.cost.known_usd == pytest.approx(dollars(everything, cli))
    assert found.cost.missing == 0


@pytest.mark.by_turns(2)
@pytest.mark.parametrize(("cli", "live"), WAYS)
def test_each_turn_of_a_resumed_claude_with_sub_agents(talk, manager, cli, live):
    session = talk(cli, live, "[[fake:plain]] one")
    for prompt in ("[[fake:subagent]] two", "[[fake:uses]] three", "[[fake:subagent]] four"):
        session.say(prompt)
    assert_counts(session, manager, cli, live)


@pytest.mark.by_turns(2)
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
