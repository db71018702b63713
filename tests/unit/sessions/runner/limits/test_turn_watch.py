"""The watch over a turn: its meter counts what the turn adds to the conversation that it takes up."""

from pathlib import Path

import pytest
from unit.sessions.agents.codex.test_codex_usage import BORN, THREAD, Transcript

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.rules.launch import Launch, Start
from agentdash.sessions.rules.turn_facts import Facts
from agentdash.sessions.runner.limits.turn_watch import TurnWatch
from agentdash.sessions.storage.paths import Layout
from agentdash.sessions.storage.store import Store
from agentdash.sessions.storage.turns.turn_output import own_output

SESSION = "20260101-000000-abcd"
OTHER = "01a1fb63-d45a-7f82-8a8f-c9f1972ee699"


@pytest.mark.parametrize("newest", [THREAD, OTHER], ids=["of the turn before", "of an earlier turn"])
def test_a_resumed_conversation_counts_from_where_the_turn_began(tmp_path: Path, newest: str) -> None:
    transcript = Transcript(tmp_path)
    transcript.path.with_name(transcript.path.name.replace(THREAD, OTHER)).touch()
    transcript.call(input_tokens=1200, output_tokens=20)
    layout = Layout(tmp_path / "state")
    layout.create()
    layout.session(SESSION).create()
    native = {"how": "native", "conversation": THREAD} if newest != THREAD else {}
    launch = Launch(argv=("codex", "exec"), env={"CODEX_HOME": str(tmp_path)}, **native)
    store = Store(layout.database)
    try:
        store.create(Start("t", agent="codex", title="t", cwd="/", session_id=SESSION), launch, "r", host="h")
        with store.database.transaction() as db:
            db.execute("UPDATE sessions SET agent_session = ?", (newest,))
        output = own_output(layout.session(SESSION), 1)
        watch = TurnWatch(store, SESSION, 1, agent_named("codex"), launch, output, dict, BORN)
        transcript.call(input_tokens=1600, output_tokens=30)
        facts = Facts(agent_session=THREAD)
        watch.finish(facts)
        assert facts.usage.total_tokens == 1630
    finally:
        store.close()
