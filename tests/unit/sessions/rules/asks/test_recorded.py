"""How long asks let their agent wait."""

from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.rules.asks.model import Ask, AskKind
from agentdash.sessions.rules.asks.recorded import AskState, RecordedAsk, waited_ms

NOW = 1_000
TIMES = st.tuples(st.integers(0, NOW), st.none() | st.integers(0, NOW))


def asks(*times):
    return [
        RecordedAsk(
            id=number, session="s", turn=1, stream=1, state=AskState.SETTLED, asked_at=begin, settled_at=end,
            ask=Ask(key=str(number), kind=AskKind.COMMAND, title="run: ls"),
        )
        for number, (begin, end) in enumerate(times)
    ]  # fmt: skip


def test_asks_that_are_open_at_the_same_time_wait_once():
    assert waited_ms([], NOW) == 0
    assert waited_ms(asks((100, 200), (150, 300), (400, 450)), NOW) == 250
    assert waited_ms(asks((100, 900), (200, 300), (950, None)), NOW) == 850


@given(st.lists(TIMES, max_size=8))
def test_each_moment_counts_once(times):
    expected = {at for begin, end in times for at in range(begin, NOW if end is None else end)}
    assert waited_ms(asks(*times), NOW) == len(expected)
