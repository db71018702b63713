"""The commits of a turn with a share of a budget: at once when it used the share up, else once a second."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.clock import now_ms
from agentdash.sessions.model.membership import Budget, Membership
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.rules.limits.period_budgets import PeriodBudget
from agentdash.sessions.runner import recorder as module
from agentdash.sessions.runner.recorder import Recorder
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.claim import Owner
from agentdash.sessions.storage.turns.turn_log import TurnLog

SESSION = "20260101-000000-abcd"
SAYS = (
    b'{"type":"assistant","message":{"id":"m%d","model":"m","content":[{"type":"text","text":"x"}],'
    b'"usage":{"input_tokens":0,"output_tokens":10}}}\n'
)


class Turn:
    """A turn of claude that reports ten tokens at a time, by a clock that stands still."""

    def __init__(self, store: Store, layout: Layout, own: Budget) -> None:
        launch = Launch(argv=("claude",))
        start = Start("t", agent="claude", title="t", cwd="/", session_id=SESSION)
        store.create(start, launch, "r", host="h", membership=Membership(budget=own))
        log = TurnLog(store, SESSION, 1, Owner(pid=1, start=2, boot_id="b", pid_ns="n"))
        log.claim()
        log.running(10, 11)
        self.recorder = Recorder(layout, SESSION, 1, store, log)
        self._output = layout.session(SESSION).output(1)
        self._output.touch()
        self.recorder.begin(agent_named("claude"), launch, lambda: None, now_ms())  # type: ignore[arg-type, return-value]
        self._said = 0

    def says(self) -> bool:
        """Report more; return whether it was committed."""
        with self._output.open("ab") as file:
            file.write(SAYS % self._said)
        self._said += 1
        self.recorder.follow()
        return not self.recorder.unsaved


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    layout = Layout(tmp_path / "state")
    layout.create()
    layout.session(SESSION).create()
    return layout


@pytest.fixture
def store(layout: Layout) -> Iterator[Store]:
    store = Store(layout.database)
    store.period_budgets.keep([PeriodBudget(most=Budget(tokens=1_000))])
    yield store
    store.close()


@pytest.fixture(autouse=True)
def seconds(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """The clock of the recorder: it shows the last of these."""
    shown = [1_000.0]

    class Clock:
        @staticmethod
        def monotonic() -> float:
            return shown[-1]

    monkeypatch.setattr(module, "time", Clock)
    yield shown


def test_commits_stay_at_one_a_second_if_the_share_cannot_be_extended(
    store: Store, layout: Layout, seconds: list[float]
) -> None:
    turn = Turn(store, layout, Budget(tokens=25))
    assert [turn.says() for _ in range(8)] == [True, False, True, False, False, False, False, False]
    seconds.append(1_001.5)
    assert [turn.says() for _ in range(3)] == [True, False, False]


def test_a_share_that_was_extended_is_followed_again(store: Store, layout: Layout, seconds: list[float]) -> None:
    turn = Turn(store, layout, Budget(tokens=25))
    assert [turn.says() for _ in range(4)] == [True, False, True, False]
    store.set_budget(SESSION, Budget(tokens=75))
    turn.recorder.budgets_changed()
    seconds.append(1_001.5)
    assert [turn.says() for _ in range(5)] == [True, False, False, True, False]
    assert store.period_budgets.states()[0].reserved.tokens == 0
