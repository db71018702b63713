"""The processor time and memory of the sessions on the screen."""

from types import SimpleNamespace

import factories
from factories import T0

from agentdash.sessions.model.session import Status
from agentdash.tui.panes.table.load_columns import LoadWatch


async def test_every_session_with_a_process_is_measured():
    sessions = [
        factories.session("runs", status=Status.RUNNING),
        factories.session("done", status=Status.DONE),
        factories.session("left", status=Status.DONE, left=1),
        factories.session("warm", status=Status.DONE, warm_since=T0),
    ]
    measured = []

    async def outcome_of(call, ids):
        measured.extend(ids)

    table, reader = SimpleNamespace(on_screen=sessions), SimpleNamespace(processes=None)
    watch = LoadWatch(None, table, reader, SimpleNamespace(outcome_of=outcome_of))
    await watch._measure()
    assert measured == ["runs", "left", "warm"]
