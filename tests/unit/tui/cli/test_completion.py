"""The ids that the shell offers."""

from contextlib import nullcontext
from types import SimpleNamespace

import factories
import pytest

from agentdash.sessions.model.session import Status
from agentdash.tui.cli.commands import common


def test_stop_offers_the_sessions_with_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = [
        factories.session("runs", status=Status.RUNNING),
        factories.session("done", status=Status.DONE),
        factories.session("warm", status=Status.DONE, warm_since=1),
    ]
    monkeypatch.setattr(common, "open_reader", lambda: nullcontext(SimpleNamespace(sessions=lambda: sessions)))
    offered = [
        {item.value for item in complete(None, None, "")}  # type: ignore[arg-type]
        for complete in (common.complete_live_ids, common.complete_ids)
    ]
    assert offered == [{"runs", "warm", "@last"}, {"runs", "done", "warm", "@last"}]


def test_a_filter_offers_fields_and_then_values(monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = [factories.session("one", agent="codex"), factories.session("two", agent="claude")]
    monkeypatch.setattr(common, "open_reader", lambda: nullcontext(SimpleNamespace(sessions=lambda: sessions)))
    offered = [common.complete_filter(None, None, text) for text in ("ag", "cost>1 agent:co", "")]  # type: ignore[arg-type]
    assert "agent:" in offered[0]
    assert offered[1:] == [["cost>1 agent:codex"], []]
