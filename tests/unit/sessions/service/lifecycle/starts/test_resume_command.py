"""The command that resumes a conversation in the agent's own interface, as a shell reads it."""

import shlex

import factories
import pytest

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.model.session import Status
from agentdash.sessions.model.turn_mode import TurnMode
from agentdash.sessions.service.lifecycle.starts.resume_command import ResumeCommand, resume_command
from agentdash.sessions.settings.config import load_config
from agentdash.sessions.storage.queries import Recipe

THREAD = "0199a213-81c0-7800-8aa1-bbab2a035a53"


@pytest.fixture
def resumed(tmp_path, monkeypatch):
    """Builds the command of a session in a folder of the test, with settings and a recorded environment."""
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    settings = tmp_path / "config.toml"

    def build(agent="codex", toml="", recorded=None, env=None, options=None, mode=None, **own) -> ResumeCommand:
        settings.write_text(toml)
        facts = {"cwd": str(tmp_path), "agent_session": THREAD, "agent": agent, "model": None} | own
        return resume_command(
            factories.session("abc00000", status=Status.DONE, **facts),
            Recipe(options=options or {}, command=(), env=recorded or {}),
            lambda profile: load_config(settings, profile or ""),
            env if env is not None else {},
            mode=mode,
        )

    return build


def test_each_agent_names_its_own_command(resumed, tmp_path):
    assert (
        resumed("codex").command
        == f"cd {tmp_path} && codex resume --no-daemon -s workspace-write -a on-request -- {THREAD}"
    )
    assert resumed("claude").command == f"cd {tmp_path} && claude --resume {THREAD} --permission-mode acceptEdits"


def test_the_model_and_the_settings_of_the_agent_go_along(resumed, tmp_path):
    toml = '[agents.codex]\nbin = "/opt/my codex"\n[agents.codex.config]\nmodel_reasoning_effort = "high"\n'
    found = resumed("codex", toml, mode=TurnMode(model="gpt-5.5"))
    assert found.argv == (
        "/opt/my codex",
        "resume",
        "--no-daemon",
        "-m",
        "gpt-5.5",
        "-s",
        "workspace-write",
        "-a",
        "on-request",
        "-c",
        'model_reasoning_effort="high"',
        "--",
        THREAD,
    )
    assert found.command.startswith(f"cd {tmp_path} && '/opt/my codex' resume ")
    assert " --model 'opus[1m]' " in resumed("claude", options={"model": "opus[1m]"}).command
    assert "--model" not in resumed("claude", model="named-by-its-output").argv


@pytest.mark.parametrize(
    ("agent", "options", "words"),
    [
        ("codex", {"sandbox": "read-only"}, ("-s", "read-only", "-a", "on-request")),
        ("codex", {"sandbox": "read-only", "approvals": "deny"}, ("-s", "read-only", "-a", "never")),
        ("codex", {"full_danger": True}, ("--dangerously-bypass-approvals-and-sandbox",)),
        ("claude", {"permission_mode": "plan"}, ("--permission-mode", "plan")),
        ("claude", {"full_danger": True}, ("--dangerously-skip-permissions",)),
    ],
)
def test_its_own_interface_opens_with_what_the_agent_may_do_in_the_session(resumed, agent, options, words):
    assert " ".join(words) in " ".join(resumed(agent, options=options).argv)


def test_a_folder_that_became_a_link_is_not_opened(resumed, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "sub").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="sub is a symbolic link now"):
        resumed("codex", cwd=str(tmp_path / "sub"))


def test_the_recorded_environment_holds_and_other_values_do_not(resumed, tmp_path):
    recorded = {"PATH": "/nowhere", "CODEX_HOME": "/srv/it's mine", "OPENAI_BASE_URL": None, "AGENTDASH_PROFILE": None}
    found = resumed(recorded=recorded, env={"OPENAI_BASE_URL": "http://other"})
    words = shlex.split(found.command)
    assert words == [
        "cd", str(tmp_path), "&&",
        "env", "-u", "OPENAI_BASE_URL", "CODEX_HOME=/srv/it's mine", "codex", "resume", "--no-daemon",
        "-s", "workspace-write", "-a", "on-request", "--", THREAD,
    ]  # fmt: skip
    assert found.env == {"CODEX_HOME": "/srv/it's mine", "OPENAI_BASE_URL": None}


def test_the_settings_are_those_of_the_profile_with_which_it_began(resumed):
    toml = '[profiles.work.agents.codex]\nbin = "codex-work"\n'
    found = resumed(toml=toml, recorded={"AGENTDASH_PROFILE": "work"})
    assert found.argv[0] == "codex-work"
    assert "AGENTDASH_PROFILE=work codex-work resume" in found.command


def test_a_program_that_only_the_session_finds_has_its_path(resumed, tmp_path):
    program = tmp_path / "bin" / "codex"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    recorded = {"PATH": str(program.parent)}
    assert resumed(recorded=recorded, env={"PATH": "/nowhere"}).argv[0] == str(program)
    assert resumed(recorded=recorded, env={"PATH": str(program.parent)}).argv[0] == "codex"


def test_a_folder_with_blanks_is_one_word(resumed, tmp_path):
    folder = tmp_path / "my code; rm -rf $HOME"
    folder.mkdir()
    assert shlex.split(resumed(cwd=str(folder)).command)[1] == str(folder)


@pytest.mark.usefixtures("scripted_agent")
@pytest.mark.parametrize(
    ("own", "reason"),
    [
        ({"agent": "command"}, "A plain command has no conversation to resume"),
        ({"agent": "scripted"}, "Scripted has no command that resumes a session"),
        ({"agent_session": None}, "Codex has not reported a conversation id for session abc00000 yet"),
        ({"agent_session": "--dangerously-bypass"}, "'--dangerously-bypass' is not a valid id of a conversation"),
        ({"agent_session": "x; rm -rf ~"}, "is not a valid id of a conversation of Codex"),
        ({"cwd": "/no/such/folder"}, "The folder /no/such/folder does not exist"),
    ],
)
def test_without_a_command_the_reason_is_named(resumed, own, reason):
    with pytest.raises(UsageError, match=reason):
        resumed(**own)
