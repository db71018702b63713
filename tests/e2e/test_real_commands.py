"""Commands of a real claude itself: they end well, their answer is shown, and the queue goes on behind them."""

import json

import pytest
from real_clis import CLAUDES

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.conversation.marks import MarkKind
from agentdash.sessions.rules.launch import Start

pytestmark = [pytest.mark.real]

MINUTE = 60


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("cli", CLAUDES)
def test_claudes_own_commands_are_turns_like_others_and_clear_is_a_mark(
    manager, use_agent, fake_model, tmp_path, cli, live
):
    agent = use_agent(cli)
    options = {"permission_mode": "bypassPermissions", "live": live}
    session = manager.spawn(Start("PROMPT-ONE", agent=agent, cwd=str(tmp_path), options=options)).id
    manager.wait([session], timeout=3 * MINUTE)

    def say(text):
        manager.prompts.inject(session, text)
        (ended,) = manager.wait([session], timeout=3 * MINUTE)
        assert ended.status is Status.DONE, (text, ended.reason)
        return ended

    assert say("/context").last_message.startswith("## Context Usage")
    before, unique = say("PROMPT-TWO").agent_session, f"THIRD {cli} {live} {tmp_path.name}"
    assert say("/clear").agent_session != before
    after = say(unique)
    assert after.agent_session != before and after.turn == 5
    (mark,) = manager.store.marks.of_session(session)
    assert (mark.kind, mark.turn) == (MarkKind.CLEAR, 4)
    sent = json.dumps(fake_model.asked(unique)[-1].get("messages"))
    assert "PROMPT-ONE" not in sent and "PROMPT-TWO" not in sent
    # Of costs that the agent counts on, none is taken from the new conversation.
    costs = [turn.cost_usd for turn in manager.store.turns(session)]
    assert costs[1] == costs[3] == 0 and costs[4] > 0
    assert {prompt.state for prompt in manager.reader.prompts(session)} == {"seen"}


@pytest.mark.parametrize("cli", CLAUDES)
def test_clear_is_a_mark_also_in_turns_that_fork_the_conversation(manager, use_agent, fake_model, tmp_path, cli):
    agent = use_agent(cli)
    options = {"permission_mode": "bypassPermissions", "live": True}
    first = manager.spawn(Start("PROMPT-ONE", agent=agent, cwd=str(tmp_path), options=options)).id
    manager.wait([first], timeout=3 * MINUTE)
    manager.prompts.inject(first, "PROMPT-TWO")
    manager.wait([first], timeout=3 * MINUTE)
    forked = manager.conversation.fork(first, 1, None, "/clear").id
    manager.conversation.rewind(first, 1)
    manager.prompts.inject(first, "/clear")
    assert {ended.status for ended in manager.wait([first, forked], timeout=3 * MINUTE)} == {Status.DONE}
    for session, turn in ((first, 3), (forked, 1)):
        (*_, mark) = manager.store.marks.of_session(session)
        assert (mark.kind, mark.turn) == (MarkKind.CLEAR, turn)
        manager.prompts.inject(session, unique := f"NEXT {cli} {turn} {tmp_path.name}")
        (ended,) = manager.wait([session], timeout=3 * MINUTE)
        assert ended.status is Status.DONE
        assert "PROMPT-ONE" not in json.dumps(fake_model.asked(unique)[-1].get("messages"))
