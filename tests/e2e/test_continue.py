"""A conversation that is continued in a new session by the real agents: what the model is sent, and what stays."""

import json
import shutil
import subprocess
import sys

import pytest
from msgspec import structs
from real_clis import NEWEST
from recorded_sessions import evidence

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.conversation.shown import FOR_THE_MODEL
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.runner.processes import runner_lock
from agentdash.sessions.service.lifecycle.starts.continue_plan import GO_ON

pytestmark = pytest.mark.real

MINUTE = 60
FREE = {"codex": {"sandbox": "danger-full-access"}, "claude": {"permission_mode": "bypassPermissions"}}
"""The scripted model does nothing that matters."""


@pytest.fixture
def both(use_agent):
    """The real codex and the newest claude."""
    use_agent("codex")
    use_agent(NEWEST)


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def talk(manager, both, project, wait_until):
    def talk(agent, *prompts):
        """A session that was given these prompts, one after the other."""
        first, *rest = prompts
        session = manager.spawn(Start(first, agent=agent, cwd=str(project), options=FREE[agent]))
        session = ended(manager, session)
        for prompt in rest:
            manager.prompts.inject(session.id, prompt)
            session = ended(manager, session)
        lock = manager.layout.session(session.id).lock
        wait_until(lambda: not runner_lock.is_held(lock), what="the end of the runner, which writes the record")
        return manager.reader.by_id(session.id)

    return talk


def ended(manager, session):
    return manager.wait([session.id], timeout=2 * MINUTE)[0]


def cli(*words):
    """Run a verb; its parsed output and its stderr."""
    done = subprocess.run([sys.executable, "-m", "agentdash", *words], capture_output=True, text=True, check=False)
    return done.returncode, json.loads(done.stdout) if done.stdout.startswith("{") else done.stdout, done.stderr


def said_by_user(request):
    """The texts of the user's messages in a request to either model API."""
    entries = request.get("messages") or request.get("input")
    texts = []
    for entry in entries:
        if entry.get("role") == "user":
            content = entry["content"]
            texts.append(content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content))
    return texts


@pytest.mark.parametrize("live", [False, True], ids=["turn-by-turn", "live"])
@pytest.mark.parametrize(("old", "new"), [("codex", "claude"), ("claude", "codex")])
def test_the_model_is_sent_the_retold_conversation_once_and_then_resumes_the_new_one(
    manager, talk, fake_model, old, new, live
):
    first = f"remember the word {old}-{live}-cormorant"
    source = talk(old, first, "and then the heron")
    before = evidence(manager, source.id)

    start = Start("what was the word?", agent=new, options={**FREE[new], "live": live})
    continued = manager.reader.continued(source.id, start)
    assert continued.words == (
        f"{new} reads 4 messages of {old} as text; files and commands are not repeated; the old session stays as it is."
    )
    session = ended(manager, manager.continue_session(continued))
    assert (session.status, session.reason, session.agent) == (Status.DONE, None, new)
    assert (session.cwd, session.title, session.task) == (source.cwd, source.title, "what was the word?")

    (told,) = [
        text for text in said_by_user(fake_model.asked("what was the word?")[-1]) if "what was the word?" in text
    ]
    assert told.count(first) == 2  # once as the words of the user, and once in the scripted answer to them
    assert told.count("|     and then the heron\n") == 1
    assert told.endswith("USER: what was the word?")
    assert manager.reader.prompts(session.id)[0].text == "what was the word?"

    # The next prompt resumes the conversation of the new agent; nothing is retold again.
    manager.prompts.inject(session.id, "[[fake:context_probe]] and now?")
    again = ended(manager, session)
    assert "I can see 2 user messages" in again.last_message
    assert evidence(manager, source.id) == before


def test_a_deleted_transcript_is_named_with_the_verb_that_continues_it(manager, talk, scratch_home, fake_model):
    source = talk("claude", "remember the kingfisher")
    shutil.rmtree(scratch_home / "claude" / "projects")
    code, _, errors = cli("inject", source.id, "what do you remember?", "--wait")
    assert code == 1
    assert "No conversation found" in errors
    assert f"agentdash continue {source.short_id}" in errors
    code, why, _ = cli("explain", source.id)
    assert f"agentdash continue {source.short_id}" in why

    code, done, _ = cli("continue", source.id, "--agent", "claude", "--wait", "--json")
    assert (code, done["status"], done["agent"]) == (0, "done", "claude")
    assert done["continues"]["session"] == source.id
    assert done["task"] == GO_ON
    assert fake_model.was_shown("|     remember the kingfisher")


def test_a_deleted_rollout_of_codex_is_named_too(manager, talk, scratch_home):
    source = talk("codex", "remember the bittern")
    shutil.rmtree(scratch_home / "codex" / "sessions")
    code, _, errors = cli("inject", source.id, "what do you remember?", "--wait")
    assert code == 1
    assert "no rollout found" in errors
    assert f"agentdash continue {source.short_id}" in errors


def test_a_session_without_its_folder_is_continued_in_another_one(manager, talk, project, tmp_path):
    source = talk("codex", "remember the ibis")
    project.rename(tmp_path / "elsewhere")
    code, _, errors = cli("inject", source.id, "go on")
    assert code == 2
    assert f"agentdash continue {source.short_id} -C FOLDER" in errors
    code, _, errors = cli("continue", source.id, "--agent", "claude")
    assert code == 2
    assert "-C FOLDER" in errors
    code, done, _ = cli("continue", source.id, "-a", "claude", "-C", str(tmp_path / "elsewhere"), "--wait", "--json")
    assert (code, done["cwd"]) == (0, str(tmp_path / "elsewhere"))


def test_an_interrupted_command_is_retold_as_one_whose_result_is_not_known(
    manager, talk, project, fake_model, wait_until
):
    session = manager.spawn(Start("[[fake:sleep600]] go", agent="codex", cwd=str(project), options=FREE["codex"]))
    wait_until(
        lambda: any("sleep 600" in process.command for process in manager.reader.processes(session.id)),
        timeout=MINUTE,
        what="the command",
    )
    code, _, errors = cli("continue", session.id, "--agent", "claude")
    assert code == 1
    assert "turn 1" in errors
    manager.stop(session.id)
    continued = manager.reader.continued(session.id, Start("[[fake:plain]] go on", agent="claude"))
    assert FOR_THE_MODEL in continued.launch.stdin
    assert continued.launch.stdin.count(FOR_THE_MODEL) == 1
    assert structs.asdict(continued)["actions"] == 1
