"""Going back, taking that back and forking with the real codex and claude: the conversation that the model is sent."""

import pytest
from e2e.test_live import kill_runner
from real_clis import CLAUDES, EVERY_CLI

from agentdash.sessions.model.session import Status, StepKind
from agentdash.sessions.rules.launch import Start

pytestmark = pytest.mark.real

MINUTE = 60
FREE = {"claude": {"permission_mode": "bypassPermissions"}, "codex": {"sandbox": "danger-full-access"}}


def texts_of(request):
    """The texts of a request's conversation, with the role of each."""
    for message in request.get("messages") or request["input"]:
        content = message.get("content") or []
        for part in [{"text": content}] if isinstance(content, str) else content:
            if message.get("role") in ("user", "assistant") and isinstance(part.get("text"), str):
                yield message["role"], part["text"]


WORDS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")


def sent(fake_model, prompt):
    """The prompts that each message of the user has, by their words, in the newest request with a prompt."""
    request = fake_model.asked(prompt)[-1]
    said = (
        [word for word in WORDS if f"the {word} prompt" in text] for role, text in texts_of(request) if role == "user"
    )
    return [words for words in said if words]


def told(how, *words):
    """The prompts as the model is sent them: a message each, or all in one."""
    return [list(words)] if how == "retold" else [[word] for word in words]


@pytest.fixture(params=[True, False], ids=["live", "turn by turn"])
def talk(request, manager, tmp_path):
    """Starts a session, sends prompts, and waits for each end."""
    (tmp_path / "project").mkdir()

    class Talk:
        live = request.param

        def ended(self, session):
            [session] = manager.wait([session.id], timeout=2 * MINUTE)
            assert session.status is Status.DONE, session.reason
            return session

        def start(self, agent, *prompts):
            options = FREE[agent] | {"live": self.live}
            first, *others = prompts
            session = self.ended(
                manager.spawn(Start(first, agent=agent, cwd=str(tmp_path / "project"), options=options))
            )
            for prompt in others:
                session = self.say(session, prompt)
            return session

        def say(self, session, prompt):
            manager.prompts.inject(session.id, prompt)
            return self.ended(session)

    return Talk()


def how(manager, session):
    return [manager.store.launch(session.id, turn.n).how for turn in manager.reader.turns(session.id)]


@pytest.mark.parametrize("cli", EVERY_CLI)
def test_the_model_is_sent_the_visible_conversation(manager, use_agent, fake_model, talk, cli):
    agent = use_agent(cli)
    session = talk.start(agent, "the first prompt", "the second prompt", "the third prompt")
    # codex exec names no turns, so that only the end of its thread could be forked.
    forks = "retold" if agent == "codex" and not talk.live else "native"

    effect = manager.conversation.rewind(session.id, 1)
    assert (effect.how, effect.hidden.turns, effect.hidden.messages) == (forks, 2, 4)
    session = talk.say(session, "the fourth prompt")
    assert sent(fake_model, "the fourth prompt") == told(forks, "first", "fourth")

    effect = manager.conversation.undo(session.id)
    assert (effect.how, effect.hidden.turns, effect.shown.turns) == ("native", 1, 2)
    session = talk.say(session, "the fifth prompt")
    assert sent(fake_model, "the fifth prompt") == [["first"], ["second"], ["third"], ["fifth"]]

    assert manager.conversation.preview_fork(session.id, 2).how == forks
    fork = talk.ended(manager.conversation.fork(session.id, 2, None, "the sixth prompt"))
    assert sent(fake_model, "the sixth prompt") == told(forks, "first", "second", "sixth")
    assert how(manager, session) == ["", "", "", forks, "native"]
    assert how(manager, fork) == [forks]
    # Each turn has one call of the model, whatever the running totals of the agent are.
    turns = manager.reader.turns(session.id) + manager.reader.turns(fork.id)
    assert len({turn.usage.input_tokens for turn in turns}) == 1

    session = talk.say(session, "the seventh prompt")
    everything = [["first"], ["second"], ["third"], ["fifth"], ["seventh"]]
    assert sent(fake_model, "the seventh prompt") == everything


@pytest.mark.parametrize("cli", CLAUDES)
def test_claude_goes_back_to_a_message_before_a_tool_call(manager, use_agent, fake_model, talk, cli):
    agent = use_agent(cli)
    session = talk.start(agent, "[[fake:files]] the first prompt")
    steps = manager.reader.steps.trajectory(session.id)
    message = next(step for step in steps if step.kind is StepKind.MESSAGE)
    call = next(step for step in steps if step.kind is StepKind.FILE_CHANGE)
    assert call.index == message.index + 1
    # The place behind a call follows what the tool answered, which claude cannot fork.
    assert manager.conversation.rewind(session.id, 1, call.index, dry_run=True).how == "retold"
    effect = manager.conversation.rewind(session.id, 1, message.index)
    assert effect.how == "native"
    assert effect.hidden.files_changed
    prompt = f"the second prompt behind a message, {cli}, live: {talk.live}"
    talk.say(session, prompt)
    request = fake_model.asked(prompt)[0]
    parts = [part for message in request["messages"] for part in message["content"] if isinstance(part, dict)]
    assert not {part["type"] for part in parts} & {"tool_use", "tool_result"}
    assert [text for role, text in texts_of(request) if role == "assistant"] == [message.text]


@pytest.mark.parametrize("cli", EVERY_CLI)
def test_after_a_fork_that_the_agent_refuses_the_next_attempt_retells_the_conversation(
    manager, use_agent, scratch_home, fake_model, talk, cli
):
    agent = use_agent(cli)
    if agent == "codex" and not talk.live:
        pytest.skip("codex exec forks nothing here")
    session = talk.start(agent, "the first prompt", "the second prompt")
    assert manager.conversation.rewind(session.id, 1).how == "native"
    transcripts = list(scratch_home.rglob(f"*{session.agent_session}*.jsonl"))
    assert transcripts
    for path in transcripts:
        path.unlink()
    manager.prompts.inject(session.id, "the third prompt")
    [failed] = manager.wait([session.id], timeout=2 * MINUTE)
    assert failed.status is Status.FAILED
    manager.prompts.retry(session.id)
    session = talk.ended(session)
    assert how(manager, session)[-2:] == ["native", "retold"]
    assert sent(fake_model, "the third prompt") == [["first", "third"]]
    talk.say(session, "the fourth prompt")
    assert sent(fake_model, "the fourth prompt") == [["first", "third"], ["fourth"]]


@pytest.mark.parametrize("goes", ["behind a rewind", "behind an undo"])
def test_a_turn_counts_its_own_calls_if_its_runner_is_killed(
    manager, use_agent, served, talk, at, wait_until, tmp_path, goes
):
    session = talk.start(use_agent("codex"), "the first prompt", "the second prompt")
    manager.conversation.rewind(session.id, 1)
    if goes == "behind an undo":
        session = talk.say(session, "the third prompt")
        manager.conversation.undo(session.id)
    manager.prompts.inject(session.id, "[[fake:uses_later]] the fourth prompt")
    wait_until(lambda: served.tokens(scenario="uses_later")[0], what="the first call of the turn")
    turn = manager.reader.turns(session.id)[-1].n
    kill_runner(manager, session, wait_until)
    (tmp_path / "project" / "go").touch()
    at(session, turn, Status.DONE)
    usage = manager.reader.turns(session.id)[-1].usage
    assert (usage.input_tokens, usage.output_tokens) == (6_500, 105)
