"""The values that the shell offers: limits, settings, places in a conversation, and the words of a command."""

import subprocess
import sys
from contextlib import nullcontext
from types import SimpleNamespace

import factories
import pytest
from click.shell_completion import ShellComplete

from agentdash.sessions.model.errors import AgentdashError
from agentdash.sessions.model.session import Step, StepKind
from agentdash.tui.cli.commands import common
from agentdash.tui.cli.main import cli


def offered(*args):
    """Return the completions of the last word."""
    *before, incomplete = args
    found = ShellComplete(cli, {}, "agentdash", "_AGENTDASH_COMPLETE").get_completions(list(before), incomplete)
    return [item.value for item in found]


@pytest.mark.parametrize(
    "verb", [["spawn"], ["run"], ["fork", "1"], ["continue", "1"], ["inject", "1"], ["retry", "1"]]
)
def test_a_limit_is_completed_and_then_its_value(verb):
    assert offered(*verb, "--limit", "to") == ["tokens="]
    assert offered(*verb, "--limit", "action=w") == ["action=warn"]
    assert "wall=" in offered(*verb, "--limit", "")
    assert offered(*verb, "--limit", "odd=") == []


@pytest.mark.parametrize("verb", [["spawn"], ["fork", "1"], ["inject", "1"], ["continue", "1"]])
def test_a_setting_is_completed_and_then_its_value(verb):
    assert offered(*verb, "--set", "sandb") == ["sandbox="]
    assert offered(*verb, "--set", "sandbox=r") == ["sandbox=read-only"]
    assert "limits.tokens=" in offered(*verb, "--set", "limits.")


def test_settings_are_those_of_the_named_agent():
    assert "permission_mode=" not in offered("spawn", "-a", "codex", "--set", "p")
    assert "permission_mode=" in offered("spawn", "-a", "claude", "--set", "p")
    assert offered("spawn", "-a", "codex", "--set", "live=") == ["live=true", "live=false"]


class Reader:
    """Two turns of one session."""

    def __init__(self):
        self.steps = self

    def turns(self, ref):
        if ref != "abc":
            raise AgentdashError("No session has this id.")
        return [factories.turn(1), factories.turn(2)]

    def prompts(self, ref):
        prompts = [(1, "write it", None), (2, "\x1b[31mtest it", None), (2, "a remark in the turn", 1)]
        return [SimpleNamespace(turn=turn, text=text, steered=steered) for turn, text, steered in prompts]

    def steps_from(self, ref, turn, first):
        yield Step(turn=turn, index=0, kind=StepKind.PROMPT, text="test it")
        yield Step(turn=turn, index=1, kind=StepKind.COMMAND, command="make test")


@pytest.mark.parametrize("verb", [("fork", "abc", "--at"), ("rewind", "abc")])
def test_a_place_is_a_turn_and_behind_a_dot_a_step(monkeypatch, verb):
    monkeypatch.setattr(common, "open_reader", lambda: nullcontext(Reader()))
    assert offered(*verb, "") == ["2", "1"]
    assert offered(*verb, "2.") == ["2.1", "2.0"]
    assert offered(*verb, "2.1") == ["2.1"]
    assert offered(*verb, "x") == []


def test_an_unknown_session_has_no_places(monkeypatch):
    monkeypatch.setattr(common, "open_reader", lambda: nullcontext(Reader()))
    assert offered("fork", "nope", "--at", "") == []


def test_behind_run_the_first_word_is_a_program_and_the_others_are_files(tmp_path, monkeypatch):
    (tmp_path / "mytool").write_text("#!/bin/sh\n")
    (tmp_path / "mytool").chmod(0o755)
    (tmp_path / "mytext").write_text("no program")
    monkeypatch.setenv("PATH", f"{tmp_path}:/nonexistent")
    assert offered("run", "--", "myt") == ["mytool"]
    assert offered("run", "myt") == ["mytool"]
    complete = ShellComplete(cli, {}, "agentdash", "_AGENTDASH_COMPLETE")
    for args, word in ((["run", "--", "make"], "Make"), (["run", "--"], "./ma"), (["run", "--", "make", "-C"], "")):
        assert [item.type for item in complete.get_completions(args, word)] == ["file"]


BASH = """
eval "$(agentdash completion bash)"
compopt() { :; }
COMP_LINE=$LINE COMP_POINT=${#LINE} COMP_WORDS=($LINE) COMP_CWORD=1
_agentdash_completion agentdash
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize(
    ("line", "replies"),
    [
        ("agentdash spawn --limit action=w", ["warn"]),
        ("agentdash spawn --limit=action=w", ["warn"]),
        ("agentdash spawn --limit tok", ["tokens="]),
        ("agentdash spawn -a codex --set sandbox=r", ["read-only"]),
        ("agentdash ls --filter state:fa", ["failed"]),
        ("agentdash ls --filter 'state:fa", ["state:failed"]),
    ],
)
def test_bash_gets_the_part_of_a_word_that_it_replaces(line, replies, tmp_path, monkeypatch):
    program = tmp_path / "agentdash"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m agentdash "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("LINE", line)
    ran = subprocess.run(["bash", "-c", BASH], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == replies
