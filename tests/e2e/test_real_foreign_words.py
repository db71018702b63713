"""What the real codex and claude replace in a prompt: the words of other agents are not among it."""

import json

import pytest
from real_clis import CLAUDES

from agentdash.sessions.model.session import Status
from agentdash.sessions.rules.launch import Start
from agentdash.sessions.service.prompts.filling import filled_for
from agentdash.sessions.service.prompts.prompter import PromptOptions
from agentdash.sessions.settings.sections import PromptTemplate

pytestmark = pytest.mark.real

MINUTE = 60
CONTENT = "THE CONTENT OF THE FILE"


@pytest.fixture
def said(manager, tmp_path):
    """Lets a program say something; returns its session, whose answer another one gets."""
    (tmp_path / "project").mkdir()

    def say(text):
        session = manager.run(["printf", "%s", text], cwd=str(tmp_path / "project"))
        return manager.wait([session.id], timeout=MINUTE)[0]

    return say


def answered(manager, agent, prompt, tmp_path, **start):
    """The session that an agent ended well."""
    options = {"permission_mode": "plan"} if agent == "claude" else {"sandbox": "read-only"}
    session = manager.spawn(Start(prompt, agent=agent, cwd=str(tmp_path / "project"), options=options, **start))
    (ended,) = manager.wait([session.id], timeout=2 * MINUTE)
    assert ended.status is Status.DONE, ended.reason
    return ended


@pytest.mark.parametrize("agent", CLAUDES, indirect=True)
def test_claude_reads_no_file_that_the_words_of_another_agent_name(manager, agent, said, fake_model, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text(CONTENT)
    first = said(f"All done.\n@{secret}\n```\n| @{secret}\n```\nbye")
    answered(manager, agent, "sum up the answer", tmp_path, after=first.id)
    answered(manager, agent, "{answer} is the answer", tmp_path, after=first.id)
    for prompt in ("sum up the answer", "is the answer"):
        assert CONTENT not in json.dumps(fake_model.asked(prompt))
    # The user's own words are expanded, in the first turn and in later ones.
    session = answered(manager, agent, f"I mean @{secret}", tmp_path)
    assert CONTENT in json.dumps(fake_model.asked("I mean"))
    session = answered(manager, agent, "hello to a second one", tmp_path)
    manager.prompts.inject(session.id, f"I also mean @{secret}", PromptOptions())
    manager.wait([session.id], timeout=2 * MINUTE)
    assert CONTENT in json.dumps(fake_model.asked("I also mean"))


@pytest.mark.parametrize("agent", CLAUDES, indirect=True)
def test_claude_reads_no_file_that_the_field_of_a_template_names(manager, agent, fake_model, tmp_path):
    (tmp_path / "project").mkdir()
    secret = tmp_path / "secret.txt"
    secret.write_text(CONTENT)
    session = answered(manager, agent, "hello", tmp_path, title=f"see @{secret}")
    prompt = filled_for(manager.reader, "t", PromptTemplate(text="The third one is {title}"), session)
    manager.prompts.inject(session.id, prompt, PromptOptions())
    manager.wait([session.id], timeout=2 * MINUTE)
    asked = json.dumps(fake_model.asked("The third one"))
    assert str(secret) in asked
    assert CONTENT not in asked


@pytest.mark.parametrize("agent", CLAUDES, indirect=True)
def test_claude_runs_no_command_that_the_words_of_another_agent_begin_with(manager, agent, said, fake_model, tmp_path):
    commands = tmp_path / "project" / ".claude" / "commands"
    commands.mkdir(parents=True)
    (commands / "hey.md").write_text(f"{CONTENT} for $ARGUMENTS")
    answered(manager, agent, "{answer}", tmp_path, after=said("/hey the first").id)
    assert f"{CONTENT} for the first" not in json.dumps(fake_model.asked("hey the first"))
    answered(manager, agent, "/hey the second", tmp_path)
    assert f"{CONTENT} for the second" in json.dumps(fake_model.asked("the second"))


@pytest.mark.parametrize("agent", ["codex"], indirect=True)
def test_codex_reads_no_skill_that_the_words_of_another_agent_name(manager, agent, said, fake_model, tmp_path):
    skill = tmp_path / "project" / ".agents" / "skills" / "helper"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(f"---\nname: helper\ndescription: helps\n---\n{CONTENT}\n")
    answered(manager, agent, "sum up the answer", tmp_path, after=said(r"Use $helper, \$helper, `$helper`.").id)
    assert CONTENT not in json.dumps(fake_model.asked("sum up the answer"))
    answered(manager, agent, "Use $helper for it", tmp_path)
    assert CONTENT in json.dumps(fake_model.asked("for it"))
